"""Assembly incidence matrices, lists and grids as text, each mutation read in every one of these ways."""

from functools import cache
from random import Random

import modurob as mr
from fuzz.mutation import mutated_text
from fuzz.targets.assembly import use
from fuzz.targets.files import encoded
from modurob.assembly.matrix_text import VIEWS, read
from modurob.errors import ModurobError


@cache
def texts() -> list[str]:
    """Valid texts of all kinds."""
    crab = mr.load("crab")
    views = [crab.matrix_text(view) for view in VIEWS]
    arm = ["1 L; 6 L; R", "3 0\n4 2\n0 5", "[[3, 0], [4, 2], [0, 5]]", "3@90 B\n4 S", "7X 0\n7 3\n0 4"]
    return [*views, *arm, "0 1 3 4; 1 2 2 5@90", "B S90\nS . \n", "7(0 0 0 0.6 0 0.8)\n7", "B S B\nS . S\nB S B"]


def inputs() -> list[bytes]:
    return [text.encode() for text in texts()]


def mutated(rng: Random) -> bytes:
    return encoded(mutated_text(rng, rng.choice(texts()), texts()))


def run(data: bytes) -> None:
    text = data.decode("utf-8", "surrogatepass")
    ways = [
        lambda: use(mr.Assembly.from_aim(text, types="backbone")),
        lambda: use(mr.Assembly.from_aim(text)),
        lambda: use(mr.Assembly.from_direct_transformations(text, types="scout")),
        lambda: use(mr.Assembly.from_grid(text)),
        *(lambda view=view: read(text, view) for view in VIEWS),
    ]
    refused = []
    for way in ways:
        try:
            way()
        except ModurobError as error:
            refused.append(error)
    if len(refused) == len(ways):
        raise refused[0]
