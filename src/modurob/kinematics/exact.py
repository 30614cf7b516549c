"""Poses and screws with SymPy's numbers instead of floats: 0.105 is 21/200, 0.7071067811865476 is sqrt(2)/2."""

from typing import Any

import numpy as np
import sympy

from modurob.errors import NotExactError
from modurob.kinematics.screws import Screws
from modurob.spatial.scalars import Array
from modurob.symbolic.numbers import recognised
from modurob.symbolic.ring import Ring


def exactly(chain: Screws) -> Screws:
    """The same chain in SymPy's numbers, or an error that names what is no short fraction or root of one."""
    scale = float(max(1.0, *(abs(x) for x in (*chain.axes.flat, *chain.home.flat) if isinstance(x, float)), 0.0))
    ring = Ring()

    def numbers(X: Array, where: str) -> Array:
        return np.array([_number(ring, x, scale, where) for x in X.flat], dtype=object).reshape(X.shape)

    return Screws(numbers(chain.axes, "a screw"), numbers(chain.home, "the home pose"), chain.joints, chain.coordinates)


def _number(ring: Ring, x: Any, scale: float, where: str) -> sympy.Expr:
    if isinstance(x, int | float | np.number):
        return _recognised(ring, float(x), scale, where)
    x = sympy.sympify(x)
    return x.xreplace({f: _recognised(ring, float(f), scale, f"{where}, {x},") for f in x.atoms(sympy.Float)})


def _recognised(ring: Ring, x: float, scale: float, where: str) -> sympy.Expr:
    found = recognised(ring, x, scale)
    if found is None:
        raise NotExactError(
            f"{where} has the entry {x!r}: no short fraction and no root of one; build the robot with exact numbers or "
            "symbols, such as sympy.Rational(3, 10) for an angle of 0.3"
        )
    return found.expression()
