"""Faults of version 0.1.0 with files: what writing did to what was there, readers without limits, raw exceptions.

Also seen by: tests/catalogue/test_reading.py (modes, owners, links, devices, pipes, a full disk, and a kill, which leaves nothing),
tests/catalogue/test_plain_yaml.py and test_modules.py (what YAML and module types may say), tests/assembly/test_matrix_text.py,
test_cells.py and test_files.py (long texts), tests/studio/test_opening.py and test_page_files.py (a share link of 300 MB, in
the server and in the tab), tests/simulation/test_recording.py (damaged recordings), tests/studio/test_server.py (ports).
"""

import io
import json
import os
import resource
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import modurob as mr
from modurob.catalogue import modules
from modurob.cli import app
from modurob.errors import FormatError, InputError, ModurobError, RecordingError, SingularError

# ---- 19: saving replaces what is there ----


def crab():
    return mr.load("crab").mechanism(base="m0")


def command(*arguments):
    CliRunner().invoke(app, [str(x) for x in arguments], catch_exceptions=False)


WRITERS = {
    "robot.yaml": lambda path: mr.save(mr.load("crab"), path),
    "run.mrun": lambda path: mr.simulate(crab(), duration=0.01).save(path),
    "run.csv": lambda path: mr.simulate(crab(), duration=0.01).to_csv(path),
    "run.png": lambda path: mr.simulate(crab(), duration=0.01).plot(path),
    "crab.png": lambda path: mr.draw.save_picture(crab(), path),
    "equations.c": lambda path: command("equations", "double_pendulum", "--c", path),
    "out.mrun": lambda path: command("simulate", "crab", "--duration", 0.01, "--out", path),
    "gait.png": lambda path: command("gait", "crab", "--out", path),
    "crab.urdf": lambda path: command("export", "crab", path),
}
every_writer = pytest.mark.parametrize("name", WRITERS)


@every_writer
def test_a_device_stays_a_device(tmp_path, name):
    """By way of a link, so that a failure does no harm to the machine."""
    link = tmp_path / name
    link.symlink_to(os.devnull)
    WRITERS[name](link)
    assert link.is_symlink()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert os.listdir(tmp_path) == [name]


@every_writer
def test_a_pipe_stays_a_pipe_and_gets_the_file(tmp_path, name):
    path, read = tmp_path / name, []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    WRITERS[name](path)
    reader.join(60)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert read
    assert len(read[0]) > 100


@every_writer
def test_a_link_is_written_through(tmp_path, name):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / name, tmp_path / name
    target.write_text("before")
    link.symlink_to(target)
    WRITERS[name](link)
    assert link.is_symlink()
    assert len(target.read_bytes()) > 100


@every_writer
def test_modes_are_those_of_the_file_and_of_the_umask(tmp_path, name):
    new, old = tmp_path / name, tmp_path / f"old {name}"
    old.write_text("before")
    old.chmod(0o600)
    before = os.umask(0o077)
    try:
        WRITERS[name](new)
        os.umask(0o022)
        WRITERS[name](old)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(x.stat().st_mode) for x in (new, old)] == [0o600, 0o600]


