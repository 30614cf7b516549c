"""The command `modurob`: what its parts share.

Names of `modurob` are imported when they are first used, so that `modurob --help` and a misspelt option wait for nothing.
"""

import logging
import sys
import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text
from typer.core import TyperCommand

import modurob as mr
from modurob.errors import FormatError, InputError, ModurobError, ModurobWarning, choices, no_file

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
# names, messages and matrices are printed as they are: brackets in them are no markup
console = Console(highlight=False, markup=False, emoji=False)

File = Annotated[
    str,
    typer.Argument(
        help="robot: an assembly (.yaml), a URDF or MuJoCo file, or the name of a robot of the package (see modurob robots)",
        callback=lambda file: existing(file),
    ),
]
Base = Annotated[str | None, typer.Option(help="base module, fixed in the world; default: that of the file")]
Floating = Annotated[
    bool | None, typer.Option("--floating/--fixed", help="whether the base floats; default: as in the file")
]

PICTURES = (".png", ".pdf", ".svg")
# where the package has its robots, and those that walk
SHIPPED, WALKERS = (Path(mr.__file__).parent / folder for folder in ("assembly/robots", "motion/gaits/organisms"))


def main() -> None:
    """Run the command; errors made on purpose are one message, not a traceback."""
    if not sys.stderr.isatty():
        _log_waits()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, warnings.showwarning)
            app(standalone_mode=True)
    except ModurobError as error:
        _tell("error:", "bold red", error)
        raise SystemExit(2) from None


def _show_warning(show: Any, message: Warning | str, category: type[Warning], *where: Any) -> None:
    """A warning of the package in words alone: no line of a program led to it."""
    if issubclass(category, ModurobWarning):
        _tell("warning:", "bold yellow", message)
    else:
        show(message, category, *where)


def _tell(word: str, style: str, message: object) -> None:
    Console(stderr=True, highlight=False).print(Text.assemble((word, style), " ", str(message)), soft_wrap=True)


def _log_waits() -> None:
    """Write to the error output what takes long, such as compiling, which a terminal is told anyway."""
    logger, handler = logging.getLogger("modurob"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("modurob: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def _version(asked: bool) -> None:
    if asked:
        console.print(f"modurob {mr.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--with", help="a Python file or module that registers your own laws, gaits, steppers and so on; repeatable"
        ),
    ] = None,
) -> None:
    """Modular, self-reconfigurable robots: from docked modules to equations of motion."""
    for name in more or ():
        _import(name)


def _import(name: str) -> None:
    """Run a Python file, or import a module, for what it registers."""
    path = Path(name)
    try:
        if path.suffix == ".py":
            _run(path)
        else:
            import_module(name)
    except ModurobError:
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and name.startswith(error.name):
            why = "there is no such module: expected one, or a Python file (.py)"
        else:
            lines = [f"line {f.lineno}: " for f in extract_tb(error.__traceback__) if f.filename == str(path.resolve())]
            why = f"{lines[-1] if lines else ''}{type(error).__name__}: {error}"
        raise InputError(f"--with {name}: {why}") from error


def _run(path: Path) -> None:
    """Import a Python file, as a module that other processes find too."""
    if not path.is_file():
        raise InputError(f"--with {path}: there is no such file")
    name, given, path = path.stem, path, path.resolve()
    known = None if "." in name else find_spec(name)
    if known is not None and known.origin is not None and Path(known.origin).resolve() != path:
        raise InputError(f"--with {given}: Python has another module {name!r}, {known.origin}: rename the file")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec: Any = spec_from_file_location(name, path)
    module = sys.modules[name] = module_from_spec(spec)  # where the source of its classes is looked for
    spec.loader.exec_module(module)


# ---- choices ----


