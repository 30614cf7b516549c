"""Kinematic calibration: what can be told apart, what is recovered, and how sure one can be of it."""

import contextlib
import io
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import chi2

import modurob as mr
from modurob import algorithms
from modurob.errors import EstimateError
from modurob.estimation import Geometry, accuracy, calibration, identifiability
from modurob.spatial import inertia, se3, so3
from tests.robots import random_mechanism

NOISE = 1e-5
POSES = 50


def poses_of(robot, q, frame):
    """Without compiled code, which a robot that is used once does not need."""
    return algorithms.forward_kinematics(robot, q)[frame]


def configurations(rng, robot, count=POSES):
    return np.array([robot.random_configuration(rng) for _ in range(count)])


def measured(rng, X, noise=NOISE):
    """Poses as a tracker sees them."""
    turned = se3.rotation(X) @ so3.exp(noise * rng.normal(size=(len(X), 3)))
    return se3.pose(turned, se3.position(X) + noise * rng.normal(size=(len(X), 3)))


def arm(axes, points, name="arm", kinds=None):
    """Joints along axes through points, all frames parallel to the world at zero, and a tool beyond the last."""
    builder, below = mr.Builder(name), np.zeros(3)
    for i, (axis, point) in enumerate(zip(axes, points, strict=True)):
        joint = mr.Prismatic(axis) if kinds and kinds[i] == "P" else mr.Revolute(axis)
        parent, at = f"b{i - 1}" if i else "world", se3.pose(p=point - below)
        builder.body(f"b{i}", inertia.point(1.0, (0, 0, 0.1)), parent=parent, joint=joint, at=at)
        below = np.asarray(point)
    builder.frame("tool", f"b{len(axes) - 1}", se3.pose(p=[0.05, 0.02, 0.1]))
    return builder.build()


X, Y, Z = np.eye(3)


def lwa4p():
    """Two of its axes are parallel, two pairs meet: what Denavit-Hartenberg parameters do not like."""
    heights = (0.205, 0.205, 0.555, 0.555, 0.86, 0.86)
    return arm([Z, Y, Y, Z, Y, Z], [h * Z for h in heights], "lwa4p")


# ---- which ----


@pytest.mark.parametrize("slides", [0, 1, 2])
def test_as_many_parameters_as_theory_says_can_be_told_apart(slides, rng):
    """4 R + 2 P + 6 from poses (Everett, Driels, Mooring 1987), 4 R + 2 P + 3 from points off the last axis."""
    kinds = ["R"] * 6
    for i in rng.choice(5, slides, replace=False):
        kinds[i] = "P"
    robot = arm(rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), kinds=kinds)
    q, count = configurations(rng, robot), 4 * (6 - slides) + 2 * slides
    found = identifiability(robot, "tool", q)
    assert found.rank == count + 6
    assert identifiability(robot, "tool", q, points=True).rank == count + 3
    # the canonical set: across every axis, and the tool
    across = [f"b{i} {c}" for i in range(6) for c in (("rx", "ry") if kinds[i] == "P" else ("x", "y", "rx", "ry"))]
    assert set(found.identifiable) == {*across, *(f"tool {c}" for c in ("x", "y", "z", "rx", "ry", "rz"))}
    assert len(found.dependent) == len(found.names) - found.rank
    assert not found.without_effect
    assert f"{count + 6} of 48 parameters identifiable" in str(found)


def test_parallel_axes_lose_nothing(rng):
    found = identifiability(lwa4p(), "tool", configurations(rng, lwa4p()))
    assert found.rank == 30
    assert found.condition < 100


def test_the_others_are_the_sums_that_they_are_said_to_be(rng):
    """A displacement that depends on others moves the frame as those do, at configurations that were not asked about too."""
    robot = random_mechanism(rng, 5, ("revolute", "prismatic", "helical"), chain=True)
    geometry = Geometry(robot, "b4")
    found = identifiability(robot, "b4", configurations(rng, robot))
    q = configurations(rng, robot, 7)
    every = {p.name: p for p in geometry.parameters()}
    for name, parts in found.dependent.items():
        one = geometry.slopes([every[name]], np.zeros(1), q)[..., 0]
        sum_of = geometry.slopes([every[n] for n in parts], np.zeros(len(parts)), q) @ np.array(list(parts.values()))
        np.testing.assert_allclose(one, sum_of, atol=1e-6)


