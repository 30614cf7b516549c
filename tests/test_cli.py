"""The command `modurob`."""

import os
import subprocess
import sys
import warnings
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

import modurob as mr
from modurob.cli import app, main
from modurob.cli.doctor import warmed_up
from modurob.control import LAWS, plain_laws
from modurob.errors import ControlError, InputError, ModurobError
from modurob.estimation import FILTERS
from modurob.motion.gaits import PRESETS
from modurob.simulation import STEPPERS
from modurob.symbolic import Equations
from tests.mechanism.test_urdf import ARM


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.output


def ends(said):
    """q and v of each joint at the end of a run, as printed."""
    rows = [line.split() for line in said.splitlines() if line.startswith("m") and "/" in line.partition(" ")[0]]
    return {joint: (float(q), float(v)) for joint, q, v, *_ in rows}


def test_info_tells_modules_degrees_of_freedom_and_idle_joints():
    said = run("info", "crab")
    assert "6 (6 backbone), 5 connections" in said
    assert "m1/hinge, m3/hinge, m5/hinge" in said
    assert "3 moving" in said


def test_info_counts_the_degrees_of_freedom_that_loops_take(tmp_path):
    ring = mr.Assembly.single("m0", "backbone")
    for i in range(1, 6):
        ring = ring.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    mr.save(ring.connect("m5/3", "m0/4"), tmp_path / "ring.yaml")
    said = run("info", tmp_path / "ring.yaml")
    assert "3 (6 joint rates, 3 taken by loops)" in said
    assert "m5/3 - m0/4" in said


def test_info_of_a_urdf_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    assert "shoulder" in run("info", tmp_path / "arm.urdf")
    assert "floating_base" in run("info", tmp_path / "arm.urdf", "--floating")


def test_files_of_mujoco(tmp_path):
    run("export", "crab", tmp_path / "crab.xml")
    assert "m0/hinge" in run("info", tmp_path / "crab.xml")
    assert "says itself how it stands" in run("info", tmp_path / "crab.xml", "--floating", code=2)
    run("export", tmp_path / "crab.xml", tmp_path / "crab.sdf")
    assert "crab" in run("simulate", "crab", "--stepper", "mujoco", "--duration", "0.01")


def test_aim_prints_matrices_and_lists():
    said = run("aim", "crab")
    for word in ("DP", "DS", "DO", "Accessibility", "Direct", "Indirect"):
        assert word in said


