"""python -m reproduce: the figures of the sources, drawn anew and checked."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from modurob.cli.app import console
from modurob.errors import ModurobError
from modurob.simulation.progress import progress_bar
from reproduce import reproduce
from reproduce.document import check_table, written

COLOURS = {"pass": "green", "FAIL": "red", "skipped": "yellow"}


def command(
    out: Annotated[Path, typer.Option(help="folder for the pictures")] = Path("out/reproduced"),
    only: Annotated[list[str] | None, typer.Option(help="a figure, like 5.4 or 11; may be given again")] = None,
    document: Annotated[Path | None, typer.Option(help="a document whose table of checks is written anew")] = None,
) -> None:
    """Draw the figures of the sources again, and check each against a judge."""
    with progress_bar("figures") as tell:
        checks = reproduce(out, only, lambda figure, done: tell(done))
    table = Table("figure", "what", "expected", "found", "")
    for c in checks:
        table.add_row(c.figure, c.what, c.expected_text, c.found_text, Text(c.verdict, COLOURS[c.verdict]))
    console.print(table)
    if document is not None:
        written(document, "checks", check_table(checks))
    passed = sum(c.passed for c in checks)
    console.print(f"{passed} of {len(checks)} passed; pictures: {out}")
    if passed < len(checks):
        raise typer.Exit(1)


if __name__ == "__main__":
    try:
        typer.run(command)
    except ModurobError as error:
        raise SystemExit(f"error: {error}") from None
