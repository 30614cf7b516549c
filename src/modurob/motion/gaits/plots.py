"""Plots of gaits: phases and frequencies of the joints."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modurob.motion.gaits.analysis import phases, spectrum
from modurob.motion.gaits.checks import require_positive
from modurob.motion.gaits.reference import Reference
from modurob.spatial.scalars import Array

Axes = Any  # matplotlib's, imported only when something is drawn
Figure = Any

RATE = 64  # samples a period
SEAM = 0.3  # phases are shown from SEAM - pi to SEAM + pi, so that joints in opposition stay in one place [rad]
NAMED = 12  # joints that a legend still names
HIDDEN = 0.01  # of what is shown: curves no farther apart lie on each other
STRIPE = 4.0  # length of the stripes that such curves share, in widths of a line
WIDEST = 8.0  # of lines that are nested [points]


def plot_phases(reference: Reference, duration: float | None = None) -> Figure:
    """The motion of each joint, phases against the first joint, and rate over coordinate; ten periods by default."""
    import matplotlib.pyplot as plt  # slow to import, and only pictures need it

    t = _times(reference, duration, 10)
    q, v, _ = reference(t)
    q, v, unit = q[:, reference.joints.q_index], v[:, reference.joints.v_index], _unit(reference)
    figure = plt.figure(figsize=(10, 5.4), layout="constrained")
    axes = figure.subplot_mosaic([["time", "orbit"], ["phase", "orbit"]], width_ratios=(1.5, 1))
    for ax in axes.values():
        _prepare(ax, reference)
    _striped(axes["time"].plot(t, q), q)
    axes["time"].set(ylabel=f"joint coordinate [{unit}]")
    axes["time"].sharex(axes["phase"])
    axes["time"].tick_params(labelbottom=False)
    _nested(axes["orbit"].plot(q, v), q, v)
    axes["orbit"].set(xlabel=f"joint coordinate [{unit}]", ylabel=f"joint rate [{unit}/s]")
    _draw_phases(axes["phase"], t, reference)
    _name_joints(figure, axes["time"], reference)
    figure.suptitle(_title(reference))
    return figure


def plot_spectrum(reference: Reference, duration: float | None = None) -> Figure:
    """Amplitude of each joint's motion over frequency, up to eight times the gait's; forty periods by default."""
    import matplotlib.pyplot as plt

    t = _times(reference, duration, 40)
    parts = spectrum(t, reference(t)[0][:, reference.joints.q_index])
    shown = parts.frequency <= 8 * reference.frequency
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    _prepare(ax, reference)
    _striped(
        ax.semilogy(parts.frequency[shown], parts.amplitude[shown]),
        np.log(np.maximum(parts.amplitude[shown], 1e-4 * parts.amplitude.max())),
    )
    ax.axvline(reference.frequency, color="0.4", linewidth=0.8, linestyle=":", zorder=0)
    ax.annotate(
        f"{reference.frequency:g} Hz", (reference.frequency, 1), (4, -4), xycoords=("data", "axes fraction"),
        textcoords="offset points", va="top", color="0.4",
    )  # fmt: skip
    ax.set(xlabel="frequency [Hz]", ylabel=f"amplitude [{_unit(reference)}]", xlim=(0, None))
    ax.set_ylim(np.array([1e-4, 2]) * parts.amplitude.max())
    _name_joints(figure, ax, reference)
    figure.suptitle(_title(reference))
    return figure


def _draw_phases(ax: Axes, t: Array, reference: Reference) -> None:
    """Phase of every joint minus that of the first, without the ends, where the Hilbert transform is inaccurate."""
    phase = phases(reference.waves(t))
    seen = slice(RATE // 2, -RATE // 2)
    ahead = (phase - phase[:, :1] + np.pi - SEAM) % (2 * np.pi) - np.pi + SEAM
    # no stroke where a phase wraps round
    ahead[1:][np.abs(np.diff(ahead, axis=0)) > np.pi] = np.nan
    _striped(ax.plot(t[seen], ahead[seen]), ahead[seen])
    ax.set(
        xlabel="time [s]",
        ylabel=f"phase against\n{reference.joints.names[0]} [rad]",
        xlim=(t[0], t[-1]),
        ylim=(SEAM - np.pi, SEAM + np.pi),
    )
    ax.set_yticks([-np.pi / 2, 0, np.pi / 2, np.pi], ["-π/2", "0", "π/2", "π"])


def _striped(lines: Sequence[Any], y: Array) -> None:
    """Lines of the columns of y that lie on each other share their way in stripes, so that none hides another."""
    for alike in _on_each_other(y):
        gap = STRIPE * (len(alike) - 1)
        for place, i in enumerate(alike):
            lines[i].set_linestyle((-STRIPE * place, (STRIPE, gap)) if gap else "-")


def _nested(lines: Sequence[Any], x: Array, y: Array) -> None:
    """Orbits on each other, in phase or not, are the thinner the later they are drawn: stripes of one turn would fill the gaps of
    another."""
    # what an orbit passes, whenever that is
    passed = [np.sort(z, axis=0) / max(np.abs(z).max(), 1e-12) for z in (x, y)]
    for alike in _on_each_other(np.concatenate(passed)):
        step = min(2.0, WIDEST / len(alike))
        for place, i in enumerate(alike):
            lines[i].set_linewidth(1 + step * (len(alike) - 1 - place))


def _on_each_other(y: Array) -> list[list[int]]:
    """The columns in groups that cannot be told apart."""
    near = HIDDEN * (np.nanmax(y) - np.nanmin(y))
    groups: list[list[int]] = []
    for i, column in enumerate(y.T):
        alike = [group for group in groups if np.nanmax(np.abs(y[:, group[0]] - column)) <= near]
        if alike:
            alike[0].append(i)
        else:
            groups.append([i])
    return groups


def _times(reference: Reference, duration: float | None, periods: int) -> Array:
    duration = periods / reference.frequency if duration is None else duration
    require_positive("duration", duration, "s")
    return np.arange(max(2 * RATE, round(duration * reference.frequency * RATE))) / (RATE * reference.frequency)


def _title(reference: Reference) -> str:
    return f"gait of {reference.robot.name}, {reference.frequency:g} Hz"


def _unit(reference: Reference) -> str:
    slides = [not joint.type.angles for joint in reference.joints.joints]
    return "m" if all(slides) else "rad or m" if any(slides) else "rad"


def _prepare(ax: Axes, reference: Reference) -> None:
    """Colours vary along the joints, so that neighbours have similar colours."""
    from matplotlib import colormaps

    ax.set_prop_cycle(color=colormaps["viridis"](np.linspace(0, 0.92, len(reference.joints))))
    ax.grid(color="0.92")
    ax.spines[["top", "right"]].set_visible(False)


def _name_joints(figure: Figure, ax: Axes, reference: Reference) -> None:
    from matplotlib.lines import Line2D

    names, lines = reference.joints.names, ax.lines
    kept = range(len(names)) if len(names) <= NAMED else (0, len(names) // 2, len(names) - 1)
    handles = [Line2D([], [], color=lines[i].get_color()) for i in kept]
    figure.legend(handles, [names[i] for i in kept], loc="outside right upper", frameon=False, fontsize="small")
