"""A mechanism as the tables that a GPU walks: a row for each joint in depth-first order, and its constants."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from modurob.algorithms.program import Outward, Program
from modurob.kernels.anatomy import anatomy
from modurob.kernels.cuda.lean import Area, lean_code, own_words, recomputed
from modurob.kernels.cuda.scratch import EVERY, Field, Part, placed
from modurob.kernels.dyad import DyadType
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# as in cuda.h
LOADS, SAVES, TIP, TAKES_CARRIED, TAKES_SLOT, PUTS, ADDS, STARTS = (1 << k for k in range(8))
TYPE, FLAGS, OWN, CONSTANTS, Q, RATE, BODY, ITS_OWN, PARENT, SAVED, TAKE, PUT, ROW = range(13)
PLACES = [OWN, ITS_OWN, PARENT, SAVED, TAKE, PUT]


ROWS_AT_ONCE = 6  # whose inputs are asked for before the first arrives


def row_count(joints: int) -> int:
    """Rows of a table: one before the first joint's, and after the last at least one, up to a whole number of `ROWS_AT_ONCE`."""
    return 1 + ROWS_AT_ONCE * (joints // ROWS_AT_ONCE + 1)


@dataclass(frozen=True, eq=False)
class Course:
    """The bodies of a tree in the order that they are walked in, and what becomes of what they send."""

    order: list[int]  # bodies, 1, 2, ...
    flags: list[int]
    put: list[int]  # the body whose slot a body sends to, -1: none


def course_of(parent: tuple[int, ...]) -> Course:
    """Depth first. Of the branches of a body the one that needs most slots comes last, so that few are needed at a time.

    Inward, bodies are visited from the last to the first: what the next body sent is at hand, what came earlier stands in a slot.
    """
    order = _depth_first(parent)
    place = {body: k for k, body in enumerate(order)}
    n = len(order)
    flags, put = [0] * n, [-1] * n
    for k in range(n - 1, -1, -1):
        p, follows = parent[order[k]], k > 0 and order[k - 1] == parent[order[k]]
        flags[k] |= 0 if flags[k] & TAKES_CARRIED else TIP
        flags[k] |= 0 if follows or k == 0 else LOADS if p else LOADS | STARTS
        if p and follows:
            flags[place[p]] |= TAKES_CARRIED
        elif p:
            flags[k] |= PUTS | (ADDS if flags[place[p]] & TAKES_SLOT else 0)
            flags[place[p]] |= TAKES_SLOT | SAVES
            put[k] = p
    return Course(order, flags, put)


def _depth_first(parent: tuple[int, ...]) -> list[int]:
    children: list[list[int]] = [[] for _ in parent]
    for i in range(1, len(parent)):
        children[parent[i]].append(i)
    need = [0] * len(parent)
    for i in range(len(parent) - 1, -1, -1):
        children[i].sort(key=lambda c: need[c])
        needs = [need[c] for c in children[i]]
        need[i] = max([0, *needs[-1:], *(1 + x for x in needs[:-1])])
    order, stack = [], [0]
    while stack:
        i = stack.pop()
        order.append(i)
        stack += reversed(children[i])
    return order[1:]


@dataclass(frozen=True, eq=False)
class Laid:
    """The tables of a mechanism: words of scratch a state takes, and for each joint its type, row and constants."""

    kinds: list[DyadType]
    rows: Array  # (joints, ROW), types to be filled in
    constants: list[Array]
    world: Array  # shared fields of the world
    near: int  # words in the memory that a block shares; the others come after them
    words: int

    def table(self, types: dict[DyadType, int], word_bytes: int) -> tuple[Array, Array]:
        """Rows and constants with types by number; first and last row again at the ends, the world's constants first.

        Places are in bytes, where the words of a state are so many apart: from the first word of shared memory or, if they are odd,
        from a byte before the first of the others.
        """
        rows, n = self.rows.copy(), len(self.kinds)
        words, far = rows[:, PLACES], rows[:, PLACES] >= self.near
        rows[:, PLACES] = word_bytes * (words - self.near * far) + far
        rows[:, TYPE] = [types[kind] for kind in self.kinds]
        lengths = [len(self.world), *(len(c) for c in self.constants)]
        rows[:, CONSTANTS] = np.cumsum(lengths)[:-1]
        return rows[np.arange(-1, row_count(n) - 1).clip(0, n - 1)], np.concatenate([self.world, *self.constants])

    def bytes(self, item: int) -> int:
        """Of the table, with numbers of so many bytes."""
        return item * (len(self.world) + sum(map(len, self.constants))) + 4 * ROW * row_count(len(self.kinds))


def common(kind: DyadType) -> DyadType:
    """The type, whether or not a joint adds to what is there: that is in its row."""
    return replace(kind, adds=False)


class Clock:
    """The time of each step of a program on a tree of some joints: what is at hand before it, the step, and what it leaves."""

    def __init__(self, program: Program, joints: int):
        self.passes, self.joints = program.passes, joints

    def __call__(self, k: int, place: int) -> int:
        """Of pass k at the body at a place in the order; before the first pass 0."""
        outward = isinstance(self.passes[k], Outward)
        return 2 + 3 * (k * self.joints + (place if outward else self.joints - 1 - place))

    def of(self, outward: bool) -> list[int]:
        """The passes that go so."""
        return [k for k, walk in enumerate(self.passes) if isinstance(walk, Outward) == outward]


def _own(clock: Clock, place: int, words: Sequence[Sequence[tuple[int, int]]]) -> Field:
    """A body's own fields, by the passes in which each word is in use; -1: before the first."""
    parts, start = [], 0
    for uses, alike in groupby(words):
        n = len(list(alike))
        parts += [Part(start, n, *(clock(k, place) if k >= 0 else 0 for k in use)) for use in uses]
        start += n
    return Field(tuple(parts), 2 * sum(p.words for p in parts))


def _saved(clock: Clock, program: Program, place: int, flags: int, readers: Sequence[int]) -> Field:
    """What a body saves: for children that do not follow at once, or, where it carries nothing, for the way back."""
    area, again, parts = Area(program), recomputed(program).from_, []
    if flags & SAVES:
        for k in clock.of(outward=True):
            words = area.places(area.produced(k))
            if words:
                span = clock(k, place) + 1, clock(k, max(readers)) - 1
                parts.append(Part(words[0], words[-1] + 1 - words[0], *span))
    elif again:
        words, back = area.places([again]), clock.of(outward=False)
        parts.append(Part(words[0], len(words), clock(0, place) + 1, clock(back[-1], place) - 1))
    return Field(tuple(parts), (1 + max(1, len(readers))) * sum(p.words for p in parts))


def _received(clock: Clock, program: Program, place: int, senders: Sequence[int]) -> Field:
    """The sums that a body receives from branches, from the first that sends to its own visit."""
    words = Area(program).width("sent")
    spans = [(clock(k, max(senders)) + 1, clock(k, place) - 1) for k in clock.of(outward=False)]
    return Field(tuple(Part(0, words, *span) for span in spans), 2 * words * len(senders) * len(spans))


class Scratch(NamedTuple):
    """Where bodies stand: their own fields, what they save, and what they receive from branches."""

    own: dict[int, int]
    saved: dict[int, int]
    slots: dict[int, int]
    near: int
    words: int


def _scratch(
    program: Program,
    course: Course,
    words: Sequence[Sequence[Sequence[tuple[int, int]]]],
    near: int,
    busiest: bool,
) -> Scratch:
    """The scratch of a state, with each body's own words."""
    clock, at = Clock(program, len(course.order)), {body: k for k, body in enumerate(course.order)}
    senders: dict[int, list[int]] = {}
    for k, p in enumerate(course.put):
        senders.setdefault(p, []).append(k)
    fields: dict[tuple[str, int], Field] = {}
    for body, k in at.items():
        fields["own", body] = _own(clock, k, words[k])
        if course.flags[k] & (SAVES | TIP):
            fields["saved", body] = _saved(clock, program, k, course.flags[k], senders.get(body, []))
        if body in senders and clock.of(outward=False):
            fields["slots", body] = _received(clock, program, k, senders[body])
    starts, *room = placed(list(fields.values()), near, busiest)
    found: dict[str, dict[int, int]] = {"own": {}, "saved": {}, "slots": {}}
    for (what, body), start in zip(fields, starts, strict=True):
        found[what][body] = start
    return Scratch(found["own"], found["saved"], found["slots"], *room)


@lru_cache(maxsize=4096)
def laid(
    m: Tables, program: Program, near: int = EVERY, fetches: bool = False, waves: bool = True, busiest: bool = True
) -> Laid:
    """A program laid out for a mechanism: the scratch of its bodies, and slots for what branches send."""
    a, course = anatomy(m), course_of(m.parent)
    every = [common(kind) for kind in a.kinds]
    kinds = [every[body - 1] for body in course.order]
    words = [own_words(kind, program, fetches, waves) for kind in kinds]
    scratch = _scratch(program, course, words, near, busiest)
    # a joint without coordinates reads none, but is given one
    q_starts, v_starts = np.minimum(a.q_starts, m.nq - 1), np.minimum(a.v_starts, m.nv - 1)
    rows = np.array(
        [
            (
                0,
                course.flags[k] | len(words[k]) << 8,
                scratch.own[b],
                0,
                q_starts[b - 1],
                v_starts[b - 1],
                b - 1,
                scratch.own[b],
                scratch.saved.get(m.parent[b], 0),
                scratch.saved.get(b, 0),
                scratch.slots.get(b, 0),
                scratch.slots.get(course.put[k], 0),
            )
            for k, b in enumerate(course.order)
        ],
        dtype=np.int32,
    ).reshape(-1, ROW)
    world = program.world(m)
    shared = [np.ravel(world[name]) for name in program.shared]
    table = a.rows([lean_code(kind, program, fetches, waves)[1] for kind in every], False)
    constants = [table[b - 1] for b in course.order]
    whole = np.concatenate([np.zeros(0), *shared])
    # constants of joints begin at multiples of four
    return Laid(kinds, rows, constants, np.pad(whole, (0, -len(whole) % 4)), scratch.near, scratch.words)
