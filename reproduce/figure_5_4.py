"""Gutenkunst Fig. 5.4: a double pendulum by the geometric approach and by Lagrange's method."""

from typing import Any

import numpy as np
import sympy

from modurob.robot import Assembly, Mechanism, load
from modurob.simulation import Adaptive, Recording, simulate
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lagrange import GRAVITY, Accelerations, Motion, by_lagrange, coordinates, motion, rate
from reproduce.pictures import against, judge, legend, panels

FIGURE = "Gutenkunst Fig. 5.4"
START = (np.pi / 2, np.pi / 2)  # [rad], at rest
DURATION, TICK = 10.0, 0.02  # [s]; the duration is that of the listing in Gutenkunst 4.1
# two integrations of 10 s, each good to 1e-12 a step, of a motion that spreads small errors
APART = 1e-8
STRAIGHT = [[500.0, 200.0], [200.0, 100.0]]  # (5.13a) with cos q2 = 1 [kg m²]


def reproduced() -> Reproduction:
    """Modules 10 m long of 1 kg, as in Gutenkunst 4.1; then lengths and masses that differ, as 5.1.1 asks; then (5.13a-c)."""
    alike = load("double_pendulum")
    unlike = alike.with_parameters({"m2": {"length": 6, "mass": 2}})
    run, judged = compared(alike, (10.0, 10.0), (1.0, 1.0))
    straight = hanging(alike).mass_matrix(np.zeros(2))
    other, other_judged = compared(unlike, (10.0, 8.0), (1.0, 2.0))
    checks = [
        Check(FIGURE, "angles against Lagrange (SymPy), 10 s", 0.0, apart(run.q, judged.q), APART, "rad"),
        Check(FIGURE, "rates against Lagrange (SymPy)", 0.0, apart(run.v, judged.v), APART, "rad/s"),
        Check(FIGURE, "angles, 10 and 8 m, 1 and 2 kg", 0.0, apart(other.q, other_judged.q), APART, "rad"),
        Check(FIGURE, "drift of the energy", 0.0, float(np.ptp(run.energy) / np.ptp(run.potential_energy)), 1e-9),
        Check(FIGURE, "places of the masses", 0.0, apart(places(run), by_hand(judged, (10.0, 10.0))), 10 * APART, "m"),
        Check(FIGURE, "M hanging straight, 10 m and 1 kg, off by", 0.0, apart(straight, STRAIGHT), 1e-9, "kg m²"),
        Check(FIGURE, "entries of M, C, N unlike (5.13a-c)", 0.0, unlike_printed(hanging(unlike)), 0.0),
        Check(
            FIGURE, "the same where energies were derived", 0.0, unlike_printed(hanging(unlike), method="lagrange"), 0.0
        ),
        Check(FIGURE, "C v by Christoffel symbols unlike (5.13b)", 0.0, unlike_product(hanging(unlike)), 0.0),
    ]
    figure, axes = panels(f"{FIGURE}: double pendulum, released at 90° and 90°", ("angle [rad]", "difference [rad]"))
    against(axes[0], run.t, run.q, judged.q)
    axes[1].semilogy(run.t, np.maximum(np.abs(run.q - judged.q), 1e-16))
    axes[1].set_ylim(1e-16, 1e-6)
    legend(figure, ("$q_1$", "$q_2$"), judge("Lagrange, derived and integrated apart"))
    return Reproduction(checks, figure)


def hanging(assembly: Assembly) -> Mechanism:
    """The pendulum along gravity, which is along y, without stops."""
    return assembly.robot().ideal()


def compared(assembly: Assembly, lengths: tuple[float, float], masses: tuple[float, float]) -> tuple[Recording, Motion]:
    """The robot's motion and that of Lagrange's equations."""
    run = simulate(hanging(assembly), np.array(START), duration=DURATION, stepper=Adaptive(rtol=1e-12), tick=TICK)
    return run, motion(double_pendulum(lengths, masses), START, (0.0, 0.0), run.t)


def places(run: Recording) -> Array:
    """Where modules 1 and 2 are, (ticks, 2, 3) [m]."""
    poses = run.poses()
    return np.stack([poses[name][:, :3, 3] for name in ("m1", "m2")], axis=1)


def by_hand(motion: Motion, lengths: tuple[float, float]) -> Array:
    """The same by (5.4)-(5.6): the hinges are about x, the masses along y, (ticks, 2, 3) [m]."""
    a = np.cumsum(motion.q, axis=1)
    steps = np.array(lengths)[:, None] * np.stack([0 * a, np.cos(a), np.sin(a)], axis=-1)
    return np.cumsum(steps, axis=1)


def double_pendulum(lengths: tuple[float, float], masses: tuple[float, float]) -> Accelerations:
    """Two point masses on rods, by their energies; x to the side, y down."""
    q = coordinates(2)
    x, y, kinetic, potential = sympy.S(0), sympy.S(0), sympy.S(0), sympy.S(0)
    for angle, l, m in zip((q[0], q[0] + q[1]), lengths, masses, strict=True):
        x, y = x + l * sympy.sin(angle), y + l * sympy.cos(angle)
        kinetic += m * (rate(x) ** 2 + rate(y) ** 2) / 2
        potential -= m * GRAVITY * y
    return by_lagrange(kinetic, potential, q)


def unlike_printed(robot: Mechanism, **options: Any) -> int:
    """How many entries of M, C and N are not those of Gutenkunst (5.13a-c), decided exactly."""
    eq = robot.equations(symbols=("masses", "lengths", "gravity"), **options)
    (q1, q2), (v1, v2) = eq.q, eq.v
    l1, l2, m1, m2, g = sympy.symbols("l1 l2 m1 m2 g")
    c, s, mixed = sympy.cos(q2), l1 * l2 * m2 * sympy.sin(q2), l2 * m2 * sympy.sin(q1 + q2)
    off = l2 * m2 * (l2 + l1 * c)
    printed = {
        "M": [[l1**2 * (m1 + m2) + l2**2 * m2 + 2 * l1 * l2 * m2 * c, off], [off, l2**2 * m2]],
        "C_two_step": [[-2 * s * v2, -s * v2], [s * (v1 - v2), s * v1]],
        "N": [g * (mixed + l1 * (m1 + m2) * sympy.sin(q1)), g * mixed],
    }
    return sum(
        own != eq.normal_form(other)
        for part, entries in printed.items()
        for own, other in zip(eq.polynomial(part).ravel(), np.ravel(np.array(entries, dtype=object)), strict=True)
    )


def unlike_product(robot: Mechanism) -> int:
    """How many entries of C v, C of Christoffel symbols, are not those of Gutenkunst (5.13b), whose C is another matrix."""
    eq = robot.equations(symbols=("masses", "lengths", "gravity"))
    (v1, v2), (l1, l2, m2) = eq.v, sympy.symbols("l1 l2 m2")
    s = l1 * l2 * m2 * sympy.sin(eq.q[1])
    printed = [-s * (2 * v1 * v2 + v2**2), s * v1**2]
    own = eq.polynomial("C") @ eq.coordinates.v
    return sum(a != eq.normal_form(b) for a, b in zip(own, printed, strict=True))
