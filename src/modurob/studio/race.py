"""Runs of a session side by side: who goes farthest."""

from typing import Any

from modurob.errors import StudioError
from modurob.simulation import Race
from modurob.simulation import race as raced
from modurob.studio.session import Session

FEWEST, MOST = 2, 4
FPS = 25.0  # samples that are shown, a second


def lanes(session: Session, text: str) -> dict[str, Any]:
    """What the page draws of runs, given as their numbers with commas between: chapters for the viewer, and how far each went."""
    numbers = [int(word) for word in text.split(",") if word.strip().isdigit()]
    if not FEWEST <= len(set(numbers)) <= MOST:
        raise StudioError(f"a race of {len(set(numbers))}: tick {FEWEST} to {MOST} runs, of one robot or of several")
    race = _race(session, list(dict.fromkeys(numbers)))
    far = [{"name": name, "distance": x} for name, x in race.distances.items()]
    return {"chapters": [race.lanes.data(FPS)], "distances": far}


def _race(session: Session, numbers: list[int]) -> Race:
    runs = [session.run(number) for number in numbers]
    return raced({f"{run.robot.name}, run {run.number}": run.recording for run in runs})
