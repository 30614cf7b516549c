"""Logistic maps on a lattice: chaotic alone, in step when coupled (coupled map lattices after Kaneko).

Meister, Gutenkunst, Levi (section VI) name the method, periodic gaits from the synchronisation of coupled chaotic maps with one map
for each active joint, and give no equations; those here are the usual ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modurob.errors import GaitError, choices
from modurob.motion.gaits.active import Network
from modurob.motion.gaits.checks import require_positive, require_seed
from modurob.motion.gaits.waves import GENERATORS, Jet, powers
from modurob.spatial.scalars import Array

GRAPHS = ("neighbours", "all")
UNISON = 0.4  # where maps start that start together
# the minimum jerk polynomial 10 u^3 - 15 u^4 + 6 u^5
REST_TO_REST = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])


@GENERATORS.register("logistic")
@dataclass(frozen=True)
class Logistic:
    """x_i' = (1 - coupling) f(x_i) + coupling mean_j f(x_j) with f(x) = r x (1 - x): one map a joint, one iterate half a period.

    With graph "neighbours" j runs over the neighbours on the robot. At r = 4 and coupling 0.15 maps that are chaotic alone
    fall into a rhythm of two iterates in which neighbours alternate; `alternation` is its closed form. With graph "all" j runs
    over all maps: they come to run in unison where (1 - coupling) exp(Lyapunov exponent) < 1, chaotic together at r = 4,
    periodic below r = 3.57.

    The wave is the map's value, -1 at the low and 1 at the high of the rhythm and cut off there, with minimum jerk from
    iterate to iterate. Each joint reads its map earlier or later, so that once in step it has its phase, up to one shift of
    all in unison. Without a seed the maps start in step, with one anywhere.
    """

    r: float = 4.0
    coupling: float = 0.15
    graph: str = "neighbours"
    seed: int | None = None

    def __post_init__(self) -> None:
        require_positive("r", self.r)
        require_positive("coupling", self.coupling)
        require_seed(self.seed)
        if self.graph not in GRAPHS:
            raise GaitError(f"graph {self.graph!r}: {choices(self.graph, GRAPHS)}")
        if not (3 < self.r <= 4 and self.coupling <= 1):
            raise GaitError(f"r {self.r}, coupling {self.coupling}: expected r above 3 and up to 4, coupling up to 1")
        if not self.rhythm[0] < self.rhythm[1]:
            raise GaitError(
                f"neighbours do not alternate at r {self.r}, coupling {self.coupling}: expected a weaker coupling"
            )

    @property
    def rhythm(self) -> tuple[float, float]:
        """The lowest and the highest value that the maps take in step."""
        if self.graph == "neighbours":
            return alternation(self.r, self.coupling)
        return self._f(self._f(0.5)), self._f(0.5)

    def iterates(self, listens: Array, x: Array) -> Iterator[Array]:
        """The lattice from x on, (n,) each; row i of `listens` holds the weights of the maps that map i hears."""
        while True:
            yield x
            x = self._f(x)
            x = (1 - self.coupling) * x + self.coupling * (listens @ x)

    def waves(self, network: Network) -> "Steps":
        n, (low, high) = len(network.phase), self.rhythm
        alternating = self.graph == "neighbours"
        odd = network.depth % 2 if alternating else np.zeros(n)
        listens = network.listens if alternating else np.full((n, n), 1 / n)
        # a map that starts low rises at s = 0, as sin(s - pi / 2) does
        ahead = (network.phase + np.pi / 2 - np.pi * odd) % (2 * np.pi)
        return Steps(self.iterates(listens, self._start(odd)), (low + high) / 2, (high - low) / 2, ahead)

    def _start(self, odd: Array) -> Array:
        if self.seed is not None:
            return np.random.default_rng(self.seed).uniform(0.1, 0.9, len(odd))
        return np.where(odd, *self.rhythm[::-1]) if self.graph == "neighbours" else np.full(len(odd), UNISON)

    def _f(self, x):
        return self.r * x * (1 - x)


def alternation(r: float, coupling: float) -> tuple[float, float]:
    """The two values between which neighbours alternate on any tree; both the fixed point if there is no such orbit.

    They solve low = (1 - c) f(high) + c f(low) and high = (1 - c) f(low) + c f(high). With s = low + high and d = high - low,
    s = 1 + 1 / (r (1 - 2 c)) and d^2 = 2 s (1 - 1 / r) - s^2.
    """
    s = 1 + 1 / (r * (1 - 2 * coupling)) if coupling < 0.5 else 0.0
    d = np.sqrt(max(2 * s * (1 - 1 / r) - s * s, 0.0))
    return float(s - d) / 2, float(s + d) / 2


class Steps:
    """Waves that interpolate between the iterates of a lattice with minimum jerk, one iterate each s = pi."""

    def __init__(self, iterates: Iterator[Array], middle: float, reach: float, ahead: Array):
        """Value x reads as (x - middle) / reach, cut off at -1 and 1; joint i reads `ahead[i]` later iterates, in s."""
        self._iterates, self._middle, self._reach, self._ahead = iterates, middle, reach, ahead
        self._values = np.zeros((0, len(ahead)))

    def __call__(self, s: Array) -> Jet:
        s = (np.asarray(s, dtype=float)[..., None] + self._ahead) / np.pi
        k = np.floor(s).astype(int)
        if k.size and k.min() < 0:
            raise GaitError(f"time {s.min() * np.pi:.3g} (in units of 1 / (2 pi f)): maps start at zero")
        if k.size:
            self._grow(k.max() + 2)
        joint = np.arange(len(self._ahead))
        here, there = self._values[k, joint], self._values[k + 1, joint]
        way, rate, bend = np.moveaxis(powers(s - k) @ REST_TO_REST, -1, 0)
        return here + (there - here) * way, (there - here) * rate / np.pi, (there - here) * bend / np.pi**2

    def _grow(self, count: int) -> None:
        """Iterate until there are that many values."""
        more = [next(self._iterates) for _ in range(2 * count - len(self._values))] if count > len(self._values) else []
        if more:
            read = np.clip((np.array(more) - self._middle) / self._reach, -1, 1)
            self._values = np.concatenate([self._values, read])
