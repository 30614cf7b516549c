"""Robots that swing by themselves: a gait as servos of the robot, so that it runs in kernels, and in batches."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.forces import Oscillator
from modurob.errors import GaitError, explained
from modurob.mechanism.tables import Joint, JointRow
from modurob.motion.gaits.recipe import Gait
from modurob.motion.gaits.sine import Sine
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@explained
def driven(robot: Mechanism, gait: Gait, kp: float = 60.0, kd: float = 2.0) -> Mechanism:
    """The robot with a servo at every joint with a drive, which follows the gait or holds the posture.

    Servos give kp [N m/rad] times the position error plus kd [N m s/rad] times the rate error, at most the effort of
    the joint. The waves are sines.

    >>> crab = mr.load("crab").mechanism(floating=True)
    >>> walker = mr.driven(crab, mr.gait("crab", amplitude=0.3, frequency=1.0))
    >>> run = mr.simulate(walker, duration=0.5, ground=mr.Ground(), tick=0.01)
    >>> run.status.ok
    True
    """
    if not isinstance(gait, Gait) or not isinstance(gait.generator, Sine):
        raise GaitError(f"{gait!r:.60}: expected a gait whose generator is 'sine', such as mr.gait('snake')")
    reference = gait.on(robot)
    q, places = reference.motion(np.zeros(()))[0], {int(v): k for k, v in enumerate(reference.joints.v_index)}
    rows = []
    for i, joint in with_drives(robot):
        k = places.get(joint.v_slice.start)
        own = {"centre": float(q[joint.q_slice.start])}
        if k is not None:
            wave = float(reference.centre[k]), float(reference.amplitude[k]), float(reference.phase[k])
            own = dict(zip(("centre", "amplitude", "phase"), wave, strict=True))
        limit = float(joint.effort_limit[0])
        servo = Oscillator(kp=kp, kd=kd, frequency=gait.frequency, limit=limit, **own)
        rows.append(JointRow(f"{joint.name} servo", servo, i))
    return replace(robot, forces=(*robot.forces, *rows))


def with_drives(robot: Mechanism) -> Iterator[tuple[int, Joint]]:
    """The joints with a drive, of one coordinate of their own, by their numbers."""
    for i, joint in enumerate(robot.joints):
        if joint.type.nv == 1 == joint.type.nq and not joint.mimics and joint.effort_limit[0] > 0:
            yield i, joint


def servo_states(robot: Mechanism) -> dict[str, slice]:
    """Indices of centre, amplitude, frequency and phase of each servo in the states x of the robot's forces, by joint."""
    own = acting(robot)
    found: dict[str, Any] = {}
    for k, row in own.joint_rows:
        if isinstance(row.force, Oscillator):
            found[robot.joints[row.joint].name] = slice(own.x_starts[k], own.x_starts[k] + 4)
    return found


def with_servos(robot: Mechanism, waves: dict[str, Array]) -> Array:
    """States x of the robot's forces with these waves, (..., 4) each: centre, amplitude, frequency, phase."""
    places, start = servo_states(robot), acting(robot).start()
    lead = np.broadcast_shapes(*(np.shape(x)[:-1] for x in waves.values()))
    x = np.array(np.broadcast_to(start, (*lead, len(start))))
    for name, wave in waves.items():
        x[..., places[name]] = wave
    return x
