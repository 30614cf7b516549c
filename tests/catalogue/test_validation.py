"""Data compared with a model: every wrong place named."""

import pytest
from pydantic import BaseModel, ConfigDict, Field

from modurob.catalogue.validation import validated
from modurob.errors import CatalogueError, FormatError


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: float = 0
    from_: str = Field("", alias="from")


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    one: Inner = Inner()
    many: dict[str, Inner] = {}
    either: str | Inner = ""
    count: int = 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"cuont": 1}, "cuont: unknown key; did you mean 'count'. valid: one, many, either, count"),
        ({"one": {"sice": 1}}, "one.sice: unknown key; did you mean 'size'. valid: size, from"),
        ({"many": {"a": {"form": 1}}}, "many.a.form: unknown key; did you mean 'from'. valid: size, from"),
        ({"either": {"siez": 1}}, "either.Inner.siez: unknown key; did you mean 'size'. valid: size, from"),
        ({"count": "many"}, "count: Input should be a valid integer.*, found 'many'"),
        ({"many": {"a": {"size": "x"}}}, "many.a.size: Input should be a valid number.*, found 'x'"),
    ],
)
def test_validation_names_place_and_choices(data, message):
    with pytest.raises(CatalogueError, match=message) as caught:
        validated(Outer, data, "file.yaml", CatalogueError)
    assert str(caught.value).startswith("file.yaml:\n  ")


def test_a_key_that_is_missing_is_meant_before_others():
    class Parts(BaseModel):
        model_config = ConfigDict(extra="forbid")
        parts: int
        ports: int = 0

    with pytest.raises(FormatError, match=r"prts: unknown key; did you mean 'parts'. valid: parts, ports"):
        validated(Parts, {"prts": 1}, "f", FormatError)


def test_validation_names_every_wrong_place_up_to_twenty():
    with pytest.raises(FormatError) as caught:
        validated(Outer, {f"key{i}": 1 for i in range(50)}, "f", FormatError)
    assert len(str(caught.value).splitlines()) == 21


def test_long_values_are_shortened():
    with pytest.raises(FormatError) as caught:
        validated(Outer, {"count": "x" * 10_000, "y" * 10_000: 1}, "f", FormatError)
    assert len(str(caught.value)) < 11_000
