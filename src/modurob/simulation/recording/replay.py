"""A run again, from what its recording holds."""

from typing import TYPE_CHECKING

from modurob.errors import SimulationError
from modurob.robot import Mechanism
from modurob.simulation.law import Measured
from modurob.simulation.recording.segment import OUTSIDE, Segment
from modurob.simulation.system import State
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.simulation.recording.recording import Recording


class Replay:
    """The torques of a segment, one a tick, as a law."""

    sample_time = None

    def __init__(self, segment: Segment):
        self._torques = segment.tau

    def on(self, robot: Mechanism) -> "Replay":
        return self

    def start(self) -> int:
        return 0

    def step(self, memory: int, t: float, measured: Measured) -> tuple[int, Array]:
        return memory + 1, self._torques[memory]


def repeated(old: Segment) -> "Recording":
    """The segment again, from the robot, start, torques and stepper it holds: the same to the last bit."""
    from modurob.simulation.simulation import Simulation  # which makes recordings

    s, start = old.settings, State(old.q[0], old.v[0], old.x[0])
    if s.pushed:
        raise SimulationError(f"{OUTSIDE}: run it again with them")
    t0 = float(old.t[0])
    again = Simulation(old.robot, start.q, start.v, Replay(old), s.stepper, tick=s.tick, seed=s.seed, t0=t0, x0=start.x)
    # untouched: bringing quaternions to length one twice may change a bit
    again.state = start
    if len(old.t) > 1:
        again.advance((len(old.t) - 1) * s.tick)
    again.pilot.tau = old.tau[-1]
    return again.recording
