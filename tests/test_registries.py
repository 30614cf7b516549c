"""One of each kind of thing, added from outside the package: the files that CONTRIBUTING.md shows."""

import pickle
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import modurob as mr
from modurob import algorithms
from modurob.catalogue.forces import FORCES
from modurob.catalogue.joints import KINDS
from modurob.cli import app
from modurob.control import LAWS, SCHEMES
from modurob.errors import CatalogueError, InputError, MechanismError, NotExactError, SearchError, SimulationError
from modurob.estimation import FILTERS, SENSORS
from modurob.fingerprints import fingerprint, text_of
from modurob.judges import JUDGES, verify
from modurob.judges.verify import relative_error
from modurob.kinematics.inverse.orders import ORDERS
from modurob.mechanism import EXPORTS
from modurob.motion import PATHS, TRAJECTORIES, PoseTrajectory, Trajectory
from modurob.motion.gaits import GENERATORS, PRESETS
from modurob.search import OPERATORS, TASKS
from modurob.simulation.steppers import STEPPERS, FixedStep
from modurob.simulation.system import State
from modurob.spatial import inertia, se3

DOCUMENT = Path(__file__).parents[1] / "CONTRIBUTING.md"
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL))
REGISTRIES = (
    *(KINDS, FORCES, LAWS, SENSORS, FILTERS, STEPPERS, PRESETS, GENERATORS, EXPORTS, JUDGES),
    *(TRAJECTORIES, PATHS, SCHEMES, ORDERS, TASKS, OPERATORS),
)
# what each file registers, and where
ADDED = {
    "rolling.py": (KINDS, "rolling"),
    "hardening.py": (FORCES, "hardening spring"),
    "magnet.py": (FORCES, "magnet"),
    "integrator.py": (LAWS, "integrator"),
    "altimeter.py": (SENSORS, "altimeter"),
    "fading.py": (FILTERS, "fading"),
    "heun.py": (STEPPERS, "heun"),
    "ripple.py": (PRESETS, "ripple"),
    "dot.py": (EXPORTS, "dot"),
    "bang_bang.py": (TRAJECTORIES, "bang-bang"),
    "sagging.py": (PATHS, "sagging"),
    "cautious.py": (SCHEMES, "cautious"),
    "folded.py": (ORDERS, "folded"),
    "compact.py": (TASKS, "compact"),
    "twin.py": (OPERATORS, "twin"),
}


@pytest.fixture(autouse=True)
def as_before(monkeypatch, tmp_path):
    """Registries and modules as they were, once a test is over; its folder is where modules are looked for."""
    for registry in REGISTRIES:
        monkeypatch.setattr(registry, "_things", dict(registry))
    for name in FILES:
        monkeypatch.delitem(sys.modules, Path(name).stem, raising=False)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.fixture
def added(tmp_path):
    """Writes a file of the document down and imports it."""

    def add(name):
        write(tmp_path, name)
        return import_module(Path(name).stem)

    return add


def write(folder, name):
    path = folder / name
    path.write_text(FILES[name], encoding="utf-8")
    return str(path)


def modurob(*arguments):
    """What the command prints."""
    found = CliRunner().invoke(app, [str(x) for x in arguments])
    assert found.exit_code == 0, (found.output, found.exception)
    return found.output


def pendulum(joint):
    """One joint with a body that leans on it from all sides."""
    builder = mr.Builder("pendulum", gravity=(1.0, -2.0, -9.0))
    builder.body("arm", inertia.random(np.random.default_rng(3)), joint=mr.Revolute((1, 0, 0)))
    builder.body(
        "tip", inertia.random(np.random.default_rng(4)), parent="arm", joint=joint, at=se3.pose(None, (0.1, 0.2, 0.3))
    )
    return builder.build()


# ---- the document ----


def test_the_document_shows_one_of_each():
    assert set(FILES) == set(ADDED)


@pytest.mark.parametrize("name", ADDED)
def test_one_file_with_one_line_registers(name, added):
    registry, key = ADDED[name]
    before = {r.what: list(r) for r in REGISTRIES}
    assert key not in registry
    added(name)
    after = {r.what: list(r) for r in REGISTRIES}
    assert after[registry.what] == [*before[registry.what], key]
    assert {w: x for w, x in after.items() if w != registry.what} == {
        w: x for w, x in before.items() if w != registry.what
    }
    assert len(re.findall(r"\.register\(|\.add\(", FILES[name])) == 1


@pytest.mark.parametrize("name", ADDED)
def test_a_name_is_taken_once(name, added):
    registry, key = ADDED[name]
    added(name)
    with pytest.raises(registry._error, match=f"already a {registry.what} '{key}'.*another name"):
        registry.add(key, object())
    with pytest.raises(registry._error, match=f"no {registry.what} '{key}s': did you mean '{key}'"):
        registry[f"{key}s"]


# ---- a joint kind ----


def test_a_joint_kind_is_a_joint(added, rng):
    """S and T complement each other, S v is the twist of the pose, dS/dt is that of S, and coordinates undo the pose."""
    joint = added("rolling.py").Rolling(0.3)
    q, v = rng.normal(size=(5, 1)) * 4, rng.normal(size=(5, 1))
    S, T = joint.motion_subspace(q), joint.constraint_subspace(q)
    np.testing.assert_allclose(np.swapaxes(S, -1, -2) @ T, 0, atol=1e-15)
    assert (np.linalg.matrix_rank(np.concatenate([S, T], axis=-1)) == 6).all()
    np.testing.assert_allclose(joint.coordinates(joint.pose(q)), q, atol=1e-12)
    moved = joint.pose(q + 1e-20j * v)
    rate = se3.inverse(joint.pose(q)) @ (np.imag(moved) / 1e-20)
    twist = np.stack(
        [*np.moveaxis(rate[..., :3, 3], -1, 0), rate[..., 2, 1], rate[..., 0, 2], rate[..., 1, 0]], axis=-1
    )
    np.testing.assert_allclose((S @ v[..., None])[..., 0], twist, atol=1e-12)
    turned = np.imag(joint.motion_subspace(q + 1e-20j * v)) / 1e-20
    np.testing.assert_allclose(joint.subspace_rate(q, v), turned, atol=1e-12)


