"""The kernel that walks tables, for robots made of some types of joints."""

from collections.abc import Iterable, Sequence

from modurob.algorithms.program import Outward, Program
from modurob.kernels.cuda.layout import LOADS, PUTS, STARTS, TAKES_CARRIED, TAKES_SLOT, TIP
from modurob.kernels.cuda.lean import Area, fetched, holding, inputs_of, lean_code, reads, recomputed, waved
from modurob.kernels.cuda.scratch import EVERY
from modurob.kernels.cuda.text import (
    arguments,
    arrays_of,
    at_world,
    begin_back,
    column,
    head,
    kind_of,
    loads,
    saves,
    start,
    steps,
    strides,
    wave,
)
from modurob.kernels.dyad import DyadType

# words of a body that the last pass has in registers a joint ahead, at most
MOST_HELD = 8
# rows whose inputs are asked for before the first pass needs them
AHEAD = 4


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
    """The kernel: each block takes some states of one robot at a time, and then the next that no block has begun.

    Its scratch is in shared memory (`near` EVERY), in `work` (0), or as each robot says in both. Threads that are left over repeat
    the last state: where all threads go the same way, what is the same for them is kept once, in registers that they share.
    """
    codes = [lean_code(kind, program, fetches, waves) for kind in kinds]
    most = max(code.size for _, code in codes)
    held = most if near < EVERY and most <= MOST_HELD else 0
    functions, names = steps(program, kinds, fetches, waves, bool(held))
    passes = [
        line
        for k, own in enumerate(names)
        for line in _loop(
            program,
            k,
            own,
            any(waved(bodies[k]) for bodies, _ in codes),
            held if k == holding(program) else 0,
            [] if k or fetches else [x for x in inputs_of(program) if any(reads(bodies[0], x) for bodies, _ in codes)],
            fetches,
            in_step,
        )
    ]
    lines = [
        *_places(near),
        *_hold(held),
        f'extern "C" __global__ void __launch_bounds__({threads}, {blocks})',
        "walk(const robot *robots, int *tasks, int count, int words, real *work)",
        "{",
        "extern __shared__ real memory[];",
        "const place ticket = place_of((port *)memory + ARRAYS);",
        "real *const after_ports = memory + (ARRAYS + 1) * sizeof(port) / sizeof(real);",
        "const place scratch = place_of(after_ports + threadIdx.x); (void)scratch;",
        "char *near = (char *)(after_ports + threadIdx.x); ONCE(near);",
        "char *far = (char *)(work + (long long)blockIdx.x * words * STRIDE + threadIdx.x) - 1; ONCE(far);",
        "for (int task = blockIdx.x, last = -1; task < count;) {",
        "const robot *const own = robots + tasks[2 * task];",
        "const int n = (int)own->joints, numbers = (int)own->numbers;",
        "real *const tables = after_ports + (int)own->near * STRIDE;",
        "const place constants = place_of(tables), table = place_of(tables + numbers);",
        "const place rows = place_of(SHARED(int, table, ROW));",
        "const long long begin = (long long)tasks[2 * task + 1] * STRIDE;",
        "const int state = (int)least(threadIdx.x, own->states - 1 - begin);",
        "if (tasks[2 * task] != last) {",
        "bring(constants, own->constants, numbers * (int)sizeof(real));",
        "bring(table, own->rows, (int)sizeof(int) * ROW * (1 + ROWS_AT_ONCE * (n / ROWS_AT_ONCE + 1)));",
        "last = tasks[2 * task];",
        "}",
        "open_ports(own, (port *)memory, begin);",
        "arrive();",
        "const place ports = place_of(memory); /* from here on they may be read */",
        "if (threadIdx.x == 0) { *SHARED(int, ticket, 0) = next_task(tasks + 2 * count, count); }",
        "const real *const world = SHARED(const real, constants, 0);",
        *strides(program),
        *start(program),
        *(_fetch(program) if fetches else ()),
        *passes,
        "own->status[begin + state] = lost == 0 ? status : (real)-2;",
        "__syncthreads();",
        "task = *SHARED(int, ticket, 0);",
        "}",
        "}",
    ]
    where = ["#define FAR"] if near < EVERY else []
    return "\n".join([*where, head(program, single, threads), functions, *lines, ""])


