"""What the compiler made is kept, whole, under any number of processes; and nothing is lost without it."""

import os
import pty
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.kernels import compiler, units
from modurob.kinematics.inverse.compiled import FOLDERS
from tests.sampling import sampled

# a batch on the crab, whose result is printed to the last bit
SCRIPT = """
import numpy as np, modurob as mr
robot = mr.load("crab").mechanism(base="m0")
q, v, u = np.random.default_rng(0).normal(size=(3, 600, robot.nv))
print(robot.forward_dynamics(q, v, u).tobytes().hex())
"""


def python(script: str, **environment: str) -> subprocess.Popen[str]:
    """A Python of its own."""
    return subprocess.Popen(
        [sys.executable, "-W", "always", "-c", script],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip(), err


@pytest.fixture(scope="module", params=sampled((2, 4), 1), ids="{} processes".format)
def filled(request, tmp_path_factory) -> tuple[Path, str]:
    """A cache that several processes filled at once, and what they all said."""
    folder = tmp_path_factory.mktemp("cache")
    answers = [answer(p) for p in [python(SCRIPT, MODUROB_CACHE=str(folder)) for _ in range(request.param)]]
    assert len({out for out, _ in answers}) == 1
    assert all(err == "" for _, err in answers)
    return folder, answers[0][0]


def libraries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.so"))


def test_processes_at_once_leave_whole_files_and_nothing_else(filled):
    folder, _ = filled
    assert len(libraries(folder)) >= 2
    assert all(compiler._read_notes(path) for path in libraries(folder))
    assert {p.suffix for p in folder.iterdir()} == {".so", ".json"}


def test_a_second_process_compiles_nothing(filled):
    folder, expected = filled
    before = {p: p.stat().st_mtime_ns for p in libraries(folder)}
    assert answer(python(SCRIPT, MODUROB_CACHE=str(folder))) == (expected, "")
    assert {p: p.stat().st_mtime_ns for p in libraries(folder)} == before


def on_a_terminal(script: str, **environment: str) -> str:
    """What a Python of its own says to people: its standard error is a terminal."""
    near, far = pty.openpty()
    with os.fdopen(near, "rb", buffering=0) as reads, os.fdopen(far, "wb") as terminal:
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            timeout=300,
        )
        assert done.returncode == 0
        terminal.write(b"end\n")
        terminal.flush()
        said = b""
        while not said.endswith(b"end\r\n"):
            said += reads.read(1000)
    return said.decode().removesuffix("end\r\n")


def test_a_wait_is_announced_and_there_is_none_on_a_warm_cache(tmp_path):
    """A compiler that takes a second longer, and then the same once more."""
    slow, cache = tmp_path / "cc", tmp_path / "cache"
    real = compiler.find_compiler().command[-1]
    slow.write_text(f'#!/bin/sh\ncase "$*" in *-shared*) sleep 1;; esac\nexec {real} "$@"\n')
    slow.chmod(0o755)
    own = {"MODUROB_CC": str(slow), "MODUROB_CACHE": str(cache)}
    assert re.search(r"modurob: compiling .+, once on this machine \.\.\.", on_a_terminal(SCRIPT, **own))
    assert on_a_terminal(SCRIPT, **own) == ""


ALONE_OR_NOT = """
import numpy as np
from modurob import BodyContact, Ground, load, simulate
from modurob.kernels import units
from tests.robots import random_mechanism, random_state
units.TOGETHER, units.CHARACTERS = {together}, 10**9
rng = np.random.default_rng(3)
robot = random_mechanism(rng, 6, kinds=("revolute", "prismatic", "universal", "helical"))
print(np.array({answer}).tobytes().hex())
"""
# which units are compiled together depends on how fast compilers are
ANSWERS = {
    "inverse_dynamics": "robot.inverse_dynamics(*random_state(rng, robot))",
    "forward_dynamics_derivatives": "robot.forward_dynamics_derivatives(*random_state(rng, robot))",
    "contacts": "simulate(load('crab').mechanism(floating=True), duration=0.1, ground=Ground(), body_contact=BodyContact()).q",
}


@pytest.mark.parametrize("name", ["contacts", *sampled(("inverse_dynamics", "forward_dynamics_derivatives"), 1)])
def test_code_is_the_same_whatever_it_is_compiled_with(tmp_path, name):
    def bits(together):
        folder = tmp_path / str(together)
        folder.mkdir(mode=0o700)
        script = ALONE_OR_NOT.format(together=together, answer=ANSWERS[name])
        return answer(python(script, MODUROB_CACHE=str(folder)))

    assert bits(1) == bits(8)


DAMAGES = ("cut short", "changed", "no digest", "empty")


