"""Random arms of each family, as robots, and what is asked of their inverse kinematics."""

import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3, so3

LOAD = inertia.point(1.0, (0.0, 0.0, 0.1))


class Line:
    """An axis at zero configuration: a turn about h through o, or a slide along h."""

    def __init__(self, rng, turns=True, h=None, o=None):
        h = rng.normal(size=3) if h is None else np.asarray(h, dtype=float)
        self.turns, self.h = turns, h / np.linalg.norm(h)
        self.o = rng.uniform(-1, 1, 3) if o is None else o


def robot_of(lines, rng, name="arm"):
    """The robot with these axes in the world, with a frame `tip` somewhere behind the last."""
    builder, parent, before = mr.Builder(name), "world", np.zeros(3)
    for k, line in enumerate(lines):
        joint = mr.Revolute(tuple(line.h)) if line.turns else mr.Prismatic(tuple(line.h))
        builder.body(f"link{k}", LOAD, parent=parent, joint=joint, at=se3.pose(None, line.o - before))
        parent, before = f"link{k}", line.o
    R = so3.about(np.array([0.6, 0.0, 0.8]), np.array(rng.uniform(-3, 3)))
    builder.frame("tip", parent, se3.pose(R, rng.uniform(-0.5, 0.5, 3)))
    return builder.build()


def _wrist(rng):
    o = rng.uniform(-1, 1, 3)
    return [Line(rng, o=o) for _ in range(3)]


def _across(h, rng):
    return np.cross(h, rng.normal(size=3))


def _wrist_across(rng):
    o, h = rng.uniform(-1, 1, 3), _across(rng.normal(size=3), rng)
    return [Line(rng, h=_across(h, rng), o=o), Line(rng, h=h, o=o), Line(rng, h=_across(h, rng), o=o)]


def last_parallel_wrist_across(rng):
    return [*last_parallel(rng)[:3], *_wrist_across(rng)]


def _three(kinds):
    return lambda rng: [Line(rng, kind == "R") for kind in kinds] + _wrist(rng)


def last_parallel(rng):
    first, second = Line(rng), Line(rng)
    return [first, second, Line(rng, h=rng.choice([-1, 1]) * second.h), *_wrist(rng)]


def first_parallel(rng):
    first, last = Line(rng), Line(rng)
    return [first, Line(rng, h=rng.choice([-1, 1]) * first.h), last, *_wrist(rng)]


def first_meet(rng):
    first = Line(rng)
    return [first, Line(rng, o=first.o + rng.uniform(-1, 1) * first.h), Line(rng), *_wrist(rng)]


def last_meet(rng):
    second = Line(rng)
    return [Line(rng), second, Line(rng, o=second.o + rng.uniform(-1, 1) * second.h), *_wrist(rng)]


def slide_across(rng):
    second = Line(rng)
    return [Line(rng, False, _across(second.h, rng)), second, Line(rng), *_wrist(rng)]


def slide_between_across(rng):
    first = Line(rng)
    return [first, Line(rng, False, _across(first.h, rng)), Line(rng), *_wrist(rng)]


def parallel_and_meeting(rng):
    middle, wrist = _middle(rng), Line(rng)
    return [Line(rng), *middle, wrist, Line(rng, o=wrist.o + rng.uniform(-1, 1) * wrist.h)]


def parallel_and_parallel(rng):
    middle, wrist = _middle(rng), Line(rng)
    return [Line(rng), *middle, wrist, Line(rng, h=wrist.h)]


def parallel(rng):
    return [Line(rng), *_middle(rng), Line(rng), Line(rng)]


def _middle(rng):
    first = Line(rng)
    return [first, Line(rng, h=-first.h), Line(rng, h=rng.choice([-1, 1]) * first.h)]


