"""Where module types come from: those shipped, the user's own files, and files named by path."""

from functools import cache
from importlib import resources
from pathlib import Path

from platformdirs import user_config_path

from modurob.catalogue.module_type import ModuleType
from modurob.catalogue.plain_yaml import parse_yaml
from modurob.catalogue.reading import read_text
from modurob.catalogue.validation import validated
from modurob.catalogue.specification import ModuleSpec
from modurob.errors import CatalogueError, UnknownNameError, choices


def user_folder() -> Path:
    """Module type files here are found by name, after those shipped."""
    return user_config_path("modurob") / "modules"


@cache
def shipped_names() -> tuple[str, ...]:
    folder = resources.files("modurob.catalogue") / "modules"
    return tuple(sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")))


def names() -> tuple[str, ...]:
    """Names of all module types that can be had without a path."""
    own = sorted(p.stem for p in user_folder().glob("*.yaml"))
    return shipped_names() + tuple(n for n in own if n not in shipped_names())


def is_shipped(module_type: ModuleType) -> bool:
    """Whether a file may refer to this type by its name alone."""
    name = module_type.name
    return name in shipped_names() and module_type.fingerprint == _shipped(name).fingerprint


@cache
def _shipped(name: str) -> ModuleType:
    text = (resources.files("modurob.catalogue") / "modules" / f"{name}.yaml").read_text(encoding="utf-8")
    return from_text(text, f"{name}.yaml")


def from_text(text: str, where: str) -> ModuleType:
    """The module type that a YAML text describes."""
    return from_data(parse_yaml(text, where), where)


def from_data(data: dict, where: str) -> ModuleType:
    """The module type that parsed YAML describes."""
    return ModuleType(validated(ModuleSpec, data, where, CatalogueError), where)


def module_type(name: str | Path | ModuleType) -> ModuleType:
    """A module type by name, by the path of its YAML file, or itself."""
    if isinstance(name, ModuleType):
        return name
    text = str(name)
    if text in shipped_names():
        return _shipped(text)
    if isinstance(name, Path) or text.endswith((".yaml", ".yml")):
        return _from_file(Path(name).resolve(), Path(name).resolve().stat().st_mtime_ns if Path(name).is_file() else 0)
    own = user_folder() / f"{text}.yaml"
    if text in names() and own.is_file():
        return _from_file(own, own.stat().st_mtime_ns)
    raise UnknownNameError(f"no module type {text!r}: {choices(text, names())}; or give the path of a .yaml file")


@cache
def _from_file(path: Path, changed: int) -> ModuleType:
    """One value per file content, so that modules of one type are of one type."""
    return from_text(read_text(path), path.name)


def by_letter(letter: str) -> ModuleType:
    """A module type by its letter in grids and matrices, or by its name."""
    letters: list[str] = []
    # shipped types come first and the user's own are read only if needed
    for name in names():
        own = module_type(name).specification.letter
        if letter in (own, name):
            return module_type(name)
        letters += [f"{own} ({name})"] if own else []
    raise UnknownNameError(f"no module type with letter {letter!r}: {choices(letter, letters)}")
