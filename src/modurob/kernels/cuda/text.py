"""The text of kernels: one that walks tables, for robots made of some types of joints, and one unrolled for a robot that stays."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from modurob.algorithms.program import Outward, Program
from modurob.kernels.compiler import prelude
from modurob.kernels.cuda.layout import EVERY, LOADS, PUTS, SAVES, TAKES_CARRIED, TAKES_SLOT, TIP, Laid
from modurob.kernels.cuda.lean import Area, fetched, inputs_of, lean_code, recomputed
from modurob.kernels.dyad import DyadType
from modurob.kernels.units import by_hand
from modurob.trace import number

# where the entries of a joint begin in an input or a result, by a column of its row
COLUMN = {"coordinates": "Q", "rates": "RATE", "poses": "12 * r[BODY]", "twists": "6 * r[BODY]", "bodies": "BODY"}


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
    own += [
        f"const real {name}_0, const real *__restrict__ in_{name}, const int step_{name}" for name in inputs_of(program)
    ]
    own += [f"real *__restrict__ out_{name}, const int out_step_{name}" for name in program.results]
    return ", ".join(own)


def steps(program: Program, kinds: Sequence[DyadType], fetches: bool = False) -> str:
    """The functions of types, numbered in their order."""
    texts = []
    for t, kind in enumerate(kinds):
        for k, body in enumerate(lean_code(kind, program, fetches)[0]):
            texts.append(f"INLINE void step_{t}_{k}({_parameters(program)})\n{{\n{body}\n}}\n")
    return "\n".join(texts)


class Scratch(NamedTuple):
    """Where the words of a state stand: some near, in memory that a block shares, the others far, in the memory of the device, or,
    unrolled, in registers."""

    near: int
    unrolled: bool = False
    fetches: bool = False  # whether inputs are brought there before the first pass

    def place(self, word: object) -> tuple[str, str]:
        """The address of a word, and the stride of those after it."""
        if self.unrolled and int(str(word)) >= self.near:
            return f"(kept + {int(str(word)) - self.near})", "1"
        return f"PLACE({word})", "STRIDE"

    @property
    def definition(self) -> str:
        """The macro that gives the address of a word."""
        near, far = "SHARED(real, scratch, (word) * STRIDE)", "(far + ((word) - near) * STRIDE)"
        mixed = f"((word) < near ? {near} : {far})"
        return f"#define PLACE(word) {near if self.unrolled or self.near >= EVERY else mixed if self.near else far}"

    def text(self, lines: Iterable[str], word: object) -> list[str]:
        """Lines with the address of a word filled in."""
        address, stride = self.place(word)
        return [line.format(at=address, stride=stride) for line in lines]


def _arguments(program: Program, scratch: Scratch, constants: str, row: Sequence[object] | None = None) -> str:
    """Of a call; a row of numbers, or one that is read from the table."""
    own, stride = scratch.place("r[OWN]" if row is None else row[4])
    where = [constants, own, stride, "P", "C", "status", "lost"]
    for name in inputs_of(program):
        begin = _entry("const real", f"in_{name}", _at(program.inputs[name], row), f"step_{name}")
        first = f"{name}_0" if row is None else f"INPUT({begin})"
        if scratch.fetches:
            first = f"{own}[{fetched(program)[name]} * {stride}]"
        where += [first, begin, f"step_{name}"]
    for name, kind in program.results.items():
        where += [_entry("real", f"out_{name}", _at(kind, row), f"out_step_{name}"), f"out_step_{name}"]
    return ", ".join(where)


def _entry(kind: str, array: str, k: str, step: str) -> str:
    """The address of an entry of a state."""
    return f"ENTRY({kind}, {array}, {k}, {step} * (int)sizeof(real))"


def _at(kind: object, row: Sequence[object] | None, rows: str = "r") -> str:
    column = COLUMN[str(kind)]
    if row is None:
        return f"{rows}[{column}]" if " " not in column else f"({column})"
    places = {"Q": row[1], "RATE": row[2], "BODY": row[3], "r[BODY]": row[3]}
    factor, _, name = column.rpartition(" * ")
    return f"({factor or 1} * {places[name]})"


def _loads(program: Program, k: int) -> list[str]:
    """The parent's fields, from where they were saved."""
    area = Area(program)
    return [f"P[{i}] = {{at}}[{i} * {{stride}}];" for i in _places(area, area.produced(k))]


