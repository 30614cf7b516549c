"""Nested loops on one page: Bode diagram, root locus, steps, and what they mean in numbers."""

from pathlib import Path
from typing import Any

import numpy as np

from modurob.catalogue.reading import require_picture
from modurob.control.cascade_analysis import (
    Margins,
    Step,
    disturbance_response,
    largest_sample_time,
    margins,
    open_loop,
    python_control,
    reference_response,
    step_of,
)
from modurob.control.cascade_design import CascadeGains


def cascade_report(gains: CascadeGains, path: str | Path | None = None) -> Any:
    """Bode diagram of the loop cut at the angle, its root locus over the loop gain, the step and the answer to a torque; with
    margins and the longest sample time. Written to `path` (.png, .pdf, .svg) where one is given.

    >>> page = mr.control.cascade_report(mr.cascade_of(inertia=0.24, viscous=0.8))
    >>> len(page.axes)
    5
    """
    if path is not None:
        require_picture(path)
    found, answer = margins(gains), reference_response(gains)
    duration = 8 / np.abs(np.real(answer.poles())).min()
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    figure = Figure(figsize=(10, 7), layout="constrained")
    (a, b), (c, d) = figure.subplots(2, 2)
    _bode(a, a.twinx(), gains, found)
    _root_locus(b, gains)
    _steps(c, answer, "angle / reference", duration)
    _steps(d, disturbance_response(gains), "angle / torque [rad/(N m)]", duration)
    figure.suptitle(_words(gains, found, step_of(answer, duration)))
    if path is not None:
        figure.savefig(path)
    return figure


def _words(gains: CascadeGains, found: Margins, step: Step) -> str:
    return (
        f"Kp {gains.position_gain:.4g}/s, K {gains.speed_gain:.4g} N m s/rad, Ki {gains.speed_integral:.4g} N m/rad\n"
        f"overshoot {100 * step.overshoot:.2g} %, 90 % after {step.rise:.3g} s, settled after {step.settled:.3g} s; "
        f"phase margin {np.rad2deg(found.phase):.1f} degrees, delay margin {found.delay:.3g} s, "
        f"longest sample time {largest_sample_time(gains):.3g} s"
    )


def _bode(size: Any, phase: Any, gains: CascadeGains, found: Margins) -> None:
    w = np.logspace(-2, 2, 400) * found.crossover
    L = open_loop(gains)(1j * w)
    size.loglog(w, np.abs(L), color="C0")
    phase.semilogx(w, np.rad2deg(np.unwrap(np.angle(L))), color="C1")
    size.axvline(found.crossover, color="0.6", lw=0.8)
    size.set(xlabel="rad/s", ylabel="size of the loop", title="Bode diagram")
    phase.set_ylabel("phase [degrees]")


def _root_locus(axis: Any, gains: CascadeGains) -> None:
    """Poles of the closed loop for loop gains from zero to ten times the actual one."""
    loop = open_loop(gains)
    above, below = (np.asarray(x[0][0]) for x in (loop.num, loop.den))
    for factor in np.concatenate([np.logspace(-3, 1, 300), [1.0]]):
        poles = np.roots(np.polyadd(below, factor * above))
        style = {"marker": "x", "color": "k", "ms": 8} if factor == 1 else {"marker": ".", "color": "C0", "ms": 2}
        axis.plot(poles.real, poles.imag, ls="none", **style)
    axis.axvline(0, color="0.6", lw=0.8)
    axis.set(xlabel="1/s", ylabel="1/s", title="root locus")


def _steps(axis: Any, system: Any, label: str, duration: float) -> None:
    t = np.linspace(0, duration, 1000)
    axis.plot(t, np.asarray(python_control().step_response(system, t).outputs), color="C0")
    axis.set(xlabel="time [s]", ylabel=label, title="step")
    axis.grid(alpha=0.3)
