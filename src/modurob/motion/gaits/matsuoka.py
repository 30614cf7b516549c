"""Matsuoka oscillators: pairs of neurons that inhibit each other and tire, coupled to lock at given phase differences."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from modurob.errors import GaitError
from modurob.motion.gaits.active import Network
from modurob.motion.gaits.checks import FASTEST, require_positive, require_seed
from modurob.motion.gaits.waves import GENERATORS, TOLERANCE, Flow
from modurob.spatial.scalars import Array

SETTLING = 40  # periods until a pair is on its cycle
SAMPLES = 4096  # of one period, to find its peak
# d = x1 - x2 of a state, and what a coupling pushes, (4,)
DIFFERENCE = PUSH = np.array([1.0, -1.0, 0.0, 0.0])


class Cycle(NamedTuple):
    """The limit cycle of one pair."""

    period: float  # in units of tau
    peak: float  # of x1 - x2
    state: CubicSpline  # (x1, x2, f1, f2) at a phase in radians; x1 - x2 rises through zero at phase zero


@GENERATORS.register("matsuoka")
@dataclass(frozen=True)
class Matsuoka:
    """tau dx1/dt = 1 - x1 - a y2 - b f1 + u, T df1/dt = y1 - f1, y = max(x, 0); the same for x2, with -u.

    a is the inhibition, b the adaptation, T / tau its slowness (Matsuoka, Biological Cybernetics 52 (1985) and 104
    (2011)). The wave is d = x1 - x2, divided by its peak; tau is such that a single pair has the period s = 2 pi.
    Neighbours j contribute u_i = coupling / 2 mean_j(d_j shifted by phase_i - phase_j, minus d_i). The quadrature of d
    is computed from f1 - f2 as if d were a sine; this is approximate, so that phases lock to within some hundredths of
    a radian.

    Without a seed the pairs start on their cycle at their phases, with a seed at random phases.
    """

    inhibition: float = 2.0  # a
    adaptation: float = 2.5  # b
    slowness: float = 2.0  # T / tau
    coupling: float = 0.5
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("inhibition", "adaptation", "slowness", "coupling"):
            require_positive(name, getattr(self, name), most=FASTEST)
        require_seed(self.seed)
        lowest, highest = 1 + 1 / self.slowness, 1 + self.adaptation
        if not lowest < self.inhibition < highest:
            raise GaitError(
                f"inhibition {self.inhibition}: the pair does not swing, expected between 1 + 1 / slowness = {lowest:.4g} "
                f"and 1 + adaptation = {highest:.4g}"
            )

    @property
    def natural_frequency(self) -> float:
        """omega tau = (tau / T) sqrt(((tau + T) b - tau a) / (tau a)), by harmonic balance (Matsuoka 2011)."""
        return float(np.sqrt((1 + self.slowness) * self.adaptation / self.inhibition - 1) / self.slowness)

    @property
    def cycle(self) -> Cycle:
        """The limit cycle of a pair alone."""
        return _cycle(replace(self, coupling=1.0, seed=None))

    def waves(self, network: Network) -> Flow:
        cycle, n = self.cycle, len(network.phase)
        lag = network.phase[:, None] - network.phase
        heard = np.kron(np.outer(PUSH, DIFFERENCE), np.cos(lag) * network.listens - np.eye(n))
        heard += np.kron(np.outer(PUSH, self._quadrature), np.sin(lag) * network.listens)
        A, B, c = self._pair
        pace = cycle.period / (2 * np.pi)
        linear = pace * (np.kron(A, np.eye(n)) + self.coupling / 2 * heard)
        fired, drive = pace * np.kron(B, np.eye(n)), pace * np.kron(c, np.ones(n))
        difference = np.kron(DIFFERENCE, np.eye(n)) / cycle.peak

        def rate(state: Array) -> Array:
            return drive + state @ linear.T + np.maximum(state[..., : 2 * n], 0) @ fired.T

        def read(state: Array) -> Array:
            first = rate(state)
            second = first @ linear.T + np.where(state > 0, first, 0)[..., : 2 * n] @ fired.T
            return np.stack([state, first, second], axis=-2) @ difference.T

        return Flow(rate, read, cycle.state(self._start(network.phase) % (2 * np.pi)).T.ravel())

    @property
    def _quadrature(self) -> Array:
        """Row that makes A cos(phase) of a state with d = A sin(phase), were that a sine, (4,).

        By harmonic balance f1 - f2 = K A cos(psi) sin(phase - psi) with K = (tau + T) / (T a) and tan(psi) = omega T.
        """
        tangent = self.natural_frequency * self.slowness
        gain = (1 + self.slowness) / (self.slowness * self.inhibition)
        tired = (1 + tangent**2) / gain
        return np.array([1, -1, -tired, tired]) / tangent

    @property
    def _pair(self) -> tuple[Array, Array, Array]:
        """A, B, c of one pair: d(x1, x2, f1, f2)/dt = A (x1, x2, f1, f2) + B (y1, y2) + c, time in units of tau."""
        a, b, T = self.inhibition, self.adaptation, self.slowness
        A = np.array([[-1, 0, -b, 0], [0, -1, 0, -b], [0, 0, -1 / T, 0], [0, 0, 0, -1 / T]])
        B = np.array([[0, -a], [-a, 0], [1 / T, 0], [0, 1 / T]])
        return A, B, np.array([1.0, 1.0, 0.0, 0.0])

    def _start(self, phase: Array) -> Array:
        return phase if self.seed is None else np.random.default_rng(self.seed).uniform(0, 2 * np.pi, len(phase))


@lru_cache(maxsize=64)
def _cycle(oscillator: Matsuoka) -> Cycle:
    """Run one pair until it has settled, and measure it."""
    A, B, c = oscillator._pair

    def rate(_: float, state: Array) -> Array:
        return A @ state + B @ np.maximum(state[:2], 0) + c

    def rises(_: float, state: Array) -> float:
        return state[0] - state[1]

    rises.direction = 1  # type: ignore[attr-defined]
    period = 2 * np.pi / oscillator.natural_frequency
    settings = {"method": "LSODA", "rtol": TOLERANCE, "atol": TOLERANCE}
    settled = solve_ivp(rate, (0, SETTLING * period), (0.1, 0, 0, 0), **settings).y[:, -1]
    run = solve_ivp(rate, (0, 5 * period), settled, events=rises, dense_output=True, **settings)
    start, end = run.t_events[0][:2]
    states = run.sol(np.linspace(start, end, SAMPLES + 1)).T
    states[-1] = states[0]
    peak = float(np.abs(states @ DIFFERENCE).max())
    return Cycle(end - start, peak, CubicSpline(np.linspace(0, 2 * np.pi, SAMPLES + 1), states, bc_type="periodic"))