def test_check_says_fine_or_what_is_wrong(tmp_path):
    assert "fine" in run("check", "crab")
    (tmp_path / "arm.urdf").write_text(ARM.replace('mass value="2"', 'mass value="-2"'))
    said = run("check", tmp_path / "arm.urdf")
    assert "doubtful: 3 bodies, 2 degrees of freedom" in said.replace("\n", " ")
    assert "link 'upper': mass -2 kg is negative" in said
    bad = tmp_path / "bad.yaml"
    bad.write_text("format: modurob assembly 1\nmodules: {m0: bakbone}\n")
    process = subprocess.run(
        [sys.executable, "-m", "modurob", "check", str(bad)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 2
    assert "did you mean 'backbone'?" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("name", mr.shipped_robots())
def test_verify_passes_on_every_shipped_robot(name):
    said = run("verify", name)
    assert "FAIL" not in said
    assert "Pinocchio" in said


def test_verify_fails_when_a_judge_disagrees(monkeypatch):
    from modurob.judges import pinocchio

    monkeypatch.setattr(
        pinocchio.PinocchioTwin, "mass_matrix", lambda self, q: 1.01 * mr.load("crab").mechanism().mass_matrix(q)
    )
    assert "FAIL" in run("verify", "crab", code=1)


def test_equations_are_printed_and_written(tmp_path):
    said = run("equations", "double_pendulum", "--gravity", "0,9.81,0")
    assert "M[1, 2] = l**2*m*(1 + cos(q2))" in said
    assert "no closed form: m0/hinge stop, m1/hinge stop" in said
    chosen = run("equations", "double_pendulum", "--gravity", "0,9.81,0", "--symbols", "masses,lengths")
    assert "M[1, 2] = l1**2*m2*(1 + cos(q2))" in chosen
    assert "inverse dynamics by Newton-Euler takes (153, 120)" in said
    names = [tmp_path / "a.tex", tmp_path / "a.c", tmp_path / "a.py"]
    said = run("equations", "crab", "--latex", names[0], "--c", names[1], "--python", names[2], "--shorthand")
    assert all(f"wrote {name}" in said.replace("\n", "") for name in names)
    assert r"\begin{bmatrix}" in names[0].read_text()
    assert "void crab_equations(" in names[1].read_text()
    assert "def equations(q, v, p=()):" in names[2].read_text()


def test_an_interrupt_leaves_no_half_file(tmp_path, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Equations, "c", interrupted)
    result = CliRunner().invoke(app, ["equations", "crab", "--c", str(tmp_path / "a.c")])
    assert result.exit_code != 0
    assert list(tmp_path.iterdir()) == []


def test_equations_name_what_is_wrong():
    assert "three numbers" in run("equations", "crab", "--gravity", "down", code=2)
    result = CliRunner().invoke(app, ["equations", "crab", "--symbols", "mass"])
    assert isinstance(result.exception, InputError)


def test_prove_shows_both_derivations_identical():
    said = run("prove", "crab")
    assert "15 entries: both derivations are identical" in said
    assert "different" not in said


def test_prove_fails_when_they_differ(monkeypatch):
    from modurob.symbolic import derivation

    honest = derivation.lagrange

    def wrong(m, coordinates):
        M, N, V = honest(m, coordinates)
        return M, 2 * N, V

    monkeypatch.setattr(derivation, "lagrange", wrong)
    assert "different" in run("prove", "crab", code=1)


def test_demo_draws_the_crab(tmp_path):
    assert "3 degrees of freedom become 4" in run("demo", "--out", tmp_path)
    pictures = sorted(p.name for p in tmp_path.iterdir())
    assert pictures == ["crab.png", "crab_bent.png", "crab_torques.png", "crab_with_scout.png"]
    assert all(p.stat().st_size > 10_000 for p in tmp_path.iterdir())


def test_demo_needs_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: expected a folder, or a place for one: File exists"):
        CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "file")], catch_exceptions=False)


def test_robots_and_version():
    assert "crab" in run("robots")
    assert "hexapod           walks: modurob simulate hexapod --ground 0.8 --gait found" in run("robots")
    assert mr.__version__ in run("--version")


