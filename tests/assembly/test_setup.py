"""How a robot stands: a value that dockings carry over, and that makes the robot of its file."""

import copy
import pickle

import numpy as np
import pytest

import modurob as mr
from modurob.assembly import Setup
from modurob.errors import InputError, UnknownNameError
from tests.robots import random_assembly

MOON = (0.0, 0.0, -1.62)


def floating_crab() -> mr.Assembly:
    return mr.load("crab").with_setup(
        base="m1",
        floating=True,
        gravity=MOON,
        coordinates={"m0/hinge": 0.1, "m2/hinge": 0.2, "m5/hinge": 0.5},
        rates={"m2/hinge": -1.0},
        position=(1, 2, 3),
        quaternion=(0, 0, 0, 1),
        twist=(1, 2, 3, 4, 5, 6),
    )


# ---- values ----


def test_a_setup_is_a_value():
    one, two = (
        Setup(gravity=[0, 0, -1.62], coordinates={"a/b": 1, "c/d": [2, 3]}),
        Setup(gravity=np.array(MOON), coordinates={"c/d": (2.0, 3.0), "a/b": np.float64(1)}),
    )
    assert one == two
    assert hash(one) == hash(two)
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again == one
        assert hash(again) == hash(one)
    assert one != Setup()
    assert repr(one) == "Setup(gravity=(0.0, 0.0, -1.62), coordinates={'a/b': (1.0,), 'c/d': (2.0, 3.0)})"
    with pytest.raises(TypeError, match="does not support item assignment"):
        one.coordinates["a/b"] = (2.0,)


def test_zero_has_no_sign():
    assert repr(Setup(gravity=(-0.0, 0, 1))) == repr(Setup(gravity=(0, 0.0, 1.0)))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"gravity": (0, 0)}, r"gravity \(0, 0\): expected 3 finite numbers"),
        ({"gravity": (0, 0, float("nan"))}, "gravity .*: expected 3 finite numbers"),
        ({"gravity": "down"}, "gravity 'down': expected 3 finite numbers"),
        ({"gravity": ("0", "0", "1")}, "gravity .*: expected 3 finite numbers"),
        ({"gravity": None}, "gravity None: expected 3 finite numbers"),
        ({"gravity": (0, 0, 10**400)}, "gravity .*: expected 3 finite numbers"),
        ({"gravity": [[1], [1, 2], 3]}, "gravity .*: expected 3 finite numbers"),
        ({"coordinates": [1]}, r"coordinates \[1\]: expected numbers by joint name"),
        ({"coordinates": {"a/b": "x"}}, "coordinates of a/b .*: expected one or more finite numbers"),
        ({"rates": {"a/b": [[1]]}}, "rates of a/b .*: expected one or more finite numbers"),
        ({"base": ["m0"]}, r"base \['m0'\]: expected the name of a module"),
        ({"floating": "yes"}, "floating 'yes': expected True or False"),
        ({"floating": True, "quaternion": (0, 0, 0, 0)}, "quaternion is zero"),
        ({"floating": True, "twist": (0, 0, 0)}, "twist .*: expected 6 finite numbers"),
        (
            {"position": (0, 0, 1)},
            "position, quaternion and twist are those of a floating base: set floating, or leave",
        ),
    ],
)
def test_what_a_setup_cannot_be(said, message):
    with pytest.raises(InputError, match=message):
        Setup(**said)


def test_the_setup_counts_in_equality_and_the_labels_do_not():
    crab = mr.load("crab")
    assert crab.with_setup(gravity=MOON) != crab
    with pytest.raises(
        mr.ModurobError, match=r"with_setup has 1 arguments by place: expected at most 0: .*by name: base, float"
    ):
        crab.with_setup(mr.Setup(gravity=MOON))  # type: ignore[call-arg]
    assert crab.with_setup(base="m3") != crab
    assert crab.with_setup(base="m3").key == crab.key
    assert crab.labelled("other", "words") == crab
    assert crab.labelled("other").description == crab.description


