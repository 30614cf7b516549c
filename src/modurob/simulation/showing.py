"""Views of runs."""

from pathlib import Path
from typing import TYPE_CHECKING

from modurob.catalogue.reading import write_bytes
from modurob.errors import SimulationError
from modurob.simulation import mcap
from modurob.viewer import film, page, showing
from modurob.viewer.scene import Chapter

if TYPE_CHECKING:
    from modurob.simulation.recording import Segment


class Showing:
    """A run in 3D."""

    segments: "tuple[Segment, ...]"

    def show(self, path: str | Path | None = None) -> Path | None:
        """The run in 3D, to play, pause and scrub, including changes of shape.

        In a notebook it appears below the cell, elsewhere in the browser; with a `path` it is written there instead, as
        a page (.html) that needs no network, a picture of its start (.png), or an animated model for other programs
        (.glb). Returns the file that was written, if any.

        >>> run.show("reach.html").name
        'reach.html'
        """
        return showing.show(self._chapters(), path)

    def animate(
        self, path: str | Path, fps: float = 30.0, size: tuple[int, int] = (800, 600), speed: float = 1.0
    ) -> Path:
        """Write a film of the run (.mp4, .webm, .gif): `fps` pictures per second of `size` pixels, at `speed` times
        real time.

        It is drawn by a headless browser, also on machines without a screen; .mp4 and .webm need ffmpeg
        (`pip install modurob[video]` installs both except Chromium). Without a browser it is drawn by matplotlib, with
        a warning. Returns the file, as `show` does.

        >>> run.animate("reach.gif", fps=10, size=(160, 120)).name
        'reach.gif'
        >>> open("reach.gif", "rb").read(6)
        b'GIF89a'
        """
        return film.animate(self._chapters(), path, fps, size, speed)

    def to_mcap(self, path: str | Path) -> None:
        """Write the run as an MCAP file for Foxglove and other robotics tools (extra `mcap`), at 60 samples per second.

        Topics are /tf (poses of all bodies in the world, foxglove.FrameTransforms), /scene (their shapes,
        foxglove.SceneUpdate) and /joint_states (name, position, velocity, effort), all as JSON.

        >>> from importlib.util import find_spec
        >>> if find_spec("mcap"):
        ...     run.to_mcap("reach.mcap")
        """
        if any(s.q.ndim != 2 for s in self.segments):
            raise SimulationError("several runs side by side cannot be written: take one with `of_run`")
        write_bytes(Path(path), mcap.mcap(self.segments))

    def _chapters(self) -> tuple[Chapter, ...]:
        if any(s.q.ndim != 2 for s in self.segments):
            raise SimulationError("several runs side by side cannot be shown: take one with `of_run`")
        return tuple(Chapter(s.robot, s.t, s.q) for s in self.segments)

    def _view_html(self) -> str:
        """The view for notebooks; empty for several runs."""
        return "" if any(s.q.ndim != 2 for s in self.segments) else page.frame(self._chapters())