def _places(area: Area, names: Iterable[str]) -> list[int]:
    from modurob.kernels.lowering import size

    return [area.shared[n] + i for n in names for i in range(size(area.program.shared[n]))]


def _saves(program: Program, k: int) -> list[tuple[int, list[str]]]:
    """For flags the words that a body with them saves: for children that do not follow at once, and where the way back begins."""
    area = Area(program)
    begins = [recomputed(program).from_] if not k and recomputed(program).from_ else []
    lines = [
        [f"{{at}}[{i} * {{stride}}] = P[{i}];" for i in _places(area, names)] for names in (begins, area.produced(k))
    ]
    return [(flag, text) for flag, text in zip((TIP, SAVES), lines, strict=True) if text]


def _begin_back(program: Program) -> list[str]:
    """At a body that carries nothing the way back begins."""
    area, name = Area(program), recomputed(program).from_
    return [f"P[{i}] = {{at}}[{i} * {{stride}}];" for i in _places(area, [name] if name else [])]


def _start(program: Program, scratch: Scratch) -> list[str]:
    """The registers of a state, and the world."""
    area = Area(program)
    n = area.width("shared")
    world = [f"P[{i}] = world[{i}]; {{at}}[{i} * {{stride}}] = world[{i}];" for i in range(n)]
    return [f"real P[{max(1, n)}], C[SENT], status = 0, lost = 0;", *scratch.text(world, 0), "(void)C;"]


def _pointers(program: Program) -> list[str]:
    lines = []
    for k, name in enumerate(arrays_of(program)):
        out = name in program.results and name not in inputs_of(program)
        step, pointer = (
            (f"out_step_{name}", f"real *const out_{name}") if out else (f"step_{name}", f"const real *const in_{name}")
        )
        lines += [
            f"const int {step} = (int)own->arrays[{3 * k + 2}];",
            f"{pointer} = ({'real' if out else 'const real'} *)own->arrays[{3 * k}] + state * own->arrays[{3 * k + 1}];",
        ]
    return lines


def _loop(program: Program, k: int, types: int, scratch: Scratch) -> list[str]:
    """A pass over the rows. The row and the inputs of the next joint are asked for before they are needed."""
    outward = isinstance(program.passes[k], Outward)
    first, after = ("0", "i + 1 < n ? i + 1 : i") if outward else ("n - 1", "i > 0 ? i - 1 : 0")
    asked = (
        []
        if scratch.fetches
        else [
            (
                name,
                f"INPUT({_entry('const real', f'in_{name}', _at(program.inputs[name], None, '{row}'), f'step_{name}')})",
            )
            for name in inputs_of(program)
        ]
    )
    lines = ["{", f"int r[ROW], next[ROW]; read_row(SHARED(const int, rows, ROW * ({first})), r);"]
    lines += [f"real {name}_0 = {text.format(row='r')};" for name, text in asked]
    if outward and k:
        lines += [f"P[{i}] = world[{i}];" for i in range(Area(program).width("shared"))]
    lines.append("for (int i = 0; i < n; ++i) {" if outward else "for (int i = n - 1; i >= 0; --i) {")
    lines.append(f"read_row(SHARED(const int, rows, ROW * ({after})), next);")
    lines += [f"const real {name}_1 = {text.format(row='next')};" for name, text in asked]
    lines += _before(program, k, scratch) if outward else _before_inward(program, scratch)
    arguments = _arguments(program, scratch, "SHARED(const real, constants, r[CONSTANTS])")
    lines.append("switch (r[TYPE]) {")
    lines += [f"case {t}: step_{t}_{k}({arguments}); break;" for t in range(types)]
    lines.append("}")
    lines += _after(program, k, scratch) if outward else scratch.text(["put(r[FLAGS], {at}, {stride}, C);"], "r[PUT]")
    lines += [f"{name}_0 = {name}_1;" for name, _ in asked]
    return [*lines, "for (int k = 0; k < ROW; ++k) { r[k] = next[k]; }", "}", "}"]


