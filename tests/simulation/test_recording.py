"""Recordings: what is saved is what comes back, and a run can be repeated to the last bit."""

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
import pyarrow.parquet
import pytest
import sympy

import modurob as mr
from modurob.catalogue.forces import FORCES, JointForce
from modurob.catalogue.joints import Reversed
from modurob.errors import MechanismError, RecordingError, SimulationError
from modurob.mechanism.archive import from_data, to_data
from modurob.simulation import plots
from modurob.spatial import inertia, se3
from tests.robots import random_mechanism, random_state


@FORCES.register("test bristles")
@dataclass(frozen=True)
class Bristles(JointForce):
    """Friction of bristles that bend: a force with a state of its own."""

    kind: ClassVar[str] = "test bristles"
    nx: ClassVar[int] = 1
    stiffness: float = 50.0
    coulomb: float = 0.3

    def effort(self, t, q, v, x):
        return -self.stiffness * x[..., 0]

    def rate(self, t, q, v, x):
        return (v - abs(v) * self.stiffness / self.coulomb * x[..., 0])[..., None]


REACH = mr.ComputedTorque(kp=100, kd=20, reference=0.3, sample_time=2e-3)
START = np.array([0.4, -0.7, 0.9])


def rubbed(robot, friction):
    """The robot with this friction on every rate of every joint."""
    for joint in robot.joints:
        for k in range(joint.type.nv):
            robot = robot.with_force(f"rub {joint.name} {k}", friction, joint=joint.name, rate=k)
    return robot


def crab(**options):
    return mr.load("crab").mechanism(base="m0", **options)


@pytest.fixture(scope="module")
def run():
    return mr.simulate(crab(), START, duration=0.2, controller=REACH)


SITUATIONS = {
    "free": {},
    "controlled": {"controller": REACH},
    "filtered": {"controller": REACH, "estimator": mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-3))},
    "rubbed": {"robot": lambda: rubbed(crab(), mr.Friction(0.1, 0.2))},
    "bristles": {"robot": lambda: crab().with_force("bristles", Bristles(), joint="m0/hinge")},
    "euler, springs": {
        "robot": lambda: crab().with_force("band", mr.JointSpring(10.0, 1.0), joint="m2/hinge"),
        "stepper": mr.SemiImplicitEuler(1e-3),
    },
    "adaptive": {"stepper": mr.Adaptive("LSODA", rtol=1e-6), "tick": 0.01},
    "midpoint": {"stepper": mr.ImplicitMidpoint(2e-3)},
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_saved_loaded_and_repeated_it_is_the_same_to_the_last_bit(tmp_path, name):
    options = {"robot": crab, **SITUATIONS[name]}
    run = mr.simulate(options.pop("robot")(), START, duration=0.1, **options)
    assert run.status.ok
    run.save(tmp_path / "a.mrun")
    again = mr.Recording.load(tmp_path / "a.mrun")
    assert again.robot.key == run.robot.key
    assert again.status == run.status
    for other in (again, again.repeated()):
        for array in ("t", "q", "v", "tau"):
            np.testing.assert_array_equal(getattr(other, array), getattr(run, array))
    np.testing.assert_array_equal(again.vdot, run.vdot)
    if "estimator" in SITUATIONS[name]:
        np.testing.assert_array_equal(again.q_estimate, run.q_estimate)


ANY_STEPPER = [mr.RungeKutta4(2e-3), mr.ImplicitMidpoint(2e-3), mr.Variational(2e-3), mr.Adaptive()]