def test_joints_beside_the_way_have_no_parameters_and_those_without_effect_are_named(rng):
    crab = mr.load("crab").robot()
    q = configurations(rng, crab)
    names = identifiability(crab, "m3", q).names
    moving = {name.rsplit(" ", 1)[0] for name in names}
    assert moving < {*(j.name for j in crab.joints), "tool", "base"}
    # a point on the last axis does not tell how the frame is turned
    points = identifiability(crab, "m3", q, points=True, parameters=["tool"])
    assert points.without_effect == ("tool rx", "tool ry", "tool rz")
    assert points.identifiable == ("tool x", "tool y", "tool z")


def test_slopes_are_derivatives_for_displacements_that_are_not_small(rng):
    robot = random_mechanism(rng, 4, ("revolute", "spherical", "cylindrical", "prismatic"), chain=True)
    geometry = Geometry(robot, "b3")
    parameters, q = geometry.parameters(), configurations(rng, robot, 3)
    values, h = rng.normal(size=len(parameters)) * 0.2, 1e-6
    slopes = geometry.slopes(parameters, values, q)
    for k in range(len(parameters)):
        step = h * (np.arange(len(parameters)) == k)
        before, after = (poses_of(geometry.displaced(parameters, values + s), q, "b3") for s in (-step, step))
        np.testing.assert_allclose(se3.log(se3.inverse(before) @ after) / (2 * h), slopes[..., k], atol=1e-7)


# ---- how well ----


def statistics(rng, robot, frame, runs, points=False, parameters=None):
    """e^T P^-1 e of the parameters, and of the readings, summed over runs, with their degrees of freedom."""
    geometry, q = Geometry(robot, frame), configurations(rng, robot)
    known = identifiability(robot, frame, q, points=points, parameters=parameters)
    chosen, sums, largest = geometry.parameters(known.identifiable), np.zeros(4), 0.0
    for _ in range(runs):
        true = rng.uniform(-1e-4, 1e-4, len(chosen))
        seen = measured(rng, poses_of(geometry.displaced(chosen, true), q, frame))
        found = calibration(
            robot, frame, q, se3.position(seen) if points else seen, noise=NOISE, parameters=known.identifiable
        )
        assert found.names == known.identifiable
        e = found.values - true
        sums += [e @ np.linalg.solve(found.covariance, e), len(e), found.chi_square, found.degrees_of_freedom]
        largest = max(largest, np.abs(e / found.deviations).max())
        assert found.after.rms_position < 3 * NOISE < found.before.rms_position
    return sums, largest


def within(value, freedom, tail=1e-4):
    return chi2.ppf(tail, freedom) < value < chi2.ppf(1 - tail, freedom)


@pytest.mark.parametrize("points", [False, True])
def test_errors_are_recovered_within_what_is_predicted(points, rng):
    (e, n, readings, freedom), largest = statistics(rng, lwa4p(), "tool", 8, points)
    assert within(e, n)
    assert within(readings, freedom)
    assert largest < 5


def test_errors_of_a_table_by_their_names(rng):
    """Of a proximal table a, alpha, d, theta are x, rx, z, rz of its joints: errors of its entries are found under those names."""
    rows = np.column_stack([rng.uniform(0.2, 0.5, 6), rng.uniform(0.5, 1.2, 6), np.zeros((6, 2))])
    errors = rng.uniform(-1e-4, 1e-4, (6, 4))
    drawn, built = (mr.Mechanism.from_dh(table.tolist(), "proximal") for table in (rows, rows + errors))
    q = rng.uniform(-np.pi, np.pi, (50, 6))
    names = [f"joint{i} {component}" for i in range(1, 7) for component in ("x", "rx", "z", "rz")]
    found = calibration(drawn, "tip", q, measured(rng, poses_of(built, q, "tip")), noise=NOISE, parameters=names)
    assert set(found.names) == set(names)
    e = np.array([found.values[found.names.index(name)] for name in names]) - errors.ravel()
    order = [found.names.index(name) for name in names]
    assert within(e @ np.linalg.solve(found.covariance[np.ix_(order, order)], e), len(e))
    assert within(found.chi_square, found.degrees_of_freedom)
    assert np.abs(e).max() < 3e-5 < np.abs(errors).max()


