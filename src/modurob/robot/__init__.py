"""The robot as a value: the tables of a mechanism with its kinematics and dynamics as methods.

Each method checks the shapes of its arguments and calls the function of the same name in `modurob.algorithms`, compiled
if there is a compiler. Arguments broadcast over leading axes: q is (..., nq); v, vdot and tau are (..., nv).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from modurob import assembly as modular
from modurob import tabular
from modurob.errors import ClashError, InputError, UnknownNameError, absent, choices, explained, gathered
from modurob.kinematics import dh
from modurob.kinematics.collisions import TOUCHING
from modurob.mechanism import from_assembly, mjcf, urdf
from modurob.mechanism.builder import GRAVITY
from modurob.mechanism.builder import Builder as TableBuilder
from modurob.mechanism.joint_properties import NO_PROPERTIES, JointProperties
from modurob.robot.arms import Arms
from modurob.robot.changes import Changes
from modurob.robot.dynamics import Dynamics
from modurob.robot.loops import Loops
from modurob.robot.showing import Showing
from modurob.spatial import se3
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.symbolic import Equations  # which takes half a second to load

JOINT_HEAD = ("v", "joint", "kind", "from – to", "limits [rad, m]", "effort [N m, N]")


def _span(places: slice) -> str:
    """0, or 0:6."""
    return f"{places.start}" if places.stop - places.start == 1 else f"{places.start}:{places.stop}"


def _number(x: Any) -> str:
    return f"{x:.4g}" if isinstance(x, float) else str(x)


@gathered
class Mechanism(Changes, Arms, Dynamics, Loops, Showing):
    """A robot: bodies, joints, constraints and forces, and everything that follows from them: M(q) vdot + C(q, v) v +
    N(q) = tau + J^T F.

    An immutable value: comparable, hashable, picklable. q is (..., nq) [rad or m, quaternions wxyz]; v, vdot, tau are
    (..., nv) [rad/s, rad/s², N m; m/s, m/s², N]. Twists are (linear, angular), wrenches (force, torque). Leading axes
    are a batch of states. It is made by `Assembly.mechanism`, `Assembly.robot`, `Mechanism.from_urdf`,
    `Mechanism.from_mjcf`, `Mechanism.from_dh` or a `Builder`.

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
        massless = ", without mass" if self.nv and not np.any(self.inertia[1:] != 0) else ""
        return f"Mechanism({self.name!r}, {bodies}, nq={self.nq}, nv={self.nv}{loops}{massless})"

    def _repr_html_(self) -> str:
        """The robot in 3D, and its joints as a table, for notebooks."""
        where = f"{self.total_mass():.4g} kg" if self.inertia.dtype != object else "symbolic"
        loops = f", constraints: {', '.join(c.name for c in self.constraints)}" if self.constraints else ""
        forces = f", forces: {', '.join(row.name for row in self.forces[:12])}" if self.forces else ""
        more = ", …" if len(self.forces) > 12 else ""
        table = tabular.html(f"{self!r}, {where}{loops}{forces}{more}", JOINT_HEAD, self._joint_rows())
        return self._view_html() + table

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
            hint = "did you mean the robot itself? it is no assembly that makes one" if name == "robot" else hint
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
    ) -> Mechanism:
        """The robot of an assembly: its welded parts are bodies, its modules' joints the joints; see
        `Assembly.mechanism` for the arguments.

        `gravity` is in world axes, (3,) [m/s²]; `locked` are joints by name, with the coordinate to hold [rad or m].

        >>> mr.Mechanism.from_assembly(assembly, base="m0", floating=True).nv
        9
        """
        if not isinstance(assembly, modular.Assembly):
            raise InputError(f"{assembly!r:.60} is no assembly: expected one such as mr.load('crab')")
        builder = Builder(assembly.name, gravity, trusted=True)
        return from_assembly.fill(builder, assembly, base, floating, locked, keep_idle)  # type: ignore[return-value]

    @classmethod
    @explained
    def from_urdf(cls, path: str | Path, floating: bool = False, gravity: ArrayLike = GRAVITY) -> Mechanism:
        """The robot of a URDF file, its root link fixed in the world or floating; `gravity` in world axes, (3,) [m/s²].

        Friction and damping of the file's joints act; a mimic joint follows its source; meshes are drawn, and have no
        contact unless they are collision geometry. Text that does not describe a robot is refused with the line and the
        element.

        >>> mr.save(robot, "crab.urdf")
        >>> mr.Mechanism.from_urdf("crab.urdf").nv
        3
        """
        return urdf.fill(Builder(gravity=gravity), Path(path), floating)  # type: ignore[return-value]

    @classmethod
    @explained
    def from_mjcf(cls, path: str | Path) -> Mechanism:
        """The robot of a MuJoCo file (MJCF), read by MuJoCo's own compiler; the file specifies whether it is fixed or
        floats, and the gravity.

        Coordinates are MuJoCo's, except that the position of a free body is relative to its position in the file.
        Springs, losses, limits and motors of joints act; joints that follow others become mimic joints; connects and
        welds are loops, spatial tendons lines, sites frames, geoms shapes. Features that a mechanism does not support
        are refused by name. Needs the extra `mujoco`.

        >>> mr.save(robot, "crab.xml")
        >>> mr.Mechanism.from_mjcf("crab.xml").nv
        3
        """
        return mjcf.fill(Builder(), Path(path))  # type: ignore[return-value]

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
    ) -> Mechanism:
        """The arm of a Denavit-Hartenberg table, rows (a, alpha, d[, offset[, kind]]) [m, rad], kind revolute or
        prismatic.

        `form` is "distal", Rz(q + offset) Tz(d) Tx(a) Rx(alpha), or "proximal" (Craig), Rx(alpha) Tx(a) Rz(q + offset)
        Tz(d); for a prismatic joint q is added to d. Bodies link1, link2, ... have the frames of the table and, in
        these, the `inertias`, 6x6 each [kg, kg m, kg m²]; joints are joint1, joint2, ...; frame base is at `base` in
        the world, frame tip at `tool` on the last link. Entries may be SymPy expressions. `properties` are those of all
        joints, or one for each. A table from `dh` includes its own form, base and tool.

        A table has no masses: without `inertias` the arm has kinematics only, its mass matrix and the torques of its
        inverse dynamics are zero, and forward dynamics and `simulate` report that a joint moves no inertia.

        >>> rows = [(0.3, 0, 0.1, 0), (0.2, np.pi, 0, 0), (0, 0, 0.05, 0, "prismatic")]
        >>> arm = mr.Mechanism.from_dh(rows)
        >>> arm
        Mechanism('arm', 3 bodies, nq=3, nv=3, without mass)
        >>> arm.frame_pose([np.pi / 2, -np.pi / 2, 0.1], "tip")[:3, 3].round(9) + 0.0
        array([ 0.2 ,  0.3 , -0.05])
        >>> from modurob.spatial import inertia
        >>> link = inertia.spatial_inertia(mass=2.0, centre=[-0.1, 0, 0], tensor=np.diag([0.001, 0.01, 0.01]))
        >>> mr.Mechanism.from_dh(rows, inertias=[link, link, link]).total_mass()
        6.0
        """
        builder = Builder(name, gravity)
        return dh.fill(builder, rows, form, base, tool, inertias, properties)  # type: ignore[return-value]

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
        avoid: Iterable[str] = (),
    ) -> Equations:
        """The equations of motion M(q) vdot + C(q, v) v + D v + S(q) + N(q) = tau in closed form, exact.

        `symbols` selects the numbers that become symbols: one kind, several, or "all" of masses, centres, inertias,
        lengths, gravity, armatures, dampings, stiffnesses; parameters that are already symbols remain so, and numbers
        that are not short fractions become symbols too. `method` is "two-step" or "lagrange", two derivations of the
        same equations. `digits` rounds numbers that are not exact to that many decimals; `time_limit` [s] applies to
        each call; `largest` is the number of terms that the mass matrix may have, None for any; `cancelled()` stops the
        work within 0.2 s of returning true; `progress(stage, done)` is called with the share done, from 0 to 1. No
        symbol has a name of `avoid`, such as `robot.frames`: if a module is called m1, the mass of body 1 is then mb1.

        M, C, C_two_step, D of friction (nv x nv), S of springs and N of gravity (nv x 1) are SymPy matrices, SI units;
        forces without a closed form, such as end stops and dry friction, are listed in `left_out`. See
        `modurob.symbolic.Equations`.

        >>> import modurob as mr
        >>> eq = mr.load("crab").mechanism().equations(("masses", "lengths", "gravity"))
        >>> eq.N[1]
        g*l1*m2*cos(q1 + q2)
        >>> robot = mr.load("crab").mechanism()
        >>> robot.equations(("masses", "lengths", "gravity"), avoid=robot.frames).N[1]
        g*l1*mb2*cos(q1 + q2)
        """
        from modurob.symbolic import Equations

        watched: dict[str, Any] = {
            name: f for name, f in (("cancelled", cancelled), ("progress", progress)) if f is not None
        }
        return Equations(
            self, symbols, method, digits=digits, time_limit=time_limit, largest=largest, avoid=avoid, **watched
        )


