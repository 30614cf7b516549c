"""Where module types come from: those shipped, the user's own files, and files named by path."""

from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from modurob.catalogue.module_type import ModuleType
from modurob.catalogue.plain_yaml import dump_yaml, parse_yaml
from modurob.catalogue.reading import read_text
from modurob.catalogue.specification import ModuleSpec
from modurob.catalogue.validation import validated
from modurob.errors import CatalogueError, ModurobError, UnknownNameError, choices, explained


def user_folder() -> Path:
    """Module type files (.yaml) in this folder are found by name, after those shipped.

    >>> user_folder().name
    'modules'
    """
    return user_config_path("modurob") / "modules"


@cache
def shipped_names() -> tuple[str, ...]:
    """Names of the module types that come with modurob.

    >>> shipped_names()[:3]
    ('anchor', 'backbone', 'cube_link')
    """
    folder = resources.files("modurob.catalogue") / "modules"
    return tuple(sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")))


def names() -> tuple[str, ...]:
    """Names of all module types that are available without a path: those shipped, then the user's own that can be read.

    >>> "scout" in names()
    True
    """
    return shipped_names() + tuple(n for n, kind in _own().items() if isinstance(kind, ModuleType))


def problems() -> dict[str, str]:
    """Files in the user's folder that describe no module type, and why; the others are available.

    >>> for name, why in problems().items():
    ...     print(name, why)
    """
    return {f"{n}.yaml": str(why) for n, why in _own().items() if isinstance(why, ModurobError)}


def is_shipped(module_type: ModuleType) -> bool:
    """Whether a file may refer to this type by its name alone.

    >>> is_shipped(module_type("backbone"))
    True
    """
    return module_type.name in shipped_names() and module_type == _shipped(module_type.name)


@explained
def module_type(name: str | Path | ModuleType) -> ModuleType:
    """A module type by name or by the path of its YAML file; a module type is returned unchanged.

    >>> module_type("scout").specification.letter
    'S'
    """
    if isinstance(name, ModuleType):
        return name
    text = str(name)
    if text not in shipped_names() and (isinstance(name, Path) or text.endswith((".yaml", ".yml"))):
        return from_file(Path(name))
    return named(text)


def named(name: str) -> ModuleType:
    """A module type by name alone: no file is read but those of the user's folder, so that names may come from strangers.

    >>> named("backbone").name
    'backbone'
    """
    if name in shipped_names():
        return _shipped(name)
    own = _own().get(name)
    if isinstance(own, ModuleType):
        return own
    if own is not None:
        raise type(own)(str(own))
    raise UnknownNameError(
        f"no module type {name!r:.80}: {choices(name[:80], names())}; or give the path of a .yaml file"
    )


def by_letter(letter: str) -> ModuleType:
    """A module type by its letter in grids and matrices, or by its name.

    >>> by_letter("B").name, by_letter("scout").name
    ('backbone', 'scout')
    """
    letters: list[str] = []
    # shipped types come first and the user's own are read only if needed
    for kind in map(_shipped, shipped_names()):
        if letter in (kind.specification.letter, kind.name):
            return kind
        letters += [f"{kind.specification.letter} ({kind.name})"] if kind.specification.letter else []
    for name, kind in _own().items():
        if isinstance(kind, ModuleType):
            if letter in (kind.specification.letter, name):
                return kind
            letters += [f"{kind.specification.letter} ({name})"] if kind.specification.letter else []
    raise UnknownNameError(f"no module type with letter {letter!r:.80}: {choices(letter[:80], letters)}")


def from_file(path: Path) -> ModuleType:
    """The module type that a YAML file describes, one value per file content."""
    found = _outcome(path.resolve(), path.stat().st_mtime_ns if path.is_file() else 0)
    if isinstance(found, ModurobError):
        raise type(found)(str(found))
    return found


def from_text(text: str, where: str = "text") -> ModuleType:
    """The module type that a YAML text describes; `where` names the text in errors.

    >>> from_text("format: modurob module 1\\nname: ball\\nparts: {ball: {mass: 1}}").name
    'ball'
    """
    return from_data(parse_yaml(text, where), where)


def from_data(data: dict, where: str) -> ModuleType:
    """The module type that parsed YAML describes."""
    return ModuleType(validated(ModuleSpec, data, where, CatalogueError), where)


def to_data(kind: ModuleType) -> dict[str, Any]:
    """A module type as plain data, which `from_data` reads back equal.

    >>> to_data(module_type("backbone"))["format"]
    'modurob module 1'
    """
    return kind.specification.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def to_text(kind: ModuleType) -> str:
    """A module type as the YAML text of its file, which `from_text` reads back equal.

    >>> from_text(to_text(module_type("backbone"))) == module_type("backbone")
    True
    """
    return dump_yaml(to_data(kind))


@cache
def _shipped(name: str) -> ModuleType:
    text = (resources.files("modurob.catalogue") / "modules" / f"{name}.yaml").read_text(encoding="utf-8")
    return from_text(text, f"{name}.yaml")


def _own() -> dict[str, ModuleType | ModurobError]:
    """The user's own types by the names of their files, and why some could not be read."""
    files = sorted(p for p in user_folder().glob("*.yaml") if p.stem not in shipped_names() and p.is_file())
    return {p.stem: _outcome(p, p.stat().st_mtime_ns) for p in files}


@lru_cache(maxsize=1024)
def _outcome(path: Path, changed: int) -> ModuleType | ModurobError:
    """What a file describes, or why nothing: read once for each time it was changed."""
    try:
        return from_text(read_text(path), path.name)
    except ModurobError as error:
        return error.with_traceback(None)
