"""Data checked against the model of a file, with the location of every error."""

from collections.abc import Iterator
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from modurob.errors import FormatError, choices

Model = TypeVar("Model", bound=BaseModel)
MOST_SHOWN = 20
# in the words of YAML, where those of pydantic are of Python
EXPECTED = {
    "dict_type": "expected a mapping, key: value",
    "list_type": "expected a list, [a, b]",
    "tuple_type": "expected a list, [a, b]",
    "bool_type": "expected true or false",
}


def validated(model: type[Model], data: dict[str, Any], where: str, error: type[FormatError]) -> Model:
    """`data` as a `model`, or an error that lists every location with an error."""
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        raise error("\n  ".join([f"{where}:", *complaints(problem, model)[:MOST_SHOWN]])) from None


def complaints(problem: ValidationError, model: type[BaseModel]) -> list[str]:
    """One line for each error: where, what was expected, what was found."""
    missing = [e["loc"] for e in problem.errors() if e["type"] == "missing"]
    return [
        f"{'.'.join(str(x) for x in e['loc']) or 'file'}: {_complaint(e, model, missing)}" for e in problem.errors()
    ]


def _model_at(model: type[BaseModel], path: tuple) -> type[BaseModel]:
    """The model of the mapping at a path in a file."""
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


def _complaint(e: Any, model: type[BaseModel], missing: list[tuple]) -> str:
    if e["type"] == "extra_forbidden":
        *where, key = e["loc"]
        fields = _model_at(model, tuple(where)).model_fields
        # a key that is missing beside it is the likeliest to be meant
        likely = [str(name) for *at, name in missing if at == where]
        return f"unknown key; {choices(str(key)[:80], (f.alias or n for n, f in fields.items()), likely)}"
    found = e["input"]
    shown = f", found {found!r:.80}" if e["type"] != "missing" else ""
    return f"{EXPECTED.get(e['type']) or e['msg'].removeprefix('Value error, ')}{shown}"
