"""What all pictures have in common."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from modurob.spatial.scalars import Array

# a line of the judge over a line of ours
JUDGE = {"color": "black", "lw": 1.1, "ls": (0, (4, 4))}


def panels(title: str, labels: Sequence[str], height: float = 2.3) -> tuple[Figure, Any]:
    """A figure with a panel for each label, over one time axis."""
    figure = Figure(figsize=(8, height * len(labels) + 0.8), layout="constrained")
    axes = figure.subplots(len(labels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, label in zip(axes, labels, strict=True):
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        axis.margins(x=0)
    axes[-1].set_xlabel("time [s]")
    figure.align_ylabels()
    figure.suptitle(title)
    return figure, axes


def against(axis: Any, t: Array, ours: Array, theirs: Array, colours: Sequence[str] = ("C0", "C1", "C2")) -> None:
    """Columns of ours in colours, those of the judge dashed on top."""
    for own, other, colour in zip(ours.T, theirs.T, colours, strict=False):
        axis.plot(t, own, color=colour, lw=2.2)
        axis.plot(t, other, **JUDGE)


def legend(figure: Figure, coloured: Sequence[str], *more: Line2D) -> None:
    """Names of the coloured lines and of others, below the panels."""
    handles = [Line2D([], [], color=f"C{i}", lw=2.2, label=name) for i, name in enumerate(coloured)]
    handles += more
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)


def judge(name: str) -> Line2D:
    """The legend's line for a judge."""
    return Line2D([], [], label=name, **JUDGE)