def test_a_joint_kind_is_used_by_algorithms_kernels_and_simulation(added, rng):
    robot = pendulum(added("rolling.py").Rolling(0.3))
    report = verify(robot)
    assert report.passed
    assert "made of no simple ones" in report.unanswered["Pinocchio"]
    q, v, tau = rng.normal(size=(3, 9, 2))
    expected = algorithms.forward_dynamics(robot, q, v, tau)
    assert relative_error(robot.forward_dynamics(q, v, tau), expected) < 1e-11
    run = mr.simulate(robot, q[0], v[0], duration=1.0, stepper=mr.RungeKutta4(1e-3))
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    np.testing.assert_allclose(energy, energy[0], atol=1e-8 * np.abs(energy).max())
    assert pickle.loads(pickle.dumps(robot)) == robot


def test_a_joint_kind_closes_loops(added, rng):
    """A wheel on the ground that a rod drags along."""
    builder = mr.Builder("wheel", gravity=(0, 0, -9.81))
    builder.body("lift", inertia.random(rng), joint=mr.Prismatic((0, 0, 1)))
    builder.body("slide", inertia.random(rng), parent="lift", joint=mr.Prismatic((1, 0, 0)))
    builder.body("turn", inertia.random(rng), parent="slide", joint=mr.Revolute((0, 1, 0)))
    builder.loop("ground", added("rolling.py").Rolling(0.3), "world", "turn")
    robot = builder.build()
    q, v = np.array([0.0, 0.3 * 0.8, 0.8]), np.array([0.0, 0.3 * 1.1, 1.1])
    assert np.abs(robot.loop_error(q)).max() < 1e-15
    assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-15
    vdot = robot.forward_dynamics(q, v, rng.normal(size=3))
    np.testing.assert_allclose(vdot, [0, 0.3 * vdot[2], vdot[2]], atol=1e-12 * np.abs(vdot).max())


MODULE = """
format: modurob module 1
name: roller
letter: W
parts:
  A: {mass: 1.0, inertia: [0.01, 0.01, 0.01]}
  B: {mass: 2.0, inertia: [0.02, 0.02, 0.02]}
joints:
  wheel: {kind: rolling, from: A, to: B, parameters: {radius: 0.25}}
connectors:
  plain: {}
ports:
  "1": {part: A, at: [0, 0, 0], normal: [1, 0, 0], up: [0, 0, 1], connector: plain}
"""


def test_a_joint_kind_is_used_by_module_files(added, tmp_path):
    rolling = added("rolling.py")
    path = tmp_path / "roller.yaml"
    path.write_text(MODULE)
    robot = mr.Assembly.single("m0", mr.module_type(path)).mechanism(keep_idle=True)
    assert [j.type for j in robot.joints] == [rolling.Rolling(0.25)]
    path.write_text(MODULE.replace("radius", "radios"))
    with pytest.raises(CatalogueError, match=r"rolling joint has no parameter 'radios'.*radius"):
        mr.module_type(path).module()


# ---- a force ----


def test_a_force_is_used_by_simulation_kernels_and_recordings(added, tmp_path):
    """A hardening spring keeps energy; kernels, their slopes and the archive know it."""
    force = added("hardening.py").HardeningSpring(3.0, hardening=40.0)
    robot = pendulum(mr.Revolute((0, 1, 0))).with_force("duffing", force, joint="tip")
    start = np.array([0.3, 0.9])
    for stepper in (mr.RungeKutta4(1e-3), mr.ImplicitMidpoint(1e-3)):
        run = mr.simulate(robot, start, duration=1.0, stepper=stepper)
        stored = 1.5 * run.q[:, 1] ** 2 + 10 * run.q[:, 1] ** 4
        energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q) + stored
        np.testing.assert_allclose(energy, energy[0], atol=1e-5 * np.abs(energy).max())
        np.testing.assert_allclose(algorithms.stored_energy(robot, run.q), stored, rtol=1e-12)
    stiff = mr.simulate(robot, start, duration=0.2, stepper=mr.LinearlyImplicit(1e-3))
    assert stiff.status.ok
    run.save(tmp_path / "run.mrun")
    again = mr.Recording.load(tmp_path / "run.mrun")
    assert again.robot.forces == robot.forces


