"""Faults of version 0.1.0 with threads, processes and the cache of compiled kernels.

Also seen by: tests/test_values.py (125 robots in eight threads, pools of forked and spawned processes, copies of values),
tests/kernels/test_cache.py (four processes on one cache, damaged files, a cache that cannot be written, no compiler).
"""

import copy
import hashlib
import json
import multiprocessing
import os
import pickle
import shutil
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import modurob as mr
from modurob.kernels import compiler
from tests.robots import random_mechanism, random_state
from tests.sampling import sampled

BATCH = """
import numpy as np, modurob as mr
robot = mr.load("crab").mechanism(base="m0")
q, v, u = np.random.default_rng(0).normal(size=(3, 600, 3))
for _ in range(3):
    found = robot.forward_dynamics(q, v, u)
for _ in range(60):
    one = robot.forward_dynamics(q[0], v[0], u[0])
assert np.allclose(one, found[0])
print(found.tobytes().hex())
"""


def python(script, timeout=240, **environment):
    """What a Python of its own prints, and its warnings."""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache with all that the batch needs, and its answer."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, python(BATCH, MODUROB_CACHE=str(folder))[0]


def is_near(out, filled):
    found, expected = (np.frombuffer(bytes.fromhex(x)) for x in (out, filled[1]))
    return np.allclose(found, expected, rtol=1e-9, atol=1e-9)


def command(folder, text):
    """A compiler of its own kind."""
    path = folder / "cc"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


REAL = shutil.which("cc") or "cc"

# ---- 13: threads that share a fresh robot ----


def test_threads_may_share_a_fresh_robot():
    """60 robots that were never asked, each by eight threads at once."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        robot = random_mechanism(rng, 3, kinds=("revolute", "prismatic"))
        q, v, u = random_state(rng, robot)
        barrier, answers = threading.Barrier(8), []

        def trial(robot=robot, q=q, v=v, u=u, barrier=barrier, answers=answers):
            barrier.wait()
            for _ in range(40):
                one = robot.forward_dynamics(q, v, u).tobytes(), robot.mass_matrix(q).tobytes()
            answers.append((*one, robot.forward_dynamics(*(np.tile(x, (9, 1)) for x in (q, v, u))).tobytes()))

        threads = [threading.Thread(target=trial) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 8
        assert len(set(answers)) == 1


# ---- 14: fork while a compiler works ----

FORK = """
import os, signal, threading, time
import numpy as np, modurob as mr
robot = mr.load("crab").mechanism(base="m0")
def ask():
    for _ in range(200):
        robot.forward_dynamics(*np.zeros((3, 3)))
    robot.forward_dynamics(*np.zeros((3, 600, 3)))
# once asked for 64 times, a function was compiled in the background
for _ in range(70):
    robot.forward_dynamics(*np.zeros((3, 3)))
thread = threading.Thread(target=ask)
thread.start()
time.sleep({delay})
child = os.fork()
if child == 0:
    signal.alarm(150)
    run = mr.simulate(robot, [0.1, 0.2, 0.3], duration=0.01)
    os._exit(0 if run.status.ok else 1)
thread.join()
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize("delay", sampled([0.3, 0.0, 1.0], 1))
def test_a_process_may_be_forked_while_a_compiler_works(tmp_path, delay):
    assert python(FORK.format(delay=delay), MODUROB_CACHE=str(tmp_path))[0] == "0"


