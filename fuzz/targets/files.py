"""What targets share that read a file."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random

from fuzz.mutation import mutated_data, mutated_text

# in memory where the system offers it
_PLACE = "/dev/shm" if os.path.isdir("/dev/shm") else None
_numbers = count()


@contextmanager
def file_of(data: bytes, suffix: str) -> Iterator[Path]:
    """A file with these bytes, gone at the end."""
    with tempfile.TemporaryDirectory(dir=_PLACE) as folder:
        # other names each time: readers may remember what was in a file
        path = Path(folder) / f"input{next(_numbers)}{suffix}"
        path.write_bytes(data)
        yield path


def mutated_yaml(rng: Random, texts: list[str], contents: list[dict]) -> bytes:
    """A mutation of one of the texts, or of what is in it, written as JSON, which is YAML too."""
    if rng.random() < 0.5:
        return encoded(mutated_text(rng, rng.choice(texts), texts))
    return encoded(json.dumps(mutated_data(rng, rng.choice(contents))))


def encoded(text: str) -> bytes:
    """A text as bytes, also where it is none that UTF-8 can hold."""
    return text.encode("utf-8", "surrogatepass")
