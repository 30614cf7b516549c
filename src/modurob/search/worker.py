"""A process that evaluates designs: it reads pairs of task and assembly as pickles and writes measures, until the input
ends.
"""

import os
import pickle
import sys
import threading
import time
import traceback
from typing import Any

from modurob.kernels import set_threads

UNREAD = "unread"  # an answer that gives no measures, but says why there are none


def measure(task: Any, assembly: Any) -> dict[str, Any]:
    """The measures of an assembly; a task that fails refuses the design, with the error's words."""
    try:
        return task.measures(assembly)
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"[:300], "trace": traceback.format_exc()[-2000:]}


def _end_with(parent: int) -> None:
    """End this process, without a word, once the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def _answer(requests: Any) -> dict[str, Any]:
    """The measures of the next request; or why it cannot be read, with which the requests are at an end."""
    try:
        task, assembly = pickle.load(requests)
    except EOFError:
        raise
    except Exception as error:
        return {UNREAD: f"{type(error).__name__}: {error}"}
    return measure(task, assembly)


def main() -> None:
    """Serve the process that started this one."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    set_threads(1)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a task prints is no reply
    while True:
        try:
            found = _answer(requests)
            pickle.dump(found, replies)
            replies.flush()
        except EOFError:
            return
        except BrokenPipeError:
            os._exit(0)