def test_a_force_between_frames_is_used_by_simulation_kernels_and_recordings(added, tmp_path):
    """A magnet keeps energy and, between organisms, momentum."""
    magnet = added("magnet.py").Magnet(0.5, gap=0.1)
    robot = mr.load("crab").mechanism(gravity=(0, 0, 0)).with_force("magnet", magnet, a="m3", b="world")
    run = mr.simulate(robot, [0.3, 0.4, 0.2], duration=0.2, stepper=mr.RungeKutta4(1e-3))
    distance = np.linalg.norm(robot.frame_pose(run.q, "m3")[:, :3, 3], axis=-1)
    stored = -0.5 / np.hypot(distance, 0.1)
    np.testing.assert_allclose(algorithms.stored_energy(robot, run.q), stored, rtol=1e-12)
    assert np.ptp(stored) > 0.01
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q) + stored
    np.testing.assert_allclose(energy, energy[0], atol=1e-8 * np.abs(energy).max())
    run.save(tmp_path / "run.mrun")
    assert mr.Recording.load(tmp_path / "run.mrun").robot == robot
    apart = [0.5, 0, 0, 1, 0, 0, 0]
    two = {x: mr.Organism(mr.Assembly.single(x, "backbone"), at) for x, at in (("m0", None), ("n0", apart))}
    world = mr.World(two, gravity=(0, 0, 0), forces={"magnet": (magnet, "m0", "n0")})
    world.run(0.1)
    assert world["m0"].v[0] > 0.1
    np.testing.assert_allclose(world["m0"].v[:3], -world["n0"].v[:3], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("-self.stiffness * q", "-math.sin(q)"),
            "HardeningSpring.effort: .*expected arithmetic, and functions of modurob",
        ),
        (
            ("return -self.stiffness * q", "return q if q > 0 else q"),
            "HardeningSpring.effort: a choice that .*expected np.where",
        ),
        (
            ("-self.stiffness * q", "-float(self.stiffness) * q"),
            "HardeningSpring.effort: a traced scalar is not a number",
        ),
        (
            ("return -self.stiffness * q", "return q * (q == 0)"),
            "HardeningSpring.effort: a choice that .*expected np.where",
        ),
    ],
)
def test_a_force_that_cannot_be_traced_is_named(change, message):
    space = {"__name__": "typed_in"}
    exec("import math\n" + FILES["hardening.py"].replace("@FORCES", "#").replace(*change), space)
    robot, force = pendulum(mr.Revolute((0, 1, 0))), space["HardeningSpring"](3.0)
    run = lambda: mr.simulate(robot.with_force("duffing", force, joint="tip"), [0.3, 0.9], duration=0.01)  # noqa: E731
    with pytest.raises(MechanismError, match=message):
        run()


PULL = """
from dataclasses import dataclass
from modurob.catalogue.forces import JointForce

@dataclass(frozen=True)
class Pull(JointForce):
    stiffness: float
    kind = "pull"

    def effort(self, t, q, v, x):
        return {pull}(self.stiffness, q)
"""


def pulled(force):
    """The acceleration at 0.1 m under it."""
    builder = mr.Builder("slide", gravity=(0, 0, 0))
    builder.body("slide", np.eye(6), joint=mr.Prismatic((1, 0, 0)))
    robot = builder.build().with_force("pull", force(1.0), joint="slide")
    run = mr.simulate(robot, [0.1], duration=1e-6, stepper=mr.SemiImplicitEuler(1e-6))
    return run.v[-1, 0] / 1e-6


@pytest.mark.parametrize("again", [False, True], ids=["the function", "function and class"])
def test_what_a_force_calls_may_be_defined_again(again):
    """In another cell of a notebook, of which no text is kept."""
    space = {"__name__": "cells"}
    for gain in (1.0, 30.0, 1.0):
        exec(f"import numpy as np\nGAINS = np.array([{gain}])\ndef pull(k, q):\n    return -GAINS[0] * k * q", space)
        if again or "Pull" not in space:
            exec(PULL.replace("{pull}", "pull"), space)
        assert pulled(space["Pull"]) == pytest.approx(-0.1 * gain)


def test_a_force_may_be_bounded_by_infinity(recwarn):
    space = {"__name__": "typed_in"}
    exec("import numpy as np\nfrom modurob.spatial.scalars import minimum\n" + PULL.replace("{pull}", "pull"), space)
    exec("def pull(k, q):\n    return -k * minimum(q, np.inf)", space)
    assert pulled(space["Pull"]) == pytest.approx(-0.1)
    assert not recwarn.list


def test_robots_that_were_used_go_along_with_new_definitions():
    """In simulations; and what a robot is asked for the first time is no answer for robots of the earlier definition."""
    space = {"__name__": "cells"}
    exec("def pull(k, q):\n    return -k * q" + PULL.replace("{pull}", "pull"), space)

    def slide():
        builder = mr.Builder("slide", gravity=(0, 0, 0))
        builder.body("slide", np.eye(6), joint=mr.Prismatic((1, 0, 0)))
        return builder.build().with_force("pull", space["Pull"](1.0), joint="slide")

    def pulled_at_once(robot):
        return mr.simulate(robot, [0.1], duration=1e-6, stepper=mr.SemiImplicitEuler(1e-6)).v[-1, 0] / 1e-6

    robot = slide()
    assert pulled_at_once(robot) == pytest.approx(-0.1)
    exec("def pull(k, q):\n    return -30 * k * q", space)
    assert pulled_at_once(robot) == pytest.approx(-3.0)
    assert robot.passive_forces([0.1], [0.0]) == pytest.approx(-3.0)
    assert robot.passive_forces([[0.1]] * 9, [[0.0]] * 9) == pytest.approx(-3.0)
    exec("def pull(k, q):\n    return -k * q", space)
    assert slide().passive_forces([0.1], [0.0]) == pytest.approx(-0.1)
    assert slide().passive_forces([[0.1]] * 9, [[0.0]] * 9) == pytest.approx(-0.1)


def test_what_a_stepper_calls_may_be_defined_again():
    """Steps of an equal stepper are not those of its earlier function."""
    space, robot = {"__name__": "cells"}, pendulum(mr.Revolute((0, 1, 0)))
    text = FILES["heun.py"].replace("@STEPPERS", "#").replace("dt * 0.5 for", "dt * part() for")
    exec("def part(): return 0.5\n" + text, space)
    runs = []
    for part in (0.5, 0.25, 0.5):
        exec(f"def part(): return {part}", space)
        runs.append(mr.simulate(robot, [0.3, 0.9], duration=0.01, stepper=space["Heun"](1e-3)))
    assert runs[0] == runs[2]
    assert runs[1].v[1, 0] == pytest.approx(runs[0].v[1, 0] / 2)


