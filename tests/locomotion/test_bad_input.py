"""Bad input is refused with what was found and what is expected."""

import numpy as np
import pytest

import modurob as mr
from modurob import locomotion as go
from modurob.errors import InputError, SimulationError

BASE = go.differential(0.5, 0.1)
CRAB = mr.load("crab").mechanism(floating=True)
ZERO = np.zeros(CRAB.nv)
WEIGHT = go.Wrench(np.array([0, 0, 9.81]), np.zeros(3))
FALL = go.Phase(lambda x: [x[1], -9.81], lambda x: x[0])

REFUSED = [
    # ---- numbers ----
    (lambda: mr.Wheel("here", 0.1), "at of a wheel = 'here': expected numbers"),
    (lambda: mr.Wheel((0, np.nan), 0.1), "at of a wheel = .*: expected finite numbers"),
    (lambda: mr.Wheel((0, 1, 2), 0.1), r"at of a wheel has shape \(3,\): expected two numbers, \(x, y\)"),
    (lambda: mr.Wheel((0, 1), [0.1, 0.2]), r"radius of a wheel = \[0.1, 0.2\]: expected one number"),
    (lambda: mr.Wheel((0, 1), -0.1), "radius of a wheel = -0.1: expected more than zero"),
    (lambda: mr.Wheel((0, 1), 0.1, rollers=np.pi / 2), "rollers of a wheel at a right angle"),
    (lambda: mr.Wheel((0, 1), radios=0.1), "Wheel has no argument 'radios': did you mean 'radius'?"),
    (lambda: go.omni(0.4, 0.05, 2), "wheels = 2: expected a whole number, 3 or more"),
    # ---- bases ----
    (lambda: mr.WheeledBase([]), r"wheels = \[\]: expected one or more mr.Wheel"),
    (lambda: mr.WheeledBase(3), "wheels = 3: expected one or more mr.Wheel"),
    (lambda: BASE.twist([1.0, 2.0, 3.0]), r"rates has shape \(3,\): expected \(\.\.\., 2\)"),
    (lambda: BASE.twist([1.0, 2.0], slip=1.5), "slip = 1.5: expected at most 1"),
    (lambda: BASE.rates([1.0, 0.5, 0.0]), "makes wheels slide sideways at 0.5 m/s: expected one that they allow"),
    (lambda: go.tricycle(1.0, 0.1).twist([1.0]), r"no steering angles: expected \(\.\.\., 1\) for front"),
    (
        lambda: go.synchro(0.4, 0.05).steer([0, 0, 1.0]),
        "that column turns together, by up to .* expected one without turning",
    ),
    (lambda: mr.WheeledBase([mr.Wheel((0, 0), 0.1)]).twist([1.0]), "leave 1 degrees of freedom of the base open"),
    (lambda: go.motions(3), "3: expected a mr.WheeledBase"),
    (
        lambda: go.motions(mr.WheeledBase([mr.Wheel((i, j), 0.1, steered=f"{i}") for i in (0, 1) for j in (0, 1)])),
        "motor 0 turns several wheels, and others have to agree with them: expected one wheel each",
    ),
    (lambda: go.growth([1], [2]), r"fields = \[1\]: expected one or more SymPy columns of 1 entries"),
    # ---- odometry and ways ----
    (lambda: go.differential("0.5", 0.1), "width = '0.5': expected numbers"),
    (lambda: go.differential([[1], [1, 2]], 0.1), "width = .*: expected numbers"),
    (lambda: mr.Odometry(3), "base = 3: expected a mr.WheeledBase"),
    (lambda: mr.Odometry(BASE, noise=-1.0), "noise = -1.0: expected one number or 2, zero or more"),
    (lambda: mr.Odometry(BASE).run([1.0, 2.0], 0.1), r"rates has shape \(2,\): expected \(samples, 2\)"),
    (lambda: mr.Odometry(BASE).run([[1.0, 2.0]], 0.0), "dt = 0.0: expected more than zero"),
    (lambda: go.arc_to([1, 2, 0], [1, 2]), r"point \[1, 2\] is the start or straight behind it"),
    (lambda: go.PoseLaw(k_alpha=0.5), "k_alpha = 0.5.*: expected k_alpha > k_rho > 0 > k_beta"),
    # ---- sliding ----
    (lambda: go.sliding_twist(go.omni(0.4, 0.05), [1, 1, 1], 1.0, 0.5), "wheels with rollers: expected plain wheels"),
    (lambda: go.sliding_twist(BASE, [1, 1], -1.0, 0.5), "loads = .*: expected zero or more"),
    (lambda: go.sliding_twist(BASE, [[1, 1]], 1.0, 0.5), r"rates has shape \(1, 2\): expected \(2,\)"),
    (
        lambda: go.sliding_twist(BASE, [1, 1], 50.0, 0.5, [80.0, 0, 0]),
        "no steady twist under the wrench .* friction, 50 N",
    ),
    # ---- support ----
    (lambda: mr.zero_moment_point("crab", 0, 0, 0), "ground_wrench on 'crab': expected a robot"),
    (lambda: mr.zero_moment_point(CRAB, CRAB.neutral(), ZERO, ZERO, normal=[0, 0, 0]), "expected a direction, upwards"),
    (lambda: mr.zero_moment_point(CRAB, CRAB.neutral(), ZERO[:3], ZERO), r"v has shape \(3,\): expected"),
    (
        lambda: mr.centre_of_pressure(np.eye(3)[:2], [1.0, 2.0, 3.0]),
        r"forces has shape \(3,\): expected \(\.\.\., 2, 3\)",
    ),
    (lambda: mr.centre_of_pressure(np.eye(3), [1.0, 2.0, -3.0]), "from -3 N: expected contacts that push"),
    (lambda: mr.stability_margin([[0, 0], [1, 0], [0, 1]], 0.3), r"point has shape \(\): expected"),
    (lambda: mr.support_polygon([1.0, 2.0]), r"points has shape \(2,\): expected \(n, 2\) or \(n, 3\)"),
    (lambda: mr.centre_of_pressure([0, 0, 0], [1]), r"points has shape \(3,\): expected \(\.\.\., k, 3\)"),
    (lambda: go.push_margin(WEIGHT, [0, 0, 0], [0, 0, 1], 0.5), r"points has shape \(3,\): expected \(k, 3\)"),
    (lambda: go.push_margin(WEIGHT, np.eye(3), [0, 0, 1], 0.5, [0, 0, 0]), "expected directions away from the ground"),
    # ---- pendulum ----
    (lambda: mr.LinearPendulum(0.0), "height = 0.0: expected more than zero"),
    (lambda: mr.LinearPendulum(0.8, rise=-10.0), "rise = -10 m/s²: it leaves the ground"),
    (lambda: mr.PreviewControl(0.8, samples=0), "samples = 0: expected a whole number, 1 or more"),
    (lambda: mr.PreviewControl(0.8).walk(0.3), r"reference has shape \(\): expected \(samples,\)"),
    (lambda: mr.PreviewControl(0.8).walk([0.3], start=[0.0]), r"start has shape \(1,\): expected \(3,\)"),
    # ---- gaits ----
    (lambda: mr.SpringMass(mass=0.0), "mass = 0.0: expected more than zero"),
    (lambda: mr.SpringMass().hop(1.0, 5.0, 67), "angle = 67 rad: expected an angle of attack between 0 and pi"),
    (lambda: mr.SpringMass().walking_map([0.97, 0.0], 100.0, 1.2), "energy = 100 J: expected at least"),
    (lambda: mr.RimlessWheel(1.0, 0.1), "half_angle = 1 rad: expected less than pi/4"),
    (lambda: mr.RimlessWheel(0.3, -0.1), "slope = -0.1 rad: expected between 0 and pi/2"),
    (lambda: mr.Compass(slope=-0.1), "slope = -0.1 rad: expected between 0 and pi/2"),
    (lambda: mr.Compass(slope=0.1, leg=-1.0), "leg = -1: expected zero or more"),
    (lambda: go.stride([], [1.0]), r"phases = \[\]: expected one or more Phase"),
    (lambda: mr.fixed_point(3, [0.0]), "function = 3: expected a map"),
    (lambda: mr.periodic_orbit(lambda x: x, [[1.0]], 1.0), r"x has shape \(1, 1\): expected a state"),
]

FAILED = [
    (lambda: go.stride([FALL], [1.0, 100.0], longest=1.0), "phase 0 has not ended 1 s after"),
    (lambda: mr.fixed_point(lambda x: x + 1.0, [0.0]), r"no fixed point found from \[0.0\]"),
    (lambda: mr.fixed_point(lambda x: np.where(x > 0.5, np.nan, 10 * x - 6), [0.0]), "no fixed point found"),
    (
        lambda: mr.periodic_orbit(lambda x: [1.0, -x[1]], [1.0, 0.0], 1.0),
        "no periodic motion found near the period 1 s",
    ),
    (lambda: mr.periodic_orbit(lambda x: [x[1], -x[0]], [1.0, 0.0], 6.2), "at rest at .*, not a periodic motion"),
    (lambda: mr.SpringMass(80.0, 14000.0).step([0, 0.97, 0.01, 0.0], np.radians(69)), "falls or leaves the ground"),
    (
        lambda: mr.SpringMass(80.0, 14000.0).step([0, 0.97, 4.0, 0.0], np.radians(69)),
        "falls or leaves the ground after",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(("call", "message"), FAILED, ids=[m for _, m in FAILED])
def test_failed(call, message):
    with pytest.raises(SimulationError, match=message):
        call()
