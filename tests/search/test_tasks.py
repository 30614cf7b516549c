"""Walking and spanning: what tasks measure, against runs and maps made by hand."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.errors import InputError
from modurob.judges.walking import MujocoWalker
from modurob.motion.gaits.found import ORGANISMS, found_gaits
from modurob.search.clearance import Clearance
from modurob.search.forms import standard
from modurob.search.operators import Parts, grown
from modurob.search.spanning import farthest

# its gait: frequency, then amplitude, centre and phase of each joint, as parts of what is allowed
FOUND = [
    0.5618465370005062,
    0.8460105578031388,
    0.5325032583047474,
    0.24985288380266918,
    0.5285625015917514,
    0.5609227681392074,
    0.6084705930142204,
    0.814498050890046,
    0.5052996227019086,
    0.4255265133399867,
    0.7013462861909103,
    0.5835267560611875,
    0.2713982696692181,
    0.6447255624878339,
    0.47396141207094356,
    0.3800484111034006,
    0.5868204391568941,
    0.4512076221951938,
    0.8295560998365863,
    0.7611509369965026,
    0.5147968135242117,
    0.020305015455560915,
    0.8310813763919848,
    0.47601542146149367,
    0.321124243818333,
]
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


def shipped_speed(name: str) -> float:
    """The speed of a walker of the package with the gait that was found for it, at the steps where it is faster [m/s]."""
    robot, gait = mr.walking_robot(name).mechanism(floating=True), mr.found_gait(name)
    walker = mr.driven(robot, gait).on_ground(mr.Ground(friction=0.8))
    start = walker.standing(gait.on(robot)(0.0)[0])
    runs = [
        mr.simulate(walker, start, duration=6.0, tick=0.02, stepper=mr.LinearlyImplicit(step)) for step in (2e-3, 1e-3)
    ]
    return max(float(mr.travel(run, since=1.5).speed) for run in runs)


@pytest.mark.judge
def test_the_found_walker_is_faster_than_every_shipped_one():
    """What a search of ten minutes found: at any step, for 20 s, and, to a fifth, in MuJoCo with stiff contacts."""
    task, robot = mr.Walk(fastest=3.0), mr.load(Path(__file__).with_name("found_walker.yaml"))
    shipped = max(map(shipped_speed, found_gaits()))
    assert shipped > 0.8
    speeds = [mr.travel(task.run(robot, FOUND, step), since=1.5).speed for step in (2e-3, 1e-3)]
    assert min(speeds) > 1.4 * shipped
    assert speeds[0] == pytest.approx(speeds[1], rel=0.1)
    long = mr.travel(replace(task, duration=20.0).run(robot, FOUND), since=5.0).speed
    assert long > 1.3 * shipped  # on its way it turns a little
    own = task._candidates(robot)[1]
    walker = mr.driven(robot.mechanism(floating=True), task.gait_of(robot, FOUND)).on_ground(own.ground)
    theirs = MujocoWalker(walker, 2e-4).walk(own.q0, 6.0)
    first = int(np.searchsorted(theirs.t, 1.5))
    way = (theirs.centre[-1] - theirs.centre[first])[:2]
    assert np.hypot(*way) / (theirs.t[-1] - theirs.t[first]) == pytest.approx(speeds[0], rel=0.2)


@pytest.mark.judge
def test_a_search_of_ten_minutes_finds_a_faster_walker_than_every_shipped_one(tmp_path: Path):
    """As docs/search.md shows it: it ends in time, its best is faster, and its page has pictures of it."""
    started = time.monotonic()
    found = mr.search_designs(
        "backbone",
        (4, 9),
        mr.Walk(fastest=3.0),
        "speed",
        generations=1000,
        population=24,
        seconds=600,
        refine=2,
        finalists=12,
        start=[mr.walking_robot("crab"), mr.walking_robot("snake")],
        workers=2,
    )
    assert time.monotonic() - started < 660
    assert found.best.measures["speed"] > max(map(shipped_speed, found_gaits()))
    assert min(found.best.assembly != mr.walking_robot(name) for name in ORGANISMS)
    found.page(tmp_path / "walkers.html", pictures=3)
    text = (tmp_path / "walkers.html").read_text()
    assert f"<td>{found.best.key[:8]}</td>" in text
    assert text.count("data:image/png") >= 3


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
