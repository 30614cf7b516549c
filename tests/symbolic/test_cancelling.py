"""Long work is seen to progress and stops soon after it is cancelled, wherever it is."""

import threading
import time

import numpy as np
import pytest

import modurob as mr
from modurob.errors import CancelledError
from modurob.spatial import angles, inertia, se3
from modurob.symbolic import parametric
from tests.sampling import sampled
from tests.symbolic.robots import double_pendulum, lwa_4p, snake

SYMBOLS = ("masses", "centres", "inertias", "lengths", "gravity")
# seconds of the processor between two looks at `cancelled`
SOON = 0.2


def arm(n):
    """An arm with axes across and dense inertias."""
    rng, builder, parent = np.random.default_rng(0), mr.Builder("arm"), "world"
    for i in range(n):
        turn = angles.euler("xyz", ((-1) ** i * np.pi / 2, 0, 0)).round()
        I = inertia.from_parameters(np.round(inertia.parameters(inertia.random(rng)), 4))
        at = se3.pose(turn, np.round(rng.uniform(-0.5, 0.5, 3), 2))
        builder.body(f"l{i}", I, parent=parent, joint=mr.Revolute((0, 0, 1)), at=at)
        parent = f"l{i}"
    return builder.build()


class Watch:
    """Never cancels, and remembers the longest time of the processor between two questions."""

    def __init__(self):
        self.longest, self.last = 0.0, time.thread_time()

    def __call__(self):
        now = time.thread_time()
        self.longest, self.last = max(self.longest, now - self.last), now
        return False


WORK = {
    "mass matrix": lambda eq: None,
    "Coriolis matrix": lambda eq: eq.polynomial("C"),
    "text": str,
    "every entry": lambda eq: eq.entries("M", "N"),
    "LaTeX": lambda eq: eq.latex(),
    "SymPy": lambda eq: eq.N,
    "code": lambda eq: eq.python(),
    "notebook": lambda eq: eq._repr_html_(),
    "linearised": lambda eq: eq.linearised([0.5] * eq.robot.nv).numbers(),
}


@pytest.mark.parametrize("joints", sampled((4, 5, 6, 7), 1))
@pytest.mark.parametrize("work", WORK)
def test_cancelled_is_asked_often(work, joints):
    """On an arm with all its symbols: 28,000 terms in M of seven joints, 200,000 in C. Code is traced in one piece: fewer."""

    def longest():
        watch = Watch()
        eq = arm(4 if work == "code" else joints).equations(SYMBOLS, cancelled=watch)
        WORK[work](eq)
        watch()
        return watch.longest

    # caches of a processor that others use too, and its collection of garbage, cost time now and then
    assert any(longest() < SOON for _ in range(3))


@pytest.mark.parametrize("work", ["proof", "A and B"])
def test_smaller_robots_are_asked_for_more(work):
    watch = Watch()
    eq = snake(4).equations(("masses", "lengths", "gravity"), cancelled=watch)
    (eq.proof if work == "proof" else lambda: (eq.linearised([0] * 4).A, eq.linearised([0] * 4).B))()
    watch()
    assert watch.longest < SOON


@pytest.mark.parametrize("work", [*WORK, "proof", "control affine"])
def test_cancelling_stops_the_work(work):
    stop = threading.Event()
    eq = double_pendulum().equations("gravity", cancelled=stop.is_set)
    stop.set()
    jobs = {**WORK, "proof": lambda eq: eq.proof(), "control affine": lambda eq: eq.control_affine()}
    with pytest.raises(CancelledError, match="cancelled"):
        jobs[work](eq) if work != "mass matrix" else double_pendulum().equations("gravity", cancelled=stop.is_set)


def test_a_time_limit_is_for_each_call(monkeypatch):
    """Reading equations long after they were derived is no reason to stop."""
    eq = lwa_4p().equations(time_limit=30.0)
    later = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert "M[1, 1]" in str(eq)
    monkeypatch.undo()
    with pytest.raises(CancelledError, match=r"after 0 s"):
        lwa_4p().equations(time_limit=0)


def test_what_is_done_is_told_to_the_end():
    told = []
    eq = parametric(mr.load("crab"), progress=lambda stage, done: told.append((stage, done)))
    eq.polynomial("C")
    eq.entries("M", "C", "N")
    eq.proof()
    stages = list(dict.fromkeys(stage.split()[0] for stage, _ in told))
    assert stages == [
        "numbers",
        "size",
        "mass",
        "gravity",
        "Christoffel",
        "Coriolis",
        "writing",
        "comparing",
        "two-step",
    ]
    assert all(0 <= done <= 1 for _, done in told)
