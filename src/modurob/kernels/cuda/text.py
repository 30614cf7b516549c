"""The text of kernels: one that walks tables, for robots made of some types of joints, and one unrolled for a robot that stays."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from modurob.algorithms.program import Outward, Program
from modurob.kernels.compiler import prelude
from modurob.kernels.cuda.layout import (
    BODY,
    EVERY,
    FLAGS,
    LOADS,
    OWN,
    PARENT,
    PUT,
    PUTS,
    RATE,
    SAVED,
    SAVES,
    STARTS,
    TAKE,
    TAKES_CARRIED,
    TAKES_SLOT,
    TIP,
    Laid,
    Q,
)
from modurob.kernels.cuda.lean import Area, fetched, inputs_of, lean_code, recomputed
from modurob.kernels.dyad import DyadType
from modurob.kernels.units import by_hand
from modurob.trace import number

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
    own += [
        f"const real {name}_0, const real *__restrict__ in_{name}, const int step_{name}" for name in inputs_of(program)
    ]
    own += [f"real *__restrict__ out_{name}, const int out_step_{name}" for name in program.results]
    return ", ".join(own)


def steps(
    program: Program, kinds: Sequence[DyadType], fetches: bool = False, waves: bool = True
) -> tuple[str, list[list[str]]]:
    """The functions of types, and their names by pass and type; what is the same in several types is one function."""
    texts, names = [], []
    for k in range(len(program.passes)):
        bodies = [lean_code(kind, program, fetches, waves)[0][k] for kind in kinds]
        first = [bodies.index(body) for body in bodies]
        texts += [
            f"INLINE void step_{t}_{k}({_parameters(program)})\n{{\n{bodies[t]}\n}}\n" for t in sorted(set(first))
        ]
        names.append([f"step_{t}_{k}" for t in first])
    return "\n".join(texts), names


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
    def definitions(self) -> str:
        """Macros: the address of a word; where a word stands, to be worked out once, and the address of that."""
        near, far = "SHARED(real, scratch, (word) * STRIDE)", "(far + ((word) - near) * STRIDE)"
        mixed = f"((word) < near ? {near} : {far})"
        every = self.unrolled or self.near >= EVERY
        found = (
            ("place", f"place_of({near})", "SHARED(real, where, 0)") if every else ("real *", "PLACE(word)", "(where)")
        )
        return "\n".join(
            [
                f"#define PLACE(word) {near if every else mixed if self.near else far}",
                f"typedef {found[0]} found;",
                f"#define FOUND(word) {found[1]}",
                f"#define ADDRESS(where) {found[2]}",
            ]
        )

    def text(self, lines: Iterable[str], word: object) -> list[str]:
        """Lines with the address of a word filled in."""
        address, stride = self.place(word)
        return [line.format(at=address, stride=stride) for line in lines]


def _arguments(program: Program, scratch: Scratch, constants: str, row: Sequence[object] | None = None) -> str:
    """Of a call; a row of numbers, or one that is read from the table."""
    own, stride = ("ADDRESS(body)", "STRIDE") if row is None else scratch.place(row[OWN])
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


def _at(kind: object, row: Sequence[object] | None, rows: str = "row") -> str:
    column = COLUMN[str(kind)]
    if row is None:
        return f"{rows}[{column}]" if " " not in column else f"({column})"
    places = {"Q": row[Q], "RATE": row[RATE], "BODY": row[BODY], "row[BODY]": row[BODY]}
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
    if lines[0] == lines[1]:
        return [(TIP | SAVES, lines[0])] if lines[0] else []
    return [(flag, text) for flag, text in zip((TIP, SAVES), lines, strict=True) if text]


def _begin_back(program: Program) -> list[str]:
    """At a body that carries nothing the way back begins."""
    area, name = Area(program), recomputed(program).from_
    return [f"P[{i}] = {{at}}[{i} * {{stride}}];" for i in _places(area, [name] if name else [])]


def _start(program: Program) -> list[str]:
    """The registers of a state."""
    n = Area(program).width("shared")
    return [f"real P[{max(1, n)}], C[SENT], status = 0, lost = 0;", *_world(program), "(void)C;"]


def _world(program: Program) -> list[str]:
    return [f"P[{i}] = world[{i}];" for i in range(Area(program).width("shared"))]


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


def _loop(program: Program, k: int, names: Sequence[str], scratch: Scratch, in_step: bool) -> list[str]:
    """A pass over the rows. The row and the inputs of the next joint are asked for before they are needed.

    Inward, where steps are longest, the threads of a block wait for each other before each joint if they are to stay in step.
    """
    outward = isinstance(program.passes[k], Outward)
    first, end, by = ("rows", "LATER(rows, n)", 1) if outward else ("LATER(rows, n - 1)", "LATER(rows, -1)", -1)
    inputs = [] if scratch.fetches else inputs_of(program)
    asked = {
        name: f"INPUT({_entry('const real', f'in_{name}', _at(program.inputs[name], None), f'step_{name}')})"
        for name in inputs
    }
    lines = ["{", f"place at = {first}; const place end = {end};", "const int *row = SHARED(const int, at, 0);"]
    lines += ["int r[4]; read_row(row, r);", *(f"real {name}_1 = {text};" for name, text in asked.items())]
    lines += _world(program) if outward and k else []
    lines += [
        "do {",
        "const int type = r[TYPE], flags = r[FLAGS]; (void)type;",
        "const found body = FOUND(r[OWN]); const place numbers = place_of(SHARED(const real, constants, r[CONSTANTS]));",
        f"row = SHARED(const int, LATER(at, {by}), 0); read_row(row, r);",
        *(f"const real {name}_0 = {name}_1; {name}_1 = {text};" for name, text in asked.items()),
        "row = SHARED(const int, at, 0);",
        *(_before(program, k, scratch) if outward else _before_inward(program, scratch)),
        *(["__syncthreads();"] if in_step and not outward else []),
        *_switch(names, _arguments(program, scratch, "SHARED(const real, numbers, 0)")),
        *(_after(program, k, scratch) if outward else scratch.text(["put(flags, {at}, {stride}, C);"], "row[PUT]")),
        f"at = LATER(at, {by});",
        "} while (at != end);",
    ]
    return [*lines, "}"]


def _switch(names: Sequence[str], arguments: str) -> list[str]:
    """The step of a joint by its type."""
    if len(set(names)) == 1:
        return [f"{names[0]}({arguments});"]
    cases = [
        " ".join(f"case {t}:" for t, other in enumerate(names) if other == name) + f" {name}({arguments}); break;"
        for name in dict.fromkeys(names)
    ]
    return ["switch (type) {", *cases, "default: __builtin_unreachable();", "}"]


def _before(program: Program, k: int, scratch: Scratch) -> list[str]:
    loads = scratch.text(_loads(program, k), "row[PARENT]")
    return [
        f"if (flags & {LOADS}) {{ SELDOM;",
        f"if (flags & {STARTS}) {{ {' '.join(_world(program))} }} else {{ {' '.join(loads)} }}",
        "}",
    ]


def _before_inward(program: Program, scratch: Scratch) -> list[str]:
    begins = scratch.text(_begin_back(program), "row[SAVED]")
    return [
        *scratch.text(["take(flags, {at}, {stride}, C);"], "row[TAKE]"),
        *([f"if (flags & {TIP}) {{ SELDOM; {' '.join(begins)} }}"] if begins else []),
    ]


def _after(program: Program, k: int, scratch: Scratch) -> list[str]:
    return [
        f"if (flags & {flag}) {{ SELDOM; {' '.join(scratch.text(text, 'row[SAVED]'))} }}"
        for flag, text in _saves(program, k)
    ]


def _fetch(program: Program, scratch: Scratch) -> list[str]:
    """Before the first pass: the inputs of some joints are on their way before any is put down."""
    own, stride = scratch.place("to[j]")
    asked, put = [], []
    for k, (name, word) in enumerate(fetched(program).items()):
        entry = _entry("const real", f"in_{name}", _at(program.inputs[name], None), f"step_{name}")
        asked.append(f"x[j][{k}] = INPUT({entry});")
        put.append(f"{own}[{word} * {stride}] = x[j][{k}];")
    each = "AT_ONCE for (int j = 0; j < ROWS_AT_ONCE; ++j) {"
    return [
        "for (place at = rows; at < LATER(rows, n); at = LATER(at, ROWS_AT_ONCE)) {",
        f"real x[ROWS_AT_ONCE][{len(put)}]; int to[ROWS_AT_ONCE];",
        each,
        "int row[8]; read_row(SHARED(const int, LATER(at, j), Q), row + Q);",
        "to[j] = row[ITS_OWN];",
        *asked,
        "}",
        each,
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
    waves: bool = True,
    in_step: bool = False,
) -> str:
    """The kernel that walks tables: each block takes some states of one robot at a time.

    Its scratch is in shared memory (`near` EVERY), in `work` (0), or as each robot says in both. Threads that are left over repeat
    the last state: where all threads go the same way, what is the same for them is kept once, in registers that they share.
    """
    scratch = Scratch(near, fetches=fetches)
    functions, names = steps(program, kinds, scratch.fetches, waves)
    passes = [line for k, own in enumerate(names) for line in _loop(program, k, own, scratch, in_step)]
    lines = [
        scratch.definitions,
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
        "const place constants = place_of(memory + near * STRIDE), table = place_of(memory + near * STRIDE + numbers);",
        "const place rows = place_of(SHARED(int, table, ROW));",
        "if (tasks[2 * task] != last) {",
        "__syncthreads();",
        "for (int i = threadIdx.x; i < numbers; i += blockDim.x) { *SHARED(real, constants, i) = own->constants[i]; }",
        "const int all = ROW * (1 + ROWS_AT_ONCE * (n / ROWS_AT_ONCE + 1));",
        "for (int i = threadIdx.x; i < all; i += blockDim.x) { *SHARED(int, table, i) = own->rows[i]; }",
        "last = tasks[2 * task];",
        "__syncthreads();",
        "}",
        "const real *const world = SHARED(const real, constants, 0);",
        "const long long state = least((long long)tasks[2 * task + 1] * STRIDE + threadIdx.x, own->states - 1);",
        *_pointers(program),
        *_start(program),
        *(_fetch(program, scratch) if scratch.fetches else ()),
        *passes,
        END,
        "}",
        "}",
    ]
    return "\n".join([head(program, single, threads), functions, *lines, ""])


def unrolled(program: Program, laid: Laid, single: bool, threads: int, blocks: int = 1) -> str:
    """The kernel of one robot: its constants are in the code, and what it keeps is in registers, but for what is near."""
    kinds, scratch = list(dict.fromkeys(laid.kinds)), Scratch(laid.near, unrolled=True)
    functions, names = steps(program, kinds)
    lines = [
        scratch.definitions,
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
        *_start(program),
    ]
    for k, walk in enumerate(program.passes):
        outward = isinstance(walk, Outward)
        if outward and k:
            lines += _world(program)
        joints = range(len(laid.kinds)) if outward else reversed(range(len(laid.kinds)))
        for i in joints:
            lines += _joint(program, laid, k, i, names[k][kinds.index(laid.kinds[i])], scratch)
    first = head(program, single, threads)
    return "\n".join(["#define UNROLLED", first, functions, *lines, END, "}", ""])


def _joint(program: Program, laid: Laid, k: int, i: int, name: str, scratch: Scratch) -> list[str]:
    """A step of one joint, unrolled."""
    row, outward = laid.rows[i].tolist(), isinstance(program.passes[k], Outward)
    flags = row[FLAGS]
    lines = ["{", f"const real c[] = {_numbers(laid.constants[i])};"]
    if outward and flags & LOADS:
        lines += _world(program) if flags & STARTS else scratch.text(_loads(program, k), row[PARENT])
    if not outward and flags & TIP:
        lines += scratch.text(_begin_back(program), row[SAVED])
    if not outward and (flags & TAKES_SLOT or not flags & TAKES_CARRIED):
        lines += scratch.text([f"take({flags}, {{at}}, {{stride}}, C);"], row[TAKE])
    lines.append(f"{name}({_arguments(program, scratch, 'c', row)});")
    if outward:
        lines += [
            line for flag, texts in _saves(program, k) if flags & flag for line in scratch.text(texts, row[SAVED])
        ]
    elif flags & PUTS:
        lines += scratch.text([f"put({flags}, {{at}}, {{stride}}, C);"], row[PUT])
    return [*lines, "}"]


def _numbers(values: Iterable[float]) -> str:
    texts = [f"V({number(float(x))})" for x in values]
    return "{" + ", ".join(texts or ["V(0)"]) + "}"
