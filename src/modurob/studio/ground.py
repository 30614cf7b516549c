"""Runs on the ground: where it lies, the servos that swing a robot on it, and where the robot touches it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import Ground, Plane
from modurob.catalogue.forces import Oscillator
from modurob.errors import StudioError, choices
from modurob.kinematics.contacts import gaps
from modurob.mechanism.tables import JointRow
from modurob.motion.gaits import Gait, gait
from modurob.motion.gaits.driven import driven
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.studio import offers
from modurob.studio.protocol import RunSettings

LEAST_FORCE = 1e-3  # [N]: less is not drawn


def under(robot: Mechanism, q: Array, settings: RunSettings) -> Ground:
    """The ground that the settings ask for, so high that the lowest point of the robot just touches it."""
    slope = float(np.deg2rad(settings.slope))
    flat = Ground(settings.friction, surface=Plane(slope))
    gap = float(gaps(robot.on_ground(flat), q).min())
    # gaps are along the normal, heights along z
    return replace(flat, surface=Plane(slope, height=float(gap / np.cos(slope))))


def rhythm(settings: RunSettings) -> Gait:
    """The gait that the settings ask for."""
    s, known = settings, offers.options(settings.gait)
    for name in s.options.keys() - known.keys():
        raise StudioError(f"gait {s.gait} has no option {name!r:.80}: {choices(name[:80], known)}")
    amplitude = dict.fromkeys(s.joints, s.amplitude) if s.joints else s.amplitude
    options: dict[str, Any] = {name: type(known[name])(x) for name, x in s.options.items()}
    return gait(s.gait, generator=s.generator, amplitude=amplitude, frequency=s.frequency, **options)


def servoed(robot: Mechanism, q: Array, settings: RunSettings, kp: float, kd: float) -> Mechanism:
    """The robot with a servo at each joint with a drive: it swings as the gait says, goes to the set point, or holds q."""
    if settings.reference == "gait":
        return driven(robot, rhythm(settings), kp, kd)
    rows = []
    for i, joint in enumerate(robot.joints):
        if joint.type.nv == joint.type.nq == 1 and not joint.mimics and joint.effort_limit[0] > 0:
            own = settings.set_points.get(joint.name, settings.amplitude)
            to = own if settings.reference == "set_point" else float(q[joint.q_slice.start])
            servo = Oscillator(kp=kp, kd=kd, centre=to, limit=float(joint.effort_limit[0]))
            rows.append(JointRow(f"{joint.name} servo", servo, i))
    return replace(robot, forces=(*robot.forces, *rows))


@dataclass(frozen=True)
class Servos:
    """The servos of a robot, side by side: what they give, what they lack, and how their swing is changed."""

    kp: Array
    kd: Array
    limit: Array
    q: Array  # where their coordinates, rates and states stand
    v: Array
    x: Array  # (servos, 4): centre, amplitude, frequency, phase
    nv: int

    @classmethod
    def of(cls, robot: Mechanism) -> "Servos":
        own = acting(robot)
        found = [
            (k, row.force, robot.joints[row.joint]) for k, row in own.joint_rows if isinstance(row.force, Oscillator)
        ]
        kp, kd, limit = (np.array([float(getattr(f, name)) for _, f, _ in found]) for name in ("kp", "kd", "limit"))
        q, v = ([getattr(j, name).start for _, _, j in found] for name in ("q_slice", "v_slice"))
        x = np.array([own.x_starts[k] for k, _, _ in found], dtype=int)[:, None] + np.arange(4)
        return cls(kp, kd, limit, np.array(q, dtype=int), np.array(v, dtype=int), x, robot.nv)

    def lacking(self, t: float, q: Array, v: Array, x: Array) -> tuple[Array, Array]:
        """What is missing to the swing, and what its rate lacks, (nv,) each; zero where there is no servo."""
        centre, amplitude, frequency, phase = x[self.x].T
        pulsation, grown = 2 * np.pi * frequency, min(t, 1.0)
        angle = pulsation * t + phase
        missing = centre + amplitude * grown * np.sin(angle) - q[self.q]
        lag = amplitude * grown * pulsation * np.cos(angle) - v[self.v]
        return self._spread(missing), self._spread(lag)

    def torques(self, t: float, q: Array, v: Array, x: Array) -> Array:
        """What they give, (nv,) [N m or N]."""
        missing, lag = (part[self.v] for part in self.lacking(t, q, v, x))
        return self._spread(np.clip(self.kp * missing + self.kd * lag, -self.limit, self.limit))

    def tuned(self, t: float, x: Array, wider: float, frequency: float) -> Array:
        """States with swings so many times as wide, and another frequency [Hz]; angles go on from where they are."""
        x = np.array(x)
        own = x[self.x]
        own[:, 1] *= wider
        own[:, 3] += 2 * np.pi * (own[:, 2] - frequency) * t
        own[:, 2] = frequency
        x[self.x] = own
        return x

    def _spread(self, values: Array) -> Array:
        out = np.zeros(self.nv)
        out[self.v] = values
        return out


def touching(robot: Mechanism, q: Array, v: Array, x: Array) -> Array:
    """The points that press on the ground: where, the force on them, and how fast they slip, (points, 7)."""
    felt = robot.contact_forces(q, v, x)
    rows = np.concatenate([felt.points, felt.forces, felt.slip[:, None]], axis=-1)
    return rows[np.linalg.norm(felt.forces, axis=-1) > LEAST_FORCE]
