"""Organisms on the ground: how far their gaits lead, what was found, where they can be steered, what MuJoCo makes of it."""

import numpy as np
import pytest

import modurob as mr
from examples.walking import HINGES
from examples.walking import ORGANISMS as HAND_SET
from modurob.errors import GaitError
from modurob.judges.walking import weighed
from modurob.motion.gaits.driven import servo_states, with_servos
from modurob.motion.gaits.found import found_gaits
from modurob.motion.gaits.steering import TURNS
from modurob.motion.gaits.travel import Travel
from modurob.spatial import inertia
from tests.oracles import rigid_contact
from tests.sampling import sampled

GROUND = mr.Ground(friction=0.8)


def organism(name):
    return mr.walking_robot(name).robot()


def start(robot, gait):
    walker = mr.driven(robot, gait).on_ground(GROUND)
    return walker, walker.standing(gait.on(robot)(0.0)[0])


def walk(robot, gait, duration=20.0):
    walker, q = start(robot, gait)
    return mr.simulate(walker, q, duration=duration, tick=0.05)


# ---- how far ----


@pytest.mark.parametrize("name", HAND_SET)
def test_gaits_travel_two_metres_in_twenty_seconds_and_found_ones_twice_as_fast(name):
    robot = organism(name)
    run = walk(robot, HAND_SET[name])
    went = mr.travel(run)
    assert went.distance > 2.0
    assert went.cost_of_transport < 3.5
    found = mr.travel(walk(robot, mr.found_gait(name), 12.0), since=5.0)
    assert found.speed > 2 * mr.travel(run, since=5.0).speed


def test_every_organism_has_a_found_gait():
    assert set(found_gaits()) == set(HAND_SET)
    with pytest.raises(mr.ModurobError, match="no gait was found for 'cra': did you mean 'crab'"):
        mr.found_gait("cra")
    with pytest.raises(mr.ModurobError, match="no organism 'hexapode': did you mean 'hexapod'"):
        mr.walking_robot("hexapode")


@pytest.mark.parametrize(
    ("preset", "options"), [("sidewinding", {"amplitude": 0.6}), ("rolling", {"amplitude": 0.3}), ("inchworm", {"amplitude": 0.8})]
)  # fmt: skip
def test_snakes_inch_wind_sideways_and_roll(preset, options):
    """Along themselves, and across themselves."""
    robot = organism("snake")
    run = walk(robot, mr.gait(preset, frequency=1.0, **options))
    went = mr.travel(run)
    assert went.distance > 2.0
    if preset == "inchworm":
        # along y, the row of modules
        assert np.abs(np.cos(went.heading)) < 0.01
        return
    # in the first period it leaves across its row
    way = (robot.centre_of_mass(run.q[60]) - robot.centre_of_mass(run.q[0]))[:2]
    assert np.abs(way[0]) > np.abs(way[1])


@pytest.mark.judge
@pytest.mark.parametrize("name", [name for name in HAND_SET if name != "wheel"])
def test_six_gaits_go_as_in_mujoco_with_stiff_contacts(name):
    """20 s: mean speed to a tenth, heading to five degrees, against contacts as stiff as steps of 0.2 ms allow; at the default
    step, and at the largest for which this holds."""
    from modurob.judges.walking import MujocoWalker

    robot = organism(name)
    walker, q = start(robot, HAND_SET[name])
    theirs = MujocoWalker(walker, 2e-4).walk(q, 20.0)
    way = (theirs.centre[-1] - theirs.centre[0])[:2]
    for dt in (2e-3, 5e-3):
        went = mr.travel(mr.simulate(walker, q, duration=20.0, tick=0.05, stepper=mr.LinearlyImplicit(dt)))
        assert went.distance == pytest.approx(np.hypot(*way), rel=0.1)
        assert abs(went.heading - np.arctan2(way[1], way[0])) < np.deg2rad(5)


@pytest.mark.judge
def test_the_wheel_goes_as_in_mujoco_on_average():
    """Now and then it loses a roll, in every engine, and starts that differ by a hundredth of a radian end a metre apart: so the
    mean over 32 of them, 20 s, speed to a tenth and heading to five degrees. The standard error of a mean is some 2.5 %."""
    from modurob.judges.walking import MujocoWalker

    walker, q = start(organism("wheel"), HAND_SET["wheel"])
    tilts = np.zeros((32, walker.nv))
    tilts[:, 3] = 0.03 * np.random.default_rng(0).normal(size=32)
    starts = walker.standing(walker.integrate(q, tilts))
    judge = MujocoWalker(walker, 5e-4, yields=8.0)
    centres = [judge.walk(one, 20.0).centre for one in starts]
    theirs = np.mean([(c[-1] - c[0])[:2] for c in centres], axis=0)
    for dt in (2e-3, 5e-3):
        run = mr.simulate(walker, starts, duration=20.0, tick=0.1, stepper=mr.LinearlyImplicit(dt))
        c = walker.centre_of_mass(run.q)
        ours = (c[-1] - c[0])[:, :2].mean(axis=0)
        assert np.hypot(*ours) == pytest.approx(np.hypot(*theirs), rel=0.1)
        assert abs(np.arctan2(*ours) - np.arctan2(*theirs)) < np.deg2rad(5)


