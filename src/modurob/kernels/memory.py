"""Memory for results: aligned to cache lines, and reused once nothing refers to it."""

import sys
from threading import Lock
from typing import Any

import numpy as np

from modurob.spatial.scalars import Array

# bytes of a line of the cache; this and the next stand in prelude.h too
LINE = 64
# rows of so many bytes begin with a line: vectors that lie across two lines are written half as fast
LONG = 1024
# fresh pages take longer than to compute what is written there: memory of so many bytes is used again, of which so many are kept
LARGE, KEPT = 1 << 19, 1 << 27

_SPARE: list[Array] = []  # the latest last
_LOCK = Lock()


def room(states: int, n: int, dtype: Any) -> Array:
    """An array (states, n) of anything, whose rows begin with lines of the cache if they are long."""
    width = n * dtype.itemsize
    stride = -(-width // LINE) * LINE if width >= LONG else width
    size = states * stride
    whole = memory(size + LINE)
    start = -address(whole) % LINE
    return whole[start : start + size].view(dtype).reshape(states, stride // dtype.itemsize)[:, :n]


def address(x: Array) -> int:
    """Where an array begins; `x.ctypes` takes twice as long."""
    return x.__array_interface__["data"][0]


def memory(size: int) -> Array:
    """An array of so many bytes at least."""
    if not LARGE <= size <= KEPT:
        return np.empty(size, np.uint8)
    with _LOCK:
        # what was used last is still in the cache
        for k in range(len(_SPARE) - 1, -1, -1):
            if size <= len(_SPARE[k]) <= 2 * size and _is_free(k):
                _SPARE.append(_SPARE.pop(k))
                return _SPARE[-1]
        _SPARE.append(np.empty(size, np.uint8))
        while sum(map(len, _SPARE)) > KEPT:
            del _SPARE[0]
        return _SPARE[-1]


def _is_free(k: int) -> bool:
    """Whether the list alone holds it: every view of an array holds on to the array whose memory it is."""
    return sys.getrefcount(_SPARE[k]) == _ALONE


def _references() -> int:
    """What `_is_free` counts for an array that only a list holds."""
    one = [np.empty(1, np.uint8)]
    return sys.getrefcount(one[0])


_ALONE = _references()
