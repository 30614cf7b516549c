"""Whether modules of two branches overlap, with all joints at zero; results are cached by relative pose."""

from collections.abc import Sequence

import numpy as np

from modurob.assembly.clash import clashes, hull
from modurob.catalogue import Module
from modurob.spatial import se3
from modurob.spatial.scalars import Array

DIGITS = 6  # of poses that are told apart [m]


class Room:
    """Which of the modules to choose from meet at which relative pose."""

    def __init__(self, modules: Sequence[Module]):
        self.modules = modules
        hulls = [hull(m) for m in modules]
        # of a sphere about the frame's origin that holds the module
        self.radius = np.array([0.0 if h is None else np.linalg.norm(np.abs(h.X[0][:3, 3]) + h.half[0]) for h in hulls])
        self._known: dict[tuple[int, int, bytes], bool] = {}

    def meet(self, kinds: Sequence[int], X: Array, others: Sequence[int], Y: Array) -> bool:
        """Whether one of some modules at poses X (n, 4, 4) meets one of others at Y (m, 4, 4)."""
        if not len(X) or not len(Y):
            return False
        away = np.linalg.norm(X[:, None, :3, 3] - Y[None, :, :3, 3], axis=-1)
        near = away < self.radius[list(kinds)][:, None] + self.radius[list(others)][None]
        return any(self._pair(kinds[i], others[j], se3.inverse(X[i]) @ Y[j]) for i, j in np.argwhere(near))

    def _pair(self, a: int, b: int, X_AB: Array) -> bool:
        key = a, b, (np.round(X_AB[:3], DIGITS) + 0.0).tobytes()
        if key not in self._known:
            pair = {"a": self.modules[a], "b": self.modules[b]}
            self._known[key] = any(True for _ in clashes(pair, {"a": np.eye(4), "b": X_AB}))
        return self._known[key]
