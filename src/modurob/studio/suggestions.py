"""Settings of a run that suit a robot: a gait for its limbs, a swing within its limits, gains of the size of its inertia."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modurob.control.drives import Drives, floating
from modurob.mechanism.tables import Joint
from modurob.motion.gaits import gait
from modurob.motion.gaits.strides import MOST_RATES, SET_BY_HAND, SWINGS, stride, widest
from modurob.robot import Mechanism
from modurob.simulation.driving import STEP, default_stepper
from modurob.studio import offers

TURNING = ("revolute", "helical")
SAMPLES = 12  # of one period of a gait
PID_SAMPLE_TIME = 1e-3  # [s]
SHORTEST = 1e-5  # step that the page offers [s]
STIFFEST = 20.0  # natural frequency that PID gains aim at [rad/s]
DAMPING = 0.3  # least damping ratio
# what walks: servos in the robot, and the stepper that carries them and contacts
ON_GROUND: Mapping[str, Any] = {
    "controller": offers.SERVOS,
    "stepper": "linearly-implicit",
    "step": 2.5e-3,
    "ideal": False,
}
SERVO_DAMPING = 0.35  # ratio
USUAL: Mapping[str, Any] = {"gains": offers.TORQUES, "sample_time": 5e-3}


def settings(robot: Mechanism, organism: str = "") -> dict[str, Any]:
    """What to begin with, as fields of `protocol.RunSettings`; under `torques` those of laws whose gains are torques.

    A robot that its own drives cannot carry begins with ideal ones. An organism walks by its own gait, with the servos it was
    set for.
    """
    pattern = _pattern(robot)
    swing = widest(robot, pattern)
    own = stride(robot, SET_BY_HAND[organism].gait if organism else pattern, organism)
    usual = bool(organism) or not 0 < robot.nv <= MOST_RATES
    return {
        "reference": "gait" if swing else "hold",
        "gait": pattern,
        "amplitude": swing or SWINGS[0],
        "ideal": _is_weak(robot, pattern, swing),
        "step": _step(robot),
        "torques": _torques(robot) if 0 < robot.nv <= MOST_RATES else USUAL,
        "servos": offers.GAINS[offers.SERVOS] if usual else _servos(robot),
        "ground": bool(floating(robot) and robot.shapes and robot.gravity[2] < 0),
        "on_ground": {**ON_GROUND, **own._asdict(), "options": dict(own.options), "joints": list(own.joints)},
    }


def _step(robot: Mechanism) -> float:
    """Of the physics [s]: the usual one, or what lines need."""
    return max(SHORTEST, min(STEP, default_stepper(robot).dt or STEP)) if robot.lines else STEP


def _pattern(robot: Mechanism) -> str:
    """snake for a chain, quadruped for four limbs and more, crab for the trees between."""
    children = _children(robot)
    limbs = sum(not below for body, below in children.items() if body)
    trunk = any(len(below) > 1 for body, below in children.items() if body)
    if limbs >= 4:
        return "quadruped"
    return "crab" if trunk or limbs == 3 else "snake"


def _children(robot: Mechanism) -> dict[int, list[int]]:
    """The bodies that hang by a turning joint on each such body, and on the base, which is 0."""
    turning = [i for i, joint in enumerate(robot.joints, 1) if _turns(joint)]
    children: dict[int, list[int]] = {body: [] for body in (0, *turning)}
    for body in turning:
        above = next((b for b in robot.ancestors[body][1:] if b in children), 0)
        children[above].append(body)
    return children


def _turns(joint: Joint) -> bool:
    return joint.kind in TURNING and not joint.mimics


def _is_weak(robot: Mechanism, pattern: str, swing: float) -> bool:
    """Whether the motion, or the weight at rest, asks for more than the drives of a robot that stands can give."""
    if robot.constraints or floating(robot) or not 0 < robot.nv <= MOST_RATES:
        return False
    needed = np.abs(robot.gravity_forces(robot.neutral()))
    if swing:
        motion = gait(pattern, amplitude=swing).on(robot)
        for t in np.linspace(0.0, 1 / motion.frequency, SAMPLES, endpoint=False):
            needed = np.maximum(needed, np.abs(robot.inverse_dynamics(*motion(float(t)))))
    return bool(np.any(needed > robot.effort_limit))


def _torques(robot: Mechanism) -> Mapping[str, Any]:
    """One gain for all joints: as stiff as the one with the most inertia asks for, and the one with the least can bear."""
    driven = Drives.of(robot).v
    M = robot.mass_matrix(robot.neutral())
    try:
        free = 1 / np.diag(np.linalg.inv(M))[driven]
    except np.linalg.LinAlgError:
        return USUAL
    heaviest, lightest = float(M[driven, driven].max(initial=0.0)), float(free.min(initial=np.inf))
    if not (0 < lightest < np.inf and heaviest > 0):
        return USUAL
    # a derivative gain above lightest / sample time makes the sampled loop unstable
    most = 0.5 * lightest / PID_SAMPLE_TIME
    stiff = min(STIFFEST**2 * heaviest, most / (2 * DAMPING) / heaviest * most / (2 * DAMPING))
    damping = min(most, 2 * 0.7 * np.sqrt(stiff * heaviest))
    if not np.isfinite(stiff + damping):
        return USUAL
    gains = {"kp": _short(stiff), "ki": _short(stiff), "kd": _short(damping)}
    return {"gains": gains, "sample_time": PID_SAMPLE_TIME}


def _servos(robot: Mechanism) -> Mapping[str, float]:
    """As stiff as the joint with the most inertia asks for; they are part of the robot, so that no sampling limits them."""
    driven = Drives.of(robot).v
    heaviest = float(np.diag(robot.mass_matrix(robot.neutral()))[driven].max(initial=0.0))
    if not 0 < heaviest < np.inf:
        return offers.GAINS[offers.SERVOS]
    stiff = STIFFEST**2 * heaviest
    return {"kp": _short(stiff), "kd": _short(2 * SERVO_DAMPING * np.sqrt(stiff * heaviest))}


def _short(x: float) -> float:
    """A number that can be read: two digits."""
    return float(f"{x:.2g}")