def test_an_assembly_is_asked_for_where_modules_are_needed(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    assert "not modules" in run("aim", tmp_path / "arm.urdf", code=2)


def test_simulate_then_plot(tmp_path):
    file, picture, table = tmp_path / "run.mrun", tmp_path / "run.png", tmp_path / "run.csv"
    arguments = ["--controller", "computed-torque", "--reference", "0.3,0.2,-0.4", "--duration", "2"]
    result = run("simulate", "crab", "--ideal", *arguments, "--out", file, "--plot", str(tmp_path / "first.png"))
    assert "2001 ticks, done at t = 2 s" in result
    found = {joint: q for joint, (q, _) in ends(result).items()}
    # 20 time constants: exp(-20) of the way is left
    assert found == pytest.approx({"m0/hinge": 0.3, "m2/hinge": 0.2, "m4/hinge": -0.4}, abs=1e-6)
    assert "effort limit" not in result
    assert "2001 ticks" in run("plot", file, "--out", str(picture), "--table", str(table))
    assert picture.read_bytes()[:4] == (tmp_path / "first.png").read_bytes()[:4] == b"\x89PNG"
    assert len(table.read_text().splitlines()) == 2002


def test_simulate_writes_its_controller_as_c(tmp_path):
    law = tmp_path / "law.c"
    out = run("simulate", "crab", "--duration", 0.01, "--controller", "pid", "--reference", 0.2, "--c", law)
    assert "controller: " in out
    assert law.read_text() == mr.controller_c(mr.PID(reference=0.2), mr.load("crab").robot())


def test_simulate_says_which_joints_have_their_effort_limit():
    """Every millidegree asks for more than 7 N m."""
    law = ["--controller", "pid", "--kp", "1e9", "--kd", "0", "--start", "0.3,0.2,0.1", "--duration", "0.05"]
    said = run("simulate", "crab", *law)
    assert "at the effort limit: m0/hinge 100 %, m2/hinge 100 %, m4/hinge 100 % of the time: the drives cannot" in said
    assert said.count(" 7 ") == said.count("100 %\n") == 3


def test_simulate_with_a_gait_and_a_filter():
    result = run("simulate", "crab", "--controller", "computed-torque", "--gait", "crab", "--ekf", "--duration", "0.1")
    assert "101 ticks, done" in result


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--controller", "bang-bang"], f"valid: none, {', '.join(plain_laws())}"),
        (["--stepper", "euler"], f"valid: {', '.join(STEPPERS)}"),
        (["--filter", "eyes", "--controller", "pid"], f"valid: {', '.join(FILTERS)}"),
        (["--reference", "0.1,0.2", "--controller", "pid"], "--reference has 2 numbers: expected one, or 3"),
        (["--start", "a"], "--start 'a': expected one number, or 3 with commas"),
        (["--dt", "0.3"], "not a multiple of 0.3 s"),
        (["--duration", "0"], "duration 0.0: expected a positive"),
        (["--gait", "gallop", "--controller", "pid"], "gallop"),
        (["--gait", "crab"], "--gait without a controller: add --controller, one of "),
        (["--kp", "3"], "--kp without a controller"),
        (["--reference", "0.1"], "--reference without a controller"),
        (["--sample-time", "0.01"], "--sample-time without a controller"),
        (["--ekf"], "--filter ekf without a controller"),
        (["--c", "a.c"], "--c without a controller: add --controller, one of "),
        (["--noise", "0.1", "--controller", "pid"], "--noise without a filter: add --ekf or --filter"),
        (["--slope", "0.1"], "--slope without a ground: add --ground"),
        (
            ["--ground", "0.8", "--slope", "20"],
            "expected less than a right angle, 1.5708 rad (20 degrees are 0.3491 rad)",
        ),
        (["--ground", "-1"], "friction is -1.0: expected a finite number, 0 or more"),
        (["--gait", "crab", "--reference", "1", "--controller", "pid"], "--gait and --reference: expected one"),
        (
            ["--ki", "1", "--controller", "computed-torque"],
            "--ki is not for computed-torque: valid: kp, kd, reference, sample-time",
        ),
        (["--method", "Radau"], "--method is not for runge-kutta-4: "),
        (["--stepper", "adaptive", "--method", "Euler"], "method 'Euler': valid: DOP853, Radau, LSODA"),
        (["--plot", "run.foo"], "run.foo: files .foo cannot be written: valid: .png, .pdf, .svg"),
        (["--plot", "run"], "run: files without an ending cannot be written"),
        (["--plot", "no/such/run.png"], "no/such/run.png: there is no folder no/such: make it first"),
        (["--out", "run.txt"], "run.txt: files .txt cannot be written: valid: .mrun"),
        (["--out", "no/such/run.mrun"], "there is no folder no/such"),
    ],
)
def test_simulate_names_what_is_wrong(arguments, message, monkeypatch):
    """Before anything is simulated."""
    monkeypatch.setattr(mr.Simulation, "step", lambda self: pytest.fail("a step was taken"))
    with pytest.raises(mr.ModurobError) as refused:
        CliRunner().invoke(app, ["simulate", "crab", *arguments], catch_exceptions=False)
    assert message in str(refused.value)


def test_simulate_on_the_ground(tmp_path):
    """The robot stands, servos swing the gait, and what it travelled is said."""
    out = tmp_path / "walk.mrun"
    arguments = ["simulate", "crab", "--ground", "0.8", "--gait", "crab", "--duration", "0.4", "--out", str(out)]
    found = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert found.exit_code == 0
    assert "travelled" in found.output
    assert mr.Recording.load(out).robot.contacts


