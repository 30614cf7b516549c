"""What the methods of a robot do with their arguments."""

from typing import Any

import numpy as np

from modurob.algorithms.checks import require_finite, require_quaternions
from modurob.errors import InputError
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array, as_array

# numbers of single precision, in either order of bytes
_SINGLE = (np.dtype("<f4"), np.dtype(">f4"))


class Checked(Tables):
    """Tables whose methods take arrays, checked: q is (..., nq); v, vdot and tau are (..., nv)."""

    def _q(self, q: Any, name: str = "q") -> Array:
        return require_quaternions(self, require_finite(self._laid(q, self.nq, name), name), name)

    def _one_q(self, q: Any, name: str = "q") -> Array:
        """One configuration, for functions that take no batches."""
        q = self._q(q, name)
        if q.ndim != 1:
            raise InputError(f"{name} has shape {q.shape}: expected one configuration, ({self.nq},), for {self.name}")
        return q

    def _v(self, v: Any, name: str = "v") -> Array:
        return require_finite(self._laid(v, self.nv, name), name)

    def _laid(self, x: Any, n: int, name: str) -> Array:
        """Laid out as a new array is: where rows lie in memory decides how sums of NumPy are rounded."""
        return np.ascontiguousarray(self._shaped(x, n, name))

    def _point(self, point: Any) -> Array:
        x = as_array(point)
        if x.dtype.kind not in "fcO" or x.ndim == 0 or x.shape[-1] != 3:
            raise InputError(f"point {point!r:.60}: expected three numbers, in the axes of the frame [m]")
        return x

    def _shaped(self, x: Any, n: int, name: str) -> Array:
        try:
            x = np.asarray(x)
            x = x.astype(np.float32, copy=False) if x.dtype in _SINGLE else as_array(x)
        except ValueError:
            raise InputError(f"{name} has rows of different length: expected shape (..., {n})") from None
        words = x.dtype == object and any(y is None or isinstance(y, str) for y in x.flat)
        if x.dtype.kind not in "fcO" or words:
            raise InputError(f"{name} holds {x.tolist()!r:.60}: expected numbers of shape (..., {n}) for {self.name}")
        if x.ndim == 0 or x.shape[-1] != n:
            joints = ", ".join(f"{j.name} ({j.kind})" for j in self.joints[:12])
            raise InputError(
                f"{name} has shape {x.shape}: expected (..., {n}) for {self.name} with joints {joints or 'none'}"
            )
        return x
