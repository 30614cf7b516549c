"""Elastic drives found again from encoders on both sides of their gears."""

import numpy as np
import pytest
from scipy.stats import chi2

import modurob as mr
from modurob.errors import EstimateError
from tests.identification.motions import with_other_masses
from tests.robots import random_mechanism

TRUE = {"a": (0.3, 0.5, 300.0, 1.0), "b": (0.15, 0.2, 150.0, 0.4)}  # rotor, viscous, stiffness, damping


def arms():
    """An arm of two hinges without drives, and with elastic ones."""
    bare = random_mechanism(np.random.default_rng(4), 2, ("revolute",), chain=True).without_forces()
    soft, each = bare, zip(bare.joints, TRUE.values(), strict=True)
    for joint, (rotor, viscous, stiffness, damping) in each:
        gear = mr.Gear(10.0, stiffness=stiffness, damping=damping)
        drive = mr.Drive(mr.Motor(0.1, inertia=rotor / 100), gear, mr.Losses(viscous=viscous))
        soft = soft.with_drive(joint.name, drive)
    return bare, soft


def moved(robot):
    """Times, joints, motors and torques of a run under sines of many frequencies."""
    rng = np.random.default_rng(0)
    w, p = rng.uniform(2, 40, size=(2, 8)), rng.uniform(0, 6, size=(2, 8))

    def law(t, q, v):
        return 8.0 * np.sin(w * t + p).mean(axis=1) * np.sqrt(8) - 4.0 * q

    run = mr.simulate(robot, duration=8.0, controller=law, tick=1e-3)
    assert run.status.ok
    theta = np.stack([run.drive(j.name).motor_angle for j in robot.joints], axis=-1)
    return run.t, run.q, theta, run.tau


def test_drives_are_found_within_their_uncertainty_and_links_from_what_their_gears_carry():
    bare, soft = arms()
    t, q, theta, tau = moved(soft)
    expected = np.array([(r, b, 0.0, k, d) for r, b, k, d in TRUE.values()])
    total = 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        seen = [1e-6 * np.rint(x / 1e-6) for x in (q, theta)]
        found = mr.identify_gears(soft, t, *seen, tau + 0.1 * rng.normal(size=tau.shape), held=True)
        e = found.fit.beta - expected.ravel()
        total += e @ np.linalg.solve(found.fit.covariance, e)
    assert chi2.ppf(1e-4, 30) < total < chi2.ppf(1 - 1e-4, 30)
    assert found.values.stiffness == pytest.approx([300.0, 150.0], rel=0.02)
    assert np.all(found.deviations.stiffness < 3.0)
    assert found.robot.drive(soft.joints[0].name).rotor == pytest.approx(0.3, rel=0.05)
    assert found.robot.drive(soft.joints[0].name).states == soft.drive(soft.joints[0].name).states
    # the links, under the torques of the gears
    links = mr.identify(with_other_masses(bare, np.random.default_rng(1)), found.links, terms=["inertia"])
    beta = links.base.K @ bare.inertial_parameters()
    assert links.values == pytest.approx(beta, abs=0.05 * np.abs(beta).max())


def test_robots_without_elastic_gears_are_refused():
    bare, _ = arms()
    t, q, theta, tau = np.arange(3.0), *np.zeros((3, 3, 2))
    with pytest.raises(EstimateError, match="expected drives with elastic gears"):
        mr.identify_gears(bare, t, q, theta, tau)
    floating = mr.load("crab").mechanism(floating=True)
    with pytest.raises(EstimateError, match="expected joints whose rates"):
        mr.identify_gears(floating, t, q, theta, tau)
