"""Walking and spanning: what tasks measure, against runs and maps made by hand."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import InputError
from modurob.search.clearance import Clearance
from modurob.search.forms import standard
from modurob.search.operators import Parts, grown
from modurob.search.spanning import farthest

QUICK = mr.Walk(gaits=6, rounds=2, duration=2.0)


def test_the_speed_of_a_walk_is_that_of_its_run():
    """The gait that is reported goes as fast when it is run by hand, at the steps where it is slower, the same in every call,
    and keeps modules apart."""
    crab = standard(mr.load("crab"))
    found = QUICK.measures(crab)
    assert found == QUICK.measures(crab)
    both = [mr.travel(QUICK.run(crab, found["gait"], step), since=0.5) for step in (2e-3, 1e-3)]
    went = min(both, key=lambda went: went.speed)
    assert (found["speed"], found["cost_of_transport"]) == (float(went.speed), float(went.cost_of_transport))
    robot, gait = crab.mechanism(floating=True), QUICK.gait_of(crab, found["gait"])
    swing = gait.on(robot)(np.linspace(0, 1 / gait.frequency, 64))[0]
    assert not Clearance(crab, robot).meets(swing).any()


def test_walks_need_joints():
    assert "no gait" in QUICK.measures(mr.Assembly.single("m0", "backbone"))["refused"]


def test_clearance_by_the_collision_model(rng: np.random.Generator):
    """Boxes that are 2 % smaller meet where shapes of modules that are not docked stand deep in each other, and nowhere else."""
    parts = Parts((mr.module_type("backbone").module(),), None, 9, 9)
    organism = grown(parts, np.random.default_rng(4))
    robot = organism.mechanism()
    model, own = robot.collision_model(), Clearance(organism, robot)
    docked = [{c.a.module, c.b.module} for c in organism.connections]
    apart = [
        len({a.split("/")[0], b.split("/")[0]}) == 2 and {a.split("/")[0], b.split("/")[0]} not in docked
        for a, b in model.pair_names
    ]
    q = rng.uniform(-1.6, 1.6, size=(60, robot.nv))
    depth = model.distances(q)[:, apart].min(axis=1)
    met = own.meets(q)
    assert met[depth < -5e-3].all()
    assert not met[depth > 0].any()
    assert 5 < met.sum() < 55


def test_a_span_is_that_of_a_circle():
    """Two Backbones in a row: the end swings by half a turn on an arc, whose cells are counted."""
    pair = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="4")
    found = mr.Span(samples=3000, cell=0.01).measures(pair)
    arc = np.pi * 0.105
    assert found["volume"] / 0.01**2 == pytest.approx(arc * 4 / np.pi, rel=0.3)  # a line crosses 4/pi cells a length
    assert found["effort"] < 1


def test_farthest_modules_are_ends():
    tree = mr.load("tree9")
    one, two = farthest(tree)
    between = tree.traversal(one).order
    assert len(tree._neighbours[one]) == len(tree._neighbours[two]) == 1
    assert two in between


def test_spans_need_strength():
    weak = mr.load("crab").with_parameters(effort=1e-3)
    assert mr.Span(samples=50).measures(weak)["refused"] == "too weak to hold itself, or in its own way"
    assert mr.Span(samples=50).measures(mr.Assembly.single("m0", "backbone"))["refused"] == "no joint moves"


@pytest.mark.parametrize("make", [lambda: mr.Walk(gaits=0), lambda: mr.Span(cell=-1.0)])
def test_numbers_of_tasks(make):
    with pytest.raises(InputError, match="expected a positive number"):
        make()