@every_writer
@pytest.mark.parametrize("before", [None, b"before"])
def test_a_full_disk_leaves_what_was_there(tmp_path, name, before):
    """Files may have 300 bytes: the system refuses as it does where a disk is full."""
    path = tmp_path / name
    if before is not None:
        path.write_bytes(before)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        with pytest.raises(ModurobError, match="cannot be written"):
            WRITERS[name](path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == ({} if before is None else {name: before})


def test_a_picture_of_no_kind_is_refused(tmp_path):
    with pytest.raises(FormatError, match=r"a\.foo: files \.foo cannot be written: valid: \.png"):
        mr.draw.save_picture(crab(), tmp_path / "a.foo")
    assert not list(tmp_path.iterdir())


# ---- 20: readers have limits ----

# each call in a child of its own, forked from a process that has the library
BOUNDED = """
import json, os, resource, sys
import base64, zlib
import numpy as np
import modurob as mr
import modurob.studio.share
mr.load("crab").mechanism()

def bomb():
    squeezer = zlib.compressobj(9, wbits=-15)
    data = b"".join(squeezer.compress(bytes(1_000_000)) for _ in range(300)) + squeezer.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")

def answer(call):
    SHARED = bomb() if "SHARED" in call else ""
    resource.setrlimit(resource.RLIMIT_CPU, (int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 10,) * 2)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 1_000_000_000,) * 2)
    try:
        exec(call, {"mr": mr, "SHARED": SHARED})
        return "accepted"
    except mr.ModurobError as error:
        return f"{type(error).__name__}: {error}"[:300]

for call in json.loads(sys.stdin.read()):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, answer(call).encode())
        os._exit(0)
    os.close(write)
    status = os.waitpid(child, 0)[1]
    said = os.read(read, 10_000).decode()
    print(json.dumps(said or f"ended by {status}"), flush=True)
"""

HEAD = "format: modurob assembly 1\\nmodules: {m0: backbone, m1: backbone}\\n"

ENDLESS = {
    "AIM text": "mr.Assembly.from_aim('3\\n' * 20_000)",
    "AIM text of one type": "mr.Assembly.from_aim('3\\n' * 20_000, types='backbone')",
    "AIM": "mr.Assembly.from_aim([[3]] * 20_000, types='backbone')",
    "AIM row": "mr.Assembly.from_aim('3 ' * 20_000, types='backbone')",
    "AIM spaces": "mr.Assembly.from_aim(']' + ' ' * 40_000)",
    "list": "mr.Assembly.from_direct_transformations('0 1 3 4\\n' * 20_000)",
    "grid": "mr.Assembly.from_grid('B' + '\\n' * 100_000 + ' ' * 100_000 + 'B')",
    "slashes in a file": f"mr.Assembly.loads('{HEAD}connections: [' + '/' * 60_000 + ']')",
    "spaces in a file": f"mr.Assembly.loads('{HEAD}connections: [\"m0/3' + ' ' * 60_000 + '-\"]')",
    "slashes of a port": "mr.Assembly.single('m0', 'backbone').dock('m1', 'backbone', '/' * 60_000, '4')",
    "slashes of a connection": "mr.Connection.parse('/' * 60_000)",
    "sexagesimal number": f"mr.Assembly.loads('{HEAD}name: ' + '1:' * 1_000_000 + '1')",
    "sexagesimal numbers": f"mr.Assembly.loads('{HEAD}x: [' + '1:1, ' * 400_000 + '1]')",
    "8 MB list": f"mr.Assembly.loads('{HEAD}x: [' + '1,' * 3_990_000 + '1]')",
    "8 MB mapping": f"mr.Assembly.loads('{HEAD}' + ''.join(f'k{{i}}: 1\\n' for i in range(600_000)))",
    "nested list": "mr.Assembly.loads('[' * 1_000_000)",
    "digits": f"mr.Assembly.loads('{HEAD}x: ' + '1' * 4_000_000)",
    "share text": "mr.studio.share.unpacked(SHARED)",
}


def bounded(*calls):
    """What processes say of calls, each of which may use 10 s of a processor and 1 GB."""
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED], input=json.dumps(calls), capture_output=True, text=True, timeout=500
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(calls), done.stderr[-300:]
    return answers


def test_texts_that_would_take_for_ever_are_refused():
    answers = dict(zip(ENDLESS, bounded(*ENDLESS.values()), strict=True))
    assert {case: said for case, said in answers.items() if said.startswith(("accepted", "ended by"))} == {}


def test_that_limit_lets_pass_what_is_reasonable():
    assert bounded("mr.Assembly.loads(mr.assembly.dumps(mr.load('crab')))") == ["accepted"]


def test_a_small_recording_does_not_unpack_to_gigabytes(tmp_path):
    whole, bomb = tmp_path / "whole.mrun", tmp_path / "bomb.mrun"
    mr.simulate(crab(), duration=0.01).save(whole)
    zeros = io.BytesIO()
    np.lib.format.write_array_header_1_0(zeros, {"descr": "<f8", "fortran_order": False, "shape": (50_000_000, 3)})
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name in old.namelist():
            with new.open(name, "w", force_zip64=True) as file:
                file.write(zeros.getvalue() if name == "0/q.npy" else old.read(name))
                for _ in range(1200 if name == "0/q.npy" else 0):
                    file.write(bytes(1_000_000))
    assert bomb.stat().st_size < 10_000_000
    (answer,) = bounded(f"mr.Recording.load({str(bomb)!r})")
    assert "unpacks to 1200 MB: expected at most" in answer


