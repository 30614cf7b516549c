"""Pictures of measured and predicted torques."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.catalogue.reading import require_picture, write_figure
from modurob.identification.data import MotionData
from modurob.identification.rows import moving

# joints slower than this share of their fastest may rest
SLOW = 0.02

if TYPE_CHECKING:
    from modurob.identification.identify import Identification


def plot_torques(found: "Identification", data: MotionData, path: str | Path | None) -> Any:
    """A panel a rate: measured, predicted, and what is left, over time; nothing is predicted where dry friction holds a joint."""
    import matplotlib.pyplot as plt

    if path is not None:
        require_picture(path)
    s, tau = found.predicted(data)
    robot = found.model.robot
    tau = np.where(moving(found.model, s, SLOW), tau, np.nan)
    names = [name for joint in robot.joints if not joint.mimics for name in joint.rate_names()]
    figure, axes = plt.subplots(
        robot.nv, 1, sharex=True, figsize=(9, 1 + 1.5 * robot.nv), layout="constrained", squeeze=False
    )
    for axis, name, measured, predicted in zip(axes[:, 0], names, s.tau.T, tau.T, strict=True):
        axis.plot(s.t, measured, color="0.75", lw=1.0, label="measured")
        axis.plot(s.t, predicted, color="C0", lw=1.2, label="predicted")
        axis.plot(s.t, measured - predicted, color="C3", lw=0.6, label="left")
        axis.set_ylabel(f"{name}\n[N m, N]")
        axis.grid(alpha=0.3)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    axes[-1, 0].set_xlabel("time [s]")
    rms = np.sqrt(np.nanmean((s.tau - tau) ** 2, axis=0))
    figure.suptitle(
        f"{robot.name}: torques of the motors, and what is left: {', '.join(f'{x:.2g}' for x in rms)} (rms)"
    )
    if path is not None:
        write_figure(Path(path), figure)
    return figure
