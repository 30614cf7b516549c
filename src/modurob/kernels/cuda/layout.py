"""A mechanism as the tables that a GPU walks: a row for each joint in depth-first order, and its constants."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from modurob.algorithms.program import Program
from modurob.kernels.anatomy import anatomy
from modurob.kernels.cuda.lean import Area, lean_code
from modurob.kernels.dyad import DyadType
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# as in cuda.h
LOADS, SAVES, TIP, TAKES_CARRIED, TAKES_SLOT, PUTS, ADDS, STARTS = (1 << k for k in range(8))
TYPE, FLAGS, OWN, CONSTANTS, Q, RATE, BODY, ITS_OWN, PARENT, SAVED, TAKE, PUT, ROW = range(13)


ROWS_AT_ONCE = 6  # whose inputs are asked for before the first arrives


def row_count(joints: int) -> int:
    """Rows of a table: one before the first joint's, and after the last at least one, up to a whole number of `ROWS_AT_ONCE`."""
    return 1 + ROWS_AT_ONCE * (joints // ROWS_AT_ONCE + 1)


@dataclass(frozen=True, eq=False)
class Course:
    """The bodies of a tree in the order that they are walked in, and what becomes of what they send."""

    order: list[int]  # bodies, 1, 2, ...
    flags: list[int]
    take: list[int]  # slot that a body receives in, -1: none
    put: list[int]  # slot that it sends to, -1: none
    slots: int


def course_of(parent: tuple[int, ...]) -> Course:
    """Depth first. Of the branches of a body the one that needs most slots comes last, so that few are needed at a time.

    Inward, bodies are visited from the last to the first: what the next body sent is at hand, what came earlier stands in a slot.
    """
    order = _depth_first(parent)
    place = {body: k for k, body in enumerate(order)}
    n = len(order)
    flags, take, put = [0] * n, [-1] * n, [-1] * n
    of: dict[int, int] = {}
    free: list[int] = []
    count = 0
    for k in range(n - 1, -1, -1):
        body, p = order[k], parent[order[k]]
        flags[k] |= 0 if flags[k] & TAKES_CARRIED else TIP
        if body in of:
            take[k], flags[k] = of[body], flags[k] | TAKES_SLOT
            free.append(of.pop(body))
        follows = k > 0 and order[k - 1] == p
        if p and follows:
            flags[place[p]] |= TAKES_CARRIED
        elif p:
            if p in of:
                flags[k] |= ADDS
            else:
                of[p], count = (free.pop(), count) if free else (count, count + 1)
            put[k], flags[k] = of[p], flags[k] | PUTS
        if p:
            flags[place[p]] |= 0 if follows else SAVES
        flags[k] |= 0 if follows or k == 0 else LOADS if p else LOADS | STARTS
    return Course(order, flags, take, put, count)


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

    def table(self, types: dict[DyadType, int]) -> tuple[Array, Array]:
        """Rows and constants with types by number; first and last row again at the ends, the world's constants first."""
        rows, n = self.rows.copy(), len(self.kinds)
        rows[:, TYPE] = [types[kind] for kind in self.kinds]
        lengths = [len(self.world), *(len(c) for c in self.constants)]
        rows[:, CONSTANTS] = np.cumsum(lengths)[:-1]
        return rows[np.arange(-1, row_count(n) - 1).clip(0, n - 1)], np.concatenate([self.world, *self.constants])

    def bytes(self, item: int) -> int:
        """Of the table, with numbers of so many bytes."""
        return item * (len(self.world) + sum(map(len, self.constants))) + 4 * ROW * row_count(len(self.kinds))


class _Room:
    """Scratch of two kinds: so many words of shared memory, and as many as one likes after them. No field is in both."""

    def __init__(self, near: int):
        self.most, self.near, self.far = near, 0, near

    def take(self, words: int) -> int:
        """Where so many words stand."""
        if self.near + words <= self.most:
            self.near += words
            return self.near - words
        self.far += words
        return self.far - words

    @property
    def near_and_all(self) -> tuple[int, int]:
        """Words of shared memory, and of both kinds."""
        return (self.near, self.near) if self.far == self.most else (self.most, self.far)


def common(kind: DyadType) -> DyadType:
    """The type, whether or not a joint adds to what is there: that is in its row."""
    return replace(kind, adds=False)


# more words than any robot takes
EVERY = 1 << 24


@lru_cache(maxsize=4096)
def laid(m: Tables, program: Program, near: int = EVERY, fetches: bool = False) -> Laid:
    """A program laid out for a mechanism: first in the scratch stand the slots, then the bodies."""
    a, course, area = anatomy(m), course_of(m.parent), Area(program)
    every = [common(kind) for kind in a.kinds]
    kinds = [every[body - 1] for body in course.order]
    codes = [lean_code(kind, program, fetches)[1] for kind in kinds]
    saved, sent, room = area.width("shared"), area.width("sent"), _Room(near)
    own, at = {}, {0: 0}  # where the fields of bodies stand, and where they save what children read
    slots = [room.take(sent) for _ in range(course.slots)] or [0]
    for body, code, flags in zip(course.order, codes, course.flags, strict=True):
        saves = saved if flags & SAVES else 0
        own[body] = room.take(max(code.size, saves) if area.overlaps else code.size + saves)
        at[body] = own[body] if area.overlaps else own[body] + code.size
    # a joint without coordinates reads none, but is given one
    q_starts, v_starts = np.minimum(a.q_starts, m.nq - 1), np.minimum(a.v_starts, m.nv - 1)
    rows = np.array(
        [
            (
                0,
                course.flags[k],
                own[b],
                0,
                q_starts[b - 1],
                v_starts[b - 1],
                b - 1,
                own[b],
                at[m.parent[b]],
                at[b],
                slots[max(0, course.take[k])],
                slots[max(0, course.put[k])],
            )
            for k, b in enumerate(course.order)
        ],
        dtype=np.int32,
    ).reshape(-1, ROW)
    world = program.world(m)
    shared = [np.ravel(world[name]) for name in program.shared]
    table = a.rows([lean_code(kind, program, fetches)[1] for kind in every], False)
    constants = [table[b - 1] for b in course.order]
    whole = np.concatenate([np.zeros(0), *shared])
    # constants of joints begin at multiples of four
    return Laid(kinds, rows, constants, np.pad(whole, (0, -len(whole) % 4)), *room.near_and_all)