def test_plot_names_a_missing_file(tmp_path):
    with pytest.raises(mr.ModurobError, match=r"nothing\.mrun: cannot be read"):
        CliRunner().invoke(app, ["plot", str(tmp_path / "nothing.mrun")], catch_exceptions=False)


@pytest.mark.parametrize("generator", ["sine", "hopf"])
def test_gait_draws_a_picture(tmp_path, generator):
    out = tmp_path / "gait.png"
    assert "crab gait of crab" in run("gait", "crab", "--generator", generator, "--out", str(out))
    assert "snake gait of crab" in run("gait", "crab", "--gait", "snake", "--generator", generator, "--out", str(out))
    assert out.read_bytes()[:4] == b"\x89PNG"


def test_doctor_finds_a_compiler():
    result = run("doctor")
    assert "million states/s" in result
    assert "vector width" in result


@pytest.mark.parametrize("law", LAWS)
def test_every_law_can_be_chosen_or_says_what_it_needs(law):
    arguments = ["simulate", "crab", "--ideal", "--controller", law, "--duration", "0.01"]
    if law in plain_laws():
        assert "11 ticks, done" in run(*arguments)
    else:
        problem = CliRunner().invoke(app, arguments).exception
        assert isinstance(problem, ControlError)
        assert str(problem).startswith(f"controller {law!r} needs {LAWS[law].needs}: make it in Python, mr.")


def test_laws_that_need_more_than_numbers_are_not_offered():
    """What they need is what their recipes cannot be made, or put on a robot, without."""
    assert {name for name in LAWS if name not in plain_laws()} == {
        name for name in LAWS if not _goes_anywhere(LAWS[name])
    }
    said = run("simulate", "--help")
    assert "cascade" in said
    assert "whole-body" not in said


def _goes_anywhere(law):
    """Whether a law can be made of gains and a reference alone, and put on a robot."""
    gains = {f.name: 1.0 for f in fields(law) if f.default is MISSING and f.name in ("kp", "kd", "reference")}
    try:
        law(**gains).on(mr.load("crab").robot())
    except (ControlError, TypeError):
        return False
    return True


@pytest.mark.parametrize("stepper", STEPPERS)
def test_every_stepper_can_be_chosen(stepper):
    assert "done at t = 0.01 s" in run("simulate", "crab", "--ideal", "--stepper", stepper, "--duration", "0.01")


def test_gains_are_given_to_the_law_or_are_its_own():
    """Gravity compensation alone lets the crab stay where it is put; with gains it goes to its reference."""
    arguments = ["simulate", "crab", "--ideal", "--controller", "gravity", "--start", "0.1,0.2,0.3", "--duration", "3"]
    for more, stays in ((), True), (("--kp", "50", "--kd", "5"), False):
        found = [q for q, _ in ends(run(*arguments, *more)).values()]
        assert (found == pytest.approx([0.1, 0.2, 0.3], abs=1e-6)) == stays


def test_a_run_starts_as_the_file_says():
    """The crane, load at 45 degrees, gravity across its rail: the wagon starts with m g sin cos / (M + m sin²) = 3.27 m/s²."""
    said = run("simulate", "crane", "--ideal", "--duration", "0.001")
    found = list(ends(said).values())
    # five digits are printed
    assert found == [pytest.approx((1.635e-6, 3.27e-3), rel=1e-4), pytest.approx((0.785397, -1.85e-3), rel=1e-3)]
    assert "(0, 9.81, 0) m/s²" in run("info", "crane")
    assert "m1/hinge" in run("info", "crane", "--base", "m1")


def test_a_file_says_whether_the_base_floats(tmp_path):
    mr.save(mr.load("crab").with_setup(base="m1", floating=True), tmp_path / "crab.yaml")
    assert "m1 (floating)" in run("info", tmp_path / "crab.yaml")
    assert "floating_base" in run("info", tmp_path / "crab.yaml", "--base", "m2")
    assert "floating" not in run("info", tmp_path / "crab.yaml", "--fixed")