class Builder(TableBuilder):
    """Builds a Mechanism body by body, each on an existing frame; see `modurob.mechanism.Builder`.

    `gravity` is in world axes, (3,) [m/s²]. Poses are X_AB (4, 4) [m], inertias 6x6 in the body's frame
    (`modurob.spatial.inertia`).

    >>> b = mr.Builder("pendulum", gravity=(0.0, 0.0, -9.81))
    >>> b.body("rod", mr.spatial.inertia.point(2.0, (0.0, 0.0, -1.0)), joint=mr.Revolute((1, 0, 0))).body
    1
    >>> b.build().gravity_forces([np.pi / 2])
    array([19.62])
    """

    product = Mechanism


@gathered
class Assembly(modular.Assembly):
    """Modules, the connections between their ports and the setup (`modurob.assembly.Assembly`), and the robot that they
    form.

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
        """The robot with the setup of the arguments: the first part of module `base` is fixed in the world, or floats.

        `base` is the first module by default, `gravity` is in world axes [m/s²]. `locked` names joints (m3/hinge) to
        hold at zero, or maps them to the coordinate to hold [rad, m]. Idle joints, which move nothing but an empty part
        of their own module, are locked too unless `keep_idle`.

        >>> import modurob as mr
        >>> mr.load("crab").mechanism(base="m0").nv
        3
        """
        return Mechanism.from_assembly(self, base, floating, gravity, locked, keep_idle)

    def robot(self) -> Mechanism:
        """The robot with the setup of its file: base, floating, gravity; idle joints are held at their initial
        coordinates.

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

    @explained
    def dock(
        self,
        name: str,
        kind: Any,
        at: Any,
        by: str,
        roll: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        *,
        clear_at: Mapping[str, float] | None = None,
    ) -> Assembly:
        """The assembly with a new module `name` docked by its port `by` at the free port `at`, turned by `roll` degrees
        about that port.

        `kind` is a module type, its name, or the path of its file; `parameters` are in the units of that type. Modules
        that would overlap with all joints at zero are refused; with `clear_at`, joint coordinates by name [rad, m],
        also modules whose shapes would collide there (extra `collision`).

        >>> pair = mr.Assembly.single("m0", "backbone").dock("m1", "scout", at="m0/3", by="4", roll=90)
        >>> print(*pair.connections)
        m0/3 - m1/4 @ 90
        """
        docked = super().dock(name, kind, at, by, roll, parameters)
        met = docked.clashes(clear_at) if clear_at is not None else []
        if met:
            where = ", ".join(f"{joint} {x:g}" for joint, x in (clear_at or {}).items())
            raise ClashError(f"with {name!r} docked {met[0][0]!r} would meet {met[0][1]!r} at {where}")
        return docked

    def clashes(self, coordinates: Mapping[str, float]) -> list[tuple[str, str]]:
        """The parts that collide with some joints at these coordinates, by name [rad, m], and the others at zero; pairs
        as in `Mechanism.collision_model`, which needs the extra `collision`.

        >>> mr.load("crab").clashes({"m0/hinge": 0.3, "m1/hinge": -0.2})
        []
        """
        robot = self.mechanism(self.base, keep_idle=True)
        q, joints = np.array(robot.neutral()), {j.name: j for j in robot.joints if j.type.nq == 1}
        for name, x in coordinates.items():
            if name not in joints:
                raise UnknownNameError(f"no joint {name!r:.80}: {choices(str(name)[:80], joints)}")
            q[joints[name].q_slice] = x
        model = robot.collision_model()
        apart = zip(model.pair_names, model.distances(q), strict=True)
        return list(dict.fromkeys(pair for pair, d in apart if d < -TOUCHING))

    def initial_state(self) -> tuple[Array, Array]:
        """The initial state of `robot()` in its file, q (nq,) and v (nv,); zero, or neutral, where the file gives no
        value.

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
    """The reduced robot with some joints held, of a robot (`Mechanism.locked`) or of an assembly with its setup
    (`Assembly.robot`).

    `joints` are names, held at zero, or names with the coordinates to hold [rad or m]. For the remaining rates M, C v +
    N and all poses are those of the whole robot with held rates at zero. In an assembly idle joints can be held too, at
    coordinates other than zero.

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