@pytest.mark.judge
@pytest.mark.parametrize("kind", ["lwa4p", "any", "slides"])
@pytest.mark.parametrize("points", [False, True])
def test_predicted_uncertainty_over_many_seeds(kind, points):
    rng = np.random.default_rng(7)
    kinds = "RPRRPR" if kind == "slides" else "RRRRRR"
    robot = lwa4p() if kind == "lwa4p" else arm(rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), kinds=kinds)
    (e, n, readings, freedom), _ = statistics(rng, robot, "tool", 60, points)
    assert within(e, n)
    assert within(readings, freedom)


def test_base_and_tool_are_found_together(rng):
    """Where a robot stands and what it holds (hand-eye calibration), far from the model."""
    robot = mr.load("crab").robot()
    geometry, q = Geometry(robot, "m3"), configurations(rng, robot)
    both = geometry.parameters(["base", "tool"])
    true = rng.normal(size=12) * 0.2
    target = poses_of(geometry.displaced(both, true), q, "m3")
    found = calibration(robot, "m3", q, target, parameters=["base", "tool"])
    np.testing.assert_allclose(poses_of(found.robot, q, "m3"), target, atol=1e-9)
    # the axes of the crab are parallel: a slide along them cannot be told from one of the tool
    assert found.identifiability.rank == len(found.names) < 12


def test_configurations_that_identify_less_than_others_would_are_reported(rng):
    """One configuration many times has six readings to tell; for the six of a tool they are enough."""
    robot = mr.load("crab").robot()
    q = np.tile(configurations(rng, robot)[:1], (20, 1))
    target = poses_of(robot, q, "m3")
    with pytest.warns(mr.ModurobWarning, match=r"20 configurations \(1 distinct\) identify 6 of 14 parameters"):
        found = calibration(robot, "m3", q, target, noise=NOISE)
    assert len(found.names) == 6
    assert calibration(robot, "m3", q, target, noise=NOISE, parameters=["tool"]).identifiability.rank == 6


def test_errors_that_cannot_be_told_apart_do_not_matter(rng):
    """All displacements at once: the calibrated robot is right wherever it goes."""
    robot = lwa4p()
    geometry = Geometry(robot, "tool")
    every = geometry.parameters()
    real = geometry.displaced(every, rng.uniform(-3e-3, 3e-3, len(every)))
    q, elsewhere = configurations(rng, robot), configurations(rng, robot, 100)
    found = calibration(robot, "tool", q, measured(rng, poses_of(real, q, "tool")), noise=NOISE)
    before = accuracy(robot, "tool", elsewhere, poses_of(real, elsewhere, "tool"))
    after = accuracy(found.robot, "tool", elsewhere, poses_of(real, elsewhere, "tool"))
    assert before.rms_position > 1e-3
    assert after.largest_position < 5e-5
    assert after.largest_angle < 5e-5
    assert within(found.chi_square, found.degrees_of_freedom)


def test_without_a_known_noise_it_is_taken_from_what_is_left(rng):
    robot = lwa4p()
    q = configurations(rng, robot)
    seen = measured(rng, poses_of(robot, q, "tool"))
    known, unknown = (calibration(robot, "tool", q, seen, noise=n) for n in (NOISE, None))
    np.testing.assert_allclose(unknown.values, known.values, atol=1e-12)
    np.testing.assert_allclose(unknown.deviations, known.deviations, rtol=0.2)