def test_help_names_what_is_registered_and_keeps_its_brackets():
    said = " ".join(run("simulate", "--help").replace("│", " ").split())
    for registry in (plain_laws(), FILTERS, STEPPERS, PRESETS):
        assert ", ".join(registry) in said
    assert "step of fixed steppers [s]" in said


def test_help_and_version_import_nothing_heavy():
    code = "import sys, modurob.cli; print(*{'numpy', 'scipy', 'sympy', 'pydantic', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


BROKEN_MODULE = """format: modurob module 1
name: stick
parts: {a: {mas: 1}, b: {mass: 1}}
joints: {hinge: {kind: revolut, from: a, to: b, axis: [0, 0, 1]}}
ports: {p: {part: c, at: [0, 0, 0], normal: [0, 0, 1], up: [1, 0, 0], connector: none}}
"""


def refused(*arguments):
    """What a command says that ends with an error made on purpose, in a process of its own."""
    command = [sys.executable, "-m", "modurob", *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert "Traceback" not in process.stderr
    return process.stderr


def test_check_names_all_mistakes_of_a_module_type_at_once(tmp_path):
    (tmp_path / "stick.yaml").write_text(BROKEN_MODULE)
    said = refused("check", tmp_path / "stick.yaml")
    for mistake in ("did you mean 'mass'?", "no joint kind 'revolut'", "no part 'c'", "no connector 'none'"):
        assert mistake in said
    shipped = Path(mr.catalogue.__path__[0]) / "modules" / "scout.yaml"
    assert f"fine: {mr.module_type(shipped)!r}" in run("check", shipped).replace("\n", "")


def test_messages_keep_their_brackets(monkeypatch, capsys):
    def unhappy(**options):
        raise mr.ModurobError("no compiler: pip install modurob[cc] [bold]")

    monkeypatch.setitem(main.__globals__, "app", unhappy)
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == "error: no compiler: pip install modurob[cc] [bold]\n"


def test_warnings_are_words_without_a_line_of_a_program(monkeypatch, capsys):
    def warned(**options):
        warnings.warn("a link is heavy [kg]", mr.ModurobWarning, stacklevel=1)
        warnings.warn("another's", FutureWarning, stacklevel=1)

    monkeypatch.setitem(main.__globals__, "app", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *where: print(category.__name__, message, file=sys.stderr)
        main()
    assert capsys.readouterr().err == "warning: a link is heavy [kg]\nFutureWarning another's\n"


def test_doctor_without_a_compiler_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr("modurob.kernels.compiler.find_compiler", lambda: None)
    assert "pip install 'modurob[cc]'" in run("doctor")


def test_doctor_names_module_types_that_cannot_be_read(monkeypatch):
    monkeypatch.setattr("modurob.catalogue.problems", lambda: {"stick.yaml": "parts.a.mas: unknown key"})
    assert "stick.yaml describes none: parts.a.mas: unknown key" in run("doctor")


def test_kernels_are_warmed_up(monkeypatch):
    assert list(warmed_up(organisms=2, modules=3)) == [(0, 2), (1, 2), (2, 2)]
    monkeypatch.setattr("modurob.cli.doctor.warmed_up", lambda: iter([(0, 1), (1, 1)]))
    assert "100%" in run("doctor", "--warm-up")


# ---- on the ground ----

QUICK = ("--ground", "0.8", "--duration", "0.02")


def test_organisms_are_robots_by_their_names():
    assert "20" in run("info", "hexapod")
    with pytest.raises(
        InputError, match=r"no file 'hexapot' .* did you mean 'hexapod'\? valid: cable_planar, .* wheel"
    ):
        CliRunner().invoke(app, ["info", "hexapot"], catch_exceptions=False)


def test_gaits_have_options_and_some_were_found():
    assert "travelled" in run("simulate", "hexapod", *QUICK, "--gait", "found")
    assert "travelled" in run("simulate", "hexapod", *QUICK, "--gait", "hexapod", "--option", "stance=1.0")


def test_gaits_on_the_ground_walk_unless_told_otherwise():
    """Strides as wide as limits allow, and the settings of its own for an organism: swings of 0.4 rad only slip."""
    for name, gait in (("crab", "crab"), ("hexapod", "hexapod")):
        said = run("simulate", name, "--gait", gait, "--ground", "0.8", "--duration", "2")
        assert float(said.partition("travelled ")[2].split()[0]) > 0.15


def test_wheels_are_driven(tmp_path):
    mr.save(mr.Assembly.single("s", "scout_drive"), tmp_path / "scout.yaml")
    said = run("simulate", tmp_path / "scout.yaml", "--ground", "0.8", "--duration", "1", "--speed", "0.1")
    assert "4.75" in said  # rad/s of wheels of 21 mm, nearly there


def test_a_gait_is_steered_to_a_goal():
    walk = ("--gait", "inchworm", "--amplitude", "0.8", "--frequency", "1", "--ground", "0.8", "--duration", "1")
    assert "not reached: " in run("simulate", "snake", *walk, "--to", "0.8, 1.8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--speed", "0.1"], "--speed without a ground: add --ground"),
        (["--to", "1,1"], "--to without a ground"),
        ([*QUICK, "--to", "1,1"], "--to 1,1: expected x,y .* and a gait that is steered: --gait"),
        ([*QUICK, "--to", "1", "--gait", "crab"], "--to 1: expected x,y"),
        ([*QUICK, "--speed", "0.1", "--gait", "crab"], "--gait and --speed or --turn: expected one of them"),
        (["--option", "stance"], "--option 'stance': expected a name and a number, such as stance=1.2"),
        (["--amplitude", "0.3"], "--amplitude of a gait: there is no gait: add --gait"),
        (["--gait", "found", "--amplitude", "0.3"], "--amplitude of a gait: the one that was found has its own"),
    ],
)
def test_what_does_not_go_together_on_the_ground(options, words):
    with pytest.raises(ModurobError, match=words):
        CliRunner().invoke(app, ["simulate", "crab", *options], catch_exceptions=False)


