"""Robots on driven wheels or tracks: the positions of their wheels, their rates, and servos that drive them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.forces import acting
from modurob.catalogue.forces import Oscillator, SpeedServo
from modurob.errors import InputError, explained
from modurob.kinematics.wheels import rim
from modurob.locomotion.numbers import numbers, one_number, one_positive
from modurob.locomotion.wheels import Wheel, WheeledBase
from modurob.mechanism.tables import Joint, JointRow
from modurob.motion.gaits.driven import with_drives
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# axles that lean by more than this are not those of wheels on the ground [rad]
LEAN = 0.3


class _Seen(NamedTuple):
    """A wheel in the world: its joint, its centre, its rolling direction, (2,), and its radius [m]."""

    joint: str
    centre: Array
    ahead: Array
    radius: float


@explained
def wheel_joints(robot: Mechanism, q: ArrayLike | None = None) -> tuple[str, ...]:
    """The joints of the wheels that a robot rolls on at the configuration q, by default zero.

    They are driven revolute joints without limits that turn only cylinders and spheres about their axis, with axles
    along the ground.

    >>> mr.locomotion.wheel_joints(mr.Assembly.single("s", "scout_drive").mechanism(floating=True))
    ('s/left_front_wheel', 's/left_rear_wheel', 's/right_front_wheel', 's/right_rear_wheel')
    """
    return tuple(w.joint for w in _wheels(robot, q))


@explained
def wheeled_base(robot: Mechanism, q: ArrayLike | None = None) -> WheeledBase:
    """The wheels of a robot at q as a `WheeledBase`, in the order of `wheel_joints`.

    Its x axis is the rolling direction of the first wheel, its origin the middle of all.

    >>> base = mr.locomotion.wheeled_base(mr.Assembly.single("s", "scout_drive").mechanism(floating=True))
    >>> base.wheels[0].at, base.wheels[0].radius
    ((0.02625, 0.043625), 0.021)
    """
    seen = _wheels(robot, q)
    x, y = seen[0].ahead, np.array([-seen[0].ahead[1], seen[0].ahead[0]])
    middle = np.mean([w.centre[:2] for w in seen], axis=0)
    at = [w.centre[:2] - middle for w in seen]
    return WheeledBase(
        tuple(
            Wheel((_rounded(p @ x), _rounded(p @ y)), w.radius, _angle(w.ahead, x, y))
            for p, w in zip(at, seen, strict=True)
        )
    )


@explained
def on_wheels(
    robot: Mechanism,
    speed: float = 0.0,
    turn: float | None = None,
    posture: Mapping[str, float] | None = None,
    kd: float = 2.0,
    stiffness: float = 60.0,
    damping: float = 2.0,
) -> Mechanism:
    """The robot with servos that drive its wheels as if they did not slip: `speed` forward [m/s] and `turn` to the left
    [rad/s] of the middle of its wheels. Without `turn`, the turning rate is the one at which the wheels slip least in
    the `posture`, coordinates by name, at which its other driven joints are held (zero by default). Existing servos of
    the robot are replaced.

    A wheel turns at (heading . c) / radius, c the velocity of its place on the base (see `WheeledBase`). Wheels that
    cannot all roll slide, and the robot turns more slowly, by `sliding_twist`. The servos of wheels give `kd` [N m
    s/rad] times the error of the rate, those of other joints `stiffness` [N m/rad] times the error of the position
    minus `damping` [N m s/rad] times the rate, at most the effort of the joint.

    >>> scout = mr.Assembly.single("s", "scout_drive").mechanism(floating=True)
    >>> run = mr.simulate(mr.on_wheels(scout, speed=0.1), duration=2.0, ground=mr.Ground(), tick=0.02)
    >>> round(float(mr.travel(run, since=1.0).speed), 3)
    0.1
    """
    posture = {} if posture is None else dict(posture)
    gains = one_positive(kd, "kd"), one_positive(stiffness, "stiffness"), one_positive(damping, "damping")
    q = robot.neutral()
    for name, x in posture.items():
        q[robot.joint(name).q_slice] = one_number(x, f"posture of {name}")
    turned = None if turn is None else one_number(turn, "turn")
    rates = dict(
        zip(wheel_joints(robot, q), wheel_rates(robot, one_number(speed, "speed"), turned, q).tolist(), strict=True)
    )
    for name, rate in rates.items():
        _require_possible(robot.joint(name), rate)
    rows = [JointRow(f"{j.name} servo", _servo(j, rates, q, *gains), i) for i, j in with_drives(robot)]
    kept = [row for row in robot.forces if row.name not in {row.name for row in rows}]
    return replace(robot, forces=(*kept, *rows))


def _require_possible(joint: Joint, rate: float) -> None:
    most = float(joint.velocity_limit[0])
    if abs(rate) > most:
        raise InputError(
            f"{joint.name} would turn at {rate:.3g} rad/s: expected at most {most:g}; {most / abs(rate):.3g} times the speed and "
            "turn fit"
        )


@explained
def wheel_rates(robot: Mechanism, speed: ArrayLike, turn: ArrayLike | None = None, q: ArrayLike | None = None) -> Array:
    """Rates of the wheels of `wheel_joints`, (..., wheels) [rad/s], for speeds forward [m/s] and turns to the left
    [rad/s], (...).

    Without a turn, the sideways speed and the turning rate are those at which the wheels slide least to their sides, in
    the mean square.

    >>> scout = mr.Assembly.single("s", "scout_drive").mechanism(floating=True)
    >>> mr.locomotion.wheel_rates(scout, speed=0.105).round(9)
    array([5., 5., 5., 5.])
    """
    base, ahead = wheeled_base(robot, q), numbers(speed, "speed")
    if turn is None:
        C = base.sideways()
        twist = ahead[..., None] * np.append(1.0, -np.linalg.lstsq(C[:, 1:], C[:, 0], rcond=1e-9)[0])
    else:
        ahead, left = np.broadcast_arrays(ahead, numbers(turn, "turn"))
        twist = np.stack([ahead, 0 * ahead, left], axis=-1)
    return (base.rolling() @ twist[..., None])[..., 0]


@explained
def wheel_states(robot: Mechanism, rates: ArrayLike) -> Array:
    """States x of the forces of a robot `on_wheels`, (..., nx), for rates of its wheels, (..., wheels): x0 of a batch
    of runs.

    >>> scout = mr.on_wheels(mr.Assembly.single("s", "scout_drive").mechanism(floating=True)).on_ground()
    >>> x = mr.locomotion.wheel_states(scout, mr.locomotion.wheel_rates(scout, [0.05, 0.1]))
    >>> run = mr.simulate(scout, x0=x, duration=2.0, tick=0.02)
    >>> mr.travel(run, since=1.0).speed.round(3)
    array([0.05, 0.1 ])
    """
    own, names = acting(robot), wheel_joints(robot)
    places = {
        robot.joints[row.joint].name: own.x_starts[k] for k, row in own.joint_rows if isinstance(row.force, SpeedServo)
    }
    missing = [name for name in names if name not in places]
    if missing:
        raise InputError(f"{robot.name} has no servo at {missing[0]!r}: expected a robot of mr.on_wheels(...)")
    given = numbers(rates, "rates", len(names))
    x = np.array(np.broadcast_to(own.start(), (*given.shape[:-1], own.nx)))
    x[..., [places[name] for name in names]] = given
    return x


def _servo(joint: Joint, rates: Mapping[str, float], q: Array, kd: float, stiffness: float, damping: float) -> Any:
    limit = float(joint.effort_limit[0])
    if joint.name in rates:
        return SpeedServo(kd, rates[joint.name], limit)
    return Oscillator(stiffness, damping, centre=float(q[joint.q_slice.start]), limit=limit)


def _wheels(robot: Mechanism, q: ArrayLike | None) -> list[_Seen]:
    found = list(_rolling(robot, robot.neutral() if q is None else robot._q(q)))
    if not found:
        raise InputError(
            f"{robot.name} has no driven wheels on the ground as it stands: expected revolute joints with a drive and without "
            "limits that turn a cylinder or a sphere about its axis, such as those of the module scout_drive"
        )
    return found


def _rolling(robot: Mechanism, q: Array) -> Iterator[_Seen]:
    X = robot.forward_kinematics(q).bodies
    for i, joint in with_drives(robot):
        own = rim(robot, i + 1)
        if own is None:
            continue
        R, p = X[i + 1][:3, :3], X[i + 1][:3, 3]
        axle = R @ own.axle
        if abs(axle[2]) < np.sin(LEAN):
            # a positive rate rolls it along axle x up
            ahead = np.array([axle[1], -axle[0]]) / np.hypot(*axle[:2])
            yield _Seen(joint.name, R @ own.centre + p, ahead, own.radius)


def _angle(ahead: Array, x: Array, y: Array) -> float:
    return _rounded(np.arctan2(ahead @ y, ahead @ x))


def _rounded(x: Any) -> float:
    """A number without the rounding of poses."""
    return float(np.round(x, 12) + 0.0)