def _places(near: int) -> list[str]:
    """Macros: what a place of the table stands for, to be worked out once, and the address of that."""
    kind, found, address = "place", "NEARBY(scratch, place)", "SHARED(real, where, 0)"
    if near < EVERY:
        kind, address = "real *", "(where)"
        found = f"(real *)(({'(place) & 1 ? far : near' if near else 'far'}) + (place))"
    return [f"typedef {kind} found;", f"#define FOUND(place) ({found})", f"#define ADDRESS(where) {address}"]


def _entry(program: Program, name: str, at: str = "at", state: str = "state") -> str:
    """The address of the first entry of a joint in an array; `row` is the row at that place."""
    kind = "real" if name in program.results else "const real"
    port = f"NEARBY(ports, {arrays_of(program).index(name)} * sizeof(port))"
    return f"(({kind} *)entry({port}, {at}, {state}, {column(kind_of(program, name))}))"


def _loop(
    program: Program,
    k: int,
    names: Sequence[str],
    waves: bool,
    held: int,
    announced: Sequence[str],
    fetches: bool,
    in_step: bool,
) -> list[str]:
    """A pass over the rows. The row, the inputs and the held words of the next joint are asked for before they are needed.

    A processor counts the loads of a thread that are under way, and does not tell them apart: to wait for one is to wait for those
    after it too. So nothing is asked for before what the last step asked for has come, nor before what this step loads at once.

    Inward, where steps are longest, the threads of a block wait for each other before each joint if they are to stay in step.
    """
    outward = isinstance(program.passes[k], Outward)
    first, end, by = ("rows", "LATER(rows, n)", 1) if outward else ("LATER(rows, n - 1)", "LATER(rows, -1)", -1)
    read = "LAST_INPUT" if k == len(program.passes) - 1 else "INPUT"
    asked = [] if fetches else inputs_of(program)
    inputs = {name: f"{name}_1" for name in asked}
    if fetches:
        inputs = {name: f"ADDRESS(body)[{word} * STRIDE]" for name, word in fetched(program).items()}
    hold_first, hold_next = _holding(held)
    announce_first, announce_next = _announced(program, announced)
    entries = {name: _entry(program, name) for name in arrays_of(program)}
    return [
        "{",
        *announce_first,
        f"place at = {first}; const place end = {end};",
        "const int *row = SHARED(const int, at, 0);",
        "int r[4]; read_row(row, r);",
        *hold_first,
        *(f"real {name}_1 = {read}({_entry(program, name)});" for name in asked),
        # sums begin here, lest their registers be taken in the other passes too
        *((at_world(program) if k else []) if outward else ["clear(C);"]),
        "do {",
        "const int type = r[TYPE], flags = r[FLAGS]; (void)type;",
        "const found body = FOUND(r[OWN]); (void)body;",
        "const place numbers = place_of(SHARED(const real, constants, r[CONSTANTS]));",
        f"row = SHARED(const int, LATER(at, {by}), 0); read_row(row, r);",
        "row = SHARED(const int, at, 0);",
        *(f"const real {name}_0 = {text}; (void){name}_0;" for name, text in inputs.items()),
        *(_before(program, k) if outward else _before_inward(program)),
        f"const int then = {_after([*(f'{name}_0' for name in asked[:1]), *_loaded(program, k)])}; (void)then;",
        f"row = SHARED(const int, LATER(at, {by}), 0);",
        *hold_next,
        *(f"{name}_1 = {read}({_entry(program, name, f'LATER(at, {by})', 'then')});" for name in asked),
        "row = SHARED(const int, at, 0);",
        *announce_next,
        "real head[4]; read_four(SHARED(const real, numbers, 0), head);",
        wave(waves),
        *(["__syncthreads();"] if in_step and not outward else []),
        *_switch(names, arguments(program, "SHARED(const real, numbers, 0)", "ADDRESS(body)", "STRIDE", entries)),
        *(
            [_if(flag, _there(text, "row[SAVED]")) for flag, text in saves(program, k)]
            if outward
            else [_if(PUTS, _there(["put(flags, {at}, {stride}, C);"], "row[PUT]"))]
        ),
        f"at = LATER(at, {by});",
        "} while (at != end);",
        "}",
    ]


def _switch(names: Sequence[str], arguments: str) -> list[str]:
    """The step of a joint by its type."""
    if len(set(names)) == 1:
        return [f"{names[0]}({arguments});"]
    cases = [
        " ".join(f"case {t}:" for t, other in enumerate(names) if other == name) + f" {name}({arguments}); break;"
        for name in dict.fromkeys(names)
    ]
    return ["switch (type) {", *cases, "default: __builtin_unreachable();", "}"]