def outer_parallel(relation):
    """Axes 1, 2, 3 parallel, and two of the others as the relation says."""

    def make(rng):
        first, (a4, a5, a6) = Line(rng), (Line(rng) for _ in range(3))
        wrists = {
            "5 and 6 meet": lambda: [a4, a5, Line(rng, o=a5.o + rng.uniform(-1, 1) * a5.h)],
            "4 and 5 meet": lambda: [Line(rng, o=a5.o + rng.uniform(-1, 1) * a5.h), a5, a6],
            "5 and 6 parallel": lambda: [a4, a5, Line(rng, h=rng.choice([-1, 1]) * a5.h)],
            "4 and 5 parallel": lambda: [Line(rng, h=rng.choice([-1, 1]) * a5.h), a5, a6],
        }
        return [first, Line(rng, h=-first.h), Line(rng, h=rng.choice([-1, 1]) * first.h), *wrists[relation]()]

    return make


def three_slides(rng):
    kinds = rng.permutation([True, True, True, False, False, False])
    return [Line(rng, bool(turns)) for turns in kinds]


FAMILIES = {
    "wrist": _three("RRR"),
    "wrist, 2 and 3 parallel": last_parallel,
    "wrist across, 2 and 3 parallel": last_parallel_wrist_across,
    "wrist, 1 and 2 parallel": first_parallel,
    "wrist, 1 and 2 meet": first_meet,
    "wrist, 2 and 3 meet": last_meet,
    **{f"wrist, {kinds}": _three(kinds) for kinds in ("PRR", "RPR", "RRP", "PPR", "RPP", "PRP", "PPP")},
    "wrist, PRR across": slide_across,
    "wrist, RPR across": slide_between_across,
    "2, 3, 4 parallel, 5 and 6 meet": parallel_and_meeting,
    "2, 3, 4 parallel, 5 and 6 parallel": parallel_and_parallel,
    "2, 3, 4 parallel": parallel,
    **{
        f"1, 2, 3 parallel, {relation}": outer_parallel(relation)
        for relation in ("5 and 6 meet", "4 and 5 meet", "5 and 6 parallel", "4 and 5 parallel")
    },
    "three turns, three slides": three_slides,
}


def lines_of(relations, rng, kinds=None, ways=(1,)):
    """Random axes, each as it lies to the one before: skew (g), parallel (p) in one of the ways, meeting it (i), through the point
    where the two before met (c); turns, or as the kinds say."""
    kinds = kinds or "R" * (len(relations) + 1)
    found, centre = [Line(rng, kinds[0] == "R")], None
    for relation, kind in zip(relations, kinds[1:], strict=True):
        last = found[-1]
        if relation == "i":
            centre = last.o + rng.uniform(-1, 1) * last.h
        h = rng.choice(ways) * last.h if relation == "p" else None
        found.append(Line(rng, kind == "R", h, centre if relation in "ic" else None))
    return found


def random_arm(family, rng):
    """A robot of a family, seen from its base or from its tip."""
    lines = FAMILIES[family](rng)
    return robot_of(lines if rng.random() < 0.5 else lines[::-1], rng, family)


def wrapped(q, turning=True):
    """Angles in (-pi, pi]."""
    return np.where(turning, np.pi - (np.pi - q) % (2 * np.pi), q)


def turning(robot):
    return np.array([j.kind == "revolute" for j in robot.joints])


def distance_to_own(robot, found, q):
    """How far the solution nearest to q is from it, in the worst coordinate, for each goal."""
    apart = np.abs(wrapped(found.q - q[..., None, :], turning(robot))).max(axis=-1)
    return np.where(np.isnan(apart), np.inf, apart).min(axis=-1)


def closest_pair(robot, found):
    """The least distance of two solutions of one goal, in the worst coordinate."""
    apart = np.abs(wrapped(found.q[..., :, None, :] - found.q[..., None, :, :], turning(robot))).max(axis=-1)
    k = np.arange(apart.shape[-1])
    apart[..., k, k] = np.inf
    return np.where(np.isnan(apart), np.inf, apart).min()


def pose_error(robot, frame, found, X):
    """The largest distance of a solution from its pose, in m and as a difference of rotation matrices."""
    good = ~np.isnan(found.q).any(axis=-1)
    there = robot.frame_pose(np.where(good[..., None], found.q, 0.0), frame)
    return np.abs(there - X[..., None, :, :])[good].max()
