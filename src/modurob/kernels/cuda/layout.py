"""A mechanism as the tables that a GPU walks: a row for each joint in depth-first order, and its constants."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from modurob.algorithms.program import Program
from modurob.kernels.anatomy import anatomy
from modurob.kernels.cuda.lean import Area, idle_before_inward, lean_code
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


class Room:
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


class Slots:
    """Where the sums stand that bodies receive from branches, each from the first branch that sends to the body's own visit.

    Words of bodies that hold nothing before the inward pass comes to them serve until it does; where these do not suffice there are
    slots of their own.
    """

    def __init__(self, course: Course, size: int, room: Room):
        self.course, self.size, self.room = course, size, room
        self.owner: dict[int, int] = {}  # idle words, and the place in the order of the body that they belong to
        self.spare: list[int] = []  # slots of their own that are free

    def lend(self, k: int, start: int, words: int) -> None:
        """The words of the body at place k are idle until the inward pass comes there."""
        self.owner |= dict.fromkeys(range(start, start + words), k)

    def places(self) -> dict[int, int]:
        """Where the slot of each body that receives from branches begins."""
        place = {body: k for k, body in enumerate(self.course.order)}
        found, taken = {}, set()
        for body, p in zip(reversed(self.course.order), reversed(self.course.put), strict=True):
            if body in found:
                self._free(found[body], taken)
            if p > 0 and p not in found:
                found[p] = self._fitting(place[p], taken)
                taken |= self._words(found[p])
        return found

    def _words(self, start: int) -> set[int]:
        return set(range(start, start + self.size))

    def _free(self, start: int, taken: set[int]) -> None:
        taken -= self._words(start)
        if start not in self.owner:
            self.spare.append(start)

    def _fitting(self, k: int, taken: set[int]) -> int:
        """The last idle words that are free until place k, since those before serve bodies before it; else a slot of its own."""
        run = 0
        for word in sorted(self.owner, reverse=True):
            free = self.owner[word] <= k and word not in taken
            follows = run and word + 1 in self.owner and word + 1 != self.room.most
            run = (run + 1 if follows else 1) if free else 0
            if run == self.size:
                return word
        return self.spare.pop() if self.spare else self.room.take(self.size)


def _scratch(
    program: Program, course: Course, sizes: list[int], idle: list[bool], near: int, ahead: int | None = None
) -> tuple[dict[int, int], dict[int, int], dict[int, int], Room]:
    """Where the fields of bodies stand, where they save what children read, where their slots are, and the room of all.

    Slots of their own stand first. How many there are is known when bodies and slots have been placed once.
    """
    area = Area(program)
    saved, sent, room = area.width("shared"), area.width("sent"), Room(EVERY if ahead is None else near)
    own, at, slots = {}, {0: 0}, Slots(course, sent, room)
    slots.spare = [room.take(sent) for _ in range(ahead or 0)]
    for k, (body, size, flags) in enumerate(zip(course.order, sizes, course.flags, strict=True)):
        saves = saved if flags & SAVES else 0
        words = max(size, saves) if area.overlaps else size + saves
        own[body] = room.take(words)
        at[body] = own[body] if area.overlaps else own[body] + size
        if idle[k]:
            slots.lend(k, own[body], words)
    bodies = room.near
    places = slots.places()
    if ahead is None:
        return _scratch(program, course, sizes, idle, near, (room.near - bodies) // max(1, sent))
    return own, at, places, room


@lru_cache(maxsize=4096)
def laid(m: Tables, program: Program, near: int = EVERY, fetches: bool = False, waves: bool = True) -> Laid:
    """A program laid out for a mechanism: the scratch of its bodies, and slots for what branches send."""
    a, course = anatomy(m), course_of(m.parent)
    every = [common(kind) for kind in a.kinds]
    kinds = [every[body - 1] for body in course.order]
    sizes = [lean_code(kind, program, fetches, waves)[1].size for kind in kinds]
    # where the way back begins something is kept until then
    idle = [
        idle_before_inward(kind, program, fetches, waves) and not flags & TIP
        for kind, flags in zip(kinds, course.flags, strict=True)
    ]
    own, at, slots, room = _scratch(program, course, sizes, idle, near)
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
                slots.get(b, 0),
                slots.get(course.put[k], 0),
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
    return Laid(kinds, rows, constants, np.pad(whole, (0, -len(whole) % 4)), *room.near_and_all)
