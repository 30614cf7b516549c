"""Lieskovsky, chapters 4 and 5: the spline of Table 4.1, and the single strut on three cables, its variants and its tracking.

Chosen where the thesis is silent: the first winch at 0 (5.5 to 5.7) or 180 degrees (5.9 to 5.11), gravity, a viscosity of 10 MPa s,
strains that start at 20 MPa. The controller is sampled at 1 kHz, for the state half a sample ahead.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import modurob as mr
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.pictures import JUDGE, legend, panels
from tests.oracles import strut

TIMES, CORNERS = [0, 2, 4, 6], np.array([[0.0, 0], [4, 0], [0, 3], [0, 0]])
# the inverse of [phi(0), phi'(0), phi(1), phi'(1)], phi_k = s^k / k!
HERMITE = np.array([[1.0, 0, -6, 12], [0, 1, -4, 6], [0, 0, 6, -12], [0, 0, -2, 6]])
SOFT, TORQUES = 50e6, (0.1001, 0.1, 0.1)
# largest errors of both angles [rad], as printed in Table 5.7
PRINTED = {2e8: (8.403e-3, 8.293e-3), 2e9: (1.080e-3, 8.105e-4), 2e10: (2.162e-4, 1.330e-4)}
PULLEYS, LEAST = [3, 7, 11], 20e6 * strut.AREA


def title(number: str) -> str:
    return f"Lieskovsky Fig. {number}"


def spline() -> Reproduction:
    """The curve of Table 4.1 in the plane and over time, beside C D M_H psi with corrected order."""
    curve, t = mr.Trajectory.hermite(TIMES, CORNERS, 0 * CORNERS), np.linspace(0, 6, 601)
    found, judged = curve(t).position, np.array([_by_matrices(x) for x in t])
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    plane, time = figure.subplots(1, 2)
    plane.plot(*found.T, lw=2.2)
    plane.plot(*CORNERS.T, "o", color="black", ms=4)
    plane.set(xlabel="x", ylabel="y", aspect="equal")
    time.plot(t, found, lw=2.2, label=["x", "y"])
    time.plot(t, judged, **JUDGE)
    time.set_xlabel("time [s]")
    time.legend(frameon=False)
    figure.suptitle(title("4.1"))
    checks = [
        Check(title("4.1"), "spline against C D M_H psi", 0.0, apart(found, judged), 1e-12),
        Check(title("4.1"), "x and y in the knots", 0.0, apart(curve(np.array(TIMES)).position, CORNERS), 1e-12),
    ]
    return Reproduction(checks, figure)


def _by_matrices(t: float) -> Array:
    k = min(int(t // 2), 2)
    C = np.stack([CORNERS[k], np.zeros(2), CORNERS[k + 1], np.zeros(2)], axis=-1)
    s = (t - TIMES[k]) / 2
    return C @ np.diag([1, 2, 1, 2]) @ HERMITE @ np.array([1, s, s**2 / 2, s**3 / 6])


# ---- variants of the involute joint ----


def _fallen(variant: str) -> mr.Recording:
    """A second under constant torques, 10,000 steps."""
    strain = TORQUES[1] / (strut.RADIUS * SOFT * strut.AREA)
    q, v = strut.tree_state(np.array([0, 0, *[strain] * 3]), variant=variant)
    tau = np.zeros(14)
    tau[PULLEYS] = TORQUES
    robot, stepper = strut.tree(variant, SOFT), mr.RungeKutta4(1e-4)
    return mr.simulate(robot, q, v, duration=1.0, controller=lambda t, q, v: tau, stepper=stepper, tick=1e-3)


def falling() -> Reproduction:
    """Angles and strains: only one angle moves."""
    run, name = _fallen("strain"), title("5.5")
    figure, axes = panels(f"{name}: constant torques, E = 50 MPa", ["phi [rad]", "psi [rad]", "strains"])
    axes[0].plot(run.t, run.q[:, 0], lw=2.2)
    axes[1].plot(run.t, run.q[:, 1], lw=2.2)
    axes[2].plot(run.t, run.q[:, [5, 9, 13]], lw=1.8)
    axes[0].set_ylim(-1e-4, 1e-4)
    checks = [
        Check(name, "psi after 1 s", 1.049663e-3, float(run.q[-1, 1]), 1e-8, "rad"),
        Check(name, "psi after 0.5 s", 1.2553e-4, float(run.q[500, 1]), 1e-8, "rad"),
        Check(name, "phi stays", 0.0, float(np.abs(run.q[:, 0]).max()), 1e-9, "rad"),
    ]
    return Reproduction(checks, figure)


def variants() -> Reproduction:
    """Both angles by the variants stretch and length, less those by the variant strain."""
    name, first = title("5.6"), _fallen("strain")
    figure, axes = panels(f"{name}: variants of the involute joint, less that of strains", ["phi [rad]", "psi [rad]"])
    checks = []
    for colour, variant in enumerate(("stretch", "length")):
        off = _fallen(variant).q[:, :2] - first.q[:, :2]
        for k in range(2):
            axes[k].plot(first.t, off[:, k], color=f"C{colour}", lw=1.2)
        checks.append(Check(name, f"{variant} less strain", 0.0, float(np.abs(off).max()), 1e-11, "rad"))
    legend(figure, ["stretch", "length"])
    return Reproduction(checks, figure)


def another_tool() -> Reproduction:
    """The same by a minimal model written by hand, which SciPy integrates: in the thesis that is Simscape."""
    name, run = title("5.7"), _fallen("strain")
    model, strain = strut.Minimal(SOFT), TORQUES[1] / (strut.RADIUS * SOFT * strut.AREA)

    def slope(t: float, y: Array) -> Array:
        return np.append(y[5:], model.acceleration(y[:5], y[5:], TORQUES))

    start = np.array([0, 0, *[strain] * 3, *[0] * 5])
    t = run.t[::20]
    judged = solve_ivp(slope, (0, 1), start, method="DOP853", rtol=1e-9, atol=1e-11, t_eval=t).y[:2].T
    figure, axes = panels(f"{name}: involute joints less a minimal model by hand", ["phi [rad]", "psi [rad]"])
    off = run.q[::20, :2] - judged
    for k in range(2):
        axes[k].plot(t, off[:, k], lw=2.2)
    return Reproduction(
        [Check(name, "against a minimal model (SciPy)", 0.0, float(np.abs(off).max()), 1e-8, "rad")], figure
    )


# ---- tracking ----


def wanted() -> Reproduction:
    """The path of Table 5.6."""
    name, t = title("5.8"), np.linspace(0, 9, 901)
    figure, axes = panels(f"{name}: the path", ["angle [rad]"], 3.0)
    axes[0].plot(t, strut.PATH(t).position, lw=2.2)
    legend(figure, ["phi", "psi"])
    knots = strut.PATH(np.array([0, 1, 3, 7, 9.0]))
    checks = [
        Check(name, "angles in the knots", 0.0, apart(knots.position, strut.ANGLES), 1e-12, "rad"),
        Check(name, "rates in the knots", 0.0, float(np.abs(knots.velocity).max()), 1e-12, "rad/s"),
    ]
    return Reproduction(checks, figure)


def tracking(number: str, E: float) -> Reproduction:
    """Errors and strains over the path, fed forward alone as in the thesis; and, dashed, with errors fed back."""
    name = title(number)
    labels = ["error of phi [rad]", "error of psi [rad]", "strains"]
    figure, axes = panels(f"{name}: tracking with cables of E = {E / 1e6:g} MPa", labels)
    checks = []
    for kp, kd, style in ((0.0, 0.0, {"lw": 1.8}), (100.0, 20.0, JUDGE)):
        run, robot = _followed(E, kp, kd)
        off, strains = run.q[:, :2] - strut.PATH(run.t).position, robot.line_strains(run.q)
        for k in range(2):
            axes[k].plot(run.t, off[:, k], **style)
        if not kp:
            axes[2].plot(run.t, strains, lw=1.2)
            worst = np.abs(off).max(axis=0) / PRINTED[E]
            checks += [
                Check(
                    name, f"{angle}: largest error over the printed one", 1.0, float(x) if x >= 1 else 1 / float(x), 2.0
                )
                for angle, x in zip(("phi", "psi"), worst, strict=True)
            ]
            # a bound from one side
            lacking = max(0.0, 0.95 - float(robot.line_tensions(run.q, run.v).min()) / LEAST)
            checks.append(Check(name, "tensions below 0.95 of the least one", 0.0, lacking, 0.0))
        else:
            checks.append(Check(name, "errors fed back: largest error", 0.0, float(np.abs(off).max()), 4e-4, "rad"))
    axes[2].axhline(20e6 / E, color="black", lw=0.8)
    return Reproduction(checks, figure)


def _followed(E: float, kp: float, kd: float) -> tuple[mr.Recording, mr.Mechanism]:
    robot, q = strut.stretched(E)
    task = mr.JointTask(["strut"], reference=strut.PATH, kp=kp, kd=kd)
    law = mr.WholeBody([task], tension=(LEAST, np.inf), sample_time=1e-3, predict=True)
    return mr.simulate(robot, q, duration=9.0, controller=law, stepper=mr.RungeKutta4(1e-3)), robot
