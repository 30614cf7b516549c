"""Scratch memory of GPU kernels: what is in use at the same time stands apart, and what is busy stands near."""

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.kernels.cuda.layout import FLAGS, PUT, PUTS, laid
from modurob.kernels.cuda.lean import Area
from modurob.kernels.cuda.scratch import EVERY, Field, Part, placed
from tests.robots import random_mechanism


def random_field(rng: np.random.Generator) -> Field:
    parts, start = [], 0
    for _ in range(rng.integers(1, 4)):
        words, first = int(rng.integers(1, 9)), int(rng.integers(0, 90))
        parts.append(Part(start, words, first, first + int(rng.integers(0, 30))))
        start += int(rng.integers(0, 2)) * words
    return Field(tuple(parts), int(rng.integers(1, 100)))


def used(field: Field, start: int) -> set[tuple[int, int]]:
    """Words and times of a field."""
    return {
        (start + p.start + w, time) for p in field.parts for w in range(p.words) for time in range(p.first, p.last + 1)
    }


@pytest.mark.parametrize("near", [0, 20, EVERY])
@pytest.mark.parametrize("seed", range(5))
def test_fields_do_not_meet(seed: int, near: int) -> None:
    rng = np.random.default_rng(seed)
    fields = [random_field(rng) for _ in range(30)]
    starts, in_shared, words = placed(fields, near, busiest=seed % 2 == 0)
    assert in_shared == min(near, words)
    taken: set[tuple[int, int]] = set()
    for field, start in zip(fields, starts, strict=True):
        own = used(field, start)
        assert not own & taken
        taken |= own
        # none is in both kinds of memory, none beyond the last word
        assert start + field.words <= in_shared or start >= in_shared
        assert 0 <= start <= start + field.words <= words


def test_busy_fields_stand_near() -> None:
    idle, busy = Field((Part(0, 4, 0, 9),), 8), Field((Part(0, 4, 0, 9),), 80)
    assert placed([idle, busy], 4)[0] == [4, 0]
    assert placed([idle, busy], 4, busiest=False)[0] == [0, 4]
    # one after the other they stand in the same words
    later = Field((Part(0, 4, 10, 19),), 8)
    assert placed([idle, busy, later], 4) == ([4, 0, 0], 4, 8)


def test_sums_of_branches_stand_near() -> None:
    robot = random_mechanism(np.random.default_rng(0), 24, ("revolute",))
    near = 2 * Area(FORWARD_DYNAMICS).width("sent")
    tables = laid(robot, FORWARD_DYNAMICS, near, False, False)
    slots = {int(row[PUT]) for row in tables.rows if row[FLAGS] & PUTS}
    assert slots
    assert max(slots) < near < tables.words


def test_a_chain_keeps_six_words_of_a_hinge() -> None:
    aim = np.zeros((13, 12), dtype=int)
    for i in range(12):
        aim[i, i], aim[i + 1, i] = 3, 4
    robot = mr.Assembly.from_aim(aim, types="backbone").mechanism()
    # the last has fewer: what it keeps does not depend on the state, but for one number
    assert laid(robot, FORWARD_DYNAMICS, EVERY, False, False).words <= 6 * 12
