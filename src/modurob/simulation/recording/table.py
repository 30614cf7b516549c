"""A run as a table with a row a tick: t [s], then q, v, vdot, tau by joint; SI units."""

import csv
import io
from importlib import import_module

from modurob.errors import SimulationError
from modurob.simulation.recording.segment import Segment
from modurob.spatial.scalars import Array


def columns(segments: tuple[Segment, ...]) -> dict[str, Array]:
    """Of one run of one robot, by name."""
    if len(segments) != 1 or segments[0].q.ndim != 2:
        raise SimulationError("a table needs one run of one robot: take a segment, or one of the runs, with `of_run`")
    segment = segments[0]
    found = {"t": segment.t}
    for name in ("q", "v", "vdot", "tau"):
        labels = segment.names["q" if name == "q" else "v"]
        found |= {f"{name} {label}": x for label, x in zip(labels, getattr(segment, name).T, strict=True)}
    return found


def csv_bytes(segments: tuple[Segment, ...]) -> bytes:
    """As comma-separated values."""
    text = io.StringIO()
    writer = csv.writer(text)
    table = columns(segments)
    writer.writerow(table)
    writer.writerows(zip(*(x.tolist() for x in table.values()), strict=True))
    return text.getvalue().encode("utf-8")


def parquet_bytes(segments: tuple[Segment, ...]) -> bytes:
    """As Parquet."""
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise SimulationError("Parquet needs pyarrow: pip install modurob[parquet]") from None
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns(segments)), buffer)
    return buffer.getvalue()
