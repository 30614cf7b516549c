"""What happened in a run, kept in one file with the robot and the settings: `save`, `load`, `repeated`, tables and plots."""

from modurob.simulation.recording.event import Event
from modurob.simulation.recording.recording import Recording
from modurob.simulation.recording.segment import Segment
from modurob.simulation.recording.settings import Settings

__all__ = ["Event", "Recording", "Segment", "Settings"]
