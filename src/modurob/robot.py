"""The value users hold: the tables of a mechanism with its kinematics and dynamics as methods.

Each method checks the shapes of its arguments and calls the function of the same name in `modurob.algorithms`, compiled where there
is a compiler. Arguments broadcast over leading axes: q is (..., nq); v, vdot and tau are (..., nv).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from modurob import algorithms, kernels, tabular
from modurob import assembly as modular
from modurob.algorithms.checks import require_finite, require_quaternions
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.constraints.actuation import Actuation, Mobility
from modurob.algorithms.constraints.closure import Independent
from modurob.algorithms.derivatives import (
    COUPLED_DERIVATIVES,
    FORWARD_DERIVATIVES,
    ForwardDerivatives,
    InverseDerivatives,
)
from modurob.algorithms.forces import acting
from modurob.algorithms.forward import dynamics_of
from modurob.algorithms.frame_slopes import FrameDerivatives
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.joint_space import SLOPES
from modurob.algorithms.wrenches import External
from modurob.caching import cached_property
from modurob.catalogue.drives import Drive, DriveForce
from modurob.catalogue.drives.library import drive_of
from modurob.catalogue.forces import FrameForce, JointForce, JointLaw
from modurob.errors import InputError, absent, choices, explained
from modurob.kinematics import common_normals, dh, jacobians, nearest_singularity, reach, screws, statics
from modurob.kinematics.collisions import CollisionModel, collision_model
from modurob.kinematics.dh import DenavitHartenberg
from modurob.kinematics.inverse import InverseKinematics, inverse_kinematics
from modurob.kinematics.inverse.differential import velocity_towards
from modurob.kinematics.inverse.goals import Goal
from modurob.kinematics.inverse.numeric import numeric
from modurob.kinematics.jacobians import Ellipsoid
from modurob.kinematics.reach import ReachMap
from modurob.kinematics.screws import Screws
from modurob.mechanism import FrameRow, Joint, JointRow, Tables, from_assembly, reduced, urdf
from modurob.mechanism.builder import GRAVITY, NO_PROPERTIES, JointProperties
from modurob.mechanism.builder import Builder as TableBuilder
from modurob.mechanism.driven import drive_at, with_brakes, with_drive
from modurob.mechanism.routes import line_row
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array, as_array

if TYPE_CHECKING:
    from modurob.kinematics.singularities import Singularities
    from modurob.symbolic import Equations  # which takes half a second to load


JOINT_HEAD = ("v", "joint", "kind", "from – to", "limits [rad, m]", "effort [N m, N]")


def _span(places: slice) -> str:
    """0, or 0:6."""
    return f"{places.start}" if places.stop - places.start == 1 else f"{places.start}:{places.stop}"


def _number(x: Any) -> str:
    return f"{x:.4g}" if isinstance(x, float) else str(x)


class Mechanism(Tables):
    """A robot: bodies, joints, constraints and forces, and all that follows from them: M(q) vdot + C(q, v) v + N(q) = tau + J^T F.

    A value: equal, hashable, picklable; nothing changes it. q is (..., nq) [rad or m, quaternions wxyz]; v, vdot, tau are (...,
    nv) [rad/s, rad/s², N m; m/s, m/s², N]. Twists are (linear, angular), wrenches (force, torque). Leading axes are states side
    by side. It is made by `Assembly.mechanism`, `Assembly.robot`, `Mechanism.from_urdf`, `Mechanism.from_dh` or a `Builder`.

    >>> robot
    Mechanism('crab', 3 bodies, nq=3, nv=3)
    >>> robot.forward_dynamics(q, v, tau=[5.0, 1.0, 1.0]).shape
    (3,)
    >>> robot.mass_matrix(np.zeros((4096, 3))).shape
    (4096, 3, 3)
    """

    def __repr__(self) -> str:
        loops = f", loops={len(self.constraints)}" if self.constraints else ""
        bodies = "1 body" if len(self.bodies) == 2 else f"{len(self.bodies) - 1} bodies"
        return f"Mechanism({self.name!r}, {bodies}, nq={self.nq}, nv={self.nv}{loops})"

    def _repr_html_(self) -> str:
        """The joints as a table, for notebooks."""
        where = f"{self.total_mass():.4g} kg" if self.inertia.dtype != object else "symbolic"
        loops = f", constraints: {', '.join(c.name for c in self.constraints)}" if self.constraints else ""
        forces = f", forces: {', '.join(row.name for row in self.forces[:12])}" if self.forces else ""
        more = ", …" if len(self.forces) > 12 else ""
        return tabular.html(f"{self!r}, {where}{loops}{forces}{more}", JOINT_HEAD, self._joint_rows())

    def _repr_latex_(self) -> str:
        """The law that this robot obeys, and its joints, for notebooks on paper."""
        pull = r" + K^\top\lambda" if self.constraints else ""
        law = rf"M(q)\,\dot{{v}} + C(q,v)\,v + N(q) = \tau{pull}"
        return rf"$\displaystyle \begin{{array}}{{l}}{law} \\ {tabular.latex(JOINT_HEAD, self._joint_rows())}\end{{array}}$"

    def _joint_rows(self) -> Iterator[tuple[str, ...]]:
        for i, joint in enumerate(self.joints, start=1):
            limits = zip(*joint.limits, strict=True) if joint.type.nq == joint.type.nv else ()
            yield (
                _span(joint.v_slice),
                joint.name,
                f"{joint.kind}{' (mimic)' * joint.mimics}",
                f"{self.bodies[self.parent[i]]} – {self.bodies[i]}",
                ", ".join(f"{_number(a)} to {_number(b)}" for a, b in limits),
                ", ".join(map(_number, joint.effort_limit)),
            )

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
        """The robot of an assembly: its welded parts are bodies, its modules' joints the joints; see `Assembly.mechanism` for
        the arguments.

        `gravity` is in world axes, (3,) [m/s²]; `locked` joints by name, with the coordinate to hold [rad or m].

        >>> mr.Mechanism.from_assembly(assembly, base="m0", floating=True).nv
        9
        """
        if not isinstance(assembly, modular.Assembly):
            raise InputError(f"{assembly!r:.60} is no assembly: expected one such as mr.load('crab')")
        builder = Builder(assembly.name, gravity, trusted=True)
        return from_assembly.fill(builder, assembly, base, floating, locked, keep_idle)  # type: ignore[return-value]

    @classmethod
    @explained
    def from_urdf(cls, path: str | Path, floating: bool = False, gravity: ArrayLike = GRAVITY) -> "Mechanism":
        """The robot of a URDF file, its root link fixed in the world or floating; `gravity` in world axes, (3,) [m/s²].

        Friction and damping of the file's joints act; a mimic joint follows its source; meshes are left out. Text that
        describes no robot is refused with the line and the element.

        >>> mr.save(robot, "crab.urdf")
        >>> mr.Mechanism.from_urdf("crab.urdf").nv
        3
        """
        return urdf.fill(Builder(gravity=gravity), Path(path), floating)  # type: ignore[return-value]

    @classmethod
    @explained
    def from_dh(
        cls,
        rows: Iterable[Any],
        form: str = "distal",
        *,
        base: Array = se3.IDENTITY,
        tool: Array = se3.IDENTITY,
        inertias: Sequence[Array | None] | None = None,
        properties: JointProperties | Sequence[JointProperties] = NO_PROPERTIES,
        name: str = "arm",
        gravity: ArrayLike = GRAVITY,
    ) -> "Mechanism":
        """The arm of a Denavit-Hartenberg table, rows (a, alpha, d[, offset[, kind]]) [m, rad], kind revolute or prismatic.

        `form` is "distal", Rz(q + offset) Tz(d) Tx(a) Rx(alpha), or "proximal" (Craig), Rx(alpha) Tx(a) Rz(q + offset) Tz(d);
        of a prismatic joint q is added to d. Bodies link1, link2, ... have their frames where the table puts them, and there their
        `inertias`, 6x6 each [kg, kg m, kg m²]; joints are joint1, joint2, ...; frame base is at `base` in the world, frame tip at
        `tool` on the last link. Entries may be SymPy's. `properties` are those of all joints, or one for each. A table of `dh`
        brings its own form, base and tool.

        >>> arm = mr.Mechanism.from_dh([(0.3, 0, 0.1, 0), (0.2, np.pi, 0, 0), (0, 0, 0.05, 0, "prismatic")])
        >>> arm.frame_pose([np.pi / 2, -np.pi / 2, 0.1], "tip")[:3, 3].round(9) + 0.0
        array([ 0.2 ,  0.3 , -0.05])
        """
        builder = Builder(name, gravity)
        return dh.fill(builder, rows, form, base, tool, inertias, properties)  # type: ignore[return-value]

    def with_payload(self, frame: str, spatial: Array) -> "Mechanism":
        """A robot that carries a rigid load, M += J^T I J with J of the frame, its spatial inertia I (6, 6) [kg, kg m, kg m²]
        in that frame.

        `modurob.spatial.inertia` makes such inertias, here of a point of 0.5 kg, 0.1 m along y.

        >>> loaded = robot.with_payload("m3", mr.spatial.inertia.point(0.5, (0.0, 0.1, 0.0)))
        >>> round(loaded.total_mass() - robot.total_mass(), 9)
        0.5
        """
        at = self.frame(frame)
        try:
            load = np.asarray(spatial, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"payload at {frame} is {spatial!r:.60}: expected a spatial inertia (6, 6)") from None
        if load.shape != (6, 6):
            raise InputError(
                f"payload at {frame} has shape {load.shape}: expected a spatial inertia (6, 6), such as "
                "mr.spatial.inertia.sphere(mass, radius)"
            )
        load = inertia.checked(load, f"payload at {frame}")
        total = np.array(self.inertia)
        total[at.body] += inertia.moved(load, at.X)
        return replace(self, inertia=total)

    @explained
    def with_force(
        self,
        name: str,
        force: JointForce | JointLaw | FrameForce,
        joint: str = "",
        rate: int = 0,
        a: str = "",
        b: str = "world",
    ) -> "Mechanism":
        """A robot with one more force of its own: along a rate of `joint`, or between the frames `a` and `b`.

        It adds to `passive_forces`, simulations and filters; see docs/conventions.md for signs and frames. `rate` is which of
        the joint's rates.

        >>> soft = robot.with_force("rest", mr.JointSpring(stiffness=2.0), joint="m0/hinge")
        >>> soft.passive_forces(q, v)
        array([-0.6,  0. ,  0. ])
        >>> tied = robot.with_force("rope", mr.Spring(stiffness=100.0, length=0.2), a="m3", b="world")
        >>> tied.forces[-1].name
        'rope'
        """
        if isinstance(force, JointForce | JointLaw):
            index = self.joints.index(self.joint(joint))
            row: Any = JointRow(name, force, index, rate)
        elif isinstance(force, FrameForce):
            row = FrameRow(name, force, self.frame(a), self.frame(b))
        else:
            raise InputError(f"force {force!r:.60}: expected a JointForce such as mr.JointSpring(2.0), or a FrameForce")
        return replace(self, forces=(*self.forces, row))

    @explained
    def with_line(self, name: str, route: Any, law: Any) -> "Mechanism":
        """A robot with one more line, a cable, belt or spring over `route`, as `Builder.line` has it: one tension T [N] all along.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2)).lines[0].name
        'rope'
        """

        def joint_of(joint: str) -> int:
            return self.joints.index(self.joint(joint))

        return replace(self, forces=(*self.forces, line_row(name, route, law, self.frame, joint_of)))

    def without_forces(self, *names: str) -> "Mechanism":
        """A robot without the forces of these names; without names, without any: no friction, no stops, no springs.

        >>> [row.name for row in robot.forces]
        ['m0/hinge stop', 'm2/hinge stop', 'm4/hinge stop']
        >>> [row.name for row in robot.without_forces("m0/hinge stop").forces]
        ['m2/hinge stop', 'm4/hinge stop']
        >>> robot.without_forces().forces
        ()
        """
        known = [row.name for row in self.forces]
        for name in names:
            if name not in known:
                raise InputError(f"no force {name!r} on {self.name}: {choices(str(name), known)}")
        return replace(self, forces=tuple(row for row in self.forces if names and row.name not in names))

    @explained
    def with_drive(self, joint: str, drive: Drive | str) -> "Mechanism":
        """A robot with a drive at a joint of one rate, in place of the one it has: a `Drive`, or the name of one that is shipped.

        A law's input there is that of the drive. Its rotor adds to the armature of the joint, or is a state of an elastic
        drive.

        >>> servo = robot.with_drive("m0/hinge", "dynamixel-mx64")
        >>> servo.drive("m0/hinge").input, float(servo.armature[0].round(4))
        ('rad', 0.012)
        """
        return with_drive(self, joint, drive_of(drive))

    def drive(self, joint: str) -> DriveForce:
        """The drive at a joint, as the force that it is; an error names the joints that have one.

        >>> robot.with_drive("m0/hinge", "backbone-hinge").drive("m0/hinge").states
        ('command', 'energy')
        """
        return drive_at(self, joint)

    def with_brakes(self, *joints: str) -> "Mechanism":
        """A robot with the brakes of these drives on, or of all that have one: dry friction holds up to their torque.

        >>> held = robot.with_drive("m0/hinge", mr.load_drive("powerball-small")).with_brakes("m0/hinge")
        >>> bool(mr.simulate(held, q, duration=0.1).v[-1, 0] == 0)
        True
        """
        return with_brakes(self, joints)

    def ideal(self) -> "Mechanism":
        """The robot of the textbook, M vdot + C v + N = tau and nothing else: no friction, springs or stops, and drives that
        give any torque.

        >>> robot.effort_limit, robot.ideal().effort_limit
        (array([7., 7., 7.]), array([inf, inf, inf]))
        """
        free = tuple(replace(j, effort_limit=np.full(j.type.nv, np.inf)) for j in self.joints)
        return replace(self, joints=free, forces=())

    def locked(self, joints: Mapping[str, ArrayLike] | Iterable[str]) -> "Mechanism":
        """The reduced robot with some joints held: names, held at zero, or names with coordinates, (nq,) of each joint [rad or
        m; wxyz].

        The bodies beyond a held joint become part of the body before it, with their inertia, frames and shapes; mimic joints
        stay with their source, forces along held joints go. Of the remaining rates M, C v + N and all poses are those of the
        whole robot with held rates at zero. A loop that held joints decide must hold, and is named in `redundant`. `held` names
        the joints.

        >>> part = robot.locked({"m2/hinge": 0.3})
        >>> part, part.held
        (Mechanism('crab', 2 bodies, nq=2, nv=2), ('m2/hinge',))
        >>> bool(np.allclose(part.mass_matrix([0.1, 0.2]), robot.mass_matrix([0.1, 0.3, 0.2])[np.ix_([0, 2], [0, 2])]))
        True
        """
        given = (joints,) if isinstance(joints, str) else joints
        at: dict[str, Any] = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given)
        q, held = self.neutral().astype(object), set()
        for name, x in at.items():
            joint = self.joint(name)
            if joint.mimics:
                source = next(j.name for j in self.joints if not j.mimics and j.q_slice == joint.q_slice)
                raise InputError(f"joint {name!r} mimics {source!r}: lock that one, and this one stays too")
            if x is not None:
                q[joint.q_slice] = self._coordinates(joint, x)
            held |= {j.name for j in self.joints if j.type.nq and j.q_slice == joint.q_slice}
        return reduced.locked(self, held, self._q(as_array(q.tolist())))  # type: ignore[return-value]

    @staticmethod
    def _coordinates(joint: Joint, x: Any) -> Array:
        x = np.atleast_1d(as_array(x))
        numbers = x.dtype.kind in "fO" and not any(y is None or isinstance(y, str) for y in x.flat)
        if x.shape != (joint.type.nq,) or not numbers:
            kind, n = f"{joint.name!r} ({joint.kind})", joint.type.nq
            raise InputError(f"joint {kind} is to be held at {x.tolist()!r:.60}: expected {n} number{'s' * (n != 1)}")
        return x

    # ---- configurations ----

    def neutral(self) -> Array:
        """The zero configuration, (nq,): every joint at zero [rad or m], quaternions (1, 0, 0, 0).

        >>> robot.neutral()
        array([0., 0., 0.])
        """
        return algorithms.neutral(self)

    @explained
    def random_configuration(self, rng: np.random.Generator) -> Array:
        """A configuration drawn uniformly within the joint limits, (nq,) [rad or m];
        within half a turn or a metre of zero where there are none.

        >>> robot.random_configuration(np.random.default_rng(0)).shape
        (3,)
        """
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng {rng!r:.60}: expected a random stream, np.random.default_rng(0)")
        return algorithms.random_configuration(self, rng)

    def rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt, (..., nq) [rad/s or m/s]: v itself where coordinates are; for quaternions the derivative of their four numbers.

        >>> robot.rate(q, v)
        array([ 1. ,  0.5, -1. ])
        >>> ball = mr.Assembly.single("m0", "backbone").mechanism(floating=True)
        >>> ball.rate(ball.neutral(), [0, 0, 0, 0, 0, 2.0]) + 0.0
        array([0., 0., 0., 0., 0., 0., 1.])
        """
        return algorithms.rate(self, self._q(q), self._v(v), kernels.run)

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """q moved for one second with the constant velocity dq, (..., nq): q + dq where coordinates are, q exp(dq) for poses.

        dq is (..., nv) [rad or m], in the axes that v has. `difference` is its inverse.

        >>> robot.integrate(robot.neutral(), [0.1, 0.0, -0.2])
        array([ 0.1,  0. , -0.2])
        """
        return algorithms.integrate(self, self._q(q), self._v(dq, "dq"), kernels.run)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """dq, (..., nv) [rad or m], with integrate(q0, dq) = q1: q1 - q0 where coordinates are, the short way round for
        quaternions.

        >>> robot.difference(robot.neutral(), q)
        array([ 0.3, -0.2,  0.5])
        """
        return algorithms.difference(self, self._q(q0, "q0"), self._q(q1, "q1"))

    # ---- kinematics ----

    def forward_kinematics(self, q: ArrayLike) -> algorithms.Poses:
        """X_WB of all bodies and X_WF of all named frames, [[R, p], [0, 1]] in world axes, (..., 4, 4) each [m], by name.

        >>> robot.forward_kinematics(robot.neutral())["m3"][:3, 3]
        array([0.105, 0.21 , 0.   ])
        """
        return algorithms.forward_kinematics(self, self._q(q), kernels.run)

    def frame_pose(self, q: ArrayLike, frame: str) -> Array:
        """X_WF of one frame in the world, (..., 4, 4): a point fixed in the frame is at X_WF p in world axes [m].

        >>> robot.frame_pose(q, "m3")[:3, 3].round(4)
        array([0.105 , 0.2048, 0.0415])
        """
        return self.forward_kinematics(q)[frame]

    def frame_twist(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """Twist (v, w) of a frame, V = J_body v, in its own axes at its own origin, (..., 6) [m/s, rad/s].

        >>> robot.frame_twist(q, v, "m3").round(4) + 0.0
        array([0.0209, 0.    , 0.2604, 0.    , 1.5   , 0.    ])
        """
        return algorithms.frame_twist(self, self._q(q), self._v(v), frame)

    def frame_acceleration(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, frame: str) -> Array:
        """Rate of change of the frame's twist, J_body vdot + (dJ_body/dt) v, in its own axes, (..., 6) [m/s², rad/s²]; gravity
        plays no part.

        >>> robot.frame_acceleration(q, v, vdot=np.zeros(3), frame="m3").round(4) + 0.0
        array([-0.0515,  0.    ,  0.0104,  0.    ,  0.    ,  0.    ])
        """
        return algorithms.frame_acceleration(self, self._q(q), self._v(v), self._v(vdot, "vdot"), frame)

    def frame_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, frame: str) -> FrameDerivatives:
        """d twist and d acceleration of a frame, in its own axes, by q (along `integrate`), v and vdot, (..., 6, nv) each, exact.

        >>> slopes = robot.frame_derivatives(q, v, np.zeros(3), "m3")
        >>> slopes._fields
        ('twist_q', 'twist_v', 'acceleration_q', 'acceleration_v', 'acceleration_vdot')
        >>> slopes.twist_q.shape
        (6, 3)
        """
        return algorithms.frame_derivatives(self, self._q(q), self._v(v), self._v(vdot, "vdot"), frame, kernels.run)

    def jacobian(self, q: ArrayLike, frame: str) -> Array:
        """J, (..., 6, nv), rows (v, w): velocity of the frame's origin and angular velocity, both in world axes, are J v [m/s,
        rad/s].

        >>> robot.jacobian(robot.neutral(), "m3").round(3) + 0.0
        array([[0.   , 0.   , 0.   ],
               [0.   , 0.   , 0.   ],
               [0.21 , 0.105, 0.   ],
               [1.   , 1.   , 0.   ],
               [0.   , 0.   , 0.   ],
               [0.   , 0.   , 0.   ]])
        """
        return algorithms.jacobian(self, self._q(q), frame, kernels.run)

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """dJ/dt of `jacobian` along v, (..., 6, nv), world axes: the frame accelerates with J vdot + (dJ/dt) v [m/s², rad/s²].

        >>> (robot.jacobian_rate(q, v, "m3") @ v).round(4) + 0.0
        array([ 0.    , -0.3354, -0.0546,  0.    ,  0.    ,  0.    ])
        """
        return algorithms.jacobian_rate(self, self._q(q), self._v(v), frame)

    def body_jacobian(self, q: ArrayLike, frame: str) -> Array:
        """J, (..., 6, nv), rows (v, w): the twist of the frame in its own axes at its own origin is J v [m/s, rad/s].

        >>> bool(np.allclose(robot.body_jacobian(q, "m3") @ v, robot.frame_twist(q, v, "m3")))
        True
        """
        return algorithms.body_jacobian(self, self._q(q), frame)

    def body_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """dJ/dt of `body_jacobian` along v, (..., 6, nv), in the frame's axes.

        >>> still = robot.frame_acceleration(q, v, np.zeros(3), "m3")
        >>> bool(np.allclose(robot.body_jacobian_rate(q, v, "m3") @ v, still))
        True
        """
        return algorithms.body_jacobian_rate(self, self._q(q), self._v(v), frame)

    def point_jacobian(self, q: ArrayLike, frame: str, point: ArrayLike) -> Array:
        """J, (..., 3, nv): the velocity in world axes of a point fixed in the frame, given in its axes (..., 3) [m], is J v [m/s].

        >>> (robot.point_jacobian(q, "m3", [0.0, 0.05, 0.0]) @ v).round(4) + 0.0
        array([ 0.    , -0.0468,  0.257 ])
        """
        return algorithms.point_jacobian(self, self._q(q), frame, self._point(point))

    def point_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str, point: ArrayLike) -> Array:
        """dJ/dt of `point_jacobian` along v, (..., 3, nv), world axes: the point accelerates with J vdot + (dJ/dt) v [m/s²].

        >>> robot.point_jacobian_rate(q, v, "m3", [0.0, 0.05, 0.0]).shape
        (3, 3)
        """
        return algorithms.point_jacobian_rate(self, self._q(q), self._v(v), frame, self._point(point))

    def centre_of_mass(self, q: ArrayLike) -> Array:
        """Centre of mass of the moving bodies, sum m c / sum m, in world axes, (..., 3) [m].

        >>> robot.centre_of_mass(q).round(4) + 0.0
        array([0.    , 0.1358, 0.0482])
        """
        return algorithms.centre_of_mass(self, self._q(q))

    def centre_of_mass_jacobian(self, q: ArrayLike) -> Array:
        """J, (..., 3, nv): the velocity of the centre of mass in world axes is J v [m/s]; gravity pushes the joints with m J^T g.

        >>> J = robot.centre_of_mass_jacobian(q)
        >>> bool(np.allclose(-robot.total_mass() * J.T @ robot.gravity, robot.gravity_forces(q)))
        True
        """
        return algorithms.centre_of_mass_jacobian(self, self._q(q))

    def centre_of_mass_jacobian_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dJ/dt of `centre_of_mass_jacobian` along v, (..., 3, nv), world axes.

        >>> (robot.centre_of_mass_jacobian_rate(q, v) @ v).round(4) + 0.0
        array([ 0.    , -0.1473, -0.0357])
        """
        return algorithms.centre_of_mass_jacobian_rate(self, self._q(q), self._v(v))

    # ---- arms ----

    @explained
    def dh(
        self, frame: str, base: str = "world", form: str = "distal", *, exact: bool = False, tolerance: float = 1e-8
    ) -> DenavitHartenberg:
        """The Denavit-Hartenberg table of the chain from frame `base` to `frame`: X = base A_1(q) ... A_n(q) tool, rows (a,
        alpha, d, offset, kind) [m, rad], in the "distal" or "proximal" form.

        `modurob.kinematics.common_normals` says what is chosen where axes are parallel or meet; axes closer than `tolerance` to
        that [rad, relative] count as such. With `exact` numbers become SymPy's fractions, roots and multiples of pi.

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
        """(..., 6, nv), rows (dp/dt, da/dt) [m/s, rad/s]: the rates of the frame's position in world axes and of three angles a, of
        `spatial.angles.euler(sequence, a)` or, with `fixed`, `spatial.angles.fixed`.

        diag(1, B^-1) J with w = B da/dt. Angles are those of the first solution; where the middle one makes the outer axes coincide
        their rates are not a number.

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
        """How fast the frame moves for |v| = 1, in world axes: .axes (..., m, k), columns, and .lengths (..., k), the largest first
        [m/s or rad/s per unit rate]; `rows` as in `manipulability`.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> arm.velocity_ellipsoid([0.3, -0.7], "tip", "x y").lengths.round(6)
        array([1.851006, 0.278429])
        """
        return jacobians.velocity_ellipsoid(self._rows(q, frame, rows))

    def force_ellipsoid(self, q: ArrayLike, frame: str, rows: str | Iterable[str] = "position") -> Ellipsoid:
        """What forces the frame exerts with |tau| = 1: the axes of `velocity_ellipsoid` with reciprocal lengths, infinite where the
        structure takes the load.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> arm.force_ellipsoid([0.3, -0.7], "tip", "x y").lengths.round(4)
        array([3.5916, 0.5402])
        """
        return jacobians.force_ellipsoid(self._rows(q, frame, rows))

    def singularities(self, frame: str, base: str = "world", rows: str | Iterable[str] = "pose") -> "Singularities":
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
        """A singular configuration near q (nq,), by Newton steps on the smallest singular value of J: .q, .value, and whether one
        was .found.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> near = arm.nearest_singularity([0.3, -0.7], "tip", "x y")
        >>> near.found, round(abs(float(near.q[1])), 6)
        (True, 0.0)
        """
        x = self._q(q)
        if x.ndim != 1:
            raise InputError(f"q has shape {x.shape}: expected one configuration, ({self.nq},)")
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
        """Where the frame gets within the joint limits, cell by cell: .count, .dexterity (part of all directions of its z axis) and
        .manipulability of `rows`; .slice, .plot and .reached look into it.

        `samples` configurations are drawn, rounded up to a power of two; `cell` is the edge of a cell [m], such that it holds 16
        samples on average if not given. A cell without a sample may still be reached, by few configurations.

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
        """N(q) - sum of J^T F, (..., nv) [N m or N]: the torques that hold the robot still against gravity and `loads`, wrenches
        (f, n) that act on frames at their origins, by name, in world axes [N, N m].

        >>> arm = mr.load("lwa4p").robot()
        >>> arm.static_torques([0, np.pi / 2, 0, 0, 0, 0]).round(3) + 0.0
        array([  0.   , -34.534,  -8.405,   0.68 ,  -0.292,   0.   ])
        >>> round(float(arm.static_torques([0, np.pi / 2, 0, 0, 0, 0], {"wrist/out": [0, 0, -6 * 9.81, 0, 0, 0]})[1]), 1)
        -77.5
        """
        return statics.static_torques(self, self._q(q), loads or {}, kernels.run)

    def largest_load(self, q: ArrayLike, frame: str, wrench: ArrayLike) -> Array:
        """How many times a wrench (f, n) on a frame, in world axes [N, N m], the drives can hold beside gravity, (...): with the
        weight of one kilogram, the payload [kg].

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
        """The configurations that bring a frame to a pose X_BF in the axes of `base`, (..., 4, 4) [m], or its origin to a
        point (..., 3).

        All of them, with `.exact`, where the chain between the two frames is of at most seven turns and slides: in closed form
        where
        its geometry allows, else from an eigenproblem (six turns); of seven joints all for one value of a `parameter` (an arm
        angle, or
        the coordinate of a joint, as `.family` says), that of q0 or one that reaches the goal. With `free` x, y or z the
        frame may turn about that axis of its own. Solutions are within limits, angles by whole turns as near to q0 as limits allow;
        the best come first: the nearest to q0 if it is given, or by the `order` "nearest", "manipulability" or far from
        "limits". Other
        coordinates are those of q0, (..., nq).

        >>> arm = mr.Mechanism.from_dh([(1, 0, 0), (1, 0, 0)])
        >>> found = arm.inverse_kinematics("tip", [1.0, 1.0, 0.0], q0=[0.0, 1.0])
        >>> found.q.round(4) + 0.0
        array([[ 0.    ,  1.5708],
               [ 1.5708, -1.5708]])
        >>> arm.inverse_kinematics("tip", [3.0, 0.0, 0.0])
        InverseKinematics(0 solutions, not reached, spherical wrist, two parallel axes, from the tip, out of reach)
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
        """A configuration that reaches all goals at once, by damped least squares: .q (..., 1, nq), .reached, .residual [m, rad].

        Goals are `PoseGoal`, `PointGoal`, `DirectionGoal`, `CentreGoal` and `JointGoal`; leading axes of their targets are goals
        side by side. `q0`, (..., nq), is where to start; without it starts are random, the same in every call. Joints keep their
        `limits`, loops are closed. `secondary` goals are brought as near as the goals leave room for. Goals are reached when the
        root of their summed squared distances is at most `tolerance`; a state that fails is started again, `attempts` times in
        all. Where goals are not reached, .q is the nearest that was found, and .note says so. With `avoid`, a
        `collision_model`, only configurations without collisions count.

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
        """v = argmin |J v dt - gain e|² + damping |v dt|² for the next dt [s], (nv,) [rad/s or m/s], e the errors of the goals.

        Loops stay closed. Within the joints' speeds; q + v dt within their limits; with `acceleration` [rad/s² or m/s²] also
        |v - v before| <= acceleration dt, and slow enough to brake before a limit. Needs the extra `qp`.

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

        Shapes are the collision geometry of a URDF file, else what is drawn. Left out are pairs on one body, neighbours that touch
        at zero or stay within 5 mm, parts of one module that its joint connects, pairs that always clash, and pairs of names in
        `ignore`. `ground` is a height along the world's z [m]. Meshes count as their convex hulls, or by their triangles without
        `hulls`. Needs the extra `collision`.

        >>> model = robot.collision_model(ground=-1.0)
        >>> bool(model.clear(q)), round(float(model.distance(q)), 3)
        (True, 0.005)
        """
        return collision_model(self, ground, ignore, hulls)

    # ---- dynamics ----

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None) -> Array:
        """tau = M(q) vdot + C(q, v) v + N(q) - J^T F, (..., nv) [N m or N]: the torques for a given motion.

        `external` are wrenches (f, n) that act on frames, by name, in the axes of each frame at its origin [N, N m]; or an
        array (..., bodies, 6) in body frames, the world first. With loops the torques are those of the joints with a drive.
        Forces of the robot's own are not in it: a drive has to give inverse_dynamics - `passive_forces`.

        >>> robot.inverse_dynamics(q, v, np.zeros(3)).round(3)
        array([6.671, 1.023, 0.723])
        >>> robot.inverse_dynamics(q, v, np.zeros(3), {"m3": [0, 0, -1, 0, 0, 0]}).round(3)
        array([6.879, 1.128, 0.723])
        """
        if external is None and not self.constraints:
            tau = kernels.once(INVERSE_DYNAMICS, self, q, v, vdot)
            if tau is not None:
                return tau
        q, v, vdot = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(vdot, self.nv, "vdot")
        return algorithms.inverse_dynamics(self, q, v, vdot, external, kernels.run)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None) -> Array:
        """vdot = M^-1 (tau + J^T F - C v - N), (..., nv) [rad/s² or m/s²], loops kept closed; `external` as in `inverse_dynamics`.

        Forces of the robot's own (friction, stops, springs) are not in it: add `passive_forces` to tau, or `simulate`.

        >>> vdot = robot.forward_dynamics(q, v, tau=[5.0, 1.0, 1.0])
        >>> robot.inverse_dynamics(q, v, vdot).round(9)
        array([5., 1., 1.])
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

    @cached_property
    def _has_rotors(self) -> bool:
        return bool(self.armature.any())

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q) of the tree, (..., nv, nv) [kg m², kg m or kg]: symmetric, kinetic energy = v^T M v / 2; rotors are in it.

        >>> robot.mass_matrix(robot.neutral()).round(4) + 0.0
        array([[0.1305, 0.0239, 0.0239],
               [0.0239, 0.0129, 0.    ],
               [0.0239, 0.    , 0.0129]])
        """
        # with quaternions, a wrong one may not show in M: they are looked at
        M = kernels.once(MASS_MATRIX, self, q) if self.nq == self.nv else None
        if M is None:
            return algorithms.mass_matrix(self, self._q(q), kernels.run)
        if self._has_rotors:
            M.ravel()[:: self.nv + 1] += self.armature
        return M

    def bias_forces(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) v + N(q) of the tree, (..., nv) [N m or N]: the torques that hold vdot = 0.

        >>> bool(np.allclose(robot.bias_forces(q, v), robot.coriolis_matrix(q, v) @ v + robot.gravity_forces(q)))
        True
        """
        return algorithms.bias_forces(self, self._q(q), self._v(v), kernels.run)

    def gravity_forces(self, q: ArrayLike) -> Array:
        """N(q) of the tree, (..., nv) [N m or N]: the torques that hold it still; the gradient of the potential energy.

        >>> robot.gravity_forces(robot.neutral()).round(3)
        array([7.21, 1.03, 1.03])
        """
        return algorithms.gravity_forces(self, self._q(q), kernels.run)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) of Christoffel symbols, (..., nv, nv): C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2; dM/dt -
        2 C is skew.

        >>> (robot.coriolis_matrix(q, v) @ v).round(5)
        array([ 0.00802, -0.00219,  0.00529])
        """
        return algorithms.coriolis_matrix(self, self._q(q), self._v(v))

    def two_step_coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) = S^T G^T (M G A1 + A2 M) G S as the two-step recursion gives it, (..., nv, nv): the same product C v,
        another matrix (Gutenkunst (3.38)).

        >>> (robot.two_step_coriolis_matrix(q, v) @ v).round(5)
        array([ 0.00802, -0.00219,  0.00529])
        """
        return algorithms.two_step_coriolis_matrix(self, self._q(q), self._v(v))

    def regressor(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """Y, (..., nv, 10 bodies), with Y pi = inverse dynamics of the tree, pi the `inertial_parameters` (rotors left out).

        >>> Y = robot.regressor(q, v, np.zeros(3))
        >>> bool(np.allclose(Y @ robot.inertial_parameters(), robot.inverse_dynamics(q, v, np.zeros(3))))
        True
        """
        return algorithms.regressor(self, self._q(q), self._v(v), self._v(vdot, "vdot"))

    def inertial_parameters(self) -> Array:
        """pi, (10 bodies,): (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each moving body, in its frame about its origin [kg, kg
        m, kg m²].

        >>> robot.inertial_parameters()[:4]
        array([3.   , 0.   , 0.315, 0.   ])
        """
        return algorithms.inertial_parameters(self)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None
    ) -> InverseDerivatives:
        """d tau of inverse dynamics by q (along `integrate`), v and vdot, (..., nv, nv) each, as .q, .v and .vdot, exact; of
        the tree.

        Wrenches stay in their frames. The slope by vdot is M.

        >>> slopes = robot.inverse_dynamics_derivatives(q, v, np.zeros(3))
        >>> bool(np.allclose(slopes.vdot, robot.mass_matrix(q)))
        True
        """
        if external is None and not self._has_rotors:
            found = kernels.once(SLOPES, self, q, v, vdot)
            if found is not None:
                M, by_q, by_v = found
                return InverseDerivatives(by_q, by_v, M)
        q, v, vdot = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(vdot, self.nv, "vdot")
        return algorithms.inverse_dynamics_derivatives(self, q, v, vdot, external, kernels.run)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None
    ) -> ForwardDerivatives:
        """d vdot of forward dynamics by q (along `integrate`), v and tau, (..., nv, nv) each, as .q, .v and .tau, exact.

        Wrenches stay in their frames. Without loops the slope by tau is M^-1.

        >>> slopes = robot.forward_dynamics_derivatives(q, v, np.zeros(3))
        >>> bool(np.allclose(slopes.tau @ robot.mass_matrix(q), np.eye(3)))
        True
        """
        if external is None and not self.constraints:
            flow = COUPLED_DERIVATIVES if self.coupled else FORWARD_DERIVATIVES
            found = kernels.once(flow, self, q, v, tau)
            if found is not None:
                n = self.nv
                return ForwardDerivatives(found[:, :n], found[:, n : 2 * n], found[:, 2 * n :])
        q, v, tau = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(tau, self.nv, "tau")
        return algorithms.forward_dynamics_derivatives(self, q, v, tau, external, kernels.run)

    def passive_forces(self, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, t: float = 0.0) -> Array:
        """The sum of the robot's own forces as torques, (..., nv) [N m or N]: viscous friction, springs, stops, and J^T F of
        those between frames.

        M vdot + C v + N = tau + passive_forces + dry friction, which is no function of the state and is left out:
        `algorithms.dry_friction`. `x` are states of the forces, (..., nx), at their start if not given; t [s] is for forces
        that depend on it.

        >>> damped = robot.with_force("oil", mr.Friction(viscous=0.5), joint="m0/hinge")
        >>> damped.passive_forces(q, v)
        array([-0.5,  0. ,  0. ])
        >>> vdot = damped.forward_dynamics(q, v, damped.passive_forces(q, v))
        """
        states = None if x is None else self._shaped(x, acting(self).nx, "x")
        return algorithms.passive_forces(self, self._q(q), self._v(v), states, t, kernels.run)

    # ---- lines ----

    def line_lengths(self, q: ArrayLike) -> Array:
        """L over the route of each line, arcs on pulleys and drums among it, (..., lines) [m].

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_lengths(q).round(4)
        array([0.2794])
        """
        return algorithms.line_lengths(self, self._q(q), kernels.run)

    def line_stretches(self, q: ArrayLike) -> Array:
        """How much longer each line is than the natural length that its drums leave it, (..., lines) [m]; cables go slack below
        zero.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_stretches(q).round(4)
        array([0.0794])
        """
        return algorithms.line_stretches(self, self._q(q), kernels.run)

    def line_strains(self, q: ArrayLike) -> Array:
        """Stretch by natural length of each line, (..., lines).

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_strains(q).round(4)
        array([0.3971])
        """
        return algorithms.line_strains(self, self._q(q), kernels.run)

    def line_tensions(self, q: ArrayLike, v: ArrayLike) -> Array:
        """T of each line, (..., lines) [N].

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_tensions(q, np.zeros(3)).round(4)
        array([39.7145])
        """
        return algorithms.line_tensions(self, self._q(q), self._v(v), kernels.run)

    def line_jacobian(self, q: ArrayLike) -> Array:
        """J, (..., lines, nv): stretches change with J v [m/s], lines push with -J^T T: moment arms [m], and radii of drums.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> T = tied.line_tensions(q, np.zeros(3))
        >>> ropes = tied.without_forces("m0/hinge stop", "m2/hinge stop", "m4/hinge stop")
        >>> bool(np.allclose(-tied.line_jacobian(q).T @ T, ropes.passive_forces(q, np.zeros(3))))
        True
        """
        return algorithms.line_jacobian(self, self._q(q), kernels.run)

    # ---- energy and momentum ----

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """v^T M v / 2, rotors among it, (...) [J].

        >>> round(float(robot.kinetic_energy(q, v)), 5)
        0.061
        """
        return algorithms.kinetic_energy(self, self._q(q), self._v(v), kernels.run)

    def potential_energy(self, q: ArrayLike) -> Array:
        """-m g . c of the moving bodies, (...) [J], zero with the centre of mass at the world origin; springs are not in it.

        >>> round(float(robot.potential_energy(q)), 5)
        2.36375
        """
        return algorithms.potential_energy(self, self._q(q), kernels.run)

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Linear and angular momentum (p, L), L about the world origin, in world axes, (..., 6) [N s, N m s].

        >>> robot.momentum(q, v).round(4) + 0.0
        array([ 0.    , -0.1709,  0.6583,  0.1166, -0.0165, -0.0017])
        """
        return algorithms.momentum(self, self._q(q), self._v(v))

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Linear and angular momentum (p, L), L about the centre of mass, in world axes, (..., 6) [N s, N m s].

        >>> robot.centroidal_momentum(q, v).round(4) + 0.0
        array([ 0.    , -0.1709,  0.6583,  0.019 , -0.0165, -0.0017])
        """
        return algorithms.centroidal_momentum(self, self._q(q), self._v(v))

    def centroidal_momentum_matrix(self, q: ArrayLike) -> Array:
        """A, (..., 6, nv): the centroidal momentum is A v, in world axes [N s, N m s].

        >>> bool(np.allclose(robot.centroidal_momentum_matrix(q) @ v, robot.centroidal_momentum(q, v)))
        True
        """
        return algorithms.centroidal_momentum_matrix(self, self._q(q))

    def total_mass(self) -> float:
        """Mass of the moving bodies [kg]: what is welded to the world does not count.

        >>> robot.total_mass()
        5.0
        """
        mass = algorithms.total_mass(self)
        return mass if self.inertia.dtype == object else float(mass)

    # ---- constraints ----

    def loop_error(self, q: ArrayLike) -> Array:
        """How far each constraint is from holding, along its rows, (..., rows) [m and rad]; zero where loops are closed.

        A loop joint adds 6 - nv rows, in the axes of its successor frame.

        >>> linkage.loop_error(linkage.neutral()).round(9) + 0.0
        array([0., 0., 0., 0., 0., 0.])
        """
        return algorithms.loop_error(self, self._q(q), kernels.run)

    def loop_jacobian(self, q: ArrayLike) -> Array:
        """K, (..., rows, nv): K v = 0 where the constraints hold; multipliers push with K^T lambda.

        >>> linkage.loop_jacobian(linkage.neutral()).shape
        (6, 2)
        """
        return algorithms.loop_jacobian(self, self._q(q), kernels.run)

    def loop_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """k, (..., rows): K vdot = k where the constraints hold, what centripetal accelerations ask for [m/s² and rad/s²].

        >>> linkage.loop_bias(linkage.neutral(), np.zeros(2)).shape
        (6,)
        """
        return algorithms.loop_bias(self, self._q(q), self._v(v), kernels.run)

    def loop_rank(self) -> int:
        """How many degrees of freedom the constraints take away, the rank of K at regular configurations.

        >>> linkage.nv - linkage.loop_rank()
        1
        """
        return algorithms.loop_rank(self)

    def close_loops(self, q: ArrayLike) -> Array:
        """The configurations next to q at which the constraints hold, (..., nq) [rad or m], by Newton steps on `loop_error`;
        an error if there is none near.

        >>> linkage.close_loops([0.01, -0.02]).round(9)
        array([-0.005, -0.005])
        """
        return algorithms.close_loops(self, self._q(q), kernels.run)

    def close_velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The velocity next to v, by kinetic energy, that keeps the constraints, K v = 0, (..., nv) [rad/s or m/s].

        >>> linkage.close_velocity(linkage.neutral(), [1.0, 0.5]).round(9)
        array([1., 1.])
        """
        return algorithms.close_velocity(self, self._q(q), self._v(v), kernels.run)

    def independent_coordinates(self, q: ArrayLike, v: ArrayLike) -> Independent:
        """The equations of motion in independent rates y: v = G y, G^T M G ydot + bias = G^T tau, as .G (..., nv, k),
        .inertia, .bias.

        >>> linkage.independent_coordinates(linkage.neutral(), [1.0, 1.0]).G.shape
        (2, 1)
        """
        return algorithms.independent_coordinates(self, self._q(q), self._v(v), kernels.run)

    def mobility(self, q: ArrayLike) -> Mobility:
        """Degrees of freedom at a closed configuration q, (nq,): .instantaneous, to first order, .finite, those that last, and
        .redundant, rows of K that say nothing new.

        >>> linkage.mobility(linkage.neutral())
        Mobility(instantaneous=1, finite=1, redundant=5)
        """
        return algorithms.mobility(self, self._q(q), kernels.run)

    def actuation(self, q: ArrayLike) -> Actuation:
        """How the robot is actuated at q, (nq,): a verdict, the matrix B of M ydot' + c = B u in motions v = G y that keep the
        constraints, and whether inputs that only pull can bring about any force (wrench closure).

        Inputs are the joints with a drive (effort above zero) and the lines under a given tension (`mr.Tension`).

        >>> found = linkage.actuation(linkage.neutral())
        >>> found.verdict, found.B.shape, found.inputs
        ('redundantly actuated', (1, 2), ('m3/hinge', 'm2/hinge'))
        """
        return algorithms.actuation(self, self._q(q), kernels.run)

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

        watched: dict[str, Any] = {
            name: f for name, f in (("cancelled", cancelled), ("progress", progress)) if f is not None
        }
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
            raise InputError(f"{name} holds {x.tolist()!r:.60}: expected numbers of shape (..., {n}) for {self.name}")
        if x.ndim == 0 or x.shape[-1] != n:
            joints = ", ".join(f"{j.name} ({j.kind})" for j in self.joints[:12])
            raise InputError(
                f"{name} has shape {x.shape}: expected (..., {n}) for {self.name} with joints {joints or 'none'}"
            )
        return x


class Builder(TableBuilder):
    """Makes a Mechanism body by body: bodies in order, each on a frame that is there already; see `modurob.mechanism.Builder`.

    `gravity` is in world axes, (3,) [m/s²]. Poses are X_AB (4, 4) [m], inertias 6x6 in the body's frame
    (`modurob.spatial.inertia`).

    >>> b = mr.Builder("pendulum", gravity=(0.0, 0.0, -9.81))
    >>> b.body("rod", mr.spatial.inertia.point(2.0, (0.0, 0.0, -1.0)), joint=mr.Revolute((1, 0, 0))).body
    1
    >>> b.build().gravity_forces([np.pi / 2])
    array([19.62])
    """

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
        return self._standing({})

    def _standing(self, locked: Mapping[str, Any]) -> Mechanism:
        """The robot as its file says it stands, some joints locked."""
        stands = (self.base, self.setup.floating, self.setup.gravity)
        robot = self.mechanism(*stands, locked=locked)
        held = {name: q[0] for name, q in self.setup.coordinates.items() if name in robot.idle and any(q)}
        return self.mechanism(*stands, locked={**held, **locked}) if held else robot

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


# of robot files alone; `modurob.formats.load` reads all kinds
load, loads = Assembly.load, Assembly.loads


@explained
def lock(robot: Mechanism | Assembly, joints: Mapping[str, ArrayLike] | Iterable[str]) -> Mechanism:
    """The reduced robot with some joints held, of a robot (`Mechanism.locked`) or of an assembly as it stands (`Assembly.robot`).

    `joints` are names, held at zero, or names with the coordinates to hold [rad or m]. Of the rates that are left M, C v + N
    and all poses are those of the whole robot with held rates at zero. Of an assembly idle joints can be held too, away from
    zero.

    >>> mr.lock(robot, {"m2/hinge": 0.3})
    Mechanism('crab', 2 bodies, nq=2, nv=2)
    >>> mr.lock(assembly, ["m2/hinge"]).held
    ('m2/hinge',)
    """
    if isinstance(robot, Mechanism):
        return robot.locked(joints)
    if isinstance(robot, Assembly):
        return robot._standing(dict(joints) if isinstance(joints, Mapping) else dict.fromkeys(joints, 0.0))
    raise InputError(f"{type(robot).__name__} has no joints to lock: expected a Mechanism or an Assembly")