def _before(program: Program, k: int, scratch: Scratch) -> list[str]:
    loads = scratch.text(_loads(program, k), "r[PARENT]")
    return [f"if (r[FLAGS] & {LOADS}) {{ SELDOM; {' '.join(loads)} }}"]


def _before_inward(program: Program, scratch: Scratch) -> list[str]:
    begins = scratch.text(_begin_back(program), "r[SAVED]")
    return [
        *scratch.text(["take(r[FLAGS], {at}, {stride}, C);"], "r[TAKE]"),
        *([f"if (r[FLAGS] & {TIP}) {{ SELDOM; {' '.join(begins)} }}"] if begins else []),
    ]


def _after(program: Program, k: int, scratch: Scratch) -> list[str]:
    return [
        f"if (r[FLAGS] & {flag}) {{ SELDOM; {' '.join(scratch.text(text, 'r[SAVED]'))} }}"
        for flag, text in _saves(program, k)
    ]


def _fetch(program: Program, scratch: Scratch) -> list[str]:
    """Before the first pass: the inputs of four joints at a time are on their way before any is put down."""
    own, stride = scratch.place("to[j]")
    asked, put = [], []
    for k, (name, word) in enumerate(fetched(program).items()):
        entry = _entry("const real", f"in_{name}", _at(program.inputs[name], None), f"step_{name}")
        asked.append(f"x[j][{k}] = INPUT({entry});")
        put.append(f"{own}[{word} * {stride}] = x[j][{k}];")
    four = "FOUR_AT_ONCE for (int j = 0; j < 4; ++j) {"
    return [
        "for (int i = 0; i < n; i += 4) {",
        f"real x[4][{len(put)}]; int to[4];",
        four,
        "const int *const r = SHARED(const int, rows, ROW * (i + j < n ? i + j : n - 1));",
        "to[j] = r[OWN];",
        *asked,
        "}",
        four,
        *put,
        "}",
        "}",
    ]


END = "own->status[state] = lost == 0 ? status : (real)-2;"


def walking(
    program: Program,
    kinds: Sequence[DyadType],
    single: bool,
    threads: int,
    near: int,
    blocks: int = 1,
    fetches: bool = False,
) -> str:
    """The kernel that walks tables: each block takes some states of one robot at a time.

    Its scratch is in shared memory (`near` EVERY), in `work` (0), or as each robot says in both.
    """
    scratch = Scratch(near, fetches=fetches)
    passes = [line for k in range(len(program.passes)) for line in _loop(program, k, len(kinds), scratch)]
    lines = [
        scratch.definition,
        f'extern "C" __global__ void __launch_bounds__({threads}, {blocks})',
        "walk(const robot *robots, const int *tasks, int count, int words, real *work)",
        "{",
        "extern __shared__ real memory[];",
        "const place scratch = place_of(memory + threadIdx.x);",
        "real *const far = work + (long long)blockIdx.x * words * STRIDE + threadIdx.x;",
        "(void)scratch, (void)far;",
        "int last = -1;",
        "for (int task = blockIdx.x; task < count; task += gridDim.x) {",
        "const robot *const own = robots + tasks[2 * task];",
        "const int n = (int)own->joints, numbers = (int)own->numbers, near = (int)own->near;",
        "const place constants = place_of(memory + near * STRIDE), rows = place_of(memory + near * STRIDE + numbers);",
        "if (tasks[2 * task] != last) {",
        "__syncthreads();",
        "for (int i = threadIdx.x; i < numbers; i += blockDim.x) { *SHARED(real, constants, i) = own->constants[i]; }",
        "for (int i = threadIdx.x; i < ROW * n; i += blockDim.x) { *SHARED(int, rows, i) = own->rows[i]; }",
        "last = tasks[2 * task];",
        "__syncthreads();",
        "}",
        "const real *const world = SHARED(const real, constants, 0);",
        "const long long state = (long long)tasks[2 * task + 1] * STRIDE + threadIdx.x;",
        "if (state < own->states) {",
        *_pointers(program),
        *_start(program, scratch),
        *(_fetch(program, scratch) if scratch.fetches else ()),
        *passes,
        END,
        "}",
        "}",
        "}",
    ]
    return "\n".join([head(program, single, threads), steps(program, kinds, scratch.fetches), *lines, ""])