@pytest.mark.judge
def test_the_wheel_rolls_as_on_rigid_coulomb_contacts():
    """8 s, in which it loses no roll: contacts without springs, and a ring kept by impulses."""
    walker, q = start(organism("wheel"), HAND_SET["wheel"])
    rigid = rigid_contact.centres(weighed(walker), q, 8.0, 2e-3, 0.8)
    went = mr.travel(mr.simulate(walker, q, duration=8.0, tick=0.05))
    assert went.distance == pytest.approx(np.hypot(*(rigid[-1] - rigid[0])[:2]), rel=0.05)


@pytest.mark.judge
def test_a_hexapod_at_the_limit_of_its_servos_goes_as_on_rigid_coulomb_contacts():
    """Where MuJoCo goes a fifth faster: speed from 2 to 5 s to a tenth."""
    gait = mr.gait("hexapod", amplitude=0.35, frequency=1.0, stance=0.5)
    walker, q = start(organism("hexapod"), gait)
    went = mr.travel(mr.simulate(walker, q, duration=5.0, tick=0.05), since=2.0)
    rigid = rigid_contact.centres(walker, q, 5.0, 1e-3, 0.8)
    assert went.speed == pytest.approx(np.hypot(*(rigid[5000] - rigid[2000])[:2]) / 3.0, rel=0.1)


# ---- what is measured, against closed forms ----

RADIUS, MASS, SLOPE, SPEED = 0.1, 2.0, 0.2, 0.5


def wheel_on(plane, spin, friction=0.8):
    """A wheel that goes up a plane at SPEED, turning by `spin` [rad/s]: its robot, q and v."""
    b = mr.Builder("wheel")
    b.body("rim", inertia.cylinder(MASS, RADIUS, 0.05), parent="world", joint=mr.Free())
    b.collision("cylinder", (RADIUS, 0.05), on="rim")
    n = np.asarray(plane.gap(np.zeros(3))[1], dtype=float)
    ahead = np.cross([0.0, 1.0, 0.0], n)
    R = np.column_stack([ahead, -n, np.cross(ahead, -n)])  # the cylinder's axis lies along z of the body
    q = np.concatenate([RADIUS * n, mr.spatial.quaternion.from_matrix(R)])
    v = np.concatenate([R.T @ ahead * SPEED, R.T @ np.cross(n, ahead) * spin])
    return b.build().on_ground(mr.Ground(friction=friction, surface=plane)), q, v


def test_the_cost_of_transport_of_a_wheel_up_a_slope_is_its_tangent():
    """A torque m g r sin(slope) about the axle keeps the speed: the work over weight and way along the ground is tan(slope)."""
    robot, q, v = wheel_on(mr.Plane(SLOPE), SPEED / RADIUS)
    torque = np.zeros(6)
    torque[5] = MASS * 9.81 * RADIUS * np.sin(SLOPE) * np.sign(v[5])
    run = mr.simulate(robot, q, v, duration=2.0, controller=lambda t, q, v: torque, tick=0.02)
    went, climbed = mr.travel(run), run.q[-1, 2] - run.q[0, 2]
    assert climbed == pytest.approx(2.0 * SPEED * np.sin(SLOPE), rel=5e-3)
    assert went.speed == pytest.approx(SPEED * np.cos(SLOPE), rel=5e-3)
    assert went.cost_of_transport == pytest.approx(np.tan(SLOPE), rel=1e-2)
    assert went.slip < 1e-3


@pytest.mark.parametrize("spin", [0.0, 2.0, 8.0])
def test_the_slip_of_a_wheel_on_ice_is_how_its_rim_slides(spin):
    """|v - r w| / v."""
    robot, q, v = wheel_on(mr.Plane(), spin, friction=0.0)
    went = mr.travel(mr.simulate(robot, q, v, duration=1.0, tick=0.02))
    assert went.distance == pytest.approx(SPEED, rel=1e-6)
    assert went.heading == pytest.approx(0.0, abs=1e-6)
    assert went.slip == pytest.approx(abs(SPEED - RADIUS * spin) / SPEED, rel=1e-3)
    assert went.cost_of_transport == 0


# ---- steering ----

# the hinge of the fourth Scout stands upright, so that it can steer
TURNED = {"m2/turn": np.pi / 2, "m3/turn": -np.pi / 2}
STEERED = {
    "hexapod": (HAND_SET["hexapod"], 1.6),
    "snake": (HAND_SET["snake"], 2.0),
    "convoy": (
        mr.gait("inchworm", amplitude=dict.fromkeys(HINGES[:3] + HINGES[4:], 0.6), frequency=1.0, posture=TURNED),
        2.2,
    ),
    "crab": (HAND_SET["crab"], 1.5),
}