def test_the_first_module_is_the_base_where_nothing_else_is_said():
    crab = mr.load("crab")
    assert crab.with_setup(base="m0") == crab
    assert hash(crab.with_setup(base="m3").with_setup(base="m0")) == hash(crab)
    assert (crab.base, crab.setup.base) == ("m0", None)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"base": "m9"}, UnknownNameError, "no module 'm9' to be the base: valid: m0, m1"),
        (
            {"coordinates": {"m0/hing": 1}},
            UnknownNameError,
            "no joint 'm0/hing' to have coordinates: did you mean 'm0/hin",
        ),
        ({"coordinates": {"hinge": 1}}, UnknownNameError, "no joint 'hinge' to have coordinates"),
        ({"rates": {"m0/hinge": (1, 2)}}, InputError, r"rates of m0/hinge: 2 numbers: expected 1 \(revolute\)"),
        ({"position": (0, 0, 1)}, InputError, "are those of a floating base"),
    ],
)
def test_what_does_not_fit_the_robot(change, error, message):
    with pytest.raises(error, match=message):
        mr.load("crab").with_setup(**change)


# ---- carried over ----


def test_docking_and_undocking_carry_the_setup_over():
    crab = floating_crab()
    larger = crab.dock("m6", "scout", "m3/3", "4")
    assert larger.setup == crab.setup
    assert larger.undock("m6") == crab
    smaller = crab.undock("m5")
    assert dict(smaller.setup.coordinates) == {"m0/hinge": (0.1,), "m2/hinge": (0.2,)}
    assert (smaller.base, smaller.setup.position, smaller.setup.twist) == ("m1", (1, 2, 3), (1, 2, 3, 4, 5, 6))


def test_a_base_that_is_undocked_is_replaced_by_the_first_module():
    crab = floating_crab().with_setup(base="m5", position=(1, 2, 3), twist=(1, 0, 0, 0, 0, 0))
    rest = crab.undock("m5")
    assert (rest.base, rest.setup.base) == ("m0", None)
    assert (rest.setup.floating, rest.setup.gravity) == (True, MOON)
    assert (rest.setup.position, rest.setup.quaternion, rest.setup.twist) == ((0, 0, 0), (1, 0, 0, 0), (0,) * 6)
    assert "m5/hinge" not in rest.setup.coordinates
    # a base that is merely first is no different
    assert mr.load("crab").undock("m0").base == "m1"


def test_the_base_stays_when_modules_before_it_go():
    crab = floating_crab()
    assert crab.undock("m0").base == "m1"
    assert crab.undock("m0").setup.position == (1, 2, 3)


def test_both_pieces_of_a_parted_robot_stand():
    one, other = floating_crab().parted("m1/2")
    assert (one.base, one.setup.position) == ("m1", (1, 2, 3))
    assert (other.base, other.setup.position, dict(other.setup.coordinates)) == ("m2", (0, 0, 0), {"m2/hinge": (0.2,)})
    assert other.setup.gravity == MOON


def test_a_joined_robot_stands_as_the_first_and_moves_as_both():
    other = mr.Assembly.single("x", "backbone").with_setup(gravity=(0, 0, 0), coordinates={"x/hinge": 0.7})
    both = floating_crab().joined(other, "m3/3", "x/4")
    assert (both.base, both.setup.gravity, both.setup.floating) == ("m1", MOON, True)
    assert both.setup.coordinates["x/hinge"] == (0.7,)


def test_renamed_modules_keep_their_setup():
    crab = floating_crab().renamed({"m1": "m2", "m2": "m1", "m0": "left"})
    assert crab.base == "m2"
    assert dict(crab.setup.coordinates) == {"left/hinge": (0.1,), "m1/hinge": (0.2,), "m5/hinge": (0.5,)}
    assert dict(crab.setup.rates) == {"m1/hinge": (-1.0,)}


def test_a_rerooted_robot_stands_on_its_new_base():
    crab = floating_crab().rerooted("m3")
    assert (crab.base, crab.setup.position, crab.setup.floating) == ("m3", (0, 0, 0), True)
    assert crab.setup.coordinates == floating_crab().setup.coordinates


