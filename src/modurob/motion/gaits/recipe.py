"""Gaits: a pattern, a generator of waves, how far and how fast."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from modurob.errors import GaitError, choices, explained
from modurob.motion.checks import require_robot
from modurob.motion.gaits.active import Active, active_joints, require_movable
from modurob.motion.gaits.checks import require_number, require_positive
from modurob.motion.gaits.closed import closed
from modurob.motion.gaits.patterns import PRESETS, Pattern
from modurob.motion.gaits.reference import Reference, Swing, require_limits
from modurob.motion.gaits.sine import Sine
from modurob.motion.gaits.waves import GENERATORS, Generator
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.values import owned


@explained
@dataclass(frozen=True)
class Gait:
    """A periodic motion for any robot: q = posture + centre + sign * amplitude * wave(2 pi frequency t), for each
    active joint [rad or m].

    Joints that turn about one axis (revolute, helical) are active; with amplitudes by name, only the named ones, which
    may be prismatic. All others stay at the posture. A gait that exceeds the limits of a joint is refused, never
    reduced. `gait(name)` returns the presets; a gait is a reference for controllers.

    >>> crawl = mr.Gait(mr.motion.gaits.Snake(waves=1.0), amplitude=0.4, frequency=1.0)
    >>> law = mr.ComputedTorque(kp=100, kd=20, reference=crawl)
    """

    pattern: Pattern
    generator: Generator = field(default_factory=Sine)
    amplitude: float | Mapping[str, float] = 0.4  # [rad], or [rad or m] by joint name
    frequency: float = 0.5  # [Hz]
    posture: Mapping[str, float] = field(default_factory=dict)  # coordinates by joint name [rad or m], else neutral

    def __post_init__(self) -> None:
        if not hasattr(self.pattern, "on") or isinstance(self.pattern, type):
            presets = ", ".join(f"{kind.__name__}()" for kind in PRESETS.values())
            raise GaitError(
                f"pattern {self.pattern!r:.60}: expected {presets} or Phases(...); presets by name: gait(name)"
            )
        if not hasattr(self.generator, "waves") or isinstance(self.generator, type):
            _generator(self.generator)
            raise GaitError(f"generator {self.generator!r:.60}: expected one such as Sine() or Hopf(seed=1)")
        require_positive("frequency", self.frequency, "Hz")
        if not isinstance(self.posture, Mapping):
            raise GaitError(f"posture {self.posture!r:.60}: expected coordinates by joint name")
        for name in ("amplitude", "posture"):
            object.__setattr__(self, name, owned(getattr(self, name)))
        named = self.amplitude if isinstance(self.amplitude, Mapping) else {"": self.amplitude}
        for name, value in named.items():
            require_positive(f"amplitude{name and f' of {name!r}'}", value, "rad or m")
        for name, value in self.posture.items():
            require_number(f"posture of {name!r}", value)

    def __hash__(self) -> int:
        # amplitudes and postures are mappings, which have none
        return hash((type(self.pattern), type(self.generator), self.frequency))

    def on(self, robot: Mechanism) -> Reference:
        """The gait for this robot, from t = 0 on: q (nq,), v and vdot (nv,) at a time [s].

        >>> reference = mr.gait("snake", amplitude=0.3).on(robot)
        >>> reference(0.0)[0].shape
        (3,)
        """
        require_robot(robot, "a gait", GaitError)
        if robot.loops and not isinstance(self.generator, Sine):
            raise GaitError(
                f"{robot.name} has loops, whose joints cannot keep waves of their own: expected generator 'sine'"
            )
        joints = active_joints(robot, self.amplitude if isinstance(self.amplitude, Mapping) else None)
        rest = self._rest(robot)
        score = self.pattern.on(joints, rest)
        centre, amplitude = rest[joints.q_index] + score.centre, score.sign * self._amplitudes(joints)
        waves = self.generator.waves(joints.network(score.phase))
        swing = Swing(joints, rest, centre, amplitude, 2 * np.pi * self.frequency, waves)
        motion = closed(swing) if robot.loops else swing
        reference = Reference(self, joints, self.frequency, centre, amplitude, score.phase, motion)
        require_limits(reference)
        return reference

    def _rest(self, robot: Mechanism) -> Array:
        require_movable(robot, self.posture)
        q = robot.neutral()
        for name, value in self.posture.items():
            q[robot.joint(name).q_slice] = value
        return q

    def _amplitudes(self, joints: Active) -> Array:
        if isinstance(self.amplitude, Mapping):
            return np.array([float(self.amplitude[name]) for name in joints.names])
        return np.full(len(joints), float(self.amplitude))


@explained
def gait(
    name: str,
    *,
    amplitude: float | Mapping[str, float] = 0.4,
    frequency: float = 0.5,
    posture: Mapping[str, float] | None = None,
    generator: str | Generator = "sine",
    **options: Any,
) -> Gait:
    """The preset of that name: one of `PRESETS`, such as snake, crab, quadruped or wheel.

    `generator` is sine, hopf, matsuoka, logistic, or one of these classes with its own settings. Options: amplitude
    [rad], frequency [Hz], posture; for the snake `waves`, for the wheel `lobes`.

    >>> mr.gait("snake", amplitude=0.5, frequency=1.0, generator="hopf").frequency
    1.0
    """
    own = [x.name for x in fields(PRESETS[name])]
    for option in options:
        if option not in own:
            valid = [*own, "amplitude", "frequency", "posture", "generator"]
            raise GaitError(f"gait {name!r} has no option {option!r}: {choices(option, valid)}")
    return Gait(
        PRESETS[name](**options), _generator(generator), amplitude, frequency, {} if posture is None else posture
    )


def _generator(generator: str | Generator) -> Generator:
    if hasattr(generator, "waves") and not isinstance(generator, type):
        return generator  # type: ignore[return-value]
    if isinstance(generator, type) and generator in GENERATORS.values():
        raise GaitError(
            f"generator {generator.__name__}: expected one with its settings, such as {generator.__name__}()"
        )
    return GENERATORS[generator]()  # type: ignore[index]
