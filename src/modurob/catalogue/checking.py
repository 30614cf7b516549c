"""All that is wrong with a module type file, at once."""

from typing import Any

from pydantic import ValidationError

from modurob.catalogue import consistency
from modurob.catalogue.module_type import mistakes
from modurob.catalogue.plain_yaml import parse_yaml
from modurob.catalogue.specification import ModuleSpec
from modurob.catalogue.validation import complaints
from modurob.errors import FormatError


def check(text: str) -> list[str]:
    """Everything that is wrong with the text of a module type file, one line each; empty if it describes a module type.

    >>> check("format: modurob module 1\\nname: a b\\nparts: {ball: {mas: 1}, rod: {}}")[1]
    "parts.ball.mas: unknown key; did you mean 'mass'? valid: mass, centre, inertia, shapes"
    """
    try:
        data = parse_yaml(text, "file")
    except FormatError as error:
        return [str(error)]
    try:
        return [str(error) for error in mistakes(ModuleSpec.model_validate(data))]
    except ValidationError as problem:
        return [*complaints(problem, ModuleSpec), *_mistakes_of_the_rest(data, problem)]


def _mistakes_of_the_rest(data: dict[str, Any], problem: ValidationError) -> list[str]:
    """What does not fit together in the entries that can be read."""
    wrong = {e["loc"][:2] for e in problem.errors()}
    rest = {
        key: {n: x for n, x in section.items() if (key, n) not in wrong} if isinstance(section, dict) else section
        for key, section in data.items()
        if (key,) not in wrong
    }
    try:
        spec = ModuleSpec.model_validate({**rest, "format": "modurob module 1", "name": "rest"})
    except ValidationError:
        return []
    return list(consistency.mistakes(spec, unread=[str(place[1]) for place in wrong if len(place) > 1]))