# ---- what is done at some joints ----


def _if(flag: int, text: str) -> str:
    """At joints with a flag."""
    return f"if (flags & {flag}) {{ SELDOM; {text} }}"


def _there(lines: Iterable[str], place: str) -> str:
    """Lines that read or write at a place of the table."""
    filled = (line.format(at="there", stride="STRIDE", nothing=" + nothing") for line in lines)
    return " ".join(["{", f"real *const there = ADDRESS(FOUND({place}));", *filled, "}"])


# added to what is loaded at some joints, so that they wait for it there
NOTHING = "const real nothing = (real)(flags >> 30);"


def _before(program: Program, k: int) -> list[str]:
    """Outward, a body that does not follow its parent at once reads what that saved, or is the first of a tree."""
    read = _there([NOTHING, *loads(program, k)], "row[PARENT]")
    return [_if(LOADS, f"if (flags & {STARTS}) {{ {' '.join(at_world(program))} }} else {read}")]


def _before_inward(program: Program) -> list[str]:
    """Inward, sums begin with nothing or go on, and branches are added; at a tip the way back begins."""
    back = begin_back(program)
    return [
        f"if (!(flags & {TAKES_CARRIED})) {{ SELDOM; clear(C); }}",
        _if(TAKES_SLOT, _there(["take({at}, {stride}, C);"], "row[TAKE]")),
        *([_if(TIP, _there([NOTHING, *back], "row[SAVED]"))] if back else []),
    ]


def _loaded(program: Program, k: int) -> list[str]:
    """Registers that `_before` loads: one of them where that is a branch for certain, else all."""
    area, back = Area(program), recomputed(program).from_
    if isinstance(program.passes[k], Outward):
        return [f"P[{i}]" for i in area.places(area.produced(k))][:1]
    return [f"P[{i}]" for i in area.places([back] if back else [])]


def _after(values: Iterable[str]) -> str:
    """The number of the state, to be had when all values are there."""
    text = "state"
    for value in values:
        text = f"AFTER({value}, {text})"
    return text


# ---- what is asked for early ----


def _hold(held: int) -> list[str]:
    """A function that reads the words of a body, as many as its row says."""
    if not held:
        return []
    return [
        "INLINE void hold(int flags, found where, real *held)",
        "{",
        "const real *const own = ADDRESS(where); const int words = flags >> 8;",
        f"if (words == {held}) {{",
        *(f"held[{j}] = own[{j} * STRIDE];" for j in range(held)),
        "} else {",
        *(f"held[{j}] = 0; if (words > {j}) {{ held[{j}] = own[{j} * STRIDE]; }}" for j in range(held)),
        "}",
        "}",
    ]


def _holding(held: int) -> tuple[list[str], list[str]]:
    """Lines that read the words of the first body, and in each step those of the next."""
    if not held:
        return [], ["const real *const held = 0; (void)held;"]
    return [f"real next[{held}]; hold(r[FLAGS], FOUND(r[OWN]), next);"], [
        f"real held[{held}]; for (int k = 0; k < {held}; ++k) {{ held[k] = next[k]; }}",
        "hold(r[FLAGS], FOUND(r[OWN] + then - state), next);",
    ]


def _fetch(program: Program) -> list[str]:
    """Before the first pass: the inputs of some joints are on their way before any is put down."""
    asked, put = [], []
    for k, (name, word) in enumerate(fetched(program).items()):
        asked.append(f"x[j][{k}] = INPUT({_entry(program, name)});")
        put.append(f"ADDRESS(FOUND(to[j]))[{word} * STRIDE] = x[j][{k}];")
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


def _announce(program: Program, names: Iterable[str], at: str) -> str:
    """Inputs of the row at a place are asked for, to be in the second-level cache when they are needed."""
    texts = [f"SOON({_entry(program, name, at)});" for name in names]
    return " ".join(["{", f"const int *const row = SHARED(const int, {at}, 0); (void)row;", *texts, "}"])


def _announced(program: Program, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Lines before the first pass, and in each step of it: inputs come from far away then, and only then."""
    if not names:
        return [], []
    first = f"for (int i = 0; i < {AHEAD} && i < n; ++i) {_announce(program, names, 'LATER(rows, i)')}"
    return [first], [f"if (at < LATER(rows, n - {AHEAD})) {_announce(program, names, f'LATER(at, {AHEAD})')}"]