FORK_IN_MEMORY = """
import os, signal, threading
import numpy as np, modurob as mr
from modurob.kernels import memory
robot = mr.load("crab").mechanism(base="m0")
q = np.zeros((30000, 3))
robot.forward_dynamics(q, q, q)
held = threading.Event()
def hold():
    with memory._LOCK:
        held.set()
        threading.Event().wait(0.3)
threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    robot.forward_dynamics(q, q, q)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


def test_a_process_may_be_forked_while_memory_is_given_out(filled):
    assert python(FORK_IN_MEMORY, MODUROB_CACHE=str(filled[0]))[0] == "0"


# ---- 15: pickle and deepcopy once a kernel exists ----


def used():
    robot = mr.load("crab").mechanism(base="m0")
    for _ in range(60):
        robot.forward_dynamics(*np.ones((3, 3)))
    robot.forward_dynamics(*np.ones((3, 600, 3)))
    return robot


def half_way():
    return mr.Simulation(used(), [0.1, 0.2, 0.3]).advance(0.01)


VALUES = {
    "Mechanism": (used, lambda x: x.forward_dynamics(*np.ones((3, 3)))),
    "Recording": (lambda: mr.simulate(used(), duration=0.01), lambda x: x.energy),
    "Simulation": (half_way, lambda x: x.advance(0.01).q),
    "Equations": (lambda: used().equations(), lambda x: np.array(str(x.M))),
}


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("kind", VALUES)
def test_values_are_copied_once_kernels_exist(kind, way):
    make, ask = VALUES[kind]
    value = make()
    ask(make())
    other = way(value)
    if kind == "Simulation" and way is copy.copy:
        value = copy.deepcopy(value)  # they share what they record
    assert np.array_equal(ask(other), ask(value))


def energy(robot):
    return robot.kinetic_energy(np.ones(3), np.ones(3))


def test_values_are_sent_to_spawned_processes():
    robot = used()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(energy, [robot]) == [energy(robot)]


# ---- 16: a cache or a compiler that does not work ----

WRITES_JUNK = f"""
case "$*" in *-shared*) ;; *) exec {REAL} "$@";; esac
echo asked >> "$ASKED"
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo junk > "$2"; shift; done
"""

NO_EXECUTION = """
import ctypes, importlib.machinery
def refuse(*_, **__):
    raise OSError("failed to map segment from shared object: Operation not permitted")
