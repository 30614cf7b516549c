"""Why a command is not understood, in words: which field, what was found, what was expected."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

EXPECTED = {
    "missing": "it is missing",
    "unexpected_keyword_argument": "there is no such field",
    "string_type": "expected a text",
    "string_too_short": "expected at least {min_length} character",
    "string_too_long": "expected at most {max_length} characters",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "bool_type": "expected true or false",
    "greater_than": "expected more than {gt:g}",
    "greater_than_equal": "expected at least {ge:g}",
    "less_than": "expected less than {lt:g}",
    "less_than_equal": "expected at most {le:g}",
    "literal_error": "expected {expected}",
    "tuple_type": "expected a list",
    "too_long": "expected at most {max_length} entries",
    "dataclass_type": "expected fields with their values",
}
LONGEST_FOUND = 60  # characters


def complaint(command: str, problem: ValidationError) -> str:
    """The first thing that is wrong with a command."""
    first = problem.errors()[0]
    names = (_name(step) for step in first["loc"] if step != "settings")
    where = " ".join(filter(None, names)) or "settings"
    return f"{_plain(command)}: {where}{_found(first)}: {_expected(first)}"


def _plain(word: str) -> str:
    return word.replace("_", " ")


def _name(step: int | str) -> str:
    """A field, or a place in a list; the kinds of a field that may be of several are left out."""
    if isinstance(step, int):
        return f"entry {step + 1}"
    return "" if step in ("float", "constrained-str") else _plain(step)


def _found(error: ErrorDetails) -> str:
    if error["type"] in ("missing", "unexpected_keyword_argument", "string_too_long"):
        return ""
    return f" {_shown(error['input'])}"


def _shown(value: Any) -> str:
    text = "nothing" if value in (None, "") else f"{value:g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= LONGEST_FOUND else f"{text[:LONGEST_FOUND]}..."


def _expected(error: ErrorDetails) -> str:
    words = EXPECTED.get(error["type"])
    return words.format(**error.get("ctx", {})) if words else error["msg"].removeprefix("Input should be ")
