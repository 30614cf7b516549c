"""Oscillators on board whose phases feet reset: in step on even ground, and back in rhythm where it came late."""

import pickle

import numpy as np
import pytest

import modurob as mr
from examples.walking import ORGANISMS
from modurob.simulation import Measured
from modurob.spatial import inertia

GROUND = mr.Ground(friction=0.8)


def organism(name):
    robot = mr.walking_robot(name).robot().on_ground(GROUND)
    return robot, robot.standing(ORGANISMS[name].on(robot)(0.0)[0])


def test_on_even_ground_the_gait_is_that_of_servos():
    """The crab bounds as with servos in its joints; resets, which no two of its leaps agree on, take a sixth of its speed."""
    robot, q = organism("crab")
    walker = mr.driven(robot, ORGANISMS["crab"])
    speed = mr.travel(mr.simulate(walker, q, duration=4.0, tick=0.02), since=2.0).speed
    for window, within in ((0.0, 0.1), (1.0, 0.25)):
        law = mr.PhaseResetting(ORGANISMS["crab"], window=window)
        run = mr.simulate(robot, q, duration=4.0, controller=law)
        assert mr.travel(run, since=2.0).speed == pytest.approx(speed, rel=within)


def hopper():
    """A trunk on a foot that slides up and down below it."""
    b = mr.Builder("hopper")
    b.body("trunk", inertia.box(2.0, (0.2, 0.2, 0.1)), joint=mr.Free())
    leg = mr.JointProperties(lower=-0.15, upper=0.15, effort=300.0)
    below = mr.spatial.se3.pose(p=(0, 0, -0.2))
    plate = inertia.box(0.3, (0.3, 0.3, 0.04))
    b.body("foot", plate, parent="trunk", joint=mr.Prismatic((0, 0, -1)), at=below, joint_name="leg", properties=leg)
    b.collision("box", (0.3, 0.3, 0.04), on="foot")
    return b.build().on_ground()


def hops(window):
    """How high eight hoppers hop in the second second after they met the ground 0 to 15 cm lower than they expected [m]."""
    robot, drops = hopper(), np.linspace(0.0, 0.15, 8)
    leap = mr.Gait(mr.motion.gaits.Phases({"leg": 0.0}), amplitude={"leg": 0.05}, frequency=3.0)
    recipe = mr.PhaseResetting(leap, kp=5000.0, kd=100.0, window=window)
    q = np.tile(robot.standing(leap.on(robot)(0.0)[0]), (8, 1))
    q[:, 2] += drops
    law, simulation = recipe.on(robot), mr.Simulation(robot, q, controller=recipe, t0=1.0)
    phase, down = np.tile(law.touchdown, (8, 1)), np.ones((8, 1))
    simulation.pilot.memory = law.start()._replace(t=1.0, phase=phase, down=down)
    run = simulation.advance(2.0).recording
    return np.ptp(run.q[run.t >= 2.0, :, 2], axis=0)


def test_hoppers_are_back_in_rhythm_after_ground_that_came_late():
    """After a second all of them hop alike, and higher; without resets each is still on its own way back."""
    free, reset = hops(0.0), hops(np.pi)
    assert np.ptp(reset) < 0.3 * np.ptp(free)
    assert reset.min() > np.median(free) * 0.95


def test_phases_pull_each_other_into_step():
    """Two limbs: the difference d obeys dd/dt = -coupling sin(d), so that tan(d/2) decays as exp(-coupling t)."""
    robot, _ = organism("crab")
    law = mr.PhaseResetting(ORGANISMS["crab"], window=0.0, coupling=3.0).on(robot)
    memory = law.start()
    memory = memory._replace(phase=np.array([0.0, 1.0]))
    seen = Measured(robot.neutral(), np.zeros(robot.nv))
    for t in np.arange(1, 501) * 2e-3:
        memory, _ = law.step(memory, float(t), seen)
    assert np.tan(np.diff(memory.phase) / 2) == pytest.approx(np.tan(0.5) * np.exp(-3.0), rel=0.02)


def test_a_touch_down_sets_the_phase(rng):
    """Runs side by side are runs alone, saved laws go on, and the floating base gets no torque."""
    robot, q = organism("crab")
    law = pickle.loads(pickle.dumps(mr.PhaseResetting(ORGANISMS["crab"], coupling=0.0).on(robot)))
    near = law.touchdown + 0.3
    memory = law.start()._replace(phase=near, down=np.full(2, -1.0))
    q = np.stack([q, q])
    q[:, 2] += -0.05, 0.05
    both, torques = law.step(memory, 0.0, Measured(q, rng.normal(size=(2, robot.nv))))
    assert both.phase[0] == pytest.approx(law.touchdown)
    assert both.phase[1] == pytest.approx(near)
    assert both.down.tolist() == [[0.0, 0.0], [-1.0, -1.0]]
    assert not torques[:, :6].any()
    v = rng.normal(size=(2, robot.nv))
    both, torques = law.step(memory, 0.5, Measured(q, v))
    for k in range(2):
        one, tau = law.step(memory, 0.5, Measured(q[k], v[k]))
        assert np.array_equal(one.phase, both.phase[k])
        assert np.allclose(tau, torques[k])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: mr.PhaseResetting("crab"), "gait 'crab': expected one such as mr.gait"),
        (lambda: mr.PhaseResetting(mr.gait("crab"), kp=0.0), "kp 0.0"),
        (lambda: mr.PhaseResetting(mr.gait("crab"), window=-1.0), "window -1.0: expected 0 or more"),
        (lambda: mr.PhaseResetting(mr.gait("crab")).on(mr.load("crab")), "PhaseResetting.*expected a robot"),
        (
            lambda: mr.PhaseResetting(mr.gait("crab")).on(mr.load("crab").robot()),
            "knows of no ground for feet to touch",
        ),
    ],
)
def test_what_cannot_be_reset_is_refused(call, says):
    with pytest.raises(mr.ModurobError, match=says):
        call()
