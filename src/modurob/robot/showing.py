"""Views of robots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from modurob.mechanism import Tables
from modurob.viewer import live, page, scene, showing, widget


class Showing(Tables):
    """A robot in 3D."""

    def show(self, q: ArrayLike | None = None, path: str | Path | None = None) -> Path | None:
        """The robot at configuration q, (nq,) [rad or m], neutral by default, in 3D: drag to rotate, use the wheel to
        zoom.

        In a notebook it appears below the cell, elsewhere in the browser; with a `path` it is written there instead, as
        a page (.html) that needs no network, a picture (.png), or a model for other programs (.glb). Returns the file
        that was written, if any.

        >>> robot.show(q, "crab.html").name
        'crab.html'
        """
        return showing.show(scene.still(self, q), path)

    def live(self, q: ArrayLike | None = None, speed: float = 1.0, browser: bool = True) -> live.Live:
        """A live view of the robot while a program runs, initially at configuration q, (nq,) [rad or m]: `view(q)`
        shows another.

        It opens in the browser, or below the cell of a notebook, and is closed at the end of `with`. `simulate` accepts
        it as its `view` and then runs at `speed` times real time, with 0 as fast as possible. Without `browser` nothing
        opens: `view.address` is the address of the page.

        >>> with robot.live(browser=False) as view:
        ...     view(q)
        ...     run = mr.simulate(robot, q, duration=0.05, view=view)
        """
        return live.Live(self, q, speed, browser)

    def widget(self, q: ArrayLike | None = None, height: int = 420) -> Any:
        """The robot as a Jupyter widget (extra `notebook`): `widget.q = [...]` moves it, and `simulate` accepts it as
        its `view`.

        It uses the drawing code of `show`, needs no network, and works when the notebook server runs on another
        machine.

        >>> from importlib.util import find_spec
        >>> if find_spec("anywidget"):
        ...     shown = robot.widget()
        ...     shown.q = q
        """
        return widget.widget(self, q, height)

    def _view_html(self) -> str:
        """The view for notebooks; empty for robots whose numbers are symbols."""
        return "" if self.inertia.dtype == object else page.frame(scene.still(self))
