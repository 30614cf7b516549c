"""Equations of motion in closed form, and their proof."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from modurob.cli.app import Base, File, command, console, is_urdf, robot_of, writable

if TYPE_CHECKING:
    from modurob.symbolic import Equations

Symbols = Annotated[
    str | None,
    typer.Option(
        help="quantities to write as symbols: parameters (of modules), masses, centres, inertias, lengths, gravity, armatures, "
        "dampings, stiffnesses; or all, or none. Default: parameters of modules; masses, lengths, gravity of a URDF file"
    ),
]
Gravity = Annotated[
    str | None,
    typer.Option(help="gravity in world axes, three numbers separated by commas [m/s²]; default: that of the file"),
]


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on the terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("equations", total=1.0)
        yield lambda stage, done: bar.update(task, description=stage, completed=done)


def _equations(file: str, base: str | None, symbols: str | None, gravity: str | None, **options: Any) -> "Equations":
    """Derive M, C and N."""
    from modurob.symbolic import parametric
    from modurob.symbolic.model import SYMBOLS

    try:
        g = None if gravity is None else [float(x) for x in gravity.split(",")]
    except ValueError:
        raise typer.BadParameter(f"gravity {gravity!r}: expected three numbers, like 0,0,-9.81") from None
    if symbols is None:
        symbols = "masses,lengths,gravity" if is_urdf(file) else "parameters"
    chosen = {"all": SYMBOLS, "none": ()}.get(symbols, tuple(s for s in symbols.split(",") if s))
    assembly, robot = robot_of(file, base, gravity=g)
    if "parameters" in chosen:
        rest = {s for s in chosen if s != "parameters"} | {"gravity"}
        if assembly is None:
            raise typer.BadParameter(f"--symbols parameters: {file} has no modules, whose parameters these would be")
        eq = parametric(assembly, base=base or assembly.base, gravity=robot.gravity, symbols=rest, **options)
    else:
        eq = robot.equations(chosen, **options)
    eq.polynomial("C")
    return eq


@command()
def equations(
    file: File,
    base: Base = None,
    symbols: Symbols = None,
    gravity: Gravity = None,
    latex: Annotated[Path | None, typer.Option(help="file for a LaTeX document")] = None,
    c: Annotated[Path | None, typer.Option(help="file for C99 code")] = None,
    python: Annotated[Path | None, typer.Option(help="file for a Python module")] = None,
    shorthand: Annotated[bool, typer.Option("--shorthand", help="write c_12 for cos(q1 + q2) in LaTeX")] = False,
    digits: Annotated[
        int | None, typer.Option(help="round numbers that are not exact to this number of decimals")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="stop after this time [s]")] = None,
) -> None:
    """The equations of motion in closed form: M, C and N, exact."""
    from modurob.catalogue.reading import write_text

    for path in (latex, c, python):
        writable(path)
    with _progress() as progress:
        eq = _equations(file, base, symbols, gravity, digits=digits, time_limit=time_limit, progress=progress)
        makers = {latex: lambda: eq.latex(shorthand, document=True), c: eq.c, python: eq.python}
        written = {path: make() for path, make in makers.items() if path is not None}
        said = "\n".join([*eq.legend(), *eq.notes()]) if written else str(eq)
        count = eq.operations()
    for path, text in written.items():
        write_text(path, text)
        console.print(f"wrote {path}")
    console.print(said, soft_wrap=True, markup=False, highlight=False)
    console.print(
        f"code for M, C, N ({count['origin']}): {count['multiplications']} multiplications, {count['additions']} additions, "
        f"{count['sines and cosines']} sines and cosines; inverse dynamics by Newton-Euler takes {count['Newton-Euler']}, "
        f"by naive Lagrange {count['naive Lagrange']}",
        style="dim",
        soft_wrap=True,
    )


@command()
def prove(file: File, base: Base = None, symbols: Symbols = None, gravity: Gravity = None) -> None:
    """Derive the equations by the two-step recursion and from energies (Lagrange), and compare them entry by entry."""
    with _progress() as progress:
        lines = _equations(file, base, symbols, gravity, progress=progress).proof()
    table = Table("entry", "terms", "two-step = Lagrange")
    for line in lines:
        table.add_row(
            line.entry, str(line.terms), Text("identical", "green") if line.equal else Text("different", "red")
        )
    console.print(table)
    if not all(line.equal for line in lines):
        raise typer.Exit(1)
    console.print(f"{len(lines)} entries: both derivations are identical")
