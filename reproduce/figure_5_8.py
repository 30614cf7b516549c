"""Gutenkunst Fig. 5.8: a crane, a wagon on a rail with a load that swings below it."""

import numpy as np
import sympy
from scipy.integrate import quad
from scipy.interpolate import CubicHermiteSpline

from modurob.robot import load
from modurob.simulation import Adaptive, Recording, simulate
from reproduce.check import Check, Reproduction, apart
from reproduce.lagrange import GRAVITY, Accelerations, by_lagrange, coordinates, motion, rate
from reproduce.pictures import against, judge, legend, panels

FIGURE = "Gutenkunst Fig. 5.8"
WAGON, LOAD, ROPE, START = 1.0, 1.0, 5.0, np.pi / 4  # [kg], [kg], [m], [rad]: Gutenkunst (5.23), (5.24)
# two integrations, each good to 1e-12 a step
APART = 1e-9


def reproduced() -> Reproduction:
    """The shipped crane beside Lagrange's equations, beside (5.15a-b) as printed, and beside what can be worked out by hand."""
    robot = load("crane").robot().ideal()
    run = simulate(robot, np.array([0.0, START]), duration=10.0, stepper=Adaptive(rtol=1e-12), tick=0.01)
    judged = motion(crane(), (0.0, START), (0.0, 0.0), run.t)
    # all starts at rest, so the centre of mass stays below one point of the rail
    farthest = LOAD / (WAGON + LOAD) * 2 * ROPE * np.sin(START)
    checks = [
        Check(FIGURE, "wagon against Lagrange (SymPy), 10 s", 0.0, apart(run.q[:, 0], judged.q[:, 0]), APART, "m"),
        Check(FIGURE, "rope against Lagrange (SymPy), 10 s", 0.0, apart(run.q[:, 1], judged.q[:, 1]), APART, "rad"),
        Check(FIGURE, "what (5.15a-b) leave over along the motion", 0.0, left_over(run), 1e-10, "N"),
        Check(FIGURE, "how far the wagon goes", float(farthest), float(run.q[:, 0].max()), 1e-4, "m"),
        Check(FIGURE, "period (quadrature of the energy)", period(), found_period(run), 1e-6, "s"),
    ]
    figure, axes = panels(f"{FIGURE}: crane, the load released at 45°", ("wagon $z$ [m]", "rope $\\varphi$ [rad]"))
    for k, axis in enumerate(axes):
        against(axis, run.t, run.q[:, k : k + 1], judged.q[:, k : k + 1], [f"C{k}"])
    legend(figure, ("$z$", "$\\varphi$"), judge("Lagrange, derived and integrated apart"))
    return Reproduction(checks, figure)


def crane() -> Accelerations:
    """Wagon and load by their energies; the rope without mass."""
    z, phi = coordinates(2)
    across, down = z + ROPE * sympy.sin(phi), ROPE * sympy.cos(phi)
    kinetic = (WAGON * rate(z) ** 2 + LOAD * (rate(across) ** 2 + rate(down) ** 2)) / 2
    return by_lagrange(kinetic, -LOAD * GRAVITY * down, [z, phi])


def left_over(run: Recording) -> float:
    """The largest left side of Gutenkunst (5.15a), and of (5.15b) times the load [N]."""
    phi, phid, zdd, phidd = run.q[:, 1], run.v[:, 1], run.vdot[:, 0], run.vdot[:, 1]
    rail = (WAGON + LOAD) * zdd + LOAD * ROPE * (phidd * np.cos(phi) - phid**2 * np.sin(phi))
    swing = LOAD * (ROPE * phidd + GRAVITY * np.sin(phi) + zdd * np.cos(phi))
    return float(np.abs([rail, swing]).max())


def period() -> float:
    """Four times the way from 0 to phi0, with l phid²/2 (1 - mu cos² phi) = g (cos phi - cos phi0), mu = m_L/(m_s + m_L) [s].

    With sin(phi/2) = sin(phi0/2) sin(x) the integral has no pole at phi0.
    """
    mu, k = LOAD / (WAGON + LOAD), np.sin(START / 2)

    def slowness(x: float) -> float:
        phi = 2 * np.arcsin(k * np.sin(x))
        return np.sqrt((1 - mu * np.cos(phi) ** 2) / (1 - (k * np.sin(x)) ** 2))

    return float(4 * np.sqrt(ROPE / GRAVITY) * quad(slowness, 0, np.pi / 2)[0])


def found_period(run: Recording) -> float:
    """Twice the time between the first two moments at which the rope is vertical [s]."""
    first, second = CubicHermiteSpline(run.t, run.q[:, 1], run.v[:, 1]).roots(extrapolate=False)[:2]
    return float(2 * (second - first))
