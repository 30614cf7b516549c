"""What drives did in a recording: currents, voltages, torques, power and energy."""

from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting, passive_slopes
from modurob.algorithms.interpreter import floats
from modurob.catalogue.drives import DriveForce
from modurob.errors import InputError, SimulationError, choices
from modurob.kinematics.body_contacts import pair_gaps
from modurob.kinematics.contacts import gaps
from modurob.mechanism.driven import drive_rows
from modurob.robot import Mechanism
from modurob.simulation.steppers import STEPPERS, ExponentialRungeKutta4, LinearlyImplicit, RungeKutta4, Stepper
from modurob.spatial.scalars import Array

# explicit rules are stable for steps of a decay up to about two over its rate
STABLE = 2.0
STEP = 1e-3  # [s]
# steps of a rule of order four are at most this over the fastest pulsation: a swing is then wrong by less than 1e-3 of its phase
SWING = 0.5
# with contacts [s]
CONTACT_STEP = 2e-3
# the deepest that a robot may stand in the ground when it starts [m]: the stiffness of points would throw it
DEEPEST = 0.02


class DriveRecord(NamedTuple):
    """One drive over the ticks of a recording, (ticks, ...) each."""

    command: Array  # [V, A, N m or rad], as its input is
    current: Array  # [A]
    voltage: Array  # [V]
    torque: Array  # on the joint [N m]
    power: Array  # taken from the supply [W]
    energy: Array  # taken from the supply since the start [J]
    motor_angle: Array  # seen at the joint [rad]
    motor_speed: Array  # [rad/s]
    temperature: Array | None = None  # of the winding above its surroundings [K]


def drive_record(robot: Mechanism, joint: str, q: Array, v: Array, x: Array) -> DriveRecord:
    """What the drive at a joint does in states (q, v, x), (..., nq), (..., nv), (..., nx)."""
    rows = {robot.joints[row.joint].name: row for row in drive_rows(robot)}
    if joint not in rows:
        raise InputError(f"no drive at {joint!r:.60} of {robot.name}: {choices(str(joint), rows)}")
    row, own = rows[joint], acting(robot)
    at, first = robot.joints[row.joint], own.x_starts[own.rows.index(row)]
    force: Any = row.force
    angle, rate = at.ratio * q[..., at.q_slice.start] + at.offset, at.ratio * v[..., at.v_slice.start]
    return _record(force, angle, rate, x[..., first : first + force.nx])


def _record(force: DriveForce, q: Array, v: Array, x: Array) -> DriveRecord:
    current, voltage = force.current(q, v, x), force.voltage(q, v, x)
    return DriveRecord(
        command=force.of(x, "command"),
        current=current,
        voltage=voltage,
        torque=force.effort(0.0, q, v, x),
        power=voltage * current,
        energy=force.of(x, "energy"),
        motor_angle=force.angle(q, x),
        motor_speed=force.speed(v, x),
        temperature=force.of(x, "temperature") if "temperature" in force.states else None,
    )


def default_stepper(robot: Mechanism) -> Stepper:
    """Runge and Kutta's rule with steps of a millisecond; with drives the one with exact decay, in time with their loops, and with
    shorter steps where a gear, the bristles of its friction, or lines are fast; with contacts the one that carries them."""
    forces: list[Any] = [row.force for row in drive_rows(robot)]
    if acting(robot).touching:
        return LinearlyImplicit(min((CONTACT_STEP, *(period for force in forces for period in force.sample_times))))
    dt = min((STEP, *(period for force in forces for period in force.sample_times)))
    dt = dt / max(1, int(np.ceil(dt * max(fastest_swing(robot), fastest_line(robot)) / SWING)))
    return ExponentialRungeKutta4(dt) if any(force.fastest for force in forces) else RungeKutta4(dt)


