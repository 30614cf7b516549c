"""Pictures of a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.drives import DriveForce
from modurob.catalogue.forces import Oscillator
from modurob.catalogue.reading import write_figure
from modurob.errors import SimulationError, choices
from modurob.mechanism import Joint
from modurob.spatial import quaternion
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.simulation.recording import Recording, Segment

# what a joint's coordinates are measured in
_UNITS = {"revolute": "rad", "helical": "rad", "universal": "rad", "spherical": "rad", "prismatic": "m"}
_AXES = ("x", "y", "z")
_STYLES = ("-", "--", "-.", ":")  # of the first base, the second, ...
CYCLE = 10  # colours of matplotlib before they repeat
MOST_NAMED = 60  # joints in the legend


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
    title = run.robot.name if run.status.ok else f"{run.robot.name}: {run.status}"
    figure.align_ylabels()
    figure.suptitle(title[:100])
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
    rows = [segment.q[..., q], *(x[..., v] for x in (segment.v, segment.vdot)), _torque(segment, joint)]
    for panel, x in zip(panels, rows, strict=True):
        style = {"drawstyle": "steps-post"} if panel is panels[3] else {}
        panel.plot(segment.t, _flat(segment, x), color=colour, lw=1.2, **style)
    if segment.q_estimate is not None:
        panels[0].plot(segment.t, _flat(segment, segment.q_estimate[..., q]), color=colour, lw=0.8, ls=":")


def _torque(segment: "Segment", joint: Joint) -> Array:
    """The torque that the law commands at a joint, or that its drive or servo gives, (samples, ..., rates)."""
    robot, own, x = segment.robot, acting(segment.robot), segment.commanded_x
    motors = [
        (row.force, own.x_starts[k])
        for k, row in own.joint_rows
        if robot.joints[row.joint].name == joint.name and isinstance(row.force, DriveForce | Oscillator)
    ]
    if not motors:
        return segment.tau[..., joint.v_slice]
    t = segment.t.reshape(-1, *(1,) * (segment.v.ndim - 2))
    q, v = segment.q[..., joint.q_slice.start], segment.v[..., joint.v_slice.start]
    return np.sum([force.effort(t, q, v, x[..., at : at + force.nx]) for force, at in motors], axis=0)[..., None]


def _flat(segment: "Segment", x: Array) -> Array:
    """(samples, lines) of all runs and coordinates."""
    return x.reshape(len(segment.t), -1)


def _labels(joints: Iterable[Joint]) -> tuple[str, ...]:
    kinds = {_UNITS.get(j.kind, "rad or m") for j in joints}
    unit = kinds.pop() if len(kinds) == 1 else "rad or m"
    force = {"rad": "N m", "m": "N"}.get(unit, "N m or N")
    return f"position [{unit}]", f"velocity [{unit}/s]", f"acceleration [{unit}/s²]", f"torque [{force}]"


def _draw_bases(run: "Recording", panels: Array, names: Sequence[str]) -> None:
    """Position and rotation vector of floating bases in the world, a colour for each axis."""
    where, turn = panels
    for segment in run.segments:
        for joint in segment.robot.joints:
            if joint.name not in names:
                continue
            style, q = _STYLES[names.index(joint.name) % len(_STYLES)], segment.q[..., joint.q_slice]
            for k, axis in enumerate(_AXES):
                label = f"{joint.name} {axis}" if segment is run.segments[0] else None
                look = {"color": f"C{k}", "ls": style, "lw": 1.2}
                lines = where.plot(segment.t, _flat(segment, q[..., k]), **look)
                lines[0].set_label(label)
                turn.plot(segment.t, _flat(segment, quaternion.log(q[..., 3:])[..., k]), **look)
    where.set_ylabel("base position [m]")
    turn.set_ylabel("base rotation [rad]")
    where.legend(frameon=False, ncols=3, fontsize="small")


def plot_energy(run: "Recording", path: str | Path | None = None) -> Any:
    """Kinetic, potential and total energy over time."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(8, 4), layout="constrained")
    for segment in run.segments:
        for name, colour in (("kinetic_energy", "C0"), ("potential_energy", "C1"), ("energy", "black")):
            label = name.replace("_", " ") if segment is run.segments[0] else None
            panel.plot(segment.t, _flat(segment, np.asarray(getattr(segment, name))), color=colour, label=label)
    panel.set(xlabel="time [s]", ylabel="energy [J]", title=run.robot.name)
    panel.grid(alpha=0.3)
    panel.legend(frameon=False)
    if path is not None:
        write_figure(Path(path), figure)
    return figure
