"""Robots as arms: tables, Jacobians and what they say, statics, and the inverse of forward kinematics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from modurob import kernels
from modurob.errors import InputError, explained
from modurob.kinematics import common_normals, jacobians, nearest_singularity, reach, screws, statics
from modurob.kinematics.collisions import CollisionModel, collision_model
from modurob.kinematics.dh import DenavitHartenberg
from modurob.kinematics.inverse import InverseKinematics, inverse_kinematics
from modurob.kinematics.inverse.differential import velocity_towards
from modurob.kinematics.inverse.goals import Goal
from modurob.kinematics.inverse.numeric import numeric
from modurob.kinematics.jacobians import Ellipsoid
from modurob.kinematics.reach import ReachMap
from modurob.kinematics.screws import Screws
from modurob.robot.kinematics import Kinematics
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.kinematics.singularities import Singularities


class Arms(Kinematics):
    """Chains between frames."""

    # ---- arms ----

    @explained
    def dh(
        self, frame: str, base: str = "world", form: str = "distal", *, exact: bool = False, tolerance: float = 1e-8
    ) -> DenavitHartenberg:
        """The Denavit-Hartenberg table of the chain from frame `base` to `frame`: X = base A_1(q) ... A_n(q) tool, rows
        (a, alpha, d, offset, kind) [m, rad], in the "distal" or "proximal" form.

        `modurob.kinematics.common_normals` describes the choice where axes are parallel or intersect; axes closer than
        `tolerance` to that [rad, relative] count as such. With `exact` numbers become SymPy fractions, roots and
        multiples of pi.

        >>> arm = mr.Mechanism.from_dh([(0.3, np.pi / 2, 0.1), (0.2, 0, 0, np.pi / 2)])
        >>> [tuple(row) for row in arm.dh("tip", exact=True).rows]
        [(3/10, pi/2, 1/10, 0, 'revolute'), (1/5, 0, 0, pi/2, 'revolute')]
        """
        exact = exact or self.X_PJ.dtype == object
        return common_normals.table(self.screws(frame, base, exact=exact), tolerance).to(form)

    @explained
    def screws(self, frame: str, base: str = "world", *, exact: bool = False) -> Screws:
        """The chain from frame `base` to `frame` as a product of exponentials, exp(S_1 q_1) ... exp(S_n q_n) M: .axes S (n, 6),
        (v, w) in the base frame at q = 0, and .home M (4, 4) [m]. `exact` as in `dh`.

        >>> arm = robot.screws("m3")
        >>> arm.joints, arm.coordinates
        (('m0/hinge', 'm2/hinge'), (0, 1))
        >>> bool(np.allclose(arm.pose(q), robot.frame_pose(q, "m3")))
        True
        """
        chain = screws.screws(self, frame, base)
        if not exact:
            return chain
        from modurob.kinematics.exact import exactly  # brings SymPy, which takes half a second to load

        return exactly(chain)

    def analytic_jacobian(self, q: ArrayLike, frame: str, sequence: str = "zyx", fixed: bool = False) -> Array:
        """(..., 6, nv), rows (dp/dt, da/dt) [m/s, rad/s]: the rates of the frame's position in world axes and of three
        angles a, of `spatial.angles.euler(sequence, a)` or, with `fixed`, `spatial.angles.fixed`.

        diag(1, B^-1) J with w = B da/dt. Angles are those of the first solution; where the middle one makes the outer
        axes coincide, their rates are NaN.

        >>> arm = mr.load("lwa4p").robot()
        >>> arm.analytic_jacobian([0.5, 1, 1.5, 1, 0, 0.5], "wrist/centre", "zyx").shape
        (6, 6)
        """
        return jacobians.analytic_jacobian(self, self._q(q), frame, sequence, fixed, kernels.run)

    def manipulability(self, q: ArrayLike, frame: str, rows: str | Iterable[str] = "pose") -> Array:
        """sqrt(det(J J^T)), (...) (Yoshikawa): the product of the singular values of some rows of `jacobian`, zero at singular
        configurations. `rows` are pose, position, rotation, or names such as "x y rz".

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> round(float(arm.manipulability([0.3, -0.7], "tip", "x y")), 10)  # 0.8 |sin q2|
        0.5153741498
        """
        return jacobians.manipulability(self._rows(q, frame, rows))

    def velocity_ellipsoid(self, q: ArrayLike, frame: str, rows: str | Iterable[str] = "position") -> Ellipsoid:
        """The velocities of the frame for |v| = 1, in world axes: .axes (..., m, k), columns, and .lengths (..., k),
        the largest first [m/s or rad/s per unit rate]; `rows` as in `manipulability`.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> arm.velocity_ellipsoid([0.3, -0.7], "tip", "x y").lengths.round(6)
        array([1.851006, 0.278429])
        """
        return jacobians.velocity_ellipsoid(self._rows(q, frame, rows))

    def force_ellipsoid(self, q: ArrayLike, frame: str, rows: str | Iterable[str] = "position") -> Ellipsoid:
        """The forces that the frame exerts with |tau| = 1: the axes of `velocity_ellipsoid` with reciprocal lengths,
        infinite where the structure carries the load.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> arm.force_ellipsoid([0.3, -0.7], "tip", "x y").lengths.round(4)
        array([3.5916, 0.5402])
        """
        return jacobians.force_ellipsoid(self._rows(q, frame, rows))

    def singularities(self, frame: str, base: str = "world", rows: str | Iterable[str] = "pose") -> Singularities:
        """det J of the chain from `base` to `frame` in closed form, factored: .factors, .conditions, SymPy expressions in q1, q2,
        ...; the arm is singular where one of them is zero. `rows` as in `manipulability`, as many as joints.

        >>> arm = mr.load("lwa4p").robot()
        >>> arm.singularities("wrist/centre").conditions
        (70*sin(q2) + 61*sin(q2 + q3), sin(q3), sin(q5))
        """
        from modurob.kinematics.singularities import singularities  # brings SymPy

        return singularities(self.screws(frame, base, exact=True), rows)

    def nearest_singularity(
        self, q: ArrayLike, frame: str, rows: str | Iterable[str] = "pose"
    ) -> nearest_singularity.NearSingularity:
        """A singular configuration near q (nq,), by Newton steps on the smallest singular value of J: .q, .value, and
        .found.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> near = arm.nearest_singularity([0.3, -0.7], "tip", "x y")
        >>> near.found, round(abs(float(near.q[1])), 6)
        (True, 0.0)
        """
        x = self._one_q(q)
        return nearest_singularity.nearest_singularity(self, x, frame, jacobians.row_indices(rows), kernels.run)

    @explained
    def reach_map(
        self,
        frame: str,
        samples: int = 1 << 17,
        cell: float | None = None,
        rows: str | Iterable[str] = "position",
        seed: int = 0,
    ) -> ReachMap:
        """The region that the frame reaches within the joint limits, by cells: .count, .dexterity (share of all
        directions of its z axis) and .manipulability of `rows`; .slice, .plot and .reached evaluate it.

        `samples` configurations are drawn, rounded up to a power of two; `cell` is the edge of a cell [m], by default
        such that it contains 16 samples on average. A cell without a sample may still be reached, by few
        configurations.

        >>> arm = mr.load("lwa4p").robot()
        >>> reach = arm.reach_map("wrist/centre", samples=4096)
        >>> reach.reached([[0.4, 0.0, 0.4], [0.9, 0.6, 0.3]])
        array([ True, False])
        """
        return reach.reach(self, frame, samples, cell, jacobians.row_indices(rows), seed, kernels.run)

    def _rows(self, q: ArrayLike, frame: str, rows: str | Iterable[str]) -> Array:
        return self.jacobian(q, frame)[..., jacobians.row_indices(rows), :]

    # ---- statics ----

    def static_torques(self, q: ArrayLike, loads: Mapping[str, ArrayLike] | None = None) -> Array:
        """N(q) - sum of J^T F, (..., nv) [N m or N]: the torques that hold the robot at rest against gravity and
        `loads`, wrenches (f, n) that act on frames at their origins, by name, in world axes [N, N m].

        >>> arm = mr.load("lwa4p").robot()
        >>> arm.static_torques([0, np.pi / 2, 0, 0, 0, 0]).round(3) + 0.0
        array([  0.   , -34.534,  -8.405,   0.68 ,  -0.292,   0.   ])
        >>> round(float(arm.static_torques([0, np.pi / 2, 0, 0, 0, 0], {"wrist/out": [0, 0, -6 * 9.81, 0, 0, 0]})[1]), 1)
        -77.5
        """
        return statics.static_torques(self, self._q(q), loads or {}, kernels.run)

    def largest_load(self, q: ArrayLike, frame: str, wrench: ArrayLike) -> Array:
        """The largest multiple of a wrench (f, n) on a frame, in world axes [N, N m], that the drives can hold in
        addition to gravity, (...): for the weight of one kilogram, the payload [kg].

        >>> arm = mr.load("lwa4p").robot()
        >>> round(float(arm.largest_load([0, np.pi / 2, 0, 0, 0, 0], "wrist/out", [0, 0, -9.81, 0, 0, 0])), 2)
        5.72
        """
        return statics.largest_load(self, self._q(q), frame, wrench, kernels.run)

    # ---- inverse kinematics ----

    def inverse_kinematics(
        self,
        frame: str,
        X: ArrayLike,
        q0: ArrayLike | None = None,
        *,
        base: str = "world",
        free: str | None = None,
        limits: bool = True,
        parameter: float | None = None,
        order: str | None = None,
    ) -> InverseKinematics:
        """The configurations that bring a frame to a pose X_BF in the axes of `base`, (..., 4, 4) [m], or its origin to
        a point (..., 3).

        If the chain between the two frames has at most seven revolute and prismatic joints, all solutions are returned
        and `.exact` is true: in closed form where the geometry allows it, otherwise by an eigenvalue problem (six
        revolute joints); for seven joints all solutions for one value of a `parameter` (an arm angle, or the coordinate
        of a joint, as `.family` says), that of q0 or one that reaches the goal. With `free` x, y or z the frame may
        rotate about that axis of its own. Solutions are within the joint limits, with angles shifted by whole turns to
        be as near to q0 as the limits allow. The best come first: the nearest to q0 if it is given, or by the `order`
        "nearest", "manipulability", far from "limits" or from "collisions" (extra `collision`). Other coordinates are
        those of q0, (..., nq).

        >>> arm = mr.Mechanism.from_dh([(1, 0, 0), (1, 0, 0)])
        >>> found = arm.inverse_kinematics("tip", [1.0, 1.0, 0.0], q0=[0.0, 1.0])
        >>> found.q.round(4) + 0.0
        array([[ 0.    ,  1.5708],
               [ 1.5708, -1.5708]])
        >>> arm.inverse_kinematics("tip", [3.0, 0.0, 0.0])
        InverseKinematics(0 solutions, not reached, spherical wrist, two parallel axes, out of reach)
        """
        return inverse_kinematics(
            self, frame, X, q0, base=base, free=free, limits=limits, parameter=parameter, order=order
        )

    # ---- goals ----

    @explained
    def reach(
        self,
        goals: Goal | Sequence[Goal],
        q0: ArrayLike | None = None,
        *,
        secondary: Goal | Sequence[Goal] = (),
        limits: bool = True,
        tolerance: float = 1e-10,
        attempts: int = 128,
        avoid: CollisionModel | None = None,
    ) -> InverseKinematics:
        """A configuration that reaches all goals at once, by damped least squares: .q (..., 1, nq), .reached, .residual
        [m, rad].

        Goals are `PoseGoal`, `PointGoal`, `DirectionGoal`, `CentreGoal` and `JointGoal`; leading axes of their targets
        are a batch of goals. `q0`, (..., nq), is the initial configuration; without it starts are random, the same in
        every call. Joints stay within their `limits`, and loops are closed. `secondary` goals are approached as far as
        the goals permit. Goals are reached when the root of their summed squared distances is at most `tolerance`; a
        state that fails is restarted, `attempts` times in total. If goals are not reached, .q is the nearest
        configuration found, and .note says so. With `avoid`, a `collision_model`, only configurations without
        collisions count.

        >>> found = robot.reach([mr.PointGoal("m3", [0.105, 0.2, 0.05])])
        >>> bool(found.reached), robot.frame_pose(found.q[0], "m3")[:3, 3].round(6)
        (True, array([0.105, 0.2  , 0.05 ]))
        >>> far = robot.reach(mr.PointGoal("m3", [0.105, 0.5, 0.0]), attempts=8)
        >>> far.note
        'the goal not reached from 8 starts: the nearest configuration found is 0.29 (m or rad) away'
        """
        options: dict[str, Any] = {"limits": limits, "tolerance": tolerance, "attempts": attempts, "avoid": avoid}
        return numeric(self, goals, q0, secondary=secondary, **options)

    @explained
    def velocity_towards(
        self,
        goals: Goal | Sequence[Goal],
        q: ArrayLike,
        dt: float,
        *,
        v: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        gain: float = 1.0,
        damping: float = 1e-6,
        limits: bool = True,
    ) -> Array:
        """v = argmin |J v dt - gain e|² + damping |v dt|² for the next dt [s], (nv,) [rad/s or m/s], e the errors of
        the goals.

        Loops stay closed. v is within the joints' speeds and q + v dt within their limits; with `acceleration` [rad/s²
        or m/s²] also |v - v before| <= acceleration dt, and v is small enough to brake before a limit. Needs the extra
        `qp`.

        >>> goal = mr.PointGoal("m3", [0.105, 0.2, 0.05])
        >>> v = robot.velocity_towards(goal, [0.0, 0.0, 0.0], dt=0.01, acceleration=2.0)
        >>> bool(np.abs(v).max() <= 2.0 * 0.01)
        True
        """
        if not 0 < dt < np.inf:
            raise InputError(f"dt {dt!r}: expected a time above zero [s]")
        if acceleration is not None and not np.all(np.asarray(acceleration) > 0):
            raise InputError(f"acceleration {acceleration!r:.60}: expected numbers above zero [rad/s² or m/s²]")
        before = None if v is None else self._v(v)
        return velocity_towards(self, goals, self._q(q), dt, before, acceleration, gain, damping, limits)

    def collision_model(
        self, ground: float | None = None, ignore: Iterable[tuple[str, str]] = (), hulls: bool = True
    ) -> CollisionModel:
        """The robot's shapes and the pairs of them that can meet: .clear(q), .distance(q) [m], .closest(q).

        Shapes are the collision geometry of a URDF file, otherwise the visual shapes. These pairs are left out: pairs
        on one body, neighbours that touch at zero or stay within 5 mm, parts of one module that its joint connects,
        pairs that always collide, and pairs of names in `ignore`. `ground` is a height along the world's z [m]. Meshes
        are replaced by their convex hulls, or tested by their triangles without `hulls`. Needs the extra `collision`.

        >>> model = robot.collision_model(ground=-1.0)
        >>> bool(model.clear(q)), round(float(model.distance(q)), 3)
        (True, 0.005)
        """
        return collision_model(self, ground, ignore, hulls)
