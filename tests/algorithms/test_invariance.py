"""One organism, whatever its base, the order of its modules, or the names of its ports."""

import numpy as np
import pytest

import modurob as mr
from modurob.catalogue import library
from modurob.judges.verify import relative_error
from tests.robots import random_assembly
from tests.sampling import sampled

TYPES = ("backbone", "scout")
CHEN_YANG = ("cube_link", "revolute_joint", "prismatic_joint", "pivot_joint")


def by_name(robot, values, what="v_slice"):
    return {j.name: values[getattr(j, what)] for j in robot.joints if j.name != "floating_base"}


def taken_over(robot, other, q, v):
    """The state of `robot` as a state of `other`, a floating robot of the same assembly on another base."""
    q2, v2 = other.neutral(), np.zeros(other.nv)
    base = other.bodies[1]
    q2[:7] = mr.Free().coordinates(robot.frame_pose(q, base))
    v2[:6] = robot.frame_twist(q, v, base)
    coordinates, rates = by_name(robot, q, "q_slice"), by_name(robot, v)
    for joint in other.joints[1:]:
        q2[joint.q_slice], v2[joint.v_slice] = coordinates[joint.name], rates[joint.name]
    return q2, v2


@pytest.mark.parametrize("seed", sampled(range(10), 2))
@pytest.mark.parametrize("types", [TYPES, CHEN_YANG])
def test_base_choice_changes_nothing(seed, types):
    rng = np.random.default_rng(seed)
    assembly = random_assembly(rng, 8, types)
    one = assembly.mechanism(base="m0", floating=True)
    two = assembly.mechanism(base=f"m{rng.integers(1, 8)}", floating=True)
    q, v = one.random_configuration(rng), rng.normal(size=one.nv)
    q2, v2 = taken_over(one, two, q, v)
    assert one.nv == two.nv
    assert set(one.idle) == set(two.idle)
    frames = [f"m{i}" for i in range(8)]
    for frame in frames:
        assert relative_error(two.frame_pose(q2, frame), one.frame_pose(q, frame)) < 1e-12
        assert relative_error(two.frame_twist(q2, v2, frame), one.frame_twist(q, v, frame)) < 1e-11
    for quantity in ("kinetic_energy", "momentum", "centroidal_momentum"):
        assert relative_error(getattr(two, quantity)(q2, v2), getattr(one, quantity)(q, v)) < 1e-11, quantity
    for quantity in ("potential_energy", "centre_of_mass"):
        assert relative_error(getattr(two, quantity)(q2), getattr(one, quantity)(q)) < 1e-11, quantity
    tau = np.concatenate([np.zeros(6), rng.normal(size=one.nv - 6)])
    torques, tau2 = by_name(one, tau), np.zeros(two.nv)
    for joint in two.joints[1:]:
        tau2[joint.v_slice] = torques[joint.name]
    vdot, vdot2 = one.forward_dynamics(q, v, tau), two.forward_dynamics(q2, v2, tau2)
    for name, expected in by_name(one, vdot).items():
        assert relative_error(by_name(two, vdot2)[name], expected, np.abs(vdot).max()) < 1e-9, name
    for frame in frames:
        found, expected = two.frame_acceleration(q2, v2, vdot2, frame), one.frame_acceleration(q, v, vdot, frame)
        assert relative_error(found, expected) < 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_module_order_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    assembly = random_assembly(rng, 9, TYPES)
    names = list(rng.permutation(list(assembly.modules)))
    connections = [assembly.connections[i] for i in rng.permutation(len(assembly.connections))]
    shuffled = mr.Assembly({n: assembly.modules[n] for n in names}, connections)
    one, two = assembly.mechanism(base="m0"), shuffled.mechanism(base="m0")
    values = {j.name: rng.normal(size=3) for j in one.joints}
    states = [np.array([values[j.name] for j in robot.joints]).T for robot in (one, two)]
    tau1, tau2 = (robot.inverse_dynamics(*state) for robot, state in zip((one, two), states, strict=True))
    found = by_name(two, tau2)
    for name, expected in by_name(one, tau1).items():
        assert found[name] == pytest.approx(expected, rel=1e-10, abs=1e-12), name


def relabelled() -> mr.ModuleType:
    """A Backbone whose ports have other names, in another order."""
    data = mr.module_type("backbone").specification.model_dump(by_alias=True)
    data["ports"] = {f"port{name}": port for name, port in reversed(data["ports"].items())}
    return library.from_data(data, "relabelled")


def test_port_relabelling_changes_nothing(rng):
    crab = mr.load("crab")
    kind = relabelled()
    other = mr.Assembly(
        {name: kind.module() for name in crab.modules},
        [mr.Connection(*(mr.PortRef(e.module, f"port{e.port}") for e in (c.a, c.b)), c.roll) for c in crab.connections],
    )
    one, two = crab.mechanism(), other.mechanism()
    q, v, vdot = rng.normal(size=(3, 3))
    np.testing.assert_array_equal(one.inverse_dynamics(q, v, vdot), two.inverse_dynamics(q, v, vdot))
    assert one.key == two.key


def test_equal_assemblies_give_equal_mechanisms():
    assert mr.load("crab").mechanism().key == mr.load("crab").mechanism().key
    assert mr.load("crab").mechanism().key != mr.load("crab").mechanism(base="m1").key
    assert mr.load("crab").mechanism().key != mr.load("crab").mechanism(gravity=(0, 0, 0)).key
