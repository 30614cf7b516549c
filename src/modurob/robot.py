"""The value users hold: the tables of a mechanism with its kinematics and dynamics as methods.

Each method checks the shapes of its arguments and calls the function of the same name in `modurob.algorithms`, compiled where there
is a compiler. Arguments broadcast over leading axes: q is (..., nq); v, vdot and tau are (..., nv).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from modurob import algorithms, kernels
from modurob import assembly as modular
from modurob.algorithms.checks import require_finite, require_quaternions
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.constraints.closure import Independent
from modurob.algorithms.derivatives import (
    COUPLED_DERIVATIVES,
    FORWARD_DERIVATIVES,
    ForwardDerivatives,
    InverseDerivatives,
)
from modurob.algorithms.forward import dynamics_of
from modurob.algorithms.frame_slopes import FrameDerivatives
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.joint_space import SLOPES
from modurob.algorithms.wrenches import External
from modurob.catalogue.forces import FrameForce, JointForce
from modurob.errors import InputError, absent, choices, explained
from modurob.mechanism import FrameRow, JointRow, Tables, from_assembly, urdf
from modurob.mechanism.builder import GRAVITY
from modurob.mechanism.builder import Builder as TableBuilder
from modurob.spatial import inertia
from modurob.spatial.scalars import Array, as_array

if TYPE_CHECKING:
    from modurob.symbolic import Equations  # which takes half a second to load


class Mechanism(Tables):
    """A robot: bodies, joints, constraints and forces, and all that follows from them. A value: equal, hashable, picklable."""

    def __repr__(self) -> str:
        loops = f", loops={len(self.constraints)}" if self.constraints else ""
        return f"Mechanism({self.name!r}, {len(self.bodies) - 1} bodies, nq={self.nq}, nv={self.nv}{loops})"

    if not TYPE_CHECKING:  # a checker that saw it would take any name for one of ours

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            own = [n for n in dir(type(self)) if not n.startswith("_")]
            hint = f"it is the assembly that has it: call {name} of the Assembly that the robot was made from"
            raise absent(f"the robot {self.__dict__.get('name', '')}", name, own, _hint(name, Assembly, hint))

    # ---- making ----

    @classmethod
    @explained
    def from_assembly(
        cls,
        assembly: modular.Assembly,
        base: str | None = None,
        floating: bool = False,
        gravity: ArrayLike = GRAVITY,
        locked: Mapping[str, float] | Iterable[str] = (),
        keep_idle: bool = False,
    ) -> "Mechanism":
        """The robot of an assembly; see `Assembly.mechanism`."""
        if not isinstance(assembly, modular.Assembly):
            raise InputError(f"{assembly!r:.60} is no assembly: expected one such as mr.load('crab')")
        builder = Builder(assembly.name, gravity, trusted=True)
        return from_assembly.fill(builder, assembly, base, floating, locked, keep_idle)  # type: ignore[return-value]

    @classmethod
    @explained
    def from_urdf(cls, path: str | Path, floating: bool = False, gravity: ArrayLike = GRAVITY) -> "Mechanism":
        """The robot of a URDF file, its root link fixed in the world or floating."""
        return urdf.fill(Builder(gravity=gravity), Path(path), floating)  # type: ignore[return-value]

    def with_payload(self, frame: str, spatial: Array) -> "Mechanism":
        """A robot that carries a rigid load at a frame, its spatial inertia (6, 6) given in that frame: see `spatial.inertia`."""
        at = self.frame(frame)
        if np.shape(spatial) != (6, 6):
            raise InputError(
                f"payload at {frame} has shape {np.shape(spatial)}: expected a spatial inertia (6, 6), such as "
                "mr.spatial.inertia.sphere(mass, radius)"
            )
        load = inertia.checked(np.asarray(spatial, dtype=float), f"payload at {frame}")
        total = np.array(self.inertia)
        total[at.body] += inertia.moved(load, at.X)
        return replace(self, inertia=total)

    @explained
    def with_force(
        self, name: str, force: JointForce | FrameForce, joint: str = "", rate: int = 0, a: str = "", b: str = "world"
    ) -> "Mechanism":
        """A robot with one more force: along a rate of `joint`, or between the frames `a` and `b`.

        >>> soft = robot.with_force("rest", mr.JointSpring(stiffness=2.0), joint="m0/hinge")
        >>> tied = robot.with_force("rope", mr.Spring(stiffness=100.0, length=0.2), a="m3", b="world")
        """
        if isinstance(force, JointForce):
            index = self.joints.index(self.joint(joint))
            row: Any = JointRow(name, force, index, rate)
        elif isinstance(force, FrameForce):
            row = FrameRow(name, force, self.frame(a), self.frame(b))
        else:
            raise InputError(f"force {force!r:.60}: expected a JointForce or a FrameForce")
        return replace(self, forces=(*self.forces, row))

    def without_forces(self, *names: str) -> "Mechanism":
        """A robot without the forces of these names; without names, without any: no friction, no stops, no springs."""
        known = [row.name for row in self.forces]
        for name in names:
            if name not in known:
                raise InputError(f"no force {name!r} on {self.name}: {choices(str(name), known)}")
        return replace(self, forces=tuple(row for row in self.forces if names and row.name not in names))

    def ideal(self) -> "Mechanism":
        """The robot of the textbook: no friction, springs or stops, and drives that give any torque."""
        free = tuple(replace(j, effort_limit=np.full(j.type.nv, np.inf)) for j in self.joints)
        return replace(self, joints=free, forces=())

    # ---- configurations ----

    def neutral(self) -> Array:
        """The zero configuration, (nq,): every joint at zero, quaternions (1, 0, 0, 0).

        >>> robot.neutral()
        array([0., 0., 0.])
        """
        return algorithms.neutral(self)

    @explained
    def random_configuration(self, rng: np.random.Generator) -> Array:
        """A configuration drawn uniformly within the joint limits, (nq,);
        within half a turn or a metre of zero where there are none.

        >>> robot.random_configuration(np.random.default_rng(0)).shape
        (3,)
        """
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng {rng!r:.60}: expected a random stream, np.random.default_rng(0)")
        return algorithms.random_configuration(self, rng)

    def rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt, (..., nq): v itself where coordinates are; for quaternions the derivative of their four numbers."""
        return algorithms.rate(self, self._q(q), self._v(v), kernels.run)

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """q moved for one second with the constant velocity dq, (..., nq): q + dq where coordinates are, q exp(dq) for poses.

        >>> robot.integrate(robot.neutral(), [0.1, 0.0, -0.2])
        array([ 0.1,  0. , -0.2])
        """
        return algorithms.integrate(self, self._q(q), self._v(dq, "dq"), kernels.run)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """dq, (..., nv), with integrate(q0, dq) = q1: the short way round for quaternions."""
        return algorithms.difference(self, self._q(q0, "q0"), self._q(q1, "q1"))

    # ---- kinematics ----

    def forward_kinematics(self, q: ArrayLike) -> algorithms.Poses:
        """X_WB of all bodies and X_WF of all named frames, (..., 4, 4) each, by name.

        >>> robot.forward_kinematics(robot.neutral())["m3"][:3, 3]
        array([0.105, 0.21 , 0.   ])
        """
        return algorithms.forward_kinematics(self, self._q(q), kernels.run)

    def frame_pose(self, q: ArrayLike, frame: str) -> Array:
        """X_WF of one frame in the world, (..., 4, 4)."""
        return self.forward_kinematics(q)[frame]

    def frame_twist(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """Twist (v, w) of a frame, in its own axes at its own origin, (..., 6) [m/s, rad/s]: V = J_body v."""
        return algorithms.frame_twist(self, self._q(q), self._v(v), frame)

    def frame_acceleration(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, frame: str) -> Array:
        """Rate of change of the frame's twist in its own axes, (..., 6): J_body vdot + (dJ_body/dt) v; gravity plays no part."""
        return algorithms.frame_acceleration(self, self._q(q), self._v(v), self._v(vdot, "vdot"), frame)

    def frame_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, frame: str) -> FrameDerivatives:
        """d twist and d acceleration of a frame, in its own axes, by q, v and vdot, (..., 6, nv) each, exact;
        see `FrameDerivatives`."""
        return algorithms.frame_derivatives(self, self._q(q), self._v(v), self._v(vdot, "vdot"), frame, kernels.run)

    def jacobian(self, q: ArrayLike, frame: str) -> Array:
        """J, (..., 6, nv), rows (v, w): velocity of the frame's origin and angular velocity, both in world axes, are J v.

        >>> robot.jacobian(robot.neutral(), "m3").shape
        (6, 3)
        """
        return algorithms.jacobian(self, self._q(q), frame, kernels.run)

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """dJ/dt of `jacobian` along v, (..., 6, nv)."""
        return algorithms.jacobian_rate(self, self._q(q), self._v(v), frame)

    def body_jacobian(self, q: ArrayLike, frame: str) -> Array:
        """J, (..., 6, nv), rows (v, w): the twist of the frame in its own axes at its own origin is J v."""
        return algorithms.body_jacobian(self, self._q(q), frame)

    def body_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """dJ/dt of `body_jacobian` along v, (..., 6, nv)."""
        return algorithms.body_jacobian_rate(self, self._q(q), self._v(v), frame)

    def point_jacobian(self, q: ArrayLike, frame: str, point: ArrayLike) -> Array:
        """J, (..., 3, nv): the velocity in world axes of a point fixed in the frame, given in its axes [m], is J v."""
        return algorithms.point_jacobian(self, self._q(q), frame, self._point(point))

    def point_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str, point: ArrayLike) -> Array:
        """dJ/dt of `point_jacobian` along v, (..., 3, nv)."""
        return algorithms.point_jacobian_rate(self, self._q(q), self._v(v), frame, self._point(point))

    def centre_of_mass(self, q: ArrayLike) -> Array:
        """Centre of mass of the moving bodies in the world, (..., 3) [m]."""
        return algorithms.centre_of_mass(self, self._q(q))

    def centre_of_mass_jacobian(self, q: ArrayLike) -> Array:
        """J, (..., 3, nv): the velocity of the centre of mass in world axes is J v."""
        return algorithms.centre_of_mass_jacobian(self, self._q(q))

    def centre_of_mass_jacobian_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dJ/dt of `centre_of_mass_jacobian` along v, (..., 3, nv)."""
        return algorithms.centre_of_mass_jacobian_rate(self, self._q(q), self._v(v))

    # ---- dynamics ----

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None) -> Array:
        """tau = M(q) vdot + C(q, v) v + N(q) - J^T F, (..., nv) [N m or N]: the torques for a given motion.

        `external` are wrenches (f, n) that act on frames, by name, in the axes of each frame at its origin; or an array
        (..., bodies, 6) in body frames, the world first. With loops the torques are those of the joints with a drive.

        >>> robot.inverse_dynamics(robot.neutral(), np.zeros(3), np.zeros(3), {"m3": [0, 0, -1, 0, 0, 0]}).shape
        (3,)
        """
        if external is None and not self.constraints:
            tau = kernels.once(INVERSE_DYNAMICS, self, q, v, vdot)
            if tau is not None:
                return tau
        q, v, vdot = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(vdot, self.nv, "vdot")
        return algorithms.inverse_dynamics(self, q, v, vdot, external, kernels.run)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None) -> Array:
        """vdot = M^-1 (tau + J^T F - C v - N), (..., nv), loops kept closed; `external` as in `inverse_dynamics`.

        Forces of the robot's own (friction, stops, springs) are not in it: see `forces_on` and `simulate`.

        >>> robot.forward_dynamics(robot.neutral(), np.zeros(3), np.zeros(3)).shape
        (3,)
        """
        if external is None:
            found = kernels.once(self._dynamics, self, q, v, tau)
            if found is not None:
                return found[0] if isinstance(found, tuple) else found
        q, v, tau = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(tau, self.nv, "tau")
        return algorithms.forward_dynamics(self, q, v, tau, external, kernels.run)

    @cached_property
    def _dynamics(self) -> Any:
        return dynamics_of(self)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q) of the tree, (..., nv, nv): symmetric, kinetic energy = v^T M v / 2.

        >>> M = robot.mass_matrix(robot.neutral())
        >>> bool(np.allclose(M, M.T))
        True
        """
        # with quaternions, a wrong one may not show in M: they are looked at
        M = kernels.once(MASS_MATRIX, self, q) if self.nq == self.nv else None
        if M is None:
            return algorithms.mass_matrix(self, self._q(q), kernels.run)
        if self.armature.any():
            M[np.diag_indices(self.nv)] += self.armature
        return M

    def bias_forces(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) v + N(q) of the tree, (..., nv): the torques that hold vdot = 0."""
        return algorithms.bias_forces(self, self._q(q), self._v(v), kernels.run)

    def gravity_forces(self, q: ArrayLike) -> Array:
        """N(q) of the tree, (..., nv): the torques that hold it still; the gradient of the potential energy."""
        return algorithms.gravity_forces(self, self._q(q), kernels.run)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) of Christoffel symbols, (..., nv, nv): dM/dt - 2 C is skew-symmetric."""
        return algorithms.coriolis_matrix(self, self._q(q), self._v(v))

    def two_step_coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) as the two-step recursion gives it, (..., nv, nv): the same product C v, another matrix."""
        return algorithms.two_step_coriolis_matrix(self, self._q(q), self._v(v))

    def regressor(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """Y, (..., nv, 10 bodies), with Y pi = inverse dynamics of the tree, pi the `inertial_parameters` (rotors left out)."""
        return algorithms.regressor(self, self._q(q), self._v(v), self._v(vdot, "vdot"))

    def inertial_parameters(self) -> Array:
        """pi, (10 bodies,): (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each moving body, in its frame about its origin."""
        return algorithms.inertial_parameters(self)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None
    ) -> InverseDerivatives:
        """d tau by q (along `integrate`), v and vdot, (..., nv, nv) each, as .q, .v and .vdot; of the tree.

        Wrenches stay in their frames.
        """
        if external is None and not self.armature.any():
            found = kernels.once(SLOPES, self, q, v, vdot)
            if found is not None:
                M, by_q, by_v = found
                return InverseDerivatives(by_q, by_v, M)
        q, v, vdot = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(vdot, self.nv, "vdot")
        return algorithms.inverse_dynamics_derivatives(self, q, v, vdot, external, kernels.run)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None
    ) -> ForwardDerivatives:
        """d vdot by q (along `integrate`), v and tau, (..., nv, nv) each, as .q, .v and .tau, exact.

        >>> robot.forward_dynamics_derivatives(robot.neutral(), np.zeros(3), np.zeros(3)).tau.shape
        (3, 3)
        """
        if external is None and not self.constraints:
            flow = COUPLED_DERIVATIVES if self.coupled else FORWARD_DERIVATIVES
            found = kernels.once(flow, self, q, v, tau)
            if found is not None:
                n = self.nv
                return ForwardDerivatives(found[:, :n], found[:, n : 2 * n], found[:, 2 * n :])
        q, v, tau = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(tau, self.nv, "tau")
        return algorithms.forward_dynamics_derivatives(self, q, v, tau, external, kernels.run)

    # ---- energy and momentum ----

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """v^T M v / 2, rotors among it, (...) [J]."""
        return algorithms.kinetic_energy(self, self._q(q), self._v(v), kernels.run)

    def potential_energy(self, q: ArrayLike) -> Array:
        """-m g . c of the moving bodies, (...) [J], zero with the centre of mass at the world origin; springs are not in it."""
        return algorithms.potential_energy(self, self._q(q), kernels.run)

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Linear and angular momentum (p, L), L about the world origin, in world axes, (..., 6) [N s, N m s]."""
        return algorithms.momentum(self, self._q(q), self._v(v))

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Linear and angular momentum (p, L), L about the centre of mass, in world axes, (..., 6)."""
        return algorithms.centroidal_momentum(self, self._q(q), self._v(v))

    def centroidal_momentum_matrix(self, q: ArrayLike) -> Array:
        """A, (..., 6, nv): the centroidal momentum is A v."""
        return algorithms.centroidal_momentum_matrix(self, self._q(q))

    def total_mass(self) -> float:
        """Mass of the moving bodies [kg]."""
        return algorithms.total_mass(self)

    # ---- constraints ----

    def loop_error(self, q: ArrayLike) -> Array:
        """How far each constraint is from holding, along its rows, (..., rows) [m and rad]; zero where loops are closed."""
        return algorithms.loop_error(self, self._q(q), kernels.run)

    def loop_jacobian(self, q: ArrayLike) -> Array:
        """K, (..., rows, nv): K v = 0 where the constraints hold."""
        return algorithms.loop_jacobian(self, self._q(q), kernels.run)

    def loop_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """k, (..., rows): K vdot = k where the constraints hold."""
        return algorithms.loop_bias(self, self._q(q), self._v(v), kernels.run)

    def loop_rank(self) -> int:
        """How many degrees of freedom the constraints take away, at regular configurations."""
        return algorithms.loop_rank(self)

    def close_loops(self, q: ArrayLike) -> Array:
        """The configurations next to q at which the constraints hold, (..., nq), by Newton steps;
        an error if there is none near."""
        return algorithms.close_loops(self, self._q(q), kernels.run)

    def close_velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The velocity next to v, by kinetic energy, that keeps the constraints, (..., nv)."""
        return algorithms.close_velocity(self, self._q(q), self._v(v), kernels.run)

    def independent_coordinates(self, q: ArrayLike, v: ArrayLike) -> Independent:
        """The equations of motion in independent rates y: v = G y, inertia ydot + bias = G^T tau."""
        return algorithms.independent_coordinates(self, self._q(q), self._v(v), kernels.run)

    # ---- closed form ----

    @explained
    def equations(
        self,
        symbols: str | Iterable[str] = (),
        method: str = "two-step",
        *,
        digits: int | None = None,
        time_limit: float | None = None,
        largest: int | None = 200_000,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> "Equations":
        """The equations of motion M(q) vdot + C(q, v) v + D v + S(q) + N(q) = tau in closed form, exact.

        `symbols` are the numbers that become symbols: one kind, several, or "all" of masses, centres, inertias, lengths,
        gravity, armatures, dampings, stiffnesses; parameters that are symbols already stay so, and numbers that are no short
        fraction become symbols too. `method` is "two-step" or "lagrange", two ways to the same equations. `digits` rounds
        numbers that are not exact to so many decimals; `time_limit` [s] is for each call; `largest` is the number of terms the
        mass matrix may have, None for any; `cancelled()` stops the work within 0.2 s of being true; `progress(stage, done)` is
        told what is done, from 0 to 1.

        M, C, C_two_step, D of friction (nv x nv), S of springs and N of gravity (nv x 1) are SymPy matrices, SI units; forces
        without a closed form, such as stops and dry friction, are named in `left_out`. See `modurob.symbolic.Equations`.

        >>> import modurob as mr
        >>> eq = mr.load("crab").mechanism().equations(("masses", "lengths", "gravity"))
        >>> eq.N[1]
        g*l1*m2*cos(q1 + q2)
        """
        from modurob.symbolic import Equations

        watched: dict[str, Any] = {name: f for name, f in (("cancelled", cancelled), ("progress", progress)) if f is not None}
        return Equations(self, symbols, method, digits=digits, time_limit=time_limit, largest=largest, **watched)

    # ---- checks ----

    def _q(self, q: Any, name: str = "q") -> Array:
        return require_quaternions(self, require_finite(self._shaped(q, self.nq, name), name), name)

    def _v(self, v: Any, name: str = "v") -> Array:
        return require_finite(self._shaped(v, self.nv, name), name)

    def _point(self, point: Any) -> Array:
        x = as_array(point)
        if x.dtype.kind not in "fcO" or x.ndim == 0 or x.shape[-1] != 3:
            raise InputError(f"point {point!r:.60}: expected three numbers, in the axes of the frame [m]")
        return x

    def _shaped(self, x: Any, n: int, name: str) -> Array:
        try:
            x = np.asarray(x)
            x = x if x.dtype == np.float32 else as_array(x)
        except ValueError:
            raise InputError(f"{name} has rows of different length: expected shape (..., {n})") from None
        words = x.dtype == object and any(y is None or isinstance(y, str) for y in x.flat)
        if x.dtype.kind not in "fcO" or words:
            raise InputError(f"{name} holds {x.tolist()!r:.60}: expected numbers")
        if x.ndim == 0 or x.shape[-1] != n:
            joints = ", ".join(f"{j.name} ({j.kind})" for j in self.joints[:12])
            raise InputError(
                f"{name} has shape {x.shape}: expected (..., {n}) for {self.name} with joints {joints or 'none'}"
            )
        return x


class Builder(TableBuilder):
    """Makes a Mechanism body by body; see `modurob.mechanism.Builder`."""

    product = Mechanism


class Assembly(modular.Assembly):
    """Modules, the connections between their ports, how they stand (`modurob.assembly.Assembly`), and the robot they make.

    >>> import modurob as mr
    >>> mr.load("crane").robot().gravity.tolist()
    [0.0, 9.81, 0.0]
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            own = [n for n in dir(type(self)) if not n.startswith("_")]
            hint = f"it is the robot that has it: assembly.robot().{name}, or assembly.mechanism(...).{name}"
            raise absent("an assembly", name, own, _hint(name, Mechanism, hint))

    @explained
    def mechanism(
        self,
        base: str | None = None,
        floating: bool = False,
        gravity: Any = GRAVITY,
        locked: Mapping[str, float] | Iterable[str] = (),
        keep_idle: bool = False,
    ) -> Mechanism:
        """The robot, standing as the arguments say: the first part of module `base` stands in the world, or floats.

        `base` is the first module by default, `gravity` is in world axes [m/s²]. `locked` names joints (m3/hinge) to hold at zero,
        or maps them to the coordinate to hold [rad, m]. Idle joints, which move nothing but an empty part of their own module, are
        locked too unless `keep_idle`.

        >>> import modurob as mr
        >>> mr.load("crab").mechanism(base="m0").nv
        3
        """
        return Mechanism.from_assembly(self, base, floating, gravity, locked, keep_idle)

    def robot(self) -> Mechanism:
        """The robot as its file says it stands: base, floating, gravity; idle joints are held at their initial coordinates.

        >>> import modurob as mr
        >>> [joint.name for joint in mr.load("crane").robot().joints]
        ['m0/joint', 'm1/hinge']
        """
        stands = (self.base, self.setup.floating, self.setup.gravity)
        robot = self.mechanism(*stands)
        held = {name: q[0] for name, q in self.setup.coordinates.items() if name in robot.idle and any(q)}
        return self.mechanism(*stands, locked=held) if held else robot

    def initial_state(self) -> tuple[Array, Array]:
        """q (nq,) and v (nv,) of `robot()` where its file says it starts; zero, or neutral, where nothing is said.

        >>> import modurob as mr
        >>> q, v = mr.load("crane").initial_state()
        >>> q.round(4).tolist(), v.tolist()
        ([0.0, 0.7854], [0.0, 0.0])
        """
        robot, setup = self.robot(), self.setup
        q, v = np.array(robot.neutral()), np.zeros(robot.nv)
        for joint in robot.joints:
            if joint.name == from_assembly.FLOATING_BASE:
                q[joint.q_slice], v[joint.v_slice] = (*setup.position, *setup.quaternion), setup.twist
                continue
            q[joint.q_slice] = setup.coordinates.get(joint.name, q[joint.q_slice])
            v[joint.v_slice] = setup.rates.get(joint.name, v[joint.v_slice])
        for name, rate in setup.rates.items():
            if any(rate) and name in robot.idle:
                raise InputError(f"{name} starts at rate {rate[0]:g}, but is idle: nothing hangs on it, and it is held")
        return q, v


def _hint(name: str, other: type, hint: str) -> str:
    """Where a name is found that is of another class."""
    noted = {n for c in other.__mro__ for n in getattr(c, "__annotations__", {})}
    return hint if hasattr(other, name) or name in noted else ""


load, loads = Assembly.load, Assembly.loads