def test_a_damaged_cache_is_built_again(filled, tmp_path):
    """Every file is damaged, in one way or another."""
    folder, expected = filled
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    assert len(libraries(tmp_path)) >= len(DAMAGES)
    for path, damage in zip(libraries(tmp_path), cycle(DAMAGES), strict=False):
        content = path.read_bytes()
        match damage:
            case "cut short":
                path.write_bytes(content[: len(content) // 2])
            case "changed":
                path.write_bytes(content[:-8] + b"tampered")
            case "no digest":
                path.with_suffix(".json").unlink()
            case "empty":
                path.write_bytes(b"")
    assert answer(python(SCRIPT, MODUROB_CACHE=str(tmp_path))) == (expected, "")
    assert all(compiler._read_notes(path) for path in libraries(tmp_path))


def test_a_cache_that_cannot_be_written_is_no_obstacle(filled, tmp_path):
    """A file stands where the folder should be: not even root can write there."""
    (tmp_path / "taken").write_text("")
    assert answer(python(SCRIPT, MODUROB_CACHE=str(tmp_path / "taken" / "kernels"))) == (filled[1], "")


def test_without_a_compiler_numpy_serves_and_says_so_once(filled, tmp_path):
    script = SCRIPT + "robot.forward_dynamics(q, v, u); robot.mass_matrix(q)\n"
    out, err = answer(python(script, MODUROB_CACHE=str(tmp_path), MODUROB_CC="no-such-compiler"))
    found, expected = (np.frombuffer(bytes.fromhex(x)) for x in (out, filled[1]))
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    assert err.count("ModurobWarning") == 1
    assert (
        "MODUROB_CC is 'no-such-compiler', which is no C compiler that works here: install gcc or clang, or pip" in err
    )
    assert err.startswith("<string>:5: ModurobWarning: ")  # at the line of the user


def test_how_to_get_a_compiler_is_said(monkeypatch):
    monkeypatch.delenv("MODUROB_CC", raising=False)
    monkeypatch.setattr(compiler, "find_compiler", lambda: None)
    with pytest.raises(
        mr.ModurobError, match=r"no C compiler found: install gcc or clang, or pip install modurob\[cc\]"
    ):
        compiler.library("none", "", 1, False)


def test_an_interrupt_at_the_terminal_does_not_end_compilers(tmp_path):
    """It reaches every process of the terminal's group: a compiler that it ended was taken for broken, and NumPy served from then
    on."""
    (tmp_path / "cc").write_text(f"#!{sys.executable}\nimport os\nraise SystemExit(os.getpgrp() == {os.getpgrp()})\n")
    (tmp_path / "cc").chmod(0o755)
    assert compiler._output(str(tmp_path / "cc")) == ""
    compiler._compile([str(tmp_path / "cc")])


def test_a_compiler_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("MODUROB_CACHE", str(tmp_path))
    with pytest.raises(mr.ModurobError, match="could not compile a kernel"):
        compiler.notes_of(compiler.library("bad", "", 1, False), lambda: ("this is not C", None))
    assert not libraries(tmp_path)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("MODUROB_CACHE", str(tmp_path))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiler.os, "replace", full)
    with pytest.raises(mr.ModurobError, match=r"cannot be written to .*No space left on device"):
        compiler.notes_of(compiler.library("full", "", 1, False), lambda: ("int nothing(void) { return 0; }", None))
    assert not libraries(tmp_path)


# the files of all that kernels import, and of all classes of the package whose methods are traced
READ = """
import importlib, inspect, pkgutil, sys
from contextlib import suppress
import modurob, modurob.kernels
for found in pkgutil.walk_packages(modurob.kernels.__path__, "modurob.kernels."):
    importlib.import_module(found.name)
files = {m.__file__ for name, m in sys.modules.items() if name.startswith("modurob.")}
for found in pkgutil.walk_packages(modurob.__path__, "modurob."):
    with suppress(ImportError):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
from modurob.catalogue.forces.force import Numbers
from modurob.catalogue.joints import JointType
def below(cls):
    return {cls}.union(*(below(c) for c in cls.__subclasses__()))
traced = below(Numbers) | below(JointType)
files |= {inspect.getfile(c) for c in traced if c.__module__.startswith("modurob.")}
print(*files, sep="\\n")
"""


def test_the_cache_asks_for_every_file_that_code_is_made_from():
    """A file that is left out would leave old code in the cache when it changes, and wrong answers in silence."""
    known = {str(f) for f in units.source_files()}
    read, _ = answer(python(READ))
    assert len(read.split()) > 100
    assert set(read.split()) <= known


CLOSED_FORMS = """
import sys
import modurob.kinematics.inverse.compiled
files = {m.__file__ for name, m in sys.modules.items() if name.startswith("modurob.")}
print(*files, sep="\\n")
"""


def test_the_cache_of_closed_forms_asks_for_theirs_too():
    known = {str(f) for f in units.source_files(*FOLDERS)}
    read, _ = answer(python(CLOSED_FORMS))
    assert "subproblems.py" in read
    assert set(read.split()) <= known
    assert units.sources(*FOLDERS) != units.sources()


SANITIZED = """
import numpy as np
import modurob as mr
from modurob.algorithms.acceleration_slopes import FORWARD_DERIVATIVES
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.joint_space import SLOPES
from modurob.kernels.memory import LINE
from tests.kernels.test_memory import BEYOND_CACHE
from tests.kernels.test_definition import PROGRAMS, WITH_CONSTRAINTS, inputs_of, ring
from modurob.kernels import repeated
from tests.robots import random_mechanism, random_state
rng = np.random.default_rng(0)
# a floating base and a loop take a compiler that looks for faults longer than all the rest
floating = len(PROGRAMS[PART]) == len(PROGRAMS)
tree, loop = random_mechanism(rng, 3, kinds=("revolute",), floating=floating), ring(rng, mr.Spherical())
for robot, programs in ((tree, PROGRAMS), (loop, WITH_CONSTRAINTS))[: 1 + floating]:
    for program in programs[PART]:
        for states, dtype in WIDTHS:
            inputs = inputs_of(program, robot, rng, states, optional=states != ())
            assert repeated(program, robot, {n: x.astype(dtype) for n, x in inputs.items()}, 1) is not None
# results that pass the caches by, of rows that end within a line, and states that do not fill their last block
wide = random_mechanism(rng, 13, kinds=("revolute",))
for program in (MASS_MATRIX, SLOPES, FORWARD_DERIVATIVES) if floating else ():
    (first, *_) = repeated(program, wide, inputs_of(program, wide, rng, (3001,), optional=False), 1).results.values()
    assert first.strides[0] % LINE == 0 < first.shape[-1] % 8
    assert len(first) * first.strides[0] > BEYOND_CACHE
# a fleet whose last robot has no answer: each has a place of its own for what its states say
still = mr.Builder("still")
still.body("a", np.zeros((6, 6)), joint=mr.Revolute((0.0, 0.0, 1.0)))
fleet = mr.Fleet([tree, tree, still.build()])
states = [np.stack([r.neutral()] * 9) for r in fleet], *([[np.ones((9, r.nv)) for r in fleet]] * 2)
assert len(fleet[:2].forward_dynamics(*(x[:2] for x in states))) == 2
try:
    fleet.forward_dynamics(*states)
except mr.errors.SingularError as error:
    assert "robot 2 of the fleet" in str(error)
robot = tree.with_force("rope", mr.Spring(20.0, 0.3, 0.4), a="b2", b="world")
robot = robot.with_force("rub", mr.Friction(0.2, 0.3), joint=robot.joints[1].name)
q, v, u = (np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(33))))
for stepper in (mr.RungeKutta4(1e-3), mr.SemiImplicitEuler(1e-3), mr.LinearlyImplicit(1e-3))[PART]:
    assert mr.simulate(robot, q, v, 0.003, stepper=stepper).status.ok
    assert mr.simulate(robot, q[0], v[0], 0.003, stepper=stepper).status.ok
if floating:
    assert mr.simulate(loop, loop.close_loops(loop.neutral() + 0.1), duration=0.003).status.ok
print("clean")
"""


@pytest.mark.parametrize(
    ("part", "widths"),
    [
        (":1", "((), np.float64), ((33,), np.float64)"),
        pytest.param("::", "((), np.float64), ((33,), np.float64)", marks=pytest.mark.judge),
        pytest.param("::", "((9,), np.float64), ((33,), np.float32)", marks=pytest.mark.judge),
    ],
)
def test_sanitizers_find_nothing(tmp_path, part, widths):
    found = compiler.find_compiler()
    assert found is not None
    runtime = [
        subprocess.run(
            [*found.command, f"-print-file-name={x}.so"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for x in ("libasan", "libubsan")
    ]
    process = python(
        SANITIZED.replace("PART", part).replace("WIDTHS", f"({widths})"),
        MODUROB_CACHE=str(tmp_path),
        MODUROB_CC=f"env -u LD_PRELOAD {found.command[-1]}",
        MODUROB_CFLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all",
        LD_PRELOAD=" ".join(runtime),
        ASAN_OPTIONS="detect_leaks=0",
    )
    assert answer(process)[0] == "clean"


@pytest.mark.parametrize(
    ("tune", "width", "told"), [("znver3", 512, True), ("znver4", 512, False), ("znver3", 2, False)]
)
def test_gcc_is_told_how_wide_vectors_are_where_it_does_not_know_the_processor(monkeypatch, tune, width, told):
    macros = f"#define __AVX{'512F' if width == 512 else '2'}__ 1\n#define __tune_{tune}__ 1\n"
    monkeypatch.setattr(compiler, "_output", lambda *command: macros)
    monkeypatch.setenv("MODUROB_CC", sys.executable)
    found = compiler.find_compiler.__wrapped__()
    assert (compiler.TUNED in found.native) == told
    assert "-march=native" in found.native


def test_threads_that_ask_for_the_same_code_at_once_all_wait_for_it(monkeypatch):
    """Each gets the result, however long the thread that computes it takes to start."""
    start = threading.Thread.start

    def late(thread):
        if thread.name == "modurob-compiler":
            time.sleep(0.01)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", late)
    monkeypatch.setattr(units, "_BEGUN", {})
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: units.beside(pow, 2, 3)(), range(8))) == [8] * 8
