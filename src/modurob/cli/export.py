"""Robots written as files of other tools."""

from pathlib import Path
from typing import Annotated

import typer

from modurob.cli.app import Base, File, Floating, command, console, robot_of, writable


@command()
def export(
    file: File,
    out: Annotated[Path, typer.Argument(help="file to write; its extension selects the format: {exports}")],
    base: Base = None,
    floating: Floating = False,
) -> None:
    """Write a robot as a file for another tool."""
    from modurob.catalogue.reading import write_text
    from modurob.mechanism import EXPORTS

    write = EXPORTS[out.suffix.removeprefix(".").lower()]
    writable(out)
    _, robot = robot_of(file, base, floating)
    write_text(out, write(robot))
    console.print(f"{robot.name}: {out}")