def test_what_a_force_calls_may_stand_in_another_file(tmp_path, monkeypatch):
    """An earlier version of that file has kernels in the cache."""
    for gain in (1.0, 30.0):
        (tmp_path / "pulls.py").write_text(f"def pull(k, q):\n    return -{gain} * k * q\n")
        monkeypatch.delitem(sys.modules, "pulls", raising=False)
        space = {"__name__": "cells"}
        exec("import pulls\n" + PULL.replace("{pull}", "pulls.pull"), space)
        assert pulled(space["Pull"]) == pytest.approx(-0.1 * gain)


def test_forces_that_were_typed_in_have_kernels_too(rng):
    """There is no source to tell them apart by: their compiled lines do."""
    texts, text = [], FILES["hardening.py"]
    for factor in (1.0, 1.0, 2.0):
        space = {"__name__": "typed_in"}
        exec(text.replace("@FORCES", "#").replace("-self.stiffness * q", f"-{factor} * self.stiffness * q"), space)
        texts.append(fingerprint(space["HardeningSpring"]))
    assert texts[0] == texts[1] != texts[2]
    robot = pendulum(mr.Revolute((0, 1, 0))).with_force("duffing", space["HardeningSpring"](30.0), joint="tip")
    run = mr.simulate(robot, [0.3, 0.9], duration=0.1, stepper=mr.RungeKutta4(1e-3))
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q) + 30.0 * run.q[:, 1] ** 2
    np.testing.assert_allclose(energy, energy[0], atol=1e-8 * np.abs(energy).max())


def test_compiled_code_is_known_by_the_whole_file(added, tmp_path):
    """A function beside the class may be what was edited."""
    module = added("rolling.py")
    before, path = fingerprint(module.Rolling), Path(module.__file__)
    path.write_text(path.read_text().replace("def column(", "def column(  # as before but for this\n    "))
    text_of.cache_clear()
    assert fingerprint(module.Rolling) != before


# ---- controllers, sensors, filters ----


def test_a_controller_is_used_by_simulation_and_command_line(added, tmp_path):
    law = added("integrator.py").Integrator(kp=60.0, kd=2.0, ki=100.0, sample_time=1e-3)
    robot = mr.load("crab").robot().ideal()
    run = mr.simulate(robot, [0.3, -0.2, 0.1], duration=2.0, controller=law)
    assert np.abs(run.q[-1]).max() < 0.1
    batch = mr.simulate(robot, np.full((3, 3), 0.2), duration=0.1, controller=law)
    one = mr.simulate(robot, np.full(3, 0.2), duration=0.1, controller=law)
    np.testing.assert_allclose(batch.q[:, 1], one.q, rtol=1e-12)
    printed = modurob("simulate", "crab", "--controller", "integrator", "--kp", "30", "--duration", "0.01")
    assert "done" in printed
    assert "integrator" in modurob("simulate", "--help")


def test_a_sensor_is_used_by_filters(added, rng):
    """From the height of its tip alone, a pendulum's angle and rate are found."""
    sensor = added("altimeter.py").Altimeter(noise=1e-4, frame="tip")
    builder = mr.Builder("pendulum")
    builder.body("tip", inertia.point(1.0, (0, 0, 0)), joint=mr.Revolute((1, 0, 0)), seat=se3.pose(None, (0, 0.5, 0)))
    robot = builder.build()
    reading = sensor.on(robot)
    q, v = rng.normal(size=(2, 4, 1))
    slope = np.imag(0.5 * np.sin(q + 1e-20j)) / 1e-20
    np.testing.assert_allclose(reading.slope(q, v, v)[0][..., 0], slope, atol=1e-12)
    still = mr.simulation.law.FunctionController(lambda t, q, v: np.zeros(1), 1e-2)
    recipe = mr.ExtendedKalmanFilter(sensor, Q=(0.0, 1e-6), start=(0.05, 0.05))
    filter_ = recipe.on(robot, 1e-2)
    run = mr.simulate(robot, [0.6], duration=1.0, controller=still, stepper=mr.RungeKutta4(1e-2))
    memory = filter_.start(np.array([0.8]), np.zeros(1))  # a first belief that is wrong
    noise = np.random.default_rng(0)
    for t, q, v in zip(run.t, run.q, run.v, strict=True):
        memory, seen = filter_.measure(memory, t, q, v, np.zeros(1), noise)
        memory, estimate = filter_.update(memory, t, np.zeros(1), seen)
    assert abs(estimate.q[0] - run.q[-1, 0]) < 5e-3


def test_a_filter_is_used_by_simulation_and_command_line(added):
    recipe = added("fading.py").FadingFilter(mr.HallSensors(noise=1e-3), fading=1.1)
    robot = mr.load("crab").robot().ideal()
    law = mr.ComputedTorque(kp=100.0, kd=20.0, reference=0.2, sample_time=1e-2)
    runs = [
        mr.simulate(robot, duration=0.3, controller=law, estimator=r)
        for r in (recipe, mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-3)))
    ]
    assert all(run.status.ok for run in runs)
    gap = np.abs(runs[0].q - runs[1].q).max()
    assert 1e-9 < gap < 0.05  # it does something of its own, and nothing wild
    options = ("--controller", "computed-torque", "--sample-time", "0.01", "--dt", "0.01", "--duration", "0.1")
    assert "done" in modurob("simulate", "crab", *options, "--filter", "fading")


