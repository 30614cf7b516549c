"""A robot as a widget of Jupyter: the page's code in one script, and a pose that Python sets."""

import json
from functools import lru_cache
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike

from modurob.errors import InputError
from modurob.mechanism import Tables
from modurob.spatial.scalars import as_array
from modurob.viewer import STATIC, page, scene
from modurob.viewer.live import Paced, poses


@lru_cache(maxsize=1)
def script() -> str:
    """The widget's script: three.js and the drawing code packed into it, so that it needs no network."""
    text = (STATIC / "widget.js").read_text(encoding="utf-8")
    return text.replace('"__CODE__"', json.dumps(page.packed(page.scripts())))


def widget(robot: Tables, q: ArrayLike | None, height: int) -> Any:
    """The widget of a robot at q."""
    at = scene.still(robot, None if q is None else as_array(q))[0].q[0]
    made = _kind()(design={**scene.design(robot), "number": 0}, height=height)
    made.robot = robot
    made.q = at.tolist()
    return made


@lru_cache(maxsize=1)
def _kind() -> Any:
    try:
        anywidget, traitlets = (import_module(name) for name in ("anywidget", "traitlets"))
    except ImportError:
        raise InputError("widgets of notebooks need anywidget: pip install 'modurob[notebook]'") from None

    class RobotWidget(Paced, anywidget.AnyWidget):
        """A robot in a notebook: `q`, (nq,) [rad or m], is where it is."""

        _esm = script()
        design = traitlets.Dict().tag(sync=True)
        height = traitlets.Int(page.HEIGHT).tag(sync=True)
        poses = traitlets.Bytes().tag(sync=True)
        q = traitlets.Any()
        robot: Tables

        @traitlets.validate("q")
        def _checked(self, proposal: Any) -> list[float]:
            poses(self.robot, proposal["value"])
            return [float(x) for x in proposal["value"]]

        @traitlets.observe("q")
        def _moved(self, change: Any) -> None:
            self.poses = poses(self.robot, change["new"]).tobytes()

        def _show(self, X: Any) -> None:
            self.poses = X.tobytes()

    return RobotWidget
