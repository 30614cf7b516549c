"""Controllers as C99 for the robot: the step of a law, with all its numbers, in a file that needs nothing but <math.h>."""

import re
import textwrap
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.control.around import Around
from modurob.control.tracing import Step, law_name, traced_step
from modurob.errors import ControlError, explained
from modurob.robot import Assembly, Mechanism
from modurob.simulation.law import Controller, as_controller
from modurob.trace import C99, Listing, Place, Traced, c_identifier, harmless, number

# a reference that is given from outside, (nq,) and twice (nv,)
GIVEN = ("q_d", "v_d", "vdot_d")
# inputs of the function beside memory and t, in this order: those that are there even if they are not read, and all
ALWAYS = ("q", "v")
INPUTS = (*ALWAYS, "x", *GIVEN)


@explained
def controller_c(controller: Any, robot: Mechanism, name: str | None = None, reference_input: bool = False) -> str:
    """A C99 file with the step of a controller on a robot: next_memory, u = step(memory, t, q, v), no heap, only libm.

    `controller` is what `simulate` takes: a law, or a function f(t, q, v) of NumPy arrays. Its step is run once on scalars
    that record their operations, so that gains, references and the model of the robot are numbers in the text. `name` starts
    all names in C; by default it is that of the robot and the law. With `reference_input` the reference is an argument of the
    function, q_d (nq,), v_d and vdot_d (nv,), instead of the reference of the law. The comment at the top says the order
    and the units of all arrays, and how often the step must be called. A law whose step is more than algebra and choices is
    refused.

    >>> text = mr.controller_c(mr.PID(reference=[0.3, 0.2, -0.4], saturation=5.0), robot)
    >>> [line for line in text.splitlines() if line.startswith("void")]  # doctest: +NORMALIZE_WHITESPACE
    ['void crab_pid_step(const double *memory, double t, const double *q, const double *v, double *next_memory, double *u);',
     'void crab_pid_step(const double *memory, double t, const double *q, const double *v, double *next_memory, double *u)']
    """
    if isinstance(controller, Mechanism | Assembly):
        raise ControlError(
            f"controller_c with the robot {controller.name} first: expected controller_c(controller, robot)"
        )
    law = as_controller(controller)
    if law is None:
        raise ControlError("controller None: expected one such as mr.PID(...), or a function f(t, q, v)")
    step = traced_step(_with_reference_input(law, robot) if reference_input else law, robot)
    return c_file(step, law, robot, c_identifier(name or f"{robot.name}_{law_name(law)}", "law"))


def c_file(step: Step, law: Controller, robot: Mechanism, name: str) -> str:
    """The file: a comment, sizes, the first memory, and the function."""
    inputs = [x for x in INPUTS if x in ALWAYS or step.reads("q_d" if x in GIVEN else x)]
    arguments = ["const double *memory", "double t", *(f"const double *{x}" for x in inputs)]
    head = f"void {name}_step({', '.join([*arguments, 'double *next_memory', 'double *u'])})"
    sizes = {"NQ": robot.nq, "NV": robot.nv, "NX": acting(robot).nx, "MEMORY": len(step.start)}
    lines = [
        *_comment(step, law, robot, name, inputs),
        "#include <math.h>",
        "",
        *(f"#define {name.upper()}_{size} {n}" for size, n in sizes.items() if size != "NX" or "x" in inputs),
        *(f"#define {name.upper()}_PERIOD {number(T)} /* [s] */" for T in [law.sample_time] if T is not None),
        "",
        f"extern const double {name}_start[{max(1, len(step.start))}];",
        f"{head};",
        "",
        f"const double {name}_start[{max(1, len(step.start))}] = {{{', '.join(map(C99.number, step.start)) or '0.0'}}};",
        "",
        head,
        "{",
        *(f"    {line}" for line in _body(step, inputs)),
        "}",
    ]
    return "\n".join([*lines, ""])