@pytest.mark.parametrize("stepper", ANY_STEPPER, ids=lambda s: type(s).__name__)
def test_runs_of_any_robot_are_repeated_to_the_last_bit(tmp_path, rng, stepper):
    """Whether kernels were there at the start or not, and though quaternions were given of any length."""
    robot = random_mechanism(rng, 3, floating=True)
    q, v, _ = random_state(rng, robot)
    q[3:7] *= 3
    if isinstance(stepper, mr.RungeKutta4):
        robot = rubbed(robot, mr.Friction(0.1))
    run = mr.simulate(robot, q, v, 0.3, stepper=stepper, tick=2e-3)
    run.save(tmp_path / "a.mrun")
    again = mr.Recording.load(tmp_path / "a.mrun").repeated()
    for array in ("t", "q", "v", "tau"):
        np.testing.assert_array_equal(getattr(again, array), getattr(run, array))


def test_runs_side_by_side_are_repeated_to_the_last_bit(rng):
    run = mr.simulate(crab(), rng.normal(size=(5, 3)), duration=0.1, controller=REACH)
    again = run.repeated()
    np.testing.assert_array_equal(again.q, run.q)
    np.testing.assert_array_equal(again.v, run.v)


FAILURES = {
    "not finite": {"controller": lambda t, q, v: np.full(3, 0.1 if t < 0.05 else np.nan)},
    "controller failed": {"controller": lambda t, q, v: np.full(3, [0.1][int(t > 0.05)])},
    "diverged": {"robot": lambda: crab().ideal(), "controller": lambda t, q, v: np.full(3, 0.1 if t < 0.05 else 1e9)},
    "step limit": {"stepper": mr.ImplicitMidpoint(0.5)},
    "limit hit": {"stop_at_limits": True},
    "cancelled": {"cancelled": iter([False] * 7 + [True]).__next__},
}


@pytest.mark.parametrize("kind", FAILURES)
def test_runs_that_failed_are_kept(tmp_path, kind):
    options = {"robot": crab, **FAILURES[kind]}
    run = mr.simulate(options.pop("robot")(), START, duration=1.0, **options)
    assert run.status.kind == kind
    run.save(tmp_path / "a.mrun")
    run.to_csv(tmp_path / "a.csv")
    assert kind in run.plot(tmp_path / "a.png").get_suptitle()
    again = mr.Recording.load(tmp_path / "a.mrun")
    assert (again.status, again.events) == (run.status, run.events)
    for other in (again, again.repeated()):
        for array in ("t", "q", "v", "tau"):
            np.testing.assert_array_equal(getattr(other, array), getattr(run, array))


@pytest.mark.parametrize("seed", range(5))
def test_any_robot_survives_its_file(seed):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, floating=bool(seed % 2), armature=True)
    again = from_data(json.loads(json.dumps(to_data(robot))), mr.Mechanism)
    assert again.key == robot.key
    assert again.shapes == robot.shapes == ()
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    np.testing.assert_array_equal(again.bias_forces(q, v), robot.bias_forces(q, v))


def test_a_robot_with_loops_frames_and_shapes_survives_its_file():
    ring = mr.Assembly.single("m0", "backbone")
    for i in range(1, 6):
        ring = ring.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    robot = ring.connect("m5/3", "m0/4").mechanism()
    again = from_data(json.loads(json.dumps(to_data(robot))), mr.Mechanism)
    assert again.key == robot.key
    assert list(again.frames) == list(robot.frames)
    q = robot.close_loops(np.full(6, np.pi / 3))
    np.testing.assert_array_equal(again.loop_error(q), robot.loop_error(q))
    np.testing.assert_array_equal(again.frame_pose(q, "m3/2"), robot.frame_pose(q, "m3/2"))
    assert [s.kind for s in again.shapes] == [s.kind for s in robot.shapes]


