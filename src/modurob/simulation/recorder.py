"""Rows of numbers written down as they come."""

from collections.abc import Mapping

import numpy as np

from modurob.spatial.scalars import Array

# rows that there is room for at first
_ROOM = 1024


class Recorder:
    """Channels by name, a row a tick."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def add(self, row: Mapping[str, Array]) -> None:
        """Write a row down."""
        for name, x in row.items():
            if self._rows == 0:
                self._arrays[name] = np.empty((_ROOM, *np.shape(x)))
            elif self._rows == len(self._arrays[name]):
                self._arrays[name] = np.concatenate([self._arrays[name], np.empty_like(self._arrays[name])])
            self._arrays[name][self._rows] = x
        self._rows += 1

    def channels(self, now: Mapping[str, Array]) -> dict[str, Array]:
        """All rows, and a last one with the present values, if it is later; values that are not given stay as they
        were.
        """
        channels = {name: np.array(x[: self._rows]) for name, x in self._arrays.items()}
        if channels and channels["t"][-1] >= now["t"]:
            return channels
        for name, x in now.items():
            last = np.asarray(x)[None]
            channels[name] = np.concatenate([channels[name], last]) if name in channels else np.array(last)
        return {n: x if n in now else np.concatenate([x, x[-1:]]) for n, x in channels.items()}
