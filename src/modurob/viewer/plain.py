"""Pictures by matplotlib, where there is no browser."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from modurob import draw
from modurob.spatial.scalars import Array
from modurob.viewer.scene import Chapter

DPI = 100


def pictures(chapters: Sequence[Chapter], times: Array, size: tuple[int, int]) -> Iterator[bytes]:
    """PNG files of what is seen at these times [s]; the view is the same in all."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    reach = _reach(chapters)
    for t in times:
        figure.clear()
        ax: Any = figure.add_axes((0.0, 0.02, 0.94, 0.92), projection="3d")
        robot, q = _at(chapters, float(t))
        draw.draw(robot, q, ax, f"{robot.name}, {t:.2f} s")
        draw.frame_view(ax, reach)
        out = io.BytesIO()
        with np.errstate(over="ignore"):  # matplotlib projects points behind the eye
            canvas.print_png(out)
        yield out.getvalue()


def _at(chapters: Sequence[Chapter], t: float) -> tuple[Any, Array]:
    robot, times, q, _ = next((c for c in reversed(chapters) if c.t[0] <= t + 1e-9), chapters[0])
    return robot, q[max(0, int(np.searchsorted(times, t + 1e-9, side="right")) - 1)]


def _reach(chapters: Sequence[Chapter]) -> Array:
    """Where bodies come, with a margin as wide as a shape, (points, 3) [m]."""
    points = [c.poses()[:: max(1, len(c.t) // 50), :, :, 3].reshape(-1, 3) for c in chapters]
    shapes = [x for c in chapters for s in c.robot.shapes if s.kind != "mesh" for x in s.size]
    margin = max(shapes, default=0.1)
    every = np.concatenate(points)
    return np.concatenate([every - margin, every + margin])