def test_joints_that_mimic_or_are_reversed_survive_their_file(rng):
    builder = mr.Builder("gripper", gravity=(1, 2, 3))
    slide = mr.JointProperties(lower=-1, upper=[0.5], velocity=2, effort=3, damping=0.1, friction=0.2, armature=0.3)
    builder.body("left", inertia.random(rng), joint=mr.Helical((0, 1, 1), 0.05), joint_name="screw", properties=slide)
    follower = mr.Source("screw", ratio=-0.5, offset=0.1)
    builder.body("right", inertia.random(rng), joint=mr.Prismatic((1, 0, 0)), mimic=follower, at=se3.random(rng))
    other = mr.Builder("backwards")
    for i, joint in enumerate((mr.Universal((1, 0, 0), (0, 0, 1)), mr.Planar((0, 1, 0)), mr.Spherical(), mr.Free())):
        other.body(f"b{i}", inertia.random(rng), joint=joint.reversed())
    backwards = other.build()
    assert all(isinstance(j.type, Reversed) for j in backwards.joints)
    for robot in (builder.build(), backwards):
        again = from_data(json.loads(json.dumps(to_data(robot))), mr.Mechanism)
        assert again.key == robot.key
        assert [j.type for j in again.joints] == [j.type for j in robot.joints]
        assert again.forces == robot.forces
        for name in ("velocity_limit", "effort_limit", "armature"):
            for mine, other in zip(robot.joints, again.joints, strict=True):
                np.testing.assert_array_equal(getattr(mine, name), getattr(other, name))
        q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
        np.testing.assert_array_equal(again.mass_matrix(q), robot.mass_matrix(q))
        np.testing.assert_array_equal(again.bias_forces(q, v), robot.bias_forces(q, v))


def test_symbols_cannot_be_written_down():
    mass = sympy.Symbol("m", positive=True)
    robot = mr.Assembly.single("m0", "backbone", parameters={"mass": mass}).mechanism(floating=True)
    with pytest.raises(MechanismError, match="has symbols for numbers: give them values"):
        to_data(robot)


def test_tables_hold_every_number(run, tmp_path):
    run.to_csv(tmp_path / "a.csv")
    run.to_parquet(tmp_path / "a.parquet")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    columns = pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pydict()
    assert list(rows[0]) == list(columns)
    for k, joint in enumerate(("m0/hinge", "m2/hinge", "m4/hinge")):
        for name in ("q", "v", "vdot", "tau"):
            expected = getattr(run, name)[:, k]
            np.testing.assert_array_equal([float(r[f"{name} {joint}"]) for r in rows], expected)
            np.testing.assert_array_equal(columns[f"{name} {joint}"], expected)


