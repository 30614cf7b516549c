"""Several runs side by side, ordered by distance."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from modurob.errors import SimulationError, explained
from modurob.simulation.recording import Recording
from modurob.viewer import film, showing
from modurob.viewer.lanes import Lanes
from modurob.viewer.scene import Chapter

MOST = 8


@dataclass(frozen=True)
class Race:
    """Runs side by side, each on a lane of its own; see `race`."""

    runs: tuple[tuple[str, Recording], ...]

    @property
    def distances(self) -> dict[str, float]:
        """How far the centre of mass of each went in the plane [m], the farthest first.

        >>> mr.race({"one": run, "other": run}).distances["one"] >= 0
        True
        """
        far = {name: _distance(run) for name, run in self.runs}
        return dict(sorted(far.items(), key=lambda found: -found[1]))

    @property
    def lanes(self) -> Lanes:
        """What is drawn."""
        return Lanes([Chapter(s.robot, s.t, s.q) for s in (run.segments[0] for _, run in self.runs)])

    def show(self, path: str | Path | None = None) -> Path | None:
        """All of them in 3D, to play and scrub, as `run.show` does one: in a notebook, the browser, or a file (.html, .png).

        >>> mr.race({"one": run, "other": run}).show("race.html").name
        'race.html'
        """
        if path is not None and Path(path).suffix.lower() == ".glb":
            raise SimulationError(f"{path}: a race is no model: write .html or .png, or runs one by one as .glb")
        return showing.show([self.lanes], path)  # type: ignore[list-item]

    def animate(
        self, path: str | Path, fps: float = 30.0, size: tuple[int, int] = (800, 600), speed: float = 1.0
    ) -> Path:
        """Write a film of all of them, and return the file, as `run.animate` does of one; a browser is needed to draw it."""
        return film.animate([self.lanes], path, fps, size, speed)  # type: ignore[list-item]


@explained
def race(runs: Mapping[str, Recording]) -> Race:
    """Runs by name, side by side on one ground: each is rotated to travel in the same direction, and none touches
    another.

    >>> crab, other = mr.race({"one": run, "other": run}).distances.values()
    >>> crab == other
    True
    """
    if not isinstance(runs, Mapping) or not 2 <= len(runs) <= MOST:
        count = len(runs) if isinstance(runs, Mapping) else f"{runs!r:.60}"
        raise SimulationError(
            f"a race of {count}: expected 2 to {MOST} runs by name, such as {{'crab': run, 'snake': other}}"
        )
    for name, run in runs.items():
        if not isinstance(run, Recording) or len(run.segments) != 1 or run.segments[0].q.ndim != 2:
            raise SimulationError(f"{name!r} of the race: expected the recording of one robot that kept its shape")
    return Race(tuple(runs.items()))


def _distance(run: Recording) -> float:
    own = run.segments[0]
    start, end = (own.robot.centre_of_mass(own.q[k]) for k in (0, -1))
    return float(np.linalg.norm((end - start)[:2]))
