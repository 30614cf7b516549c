"""Robots found again from what encoders and current sensors see of their motion."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

import modurob as mr
from modurob.identification import prediction
from modurob.identification.model import TorqueModel
from modurob.spatial import inertia
from tests.formats.test_timor import ARM, IMPROV, docked
from tests.identification.motions import (
    CURRENT_NOISE,
    QUANTUM,
    excited,
    lwa,
    lwa_run,
    lwa_wave,
    with_other_masses,
)
from tests.robots import random_mechanism
from tests.sampling import sampled

FRICTION = ("inertia", "rotor", "viscous", "coulomb")


def seen(run: mr.Recording, seed: int = 0, quantum: float = QUANTUM) -> mr.MotionData:
    return mr.MotionData.of(run, quantum=quantum, current_noise=CURRENT_NOISE, seed=seed)


# ---- the LWA 4P ----


@pytest.mark.parametrize("draws", sampled((2, 5), 1))
def test_all_52_parameters_of_the_lwa_4p_are_within_their_uncertainty(draws):
    """Over many draws of the noise: chi-square of the whole, and each parameter by its own deviation."""
    robot, run = lwa(), lwa_run()
    found = [mr.identify(robot, seen(run, seed)) for seed in range(draws)]
    assert found[0].base.rank == 52
    total = sum(f.distance(robot) for f in found)
    assert chi2.ppf(1e-4, 52 * draws) < total < chi2.ppf(1 - 1e-4, 52 * draws)
    true = found[0].base.K @ found[0].model.values()
    off = np.array([(f.values - true) / f.deviations for f in found])
    assert np.mean(np.abs(off) < 2) == pytest.approx(0.954, abs=0.05)
    assert np.abs(off).max() < 4.5
    assert found[0].noise == pytest.approx(CURRENT_NOISE * np.array([3.459] * 4 + [4.872] * 2), rel=0.15)
    assert 0.001 < found[0].probability(robot) < 0.999
    assert found[0].probability(with_other_masses(robot, np.random.default_rng(0), 0.02)) < 1e-6


def test_a_refitted_arm_predicts_unseen_torques_as_well_as_the_true_one():
    """From masses that are 30 % wrong and friction that nobody knew; encoders and noise as above."""
    true = lwa()
    believed = with_other_masses(true, np.random.default_rng(3))
    believed = TorqueModel(believed, ("viscous", "coulomb")).with_values(np.full(12, 3.0))
    found = mr.identify(believed, seen(lwa_run()))
    other = lwa_run(seed=1)
    data = seen(other, 7)
    errors = [prediction(r, data).rms for r in (true, found.robot, believed)]
    assert np.all(errors[1] < 1.05 * errors[0])
    assert np.any(errors[2] > 3 * errors[0])
    # and without noise: under a per cent of the torques
    assert prediction(found.robot, mr.MotionData.of(other)).relative < 0.01
    assert found.validate(mr.MotionData.of(other)).relative < 0.01
    # of bodies that can be
    assert np.linalg.eigvalsh(inertia.pseudo_inertia(inertia.parameters(found.robot.inertia[1:]))).min() > 0


@pytest.mark.parametrize("truth", sampled(("frame", "centre"), 1))
def test_data_say_which_reading_of_the_tensors_is_meant(truth):
    """Tensors of the set IMPROV about frames or about centres of mass: either is told, whichever made the data."""
    with (
        warnings.catch_warnings()
    ):  # two modules that are not in this arm have tensors that can only be read in one way
        warnings.simplefilter("ignore", mr.ModurobWarning)
        arms = {about: docked(mr.timor_modules(IMPROV, about), ARM)[0].robot() for about in ("frame", "centre")}
    assert len({r.key for r in arms.values()}) == 2
    robot = arms[truth]
    wave = mr.exciting_trajectory(robot, velocity=1.2566, acceleration=2.618, trials=20)
    law = mr.ComputedTorque(400, 40, wave, sample_time=5e-3)
    run = mr.simulate(robot, wave(0.0).position, duration=10.0, controller=law, tick=5e-3)
    found = mr.likeliest(arms, mr.MotionData.of(run, quantum=QUANTUM, noise=0.2))
    assert found[0].name == truth
    assert found[0].probability > 0.999


# ---- any robot ----


@pytest.mark.parametrize("joints", sampled(([2], [1, 3], [4]), 1), ids=str)
def test_random_robots_are_found_again(joints, rng):
    """Without noise, to what differences of samples leave."""
    for n in joints:
        robot = random_mechanism(rng, n, ("revolute", "prismatic"), armature=True)
        for joint in robot.joints:
            robot = robot.with_force(f"{joint.name} oil", mr.Friction(viscous=0.5, coulomb=0.4), joint=joint.name)
        found = mr.identify(with_other_masses(robot, rng), excited(robot))
        beta = found.base.K @ TorqueModel(robot, FRICTION).values()
        assert found.values == pytest.approx(beta, abs=2e-3 * np.abs(beta).max())
        assert prediction(found.robot, excited(robot, seed=1)).relative < 2e-3


def test_known_forces_are_not_taken_for_others(rng):
    """Springs and gears that lose torque are known; what is not asked for is as in the model."""
    robot = random_mechanism(rng, 3, ("revolute",))
    lossy = mr.Drive(mr.Motor(0.1, inertia=1e-5), mr.Gear(50.0, efficiency=0.8), mr.Losses(viscous=0.4, coulomb=0.3))
    robot = robot.with_drive("b0", lossy).with_force("spring", mr.JointSpring(5.0), joint="b1")
    robot = robot.with_force("oil", mr.Friction(0.2, 0.1, 0.3, 0.2), joint="b2")
    run = excited(robot)
    for terms in (FRICTION, ("inertia",), ("viscous", "coulomb")):
        found = mr.identify(robot, run, terms=terms)
        beta = found.base.K @ found.model.values()
        assert found.values == pytest.approx(beta, abs=3e-3 * np.abs(beta).max())


def test_a_floating_organism():
    """On a rubber band that is known it tells of its bodies, also by how its base moves, which nothing drives."""
    robot = mr.load("crab").mechanism(floating=True).ideal()
    robot = robot.with_force("band", mr.Spring(stiffness=60.0, length=0.1), a="m5")

    def law(t, q, v):
        return np.concatenate([np.zeros(6), 0.3 * np.sin([3.0 * t, 4 * t + 1, 5 * t + 2])])

    v0 = np.array([0.1, 0, 0.5, 1.0, 0.5, 0.3, 0, 0, 0])
    run = mr.simulate(robot, robot.neutral(), v0, duration=3.0, controller=law)
    found = mr.identify(with_other_masses(robot, np.random.default_rng(1)), run, terms=["inertia"])
    beta = found.base.K @ robot.inertial_parameters()
    assert found.base.rank == 31
    assert found.values == pytest.approx(beta, abs=2e-3 * np.abs(beta).max())


def test_loops():
    """The parallelogram of four modules, by the torques of its drives."""
    robot = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism(gravity=(0, -9.81, 0)).ideal()

    def drive(t, q, v):
        return np.array([2.0 * np.sin(3 * t), np.cos(2 * t)])

    run = mr.simulate(robot, robot.close_loops([0.3, -0.3]), duration=4.0, controller=drive)
    found = mr.identify(with_other_masses(robot, np.random.default_rng(0)), run, terms=["inertia"])
    beta = found.base.K @ robot.inertial_parameters()
    assert found.base.rank < mr.Mechanism.base_parameters(replace(robot, constraints=())).rank
    assert found.values == pytest.approx(beta, abs=1e-3 * np.abs(beta).max())


def test_an_organism_after_docking():
    """Two organisms dock in a world; the recording after it tells what now hangs on the arm, while it moves."""

    def law(t, q, v):
        return 20 * (0.5 * np.sin((3.0 + np.arange(len(v))) * t) - q) - v

    world = mr.World({"crab": mr.Organism(mr.load("crab"), controller=law, stands=np.eye(4))})
    world.run(3.0, [mr.Dock(0.2, "crab", "m6", "backbone", at="m3/3", by="4")])
    last = world.recordings()["crab"].segments[-1]
    assert last.robot.total_mass() > mr.load("crab").robot().total_mass()
    found = mr.identify(with_other_masses(last.robot, np.random.default_rng(0), 0.2), last, terms=["inertia"])
    beta = found.base.K @ last.robot.inertial_parameters()
    assert found.values == pytest.approx(beta, abs=1e-2 * np.abs(beta).max())


def test_only_a_load_is_unknown(rng):
    """The mass and the centre of a load on a known arm, from a second of motion with noise."""
    robot = random_mechanism(rng, 3, ("revolute",), chain=True)
    loaded = replace(robot, inertia=robot.inertia + np.eye(4)[3][:, None, None] * inertia.point(0.7, (0.1, 0.05, 0.2)))
    run = excited(loaded, duration=3.0)
    data = mr.MotionData.of(run, quantum=1e-4, noise=0.1)
    found = mr.identify(robot, data, terms=["inertia"], parameters=["b2"])
    assert all(name.startswith("b2") for name in found.names)
    assert found.distance(loaded) < chi2.ppf(0.999, found.base.rank)
    assert found.robot.inertia[1:3] == pytest.approx(robot.inertia[1:3])
    assert found.robot.inertia[3, 0, 0] == pytest.approx(loaded.inertia[3, 0, 0], rel=0.2)


# ---- methods ----


def test_ordinary_is_honest_and_weighted_is_better():
    robot, run = lwa(), lwa_run()
    noise = np.array([0.3, 0.3, 1.0, 1.0, 4.0, 4.0])
    data = mr.MotionData.of(run, quantum=QUANTUM, noise=noise)
    ordinary, weighted = (mr.identify(robot, data, method=m) for m in ("ordinary", "weighted"))
    for found in (ordinary, weighted):
        assert found.distance(robot) < chi2.ppf(1 - 1e-4, 52)
    assert np.all(weighted.deviations < 1.05 * ordinary.deviations)
    assert np.median(weighted.deviations / ordinary.deviations) < 0.8
    # noise that is known in place of found
    given = mr.identify(robot, data, noise=noise)
    assert given.values == pytest.approx(weighted.values, abs=3 * weighted.deviations.max())
    assert given.fit.chi_square == pytest.approx(given.fit.degrees, rel=0.15)


def test_instruments_take_the_bias_of_coarse_encoders_away():
    """Encoders of 0.18 degrees: least squares are many deviations off, instruments from the reference are not; nor is the same
    motion, recorded once more."""
    robot, run = lwa(), lwa_run()
    rng = np.random.default_rng(0)
    coarse = [
        replace(seen(run, s, quantum=0.0), q=run.q + 1.5e-3 * rng.normal(size=run.q.shape), v=None, cutoff=12.0)
        for s in (0, 1)
    ]
    plain = mr.identify(robot, coarse[0])
    assert plain.distance(robot) > chi2.ppf(1 - 1e-6, 52)
    for instruments in (lwa_wave(), coarse[1]):
        found = mr.identify(robot, coarse[0], method="instrumental", instruments=instruments)
        assert found.distance(robot) < plain.distance(robot) / 3


def pendulum(friction: mr.Friction) -> mr.Mechanism:
    b = mr.Builder("pendulum")
    b.body("rod", inertia.point(1.0, (0, 0, -0.4)), joint=mr.Revolute((1, 0, 0)))
    return b.build().with_force("rod friction", friction, joint="rod")


@pytest.mark.parametrize("draws", sampled((1, 4), 1))
def test_the_curve_of_stribeck(draws):
    """Viscous, Coulomb, static friction and the velocity over which it falls, with noise: near, and within their uncertainty over
    draws of the noise, that of the velocity among it."""
    true = pendulum(mr.Friction(viscous=0.2, coulomb=0.5, static=0.9, stribeck=0.15))
    run = excited(true, duration=10.0, velocity=1.0, acceleration=4.0)
    terms, total, off = ["inertia", "viscous", "coulomb"], 0.0, []
    for seed in range(draws):
        data = mr.MotionData.of(run, quantum=2 * np.pi / 2**17, noise=0.02, seed=seed)
        found = mr.identify(pendulum(mr.Friction()), data, terms=terms, stribeck=True)
        total += found.distance(true)
        off.append((found.model.stribeck[0] - 0.15) / found.speed_deviations[0])
    force = next(row.force for row in found.robot.forces if isinstance(row.force, mr.Friction))
    assert (force.viscous, force.coulomb, force.static) == pytest.approx((0.2, 0.5, 0.9), rel=0.1)
    assert force.stribeck == pytest.approx(0.15, rel=0.25)
    assert chi2.ppf(1e-4, found.base.rank * draws) < total < chi2.ppf(1 - 1e-4, found.base.rank * draws)
    assert np.abs(off).max() < 4
    # with the velocity taken as known, others seem more certain than they are
    known = mr.identify(true, data, stribeck=found.model.stribeck, terms=terms)
    assert known.base.rank == found.base.rank
    assert np.all(known.deviations <= found.deviations * (1 + 1e-6))
    assert np.max(found.deviations / known.deviations) > 1.02


def test_offsets_of_sensors():
    true = pendulum(mr.Friction(viscous=0.2))
    run = excited(true)
    data = mr.MotionData.of(run)
    data = replace(data, tau=data.tau + 0.3)
    found = mr.identify(true, data, terms=["inertia", "viscous", "offset"])
    assert found.values[-1] == pytest.approx(0.3, abs=1e-3)


def test_a_picture_and_a_table(tmp_path):
    found = mr.identify(lwa(), seen(lwa_run()))
    page = found.plot(lwa_run(), tmp_path / "torques.png")
    assert len(page.axes) == 6
    assert (tmp_path / "torques.png").stat().st_size > 10_000
    assert "52 base parameters by weighted least squares" in str(found)
    assert len(found.table()) == 52
    assert "52 in all" in found._repr_html_()


# ---- robots that have what was found ----


def test_values_and_robots_are_the_same_both_ways(rng):
    """with_values(pi) has pi: joints with drives, with and without friction, followed by mimics."""
    b = mr.Builder("mixed")
    I = inertia.sphere(1.0, 0.2)
    b.body("a", I, joint=mr.Revolute((0, 0, 1)), properties=mr.JointProperties(drive=mr.load_drive("powerball-small")))
    b.body("b", I, parent="a", joint=mr.Revolute((0, 1, 0)), properties=mr.JointProperties(damping=0.1, friction=0.2))
    b.body("c", I, parent="b", joint=mr.Universal((0, 1, 0), (1, 0, 0)))
    b.body("d", I, parent="c", joint=mr.Spherical())
    b.body(
        "e",
        I,
        parent="b",
        mimic=mr.Source("b", ratio=-2.0),
        joint=mr.Revolute((1, 0, 0)),
        properties=mr.JointProperties(damping=0.05),
    )
    robot = b.build()
    model = TorqueModel(robot, FRICTION, np.full(4, 0.1))
    pi = np.abs(model.values()) + rng.uniform(0.1, 0.2, size=len(model.values()))
    pi[: 10 * 5] = np.concatenate([inertia.parameters(inertia.random(rng)) for _ in range(5)])
    changed = TorqueModel(model.with_values(pi), FRICTION, np.full(4, 0.1))
    assert changed.values() == pytest.approx(pi)
    assert model.with_values(pi).drive("a").rotor == pytest.approx(changed.robot.joint("a").armature[0])
    same = model.with_values(model.values())
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    assert same.passive_forces(q, v) == pytest.approx(robot.passive_forces(q, v))
    assert same.inertia == pytest.approx(robot.inertia)


def test_bodies_that_cannot_be_are_corrected():
    """Of noisy data: the nearest parameters of bodies that can be, within the uncertainty; and no others nearer."""
    robot, run = lwa(), lwa_run()
    found = mr.identify(robot, mr.MotionData.of(run, quantum=QUANTUM, noise=3.0))
    pi = found.parameters
    bodies = inertia.pseudo_inertia(pi[:60].reshape(6, 10))
    assert np.linalg.eigvalsh(bodies).min() > 0
    assert np.all(pi[60:] >= 0)
    assert found.distance(found.robot) < found.distance(robot)
    assert np.all(mr.identify(robot, run).robot.inertia[1:, 0, 0] > 0)


# ---- while it moves ----


def test_sample_by_sample_is_all_at_once(rng):
    """The recursion ends where least squares of all samples do; with forgetting it follows a load that is picked up."""
    robot = random_mechanism(rng, 2, ("revolute",))
    run = excited(robot, duration=3.0)
    s = mr.MotionData.of(run).samples(robot)
    learning = mr.RecursiveIdentification(with_other_masses(robot, rng), terms=["inertia"], noise=0.1, trust=1e4)
    memory = learning.start()
    for k in range(0, len(s.t), 10):
        memory = learning.step(memory, s.q[k], s.v[k], s.vdot[k], s.tau[k])
    beta, covariance = learning.estimate(memory)
    true = learning.base.K @ robot.inertial_parameters()
    assert beta == pytest.approx(true, abs=1e-3 * np.abs(true).max())
    Y = robot.torque_regressor(s.q[::10], s.v[::10], s.vdot[::10], ["inertia"])[..., learning.base.kept].reshape(
        -1, len(beta)
    )
    assert covariance == pytest.approx(np.linalg.inv(Y.T @ Y / 0.01), rel=1e-4)
    assert prediction(learning.refitted(memory), run).relative < 1e-2
    # a load
    heavy = robot.with_payload(robot.bodies[-1], inertia.sphere(2.0, 0.1))
    late = excited(heavy, duration=3.0)
    s = mr.MotionData.of(late).samples(robot)
    forgetful = replace(learning, forgetting=0.95)
    for k in range(0, len(s.t), 10):
        memory = forgetful.step(memory, s.q[k], s.v[k], s.vdot[k], s.tau[k])
    true = learning.base.K @ heavy.inertial_parameters()
    assert forgetful.estimate(memory)[0] == pytest.approx(true, abs=0.03 * np.abs(true).max())