def test_runs_side_by_side_are_the_runs_alone():
    starts = np.stack([START, -START, 0 * START])
    many = mr.simulate(crab(), starts, duration=0.1, controller=REACH)
    for k, start in enumerate(starts):
        alone = mr.simulate(crab(), start, duration=0.1, controller=REACH)
        np.testing.assert_allclose(many.of_run(k).q, alone.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(many.of_run(k).tau, alone.tau, rtol=0, atol=1e-10)
    with pytest.raises(SimulationError, match="one of the runs"):
        many.to_csv("never.csv")


def test_states_between_ticks(run):
    fine = mr.simulate(crab(), START, duration=0.1, controller=REACH, stepper=mr.RungeKutta4(1e-4))
    held = run.segments[0]
    q, v = held.at(0.0507)
    at = np.argmin(np.abs(fine.t - 0.05))
    # from the tick at 0.05 s on, the torque is held
    expected = mr.simulate(
        crab(), fine.q[at], fine.v[at], 7e-4, stepper=mr.RungeKutta4(1e-4), controller=lambda t, q, v: fine.tau[at]
    )
    np.testing.assert_allclose(q, expected.q[-1], atol=1e-9)
    np.testing.assert_allclose(v, expected.v[-1], atol=1e-8)
    np.testing.assert_array_equal(held.at(0.05)[0], run.q[25])
    with pytest.raises(SimulationError, match=r"recorded from 0 to 0\.2 s"):
        held.at(0.3)


def test_the_plot_has_labels_and_units(run, tmp_path):
    figure = run.plot(tmp_path / "a.png", ["m0/hinge"])
    labels = [axis.get_ylabel() for axis in figure.axes]
    assert labels == ["position [rad]", "velocity [rad/s]", "acceleration [rad/s²]", "torque [N m]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(SimulationError, match="did you mean 'm0/hinge'"):
        run.plot(None, ["m0/hing"])


def test_a_plot_shows_what_servos_and_drives_give(tmp_path):
    """The law asks for nothing where a servo works, and for volts where a drive is given them: torques are drawn."""
    crab = mr.load("crab").mechanism(base="m1")
    swung = mr.simulate(mr.driven(crab, mr.gait("crab"), kp=10.0, kd=0.5), duration=0.1)
    geared = crab.with_drive("m0/hinge", mr.load_drive("backbone-hinge").with_input("voltage"))
    turned = mr.simulate(geared, duration=0.1, controller=lambda t, q, v: np.array([3.0, 0.0, 0.0]))
    figures = [run.plot(tmp_path / "run.png") for run in (swung, turned)]
    servos = np.transpose([line.get_ydata() for line in figures[0].axes[3].lines])
    # nothing else pushes the crab within its stops
    assert servos == pytest.approx(crab.inverse_dynamics(swung.q, swung.v, swung.vdot), abs=1e-6)
    assert np.abs(servos).max() > 0.1
    drive = figures[1].axes[3].lines[0].get_ydata()
    assert drive == pytest.approx(turned.drive("m0/hinge").torque)
    for figure in figures:
        plt.close(figure)


def test_every_joint_of_a_plot_has_a_colour_of_its_own():
    snake = mr.Assembly.from_grid(" ".join(["B"] * 17))
    robot = snake.with_setup(base="m0").mechanism(keep_idle=True)
    figure = mr.simulate(robot, duration=0.002).plot()
    assert len({str(line.get_color()) for line in figure.axes[0].lines}) == robot.nv == 17
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [j.name for j in robot.joints]
    plt.close(figure)


def test_a_legend_of_very_many_joints_says_how_many_it_leaves_out(monkeypatch, run):
    monkeypatch.setattr(plots, "MOST_NAMED", 2)
    figure = run.plot()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["m0/hinge", "m2/hinge", "and 1 more"]
    plt.close(figure)


def test_a_plot_shows_where_the_base_goes():
    """A body that drifts and turns steadily: straight lines of the slopes it was given."""
    robot = mr.load("crab").mechanism(floating=True, gravity=(0, 0, 0)).ideal()
    v = np.zeros(robot.nv)
    v[:3] = 0.1, -0.2, 0.3
    figure = mr.simulate(robot, v0=v, duration=0.01).plot()
    assert [axis.get_ylabel() for axis in figure.axes[4:]] == ["base position [m]", "base rotation [rad]"]
    ends = [line.get_ydata()[-1] for line in figure.axes[4].lines]
    np.testing.assert_allclose(ends, 0.01 * v[:3], atol=1e-12)
    np.testing.assert_allclose([line.get_ydata()[-1] for line in figure.axes[5].lines], 0, atol=1e-12)
    plt.close(figure)
    alone = mr.simulate(robot, v0=np.eye(robot.nv)[5] * 0.4, duration=0.01).plot(joints=["floating_base"])
    assert len(alone.axes) == 2
    plt.close(alone)


@pytest.mark.parametrize("axis", range(3))
def test_a_plot_of_a_base_that_turns_round_goes_on(axis):
    """Two turns and a half about an axis: roll and yaw grow steadily; both panels name their lines."""
    b = mr.Builder("ball", gravity=(0, 0, 0))
    b.body("ball", inertia.sphere(1.0, 0.1), joint=mr.Free())
    v = np.zeros(6)
    v[3 + axis] = 5 * np.pi
    figure = mr.simulate(b.build(), v0=v, duration=1.0).plot()
    words = [[text.get_text().split()[-1] for text in panel.get_legend().get_texts()] for panel in figure.axes]
    assert words == [["x", "y", "z"], ["roll", "pitch", "yaw"]]
    if axis != 1:  # a pitch turns back at a quarter turn
        lines = figure.axes[1].lines
        for k in range(3):
            course = 5 * np.pi * lines[k].get_xdata() * (k == axis)
            np.testing.assert_allclose(lines[k].get_ydata(), course, atol=1e-6)
    plt.close(figure)


def test_a_plot_of_many_runs_is_their_median_and_range(rng):
    starts = START + 0.1 * rng.normal(size=(9, 3))
    run = mr.simulate(crab(), starts, duration=0.02, controller=REACH)
    figure = run.plot()
    assert "9 runs, median and range" in figure.get_suptitle()
    for panel, x in zip(figure.axes, (run.q, run.v, run.vdot, run.tau), strict=True):
        assert len(panel.lines) == len(panel.collections) == 3
        for k, (line, band) in enumerate(zip(panel.lines, panel.collections, strict=True)):
            np.testing.assert_array_equal(line.get_ydata(), np.median(x[..., k], axis=1))
            heights = band.get_paths()[0].vertices[:, 1]
            assert (heights.min(), heights.max()) == (x[..., k].min(), x[..., k].max())
    few = mr.simulate(crab(), starts[:2], duration=0.02).plot()
    assert few.get_suptitle() == "crab: 2 runs"
    assert [len(panel.lines) for panel in few.axes] == [6] * 4
    energy = plots.plot_energy(run)
    assert [text.get_text() for text in energy.axes[0].get_legend().get_texts()] == [
        "kinetic energy",
        "potential energy",
        "energy",
    ]
    plt.close("all")


def test_no_figure_stays_open_where_a_picture_cannot_be_written(run, tmp_path):
    (tmp_path / "taken.png").mkdir()
    before = plt.get_fignums()
    for write in (
        run.plot,
        lambda path: mr.draw.save_picture(run.robot, path),
        lambda path: plots.plot_energy(run, path),
    ):
        with pytest.raises(mr.ModurobError, match=r"taken\.png: cannot be written"):
            write(tmp_path / "taken.png")
    assert plt.get_fignums() == before


def test_a_run_pushed_from_outside_cannot_be_repeated():
    run = mr.simulate(crab(), START, duration=0.01, external=lambda t: {"m3": np.array([1.0, 0, 0, 0, 0, 0])})
    with pytest.raises(SimulationError, match="external wrenches acted"):
        run.repeated()


# ---- files that are not what they should be ----


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RecordingError, match=r"none\.mrun: cannot be read: No such file"):
        mr.Recording.load(tmp_path / "none.mrun")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_file_cut_short_is_named(run, tmp_path, share):
    run.save(tmp_path / "a.mrun")
    content = (tmp_path / "a.mrun").read_bytes()
    (tmp_path / "b.mrun").write_bytes(content[: int(share * len(content))])
    with pytest.raises(RecordingError, match=r"b\.mrun: not a recording, or cut short"):
        mr.Recording.load(tmp_path / "b.mrun")


def rewritten(run, path, change, without=()):
    """The file of a run with its head changed and some entries left out."""
    run.save(path)
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name) for name in file.namelist() if name not in without}
    head = json.loads(entries["recording.json"])
    change(head)
    entries["recording.json"] = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in entries.items():
            file.writestr(name, content)


