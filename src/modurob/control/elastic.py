"""Robots with elastic joints: inverse dynamics and feedback linearisation through the springs (von Stryk 5.8.2; Spong 1987)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob.control.coupling import ALONE, Coupling, coupling
from modurob.control.drives import Drives, floating
from modurob.control.feedback_linearisation import inverse_model
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.values import limiter
from modurob.errors import ControlError
from modurob.mechanism import Joint
from modurob.mechanism.driven import drive_rows, without_drive
from modurob.motion.numbers import numbers, one_positive
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial.scalars import Array, absolute, as_array, largest, solve

# weights of f' h and f'' h² at f(-4h) ... f(4h): central differences of order eight
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
REACH = np.arange(-4, 5)
# the time between these points, in parts of the time in which the motion changes
SHARE = 0.02


class Elastic(NamedTuple):
    """The elastic drives of a robot: numbers at the rates, (nv,) each, one and zeros at a floating base; the robot without them."""

    stiffness: Array
    rotor: Array
    viscous: Array
    links: Mechanism
    angle: Array  # places of the motors' angles in x
    speed: Array
    v: Array  # places of the driven rates in v
    q: Array  # and of their coordinates in q

    def at_rates(self, x: Array) -> Array:
        """Numbers of the driven joints, (..., n), at their rates, (..., nv): zero at a floating base."""
        if len(self.v) == len(self.stiffness):
            return x
        whole = np.zeros((*x.shape[:-1], len(self.stiffness)), x.dtype)
        whole[..., self.v] = x
        return whole

    def twist(self, q: Array, x: Array) -> Array:
        """Of the gears, theta - q, (..., nv) [rad]."""
        return self.at_rates(x[..., self.angle] - q[..., self.q])

    def speeds(self, x: Array) -> Array:
        """Of the motors, (..., nv) [rad/s]."""
        return self.at_rates(x[..., self.speed])


class ElasticMotion(NamedTuple):
    """What moves an elastic robot along a motion, (..., nv) each."""

    tau: Array  # torques of the motors, at the joints [N m]
    angle: Array  # of the motors [rad]
    speed: Array  # [rad/s]
    gear: Array  # torque through the gears [N m]


# what stands in the way of a spring alone between a motor and its joint, and friction of motors that a law may know nothing of
BETWEEN = ("damping", "play", "current_lag", "loop_time")
UNKNOWN_FRICTION = ("bristle", "loss")


def elastic_drives(
    robot: Mechanism, what: str, obstacles: tuple[str, ...] = BETWEEN + UNKNOWN_FRICTION, base: Sequence[Joint] = ()
) -> Elastic:
    """The elastic drives, one at every joint but a floating `base`, or an error with the reason why there are none."""
    rows = {row.joint: row for row in drive_rows(robot)}
    starts, position, numbers_, places = np.cumsum([0, *(row.force.nx for row in robot.forces)]), {}, [], []
    for k, row in enumerate(robot.forces):
        position[row.name] = int(starts[k])
    joints = [(k, joint) for k, joint in enumerate(robot.joints) if joint not in base]
    if not joints:
        raise ControlError(f"{what} assumes an elastic drive at every joint: {robot.name} has no joint with a drive")
    for k, joint in joints:
        force: Any = rows[k].force if k in rows else None
        if force is None or not force.stiffness:
            raise ControlError(f"{what} assumes an elastic drive at every joint: {joint.name} of {robot.name} has none")
        for name in obstacles:
            if getattr(force, name, 0.0):
                raise ControlError(f"{what} assumes springs alone between motors and joints: {joint.name} has {name}")
        numbers_.append((force.stiffness, force.rotor, force.viscous))
        first = position[rows[k].name]
        places.append((first + force.states.index("angle"), first + force.states.index("speed")))
    links = robot
    for k in rows:
        links = without_drive(links, k)
    v, q = (
        np.array([at.start for at in which]) for which in zip(*((j.v_slice, j.q_slice) for _, j in joints), strict=True)
    )
    at_rates = np.array([[1.0], [0.0], [0.0]]) + np.zeros(robot.nv)
    at_rates[:, v] = np.array(numbers_).T
    (stiffness, rotor, viscous), (angle, speed) = at_rates, np.array(places).T
    return Elastic(stiffness, rotor, viscous, links, angle, speed, v, q)


def elastic_inverse_dynamics(robot: Mechanism, motion: tuple[Array, Array, Array, Array, Array]) -> ElasticMotion:
    """Torques of the motors that move elastic joints along (q, v, vdot, jerk, snap), (..., nv) each.

    tau_El = M vdot + C v + N - passive, theta = q + tau_El/k, tau = J theta'' + b theta' + tau_El with theta'' = vdot +
    tau_El''/k (von Stryk (5.22)-(5.24)); the derivatives of tau_El along the motion by differences of order eight.

    >>> gear = mr.Gear(ratio=50.0, stiffness=200.0)
    >>> soft = robot
    >>> for joint in robot.joints:
    ...     soft = soft.with_drive(joint.name, mr.Drive(mr.Motor(0.02, inertia=1e-6), gear))
    >>> rest = (np.array(q), *(np.zeros(3) for _ in range(4)))
    >>> bool(np.allclose(mr.control.elastic_inverse_dynamics(soft, rest).tau, robot.gravity_forces(q)))
    True
    """
    own = elastic_drives(robot, "elastic_inverse_dynamics")
    return _inverse(own, inverse_model(own.links), motion)


def _inverse(own: Elastic, model: Callable[..., Array], motion: Any, between: Coupling = ALONE) -> ElasticMotion:
    """What moves the robot, whose floating base has that vdot and jerk by itself, and the snap that it must."""
    q, v, vdot, *_ = motion
    f, first, second = _derivatives(own.links, model, motion)
    second = between.torque(second)
    speed = v + first / own.stiffness
    tau = own.rotor * (vdot + second / own.stiffness) + own.viscous * speed + f
    return ElasticMotion(tau, own.at_rates(q[..., own.q]) + f / own.stiffness, speed, f)


def _derivatives(robot: Mechanism, model: Callable[..., Array], motion: Any) -> tuple[Array, Array, Array]:
    """tau_El and its first and second derivative along a motion, (..., nv) each."""
    motion = tuple(as_array(x) for x in motion)
    h = spacing(*motion[1:])
    return differences(model(*moments(motion, h, robot)), h)


def moments(motion: tuple[Array, ...], h: Array, robot: Mechanism | None = None) -> tuple[Array, Array, Array]:
    """q, v and vdot at nine moments h apart around a motion (q, v, vdot, jerk, snap), (9, ..., n) each.

    With quaternions q is right to second order in time, which is what second derivatives in the middle need.
    """
    q, v, vdot, jerk, snap = motion
    d = REACH.reshape(-1, *[1] * v.ndim) * h
    way = d * (v + d / 2 * (vdot + d / 3 * (jerk + d / 4 * snap)))
    along = (
        q + way if robot is None else robot.integrate(np.broadcast_to(q, (*way.shape[:-1], q.shape[-1])), way),
        v + d * (vdot + d / 2 * (jerk + d / 3 * snap)),
        vdot + d * (jerk + d / 2 * snap),
    )
    return tuple(np.ascontiguousarray(x) for x in along)  # type: ignore[return-value]


def differences(f: Array, h: Array) -> tuple[Array, Array, Array]:
    """A function, (9, ..., n) at `moments`, its first and its second derivative in the middle, (..., n) each."""
    return f[4], np.tensordot(FIRST, f, 1) / h, np.tensordot(SECOND, f, 1) / h**2


def spacing(v: Array, *rates: Array) -> Array:
    """The time between the points of a difference [s]: a share of the time in which rates change the angles by one radian."""
    each = [(absolute(x) ** (1 / (k + 1))).ravel() for k, x in enumerate((v, *rates))]
    return SHARE / largest(np.concatenate(each), 1.0)


@LAWS.register("elastic-linearisation")
@dataclass(frozen=True, eq=False)
class ElasticLinearisation(Recipe):
    """Elastic joints become chains of four integrators: q'''' = snap_d + k3 e''' + k2 e'' + k1 e' + k0 e, with the
    poles at -`pole` [1/s].

    e'' and e''' follow from the deflection of the gears, q'' = M^-1 (k (theta - q) - ...), so that only angles and
    rates of joints and motors are measured. `reference` is an array, or a function of time that returns q and its first
    four derivatives. For robots with an elastic drive at every joint, without damping or friction in the gear. On a
    floating base, whose motion follows from the dynamics, the joints behave in the same way.

    >>> law = mr.ElasticLinearisation([0.3, 0.2, -0.4], pole=15.0)
    """

    reference: Any = 0.0
    pole: float = 10.0  # [1/s]
    needs: ClassVar[str] = "a robot with an elastic drive at every joint"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.pole, "pole")

    def drives(self, robot: Mechanism) -> Drives:
        return Drives.of(self.believed(robot), self.actuated)

    def on(self, robot: Mechanism) -> "ElasticLinearisationLaw":
        return ElasticLinearisationLaw(self, robot)


class ElasticLaw(BoundLaw):
    """What laws for elastic joints share: they measure x, the motors' angles and rates in it, too."""

    def __init__(self, recipe: Any, robot: Mechanism, obstacles: tuple[str, ...] = BETWEEN + UNKNOWN_FRICTION):
        super().__init__(recipe, robot)
        believed = robot if recipe.model is None else recipe.model
        base = [joint for joint in floating(believed) if joint not in self.drives.joints]
        self._own = elastic_drives(believed, type(recipe).__name__, obstacles, base)
        self._model, self._limited = inverse_model(self._own.links), limiter(recipe.saturation, self.drives)
        self._coupling = coupling(replace(self.drives, robot=self._own.links))
        self._target = _target(recipe.reference, len(self._own.v))

    def start(self) -> None:
        return None

    def step(self, memory: None, t: float, measured: Measured) -> tuple[None, Array]:
        if not hasattr(measured, "x"):
            raise ControlError(
                f"{type(self.recipe).__name__} measures the motors' angles, which an estimator of (q, v) does not know"
            )
        return None, self.torque(t, measured.q, measured.v, measured.x)  # type: ignore[attr-defined]

    def torque(self, t: float, q: Array, v: Array, x: Array) -> Array:
        """Torques of the motors, (..., nv), from joints and from the motors' angles in x."""
        raise NotImplementedError

    def motion(self, q: Array, v: Array, x: Array) -> tuple[Array, Array]:
        """vdot and jerk, (..., nv) each, from the twist of the gears: M vdot + C v + N = k (theta - q), zero at a floating base."""
        own, still = self._own, np.zeros_like(v)
        M = own.links.mass_matrix(q)
        vdot = _solved(M, own.stiffness * own.twist(q, x) - self._model(q, v, still))
        # d/dt of the gears' torques is linear in the jerk
        first = _derivatives(own.links, self._model, (q, v, vdot, still, still))[1]
        return vdot, _solved(M, own.stiffness * own.at_rates(x[..., own.speed] - v[..., own.v]) - first)

    def ahead(self, t: float, q: Array, v: Array) -> tuple[Array, ...]:
        """The errors e and e' to the reference, and its second to fourth derivative, (..., nv) each."""
        q_d, v_d, *rest = (as_array(x) for x in self._target(t))
        own = self._own
        return tuple(own.at_rates(x) for x in (q_d - q[..., own.q], v_d - v[..., own.v], *rest))


class ElasticLinearisationLaw(ElasticLaw):
    """The law for one robot."""

    def __init__(self, recipe: ElasticLinearisation, robot: Mechanism):
        super().__init__(recipe, robot)
        p = recipe.pole
        self._gains = (p**4, 4 * p**3, 6 * p**2, 4 * p)

    def torque(self, t: float, q: Array, v: Array, x: Array) -> Array:
        vdot, jerk = self.motion(q, v, x)
        e, e_v, vdot_d, jerk_d, snap = self.ahead(t, q, v)
        errors = (e, e_v, vdot_d - vdot, jerk_d - jerk)
        snap = snap + sum(k * error for k, error in zip(self._gains, errors, strict=True))
        return self._limited(_inverse(self._own, self._model, (q, v, vdot, jerk, snap), self._coupling(q)).tau)


def _solved(M: Array, b: Array) -> Array:
    return solve(M, b[..., None])[..., 0]


def _target(reference: Any, n: int) -> Callable[[float], Any]:
    """t -> q of the n driven joints and four derivatives."""
    if callable(reference):
        given: Any = reference(0.0)
        if not isinstance(given, tuple | list) or len(given) != 5:
            raise ControlError("reference: expected a function that returns q and its first four derivatives")
        return reference
    q = np.broadcast_to(numbers(reference, "reference"), (n,))
    still = np.zeros(n)
    return lambda t: (q, still, still, still, still)
