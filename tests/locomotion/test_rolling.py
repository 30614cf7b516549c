"""Robots on wheels and tracks: driven Scouts against closed forms of skid steering and against MuJoCo; a differential drive."""

import numpy as np
import pytest

import modurob as mr
from modurob import locomotion as go
from modurob.errors import InputError, MjcfError
from modurob.spatial import inertia, se3

GROUND = mr.Ground(friction=0.8)


def scout():
    return mr.Assembly.single("s", "scout_drive").mechanism(floating=True)


def convoy(n=6):
    made = mr.Assembly.single("m0", "scout_drive")
    for i in range(1, n):
        made = made.dock(f"m{i}", "scout_drive", at=f"m{i - 1}/3", by="4")
    return made.mechanism(floating=True)


def drive(robot, *command, duration=4.0, friction=0.8, **options):
    return mr.simulate(
        mr.on_wheels(robot, *command, **options), duration=duration, ground=mr.Ground(friction=friction), tick=0.02
    )


def yaw(run):
    """Of the first body, (T,) [rad]."""
    w, x, y, z = np.moveaxis(run.q[..., 3:7], -1, 0)
    return np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)), axis=0)


def turning(run, since=2.0):
    """Mean rate from a time on [rad/s]."""
    at = np.flatnonzero(run.t >= since)
    return (yaw(run)[-1] - yaw(run)[at[0]]) / (run.t[-1] - run.t[at[0]])


def rims(robot, width):
    """The wheels of a robot with both of their rims as wheels."""
    base = go.wheeled_base(robot)
    return mr.WheeledBase(
        [mr.Wheel((w.at[0], w.at[1] + side * width / 2), w.radius) for w in base.wheels for side in (-1, 1)]
    )


# ---- the module ----


def test_a_scout_that_drives_is_a_scout_with_tracks():
    """Mass, joints, ports and their places are the Scout's; it stands on its wheels, the rest of it clear of the ground."""
    plain, own = mr.module_type("scout").module(), mr.module_type("scout_drive").module()
    assert sum(p.inertia[0, 0] for p in own.parts.values()) == pytest.approx(1.0)
    for name, port in plain.ports.items():
        np.testing.assert_allclose(own.ports[name].X, port.X)
    for name, joint in plain.joints.items():
        assert own.joints[name].type == joint.type
    m = scout().on_ground(GROUND)
    run = mr.simulate(m, duration=0.5)
    felt = m.contact_forces(run.q[-1], run.v[-1], run.x[-1]).forces[:, 2]
    owners = np.repeat([row.name.split()[0] for row in m.contacts], [row.force.count for row in m.contacts])
    assert {owner.split("/")[1] for owner in owners[felt > 0]} == {
        "left_front",
        "left_rear",
        "right_front",
        "right_rear",
    }
    assert felt.sum() == pytest.approx(9.81, rel=1e-6)


def test_its_wheels_resist_turning_as_an_even_track_does():
    """Across: two axles at a quarter of the contact length before and behind the middle have friction W l / 4 about it."""
    base, length = go.wheeled_base(scout()), 0.105
    across = 0.6 * 9.81 / 4 * sum(abs(w.at[0]) for w in base.wheels)
    assert across == pytest.approx(go.turning_resistance(friction=0.6, weight=9.81, length=length))
    assert go.longest_track(0.0872, 0.8, 0.8) > length  # it can turn on the spot


# ---- closed forms ----


def test_a_scout_drives_straight_without_slip():
    run = drive(scout(), 0.12)
    went = mr.travel(run, since=1.5)
    assert went.speed == pytest.approx(0.12, rel=1e-3)
    assert went.heading == pytest.approx(np.pi / 2, abs=1e-9)
    assert went.slip < 1e-6
    assert go.wheel_rates(run.robot, 0.12) == pytest.approx(run.v[-1, 6:], rel=1e-3)


@pytest.mark.parametrize(
    ("speed", "turn", "friction"), [(0.0, 1.0, 0.8), (0.0, -1.5, 0.3), (0.1, 0.5, 0.8), (-0.05, 1.0, 0.5)]
)
def test_a_scout_turns_as_friction_of_its_sliding_wheels_balances(speed, turn, friction):
    """Slower than its wheels would roll, by the same share whatever the friction: the least dissipation of all rims."""
    run = drive(scout(), speed, turn, friction=friction)
    rates = np.repeat(go.wheel_rates(scout(), speed, turn), 2)
    expected = go.sliding_twist(rims(scout(), 0.01575), rates, loads=9.81 / 8, friction=friction)
    assert abs(expected[2]) < 0.75 * abs(turn)
    assert turning(run) == pytest.approx(expected[2], rel=0.02)
    ahead = np.einsum("ij,ij->i", run.v[:, :3], np.tile([0.0, 1.0, 0.0], (len(run.t), 1)))
    assert ahead[-1] == pytest.approx(expected[0], abs=2e-3)


