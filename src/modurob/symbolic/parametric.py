"""Equations in the parameters of module types: length, mass, ... in place of frozen numbers."""

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from modurob.assembly import Assembly
from modurob.catalogue import Module
from modurob.errors import InputError, choices
from modurob.mechanism import Builder, Tables, from_assembly
from modurob.mechanism.builder import GRAVITY
from modurob.symbolic import size
from modurob.symbolic.coordinates import require_coordinates
from modurob.symbolic.derivation import Progress, silent
from modurob.symbolic.equations import Equations
from modurob.symbolic.model import Quantity
from modurob.symbolic.ring import never

# how parameters are written; others keep their names
LETTERS = {"length": "l", "mass": "m", "height": "h", "width": "w", "damping": "d", "armature": "J", "stiffness": "k"}
# parameters with these units enter the equations
UNITS = ("m", "kg", "kg m²", "kg m", "N m s/rad", "N s/m", "N m/rad", "N/m", "m/rad")
WAYS = ("value", "module")


def parametric(
    assembly: Assembly,
    parameters: str | Iterable[str] | None = None,
    *,
    by: str = "value",
    base: str | None = None,
    gravity: Any = GRAVITY,
    locked: Mapping[str, float] | Iterable[str] = (),
    symbols: str | Iterable[str] = ("gravity",),
    method: str = "two-step",
    digits: int | None = None,
    time_limit: float | None = None,
    largest: int | None = size.LARGEST,
    cancelled: Callable[[], bool] = never,
    progress: Progress = silent,
) -> Equations:
    """The equations of motion of an assembly in the parameters of its modules: M of a Backbone pendulum is 7 l² m / 6.

    `parameters` names those that become symbols (length is l, mass is m, ...), all by default; what a module type computes from
    them, such as mass * length**2 / 6, follows. `by` "value" gives equal values of a parameter one symbol, "module" gives each
    module its own. `base`, `gravity` and `locked` are those of `Assembly.mechanism`, the rest those of `Equations`.
    Parameters that stay numbers are exact decimals.

    >>> import modurob as mr
    >>> pendulum = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="4")
    >>> eq = parametric(pendulum, gravity=(0, 9.81, 0))
    >>> eq.M[0, 0], eq.N[0]
    (7*l**2*m/6, g*l*m*sin(q1))
    >>> print(*eq.legend(), sep="\\n")
    q1: coordinate of joint m0/hinge (revolute) [rad]
    g: gravity, 9.81 m/s²
    l: length of backbone (edge of the cube), 0.105 m
    m: mass of backbone (of the whole module), 1 kg
    """
    if not isinstance(assembly, Assembly):
        raise InputError(f"parameters belong to modules: expected an Assembly, found {type(assembly).__name__}")
    if by not in WAYS:
        raise InputError(f"symbols by {by!r}: {choices(str(by), WAYS)}")
    require_coordinates(_tables(assembly, base, gravity, locked))
    wanted = _wanted(assembly, parameters)
    groups = _groups(assembly, by)
    named = _named(groups, wanted)
    changed: dict[str, dict[str, Any]] = {name: {} for name in assembly.modules}
    for key, modules in groups.items():
        for name in modules:
            # limits of joints are compared, so it must be known that a length is positive
            positive = bool(assembly.modules[name].parameters[key[0]] > 0)
            changed[name][key[0]] = sympy.Symbol(named[key].name, positive=positive or None)
    robot = _tables(assembly.with_parameters(changed), base, gravity, locked)
    quantities = {named[key]: _quantity(assembly, key[0], modules) for key, modules in groups.items()}
    constants = {s.name: Fraction(repr(quantities[s].value)) for key, s in named.items() if key[0] not in wanted}
    return Equations(
        robot,
        symbols,
        method,
        digits=digits,
        time_limit=time_limit,
        largest=largest,
        cancelled=cancelled,
        progress=progress,
        quantities={s: quantity for s, quantity in quantities.items() if s.name not in constants},
        constants=constants,
    )


def _tables(assembly: Assembly, base: str | None, gravity: Any, locked: Any) -> Tables:
    """The mechanism of an assembly with a fixed base."""
    return from_assembly.fill(Builder(assembly.name, gravity, trusted=True), assembly, base, False, locked, False)


def _wanted(assembly: Assembly, parameters: str | Iterable[str] | None) -> set[str]:
    valid = dict.fromkeys(p for m in assembly.modules.values() for p in m.parameters if _enters(m, p))
    if parameters is None:
        return set(valid)
    names = [parameters] if isinstance(parameters, str) else list(parameters)
    for name in names:
        if name not in valid:
            raise InputError(
                f"no module has a parameter {name!r} that enters the equations: {choices(str(name), valid)}"
            )
    return set(names)


def _enters(module: Module, parameter: str) -> bool:
    """Whether a parameter has a unit of the equations."""
    return module.type.specification.parameters[parameter].unit in UNITS


def _is_given(module: Module, parameter: str) -> bool:
    """Whether a parameter is a number of its own, and not computed from others; zero stays zero."""
    default, value = module.type.specification.parameters[parameter].value, module.parameters[parameter]
    own = parameter in module.changed or isinstance(default, int | float)
    return own and isinstance(value, int | float) and value != 0


# a parameter with the value or the module that a symbol belongs to
Key = tuple[str, Any]


def _groups(assembly: Assembly, by: str) -> dict[Key, list[str]]:
    """The modules that share a symbol."""
    groups: dict[Key, list[str]] = {}
    for name, module in assembly.modules.items():
        for parameter, value in module.parameters.items():
            if _enters(module, parameter) and _is_given(module, parameter):
                groups.setdefault((parameter, value if by == "value" else name), []).append(name)
    return groups


def _named(groups: Mapping[Key, list[str]], wanted: set[str]) -> dict[Key, sympy.Symbol]:
    """l, m where a parameter has one symbol, else l1, l2, ...; numbered like the modules where these have numbers."""
    named = {}
    for parameter in dict.fromkeys(key[0] for key in groups):
        keys = [key for key in groups if key[0] == parameter]
        # those that become numbers have names that are not used elsewhere
        letter = LETTERS.get(parameter, parameter) if parameter in wanted else f"number_{parameter}_"
        numbers = _numbers([str(key[1]) for key in keys])
        named |= {
            key: sympy.Symbol(letter if len(keys) == 1 else f"{letter}{n}")
            for key, n in zip(keys, numbers, strict=True)
        }
    return named


def _numbers(names: list[str]) -> list[str]:
    """The numbers that names like m3 end with, if all do and differ; else 1, 2, ..."""
    found = [m[0] if (m := re.search(r"(?<=[A-Za-z_])\d+$", name)) else "" for name in names]
    return found if all(found) and len(set(found)) == len(found) else [str(i + 1) for i in range(len(names))]


def _quantity(assembly: Assembly, parameter: str, modules: list[str]) -> Quantity:
    of = [assembly.modules[name] for name in modules]
    spec = of[0].type.specification.parameters[parameter]
    types = dict.fromkeys(m.type.name for m in of)
    everywhere = len(modules) == sum(m.type.name in types for m in assembly.modules.values())
    whose = " and ".join(types) if everywhere else ", ".join(modules)
    described = f" ({spec.description})" if spec.description else ""
    return Quantity(f"{parameter} of {whose}{described}", spec.unit, float(of[0].parameters[parameter]))
