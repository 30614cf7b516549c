"""The kernel of one robot that stays, all loops unrolled."""

from collections.abc import Iterable
from typing import NamedTuple

from modurob.algorithms.program import Outward, Program
from modurob.kernels.cuda.layout import (
    FLAGS,
    LOADS,
    OWN,
    PARENT,
    PUT,
    PUTS,
    SAVED,
    STARTS,
    TAKE,
    TAKES_CARRIED,
    TAKES_SLOT,
    TIP,
    Laid,
)
from modurob.kernels.cuda.lean import inputs_of, lean_code, waved
from modurob.kernels.cuda.text import (
    arguments,
    arrays_of,
    at_world,
    begin_back,
    first_entry,
    head,
    kind_of,
    loads,
    saves,
    start,
    steps,
    strides,
    wave,
)
from modurob.trace import number


class Kept(NamedTuple):
    """Where the words of a state stand: some near, in memory that a block shares, the others in registers."""

    near: int

    def place(self, word: int) -> tuple[str, str]:
        """The address of a word, and the stride of those after it."""
        return (f"(kept + {word - self.near})", "1") if word >= self.near else (f"PLACE({word})", "STRIDE")

    def text(self, lines: Iterable[str], word: int) -> list[str]:
        """Lines that read or write at a word."""
        address, stride = self.place(word)
        return [line.format(at=address, stride=stride, nothing="") for line in lines]


def unrolled(program: Program, laid: Laid, single: bool, threads: int, blocks: int = 1) -> str:
    """The kernel: its constants are in the code, and what it keeps is in registers, but for what is near."""
    kinds, kept = list(dict.fromkeys(laid.kinds)), Kept(laid.near)
    functions, names = steps(program, kinds)
    lines = [
        "#define PLACE(word) SHARED(real, scratch, (word) * STRIDE)",
        f'extern "C" __global__ void __launch_bounds__({threads}, {blocks})',
        "walk(const robot *robots, int *tasks, int count, int words, real *work)",
        "{",
        "const robot *const own = robots;",
        "(void)tasks, (void)count, (void)words, (void)work;",
        "const long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
        "if (state >= own->states) { return; }",
        "extern __shared__ real memory[]; const place scratch = place_of(memory + threadIdx.x); (void)scratch;",
        f"real kept[{max(1, laid.words - laid.near)}]; (void)kept;",
        f"const real world[] = {_numbers(laid.world)};",
        *strides(program),
        *_pointers(program),
        *start(program),
    ]
    for k, walk in enumerate(program.passes):
        outward = isinstance(walk, Outward)
        if outward and k:
            lines += at_world(program)
        joints = range(len(laid.kinds)) if outward else reversed(range(len(laid.kinds)))
        for i in joints:
            lines += _joint(program, laid, k, i, names[k][kinds.index(laid.kinds[i])], kept)
    end = "own->status[state] = lost == 0 ? status : (real)-2;"
    return "\n".join(["#define UNROLLED", head(program, single, threads), functions, *lines, end, "}", ""])


def _pointers(program: Program) -> list[str]:
    """Where the arrays of a state begin."""
    return [
        f"const char *const at_{name} = (const char *)((const real *)own->arrays[{3 * k}] + state * own->arrays[{3 * k + 1}]);"
        for k, name in enumerate(arrays_of(program))
    ]


def _entry(program: Program, name: str, row: list[int]) -> str:
    """The address of the first entry of a joint in an array."""
    kind, step = ("real", f"out_step_{name}") if name in program.results else ("const real", f"step_{name}")
    k = first_entry(kind_of(program, name), row)
    return f"(({kind} *)(at_{name} + (long long){k} * ({step} * (int)sizeof(real))))"


def _joint(program: Program, laid: Laid, k: int, i: int, name: str, kept: Kept) -> list[str]:
    """A step of one joint."""
    row, outward = laid.rows[i].tolist(), isinstance(program.passes[k], Outward)
    flags, entries = row[FLAGS], {x: _entry(program, x, row) for x in arrays_of(program)}
    lines = ["{", f"const real c[] = {_numbers(laid.constants[i])};", "const real *const head = c, *const held = 0;"]
    lines += [f"const real {x}_0 = INPUT({entries[x]}); (void){x}_0;" for x in inputs_of(program)]
    lines += ["(void)held;", wave(waved(lean_code(laid.kinds[i], program)[0][k]))]
    if outward and flags & LOADS:
        lines += at_world(program) if flags & STARTS else kept.text(loads(program, k), row[PARENT])
    if not outward and flags & TIP:
        lines += kept.text(begin_back(program), row[SAVED])
    if not outward and not flags & TAKES_CARRIED:
        lines.append("clear(C);")
    if not outward and flags & TAKES_SLOT:
        lines += kept.text(["take({at}, {stride}, C);"], row[TAKE])
    lines.append(f"{name}({arguments(program, 'c', *kept.place(row[OWN]), entries)});")
    if outward:
        lines += [line for flag, texts in saves(program, k) if flags & flag for line in kept.text(texts, row[SAVED])]
    elif flags & PUTS:
        lines += kept.text([f"put({flags}, {{at}}, {{stride}}, C);"], row[PUT])
    return [*lines, "}"]


def _numbers(values: Iterable[float]) -> str:
    texts = [f"V({number(float(x))})" for x in values]
    return "{" + ", ".join(texts or ["V(0)"]) + "}"
