"""The text that kernels for GPUs are made of: the steps of types, and what a step reads and leaves."""

import re
from collections.abc import Sequence

from modurob.algorithms.program import Program
from modurob.kernels.compiler import prelude
from modurob.kernels.cuda.layout import BODY, RATE, SAVES, TIP, Q
from modurob.kernels.cuda.lean import Area, holding, inputs_of, lean_code, recomputed
from modurob.kernels.dyad import DyadType
from modurob.kernels.units import by_hand

# where the entries of a joint begin in an input or a result, by a column of its row
COLUMN = {"coordinates": "Q", "rates": "RATE", "poses": "12 * row[BODY]", "twists": "6 * row[BODY]", "bodies": "BODY"}


def arrays_of(program: Program) -> list[str]:
    """Inputs, then results."""
    return [*inputs_of(program), *program.results]


def head(program: Program, single: bool, stride: int) -> str:
    """Definitions, and the file of C by hand."""
    area = Area(program)
    given = {
        "LANES": 1,
        "CELLS": "",
        "ARRAYS": len(arrays_of(program)),
        "SENT": max(1, area.width("sent")),
        "STRIDE": stride,
    }
    defines = [f"#define {name} {value}" for name, value in given.items()]
    return "\n".join([*(["#define SINGLE"] if single else []), *defines, prelude(), by_hand("cuda.h")])


def _parameters(program: Program) -> str:
    own = ["const real *c", "real *own", "const int stride", "real *P", "real *C", "real &status", "real &lost"]
    own += ["const real *head", "const real cosine", "const real sine", "const real *held"]
    own += [
        f"const real {name}_0, const real *__restrict__ in_{name}, const int step_{name}" for name in inputs_of(program)
    ]
    own += [f"real *__restrict__ out_{name}, const int out_step_{name}" for name in program.results]
    return ", ".join(own)


def steps(
    program: Program, kinds: Sequence[DyadType], fetches: bool = False, waves: bool = True, held: bool = False
) -> tuple[str, list[list[str]]]:
    """The functions of types, and their names by pass and type; what is the same in several types is one function.

    Where a body's words are `held`, the last pass reads them from registers.
    """
    texts, names = [], []
    for k in range(len(program.passes)):
        bodies = [lean_code(kind, program, fetches, waves)[0][k] for kind in kinds]
        if held and k == holding(program):
            bodies = [re.sub(r"own\[(\d+) \* stride\]", r"held[\1]", body) for body in bodies]
        first = [bodies.index(body) for body in bodies]
        texts += [
            f"INLINE void step_{t}_{k}({_parameters(program)})\n{{\n{bodies[t]}\n}}\n" for t in sorted(set(first))
        ]
        names.append([f"step_{t}_{k}" for t in first])
    return "\n".join(texts), names


def wave(waved: bool) -> str:
    """Cosine and sine of the joint's angle, if they are wanted."""
    if not waved:
        return "const real sine = 0, cosine = 0; (void)sine, (void)cosine;"
    return "real sine, cosine; sine_cosine(head[0] + head[1] * q_0, &sine, &cosine);"


def column(kind: object) -> str:
    """Where the entries of a joint begin in an array of a kind, by its row."""
    text = COLUMN[str(kind)]
    return text if " " in text else f"row[{text}]"


def first_entry(kind: object, row: Sequence[int]) -> int:
    """Where they begin, of a given row."""
    factor, _, name = COLUMN[str(kind)].rpartition(" * ")
    return int(factor or 1) * row[{"Q": Q, "RATE": RATE, "BODY": BODY, "row[BODY]": BODY}[name]]


def kind_of(program: Program, name: str) -> object:
    """Of an array."""
    return program.results[name] if name in program.results else program.inputs[name]


# ---- lines that read from {at} or write there ----


def loads(program: Program, k: int) -> list[str]:
    """The parent's fields, from where they were saved."""
    area = Area(program)
    return [f"P[{i}] = {{at}}[{i} * {{stride}}]{{nothing}};" for i in area.places(area.produced(k))]


def saves(program: Program, k: int) -> list[tuple[int, list[str]]]:
    """For flags the words that a body with them saves: for children that do not follow at once, and where the way back begins."""
    area = Area(program)
    begins = [recomputed(program).from_] if not k and recomputed(program).from_ else []
    lines = [
        [f"{{at}}[{i} * {{stride}}] = P[{i}];" for i in area.places(names)] for names in (begins, area.produced(k))
    ]
    if lines[0] == lines[1]:
        return [(TIP | SAVES, lines[0])] if lines[0] else []
    return [(flag, text) for flag, text in zip((TIP, SAVES), lines, strict=True) if text]


def begin_back(program: Program) -> list[str]:
    """At a body that carries nothing the way back begins."""
    area, name = Area(program), recomputed(program).from_
    return [f"P[{i}] = {{at}}[{i} * {{stride}}]{{nothing}};" for i in area.places([name] if name else [])]


# ---- registers of a state ----


def start(program: Program) -> list[str]:
    """All of them."""
    n = Area(program).width("shared")
    return [f"real P[{max(1, n)}], C[SENT], status = 0, lost = 0;", *at_world(program), "(void)C;"]


def at_world(program: Program) -> list[str]:
    """The fields of the world."""
    return [f"P[{i}] = world[{i}];" for i in range(Area(program).width("shared"))]


def strides(program: Program) -> list[str]:
    """Entries of arrays are so many numbers apart."""
    names = {name: f"{'out_' if name in program.results else ''}step_{name}" for name in arrays_of(program)}
    return [f"const int {step} = (int)own->arrays[{3 * k + 2}]; (void){step};" for k, step in enumerate(names.values())]


def arguments(program: Program, constants: str, own: str, stride: str, entries: dict[str, str]) -> str:
    """Of a call of a step; entries are the addresses of the joint's first entries in arrays."""
    given = [constants, own, stride, "P", "C", "status", "lost", "head", "cosine", "sine", "held"]
    for name in arrays_of(program):
        first = [] if name in program.results else [f"{name}_0"]
        given += [*first, entries[name], f"{'out_' if name in program.results else ''}step_{name}"]
    return ", ".join(given)