def test_a_file_of_a_newer_modurob_is_refused(run, tmp_path):
    rewritten(run, tmp_path / "a.mrun", lambda head: head.update(version=99))
    with pytest.raises(RecordingError, match=r"version 99 of the format.*get a newer modurob"):
        mr.Recording.load(tmp_path / "a.mrun")


def test_a_file_of_another_kind_is_refused(run, tmp_path):
    rewritten(run, tmp_path / "a.mrun", lambda head: head.update(format="letter"))
    with pytest.raises(RecordingError, match="not a recording"):
        mr.Recording.load(tmp_path / "a.mrun")


@pytest.mark.parametrize("change", [lambda h: h.pop("segments"), lambda h: h["segments"][0]["robot"].pop("joints")])
def test_a_damaged_head_is_named(run, tmp_path, change):
    rewritten(run, tmp_path / "a.mrun", change)
    with pytest.raises(RecordingError, match=r"a\.mrun: damaged"):
        mr.Recording.load(tmp_path / "a.mrun")


def test_a_missing_array_is_named(run, tmp_path):
    rewritten(run, tmp_path / "a.mrun", lambda head: None, without=("0/q.npy",))
    with pytest.raises(RecordingError, match=r"a\.mrun: damaged"):
        mr.Recording.load(tmp_path / "a.mrun")