def test_what_a_recording_says_is_not_endless(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.mrun", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("recording.json", "[" * 30_000_000)
    assert "unpacks to 30 MB: expected at most 20 MB" in bounded(f"mr.Recording.load({str(tmp_path / 'a.mrun')!r})")[0]


def test_an_array_that_says_it_is_larger_than_it_is(tmp_path):
    mr.simulate(crab(), duration=0.01).save(tmp_path / "a.mrun")
    for rows, more in ((10**12, b"12345678"), (11, b"12345678")):
        content = io.BytesIO()
        np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (rows, 3)})
        with zipfile.ZipFile(tmp_path / "a.mrun") as old, zipfile.ZipFile(tmp_path / "b.mrun", "w") as new:
            for name in old.namelist():
                data = content.getvalue() + bytes(264) + more if name == "0/q.npy" else old.read(name)
                new.writestr(name, data)
        with pytest.raises(RecordingError, match="damaged"):
            mr.Recording.load(tmp_path / "b.mrun")


def test_a_recording_that_could_not_be_read_again_is_not_saved(tmp_path, monkeypatch):
    run = mr.simulate(crab(), duration=0.01)
    monkeypatch.setattr("modurob.simulation.recording.file.LARGEST", 100)
    with pytest.raises(
        RecordingError, match="unpacks to 0 MB: expected at most 0 MB: take fewer runs, or a longer tick"
    ):
        run.save(tmp_path / "a.mrun")
    assert not list(tmp_path.iterdir())


# ---- 21: raw exceptions ----

BACKBONE = (Path(modules.__path__[0]) / "backbone.yaml").read_text()


def of_module(old, new):
    def make(folder):
        assert old in BACKBONE
        (folder / "own.yaml").write_text(BACKBONE.replace(old, new, 1))
        module = mr.module_type(str(folder / "own.yaml")).module()
        assembly = mr.Assembly.single("m0", str(folder / "own.yaml")).dock("m1", "backbone", "m0/3", "4")
        return module, assembly.mechanism()

    return make


def of_robot(value):
    return lambda folder: mr.Assembly.loads(f"format: modurob assembly 1\nname: {value}\nmodules: {{m0: backbone}}\n")


def of_joint(**properties):
    def make(folder):
        builder = mr.Builder("a")
        builder.body("b", np.eye(6), joint=mr.Revolute(), properties=mr.JointProperties(**properties))
        return builder.build()

    return make


def with_threads(folder):
    script = "import numpy as np, modurob as mr\nmr.load('crab').robot().forward_dynamics(*np.zeros((3, 20_000, 3)))"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "MODUROB_THREADS": "abc"}, capture_output=True, text=True
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("modurob.errors.InputError: "), last
    raise InputError(last)