def test_the_least_squares_are_those_of_the_matrix_elements(rng):
    """von Stryk 3.3: the sum of squares of all elements of T~ - T(q, f), minimised by SciPy."""
    robot = mr.load("crab").robot()
    geometry, q = Geometry(robot, "m3"), configurations(rng, robot, 12)
    names = identifiability(robot, "m3", q).identifiable
    chosen = geometry.parameters(names)
    seen = measured(rng, poses_of(geometry.displaced(chosen, rng.normal(size=len(chosen)) * 1e-3), q, "m3"), 1e-6)
    errors = lambda f: (seen - poses_of(geometry.displaced(chosen, f), q, "m3")).ravel()  # noqa: E731
    theirs = least_squares(errors, np.zeros(len(chosen)), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    ours = calibration(robot, "m3", q, seen, noise=(1.0, 1 / np.sqrt(2)))
    assert ours.names == names
    np.testing.assert_allclose(ours.values, theirs.x, atol=1e-9)


def test_a_calibration_is_shown_and_saved(rng):
    robot = mr.load("crab").robot()
    q = configurations(rng, robot)
    found = calibration(robot, "m3", q, measured(rng, poses_of(robot, q, "m3")), noise=NOISE)
    assert "tool x" in str(found)
    assert "rms" in str(found)
    twin = pickle.loads(pickle.dumps(found))
    assert twin.robot == found.robot
    np.testing.assert_array_equal(twin.values, found.values)


def test_the_examples_of_the_document_print_what_it_says():
    text = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text()
    examples = re.findall(r"```python\n(.*?)```\nprints\n```\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```python") == 2
    names: dict = {}
    for code, printed in examples:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "calibration.md", "exec"), names)
        assert out.getvalue() == printed


# ---- what is refused ----

CRAB = mr.load("crab").robot()
Q = np.linspace(-0.5, 0.5, 30).reshape(10, 3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: calibration("crab", "m3", Q, Q), "calibration on 'crab': expected a robot"),
        (
            lambda: calibration(CRAB, "m3", np.degrees(Q), Q),
            r"q: m./hinge at .* is beyond its limits, .* degrees are .* rad\): expected radians",
        ),
        (lambda: calibration(CRAB, "m3", Q[0], Q), r"q has shape \(3,\): expected finite configurations, \(k, 3\)"),
        (
            lambda: calibration(CRAB, "m3", Q, Q[:4]),
            r"measured has shape \(4, 3\): expected finite poses, \(10, 4, 4\), or points",
        ),
        (lambda: calibration(CRAB, "m3", Q, 2 * np.tile(np.eye(4), (10, 1, 1))), "no rotations: expected"),
        (lambda: calibration(CRAB, "m3", Q, Q, noise=0.0), "noise = 0.0: expected a number above zero, or two"),
        (
            lambda: calibration(CRAB, "m3", Q, Q, parameters=["tol x"]),
            "no parameter 'tol x' of crab: did you mean 'tool x'",
        ),
        (
            lambda: calibration(CRAB, "m3", Q[:2], Q[:2]),
            "6 readings for .* parameters of crab: expected more measurements",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(EstimateError, match=words):
        make()


def test_steps_that_do_not_settle_are_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["modurob.estimation.calibration"], "ITERATIONS", 2)
    far = poses_of(Geometry(CRAB, "m3").displaced(Geometry(CRAB, "m3").parameters("base ry"), np.array([1.0])), Q, "m3")
    with pytest.raises(EstimateError, match="no convergence in 2 steps: expected measurements in the world frame"):
        calibration(CRAB, "m3", Q, far)


def test_frames_that_are_none_are_refused():
    with pytest.raises(mr.ModurobError, match="no frame 'hand'"):
        calibration(CRAB, "hand", Q, Q)


@pytest.mark.parametrize("points", [False, True])
def test_measurements_in_another_unit_or_without_information_are_told(points):
    robot, rng = mr.load("lwa4p").robot(), np.random.default_rng(0)
    q = np.array([robot.random_configuration(rng) for _ in range(40)])
    X = robot.frame_pose(q, "wrist/7")
    millimetres, equal = X.copy(), np.broadcast_to(X[0], X.shape)
    millimetres[:, :3, 3] *= 1000
    millimetres, equal = (x[:, :3, 3] if points else x for x in (millimetres, equal))
    with pytest.raises(EstimateError, match=r"measured positions are spread over .* expected measurements in metres"):
        mr.calibration(robot, "wrist/7", q, millimetres)
    with pytest.warns(mr.ModurobWarning, match=r"spread over .* m, .* expected measurements that differ"):
        mr.calibration(robot, "wrist/7", q, equal)
