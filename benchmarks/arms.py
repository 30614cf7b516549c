"""The 32,768 arms of Timor-Python's set IMPROV: which reach three poses, within limits and torques."""

import time
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console

import modurob as mr
from modurob.spatial import se3, so3

IMPROV = Path(__file__).parents[1] / "tests" / "formats" / "improv.json"
LINKS = ("L1", "L2", "L4", "L5", "L6", "L8", "L9")
TIMOR = 127.0  # seconds that Timor-Python took


def improv() -> mr.ArmSet:
    """Three balls out of four, one of seven links or none before each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.ModurobWarning)
        types = mr.timor_modules(IMPROV)
    links = [(), *((types[name],) for name in LINKS)]
    slot = [(*link, types[f"PB2{k}"]) for link in links for k in (1, 2, 3, 4)]
    return mr.ArmSet([[types["base"]], slot, slot, slot])


def main() -> None:
    """Print seconds and verdicts."""
    console, rng = Console(), np.random.default_rng(0)
    places = np.array([[0.3, 0.2, 0.5], [-0.2, 0.35, 0.3], [0.1, -0.4, 0.6]])
    poses = se3.pose(so3.exp(rng.normal(size=(3, 3))), places)
    start, cpu = time.perf_counter(), time.process_time()
    arms = improv()
    found = arms.reach(poses)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    counts = [np.bincount(v, minlength=3).tolist() for v in found.verdict.T]
    console.print(
        f"{len(arms)} arms, {len(poses)} poses: {seconds:.1f} s, {cpu:.1f} s of CPU time on all cores; Timor-Python {TIMOR:g} s; "
        f"out of reach, too heavy, reached: {counts}"
    )


if __name__ == "__main__":
    main()