def test_a_robot_on_virtual_joints_stands_on_them():
    crab = floating_crab().on_virtual_joints("xyZ")
    assert (crab.base, crab.setup.floating, crab.setup.gravity) == ("v0", False, MOON)
    assert crab.docked_at("m1", "7") == mr.PortRef("v2", "out")


def test_another_base_starts_anew():
    crab = floating_crab()
    assert crab.with_setup(base="m1") == crab
    assert crab.with_setup(base="m2").setup.position == (0, 0, 0)
    assert crab.with_setup(floating=False).setup.twist == (0,) * 6
    assert crab.with_setup(base="m2", position=(0, 0, 1)).setup.position == (0, 0, 1)


@pytest.mark.parametrize("seed", range(6))
def test_everything_else_leaves_the_setup_alone(seed):
    robot = random_assembly(np.random.default_rng(seed), 5).with_setup(gravity=MOON, floating=True, position=(1, 0, 0))
    hinges = {f"{m}/hinge": 0.1 for m in robot.modules}
    robot = robot.with_setup(coordinates=hinges)
    for other in (robot.with_parameters(mass=2.0), robot.labelled("x"), pickle.loads(pickle.dumps(robot))):
        assert other.setup == robot.setup


# ---- the robot as its file says ----


@pytest.mark.parametrize("name", ["crane", "double_pendulum"])
def test_the_machines_of_the_thesis_hang_along_y(name):
    assembly = mr.load(name)
    robot = assembly.robot()
    assert robot.gravity.tolist() == [0, 9.81, 0]
    assert robot.key == assembly.mechanism(base="m0", gravity=(0, 9.81, 0)).key
    # they hang at rest at zero, and no force pulls along the rail
    np.testing.assert_allclose(robot.gravity_forces(robot.neutral()), 0, atol=1e-12)


def test_the_crane_does_not_fall_down_its_rail():
    """The centre of mass stays where it is along the rail, and the load swings with its energy."""
    crane = mr.load("crane")
    robot, (q, v) = crane.robot(), crane.initial_state()
    np.testing.assert_allclose(q, [0, np.pi / 4])
    run = mr.simulate(robot, q, v, duration=3.0, stepper=mr.RungeKutta4(1e-3))
    rail = [robot.centre_of_mass(x)[2] for x in run.q[::300]]
    np.testing.assert_allclose(rail, rail[0], atol=1e-8)
    assert np.ptp(run.q[:, 0]) > 1
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-9)


def test_explicit_arguments_do_not_read_the_setup():
    crane = mr.load("crane")
    assert crane.mechanism().gravity.tolist() == [0, 0, -9.81]
    assert floating_crab().mechanism().nv == 3
    assert floating_crab().mechanism().gravity.tolist() == [0, 0, -9.81]
    assert floating_crab().robot().nv == floating_crab().mechanism(base="m1", floating=True).nv == 9


def test_the_initial_state_of_a_floating_robot():
    crab = floating_crab()
    robot, (q, v) = crab.robot(), crab.initial_state()
    assert robot.gravity.tolist() == list(MOON)
    np.testing.assert_allclose(q[:7], [1, 2, 3, 0, 0, 0, 1])
    np.testing.assert_allclose(v[:6], [1, 2, 3, 4, 5, 6])
    at = {j.name: (q[j.q_slice], v[j.v_slice]) for j in robot.joints[1:]}
    assert at["m2/hinge"] == (0.2, -1.0)
    np.testing.assert_allclose(robot.frame_pose(q, "m1")[:3, 3], [1, 2, 3])


def test_idle_joints_are_held_where_the_file_says():
    crab = mr.load("crab").with_setup(coordinates={"m3/hinge": 0.4})
    robot = crab.robot()
    assert "m3/hinge" in robot.idle
    X = robot.forward_kinematics(robot.neutral())
    turned = np.linalg.inv(X["m3/A"]) @ X["m3/B"]
    np.testing.assert_allclose(turned[1, 1], np.cos(0.4))
    with pytest.raises(InputError, match="m3/hinge starts at rate 1, but is idle"):
        mr.load("crab").with_setup(rates={"m3/hinge": 1.0}).initial_state()
