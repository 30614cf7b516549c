"""Pictures of a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.catalogue.reading import write_figure
from modurob.errors import SimulationError, choices
from modurob.mechanism import Joint
from modurob.simulation.recording.efforts import remark, torque
from modurob.spatial import angles, quaternion
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.simulation.recording import Recording, Segment

# what a joint's coordinates are measured in
_AXES, _TURNS = ("x", "y", "z"), ("roll", "pitch", "yaw")
_STYLES = ("-", "--", "-.", ":")  # of the first base, the second, ...
CYCLE = 10  # colours of matplotlib before they repeat
MOST_NAMED = 60  # joints in the legend
FEW = 4  # runs side by side that are drawn one by one; of more the median and their range


def plot_recording(run: "Recording", path: str | Path | None, joints: list[str] | None) -> Any:
    """Four panels over one time axis, a line a joint, and two for where a floating base is; changes of shape are dotted lines."""
    import matplotlib.pyplot as plt

    shown = _shown(run, joints)
    bases = [j.name for j in shown if j.kind == "free"]
    others = [j for j in shown if j.kind != "free"]
    own = 4 if others or not bases else 0
    count = own + 2 * bool(bases)
    figure, panels = plt.subplots(
        count, 1, sharex=True, figsize=(8, 1 + 2 * count), layout="constrained", squeeze=False
    )
    panels = panels[:, 0]
    if own:
        _draw_joints(run, panels[:own], others)
    if bases:
        _draw_bases(run, panels[own:], bases)
    for panel in panels:
        panel.grid(alpha=0.3)
        for segment in run.segments[1:]:
            panel.axvline(segment.t[0], color="black", ls=":", lw=0.8)
    panels[-1].set_xlabel("time [s]")
    title = ", ".join(filter(None, ("" if run.status.ok else str(run.status), _crowd(run), remark(run.saturated))))
    figure.align_ylabels()
    figure.suptitle(f"{run.robot.name}: {title}"[:100] if title else run.robot.name)
    if path is not None:
        write_figure(Path(path), figure)
    return figure


def _shown(run: "Recording", wanted: Sequence[str] | None) -> list[Joint]:
    """The joints to be drawn, in the order in which they appear."""
    every = {j.name: j for s in run.segments for j in s.robot.joints}
    for name in wanted or ():
        if name not in every:
            raise SimulationError(f"no joint {name!r} in the recording: {choices(name, sorted(every))}")
    return [j for j in every.values() if not j.mimics and (wanted is None or j.name in wanted)]


def colours(count: int) -> list[Any]:
    """As many colours, no two alike: those of matplotlib while they last, then evenly from a rainbow."""
    from matplotlib import colormaps

    return [f"C{k}" for k in range(count)] if count <= CYCLE else list(colormaps["turbo"](np.linspace(0, 1, count)))


def _draw_joints(run: "Recording", panels: Array, joints: Sequence[Joint]) -> None:
    """Positions, velocities, accelerations and torques; the estimates of a filter are dotted."""
    from matplotlib.lines import Line2D

    colour = dict(zip((j.name for j in joints), colours(len(joints)), strict=True))
    for segment in run.segments:
        for joint in segment.robot.joints:
            if joint.name in colour and not joint.mimics:
                _draw_joint(segment, panels, joint, colour[joint.name])
    for panel, label in zip(panels, _labels(joints), strict=True):
        panel.set_ylabel(label)
    handles = [Line2D([], [], color=c, label=name) for name, c in colour.items()]
    if len(handles) > MOST_NAMED:
        handles[MOST_NAMED:] = [Line2D([], [], alpha=0, label=f"and {len(handles) - MOST_NAMED} more")]
    if handles:
        panels[0].figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), frameon=False)


def _draw_joint(segment: "Segment", panels: Array, joint: Joint, colour: Any) -> None:
    q, v = joint.q_slice, joint.v_slice
    rows = [segment.q[..., q], *(x[..., v] for x in (segment.v, segment.vdot)), torque(segment, joint)]
    for panel, x in zip(panels, rows, strict=True):
        style = {"drawstyle": "steps-post"} if panel is panels[3] else {}
        _draw(panel, segment, x, color=colour, lw=1.2, **style)
    if segment.q_estimate is not None:
        _draw(panels[0], segment, segment.q_estimate[..., q], color=colour, lw=0.8, ls=":")


def _draw(panel: Any, segment: "Segment", x: Array, **look: Any) -> Any:
    """The first of the lines of x, (ticks, ..., coordinates): one for each run; of many runs the median in a band of all."""
    x = x.reshape(len(segment.t), -1, x.shape[-1])
    if x.shape[1] <= FEW:
        return panel.plot(segment.t, x.reshape(len(x), -1), **look)[0]
    step = {"step": "post"} if "drawstyle" in look else {}
    for lowest, highest in zip(x.min(axis=1).T, x.max(axis=1).T, strict=True):
        panel.fill_between(segment.t, lowest, highest, color=look["color"], alpha=0.15, lw=0, **step)
    return panel.plot(segment.t, np.median(x, axis=1), **look)[0]


def _crowd(run: "Recording") -> str:
    """What is drawn of runs side by side, in words; nothing of one run."""
    count = int(np.prod(run.segments[0].v.shape[1:-1]))
    return "" if count == 1 else f"{count} runs" + (", median and range" if count > FEW else "")


def _labels(joints: Iterable[Joint]) -> tuple[str, ...]:
    units = {unit for j in joints for unit in j.type.units}
    unit = units.pop() if len(units) == 1 else "rad or m"
    force = {"rad": "N m", "m": "N"}.get(unit, "N m or N")
    return f"position [{unit}]", f"velocity [{unit}/s]", f"acceleration [{unit}/s²]", f"torque [{force}]"


def _draw_bases(run: "Recording", panels: Array, names: Sequence[str]) -> None:
    """Position of floating bases in the world, and their roll, pitch and yaw: R = Rz(yaw) Ry(pitch) Rx(roll), which go on beyond
    half a turn."""
    for segment in run.segments:
        for joint in segment.robot.joints:
            if joint.name in names:
                q, style = segment.q[..., joint.q_slice], _STYLES[names.index(joint.name) % len(_STYLES)]
                turn = np.unwrap(angles.fixed_angles("xyz", quaternion.to_matrix(q[..., 3:])).first, axis=0)
                for panel, x, words in zip(panels, (q[..., :3], turn), (_AXES, _TURNS), strict=True):
                    for k, word in enumerate(words):
                        line = _draw(panel, segment, x[..., k : k + 1], color=f"C{k}", ls=style, lw=1.2)
                        line.set_label(f"{joint.name} {word}" if segment is run.segments[0] else None)
    for panel, label in zip(panels, ("base position [m]", "base rotation [rad]"), strict=True):
        panel.set_ylabel(label)
        panel.legend(frameon=False, ncols=3, fontsize="small")


def plot_energy(run: "Recording", path: str | Path | None = None) -> Any:
    """Kinetic, potential and total energy over time."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(8, 4), layout="constrained")
    for segment in run.segments:
        for name, colour in (("kinetic_energy", "C0"), ("potential_energy", "C1"), ("energy", "black")):
            line = _draw(panel, segment, np.asarray(getattr(segment, name))[..., None], color=colour)
            line.set_label(name.replace("_", " ") if segment is run.segments[0] else None)
    panel.set(xlabel="time [s]", ylabel="energy [J]", title=run.robot.name)
    panel.grid(alpha=0.3)
    panel.legend(frameon=False)
    if path is not None:
        write_figure(Path(path), figure)
    return figure