ctypes.CDLL.__init__ = refuse
"""

FAILS = f'case "$*" in *-shared*) echo asked >> "$ASKED"; exit 1;; *) exec {REAL} "$@";; esac'


@pytest.mark.parametrize("how", ["junk", "noexec", "fails"])
def test_numpy_serves_with_one_warning_where_kernels_do_not_work(tmp_path, filled, how):
    """A compiler that writes junk or fails; a mount whose files cannot be executed, which `dlopen` tells in the words above."""
    own = {"MODUROB_CACHE": str(tmp_path / "cache"), "ASKED": str(tmp_path / "asked")}
    if how == "noexec":
        out, err = python(NO_EXECUTION + BATCH, MODUROB_CACHE=str(filled[0]))
    else:
        text = WRITES_JUNK if how == "junk" else FAILS
        out, err = python(BATCH, MODUROB_CC=command(tmp_path, text), **own)
    assert is_near(out, filled)
    assert err.count("ModurobWarning") == 1
    assert "NumPy serves" in err


def test_a_compiler_that_failed_is_not_asked_again(tmp_path):
    asked = tmp_path / "asked"
    python(BATCH, MODUROB_CC=command(tmp_path, FAILS), MODUROB_CACHE=str(tmp_path / "cache"), ASKED=str(asked))
    # one for each of the units that a first evaluator needs, side by side
    first = len(asked.read_text().splitlines())
    asked.unlink()
    script = BATCH.replace("range(3)", "range(30)") + "robot.mass_matrix(q); robot.frame_pose(q, 'm3')\n"
    python(script, MODUROB_CC=command(tmp_path, FAILS), MODUROB_CACHE=str(tmp_path / "cache"), ASKED=str(asked))
    assert len(asked.read_text().splitlines()) <= first


def test_a_compiler_has_a_time_limit(tmp_path, filled):
    """It would sleep for ten minutes: the process is done long before."""
    sleeps = f'case "$*" in *-shared*) exec sleep 600;; *) exec {REAL} "$@";; esac'
    patience = "import modurob.kernels.compiler as compiler\ncompiler.PATIENCE = 1\n"
    out, err = python(
        patience + BATCH, timeout=120, MODUROB_CC=command(tmp_path, sleeps), MODUROB_CACHE=str(tmp_path / "cache")
    )
    assert is_near(out, filled)
    assert err.count("ModurobWarning") == 1
    assert compiler.PATIENCE <= 300


# ---- 17: whom the cache trusts ----

FORGED = '#include <stdio.h>\n__attribute__((constructor)) void f(void) {{ fclose(fopen("{mark}", "w")); }}\n'


def forged(filled, folder, mark):
    """The cache with other code in all its files, and notes that fit it."""
    shutil.copytree(filled[0], folder)
    source, other = folder.parent / "forged.c", folder.parent / "forged.so"
    source.write_text(FORGED.format(mark=mark))
    subprocess.run([REAL, "-shared", "-fPIC", str(source), "-o", str(other)], check=True)
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    for path in folder.glob("*.so"):
        shutil.copy(other, path)
        notes = path.with_suffix(".json")
        notes.write_text(json.dumps({**json.loads(notes.read_text()), "sha256": digest}))
    return folder


@pytest.mark.parametrize("mode", sampled([0o1777, 0o777, 0o770, 0o707], 1))
def test_files_of_a_folder_that_others_may_write_to_are_not_executed(tmp_path, filled, mode):
    mark = tmp_path / "executed"
    folder = forged(filled, tmp_path / "cache", mark)
    folder.chmod(mode)
    assert python(BATCH, MODUROB_CACHE=str(folder))[0] == filled[1]
    assert not mark.exists()


def test_forged_files_would_be_executed_in_a_folder_of_ones_own(tmp_path, filled):
    """So that the test above sees what it looks for."""
    mark = tmp_path / "executed"
    folder = forged(filled, tmp_path / "cache", mark)
    folder.chmod(0o700)
    subprocess.run(
        [sys.executable, "-c", BATCH], env={**os.environ, "MODUROB_CACHE": str(folder)}, check=False, timeout=240
    )
    assert mark.exists()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, mode):
    tmp_path.chmod(mode)
    assert compiler._usable_folder.__wrapped__(tmp_path) != tmp_path


def test_a_folder_of_another_user_is_not_trusted(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    find = compiler._usable_folder.__wrapped__
    assert find(tmp_path) == tmp_path
    monkeypatch.setattr(compiler.os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    private = find(tmp_path)
    assert private != tmp_path
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_a_new_cache_is_for_its_user_alone(tmp_path):
    folder = compiler._usable_folder.__wrapped__(tmp_path / "kernels")
    assert folder == tmp_path / "kernels"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


ONE = """
import modurob as mr
robot = mr.load("double_pendulum").mechanism()
print(robot.inverse_dynamics(robot.neutral() + 0.1, robot.neutral() + 1, robot.neutral() + 2).round(9))
"""


def test_processors_share_no_kernels(tmp_path):
    """A home that two machines share, whose processors differ in an instruction, not in the width of their vectors."""
    cc, cache, answers = command(tmp_path, f'exec {REAL} "$@" $PROCESSOR'), tmp_path / "cache", set()
    for processor in ("", "-DANOTHER_INSTRUCTION=1"):
        before = set(cache.glob("*.so"))
        answers.add(python(ONE, MODUROB_CC=cc, MODUROB_CACHE=str(cache), PROCESSOR=processor)[0])
        assert len(set(cache.glob("*.so")) - before) >= 2
    assert len(answers) == 1


@pytest.mark.parametrize("forks", sampled(["import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n", ""], 1))
def test_a_cache_that_cannot_be_written_leaves_nothing_behind(tmp_path, filled, forks):
    """A file stands where the folder should be; a process that was forked leaves the folder of the first alone."""
    (tmp_path / "taken").write_text("")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    after = "if not forks or pid:\n    robot.jacobian(q, 'm3')\n    print('done')\n"
    script = f"forks = {bool(forks)}\n{BATCH}{forks}{after}"
    out, err = python(script, MODUROB_CACHE=str(tmp_path / "taken" / "kernels"), TMPDIR=str(temporary))
    assert out.endswith("done")
    assert filled[1] in out
    assert err == ""
    assert not list(temporary.iterdir())


# ---- 18: batches of no states ----


@pytest.mark.parametrize("lead", [(0,), (2, 0), (0, 3)])
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_no_states_have_results_of_no_states(lead, floating, dtype):
    robot = mr.load("crab").mechanism(floating=floating)
    q, v = np.zeros((*lead, robot.nq), dtype), np.zeros((*lead, robot.nv), dtype)
    n = robot.nv
    shapes = {
        (4, 4): [robot.forward_kinematics(q)["m3"], robot.frame_pose(q, "m3")],
        (6, n): [robot.jacobian(q, "m3"), robot.body_jacobian(q, "m3"), robot.jacobian_rate(q, v, "m3")],
        (n,): [robot.forward_dynamics(q, v, v), robot.inverse_dynamics(q, v, v), robot.gravity_forces(q)],
        (n, n): [robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.forward_dynamics_derivatives(q, v, v).q],
        (robot.nq,): [robot.integrate(q, v)],
        (): [robot.kinetic_energy(q, v), robot.potential_energy(q)],
        (3,): [robot.centre_of_mass(q)],
        (6,): [robot.frame_twist(q, v, "m3"), robot.momentum(q, v)],
    }
    for shape, results in shapes.items():
        assert [x.shape for x in results] == [(*lead, *shape)] * len(results)
