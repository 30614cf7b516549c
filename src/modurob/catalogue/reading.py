"""YAML read without trust: small, plain, no aliases, no repeated keys."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from modurob.errors import FormatError, choices

# a robot of ten thousand modules takes under 2 MB
LARGEST_FILE = 8_000_000
DEEPEST = 32


class _PlainLoader(yaml.SafeLoader):
    """SafeLoader that refuses aliases (they can grow a small file to gigabytes), repeated keys and deep nesting."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark
            raise FormatError(f"line {mark.line + 1}: an alias (*{self.peek_event().anchor}): write the value out")
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormatError(f"nested deeper than {DEEPEST} levels")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key_node, _ in node.value:
            key = key_node.value
            if key_node.tag == "tag:yaml.org,2002:merge" or isinstance(key, list):
                raise FormatError(f"line {key_node.start_mark.line + 1}: expected a plain key")
            if key in seen:
                raise FormatError(f"line {key_node.start_mark.line + 1}: key {key!r} stands twice")
            seen.add(key)
        mapping = super().construct_mapping(node, deep)
        if len(mapping) != len(node.value):
            raise FormatError(f"line {node.start_mark.line + 1}: two keys with one value, like 1 and 0x1")
        return mapping


def read_text(path: Path) -> str:
    """The text of a file of reasonable size."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise FormatError(f"{path}: {size / 1e6:.0f} MB is too large: expected at most {LARGEST_FILE / 1e6:.0f} MB")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        near = sorted(p.name for p in path.parent.glob(f"*{path.suffix}")) if path.parent.is_dir() else []
        raise FormatError(f"{path}: no such file; {choices(path.name, near)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: cannot be read as text: {error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    try:
        _replace(path, content)
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror or error}") from None


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def parse_yaml(text: str, where: str) -> dict:
    """The mapping that a YAML text holds."""
    try:
        data = yaml.load(text, Loader=_PlainLoader)
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FormatError(f"{where}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise FormatError(f"{where}: expected a mapping (key: value lines), found {type(data).__name__}")
    return data


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], data: dict, where: str, error: type[FormatError]) -> Model:
    """`data` as a `model`, or an error that names every wrong place."""
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        lines = [f"  {'.'.join(str(x) for x in e['loc']) or 'file'}: {_complaint(e, model)}" for e in problem.errors()]
        raise error("\n".join([f"{where}:", *lines[:20]])) from None


def _model_at(model: type[BaseModel], path: tuple) -> type[BaseModel]:
    """The model of the mapping that stands at a path in a file."""
    for step in path:
        if step in model.model_fields:
            model = next(_models(model.model_fields[step].annotation), model)
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _complaint(e: Any, model: type[BaseModel]) -> str:
    if e["type"] == "extra_forbidden":
        fields = _model_at(model, e["loc"][:-1]).model_fields
        return f"unknown key; {choices(str(e['loc'][-1]), (f.alias or n for n, f in fields.items()))}"
    found = e["input"]
    shown = f", found {found!r}" if isinstance(found, str | int | float | bool | None) else ""
    return f"{e['msg'].removeprefix('Value error, ')}{shown}"
