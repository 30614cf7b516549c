"""Joints, coordinates and expressions as users give them, checked."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from modurob.errors import InputError, choices
from modurob.symbolic.ring import Expr

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations


def coordinate_indices(eq: "Equations", given: Any, what: str) -> list[int]:
    """The coordinates that joint names or numbers stand for; a name stands for all coordinates of its joint."""
    owners = {j.name: j.v_slice for j in eq.robot.joints if not j.mimics}
    valid = f"{choices(str(given), owners)}, or 0 to {eq.robot.nv - 1}"
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    found: list[int] = []
    for item in given:
        if isinstance(item, str) and item in owners:
            found += range(owners[item].start, owners[item].stop)
        elif isinstance(item, int | np.integer) and not isinstance(item, bool) and 0 <= item < eq.robot.nv:
            found.append(int(item))
        else:
            raise InputError(f"{what} {item!r} is no joint of {eq.robot.name}: expected names or numbers; {valid}")
    if len(set(found)) < len(found):
        raise InputError(f"{what} name a joint twice: {list(given)}; expected each once")
    return found


def expressions(eq: "Equations", given: Any, what: str) -> list[Expr]:
    """nv numbers or SymPy expressions."""
    joints = ", ".join(j.name for j in eq.robot.joints if not j.mimics)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{what} is {given!r}: expected {eq.robot.nv} numbers or expressions, for {joints}")
    entries = [expression(x, f"{what}[{i}]") for i, x in enumerate(given)]
    if len(entries) != eq.robot.nv:
        raise InputError(f"{what} has {len(entries)} entries: expected {eq.robot.nv}, for {joints}")
    return entries


def expression(x: Any, what: str) -> Expr:
    """A finite number or a SymPy expression."""
    if isinstance(x, sympy.Expr):
        found = x
    elif isinstance(x, int | float | np.number) and not isinstance(x, bool):
        found = sympy.sympify(x.item() if isinstance(x, np.number) else x)
    else:
        raise InputError(f"{what} is {x!r}: expected a number or a SymPy expression")
    if found.has(sympy.nan, sympy.oo, -sympy.oo, sympy.zoo):
        raise InputError(f"{what} is {x!r}: expected a finite number")
    return found
