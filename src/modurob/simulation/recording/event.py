"""Something that happened in a run."""

from typing import NamedTuple


class Event(NamedTuple):
    """Something that happened: when [s], of which kind, and what."""

    t: float
    kind: str  # limit, brake, goal, dock, undock, merge, connect, disconnect, reroot, missed
    message: str
