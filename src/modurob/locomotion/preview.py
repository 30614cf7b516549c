"""Motion of the centre of mass for steps that are known in advance (Kajita and others; Katayama and others)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.caching import cached_property
from modurob.errors import InputError, explained
from modurob.locomotion.numbers import numbers, one_positive, whole
from modurob.spatial.scalars import Array


class Gains(NamedTuple):
    """u = -Gi sum(p - p_ref) - Gx x - Gp p_ref ahead: of the summed error, of the state (3,), of each sample ahead (n,)."""

    Gi: float
    Gx: Array
    Gp: Array


class Walk(NamedTuple):
    """Samples of the centre of mass, (n, ...): position [m], velocity [m/s], acceleration [m/s²], and its zero-moment point [m]."""

    x: Array
    v: Array
    a: Array
    zmp: Array


@explained
@dataclass(frozen=True)
class PreviewControl:
    """Jerk of a cart on a table that keeps its zero-moment point p = x - z/g x'' on a reference that is known `samples`
    ahead.

    It minimises the sum of Q (p - p_ref)² + R (change of jerk)²: a linear quadratic regulator with the integral of the
    error and a preview of the reference. The default weights are those of Kajita and others, 5 ms and 1.6 s ahead.

    >>> steps = np.repeat([0.0, 0.0, 0.3, 0.6, 0.9, 0.9], 160)
    >>> walk = mr.PreviewControl(height=0.8).walk(steps)
    >>> bool(np.abs(walk.zmp - steps)[100:].mean() < 0.005), walk.x[-1].round(2)
    (True, np.float64(0.9))
    """

    height: float
    sample_time: float = 5e-3
    samples: int = 320
    Q: float = 1.0
    R: float = 1e-6
    gravity: float = 9.81

    def __post_init__(self) -> None:
        for name in ("height", "sample_time", "Q", "R", "gravity"):
            one_positive(getattr(self, name), name)
        whole(self.samples, "samples", 1)

    @property
    def model(self) -> tuple[Array, Array, Array]:
        """A, b, c of the cart: (x, x', x'')_k+1 = A (x, x', x'')_k + b jerk, p = c (x, x', x'')."""
        T = self.sample_time
        A = np.array([[1.0, T, T * T / 2], [0.0, 1.0, T], [0.0, 0.0, 1.0]])
        return A, np.array([T**3 / 6, T * T / 2, T]), np.array([1.0, 0.0, -self.height / self.gravity])

    @cached_property
    def gains(self) -> Gains:
        """From the Riccati equation of (error, change of state): K = (R + b' P b)^-1 b' P, Gp_j of the closed loop's past."""
        from scipy.linalg import solve_discrete_are

        A, b, c = self.model
        # the error propagates as e + c (A dx + b du)
        F = np.block([[np.ones((1, 1)), (c @ A)[None]], [np.zeros((3, 1)), A]])
        g = np.concatenate([[c @ b], b])[:, None]
        P = solve_discrete_are(F, g, np.diag([self.Q, 0, 0, 0]), [[self.R]])
        scale = 1 / (self.R + (g.T @ P @ g).item())
        K = scale * (g.T @ P @ F)[0]
        closed, ahead, Gp = F - np.outer(g, K), P[:, 0], []
        for _ in range(self.samples):
            Gp.append(-scale * (g.T @ ahead).item())
            ahead = closed.T @ ahead
        return Gains(float(K[0]), K[1:], np.array(Gp))

    @explained
    def walk(self, reference: ArrayLike, start: ArrayLike | None = None) -> Walk:
        """The walk along a reference of zero-moment points, (n,) or (n, 2) [m], one per sample time; after its end it
        stays.

        `start` is (x, x', x''), (3,) or (3, 2); by default at rest above the first point.
        """
        p = numbers(reference, "reference")
        if p.ndim not in (1, 2) or not len(p):
            raise InputError(f"reference has shape {p.shape}: expected (samples,) or (samples, 2)")
        (A, b, c), (Gi, Gx, Gp) = self.model, self.gains
        still = np.zeros_like(p[:1])
        x = np.concatenate([p[:1], still, still]) if start is None else numbers(start, "start")
        if x.shape != (3, *p.shape[1:]):
            raise InputError(f"start has shape {x.shape}: expected {(3, *p.shape[1:])}, rows x, x', x''")
        known = np.concatenate([p, np.repeat(p[-1:], len(Gp), axis=0)])
        # no jerk before the start: subtract what the gains would command there
        rest = Gx @ np.linalg.solve(A, x) + np.tensordot(Gp, known[: len(Gp)], axes=1)
        summed, states = np.zeros(p.shape[1:]), []
        for k in range(len(p)):
            states.append(x)
            summed = summed + (c @ x - p[k])
            u = rest - Gi * summed - Gx @ x - np.tensordot(Gp, known[k + 1 : k + 1 + len(Gp)], axes=1)
            x = A @ x + np.multiply.outer(b, u)
        found = np.stack(states, axis=1)
        return Walk(*found, zmp=np.tensordot(c, found, axes=1))
