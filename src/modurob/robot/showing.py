"""Robots to look at."""

from pathlib import Path

from numpy.typing import ArrayLike

from modurob.mechanism import Tables
from modurob.spatial.scalars import as_array
from modurob.viewer import page, scene, showing


class Showing(Tables):
    """A robot in 3D."""

    def show(self, q: ArrayLike | None = None, path: str | Path | None = None) -> Path | None:
        """The robot at configuration q, (nq,) [rad or m], neutral by default, in 3D: drag turns it, the wheel zooms.

        In a notebook it appears below the cell, elsewhere in the browser; with a `path` it is written there instead, as a page
        (.html) that needs no network, a picture (.png), or a model for other programs (.glb). Returns the file that was
        written, if any.

        >>> robot.show(q, "crab.html").name
        'crab.html'
        """
        return showing.show(scene.still(self, None if q is None else as_array(q)), path)

    def _view_html(self) -> str:
        """The view for notebooks; empty for robots whose numbers are symbols."""
        return "" if self.inertia.dtype == object else page.frame(scene.still(self))
