"""MuJoCo as the engine of a simulation: its model of the robot, its constraints and contacts, its own steps."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.contact import Ground, Plane
from modurob.errors import SimulationError, choices
from modurob.mechanism.mjcf import MujocoModel
from modurob.mechanism.tables import Tables
from modurob.simulation.external import ExternalWrenches
from modurob.simulation.steppers.stepper import STEPPERS, FixedStep
from modurob.simulation.stepping import Moved, Mover
from modurob.simulation.system import Held, State, System
from modurob.spatial import quaternion, se3, so3
from modurob.spatial.scalars import Array

INTEGRATORS = ("euler", "rk4", "implicit", "implicitfast")
# constraints give way by a ten thousandth, the least that MuJoCo has: its own twentieth lets loads creep
IMPEDANCE = (0.9999, 0.9999, 1e-3, 0.5, 2.0)
NO_RESET = 65536  # mjDSBL_AUTORESET: a state that is lost is told, not replaced


@STEPPERS.register("mujoco")
@dataclass(frozen=True)
class MujocoSteps(FixedStep):
    """MuJoCo's own steps of dt [s], by `integrator` "euler", "rk4", "implicit" or "implicitfast": the stepper of
    `engine="mujoco"`.

    Limits, loops, mimic joints, dry friction and contacts are MuJoCo's constraints: they yield with a time constant of
    two steps, so that smaller steps are stiffer. Needs the extra `mujoco`.

    >>> run = mr.simulate(robot, q, duration=0.1, engine="mujoco", stepper=mr.MujocoSteps(5e-4, "rk4"))
    >>> run.status.ok
    True
    """

    dt: float = 1e-3  # type: ignore[assignment]
    integrator: str = "implicitfast"
    kind, order, compiled, contacts = "mujoco", 1, False, True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.integrator not in INTEGRATORS:
            raise SimulationError(f"integrator {self.integrator!r:.60}: {choices(str(self.integrator), INTEGRATORS)}")

    def with_dt(self, dt: float) -> "MujocoSteps":
        return replace(self, dt=dt)

    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        raise SimulationError("MuJoCo carries a robot by itself: expected mr.simulate(..., engine='mujoco')")

    def mover(self, m: Tables, wrenches: ExternalWrenches | None = None) -> "MujocoMover":
        if m.body_contacts:
            raise SimulationError(
                f"{m.name} has {len(m.body_contacts)} contacts between bodies, which are not handed to MuJoCo: expected "
                "engine='modurob', or a robot without them"
            )
        # contacts with a ground are MuJoCo's own
        ground = m.contacts[0].force.ground if m.contacts else None
        m = replace(m, forces=tuple(row for row in m.forces if row not in m.contacts))
        found = MujocoMover(m, self, wrenches, ground)
        _ = found._own  # what MuJoCo does not have is refused now
        return found


@dataclass(frozen=True, eq=False)
class MujocoMover(Mover):
    """A robot in MuJoCo under held torques and a user's wrenches, on the ground if there is one. The runs of a batch
    are run one after another.
    """

    ground: Ground | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return MujocoMover, (self.m, self.stepper, self.wrenches, self.ground)

    @cached_property
    def _own(self) -> MujocoModel:
        """The model, with constraints as hard as the steps allow."""
        steps: Any = self.stepper
        own = MujocoModel(self.m, shapes=self.ground is not None)
        own.mujoco.set_mju_user_warning(_quiet)
        option, mjt = own.spec.option, own.mujoco.mjtIntegrator
        option.timestep, option.disableflags = steps.dt, NO_RESET
        option.integrator = getattr(mjt, f"mjINT_{steps.integrator.upper()}")
        if self.ground is not None:
            _lay(own, self.ground)
        own.compile()
        for kind in ("eq", "jnt", "dof", "geom"):
            getattr(own.model, f"{kind}_solref")[:] = (2 * steps.dt, 1.0)
            getattr(own.model, f"{kind}_solimp")[:] = IMPEDANCE
        return own

    def advance(self, t: float, s: State, u: Array, duration: float) -> Moved:
        shape, n = s.v.shape[:-1], round(duration / self.stepper.dt)  # type: ignore[operator]
        q, v = (np.array(x).reshape(-1, x.shape[-1]) for x in (s.q, s.v))
        torques = np.broadcast_to(u, s.v.shape).reshape(v.shape)
        held = self.wrenches is None and not any(j.kind == "free" and u[..., j.v_slice].any() for j in self.m.joints)
        for k in range(n if not held else 1):
            at = t + k * self.stepper.dt  # type: ignore[operator]
            wrenches = None if self.wrenches is None else self.wrenches(np.full((len(v), 1), at), q, v)
            for run in range(len(v)):
                self._set(q[run], v[run], torques[run], None if wrenches is None else wrenches[run], run)
                self._own.mujoco.mj_step(self._own.model, self._own.data, nstep=n if held else 1)
                q[run], v[run] = self._own.state()
                self._kept[run] = q[run].copy(), v[run].copy(), *self._own.memory()
        state = State(q.reshape(*shape, -1), v.reshape(*shape, -1), s.x)
        return Moved(state, np.zeros(shape, dtype=int))

    @cached_property
    def _kept(self) -> dict[int, tuple[Array, ...]]:
        """The state of MuJoCo at the end of each run: the violation of its constraints is part of it."""
        return {}

    def _set(self, q: Array, v: Array, tau: Array, wrenches: Array | None, run: int = -1) -> None:
        """The state, the torques as forces along MuJoCo's rates, and wrenches at the origins of bodies."""
        own = self._own
        applied = own.applied(own.place(q, v), tau)
        left = self._kept.get(run)
        if left is not None and np.array_equal(left[0], q) and np.array_equal(left[1], v):
            own.remember(*left[2:])
        if wrenches is not None:
            own.mujoco.mj_forward(own.model, own.data)
            for i in np.flatnonzero(wrenches.any(axis=-1)):
                number = own.body(int(i))
                R, p = own.data.xmat[number].reshape(3, 3), own.data.xpos[number]
                f, n = R @ wrenches[i, :3], R @ wrenches[i, 3:]
                own.mujoco.mj_applyFT(own.model, own.data, f, n, p, number, applied)
        own.data.qfrc_applied = applied

    def acceleration(self, t: float, s: State, u: Array) -> Array:
        q, v = (np.array(x).reshape(-1, x.shape[-1]) for x in (s.q, s.v))
        torques = np.broadcast_to(u, s.v.shape).reshape(v.shape)
        wrenches = None if self.wrenches is None else self.wrenches(np.full((len(v), 1), float(t)), q, v)
        found = np.empty_like(v)
        for run in range(len(v)):
            self._set(q[run], v[run], torques[run], None if wrenches is None else wrenches[run])
            self._own.mujoco.mj_forward(self._own.model, self._own.data)
            found[run] = self._own.acceleration(q[run], v[run])
        return found.reshape(s.v.shape)


def _quiet(message: str) -> None:
    """MuJoCo's warnings would be written to a file; what is lost shows in the state."""


def _lay(own: MujocoModel, ground: Ground) -> None:
    """A plane below the robot, with the ground's friction."""
    surface: Any = ground.surface
    if not isinstance(surface, Plane):
        raise SimulationError(f"{ground!r:.60}: expected a plane with friction for MuJoCo")
    if ground.restitution:
        raise SimulationError(f"ground with restitution {ground.restitution:g}: MuJoCo has none, expected 0")
    R = so3.about(np.eye(3)[2], np.array(float(surface.heading))) @ so3.about(
        np.eye(3)[1], np.array(-float(surface.slope))
    )
    rolling = float(ground.rolling)
    own.spec.worldbody.add_geom(
        name="ground",
        type=own.mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 1],
        pos=[0, 0, float(surface.height)],
        quat=quaternion.from_matrix(se3.rotation(se3.pose(R))),
        friction=[float(ground.friction), 0.0, rolling],
        condim=6 if rolling else 3,
        conaffinity=0,
        priority=1,
    )
    own.spec.option.cone, own.spec.option.impratio = own.mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
