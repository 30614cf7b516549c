"""The designs of a search as a table: one row each, numbers in columns, the robot as the text of its file."""

import csv
import io
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modurob.assembly import dumps
from modurob.catalogue.reading import write_bytes, write_text
from modurob.errors import InputError, SearchError
from modurob.search.evolution import Design

if TYPE_CHECKING:
    from modurob.search.searching import Designs


def rows(found: "Designs") -> list[dict[str, Any]]:
    """A row for each design, all with the same columns; lists as JSON."""
    front = {d.key for d in found.front}
    names = list(dict.fromkeys(n for d in found.designs for n in d.measures if n != "trace"))
    return [
        {**_about(d, front), **{n: _cell(d.measures.get(n)) for n in names}, "robot": text(d)} for d in found.designs
    ]


def text(design: Design) -> str:
    """The robot file of a design."""
    return dumps(design.assembly.labelled(f"design-{design.key[:8]}"))


def _about(design: Design, front: set[str]) -> dict[str, Any]:
    own = {"key": design.key, "generation": design.generation, "operator": design.operator}
    return {**own, "parents": " ".join(design.parents), "front": design.key in front}


def _cell(x: Any) -> Any:
    return json.dumps(x) if isinstance(x, list | dict) else x


def write(found: "Designs", path: Path) -> None:
    """Write the table by the ending of its name, whole or not at all."""
    match path.suffix.lower():
        case ".csv":
            write_text(path, _csv(rows(found)))
        case ".parquet":
            write_bytes(path, _parquet(rows(found)))
        case other:
            raise InputError(f"{path}: tables {other or 'without an ending'} cannot be written: valid: .csv, .parquet")


def _csv(table: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(table[0]) if table else ["key"])
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def _parquet(table: list[dict[str, Any]]) -> bytes:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise SearchError("a table as Parquet needs pyarrow: pip install modurob[parquet], or write .csv") from None
    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(table), out)
    return out.getvalue()
