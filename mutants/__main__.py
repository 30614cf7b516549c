"""python -m mutants: break a copy of the library in many ways, and see who notices."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from mutants.breaks import MUTANTS, Mutant
from mutants.page_breaks import PAGE_MUTANTS
from reproduce.document import markdown, written

ROOT = Path(__file__).parents[1]


class Notice(NamedTuple):
    """What noticed a mutant first, None for nothing."""

    mutant: Mutant
    reproduce: str | None
    tests: str | None

    @property
    def enough(self) -> bool:
        """Whether all noticed that can."""
        return self.tests is not None and (self.reproduce is not None or bool(self.mutant.unseen))

    @property
    def row(self) -> tuple[str, ...]:
        m = self.mutant
        seen = self.reproduce or (f"not: {m.unseen}" if m.unseen else "NOT NOTICED")
        return m.name, f"`{m.file}`", seen, self.tests or "NOT NOTICED"


def run(package: Path, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in the root of the project, with the library in `package` and kernels of its own."""
    path = os.pathsep.join((str(package.parent), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path, "MODUROB_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def seen_by_reproduce(mutant: Mutant, package: Path, cache: Path) -> str | None:
    """The first line of `reproduce` that does not pass; it is not asked where no figure could show the mutant."""
    if not mutant.figure:
        return None
    done = run(package, cache, "-m", "mutants.looking", mutant.figure)
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 and lines else f"import: {done.stderr.strip()[-60:]}"


def seen_by_tests(mutant: Mutant, package: Path, cache: Path) -> str | None:
    """The first test that fails."""
    chosen = [f"tests/{name}" for name in mutant.tests]
    options = ("-x", "-q", "-rfE", "-p", "no:cacheprovider", "--no-header")
    done = run(package, cache, "-m", "pytest", *options, *chosen)
    if done.returncode == 0:
        return None
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].removeprefix("tests/").split("[")[0] if failed else f"pytest ends with {done.returncode}"


def noticed(mutant: Mutant, cache: Path) -> Notice:
    """Break a copy, and look. Kernels are kept by what they are made from, so mutants can share a cache."""
    with tempfile.TemporaryDirectory(prefix="modurob-mutant-") as folder:
        package = Path(folder, "src", "modurob")
        shutil.copytree(ROOT / "src" / "modurob", package, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant.file:
            mutant.apply(package)
        found = Notice(mutant, seen_by_reproduce(mutant, package, cache), seen_by_tests(mutant, package, cache))
    print(" | ".join(found.row), flush=True)
    return found


def chosen(mutants: Sequence[Mutant], only: Sequence[str], unbroken: bool) -> list[Mutant]:
    """The mutants whose names hold one of the words, and what is not broken, with all their tests."""
    found = [m for m in mutants if not only or any(word in m.name for word in only)]
    tests = tuple(dict.fromkeys(t for m in found for t in m.tests))
    return [*found, Mutant("nothing", "", "", "", found[0].figure, tests)] if unbroken and found else found


def command(
    page: Annotated[bool, typer.Option(help="break the studio instead, which tests in a browser must notice")] = False,
    only: Annotated[list[str] | None, typer.Option(help="part of a name; may be given again")] = None,
    unbroken: Annotated[bool, typer.Option(help="look at the unbroken library too, which all must pass")] = True,
    workers: Annotated[int, typer.Option(help="mutants at a time")] = 2,
    document: Annotated[Path | None, typer.Option(help="a document whose table of mutants is written anew")] = None,
) -> None:
    """Break a copy of the library or of its studio, one small change at a time, and see whether reproduce and the tests notice."""
    start = time.monotonic()
    mutants = chosen(PAGE_MUTANTS if page else MUTANTS, only or [], unbroken)
    with tempfile.TemporaryDirectory(prefix="modurob-kernels-") as cache, ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda m: noticed(m, Path(cache)), mutants))
    if unbroken and (whole := found.pop()) and (whole.reproduce or whole.tests):
        raise SystemExit(f"the unbroken library does not pass: {whole.reproduce or whole.tests}")
    enough = sum(n.enough for n in found)
    print(f"{enough} of {len(found)} noticed by all that can, in {(time.monotonic() - start) / 60:.0f} minutes")
    if document is not None:
        head, rows = ("broken", "in", "`reproduce` notices", "the tests notice"), [n.row for n in found]
        if page:
            head, rows = ("broken", "in", "the test that notices"), [(a, b, d) for a, b, _, d in rows]
        written(document, "mutants", markdown(head, rows))
    if enough < len(found):
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(command)
