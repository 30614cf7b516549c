"""python -m fuzz: mutations of valid inputs, each of which must end in a result or in a library error."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fuzz import TARGETS, hunt, kept
from modurob.cli.app import console
from modurob.errors import InputError, ModurobError, choices
from modurob.simulation.progress import progress_bar


def command(
    targets: Annotated[list[str] | None, typer.Argument(help=f"of {', '.join(TARGETS)}; all if not given")] = None,
    mutations: Annotated[int, typer.Option(help="of each target")] = 10_000,
    seed: Annotated[int, typer.Option(help="of the random numbers")] = 0,
    keep: Annotated[Path, typer.Option(help="folder for inputs that fail")] = Path("tests/fuzz/cases"),
) -> None:
    """Mutate valid inputs and run them: raw exceptions, more than 5 s or 1 GB, and crashes are failures."""
    for name in targets or ():
        if name not in TARGETS:
            raise InputError(f"no target {name!r}: {choices(name, TARGETS)}")
    table, failed = Table("target", "mutations", "results", "refused", "failed"), 0
    for name in targets or TARGETS:
        with progress_bar(name) as tell:
            counts, failures = hunt(name, mutations, seed, lambda done, tell=tell: tell(done / mutations))
        for failure in failures:
            console.print(f"{name} {failure.number}: {failure.what}: {kept(failure, keep)}", soft_wrap=True)
        table.add_row(name, *map(str, (counts.total(), counts["result"], counts["refused"], len(failures))))
        failed += len(failures)
    console.print(table)
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    try:
        typer.run(command)
    except ModurobError as error:
        raise SystemExit(f"error: {error}") from None