def fastest_swing(robot: Mechanism) -> float:
    """The largest natural frequency of a motor between the spring of its gear and the bristles of its friction, and of
    a joint on that spring [rad/s]: w² = (k + s)/J + k/I, I the joint's inertia with all other joints free to move; zero
    if all gears are stiff.
    """
    rows: list[Any] = [row for row in drive_rows(robot) if row.force.stiffness]  # type: ignore[attr-defined]
    if not rows:
        return 0.0
    light = np.diag(np.linalg.pinv(robot.mass_matrix(robot.neutral())))
    squares = [
        (row.force.stiffness + row.force.bristle) / row.force.rotor
        + row.force.stiffness * light[robot.joints[row.joint].v_slice.start]
        for row in rows
    ]
    return float(np.sqrt(max(squares)))


def fastest_line(robot: Mechanism) -> float:
    """The largest pulsation or decay that lines give the robot where it is neutral [1/s]; zero without lines."""
    if not robot.lines:
        return 0.0
    q, v = robot.neutral(), np.zeros(robot.nv)
    light = np.linalg.pinv(robot.mass_matrix(q))
    stiff, damped = (float(np.abs(np.linalg.eigvals(light @ slope)).max()) for slope in passive_slopes(robot, q, v))
    return max(np.sqrt(stiff), damped)


def require_steps(robot: Mechanism, stepper: Stepper, tick: float) -> None:
    """An error for steps that the drives of a robot do not allow: too long for their currents, or out of time with their loops."""
    dt = tick if stepper.dt is None else stepper.dt
    for row in drive_rows(robot):
        force: Any = row.force
        if not stepper.exact_decay and stepper.dt is not None and dt * force.fastest > STABLE:
            raise SimulationError(
                f"{row.name}: its current decays with {force.fastest:.3g}/s, too fast for {stepper}: expected steps of at most "
                f"{STABLE / force.fastest:.2g} s, ExponentialRungeKutta4, or a motor without inductance"
            )
        for period in force.sample_times:
            if abs(round(period / dt) * dt - period) > 1e-9 * period or period < dt * (1 - 1e-9):
                raise SimulationError(
                    f"{row.name}: its loops sample every {period:g} s, which is no multiple of the step {dt:g} s: expected "
                    "steps that fit into it"
                )


def default_start(robot: Mechanism) -> Array:
    """The neutral configuration; of a robot that floats over the ground, set down on it."""
    return robot.standing() if robot.contacts and floats(robot) else robot.neutral()


def require_contacts(robot: Mechanism, stepper: Stepper) -> None:
    """An error for a stepper that carries no contacts, on a robot that has some."""
    if acting(robot).touching and not stepper.contacts:
        valid = ", ".join(kind.__name__ for kind in STEPPERS.values() if kind.contacts)
        raise SimulationError(
            f"{type(stepper).__name__} does not carry contacts with the ground or between bodies, and {robot.name} has "
            f"{len(robot.contacts) + len(robot.body_contacts)}: expected {valid}, such as mr.LinearlyImplicit(2e-3)"
        )


def require_clear(robot: Mechanism, q: Array) -> None:
    """An error for a start deep in the ground, or of bodies deep in each other."""
    _require_apart(robot, q)
    if not robot.contacts:
        return
    own = [row.force.shape.count for row in robot.contacts]
    found = gaps(robot, q).reshape(-1, sum(own))
    if found.min() < -DEEPEST:
        at = int(np.unravel_index(found.argmin(), found.shape)[1])
        row = robot.contacts[int(np.searchsorted(np.cumsum(own), at, side="right"))]
        raise SimulationError(
            f"{row.name.partition(' contact')[0]} of {robot.name} stands {-found.min():.3g} m deep in the ground at the start: "
            f"expected at most {DEEPEST:g} m; robot.on_ground(ground).standing(q) gives a q that stands on it"
        )


def _require_apart(robot: Mechanism, q: Array) -> None:
    rows = robot.body_contacts
    found = pair_gaps(robot, q).reshape(-1, len(rows)).min(axis=0) if rows else np.zeros(1)
    if found.min() < -DEEPEST:
        a, _, b = rows[int(found.argmin())].name.rpartition(" ")[0].partition(" on ")
        raise SimulationError(
            f"{a} and {b} of {robot.name} stand {-found.min():.3g} m deep in each other at the start: expected at most "
            f"{DEEPEST:g} m; with_body_contact(ignore=[({a!r}, {b!r})]) lets them pass through each other"
        )
