"""The command `modurob`: what its parts share."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from modurob import __version__
from modurob.errors import ModurobError
from modurob.robot import Assembly, Mechanism, load

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
console = Console(highlight=False)

File = Annotated[str, typer.Argument(help="robot: an assembly (.yaml), a URDF file, or the name of a shipped robot")]
Base = Annotated[str | None, typer.Option(help="module that stands in the world; the first by default")]
Floating = Annotated[bool, typer.Option("--floating", help="let the base float")]


def main() -> None:
    """Run the command; errors made on purpose are one message, not a traceback."""
    try:
        app(standalone_mode=True)
    except ModurobError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {error}", soft_wrap=True, markup=True)
        raise SystemExit(2) from None


def _version(asked: bool) -> None:
    if asked:
        console.print(f"modurob {__version__}")
        raise typer.Exit


@app.callback()
def options(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False) -> None:
    """Modular, self-reconfigurable robots: from docked modules to equations of motion."""


def is_urdf(file: str) -> bool:
    """Whether a file is one of bodies and joints."""
    return Path(file).suffix.lower() in (".urdf", ".xml")


def robot_of(file: str, base: str | None, floating: bool) -> tuple[Assembly | None, Mechanism]:
    """The robot of a file, and its modules if it has any."""
    if is_urdf(file):
        return None, Mechanism.from_urdf(file, floating)
    assembly = load(file)
    return assembly, assembly.mechanism(base=base, floating=floating)


def assembly_of(file: str) -> Assembly:
    """The modules of a file."""
    if is_urdf(file):
        raise typer.BadParameter(f"{file} is a URDF file: it has bodies, not modules; give an assembly")
    return load(file)
