"""What commands are made of: fields that are checked, and the kinds of commands."""

from collections.abc import Callable, Iterable
from typing import Annotated, ClassVar

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

LONGEST_TEXT = 2_000_000  # characters of one command
FURTHEST_CELL = 100_000  # from the first module

Name = Annotated[str, Field(max_length=140)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Vector = tuple[Number, Number, Number]
MOST_GAINS = 40


def among(names: Callable[[], Iterable[str]], more: Callable[[str], str] = lambda name: "") -> AfterValidator:
    """A check that a text is one of these names, looked up when it comes: others may have registered meanwhile.

    `more` is said of a name that is not.
    """

    def checked(name: str) -> str:
        valid = list(names())
        if name not in valid:
            expected = ", ".join(map(repr, valid)) + more(name)
            raise PydanticCustomError("literal_error", "expected {expected}", {"expected": expected})
        return name

    return AfterValidator(checked)


Cell = Annotated[int, Field(ge=-FURTHEST_CELL, le=FURTHEST_CELL)]


class Checked:
    """A dataclass whose fields are checked when they come from a page: no more of them, and nothing turned into something else."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


class Command(Checked):
    """What a page may ask for."""


class Edit(Command):
    """A command that changes the design, and can be undone."""


class Construction(Edit):
    """An edit of modules and their connections: robots that are made of links have none."""