def test_a_convoy_of_scouts_drives_two_metres_and_follows_its_hinge():
    """Six in a row; the fourth lies on its side, so that its hinge bends the convoy to the left or to the right. It starts as it
    is to lie: after servos threw it over at steps of 2 ms more of its points bear weight, and it turns by up to a tenth faster."""
    run = drive(convoy(), 0.12, duration=20.0)
    assert mr.travel(run).distance > 2.2
    assert abs(yaw(run)[-1]) < 1e-3
    left, right = (turning(bent_convoy(bend)) for bend in (-0.5, 0.5))
    assert left > 0.1
    assert right == pytest.approx(-left, rel=0.02)


def bent_convoy(bend):
    """A drive of 5 s with the hinge of the Scout that lies on its side at `bend` [rad]."""
    posture = {"m2/turn": np.pi / 2, "m3/turn": -np.pi / 2, "m3/hinge": bend}
    m = mr.on_wheels(convoy(), 0.12, posture=posture).on_ground(GROUND)
    q = m.neutral()
    for name, angle in posture.items():
        q[m.joint(name).q_slice] = angle
    return mr.simulate(m, m.standing(q), duration=5.0, tick=0.02)


def test_forces_of_the_ground_on_bodies_without_mass():
    """Halves that are docked to each other are one rigid body; the first, which has no mass of its own, bears weight too."""
    run = drive(convoy(3), 0.0, duration=1.0)
    forces = run.robot.contact_forces(run.q[-1], run.v[-1], run.x[-1]).forces
    assert forces.sum(axis=0) == pytest.approx([0.0, 0.0, 3 * 9.81], abs=1e-3)


def cart(width, radius, mirrored):
    """A body on two driven balls as wheels, which touch at one point, and a ball that rolls freely; with `mirrored` axles the
    right wheel turns backwards."""
    b = mr.Builder("cart")
    b.body("hull", inertia.box(2.0, (0.3, 0.2, 0.05)), joint=mr.Free())
    b.collision("box", (0.3, 0.2, 0.05), on="hull")
    for side, name in ((1, "left"), (-1, "right")):
        axis = (0, side if mirrored else 1, 0)
        at = se3.pose(np.eye(3), np.array([0.0, side * width / 2, -0.03]))
        turned = mr.JointProperties(effort=1.0, armature=1e-4)
        b.body(name, inertia.sphere(0.1, radius), parent="hull", joint=mr.Revolute(axis), at=at, properties=turned)
        b.collision("sphere", (radius,), on=name)
    at = se3.pose(np.eye(3), np.array([-0.12, 0.0, -0.01 - radius]))
    b.body("castor", inertia.sphere(0.05, 0.02), parent="hull", joint=mr.Spherical(), at=at)
    b.collision("sphere", (0.02,), on="castor")
    return b.build()


@pytest.mark.parametrize(("width", "radius", "mirrored"), [(0.24, 0.06, False), (0.3, 0.05, True)])
def test_a_differential_drive_rolls_as_its_closed_form(width, radius, mirrored):
    """To what its servos lack: v = (v_l + v_r) / 2, w = (v_r - v_l) / width."""
    robot = cart(width, radius, mirrored)
    base = go.wheeled_base(robot)
    assert [w.at[1] for w in base.wheels] == pytest.approx([width / 2, -width / 2])
    assert base.wheels[1].angle == pytest.approx(np.pi if mirrored else 0.0)
    speed, turn = 0.3, 0.6
    rates = go.wheel_rates(robot, speed, turn)
    closed = go.differential(width, radius).rates([speed, 0.0, turn])
    assert rates == pytest.approx(closed * [1, -1 if mirrored else 1])
    run = drive(robot, speed, turn)
    assert turning(run) == pytest.approx(turn, rel=2e-3)
    assert np.hypot(run.v[-1, 0], run.v[-1, 1]) == pytest.approx(speed, rel=2e-3)


def test_gaits_leave_wheels_alone_and_new_servos_replace_old_ones():
    """Hinges and discs swing, wheels are held; driven again, wheels have one servo each."""
    robot = convoy(2)
    names = mr.gait("snake", amplitude=0.3).on(robot).joints.names
    assert set(names) == {"m0/hinge", "m0/turn"}
    again = mr.on_wheels(mr.driven(robot, mr.gait("snake", amplitude=0.3)), 0.1)
    servos = [row.name for row in again.forces if row.name.endswith(" servo")]
    assert len(servos) == len(set(servos)) == 10


# ---- batches ----