# ---- steppers, gaits, exports ----


def test_a_stepper_is_used_by_simulation_kernels_and_command_line(added, tmp_path):
    """Second order, the same in kernels and in NumPy, and one choice more on the command line."""
    heun = added("heun.py").Heun
    robot, start = mr.load("crab").robot().ideal(), np.array([0.4, -0.7, 0.9])
    exact = mr.simulate(robot, start, duration=0.2, stepper=mr.RungeKutta4(1e-3)).q[-1]
    errors = [
        np.abs(mr.simulate(robot, start, duration=0.2, stepper=heun(dt)).q[-1] - exact).max() for dt in (1e-2, 5e-3)
    ]
    assert 3.5 < errors[0] / errors[1] < 4.5

    class Plain(heun):
        compiled = False

    kernel, plain = (mr.simulate(robot, start, duration=0.1, stepper=s(1e-2)) for s in (heun, Plain))
    np.testing.assert_allclose(kernel.q, plain.q, rtol=1e-11, atol=1e-12)
    kernel.save(tmp_path / "run.mrun")
    assert mr.Recording.load(tmp_path / "run.mrun").segments[0].settings.stepper == heun(1e-2)
    assert "done" in modurob("simulate", "crab", "--stepper", "heun", "--duration", "0.01")


@pytest.mark.parametrize("steps", [(1e-2, 1e-3), (1e-3, 1e-2)])
def test_a_stepper_may_use_the_length_of_its_own_steps(steps):
    """Its code is compiled once for steps of all lengths."""

    @dataclass(frozen=True)
    class Euler(FixedStep):
        kind, order, compiled = "own euler", 1, True

        def step(self, system, t, s, u, dt, held=None):
            k = system.slope(t, s, u, held)
            return State(*(a + b * self.dt for a, b in zip(s, k[:3], strict=True)))

    robot = mr.load("double_pendulum").mechanism().without_forces()
    for dt in steps:
        run = mr.simulate(robot, [0.3, 0.9], [1.0, 0.0], duration=0.1, stepper=Euler(dt))
        q, v = np.array([0.3, 0.9]), np.array([1.0, 0.0])
        for _ in range(round(0.1 / dt)):
            q, v = q + v * dt, v + robot.forward_dynamics(q, v, [0, 0]) * dt
        np.testing.assert_allclose(run.q[-1], q, atol=1e-12)


def test_a_stepper_that_cannot_be_compiled_is_named(added):
    class Choosing(added("heun.py").Heun):
        def step(self, system, t, s, u, dt, held=None):
            return State(s.q[0], s.v, s.x)

    with pytest.raises(SimulationError, match=r"Choosing.step: .*expected sums, products .* with compiled = False"):
        mr.simulate(mr.load("crab").mechanism(), duration=0.01, stepper=Choosing(1e-3))


def test_steppers_with_numbers_of_their_own_are_kept_apart(added):
    """Two steppers of one kind that differ in a number have kernels of their own."""
    from dataclasses import dataclass

    from modurob.simulation.steppers import FixedStep
    from modurob.simulation.system import State

    @STEPPERS.register("theta")
    @dataclass(frozen=True)
    class Theta(FixedStep):
        share: float = 1.0
        kind, order, compiled = "theta", 1, True

        def step(self, system, t, s, u, dt, held=None):
            k = system.slope(t, s, u, held)
            v = s.v + k.v * dt
            return State(system.integrate(s.q, (s.v * (1 - self.share) + v * self.share) * dt), v, s.x)

    robot = mr.load("crab").robot().ideal()
    ends = [mr.simulate(robot, duration=0.1, stepper=Theta(1e-2, share)).q[-1] for share in (0.0, 0.5, 1.0)]
    assert np.abs(ends[1] - ends[0]).max() > 1e-6
    np.testing.assert_allclose(ends[0] + ends[2], 2 * ends[1], atol=1e-2 * np.abs(ends[1]).max())
    semi = mr.simulate(robot, duration=0.1, stepper=mr.SemiImplicitEuler(1e-2)).q[-1]
    np.testing.assert_allclose(ends[2], semi, rtol=1e-12)


def test_a_gait_is_used_by_simulation_and_command_line(added, tmp_path):
    added("ripple.py")
    robot = mr.load("crab").robot().ideal()
    rhythm = mr.gait("ripple", lag=0.7, amplitude=0.2, frequency=1.0)
    q, _, _ = rhythm.on(robot)(np.array([0.1]))
    turned = 2 * np.pi * 0.1 - 0.7 * np.arange(3)
    np.testing.assert_allclose(q[0], 0.2 * np.sin(turned), atol=1e-12)
    law = mr.ComputedTorque(kp=400.0, kd=40.0, reference=rhythm, sample_time=1e-3)
    run = mr.simulate(robot, q[0] * 0, duration=1.5, controller=law)
    assert np.abs(run.q[-1] - rhythm.on(robot)(run.t[-1])[0]).max() < 1e-2
    modurob("gait", "crab", "--name", "ripple", "--out", tmp_path / "ripple.png")
    assert (tmp_path / "ripple.png").stat().st_size > 1000


def test_an_export_is_used_by_the_command_line(added, tmp_path):
    added("dot.py")
    modurob("export", "crab", tmp_path / "crab.dot")
    text = (tmp_path / "crab.dot").read_text()
    assert text.startswith('digraph "crab"')
    assert text.count("->") == mr.load("crab").robot().nv
    # as what is written by the package itself
    modurob("export", "crab", tmp_path / "crab.urdf")
    assert mr.Mechanism.from_urdf(tmp_path / "crab.urdf").nv == mr.load("crab").robot().nv
    found = CliRunner().invoke(app, ["export", "crab", str(tmp_path / "crab.step")])
    assert isinstance(found.exception, MechanismError)
    assert re.search("no export 'step'.*urdf.*dot", str(found.exception))