@pytest.mark.parametrize("name", ["q", "v", "tau", "t"])
def test_an_array_of_another_size_is_named(run, tmp_path, name):
    rewritten(run, tmp_path / "a.mrun", lambda head: None, without=(f"0/{name}.npy",))
    array = io.BytesIO()
    np.save(array, getattr(run, name)[:-1])
    with zipfile.ZipFile(tmp_path / "a.mrun", "a") as file:
        file.writestr(f"0/{name}.npy", array.getvalue())
    with pytest.raises(
        RecordingError, match=r"a\.mrun: damaged: 0/.*\.npy has shape .*: expected \d+ rows of 3 numbers"
    ):
        mr.Recording.load(tmp_path / "a.mrun")


def test_random_bytes_are_no_recording(run, tmp_path, rng):
    """Anything may stand in a file: it is a recording, or an error names the file."""
    run.save(tmp_path / "a.mrun")
    content, path = (tmp_path / "a.mrun").read_bytes(), tmp_path / "b.mrun"
    path.write_bytes(rng.bytes(1000))
    with pytest.raises(RecordingError, match=r"b\.mrun: not a recording"):
        mr.Recording.load(path)
    refused = []
    for _ in range(200):
        spoilt = bytearray(content)
        spoilt[rng.integers(len(spoilt))] ^= 1 << rng.integers(8)
        path.write_bytes(spoilt)
        try:
            found = mr.Recording.load(path)
        except RecordingError as error:
            refused.append(str(error))
        else:
            np.testing.assert_array_equal(found.q, run.q)
    assert len(refused) > 150
    assert all(str(path) in message for message in refused)


def test_what_cannot_be_saved_leaves_nothing(run, tmp_path):
    with pytest.raises(mr.ModurobError, match="cannot be written"):
        run.save(tmp_path / "no folder" / "a.mrun")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "how"),
    [("a.csv", "to_csv"), ("a.PARQUET", "to_parquet"), ("a.gif", "animate"), ("a.html", "show"), ("a.png", "plot")],
)
def test_save_writes_recordings_alone(name, how, tmp_path):
    run = mr.simulate(mr.load("crab").robot(), duration=0.002)
    with pytest.raises(RecordingError, match=rf"save writes recordings \(.mrun\): expected run.{how}\("):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.mrum", "a.yaml", "a.zip"])
def test_save_refuses_endings_of_nothing_it_writes(run, name, tmp_path):
    with pytest.raises(
        RecordingError, match=rf"files \{name[1:]} hold no recording: valid: .mrun; .csv by run.to_csv, "
    ):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    run.save(tmp_path / "a")
    assert mr.load(tmp_path / "a") == run


