"""Forces one by one: the figures of foundations X24, signs, limits, energies that are potentials, and what is refused."""

import numpy as np
import pytest

import modurob as mr
from modurob.catalogue.drives import INPUTS
from modurob.catalogue.forces import FORCES, FrameForce, JointForce, JointLaw, Motion
from modurob.errors import InputError
from modurob.mechanism import JointRow
from modurob.spatial import inertia, se3

X24 = mr.Friction(viscous=0.5, coulomb=2, static=3, stribeck=0.1)
NONE = np.zeros(0)
STEP = 1e-20


def total(friction, v):
    """All of a friction in motion, against it."""
    return float(np.sign(v) * friction.dry(np.array(v)) - friction.effort(0.0, np.array(0.0), np.array(v), NONE))


@pytest.mark.parametrize(
    ("friction", "v", "figure"),
    [
        (X24, 0.1, "2.4178794412"),
        (X24, 1.0, "2.5000453999"),
        (mr.Friction(viscous=0.5, coulomb=2), 0.1, "2.0500000000"),
    ],
)
def test_friction_meets_the_printed_figures(friction, v, figure):
    assert f"{total(friction, v):.10f}" == figure
    assert total(friction, -v) == -total(friction, v)


def test_friction_holds_as_much_at_rest_as_it_says():
    assert X24.holding() == 3
    assert mr.Friction(coulomb=2).holding() == 2
    # without a Stribeck velocity it falls at once
    assert mr.Friction(coulomb=2, static=3).dry(np.array(1e-12)) == 2


def test_friction_of_a_robot_is_in_its_table():
    builder = mr.Builder("arm")
    builder.body("a", inertia.point(1.0, (0, 0, 1)), joint=mr.Free(), properties=mr.JointProperties(damping=0.1))
    own = mr.JointProperties(damping=0.3, friction=0.7)
    builder.body("b", inertia.point(1.0, (0, 0, 1)), parent="a", joint=mr.Revolute((1, 0, 0)), properties=own)
    rows = builder.build().forces
    assert all(isinstance(row, JointRow) and isinstance(row.force, mr.Friction) for row in rows)
    assert [(row.joint, row.rate, row.force.viscous, row.force.coulomb) for row in rows] == [
        *((0, k, 0.1, 0.0) for k in range(6)),
        (1, 0, 0.3, 0.7),
    ]


def test_stops_push_back_and_never_pull():
    stop = mr.Stop(-1.0, 0.5, stiffness=10.0, damping=2.0)

    def effort(q, v):
        return float(stop.effort(0.0, np.array(q), np.array(v), NONE))

    assert effort(0.5, 3.0) == 0
    assert effort(0.6, 0.0) == pytest.approx(-1.0)
    assert effort(0.6, 1.0) == pytest.approx(-3.0)
    assert effort(0.6, -1.0) == 0  # -1 + 2 would pull
    assert effort(-1.2, 0.0) == pytest.approx(2.0)
    assert effort(-1.2, -1.0) == pytest.approx(4.0)
    assert effort(-1.2, 5.0) == 0
    open_above = mr.Stop(lower=0.0, stiffness=10.0, damping=0.0)
    assert float(open_above.effort(0.0, np.array(1e9), np.array(0.0), NONE)) == 0


@pytest.mark.parametrize(
    ("force", "q"),
    [
        (mr.JointSpring(3.0, rest=0.4), -0.7),
        (mr.Stop(-1.0, 0.5, 10.0, 0.0), 0.8),
        (mr.Stop(-1.0, 0.5, 10.0, 0.0), -1.3),
    ],
)
def test_efforts_without_loss_are_slopes_of_energies(force, q):
    slope = np.imag(force.energy(np.array(q + 1j * STEP), NONE)) / STEP
    assert float(force.effort(0.0, np.array(q), np.array(0.0), NONE)) == pytest.approx(-slope, rel=1e-14)


def frames(rng):
    return [Motion(se3.random(rng), rng.normal(size=6)) for _ in range(2)]


def power(frame, F):
    return float(F @ frame.V)