# ---- the command line finds files of one's own ----


def test_the_command_line_imports_files_and_modules(tmp_path):
    options = ("simulate", "crab", "--stepper", "heun", "--duration", "0.01")
    assert "done" in modurob("--with", write(tmp_path, "heun.py"), *options)
    write(tmp_path, "ripple.py")
    assert "ripple" in modurob("--with", "ripple", "gait", "--help")


@pytest.mark.parametrize(
    ("name", "message"), [("nowhere.py", "no such file"), ("no_such_module_here", "no such module")]
)
def test_files_that_are_not_there_are_refused(name, message):
    found = CliRunner().invoke(app, ["--with", name, "robots"])
    assert isinstance(found.exception, InputError)
    assert message in str(found.exception)


# ---- motions and solutions ----


def test_a_trajectory_is_a_motion(added):
    motion = added("bang_bang.py").bang_bang(0.0, 1.0, 2.0)
    assert TRAJECTORIES["bang-bang"](0.0, 1.0, 2.0) == motion
    assert isinstance(motion, Trajectory)
    assert motion.largest(1) == pytest.approx(1.0)
    np.testing.assert_allclose(np.abs(motion(np.array([0.3, 1.7])).acceleration), 1.0)


def test_a_path_of_poses_moves_a_frame_and_is_followed(added, rng):
    path = added("sagging.py").Sagging(0.2, 0.1)
    motion = PoseTrajectory(path, 2.0)
    t, h = rng.uniform(0.1, 1.9, 7), 1e-5
    there, before, after = (motion(x).pose for x in (t, t - h, t + h))
    np.testing.assert_allclose(motion(t).twist[:, :3], (after - before)[:, :3, 3] / (2 * h), atol=1e-8)
    np.testing.assert_allclose(there[:, 2, 3], -0.4 * (s := motion.progress(t).position) * (1 - s), atol=1e-12)
    assert path == added("sagging.py").Sagging(0.2, 0.1)


def test_a_scheme_is_used_by_kinematic_control(added):
    added("cautious.py")
    arm = mr.load("lwa4p").robot()
    q = np.array([0.3, 0.5, 1.2, 0.2, 0.9, 0.1])
    goal = arm.frame_pose(q + 0.1, "wrist/out")
    law = mr.KinematicControl(goal, "wrist/out", scheme="cautious", damping=1e-3).on(arm)
    assert np.abs(law.error(0.0, law.motion(q, np.arange(0, 3, 0.01))[-1])).max() < 1e-9


def test_an_order_is_used_by_inverse_kinematics_and_the_command_line(added, tmp_path):
    added("folded.py")
    arm = mr.load("lwa4p").robot()
    found = arm.inverse_kinematics(
        "wrist/out", arm.frame_pose([0.3, 0.5, 1.2, 0.2, 0.9, 0.1], "wrist/out"), order="folded"
    )
    assert np.all(np.diff(np.abs(found.q).sum(axis=1)) >= 0)
    assert "folded" in modurob("ik", "--help")


# ---- designs ----


def test_a_task_judges_designs(added):
    added("compact.py")
    found = mr.search_designs("backbone", 4, "compact", generations=2, population=6, workers=0)
    assert found.best.measures["room"] == min(d.measures["room"] for d in found.designs if d.ok)
    assert "compact" in modurob("search", "--help")


def test_a_change_is_tried(added, tmp_path):
    added("twin.py")
    added("compact.py")
    found = mr.search_designs("backbone", 8, "compact", generations=4, population=12, workers=0)
    assert "twin" in {d.operator for d in found.designs}


@pytest.mark.parametrize(
    ("change", "found"),
    [(('{"room": float(', '{"rom": float('), "None"), (('{"room": float(', '{"room": np.nan * ('), "nan")],
)
def test_tasks_that_do_not_measure_their_goals_say_so(change, found):
    designs = mr.search_designs(
        "backbone", 3, typed("compact.py", *change)["Compact"](), generations=1, population=2, workers=0
    )
    with pytest.raises(SearchError, match=f"task 'compact' measured its goal 'room' as {found}: expected a number"):
        _ = designs.best


# ---- things that contradict themselves are refused before they move ----


def typed(name, old, new):
    """A file of the document with a change, run as if it were typed in."""
    assert old in FILES[name]
    space = {"__name__": "typed_in", "np": np}
    exec(re.sub(r"@[A-Z]+\.register.*", "", FILES[name]).replace(old, new), space)
    return space


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("axes(q)[0], Y)", "axes(q)[1], Y)"), r"motion_subspace has the column \[.* for rate 0, and pose moves by \["),
        (
            ("def subspace_rate", "def rate_of_subspace"),
            "subspace_rate is not the rate of motion_subspace: expected dS/dt",
        ),
        (
            ("self.radius * Y)", "2 * self.radius * Y)"),
            r"constraint_subspace: expected independent wrenches with S\^T T = 0",
        ),
        (("column(0 * x, Z),", "column(0 * x, X),"), "constraint_subspace: expected independent wrenches"),
        (
            ("            column(0 * x, Z),\n", ""),
            r"constraint_subspace\(q\) has shape \(6, 4\): expected an array of shape \(6, 5\)",
        ),
        (("se3.pose(so3", "(so3"), r"pose\(q\) is \(array"),
        (("[..., None]\n\n", "\n\n"), r"motion_subspace\(q\) has shape \(6,\): expected an array of shape \(6, 1\)"),
        (("np.round((way", "np.round(1 + (way"), r"expected pose\(coordinates\(X\)\) = X"),
        (("(angle + 2", "2 * (angle + 2"), r"expected pose\(coordinates\(X\)\) = X"),
        (('("rad",)', '("rad", "m")'), r"units \('rad', 'm'\): expected one for each of its 1 rates"),
        (('("radius",)', '("radios",)'), "parameters name 'radios': expected fields of Rolling"),
        (("@dataclass(frozen=True)", "@dataclass"), "Rolling is no frozen dataclass"),
    ],
)
def test_joint_kinds_that_contradict_themselves_are_refused(change, message):
    with pytest.raises(MechanismError, match=message):
        pendulum(typed("rolling.py", *change)["Rolling"](0.3))