def test_a_gait_is_that_of_the_robot_of_its_name(tmp_path: Path) -> None:
    assert "snake gait of" in run("gait", "snake", "--out", str(tmp_path / "gait.png"))


@pytest.mark.parametrize("command", ["simulate", "info", "equations", "gait", "robustness", "studio"])
@pytest.mark.parametrize("file", ["nosuch.yaml", "nosuch.urdf", "nosuch"])
def test_a_file_that_does_not_exist_is_refused_before_anything_is_imported(tmp_path, command, file):
    """Imports of NumPy and SciPy would take seconds."""
    text = f"""
import sys
from modurob.cli import main
sys.argv = ["modurob", {command!r}, {file!r}]
try:
    main()
finally:
    print(*{{"numpy", "scipy", "sympy"}} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.strip() == ""
    assert done.stderr.startswith("error: no file 'nosuch' and" if file == "nosuch" else f"error: {file}: no such file")


def test_names_of_robots_are_those_that_can_be_loaded():
    from modurob.cli.app import SHIPPED, _names, walkers
    from modurob.motion.gaits.found import ORGANISMS

    assert _names(SHIPPED) == mr.shipped_robots()
    assert set(walkers()) == set(ORGANISMS) - set(mr.shipped_robots())


def test_what_takes_long_is_written_where_there_is_no_terminal(tmp_path):
    """The first run on a machine compiles."""
    text = """
import sys
from modurob.cli import main
from modurob.kernels import compiler
compiler.NOTICED = 0.0
sys.argv = ["modurob", "simulate", "crab", "--duration", "0.01"]
main()
"""
    places = {**os.environ, "MODUROB_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=places)
    assert "11 ticks, done" in done.stdout
    assert "compiling" in done.stderr
    told = ("modurob: compiling ", "crab: ")  # how far the run is too, where the machine is slow
    assert all(line.startswith(told) for line in done.stderr.splitlines())