def _body(step: Step, inputs: list[str]) -> list[str]:
    """The statements; the memory is copied first, since the next one may be written over it."""
    n = len(step.start)
    stores = [
        (f"{array}[{k}]", x) for array, xs in (("next_memory", step.memory), ("u", step.u)) for k, x in enumerate(xs)
    ]
    copied = [f"const double m[{n}] = {{{', '.join(f'memory[{k}]' for k in range(n))}}};"] if n else []
    unused = "".join(f"(void){x}; " for x in ("memory", "t", *inputs, "next_memory", *(["m"] if n else []))).strip()
    return [*copied, unused, *Listing(step.graph, stores, replace(C99, place=_place)).lines()]


def _place(place: Place) -> str:
    array = "m" if place.array == "memory" else place.array
    return array if array == "t" else f"{array}[{place.index}]"


# ---- the comment ----


def _comment(step: Step, law: Controller, robot: Mechanism, name: str, inputs: list[str]) -> list[str]:
    """What the function does, how often it must be called, and what its arrays hold."""
    every = "as often as torques are set" if law.sample_time is None else f"every {law.sample_time:g} s"
    words = [
        f"{law_name(law)} for {robot.name}: next_memory, u = step(memory, t, {', '.join(inputs)}).",
        *textwrap.wrap(re.sub(r" at 0x[0-9a-f]+", "", f"{law!r}"), 110),
        *(
            ["Its reference is not that of the law but is given by the arguments q_d, v_d and vdot_d."]
            if "q_d" in inputs
            else []
        ),
        f"Call {name}_step {every} and hold u until the next call. The first memory is {name}_start; next_memory may be",
        "memory itself. All inputs must be finite: nothing is checked, and nothing else is kept between calls.",
        "",
        "t              time, zero at the start of the reference [s]",
        *_joints(robot, inputs),
        *(_row("memory", k, label) for k, label in enumerate(step.labels)),
    ]
    return ["/*", *(f" * {harmless(line)}".rstrip() for line in words), " */"]


def _joints(robot: Mechanism, inputs: list[str]) -> list[str]:
    """A line for each entry of q, of v and u, and of x."""
    own = [j for j in robot.joints if not j.mimics]
    q = [(n, u) for j in own for n, u in zip(j.coordinate_names(), _units(j.type), strict=True)]
    v = [(n, u) for j in own for n, u in zip(j.rate_names(), j.type.units, strict=True)]
    x = [f"{row.name} {label}" for row in robot.forces for label in getattr(row.force, "states", range(row.force.nx))]
    efforts = {"rad": "N m", "m": "N"}
    return [
        *(_row("q", k, f"{n} [{u}]") for k, (n, u) in enumerate(q)),
        *(_row("v", k, f"{n} [{u}/s]") for k, (n, u) in enumerate(v)),
        *(_row("x", k, n) for k, n in enumerate(x) if "x" in inputs),
        *(f"{given:<14} reference of {given.removesuffix('_d')}, in its order" for given in GIVEN if given in inputs),
        *(_row("u", k, f"{n} [{efforts[u]}]") for k, (n, u) in enumerate(v)),
    ]


def _units(kind: Any) -> tuple[str, ...]:
    """Of the coordinates of a joint: quaternions have none."""
    return kind.units if kind.nq == kind.nv else (*("m",) * (kind.nq - 4), *("1",) * 4)


def _row(array: str, k: int, words: str) -> str:
    return f"{f'{array}[{k}]':<14} {words}"


# ---- references from outside ----


def _with_reference_input(law: Any, robot: Mechanism) -> Any:
    """The law with a reference that is an input of its step; around another law, that law has it."""
    if isinstance(law, Around):
        return replace(law, controller=_with_reference_input(law.controller, robot))
    if not hasattr(law, "reference"):
        raise ControlError(
            f"reference_input: {law_name(law)!r} has no reference of joints: expected a law such as mr.PID(...)"
        )
    return replace(law, reference=partial(_given, robot))


def _given(robot: Mechanism, t: Any) -> tuple[Any, ...]:
    """q, v and vdot at a traced time as inputs; at others rest, so that a law can look at its sizes."""
    if not isinstance(t, Traced):
        return robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    return tuple(t.graph.inputs(name, n) for name, n in zip(GIVEN, (robot.nq, robot.nv, robot.nv), strict=True))
