"""What cannot be identified, or is no data, is refused in words."""

import builtins
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import modurob as mr
from modurob.errors import EstimateError
from modurob.identification import consistency
from modurob.spatial import inertia
from tests.identification.motions import excited

CRAB, BLOCK = mr.load("crab").robot(), mr.Builder("block").build()
T = np.linspace(0, 1, 101)
STILL = np.zeros((101, 3))


def data(**change):
    return mr.MotionData(**{"t": T, "q": STILL, "tau": STILL, **change})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: data(q=STILL[:5]), r"expected \(k,\), \(k, nq\)"),
        (lambda: data(t=T**2), "steps from 0.0001 to 0.0199 s: expected equal steps"),
        (lambda: data(q=np.full((101, 3), np.nan)), "q has numbers that are not finite"),
        (lambda: data(tau="strong"), "tau = 'strong': expected numbers"),
        (lambda: data(cutoff=80.0).samples(CRAB), "cutoff 80.0 Hz of samples at 100 Hz: expected more than zero, less"),
        (lambda: mr.MotionData(T[:4], STILL[:4], STILL[:4]).samples(CRAB), "4 samples: expected more"),
        (lambda: data(q=np.zeros((101, 2))).samples(CRAB), "q of 2 and tau of 3 numbers: expected 3 and 3, as crab has"),
        (lambda: data(q=STILL + 45).samples(CRAB), r"q: m0/hinge .*45 degrees are 0.785398 rad\): expected radians"),
        (lambda: mr.identify(BLOCK, mr.MotionData(T, STILL[:, :0], STILL[:, :0])), "block has no degrees of freedom: expected a"),
        (lambda: mr.exciting_trajectory(BLOCK, velocity=1.0), "block has no degrees of freedom: expected a robot that moves"),
        (lambda: mr.MotionData.of(CRAB), "expected a recording, or one of its segments"),
        (lambda: mr.MotionData.of(mr.simulate(CRAB, np.zeros((2, 3)), duration=0.01)), "runs side by side"),
        (lambda: mr.MotionData.of(mr.simulate(CRAB, duration=0.01), noise=-1.0), "noise = -1.0: expected a finite number, zero"),
        (lambda: mr.identify(CRAB, 3.0), "data 3.0: expected a recording"),
        (lambda: mr.identify("crab", data()), "identification on 'crab': expected a robot"),
        (lambda: mr.identify(CRAB, data(v=STILL)), "the motion does not tell"),
        (lambda: mr.identify(CRAB, data(), window=0), r"window = 0: expected a time above zero"),
        (lambda: mr.identify(CRAB, data(), slow=2), r"slow = 2: expected a share"),
        (lambda: mr.identify(CRAB, data(), noise=0.0), "noise = 0.0: expected a finite deviation above zero, or 3"),
        (lambda: mr.identify(CRAB, data(), stribeck=-1.0), "stribeck = -1.0: expected True, a velocity above zero, or 3"),
        (lambda: mr.identify(CRAB, data(), parameters=["m9"]), "no parameter 'm9' of crab"),
        (lambda: mr.likeliest({"one": CRAB}, data()), "expected two robots or more, by name"),
        (lambda: mr.RecursiveIdentification(CRAB, forgetting=2.0), "forgetting = 2.0: expected a number above zero, at most 1"),
        (lambda: mr.RecursiveIdentification(CRAB, noise=0.0), "noise = 0.0: expected a deviation above zero"),
        (lambda: mr.exciting_trajectory(CRAB, velocity=-1.0), "velocity = -1.0: expected a finite number above zero, or 3"),
        (lambda: mr.exciting_trajectory(CRAB), "joints of crab have no velocity limit"),
        (lambda: mr.exciting_trajectory(CRAB, velocity=1.0, aim="speed"), "aim 'speed': valid: determinant, condition"),
        (lambda: mr.exciting_trajectory(CRAB, velocity=1.0, harmonics=1), "harmonics = 1: expected a whole number, at least 2"),
        (lambda: mr.exciting_trajectory(CRAB, velocity=1.0, duration=0), "duration = 0: expected a time above zero"),
        (lambda: mr.identify_motor(T, T, T, T[:3]), r"expected \(k,\) each, k at least 8"),
        (lambda: mr.identify_motor(T**2, T, T, T), "expected equal steps"),
        (lambda: mr.identify_motor(T, T, 0 * T, 0 * T), "the motion does not tell R, L and k apart"),
    ],
)  # fmt: skip
def test_it_is_refused(make, words):
    with pytest.raises(EstimateError, match=words):
        make()


