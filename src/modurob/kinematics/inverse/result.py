"""What inverse kinematics answers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from modurob.values import same

Array = np.ndarray


class InverseKinematics:
    """The configurations that bring a frame to a goal, best first.

    For one goal `q` is (k, nq); for goals (...,) it is (..., k, nq), rows beyond `count` are NaN. Where no configuration reaches
    the goal, `reached` is false and the first row of `q` is the nearest one found, within limits unless they do not count, with its
    distance in `residual`; it is looked for when `q` is first read.

    >>> arm = mr.Mechanism.from_dh([(1, 0, 0), (1, 0, 0)])
    >>> found = arm.inverse_kinematics("tip", [1.0, 1.0, 0.0])
    >>> int(found.count), bool(found.reached), found.exact, found.q.shape
    (2, True, True, (2, 2))
    """

    __slots__ = ("_q", "_residual", "certain", "count", "exact", "family", "note", "reached")

    def __init__(
        self,
        q: Array | Callable[[], Array],
        count: Any,
        reached: Any,
        residual: Array | Callable[[Array], Array],  # or how it comes of q
        exact: bool,
        certain: Any,
        family: str,
        note: str = "",
    ):
        self._q = q
        self.count = count  # (...,) solutions of each goal, 0 where it was not reached
        self.reached = reached  # (...,) bool
        self._residual = residual
        self.exact = exact  # all solutions, by closed form or an eigenproblem; False: one, by iteration
        self.certain = certain  # (...,) bool: none is missing, by the checks of the method
        self.family = (
            family  # what the geometry allowed: "spherical wrist, two parallel axes", "general 6R", "numeric", ...
        )
        self.note = note  # what to know about this answer: free joints, why a goal was not reached

    @property
    def q(self) -> Array:
        """The configurations, (..., k, nq)."""
        if callable(self._q):
            self._q = self._q()
        return self._q

    @property
    def residual(self) -> Array:
        """How far each row is from the goal, (..., k): m or rad, the larger."""
        if callable(self._residual):
            self._residual = self._residual(self.q)
        return self._residual

    def __len__(self) -> int:
        return int(np.max(self.count, initial=0))

    def __repr__(self) -> str:
        n = int(self.count) if np.ndim(self.count) == 0 else -1
        found = f"goals {np.shape(self.count)}" if n < 0 else "1 solution" if n == 1 else f"{n} solutions"
        reached = "" if np.all(self.reached) else ", not reached" if np.ndim(self.count) == 0 else ", not all reached"
        return f"InverseKinematics({found}{reached}, {self.family}{f', {self.note}' if self.note else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InverseKinematics):
            return NotImplemented
        rest = [
            [getattr(x, n) for n in ("count", "reached", "exact", "certain", "family", "note")] for x in (self, other)
        ]
        rows = (self.q, other.q), (self.residual, other.residual)
        return same(*rest) and all(np.array_equal(a, b, equal_nan=True) for a, b in rows)

    def __hash__(self) -> int:
        return hash((np.shape(self.count), self.exact, self.family))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(
            getattr(self, n) for n in ("q", "count", "reached", "residual", "exact", "certain", "family", "note")
        )
