"""Robots that move so that they can be identified."""

from dataclasses import replace
from functools import cache

import numpy as np

import modurob as mr
from reproduce.lwa_arm import arm, drive

# encoders of 500 counts at the motor, 3 to 1, behind a gear of 160 [rad]; currents wrong by 0.05 A
QUANTUM = 2 * np.pi / (500 * 3 * 160)
CURRENT_NOISE = 0.05


def lwa() -> mr.Mechanism:
    """The LWA 4P with drives that take torques, viscous and Coulomb friction."""
    return arm([drive(k, coulomb=True) for k in range(6)])


def with_other_masses(robot: mr.Mechanism, rng: np.random.Generator, share: float = 0.3) -> mr.Mechanism:
    factors = 1 + share * rng.choice([-1.0, 1.0], size=len(robot.inertia))
    return replace(robot, inertia=robot.inertia * factors[:, None, None])


@cache
def lwa_run(seed: int = 0, duration: float = 10.0) -> mr.Recording:
    """The arm under a sampled controller along an exciting motion within 72 deg/s and 150 deg/s²."""
    robot = lwa()
    wave = lwa_wave(seed)
    law = mr.ComputedTorque(400, 40, wave, sample_time=2e-3)
    run = mr.simulate(robot, wave(0.0).position, duration=duration, controller=law, tick=2e-3)
    assert run.status.ok
    return run


@cache
def lwa_wave(seed: int = 0) -> mr.identification.ExcitingTrajectory:
    return mr.exciting_trajectory(lwa(), velocity=1.2566, acceleration=2.618, trials=60, seed=seed)


def excited(robot: mr.Mechanism, duration: float = 5.0, seed: int = 0, tick: float = 1e-3, **how) -> mr.Recording:
    """A robot of hinges and slides along an exciting motion."""
    wave = mr.exciting_trajectory(
        robot, duration=duration, trials=20, seed=seed, **{"velocity": 2.0, "acceleration": 8.0, **how}
    )
    law = mr.ComputedTorque(400, 40, wave, sample_time=tick)
    run = mr.simulate(robot, wave(0.0).position, duration=duration, controller=law, tick=tick)
    assert run.status.ok, run.status
    return run
