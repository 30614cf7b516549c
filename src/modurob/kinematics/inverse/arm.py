"""A chain, what its goal leaves free, and how it is solved: in closed form, by an eigenproblem, or neither."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modurob.caching import cached_property
from modurob.kinematics.inverse import families, general
from modurob.kinematics.inverse.axes import Axis, Chain, Motion, axis, independent, meeting_point, motions, parallel
from modurob.kinematics.inverse.families import Way
from modurob.kinematics.inverse.finish import Candidates
from modurob.kinematics.inverse.general import Pencil
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# what a joint of a chain stands for, where it is no coordinate of the robot
LEFT_FREE, HELD = -1, -2
# how far the axes of a closed form may be from the true ones without Newton's method
EXACT = 1e-13


# what an eigenproblem solves, by the number of slides
GENERAL = ("general 6R", "general 5R1P", "general 4R2P")


@dataclass(frozen=True, eq=False)
class Arm:
    """A chain of six joints with lengths over its size, and how it is solved.

    Joints that the goal leaves free and joints that must stay at zero are among them, as `at` says.
    """

    chain: Chain
    size: float  # [m]
    way: Way | None
    pencils: tuple[Pencil, ...]

    @cached_property
    def moving(self) -> list[int]:
        """The places of all joints but those held at zero."""
        return [k for k, at in enumerate(self.chain.at) if at != HELD]

    @cached_property
    def solved(self) -> tuple[Axis, ...]:
        """Their axes."""
        return tuple(self.chain.axes[k] for k in self.moving)

    @cached_property
    def at(self) -> tuple[int, ...]:
        """Their coordinates in q."""
        return tuple(self.chain.at[k] for k in self.moving)

    @cached_property
    def lengths(self) -> Array:
        """The size for slides, one for turns, (n,)."""
        return np.array([1.0 if a.turns else self.size for a in self.solved])

    def motion_to(self, X: Array) -> Array:
        """E_1 ... E_n for poses X of the frame in the base, (..., 4, 4), lengths over the size."""
        return over(X, self.size) @ se3.inverse(self.chain.X0)

    @cached_property
    def deviation(self) -> float:
        """How far the motion of the axes that a closed form solves is from that of the true ones, at some configurations."""
        if self.way is None:
            return 0.0
        q = np.random.default_rng(0).uniform(-np.pi, np.pi, (8, 6))
        return float(np.abs(motions(self.way.axes, q) - motions(self.chain.axes, q)).max())

    @cached_property
    def checks(self) -> tuple[Pencil, ...]:
        """Pencils of six turns that are of a family only nearly, for poses where its closed form starts too far off."""
        nearly = self.way is not None and self.deviation > EXACT and all(a.turns for a in self.chain.axes)
        return tuple(general.pencils(self.chain.axes, np.random.default_rng(0))) if nearly else self.pencils

    @property
    def family(self) -> str:
        """In words."""
        return self.way.name if self.way else GENERAL[_slide_count(self.chain)]

    def candidates(self, T: Array) -> tuple[Candidates, Array | None]:
        """Candidates of all six joints for motions T, (m, 4, 4); of the eigenproblem also how many solutions there should be, -1
        where that is not known."""
        if self.way is not None:
            return closed_form(self.way, T), None
        found = general.solve(self.pencils, T)
        return found.candidates, np.where(found.regular, found.real, -1)


def over(X: Array, size: float) -> Array:
    """Poses with lengths over a size."""
    return se3.pose(se3.rotation(X), se3.position(X) / size)


def closed_form(way: Way, T: Array) -> Candidates:
    """All candidates of a closed form, (m, k, n)."""
    found = list(way.solve(way.axes, Motion(T, se3.IDENTITY, way.axes)))
    lead = T.shape[:-2]
    of = lambda name, t: np.broadcast_to(getattr(t, name), lead)  # noqa: E731
    with np.errstate(all="ignore"):
        q = np.stack([np.stack([of("value", t) for t in one], axis=-1) for one in found], axis=-2)
        room = np.stack([np.min([of("room", t) for t in one], axis=0) for one in found], axis=-1)
        lever = np.stack([np.min([of("lever", t) for t in one], axis=0) for one in found], axis=-1)
    # candidates at infinity are none
    return Candidates(q, np.where(np.isfinite(q).all(axis=-1), room, -np.inf), lever)


def arm_of(chain: Chain) -> Arm | None:
    """How a chain of at most six joints is solved; None if it is not, as where joints move without moving the tip."""
    size = chain.size
    chain = commuted(chain.scaled(1 / size))
    if not independent(chain.axes):
        return None
    best: Arm | None = None
    least = 2
    others: list[Chain] = []
    for full in filter(lambda c: independent(c.axes), completed(chain)):
        way = families.way_of(full.axes, 1.0)
        if way is not None and families.effort(way) < least:
            best, least = Arm(full, size, way, ()), families.effort(way)
        if least == 0:
            break
        if _slide_count(full) <= 2:
            others.append(full)
    return best or next(filter(None, (_general(full, size) for full in sorted(others, key=_slide_count))), None)


def _slide_count(chain: Chain) -> int:
    return sum(not a.turns for a in chain.axes)


def _general(chain: Chain, size: float) -> Arm | None:
    """Six turns, or five or four and slides, by their eigenproblem; None if it is singular."""
    pencils = tuple(general.pencils(chain.axes, np.random.default_rng(0)))
    return Arm(chain, size, None, pencils) if pencils else None


def commuted(chain: Chain) -> Chain:
    """The same chain with slides before turns about axes along them: the two commute."""
    axes, at = list(chain.axes), list(chain.at)
    for k in range(1, len(axes)):
        i = k
        while i and not axes[i].turns and axes[i - 1].turns and parallel(axes[i], axes[i - 1]):
            axes[i - 1 : i + 1], at[i - 1 : i + 1] = axes[i - 1 : i + 1][::-1], at[i - 1 : i + 1][::-1]
            i -= 1
    return Chain(tuple(axes), chain.X0, tuple(at))


# ---- fewer joints than six ----


def completed(chain: Chain) -> Iterator[Chain]:
    """Chains of six joints, whose joints behind or before those of the chain must stay at zero."""
    yield from _lengthened(chain)
    if len(chain.axes) < 6:
        from_tip = Chain(tuple(a.reversed() for a in chain.axes[::-1]), se3.IDENTITY, chain.at[::-1])
        for full in _lengthened(from_tip):
            yield Chain(tuple(a.reversed() for a in full.axes[::-1]), chain.X0, full.at[::-1])


def _lengthened(chain: Chain) -> Iterator[Chain]:
    """With slides before the chain and turns behind it."""
    missing = 6 - len(chain.axes)
    for turns in range(min(missing, 3), -1, -1):
        for front in _slides(chain, missing - turns):
            for behind in _turns(chain, turns):
                yield _with(chain, front, behind)


def _with(chain: Chain, front: Sequence[Axis], behind: Sequence[Axis]) -> Chain:
    held = [HELD] * len(front), [HELD] * len(behind)
    return Chain((*front, *chain.axes, *behind), chain.X0, (*held[0], *chain.at, *held[1]))


def _triple(o: Array) -> list[Axis]:
    return [axis(True, h, o) for h in np.eye(3)]


def _slides(chain: Chain, count: int) -> list[list[Axis]]:
    """Directions along which the chain may lack a slide: along and across its own axes."""
    if count == 0:
        return [[]]
    if count > 2:
        return []
    frames = [np.stack([np.cross(a.h, a.u), a.u, a.h]) for a in chain.axes] or [np.eye(3)]
    if count == 1:
        return [[axis(False, h, np.zeros(3))] for F in frames for h in F[::-1]]
    return [[axis(False, F[i], np.zeros(3)), axis(False, F[j], np.zeros(3))] for F in frames for i, j in PAIRS]


PAIRS = ((2, 1), (2, 0), (0, 1))


def _turns(chain: Chain, count: int) -> list[list[Axis]]:
    """Axes behind the last: such that they meet the chain's last axes in a point, or through the tip."""
    turning, tip = [a for a in chain.axes if a.turns], se3.position(chain.X0)
    if count == 0:
        return [[]]
    if count == 3:
        return [_triple(tip)]
    last = turning[-1] if turning else axis(True, np.eye(3)[2], tip)
    foot = last.o + (last.h @ (tip - last.o)) * last.h
    sides = [axis(True, h, o) for o in (foot, tip) for h in (last.u, np.cross(last.h, last.u))]
    if count == 2:
        return [sides[:2], sides[2:], [sides[0], axis(True, np.eye(3)[0], tip)]]
    found = [[s] for s in sides] + [[axis(True, se3.rotation(chain.X0)[:, k], tip)] for k in range(3)]
    centre = meeting_point(turning[-2:], 1.0) if len(turning) > 1 else None
    if centre is not None:
        normal = np.cross(turning[-2].h, last.h)
        found.insert(0, [axis(True, normal / np.linalg.norm(normal), centre)])
    return found


# ---- what a goal leaves free ----


def freed(chain: Chain, goal: str) -> Chain:
    """The chain with the joints that a goal leaves free: "pose" none, "point" any turn, "x", "y", "z" a turn about that axis of
    the frame."""
    if goal == "pose":
        return chain
    o, R = se3.position(chain.X0), se3.rotation(chain.X0)
    free = _triple(o) if goal == "point" else [axis(True, R[:, "xyz".index(goal)], o)]
    return Chain((*chain.axes, *free), chain.X0, (*chain.at, *(LEFT_FREE for _ in free)))
