"""Lines that are none are refused, with what was found and what was expected."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.errors import ControlError, InputError, MechanismError, ModurobWarning
from modurob.mechanism import archive
from modurob.spatial import inertia, se3

ROPE = mr.Elastic(stiffness=100.0, rest=1.0)
A, B, ON = ("world", (0, 0, 1)), ("rod", (0, 0, -1)), ("world", (0.3, 0, 0))


def rod():
    b = mr.Builder("pendulum")
    b.body("rod", inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
    b.body("drum", inertia.sphere(1.0, 0.1), joint=mr.Revolute((0, 0, 1)))
    b.body("ball", inertia.sphere(1.0, 0.1), joint=mr.Spherical())
    return b


@pytest.mark.parametrize(
    ("route", "law", "message"),
    [
        ([A, B], 3.0, "law 3.0: expected mr.Spring"),
        ("world", ROPE, "route 'world': expected a list of"),
        ([A, 7], ROPE, "place 1: 7: expected"),
        ([A, ("rod", (0, 0))], ROPE, "place 1: .*expected three numbers, or a pose"),
        ([A, (*B, 3)], ROPE, r"place 1: 3: expected mr.Pulley"),
        ([A, ("arm", (0, 0, 0))], ROPE, "no body or frame 'arm'"),
        ([A], ROPE, "1 place: expected two or more"),
        ([A, A, B], ROPE, "places 0 and 1 are one point of one body"),
        ([A, (*ON, mr.Winch("drum", 0.1)), B], ROPE, "place 1 is a winch: expected winches at the ends"),
        ([(*A, mr.Pulley(0.1)), B], ROPE, "place 0 is a pulley of fixed axis: expected a point"),
        ([(*A, mr.Swivel(0.1)), (*ON, mr.Pulley(0.1)), B], ROPE, "the swivel at place 0 faces a pulley"),
        ([(*A, mr.Winch("axle", 0.1)), B], ROPE, "no joint 'axle'"),
    ],
)
def test_routes_that_are_none(route, law, message):
    with pytest.raises(MechanismError, match=message):
        rod().line("rope", route, law)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mr.Elastic(-1.0, 1.0), "elastic: stiffness is -1.0"),
        (lambda: mr.Elastic(1.0, np.nan), "elastic: rest is nan"),
        (lambda: mr.Tension("much"), "tension: tension is 'much'"),
        (lambda: mr.Pulley(-0.1), "pulley: radius is -0.1"),
        (lambda: mr.Swivel(0.1, np.inf), "swivel: offset is inf"),
        (lambda: mr.Winch("drum", 0.0).node(), "radius 0.0: expected more than zero"),
        (lambda: mr.WoundCable(-3.0), "wound cable: stiffness is -3.0"),
        (lambda: mr.Involute(-0.1), "involute: radius -0.1: expected a finite number above zero"),
    ],
)
def test_numbers_that_are_none(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_tables_that_do_not_fit():
    b = rod()
    b.line("rope", [A, B], ROPE)
    robot = b.build()
    row = robot.lines[0]
    with pytest.raises(MechanismError, match="line rope has 1 frames and 0 joints: expected 2 and 0"):
        replace(robot, forces=(row._replace(frames=row.frames[:1]),))
    b = rod()
    b.line("rope", [(*A, mr.Winch("ball", 0.1)), B], ROPE)
    with pytest.raises(MechanismError, match="expected winches on joints of one coordinate"):
        b.build()
    b = rod()
    b.force("rope", mr.WoundCable(100.0), joint="drum")
    with pytest.raises(MechanismError, match="expected an involute joint with a stretch"):
        b.build()
    b = rod()
    b.line("rope", [A, B], ROPE)
    with pytest.raises(MechanismError, match="there is already a force"):
        b.line("rope", [A, B], ROPE)


# ---- routes that no line can run, and cables that are slack ----


def belted(*between, end=(1.0, 0, 0)):
    """A rod about z, and a spring from the world over these places to a point of it."""
    b = mr.Builder("belted")
    b.body("rod", inertia.point(1.0, (0.5, 0, 0)), joint=mr.Revolute((0, 0, 1)))
    b.line("belt", [("world", (-1, 0, 0)), *between, ("rod", end)], mr.Spring(10.0, 1.0))
    return b.build()


PULLEY = ("world", (0, 0, 0), mr.Pulley(0.3))


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        (
            belted(PULLEY, end=(0.1, 0, 0)),
            r"line 'belt': places 1 \(pulley, radius 0.3 m\) and 2 \(point, radius 0 m\) are 0.1 m apart.*expected 0.3 m or more",
        ),
        (
            belted(PULLEY, ("world", (0.15, 0, 0), mr.Pulley(0.1))),
            r"places 1 .*radius 0.3 m.* and 2 .*radius 0.1 m.* are 0.15 m apart.*inside the other's circle: expected 0.2 m or more",
        ),
        (
            belted(("world", (0.5, 0.2, 0), mr.Swivel(0.4)), end=(0.5, 0, 0)),
            "place 2 is 0.2 m from the centre of the swivelling pulley at place 1, inside its radius of 0.4 m",
        ),
        (
            belted(end=(-1.0, 0, 0)),
            "places 0 and 1 are one point, 0.0e.00 m apart: which way it pulls is not known there",
        ),
    ],
)
def test_routes_that_cannot_be_run(robot, message):
    """Said where and by how much, and no simulation starts so; a little on, where the rod has turned, or elsewhere, all is well."""
    (fault,) = robot.line_faults([0.0])
    with pytest.raises(InputError, match=r"belted at the start: .*" + message):
        mr.simulate(robot, [0.0], duration=0.1)
    assert fault.startswith("line 'belt'")
    assert not belted(PULLEY).line_faults([0.2])
    assert not belted(("world", (0.5, 0.2, 0), mr.Swivel(0.1))).line_faults([0.2])
    end = [("world", (1, 0, 0)), ("rod", (0.1, 0, 0), mr.Swivel(0.1, 0.1))]
    b = mr.Builder("faced")
    b.body("rod", inertia.point(1.0, (0.5, 0, 0)), joint=mr.Revolute((0, 0, 1)))
    b.line("rope", end, ROPE)
    assert not b.build().line_faults([0.2])


def test_a_slack_start_is_said():
    """Which cables, and by how much; the controller winds them in as if they were taut."""
    from tests.oracles import strut

    robot, q = strut.stretched(2e9)
    q[2] -= 0.5
    slack = -robot.line_stretches(q)[0]
    law = mr.WholeBody([mr.JointTask(["strut"], reference=[0.0, 0.0])], tension=(60.0, 500.0), sample_time=1e-3)
    with pytest.warns(
        ModurobWarning, match=f"slack at the start: rope0 by {slack:.3g} m; the controller takes cables for taut"
    ):
        mr.simulate(robot, q, duration=0.002, controller=law, stepper=mr.RungeKutta4(1e-3))


def test_tensions_that_run_away_are_refused():
    """Next to the twist of 150 degrees cables lose their hold: without an upper bound that is said, with one it is kept."""
    from tests.oracles import simplex

    robot, q = simplex.standing()
    near, *_ = simplex.pose(simplex.robot(), np.radians(150.001))
    q[: len(near)] = near
    task = mr.JointTask([f"strut{k}" for k in range(3)], reference=near[:6])
    with pytest.raises(
        ControlError, match=r"would have to pull with .* N, where .* are usual.*give tension=\(least, most\)"
    ):
        mr.WholeBody([task], tension=(60.0, np.inf)).on(robot).plan(0.0, q, np.zeros(robot.nv))
    plan, problem = mr.WholeBody([task], tension=(60.0, 400.0)).on(robot).plan(0.0, q, np.zeros(robot.nv))
    assert (60.0 - problem.more[0] + plan.more).max() < 400.0 + 1e-3


def test_workspaces_are_of_trees():
    from tests.oracles.four_bar import FourBar
    from tests.oracles.linkages import four_bar_robot

    robot = four_bar_robot(FourBar())
    with pytest.raises(InputError, match=r"has loops \(pin\): ask for robot.actuation"):
        mr.wrench_closure(robot, np.zeros(3))


def wound():
    """A line over a swivel, a pulley and points, from a winch, and a cable off a pulley."""
    b = mr.Builder("all")
    b.body("drum", inertia.cylinder(1.0, 0.1, 0.1), joint=mr.Revolute((0, 0, 1)))
    b.body("arm", inertia.box(1.0, (1, 0.1, 0.1)), joint=mr.Universal(), at=se3.pose(None, (1.0, 0, 0)))
    b.body("end", inertia.sphere(1.0, 0.1), joint=mr.InvoluteStrain(0.07))
    b.force("cable", mr.WoundCable(600.0, 2.0, conservative=True), joint="end")
    route = [
        ("world", se3.IDENTITY, mr.Winch("drum", 0.1, mr.Swivel(0.1))),
        ("arm", (0, 0.5, 0.3)),
        ("arm", (0.7, 0, 0)),
        ("world", (2, 2, 2)),
    ]
    b.line("rope", route, mr.Elastic(stiffness=500.0, rest=1.0, damping=3.0))
    over = [("world", (2.0, 1, 0)), ("arm", se3.pose(None, (0.2, 0, 0)), mr.Pulley(0.1, -1)), ("world", (-1, 2, 0))]
    b.line("belt", over, mr.Spring(30.0, 1.0, 0.5))
    return b.build()


def test_lines_are_values():
    robot = wound()
    assert pickle.loads(pickle.dumps(robot)) == robot
    assert archive.from_data(archive.to_data(robot), mr.Mechanism) == robot
    other = robot.with_line("more", [("world", (0, 0, 3)), ("arm", (0, 0, 0))], ROPE)
    assert other != robot
    assert other.without_forces("more") == robot
    assert [row.name for row in robot.lines] == ["rope", "belt"]


def test_kernels_are_the_definition():
    """Motion by compiled code and by NumPy, of lines over everything and of the law of a joint."""
    from modurob.algorithms.interpreter import NumPyEngine
    from modurob.simulation.system import State, System

    robot, rng = wound(), np.random.default_rng(3)
    q = np.array([0.3, 0.2, -0.4, 5.0, 0.06])
    v = rng.normal(size=5) * 0.3
    stepper = mr.RungeKutta4(1e-3)
    run = mr.simulate(robot, q, v, duration=0.02, stepper=stepper)
    system, s = System(NumPyEngine(robot, ())), State(q, v, np.zeros(0))
    for k in range(20):
        s = stepper.step(system, k * 1e-3, s, np.zeros(5), 1e-3)
    assert run.q[-1] == pytest.approx(s.q, abs=1e-12)
    assert run.v[-1] == pytest.approx(s.v, abs=1e-10)


def test_the_energy_of_lines_is_their_potential():
    """Forces at rest are the gradient of what is stored, of conservative laws; and power is the fall of energy by damping."""
    from modurob import algorithms

    robot = wound()
    row = robot.lines[0]
    line = replace(row.force, law=replace(row.force.law, conservative=True))
    robot = replace(robot, forces=tuple(row._replace(force=line) if r == row else r for r in robot.forces))
    q, h = np.array([0.3, 0.2, -0.4, 5.0, 0.06]), 1e-6
    slope = [
        (algorithms.stored_energy(robot, q + d) - algorithms.stored_energy(robot, q - d)) / (2 * h)
        for d in h * np.eye(5)
    ]
    assert robot.passive_forces(q, np.zeros(5)) == pytest.approx(-np.array(slope), rel=1e-7, abs=1e-6)
    rng = np.random.default_rng(1)
    for _ in range(10):
        v = rng.normal(size=5) * [1, 1, 1, 1, 0.02]
        damped = robot.passive_forces(q, v) - robot.passive_forces(q, np.zeros(5))
        assert damped @ v <= 1e-12


def test_a_winch_that_is_held_leaves_its_length():
    robot = wound()
    q, v = np.array([0.3, 0.2, -0.4, 5.0, 0.06]), np.array([0.0, 0.2, 0.1, -0.3, 0.01])
    part = robot.locked({"drum": 0.3})
    assert part.line_tensions(q[1:], v[1:]) == pytest.approx(robot.line_tensions(q, v), rel=1e-12)
    assert part.passive_forces(q[1:], v[1:]) == pytest.approx(robot.passive_forces(q, v)[1:], rel=1e-12)
    run = mr.simulate(part, q[1:], v[1:], duration=0.01)
    assert run.status.ok


def test_slopes_of_lines():
    """Linearisation reads lines too: central differences."""
    from modurob.algorithms.forces import passive_slopes

    robot = wound()
    q, v, h = np.array([0.3, 0.2, -0.4, 5.0, 0.06]), np.array([0.3, 0.2, 0.1, -0.3, 0.01]), 1e-6
    by_q, by_v = passive_slopes(robot, q, v)
    steps = h * np.eye(5)
    for found, moved in (
        (by_q, [robot.passive_forces(q + d, v) - robot.passive_forces(q - d, v) for d in steps]),
        (by_v, [robot.passive_forces(q, v + d) - robot.passive_forces(q, v - d) for d in steps]),
    ):
        assert found == pytest.approx(np.stack(moved, axis=-1) / (2 * h), rel=1e-6, abs=1e-4)