def test_scouts_side_by_side_are_scouts_alone():
    """Each with its own command; compiled."""
    commands = np.array([[0.1, 0.0], [0.0, 1.0], [-0.05, -0.8]])
    robot = mr.on_wheels(scout()).on_ground(GROUND)
    x = go.wheel_states(robot, go.wheel_rates(robot, commands[:, 0], commands[:, 1]))
    both = mr.simulate(robot, x0=x, duration=2.0, tick=0.1)
    for k, (speed, turn) in enumerate(commands):
        alone = mr.simulate(mr.on_wheels(scout(), speed, turn), duration=2.0, ground=GROUND, tick=0.1)
        np.testing.assert_allclose(both.q[:, k], alone.q, atol=1e-6)


# ---- MuJoCo ----


@pytest.mark.parametrize(
    ("speed", "turn", "dt"),
    [(0.1, None, 5e-4), (0.0, 1.0, 5e-4), pytest.param(0.1, 0.5, 1e-4, marks=pytest.mark.judge)],
)
def test_scouts_drive_as_in_mujoco(speed, turn, dt):
    """Mean speed and mean turn from 2 s on to 3 %; its cylinders touch with two points each as well. Its contacts give way with a
    time constant of 4 ms: stiffer ones throw what slides. On arcs it needs steps of 0.1 ms (at 0.5 ms it turns by 14 % less)."""
    from modurob.judges.walking import MujocoWalker

    robot = mr.on_wheels(scout(), speed, turn).on_ground(GROUND)
    run = mr.simulate(robot, duration=4.0, tick=0.05)
    theirs = MujocoWalker(robot, dt, yields=4e-3 / dt).walk(robot.standing(), 4.0)
    w, x, y, z = theirs.attitude.T
    angle = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    since = np.flatnonzero(theirs.t >= 2.0)[0]
    time = theirs.t[-1] - theirs.t[since]
    assert turning(run) == pytest.approx((angle[-1] - angle[since]) / time, rel=0.03, abs=1e-6)
    way = np.linalg.norm(np.diff(theirs.centre[since:, :2], axis=0), axis=-1).sum()
    ours = np.linalg.norm(np.diff(robot.centre_of_mass(run.q[run.t >= 2.0])[:, :2], axis=0), axis=-1).sum() / 2.0
    assert ours == pytest.approx(way / time, rel=0.03, abs=2e-4)


def test_scouts_that_drive_are_written_for_other_tools():
    """The robot comes back from MuJoCo's file and from URDF; servos are refused by name."""
    robot = scout()
    text = mr.mjcf(robot)
    assert text.count('type="cylinder"') >= 4
    with pytest.warns(mr.ModurobWarning, match="rotor inertia of s/left_front_wheel"):
        text = mr.urdf(robot)
    assert text.count("<cylinder") >= 4
    with pytest.raises(MjcfError, match=r"force 's/left_front_wheel servo' of .* is a speed servo"):
        mr.mjcf(mr.on_wheels(robot, 0.1))


def test_recordings_of_wheels_can_be_repeated(tmp_path):
    run = drive(scout(), 0.1, 0.3, duration=0.3)
    run.save(tmp_path / "drive.mrun")
    loaded = mr.Recording.load(tmp_path / "drive.mrun")
    assert loaded.robot == run.robot
    assert np.array_equal(loaded.repeated().q, run.q)


# ---- what is refused ----


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: mr.on_wheels(mr.load("crab").mechanism(floating=True), 0.1), "crab has no driven wheels on the ground"),
        (lambda: mr.on_wheels(scout(), "fast"), "speed"),
        (lambda: mr.on_wheels(scout(), [0.1, 0.2]), r"speed = \[0.1, 0.2\]: expected one number"),
        (lambda: mr.on_wheels(scout(), 0.1, [0.1, 0.2]), r"turn = \[0.1, 0.2\]: expected one number"),
        (lambda: mr.on_wheels(scout(), 0.1, kd=0.0), "kd"),
        (lambda: mr.on_wheels(scout(), 0.42), r"s/left_front_wheel would turn at 20 rad/s: expected at most 10; 0.5 times"),
        (lambda: mr.on_wheels(scout(), 0.1, posture={"s/hinges": 0.1}), "did you mean|no joint"),
        (lambda: go.wheel_states(scout(), [0.0] * 4), "has no servo at 's/left_front_wheel': expected a robot of mr.on_wheels"),
        (lambda: go.wheel_states(mr.on_wheels(scout()), [0.0] * 3), "rates has shape"),
        (lambda: mr.SpeedServo(kd=1.0, limit=0.0), "speed servo: limit 0.0: expected more than zero"),
        (lambda: mr.SpeedServo(kd=-1.0), "kd is -1.0: expected a finite number, 0 or more"),
        (lambda: mr.SpeedServo(kd=1.0, speed=np.nan), "speed is nan"),
    ],
)  # fmt: skip
def test_what_cannot_be_driven_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()