def unrolled(program: Program, laid: Laid, single: bool, threads: int, blocks: int = 1) -> str:
    """The kernel of one robot: its constants are in the code, and what it keeps is in registers, but for what is near."""
    kinds, scratch = list(dict.fromkeys(laid.kinds)), Scratch(laid.near, unrolled=True)
    lines = [
        scratch.definition,
        f'extern "C" __global__ void __launch_bounds__({threads}, {blocks})',
        "walk(const robot *robots, const int *tasks, int count, int words, real *work)",
        "{",
        "const robot *const own = robots;",
        "(void)tasks, (void)count, (void)words, (void)work;",
        "const long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
        "if (state >= own->states) { return; }",
        "extern __shared__ real memory[]; const place scratch = place_of(memory + threadIdx.x); (void)scratch;",
        f"real kept[{max(1, laid.words - laid.near)}]; (void)kept;",
        f"const real world[] = {_numbers(laid.world)};",
        *_pointers(program),
        *_start(program, scratch),
    ]
    for k, walk in enumerate(program.passes):
        outward = isinstance(walk, Outward)
        if outward and k:
            lines += [f"P[{i}] = world[{i}];" for i in range(Area(program).width("shared"))]
        joints = range(len(laid.kinds)) if outward else reversed(range(len(laid.kinds)))
        for i in joints:
            lines += _joint(program, laid, k, i, kinds.index(laid.kinds[i]), scratch)
    first = head(program, single, threads)
    return "\n".join(["#define UNROLLED", first, steps(program, kinds), *lines, END, "}", ""])


def _joint(program: Program, laid: Laid, k: int, i: int, kind: int, scratch: Scratch) -> list[str]:
    """A step of one joint, unrolled."""
    row, outward = laid.rows[i].tolist(), isinstance(program.passes[k], Outward)
    flags = row[6]
    lines = ["{", f"const real c[] = {_numbers(laid.constants[i])};"]
    if outward and flags & LOADS:
        lines += scratch.text(_loads(program, k), row[5])
    if not outward and flags & TIP:
        lines += scratch.text(_begin_back(program), row[10])
    if not outward and (flags & TAKES_SLOT or not flags & TAKES_CARRIED):
        lines += scratch.text([f"take({flags}, {{at}}, {{stride}}, C);"], row[7])
    lines.append(f"step_{kind}_{k}({_arguments(program, scratch, 'c', row)});")
    if outward:
        lines += [line for flag, texts in _saves(program, k) if flags & flag for line in scratch.text(texts, row[10])]
    elif flags & PUTS:
        lines += scratch.text([f"put({flags}, {{at}}, {{stride}}, C);"], row[8])
    return [*lines, "}"]


def _numbers(values: Iterable[float]) -> str:
    texts = [f"V({number(float(x))})" for x in values]
    return "{" + ", ".join(texts or ["V(0)"]) + "}"
