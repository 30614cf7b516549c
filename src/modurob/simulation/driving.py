"""What drives did in a recording: currents, voltages, torques, power and energy."""

from typing import Any, NamedTuple

from modurob.algorithms.forces import acting
from modurob.catalogue.drives import DriveForce
from modurob.errors import InputError, choices
from modurob.mechanism.driven import drive_rows
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


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
