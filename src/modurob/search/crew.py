"""Workers that evaluate designs: this process, processes of this machine, or the workers of a Dask cluster. The loss of
a worker loses no result.
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

from modurob.errors import InputError, SearchError
from modurob.robot import Assembly
from modurob.search.worker import UNREAD, measure

TRIES = 3  # of a design whose worker dies
GONE = "the scheduler is gone: start the search again with the same folder to go on"
Job = tuple[str, Assembly]  # the key of a design, and the design
Measured = tuple[str, dict[str, Any]]
DIED = {"refused": f"its worker died {TRIES} times"}


class Crew(ABC):
    """Evaluates designs, in the order in which they are finished."""

    @abstractmethod
    def measured(self, task: Any, jobs: Sequence[Job]) -> Iterator[Measured]:
        """Keys and measures, as they are found."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027
        """Stop the workers, if there are any."""


class Alone(Crew):
    """One design after another, in this process."""

    def measured(self, task: Any, jobs: Sequence[Job]) -> Iterator[Measured]:
        return ((key, measure(task, assembly)) for key, assembly in jobs)


class Processes(Crew):
    """Processes of this machine; one that dies is replaced, and the design that it had is given out again."""

    def __init__(self, workers: int):
        self._idle: list[_Process] = [_Process() for _ in range(workers)]
        self.workers = workers

    @property
    def pids(self) -> list[int]:
        """Of the processes that wait for work."""
        return [p.pid for p in self._idle]

    def measured(self, task: Any, jobs: Sequence[Job]) -> Iterator[Measured]:
        waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[Measured | BaseException] = queue.SimpleQueue()
        for job in [*jobs, *[None] * self.workers]:
            waiting.put(job)
        threads = [threading.Thread(target=self._serve, args=(task, waiting, done), daemon=True) for _ in self._idle]
        for thread in threads:
            thread.start()
        try:
            for _ in jobs:
                found = done.get()
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            # who stops early waits for what is being measured, no more
            while not waiting.empty():
                waiting.get()
            for _ in threads:
                waiting.put(None)
            for thread in threads:
                thread.join()

    def _serve(self, task: Any, waiting: Any, done: Any) -> None:
        process = self._idle.pop()
        while (job := waiting.get()) is not None:
            try:
                process, found = _tried(process, task, job[1])
                done.put((job[0], found))
            except BaseException as error:
                done.put(error)
        self._idle.append(process)

    def close(self) -> None:
        for process in self._idle:
            process.close()


class _Process:
    """A worker and the two pipes to it."""

    def __init__(self) -> None:
        paths = os.pathsep.join(p for p in sys.path if p)
        environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._own = subprocess.Popen(
            [sys.executable, "-c", "from modurob.search.worker import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the search, which then lets its workers go
        )

    @property
    def pid(self) -> int:
        return self._own.pid

    def ask(self, request: bytes) -> dict[str, Any]:
        """What the worker answers; EOFError or OSError if it is gone."""
        stdin, stdout = self._own.stdin, self._own.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(request)
        stdin.flush()
        return pickle.load(stdout)

    def close(self) -> None:
        for pipe in (self._own.stdin, self._own.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass
        try:
            self._own.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._own.kill()
            self._own.wait()


def _tried(process: _Process, task: Any, assembly: Assembly) -> tuple[_Process, dict[str, Any]]:
    """A worker that lives, and the measures; a design that every worker dies of is refused."""
    try:
        request = pickle.dumps((task, assembly))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SearchError(f"the task cannot be sent to workers: {error}: expected a class of a module") from None
    for _ in range(TRIES):
        try:
            return process, _measures(process.ask(request))
        except (EOFError, OSError, pickle.UnpicklingError):
            process.close()
            process = _Process()
    return process, dict(DIED)


def _measures(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that holds measures."""
    if UNREAD in answer:
        raise SearchError(
            f"the task cannot be read by workers: {answer[UNREAD]}: expected a class of a module that they can import too, "
            "or workers=0"
        )
    return answer


class Cluster(Crew):
    """The workers of a Dask cluster: of one that is started here ("local"), or of the scheduler at an address."""

    def __init__(self, address: str, workers: int):
        try:
            from distributed import Client, LocalCluster  # pyright: ignore
        except ImportError:
            raise SearchError("a search on a cluster needs Dask: pip install modurob[cluster]") from None
        local = address == "local"
        quiet: Any = None  # no page of Dask's own
        self._own = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=quiet) if local else None
        try:
            self.client = Client(self._own if local else address, timeout=10)
        except (OSError, ValueError) as error:
            raise SearchError(
                f"cluster {address!r}: no scheduler answers: {error}: expected an address like tcp://host:8786, or 'local'"
            ) from None

    def measured(self, task: Any, jobs: Sequence[Job]) -> Iterator[Measured]:
        from distributed import as_completed  # pyright: ignore

        futures = {self.client.submit(measure, task, a, pure=False, retries=TRIES): key for key, a in jobs}
        try:
            for future in as_completed(futures):
                yield futures[future], self._result(future)
        except OSError as error:
            raise SearchError(f"{GONE} ({type(error).__name__})") from None
        finally:
            if self.client.status == "running":
                self.client.cancel(list(futures))

    def _result(self, future: Any) -> dict[str, Any]:
        """Measures of a design; one that every worker died of is refused."""
        if future.cancelled():
            raise SearchError(GONE)
        error = future.exception()
        if error is None:
            return future.result()
        if type(error).__name__ == "KilledWorker":
            return dict(DIED)
        if isinstance(error, OSError):
            raise error
        raise SearchError(f"the cluster failed: {type(error).__name__}: {error}")

    def close(self) -> None:
        self.client.close()
        if self._own is not None:
            self._own.close()


def crew(workers: int | None, cluster: str | None) -> Crew:
    """The workers: by default one process per core, this process alone with 0."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = cores if workers is None else workers
    if not isinstance(workers, int) or isinstance(workers, bool) or not 0 <= workers <= 10_000:
        raise InputError(f"{workers!r:.40} workers: expected a number of processes, 0 for none but this one")
    if cluster is not None:
        return Cluster(str(cluster), max(workers, 1))
    return Processes(workers) if workers else Alone()