def registries() -> dict[str, Iterable[str]]:
    """What there is to choose from, by the word for it in help texts."""
    from modurob.kinematics.inverse.orders import ORDERS
    from modurob.motion.gaits import GENERATORS, PRESETS

    return {
        "controllers": mr.control.plain_laws(),
        "filters": mr.estimation.FILTERS,
        "steppers": mr.simulation.STEPPERS,
        "gaits": PRESETS,
        "generators": GENERATORS,
        "exports": mr.mechanism.EXPORTS,
        "orders": ORDERS,
        "tasks": mr.search.TASKS,
    }


class _Command(TyperCommand):
    """A command whose help names what is registered, where texts say {steppers} and the like, and shows brackets as they are."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            text = getattr(parameter, "help", None) or ""
            parameter.help = escape(_named(text) if "{" in text else text)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _named(text: str) -> str:
    return text.format(**{word: ", ".join(registry) for word, registry in registries().items()})


command = partial(app.command, cls=_Command)


def made(kind: type, name: str, given: Mapping[str, Any], otherwise: Mapping[str, Any]) -> Any:
    """A registered object made from the options that were `given`, and from those of the other options that it has."""
    from dataclasses import fields

    own = [f.name for f in fields(kind)]
    told = {option: x for option, x in given.items() if x is not None}
    for option in told:
        if option not in own:
            valid = [o.replace("_", "-") for o in given if o in own]
            raise InputError(f"--{option.replace('_', '-')} is not for {name}: {choices(option, valid)}")
    return kind(**{option: x for option, x in otherwise.items() if option in own} | told)


# ---- files ----


def writable(path: Path | None, *suffixes: str) -> None:
    """An error, before any work is done, unless a file of one of these kinds can be written there."""
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(
            f"{path}: files {path.suffix or 'without an ending'} cannot be written: valid: {', '.join(filter(None, suffixes))}"
        )
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}: make it first, or choose another")


def is_urdf(file: str) -> bool:
    """Whether a file is one of bodies and joints."""
    return Path(file).suffix.lower() in (".urdf", ".xml", ".mjcf")


def assembly_of(file: str, base: str | None = None, floating: bool | None = None, gravity: Any = None) -> "mr.Assembly":
    """The modules of a file, standing as it says where the options do not."""
    if is_urdf(file):
        raise typer.BadParameter(
            f"{file} is a URDF file or one of MuJoCo: it has bodies, not modules; give an assembly"
        )
    return mr.Assembly.load(path_of(file)).with_setup(base=base, floating=floating, gravity=gravity)


def walkers() -> tuple[str, ...]:
    """Names of the organisms of `mr.walking_robot` that are no shipped robots."""
    return _names(WALKERS)


def _names(folder: Path) -> tuple[str, ...]:
    """Names of the robot files in a folder of the package, without what it takes to read them."""
    return tuple(sorted(file.stem for file in folder.glob("*.yaml")))


def existing(file: str | None) -> str | None:
    """The file or name of a robot. One that does not exist is refused here, before any part of the package is imported."""
    names = (*_names(SHIPPED), *walkers())
    if file is None or file in names or Path(file).exists():
        return file
    if Path(file).suffix:
        raise FormatError(no_file(Path(file)))
    raise InputError(f"no file {file!r:.200} and no shipped robot of that name: {choices(file[:80], names)}")


def path_of(file: str) -> str | Path:
    """The file of a robot; a shipped robot by its name, an organism that walks by that of its file."""
    return WALKERS / f"{file}.yaml" if file in walkers() else file


def robot_of(
    file: str, base: str | None, floating: bool | None = None, gravity: Any = None
) -> "tuple[mr.Assembly | None, mr.Mechanism]":
    """The robot of a file, and its modules if it has any."""
    if is_urdf(file):
        if mr.mechanism.mjcf.is_mjcf(file):
            if floating or gravity is not None:
                raise typer.BadParameter(f"{file} is a file of MuJoCo, which says itself how it stands and falls")
            return None, mr.Mechanism.from_mjcf(file)
        told = {} if gravity is None else {"gravity": gravity}
        return None, mr.Mechanism.from_urdf(file, bool(floating), **told)
    assembly = assembly_of(file, base, floating, gravity)
    return assembly, assembly.robot()