def test_a_spring_between_frames_is_equal_and_opposite_and_loses_what_its_damper_takes(rng):
    for _ in range(20):
        a, b = frames(rng)
        spring = mr.Spring(stiffness=7.0, length=0.3, damping=0.9)
        F_a, F_b = spring.wrenches(0.0, a, b, NONE)
        world = [np.r_[f := X[:3, :3] @ F[:3], np.cross(X[:3, 3], f)] for X, F in ((a.X, F_a), (b.X, F_b))]
        np.testing.assert_allclose(world[0], -world[1], atol=1e-12)
        # where both go in a tiny time, in the direction of their twists
        moved = [frame.X @ (np.eye(4) + 1j * STEP * _hat(frame.V)) for frame in (a, b)]
        rate = np.imag(spring.energy(*moved, NONE)) / STEP
        way = b.X[:3, 3] - a.X[:3, 3]
        closing = (b.X[:3, :3] @ b.V[:3] - a.X[:3, :3] @ a.V[:3]) @ way / np.linalg.norm(way)
        assert power(a, F_a) + power(b, F_b) == pytest.approx(-rate - 0.9 * closing**2, rel=1e-12)


def _hat(V):
    x, y, z, a, b, c = V
    return np.array([[0, -c, b, x], [c, 0, -a, y], [-b, a, 0, z], [0, 0, 0, 0]])


def test_a_spring_at_a_point_pulls_nowhere():
    still = Motion(np.eye(4), np.zeros(6))
    F_a, F_b = mr.Spring(stiffness=7.0, length=0.3).wrenches(0.0, still, still, NONE)
    assert not F_a.any()
    assert not F_b.any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mr.Friction(viscous=-1), r"friction: viscous is -1: expected a finite number, 0 or more"),
        (lambda: mr.Friction(coulomb=np.nan), r"coulomb is nan"),
        (lambda: mr.JointSpring(np.True_), "stiffness is np.True_: expected a number"),
        (lambda: mr.JointSpring(10**400), "joint spring: stiffness is 10{59}: expected a finite number, 0 or more"),
        (lambda: mr.Friction(coulomb="much"), r"coulomb is 'much': expected a number"),
        (lambda: mr.Friction(coulomb=2, static=1), r"static 1 is below coulomb 2"),
        (lambda: mr.Friction(stribeck=[0.1]), r"stribeck is \[0.1\]"),
        (lambda: mr.JointSpring(-3.0), r"joint spring: stiffness is -3.0"),
        (lambda: mr.JointSpring(3.0, rest=np.inf), r"rest is inf"),
        (lambda: mr.Spring(1.0, length=True), r"spring: length is True"),
        (
            lambda: mr.Stop(0.0, 1.0, stiffness=3.0),
            r"stop with stiffness 3.0 and damping None: expected both, or neither",
        ),
        (lambda: mr.Stop(0.0, 1.0, -3.0, 0.0), r"stop: stiffness is -3.0"),
    ],
)
def test_numbers_that_are_none_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_every_kind_is_registered_and_made_again_from_its_numbers():
    made = {
        "disturbance": mr.Disturbance(),
        "friction": X24,
        "oscillator": mr.Oscillator(20.0, 1.0, 0.1, 0.4, 1.5, 0.3, 7.0),
        "joint spring": mr.JointSpring(1.0, 0.2, 0.3),
        "speed servo": mr.SpeedServo(2.0, 3.0, 0.1),
        "spring": mr.Spring(1.0, 0.2, 0.3),
        "stop": mr.Stop(-1, 1, 2.0, 3.0),
        **{f"{kind} drive": mr.load_drive("dynamixel-mx64").force(kind) for kind in INPUTS},
        "wound cable": mr.WoundCable(600.0, 2.0, conservative=True),
    }
    assert {kind for kind, cls in FORCES.items() if cls.__module__.startswith("modurob.")} == set(made)
    for kind, force in made.items():
        assert isinstance(force, JointForce | JointLaw | FrameForce)
        assert FORCES[kind](**force.parameters()) == force