def test_loops_are_closed_by_joint_kinds_that_are_consistent():
    builder = mr.Builder("loop")
    builder.body("arm", inertia.point(1.0, (0.0, 1.0, 0.0)), joint=mr.Revolute((1, 0, 0)))
    builder.loop(
        "own", typed("rolling.py", "def subspace_rate", "def rate_of_subspace")["Rolling"](0.3), "world", "arm"
    )
    with pytest.raises(MechanismError, match="subspace_rate is not the rate"):
        builder.build()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "hardening.py",
            ('"hardening spring"\n', '"hardening spring"\n    nx = 1\n'),
            "1 states and no rate: expected a method",
        ),
        ("hardening.py", ("return -self", "-self"), r"effort returned None .*: expected numbers of shape \(1, 1\)"),
        (
            "hardening.py",
            ("* q * q / 4", "* q[..., None]"),
            r"energy returned numbers of shape \(1, 1, 1\) .*: expected",
        ),
        (
            "hardening.py",
            ("- self.hardening", "- x[..., 0] * self.hardening"),
            "HardeningSpring.effort: index 0 is out of",
        ),
        (
            "magnet.py",
            ("return on(a.X, pull), on", "return on"),
            r"wrenches returned array.*: expected numbers of shape \(1, 1, 6\)",
        ),
        ("magnet.py", ("turned, 0 * turned", "turned"), r"wrenches returned numbers of shape \(1, 1, 3\)"),
        (
            "magnet.py",
            ('"magnet"\n', '"magnet"\n    start = lambda self: np.zeros(2)\n'),
            r"start\(\) has shape \(2,\): expected \(0,\)",
        ),
    ],
)
def test_forces_that_return_other_shapes_are_refused(name, change, message):
    robot, space = pendulum(mr.Revolute((0, 1, 0))), typed(name, *change)
    force = {"magnet.py": "Magnet", "hardening.py": "HardeningSpring"}[name]
    place = {"a": "tip"} if name == "magnet.py" else {"joint": "tip"}
    with pytest.raises(MechanismError, match=message):
        robot.with_force("own", space[force](3.0), **place)


# ---- code of one's own that the package runs on scalars of its own ----


def test_values_that_a_force_derives_from_its_numbers_are_those_of_each_robot(monkeypatch):
    """Two forces of one kind share a kernel, which reads their numbers from a table."""
    from dataclasses import dataclass
    from functools import cached_property

    from modurob.catalogue.forces import JointForce

    @dataclass(frozen=True)
    class Derived(JointForce):
        grip: float = 1.0
        kind = "derived"

        def __post_init__(self):
            object.__setattr__(self, "once", 2.0 * self.grip)

        @cached_property
        def later(self):
            return 2.0 * self.grip

        def effort(self, t, q, v, x):
            return -(self.once + self.later) * q

    found = []
    for grip in (1.0, 0.25):
        force = Derived(grip)
        assert force.later == force.once
        robot = pendulum(mr.Revolute((0, 1, 0))).with_force("soft", force, joint="tip")
        found.append(robot.passive_forces([0.3, 0.5], [0.0, 0.0])[1])
        assert str(robot.equations().S[1]) == {1.0: "4*q2", 0.25: "q2"}[grip]
    np.testing.assert_allclose(found, [-2.0, -0.5], rtol=1e-14)


def test_choices_of_a_force_are_part_of_its_code():
    from dataclasses import dataclass

    from modurob.catalogue.forces import JointForce
    from modurob.spatial.scalars import clip

    @dataclass(frozen=True)
    class Choosing(JointForce):
        stiffness: float = 1.0
        hard: bool = False
        most: float | None = None
        kind = "choosing"

        def effort(self, t, q, v, x):
            tau = -self.stiffness * q * (10.0 if self.hard else 1.0)
            return tau if self.most is None else clip(tau, -self.most, self.most)

    efforts = []
    for own in ({}, {"hard": True}, {"most": 0.1}, {"hard": True, "most": 0.2}):
        robot = pendulum(mr.Revolute((0, 1, 0))).with_force("one", Choosing(2.0, **own), joint="tip")
        efforts.append(robot.passive_forces([0.3, 0.5], [0.0, 0.0])[1])
    np.testing.assert_allclose(efforts, [-1.0, -10.0, -0.1, -0.2], rtol=1e-14)