def test_robots_that_do_not_suit():
    linkage = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    flying = mr.load("crab").mechanism(floating=True)
    for robot in (linkage, flying):
        with pytest.raises(EstimateError, match="has quaternions or loops: expected a tree of joints with coordinates"):
            mr.exciting_trajectory(robot, velocity=1.0)
    with pytest.raises(EstimateError, match="has loops: expected a tree"):
        mr.RecursiveIdentification(linkage)
    soft = mr.Drive(mr.Motor(0.1, inertia=1e-5), mr.Gear(50.0, stiffness=1e3))
    with pytest.raises(EstimateError, match="m0/hinge drive: an elastic gear: expected stiff ones"):
        mr.identify(CRAB.with_drive("m0/hinge", soft), data())


def test_motions_that_are_too_strong():
    weak = replace(CRAB, joints=tuple(replace(j, effort_limit=np.full(1, 0.5)) for j in CRAB.joints))
    with pytest.raises(EstimateError, match="times its effort: expected smaller velocities"):
        mr.exciting_trajectory(weak, velocity=2.0, trials=5)


@pytest.fixture(scope="module")
def run():
    return excited(CRAB.ideal(), duration=1.0)


def test_methods_and_instruments(run):
    robot = CRAB.ideal()
    with pytest.raises(EstimateError, match="method 'total': valid: ordinary, weighted, instrumental"):
        mr.identify(robot, run, method="total", terms=["inertia"])
    with pytest.raises(EstimateError, match="instrumental variables need instruments"):
        mr.identify(robot, run, method="instrumental", terms=["inertia"])
    short = mr.simulate(robot, duration=0.1)
    with pytest.raises(EstimateError, match="instruments of another length than the data"):
        mr.identify(robot, run, method="instrumental", instruments=short, terms=["inertia"])
    with pytest.raises(EstimateError, match="3 equations for 9 parameters: expected a longer motion"):
        mr.identify(robot, run, terms=["inertia"], window=0.9)


def test_a_robot_that_changed_its_shape():
    world = mr.World({"a": mr.Organism(mr.load("crab"))}, gravity=(0, 0, 0))
    runs = world.run(0.02, [mr.Dock(0.01, "a", "m6", "backbone", at="m3/3", by="4")])
    with pytest.raises(EstimateError, match=r"changed its shape 1 times: take one of recording\.segments"):
        mr.identify(CRAB, runs["a"])


def impossible(size=1.0):
    """What no body has: a negative moment of inertia."""
    believed = inertia.parameters(inertia.sphere(1.0, 0.1))
    K = np.zeros((1, 10))
    K[0, 4] = 1.0
    nothing = np.zeros(0, dtype=int)
    return consistency.Problem(K, np.array([-size]), 1e-8 * np.eye(1), believed, 1, nothing, nothing)


def test_without_a_solver(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("clarabel"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(
        consistency, "import_module", lambda name: without(name) if name == "clarabel" else import_module(name)
    )
    with pytest.raises(EstimateError, match=r"needs clarabel: pip install 'modurob\[qp\]'"):
        consistency.consistent(impossible())


def test_nothing_that_can_be():
    """Known entries that no body has leave nothing to find."""
    problem = impossible()._replace(known=np.arange(10))
    with pytest.raises(EstimateError, match="no parameters that rigid bodies can have were found"):
        consistency.consistent(problem._replace(believed=-problem.believed))