@pytest.mark.parametrize("name", sampled(STEERED, (1, 3)))
def test_organisms_walk_to_goals_on_both_sides(name):
    gait, far = STEERED[name]
    steered = mr.steering(organism(name), gait, GROUND)
    ahead = mr.travel(walk(organism(name), gait, 6.0)).heading
    for side in (0.5, -0.5):
        goal = far * np.array([np.cos(ahead + side), np.sin(ahead + side)])
        run = mr.walk_to(steered, goal, duration=40.0)
        assert np.hypot(*(run.robot.centre_of_mass(run.q[-1])[:2] - goal)) < 0.1
        assert run.events[-1].kind == "goal"
        assert run.events[-1].message.startswith("reached: 0.0")
    far_off = mr.walk_to(steered, 10 * goal, duration=2.0)
    assert far_off.events[-1].message.startswith("not reached: ")


def test_turns_are_those_that_were_seen():
    steered = mr.steering(organism("hexapod"), HAND_SET["hexapod"], GROUND)
    assert np.all(np.diff(steered.rates) > 0)
    np.testing.assert_allclose(steered.turn(steered.rates), TURNS)
    assert steered.turn(100.0) == 1.0
    # left is positive: legs on the left swing less; what lifts them does not change
    x = with_servos(steered.walker, {})
    turned = steered.waves(x, 0.25)
    for name, s in servo_states(steered.walker).items():
        less = 0.75 if name.startswith("l") and name.endswith("a/hinge") else 1.0
        assert turned[s][1] == pytest.approx(less * x[s][1])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: mr.steering(organism("caterpillar"), HAND_SET["caterpillar"]), "caterpillar turns by .* rad/s at turns of -1"),
        (lambda: mr.steering(organism("snake"), mr.gait("inchworm", amplitude=1e-6)), "leads snake nowhere"),
        (lambda: mr.steering(organism("snake"), HAND_SET["snake"], bend=0.0), "bend 0.0"),
        (lambda: mr.walk_to(None, (1.0, np.nan)), r"goal \(1.0, nan\): expected \(x, y\) on the ground"),
        (lambda: mr.walk_to(None, (1.0, 2.0), reach=-1.0), "reach -1.0"),
        (lambda: mr.gait("sidewinding", lag="late"), "lag 'late'"),
        (lambda: mr.gait("bound", stance=np.inf), "stance inf"),
    ],
)  # fmt: skip
def test_what_cannot_be_steered_is_refused(call, says):
    with pytest.raises(mr.ModurobError, match=says):
        call()


# ---- patterns by the roles of joints ----


def test_serpentine_shares_go_to_joints_by_their_axes():
    """Hinges 0, 2, 4, 6 of the snake bend it up and down, 1, 3, 5 sideways."""
    reference = mr.gait("sidewinding", amplitude=0.5, pitch=0.2, lag=0.3).on(organism("snake"))
    np.testing.assert_allclose(np.abs(reference.amplitude), [0.1, 0.5, 0.1, 0.5, 0.1, 0.5, 0.1])
    np.testing.assert_allclose(reference.phase, -2 * np.pi * np.arange(7) / 7 - [0, 0.3, 0, 0.3, 0, 0.3, 0])
    np.testing.assert_allclose(mr.gait("inchworm").on(organism("snake")).amplitude[1::2], 0)
    np.testing.assert_allclose(mr.gait("undulation").on(organism("snake")).amplitude[::2], 0)
    assert np.ptp(mr.gait("rolling").on(organism("snake")).phase[::2]) == 0


def test_bodies_bound_by_how_far_ahead_joints_are():
    """The crab's tail is behind its arms; turned about the vertical it is the same body."""
    reference = mr.gait("bound", lag=2.4, stance=0.2, amplitude=0.5).on(organism("crab"))
    np.testing.assert_allclose(reference.phase, [0, -2.4, -2.4], atol=1e-9)
    np.testing.assert_allclose(reference.centre, -0.2)
    np.testing.assert_allclose(mr.gait("bound").on(organism("hexapod")).amplitude[2::2], 0, atol=1e-12)


def test_a_travel_is_of_a_recording_and_reads_well():
    with pytest.raises(GaitError, match="travel of 3: expected a recording, as simulate gives it"):
        mr.travel(3)
    alone = Travel(np.float64(0.5), np.float64(0.25), np.float64(1.0), np.float64(2.0), np.float64(1 / 3))
    assert repr(alone) == "Travel(distance=0.5, speed=0.25, heading=1, cost_of_transport=2, slip=0.333333)"
    assert "array" in repr(alone._replace(slip=np.zeros(2)))