def test_the_share_of_time_at_the_effort_limit_is_known():
    """7 N m are asked, and more, of one hinge for the first quarter, of another for the last three."""

    def law(t, q, v):
        return np.array([7.0, 1.0, -99.0] if t < 0.0995 else [6.9, -8.0, 0.0])

    run = mr.simulate(crab(), START, duration=0.399, controller=law)
    # 400 ticks; the last row repeats the torque that brought it there
    assert run.saturated == {"m0/hinge": 0.25, "m2/hinge": 0.75, "m4/hinge": 0.25}
    assert repr(run).endswith("done at t = 0.399 s; at the effort limit: m2/hinge 75 % of the time)")
    assert "at the effort limit" in run.plot().get_suptitle()
    plt.close("all")
    assert "<td>75 %</td>" in run._repr_html_()
    again = mr.Recording((run.segments[0], run.segments[0]), run.status)
    assert again.saturated == run.saturated


def test_runs_side_by_side_share_their_time_at_the_limit():
    run = mr.simulate(
        crab(), np.tile(START, (4, 1)), duration=0.01, controller=lambda t, q, v: np.diag([9.0] * 4)[:, :3]
    )
    assert run.saturated == {"m0/hinge": 0.25, "m2/hinge": 0.25, "m4/hinge": 0.25}
    assert run.of_run(1).saturated == {"m0/hinge": 0.0, "m2/hinge": 1.0, "m4/hinge": 0.0}


def test_without_limits_nothing_is_said_of_them():
    run = mr.simulate(crab().ideal(), START, duration=0.01, controller=lambda t, q, v: np.full(3, 1e3))
    assert run.saturated == {}
    assert "limit" not in repr(run)


MOTORS = {
    # 4 A is the limit of this drive: 200 x 0.0125 N m/A x 4 A = 10 N m
    "torque": (mr.load_drive("backbone-hinge"), lambda t, q, v: np.array([20.0, 0, 0]), 1.0),
    "weaker torque": (mr.load_drive("backbone-hinge"), lambda t, q, v: np.array([5.0, 0, 0]), 0.0),
    "servo": (mr.Oscillator(kp=1e4, kd=1.0, centre=1.0, limit=2.0), None, 1.0),
    "strong servo": (mr.Oscillator(kp=1.0, kd=0.1, centre=1.0, limit=2e3), None, 0.0),
    "wheel": (mr.SpeedServo(kd=1e4, speed=1e3, limit=2.0), None, 1.0),
}


@pytest.mark.parametrize("name", MOTORS)
def test_drives_and_servos_have_limits_of_their_own(name):
    motor, law, share = MOTORS[name]
    if isinstance(motor, mr.Drive):
        robot = crab().with_drive("m0/hinge", motor)
    else:
        robot = crab().with_force("motor", motor, joint="m0/hinge")
    run = mr.simulate(robot, START, duration=0.02, controller=law)
    # a current has to grow first, and a servo begins at rest: within two of more than twenty ticks
    assert run.saturated["m0/hinge"] == pytest.approx(share, abs=0.1)


def test_the_shipped_double_pendulum_follows_a_law_at_its_default_gains():
    run = mr.simulate(
        mr.load("double_pendulum").robot(), [0.8, 0.8], duration=2.0, controller=mr.ComputedTorque(100, 20)
    )
    assert max(run.saturated.values()) == 0.0
    # both poles at -10: (1 + 10 t) exp(-10 t) of the start is left
    left = 0.8 * (1 + 10 * run.t) * np.exp(-10 * run.t)
    # torques are held for 1 ms, during which the arm moves by up to a millisecond's share of its way
    np.testing.assert_allclose(run.q, np.stack([left, left], axis=1), atol=5e-3)


def test_plots_ask_joints_for_their_units():
    class Carriage(mr.Prismatic):
        kind = "carriage"

    for joint, unit in {Carriage(): "m", mr.Universal(): "rad", mr.Planar(): "rad or m"}.items():
        b = mr.Builder("one")
        b.body("tip", mr.spatial.inertia.point(1.0, (0.1, 0.2, 0.3)), joint=joint)
        figure = mr.simulate(b.build(), duration=0.002).plot()
        assert figure.axes[0].get_ylabel() == f"position [{unit}]"
        plt.close(figure)