ZEROS = np.zeros(3)
WRONG = {
    "bool in a robot": (of_robot("!!bool x"), r"line 2: a tag \(!!bool\)"),
    "int in a robot": (of_robot("!!int ''"), r"line 2: a tag \(!!int\)"),
    "timestamp in a robot": (of_robot("!!timestamp x"), r"line 2: a tag \(!!timestamp\)"),
    "bool in a module": (of_module("value: 1.0", "value: !!bool x"), r"a tag \(!!bool\)"),
    "int in a module": (of_module("value: 1.0", "value: !!int ''"), r"a tag \(!!int\)"),
    "timestamp in a module": (of_module("value: 1.0", "value: !!timestamp x"), r"a tag \(!!timestamp\)"),
    "infinite mass": (of_module("value: 1.0", "value: .inf"), "mass"),
    "infinite armature": (of_module("armature: {value: 0", "armature: {value: .inf"), "armature"),
    "infinite armature of a joint": (of_joint(armature=np.inf), "armature inf: expected a finite number"),
    "infinite pitch": (lambda folder: mr.Helical((1, 0, 0), np.inf), "pitch inf"),
    "infinite pitch in a module": (
        of_module("kind: revolute, ", "kind: helical, pitch: .inf, "),
        "joint 'hinge': pitch: inf: expected a finite number",
    ),
    "friction of wrong size": (of_joint(friction=[1, 2, 3]), r"friction has shape \(3,\), expected one number or 1"),
    "damping of wrong size": (of_joint(damping=[[1, 2]]), r"damping has shape \(1, 2\)"),
    "friction that is a list": (lambda folder: mr.Friction([1, 2, 3]), r"viscous is \[1, 2, 3\]: expected a number"),
    "payload of 3": (lambda folder: crab().with_payload("m3", np.eye(3)), r"payload at m3 has shape \(3, 3\)"),
    "payload that is a mass": (lambda folder: crab().with_payload("m3", 2.0), r"payload at m3 has shape \(\)"),
    "payload that is a word": (lambda folder: crab().with_payload("m3", "heavy"), "payload at m3 is 'heavy'"),
    "payload of rows": (lambda folder: crab().with_payload("m3", [[1, 2], [3]]), "expected a spatial inertia"),
    "wrench of 3": (
        lambda folder: crab().forward_dynamics(ZEROS, ZEROS, ZEROS, {"m3": [1, 2, 3]}),
        r"wrench on 'm3' has shape \(3,\)",
    ),
    "wrench of words": (lambda folder: crab().forward_dynamics(ZEROS, ZEROS, ZEROS, {"m3": "abcdef"}), "'m3'"),
    "wrenches of other states": (
        lambda folder: crab().forward_dynamics(np.zeros((4, 3)), ZEROS, ZEROS, {"m3": np.zeros((5, 6))}),
        "leading axes that broadcast",
    ),
    "wrenches of other bodies": (
        lambda folder: crab().inverse_dynamics(ZEROS, ZEROS, ZEROS, np.zeros((2, 6))),
        r"wrenches of shape \(2, 6\): expected",
    ),
    "states that do not broadcast": (
        lambda folder: mr.simulate(crab(), np.zeros((4, 3)), np.zeros((5, 3)), 0.01),
        "expected leading axes that broadcast",
    ),
    "torques that do not broadcast": (
        lambda folder: crab().forward_dynamics(np.zeros((4, 3)), np.zeros((5, 3)), ZEROS),
        "leading axes that broadcast",
    ),
    "a duration in words": (lambda folder: mr.Simulation(crab()).advance("2"), "duration '2': expected"),
    "part of a step": (lambda folder: mr.Simulation(crab()).advance(0.0105), "not a multiple of 0.001 s"),
    "threads": (with_threads, "MODUROB_THREADS is 'abc': expected a whole number"),
    "port": (lambda folder: command("studio", "--no-browser", "--port", 99999), "port 99999"),
    "huge entry of an AIM": (
        lambda folder: mr.Assembly.from_aim([[10**400]]),
        "row 0, column 0: expected a whole number",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(tmp_path, case):
    make, complaint = WRONG[case]
    with pytest.raises(ModurobError, match=complaint):
        make(tmp_path)


def test_numbers_of_threads_in_other_scripts(monkeypatch):
    for text in ("²", "1e3", "-1", "0"):
        monkeypatch.setenv("MODUROB_THREADS", text)
        with pytest.raises(InputError, match="MODUROB_THREADS"):
            crab().forward_dynamics(*np.zeros((3, 20_000, 3)))


def test_a_mass_written_in_digits(tmp_path):
    module, _ = of_module("value: 1.0", "value: 1" + 30 * "0")(tmp_path)
    assert float(module.parameters["mass"]) == 1e30


@pytest.mark.parametrize("at", ["m0/4", "m0/3"])
def test_a_world_lets_go_of_a_massless_module(at):
    """What is let go has no motion; what stays goes on."""
    both = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at=at, by="4", parameters={"mass": 0.0})
    rest = "m0/3" if at == "m0/4" else "m1/3"
    whole = both.dock("m2", "backbone", at=rest, by="4")
    world = mr.World({"a": mr.Organism(whole)}, gravity=(0, 0, 0))
    runs = world.run(0.02, [mr.Undock(0.005, "a", at, into="b")])
    assert runs["a"].status.ok
    assert runs["b"].status.kind == ("singular" if at == "m0/4" else "done")
    assert [e.kind for e in runs["b"].events] == ["undock"]


@pytest.mark.parametrize("states", [(), (1,), (20,)])
def test_a_massless_body_that_floats(states):
    robot = mr.Assembly.single("m0", "backbone", {"mass": 0.0}).mechanism(floating=True)
    q = np.broadcast_to(robot.neutral(), (*states, 7))
    with pytest.raises(SingularError, match="floating_base"):
        robot.forward_dynamics(q, np.zeros((*states, 6)), np.zeros((*states, 6)))
