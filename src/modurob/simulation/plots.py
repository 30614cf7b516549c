"""Pictures of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.catalogue.reading import write_figure
from modurob.errors import SimulationError, choices

if TYPE_CHECKING:
    from modurob.simulation.recording import Recording

# what a joint's coordinates are measured in
_UNITS = {"revolute": "rad", "helical": "rad", "universal": "rad", "spherical": "rad", "prismatic": "m"}


def plot_recording(run: "Recording", path: str | Path | None, joints: list[str] | None) -> Any:
    """Four panels over one time axis, a line a joint; changes of shape are dotted lines."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    names = sorted({j.name for s in run.segments for j in s.robot.joints})
    for name in joints or ():
        if name not in names:
            raise SimulationError(f"no joint {name!r} in the recording: {choices(name, names)}")
    figure, panels = plt.subplots(4, 1, sharex=True, figsize=(8, 9), layout="constrained")
    colours: dict[str, Any] = {}
    kinds: set[str] = set()
    for segment in run.segments:
        for joint in segment.robot.joints:
            if joint.mimics or (joints is not None and joint.name not in joints) or joint.kind == "free":
                continue
            kinds.add(_UNITS.get(joint.kind, "rad or m"))
            colour = colours.setdefault(joint.name, f"C{len(colours) % 10}")
            rows = [
                segment.q[..., joint.q_slice],
                *(x[..., joint.v_slice] for x in (segment.v, segment.vdot, segment.tau)),
            ]
            for panel, x in zip(panels, rows, strict=True):
                style = {"drawstyle": "steps-post"} if panel is panels[3] else {}
                panel.plot(segment.t, x.reshape(len(segment.t), -1), color=colour, lw=1.2, **style)
            if segment.q_estimate is not None:
                panels[0].plot(
                    segment.t,
                    segment.q_estimate[..., joint.q_slice].reshape(len(segment.t), -1),
                    color=colour,
                    lw=0.8,
                    ls=":",
                )
    unit = kinds.pop() if len(kinds) == 1 else "rad or m"
    force = {"rad": "N m", "m": "N"}.get(unit, "N m or N")
    labels = (f"position [{unit}]", f"velocity [{unit}/s]", f"acceleration [{unit}/s²]", f"torque [{force}]")
    for panel, label in zip(panels, labels, strict=True):
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        for segment in run.segments[1:]:
            panel.axvline(segment.t[0], color="black", ls=":", lw=0.8)
    panels[3].set_xlabel("time [s]")
    handles = [Line2D([], [], color=c, label=name) for name, c in list(colours.items())[:24]]
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), frameon=False)
    title = run.robot.name if run.status.ok else f"{run.robot.name}: {run.status}"
    figure.align_ylabels()
    figure.suptitle(title[:100])
    if path is not None:
        write_figure(Path(path), figure)
        plt.close(figure)
    return figure


def plot_energy(run: "Recording", path: str | Path | None = None) -> Any:
    """Kinetic, potential and total energy over time."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(8, 4), layout="constrained")
    for segment in run.segments:
        for name, colour in (("kinetic_energy", "C0"), ("potential_energy", "C1"), ("energy", "black")):
            label = name.replace("_", " ") if segment is run.segments[0] else None
            panel.plot(segment.t, np.reshape(getattr(segment, name), (len(segment.t), -1)), color=colour, label=label)
    panel.set(xlabel="time [s]", ylabel="energy [J]", title=run.robot.name)
    panel.grid(alpha=0.3)
    panel.legend(frameon=False)
    if path is not None:
        write_figure(Path(path), figure)
        plt.close(figure)
    return figure
