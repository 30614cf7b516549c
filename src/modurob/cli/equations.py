"""Equations of motion in closed form, and their proof."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from modurob.cli.app import Base, File, command, console, robot_of, writable

if TYPE_CHECKING:
    from modurob.symbolic import Equations

Symbols = Annotated[
    str,
    typer.Option(
        help="what to write as symbols: masses, centres, inertias, lengths, gravity, armatures, dampings; or all, or none"
    ),
]
Gravity = Annotated[
    str | None,
    typer.Option(help="gravity in world axes, three numbers with commas [m/s²]; as the file says if not given"),
]


def _equations(
    file: str,
    base: str | None,
    symbols: str,
    gravity: str | None,
    digits: int | None = None,
    time_limit: float | None = None,
) -> "Equations":
    """Derive with a progress bar; Ctrl-C stops it."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from modurob.symbolic.model import SYMBOLS

    try:
        g = None if gravity is None else [float(x) for x in gravity.split(",")]
    except ValueError:
        raise typer.BadParameter(f"gravity {gravity!r}: expected three numbers, like 0,0,-9.81") from None
    _, robot = robot_of(file, base, gravity=g)
    chosen = {"all": SYMBOLS, "none": ()}.get(symbols, tuple(s for s in symbols.split(",") if s))
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("equations", total=1.0)

        def show(stage: str, done: float) -> None:
            bar.update(task, description=stage, completed=done)

        eq = robot.equations(chosen, digits=digits, time_limit=time_limit, progress=show)
        eq.polynomial("C")
        return eq


@command()
def equations(
    file: File,
    base: Base = None,
    symbols: Symbols = "masses,lengths,gravity",
    gravity: Gravity = None,
    latex: Annotated[Path | None, typer.Option(help="write LaTeX here")] = None,
    c: Annotated[Path | None, typer.Option(help="write a C99 file here")] = None,
    python: Annotated[Path | None, typer.Option(help="write a Python module here")] = None,
    shorthand: Annotated[bool, typer.Option("--shorthand", help="c_12 for cos(q1 + q2) in LaTeX")] = False,
    digits: Annotated[int | None, typer.Option(help="round numbers that are not exact to so many decimals")] = None,
    time_limit: Annotated[float | None, typer.Option(help="give up after so many seconds")] = None,
) -> None:
    """The equations of motion in closed form: M, C and N, exact."""
    from modurob.catalogue.reading import write_text

    for path in (latex, c, python):
        writable(path)
    eq = _equations(file, base, symbols, gravity, digits, time_limit)
    written = {latex: lambda: eq.latex(shorthand), c: eq.c, python: eq.python}
    for path, make in written.items():
        if path is not None:
            write_text(path, make())
            console.print(f"wrote {path}")
    if not any((latex, c, python)):
        console.print(str(eq), soft_wrap=True)
    for line in eq.legend():
        console.print(line, style="dim")
    count = eq.operations()
    console.print(
        f"code for M, C, N ({count['origin']}): {count['multiplications']} multiplications, {count['additions']} additions, "
        f"{count['sines and cosines']} sines and cosines; inverse dynamics by Newton-Euler takes {count['Newton-Euler']}, "
        f"by naive Lagrange {count['naive Lagrange']}",
        style="dim",
        soft_wrap=True,
    )


@command()
def prove(file: File, base: Base = None, symbols: Symbols = "masses,lengths,gravity", gravity: Gravity = None) -> None:
    """Derive the equations by the two-step recursion and from energies (Lagrange), and compare them entry by entry."""
    eq = _equations(file, base, symbols, gravity)
    table = Table("entry", "terms", "two-step = Lagrange")
    lines = eq.proof()
    for line in lines:
        table.add_row(
            line.entry, str(line.terms), Text("identical", "green") if line.equal else Text("different", "red")
        )
    console.print(table)
    if not all(line.equal for line in lines):
        raise typer.Exit(1)
    console.print(f"{len(lines)} entries: both derivations are identical")