@pytest.mark.parametrize("what", ["salt", (1.0, 2.0)])
def test_parameters_of_a_force_that_are_no_numbers_are_named(added, what):
    force = added("hardening.py").HardeningSpring(3.0, hardening=what)
    with pytest.raises(MechanismError, match=r"force duffing \(hardening spring\): hardening is .*: expected a number"):
        pendulum(mr.Revolute((0, 1, 0))).with_force("duffing", force, joint="tip")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("so3.about(Y, q[..., 0])", "so3.about(Y, math.asin(math.sin(q[..., 0])))"),
            "Rolling.pose: a traced scalar is not a number",
        ),
        (("self.radius * q * X", "self.radius * q[..., 0][..., None] * X"), None),
        (
            ("self.radius * q * X", "self.radius * (1 * q[..., 0])[..., None] * X"),
            r"Rolling.pose: .*q\[..., :1\] is an array",
        ),
        (
            ("self.radius * q * X", "abs(self.radius) * (q if q > -9 else -q) * X"),
            "Rolling.pose: a choice that depends",
        ),
    ],
)
def test_a_joint_kind_that_cannot_be_traced_is_named(change, message):
    space = {"__name__": "typed_in"}
    exec("import math\n" + FILES["rolling.py"].replace("@KINDS", "#").replace(*change), space)
    robot = pendulum(space["Rolling"](0.3))
    run = lambda: mr.simulate(robot, [0.3, 0.9], duration=0.01)  # noqa: E731
    if message is None:
        assert run().status.ok
    else:
        with pytest.raises(MechanismError, match=message):
            run()


def test_a_joint_kind_may_check_its_parameters(rng):
    """Code is traced, and typed, with values that a check refuses."""
    text = (
        FILES["rolling.py"]
        .replace("@KINDS", "#")
        .replace(
            "    def pose(",
            "    def __post_init__(self):\n        if not self.radius > 0:\n            raise ValueError\n\n    def pose(",
            1,
        )
    )
    space = {"__name__": "typed_in"}
    exec(text, space)
    for radius in (0.3, 0.5):
        robot = pendulum(space["Rolling"](radius))
        q, v, tau = rng.normal(size=(3, 2))
        expected = algorithms.forward_dynamics(robot, q, v, tau)
        assert relative_error(robot.forward_dynamics(q, v, tau), expected) < 1e-12


def test_parameters_of_joint_kinds_are_exact_in_equations(added):
    """A radius of 0.3 m is 3/10; an own kind that the equations cannot hold is named."""
    robot = pendulum(added("rolling.py").Rolling(0.3))
    eq, q = robot.equations(()), np.array([0.4, 0.7])
    values = {**dict(zip(eq.q, q, strict=True)), **eq.values}
    M = np.array(eq.M.subs(values).evalf(), dtype=float)
    np.testing.assert_allclose(M, robot.mass_matrix(q), rtol=1e-9)
    assert max(x.q for x in eq.M.atoms() if x.is_Rational) < 1e7
    rooted = (
        FILES["rolling.py"]
        .replace("@KINDS", "#")
        .replace("self.radius * q * X", "self.radius * q * np.sqrt(1 + q * q) / np.sqrt(1 + q * q) * X")
    )
    space = {"__name__": "typed_in"}
    exec(rooted, space)
    with pytest.raises(NotExactError, match=r"Rolling.pose: sqrt of q2\*\*2 \+ 1 has no polynomial form"):
        pendulum(space["Rolling"](0.3)).equations()


# ---- the command line and processes ----


def test_a_controller_takes_its_numbers_on_the_command_line(tmp_path):
    path = tmp_path / "needing.py"
    path.write_text(
        FILES["integrator.py"]
        .replace('"integrator"', '"needing"')
        .replace("    kp: float = 20.0", "    pull: float\n    kp: float = 20.0")
    )
    options = ("--with", path, "simulate", "crab", "--controller", "needing", "--duration", "0.01")
    assert "done" in modurob(*options, "--option", "pull=2")
    for given, message in (
        ("pul=2", "--option pul: .* number of the controller 'needing': did you mean 'pull'"),
        ("kp=2", "--option kp: expected --kp"),
    ):
        found = CliRunner().invoke(app, [str(x) for x in (*options, "--option", given)])
        assert isinstance(found.exception, SimulationError)
        assert re.search(message, str(found.exception))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("broken_file.py", "def f(:", "--with .*broken_file.py: SyntaxError: .*line 1"),
        ("failing_file.py", "x = 1\nraise ValueError('so')", "--with .*failing_file.py: line 2: ValueError: so"),
        (
            "lacking_file.py",
            "import nothing_of_that_name",
            "--with .*: line 1: ModuleNotFoundError: No module named 'nothing",
        ),
        ("numpy.py", "", "Python has another module 'numpy', .*: rename the file"),
        ("queue.py", "", "Python has another module 'queue', .*: rename the file"),
    ],
)
def test_files_that_cannot_be_imported_are_explained(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    found = CliRunner().invoke(app, ["--with", str(tmp_path / name), "robots"])
    assert isinstance(found.exception, InputError)
    assert re.search(message, str(found.exception))


def test_workers_import_the_files_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(TASKS, "_things", dict(TASKS))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "compact", raising=False)
    options = ["--task", "compact", "--generations", "1", "--population", "2", "--modules", "3", "--workers", "1"]
    with_file = ("--with", write(tmp_path, "compact.py"))
    printed = modurob(*with_file, "search", "backbone", *options, "--folder", tmp_path / "found")
    assert "2 fit" in printed


def test_a_task_that_workers_cannot_read_is_refused_at_once():
    space = {"__name__": "typed_in"}
    exec(FILES["compact.py"].replace("@TASKS", "#"), space)
    module = type(sys)("typed_in")
    module.Compact = space["Compact"]
    sys.modules["typed_in"] = module
    try:
        with pytest.raises(SearchError, match=r"cannot be read by workers: ModuleNotFoundError.*or workers=0"):
            mr.search_designs("backbone", 3, space["Compact"](), generations=1, population=2, workers=1)
    finally:
        del sys.modules["typed_in"]
