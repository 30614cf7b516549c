"""Lieskovsky, chapter 5: the manipulator of three struts and six cables, settled, and along its two paths.

The thesis's programme costs inputs alone. With the end effector held, each strut can still swivel; nothing in that programme costs
or brakes this, and it grows: flutter. It is a property of the programme, not of the path: the exponents say how fast. Ours brakes
the motions that no task sees, and feeds errors back. Chosen where the thesis is silent: as in the tests' model of the manipulator,
which has blocks without inertia of their own.
"""

import numpy as np

import modurob as mr
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction
from reproduce.loops_strut import title
from reproduce.pictures import legend, panels
from tests.oracles import simplex

LAWS = {"the thesis's programme": False, "ours, with what is free braked": True}
# the end effector this far off is lost [m]
LOST = 0.05


def settling() -> Reproduction:
    """From the prism, where no tensions hold it, six seconds with the end effector to be held by 300 N at most."""
    name = title("5.12")
    figure, axes = panels(f"{name}: settling from the prism", ["height [m]", "off by [m]", "twist [°]"])
    model, rigid = simplex.robot(2e9, 10e6), simplex.robot()
    q = np.append(simplex.pose(rigid, np.radians(120.0))[0], np.zeros(6))
    start = model, simplex.wound(model, q, np.full(6, simplex.LEAST), 2e9)
    here, checks = mr.Trajectory.hermite([0, 1], [[0, 0, simplex.HEIGHT]] * 2, np.zeros((2, 3))), []
    for colour, (law, cured) in enumerate(LAWS.items()):
        run, off = simplex.followed(here, cured, 6.0, start, most=300.0)
        top = model.frame_pose(run.q, "strut0") @ simplex.TOP
        for axis, y in zip(
            axes, (run.q[:, 8], off, np.degrees(np.arctan2(top[:, 1, 3], top[:, 0, 3])) % 360), strict=True
        ):
            axis.plot(run.t, y, color=f"C{colour}", lw=1.8)
        # nothing brakes the swivelling of the struts under the first: it is lost later
        until = run.t <= (6.0 if cured else 1.5)
        what = f"{law}: off by, {'6 s' if cured else 'first 1.5 s'}"
        checks.append(Check(name, what, 0.0, float(off[until].max()), 5e-3 if cured else 0.1, "m"))
    axes[0].set_ylim(simplex.HEIGHT - 0.02, simplex.HEIGHT + 0.02)
    axes[1].set_ylim(0, 0.02)
    legend(figure, list(LAWS))
    return Reproduction(checks, figure)


def along(number: str, path: str, axis: int, y: str) -> Reproduction:
    """Where the end effector is to be and is, under both laws, and why the first is lost."""
    name = title(number)
    figure, axes = panels(f"{name}: the {path} path", [f"{y} [m]", "off by [m]", "tensions [N]"])
    reference, checks = simplex.PATHS[path], _why(name)
    start = simplex.standing()
    for colour, (law, cured) in enumerate(LAWS.items()):
        run, off = simplex.followed(reference, cured, 20.0 if cured else 12.0, start)
        seen = slice(0, int(np.argmax(off > LOST)) + 1 if off.max() > LOST else None)
        axes[0].plot(run.t[seen], run.q[seen, 6 + axis], color=f"C{colour}", lw=2.0)
        axes[1].semilogy(run.t[seen][1:], off[seen][1:] + 1e-9, color=f"C{colour}", lw=1.4)
        tensions = start[0].line_tensions(run.q[seen], run.v[seen])
        axes[2].plot(run.t[seen], tensions, color=f"C{colour}", lw=0.8)
        checks.append(_verdict(name, law, cured, run.t, off))
    t = np.linspace(0, 20, 401)
    axes[0].plot(t, reference(t).position[:, axis], color="black", lw=1.0, ls=(0, (4, 4)))
    axes[2].set_ylim(0, 200)
    legend(figure, list(LAWS))
    return Reproduction(checks, figure)


def _verdict(name: str, law: str, cured: bool, t: Array, off: Array) -> Check:
    if cured:
        return Check(name, f"{law}: off by, 20 s", 0.0, float(off.max()), 2.5e-4, "m")
    lost = float(t[np.argmax(off > LOST)]) if off.max() > LOST else np.nan
    return Check(name, f"{law}: lost (5 cm off) at", 6.0, lost, 6.0, "s")


def _why(name: str) -> list[Check]:
    """Flutter at the start of the paths."""
    q = simplex.standing()[1][:15]
    free, braked = simplex.exponents(q), simplex.exponents(q, cured=True, least=0.0)
    worst = free[np.argmax(free.real)]
    return [
        Check(name, "the thesis's programme: what it leaves free grows by", 1.034, float(worst.real), 0.05, "1/s"),
        Check(name, "and flutters at", 6.918, float(abs(worst.imag)), 0.05, "rad/s"),
        Check(name, "ours: the slowest motion decays by", 0.3, float(-braked.real.max()), 0.05, "1/s"),
    ]
