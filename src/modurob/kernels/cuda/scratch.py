"""Where what a state keeps between steps stands in its scratch memory: fields that are in use at different times overlap."""

from collections.abc import Sequence
from typing import NamedTuple

# more words than any robot takes
EVERY = 1 << 24


class Part(NamedTuple):
    """Consecutive words of a field, and the first and last time at which they are in use."""

    start: int
    words: int
    first: int
    last: int


class Field(NamedTuple):
    """Words that stand together."""

    parts: tuple[Part, ...]
    traffic: int  # words that are read or written

    @property
    def words(self) -> int:
        """How many there are."""
        return max((p.start + p.words for p in self.parts), default=0)

    @property
    def duration(self) -> int:
        """How long its words are in use, together."""
        return sum(p.words * (p.last - p.first + 1) for p in self.parts)


def placed(fields: Sequence[Field], near: int, busiest: bool = True) -> tuple[list[int], int, int]:
    """Where each field begins, words of shared memory (at most `near`), and words of both kinds.

    In shared memory stand the fields that are read and written most for the time that they are in use, or, if not `busiest`, least.
    The others stand after its last word, the largest first, and so do all if everything is near. No field is in both.
    """
    starts, left = [0] * len(fields), list(range(len(fields)))
    taken: list[Part] = []

    def place(i: int, low: int, high: int) -> bool:
        start = _lowest(fields[i].parts, taken, low)
        if start + fields[i].words > high:
            return False
        starts[i] = start
        taken.extend(p._replace(start=start + p.start) for p in fields[i].parts)
        return True

    if near < EVERY:
        by_use = sorted(left, key=lambda i: fields[i].traffic / max(1, fields[i].duration), reverse=busiest)
        left = [i for i in by_use if not place(i, 0, near)]
    low = near if near < EVERY else 0
    for i in sorted(left, key=lambda i: (-fields[i].words, -fields[i].duration)):
        place(i, low, EVERY)
    words = max((p.start + p.words for p in taken), default=0)
    return (starts, near, words) if near < words and near < EVERY else (starts, words, words)


def _lowest(parts: Sequence[Part], taken: Sequence[Part], low: int) -> int:
    """The first start from `low` on where no part meets, in space and time, what is taken."""
    blocked = sorted(
        (t.start - p.start - p.words, t.start + t.words - p.start)
        for p in parts
        for t in taken
        if p.first <= t.last and t.first <= p.last
    )
    start = low
    for before, after in blocked:
        if start <= before:
            break
        start = max(start, after)
    return start
