"""Searches on a Dask cluster of processes: workers and the scheduler are killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import modurob as mr
from modurob.errors import SearchError
from tests.search.run import SETTINGS
from tests.search.tasks import Deadly, Spread

pytestmark = pytest.mark.judge
ROOT = Path(__file__).parents[2]


def found(task, **more):
    return mr.search_designs("backbone", task=task, **{**SETTINGS, **more})


def facts(designs) -> list:
    return [(d.key, d.assembly, dict(d.measures)) for d in designs.designs]


def start(*arguments: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *(p for p in sys.path if p)])}
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]], env=environment
    )


def test_a_worker_of_a_local_cluster_is_killed(tmp_path: Path):
    task = Deadly(str(tmp_path / "log"), 0.0, str(tmp_path / "marker"))
    assert facts(found(task, cluster="local", workers=4)) == facts(found(Spread(), workers=0))
    assert (tmp_path / "marker").exists()


def test_the_scheduler_is_killed(tmp_path: Path):
    """The search ends with an error, and goes on with another scheduler: nothing is lost or measured twice."""
    address, log = "tcp://127.0.0.1:18786", tmp_path / "log"
    task, folder = Spread(str(log), 0.05), tmp_path / "search"
    first = [start("scheduler", "--host", "127.0.0.1", "--port", "18786", "--no-dashboard"), *_workers(address)]

    def kill(at):
        if at.measured == 15:
            first[0].send_signal(signal.SIGKILL)

    try:
        with pytest.raises(SearchError, match=r"scheduler is gone|cluster failed"):
            found(task, folder=folder, cluster=address, progress=kill)
    finally:
        _end(first)
    kept = len((folder / "measures.jsonl").read_text().splitlines())
    assert 15 <= kept < 60
    log.write_text("")
    assert facts(found(task, folder=folder, workers=0)) == facts(found(Spread(), workers=0))
    assert set(Counter(log.read_text().split()).values()) == {1}
    assert len(log.read_text().split()) == len((folder / "measures.jsonl").read_text().splitlines()) - kept


def _workers(address: str) -> list[subprocess.Popen]:
    """Two workers, once the scheduler listens."""
    until = time.monotonic() + 60
    with socket.socket() as probe:
        while probe.connect_ex(("127.0.0.1", int(address.rpartition(":")[2]))):
            assert time.monotonic() < until
            time.sleep(0.05)
    return [start("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny") for _ in range(2)]


def _end(processes: list[subprocess.Popen]) -> None:
    for process in processes:
        process.kill()
        process.wait()


def test_no_scheduler():
    with pytest.raises(SearchError, match="no scheduler answers"):
        found(Spread(), cluster="tcp://127.0.0.1:9")
