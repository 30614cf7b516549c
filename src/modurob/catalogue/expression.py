"""Arithmetic in module files: `length / 2`, `mass * length**2 / 6`. Parsed, never evaluated as Python."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from modurob.errors import CatalogueError, choices
from modurob.spatial.scalars import Array, as_array, cos, sin, sqrt

Scalar = Any  # a float, or a symbol
Expression = float | int | str

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[[Array], Array]] = {"sqrt": sqrt, "sin": sin, "cos": cos}
LONGEST = 200
LARGEST_BITS = 1000  # whole numbers stay below the largest float


def names(expression: Expression) -> set[str]:
    """The parameters an expression refers to.

    >>> sorted(names("mass * length**2 / 6 + pi"))
    ['length', 'mass']
    """
    return {n.id for n in ast.walk(_parse(expression)) if isinstance(n, ast.Name)} - {"pi", *_FUNCTIONS}


def value(expression: Expression, parameters: Mapping[str, Scalar]) -> Scalar:
    """The number (or symbolic value) of an expression.

    >>> value("mass * length**2 / 6", {"mass": 3.0, "length": 0.2})
    0.020000000000000004
    """
    try:
        with np.errstate(invalid="ignore"):
            found = _evaluate(_parse(expression), parameters, expression) if isinstance(expression, str) else expression
        # whole numbers that a float cannot hold exactly become floats
        found = float(found) if isinstance(found, int) and abs(found) >= 2**53 else found
    except ArithmeticError as error:
        raise CatalogueError(f"{shown(expression)}: {error}") from None
    if isinstance(found, float) and not math.isfinite(found):
        said = f"{shown(expression)} is {found}" if isinstance(expression, str) else f"{found}"
        raise CatalogueError(f"{said}: expected a finite number")
    return found


def shown(x: object) -> str:
    """A value in a message, shortened; Python does not print whole numbers of thousands of digits."""
    return "a huge number" if isinstance(x, int) and x.bit_length() > LARGEST_BITS else f"{x!r:.80}"


def _parse(expression: Expression) -> ast.expr:
    text = expression if isinstance(expression, str) else "0"
    if len(text) > LONGEST:
        raise CatalogueError(f"expression of {len(text)} characters: expected at most {LONGEST}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise CatalogueError(
            f"{text!r} is not an expression: expected numbers, parameters, + - * / ** ( ) sqrt sin cos pi"
        ) from None


def _evaluate(node: ast.expr, parameters: Mapping[str, Scalar], text: str) -> Scalar:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id="pi"):
            return math.pi
        case ast.Name(id=name):
            if name not in parameters:
                raise CatalogueError(f"{text!r}: no parameter {name!r}: {choices(name, parameters)}")
            if isinstance(parameters[name], str):
                raise CatalogueError(
                    f"{text!r}: parameter {name!r} is the word {parameters[name]!r}: expected a number"
                )
            return parameters[name]
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return -_evaluate(x, parameters, text)
        case ast.BinOp(op=ast.Pow(), left=x, right=ast.Constant(value=int() as power)) if 0 <= power <= 8:
            base = _evaluate(x, parameters, text)
            if isinstance(base, int) and base.bit_length() * power > LARGEST_BITS:
                raise CatalogueError(f"{text!r}: the power of a number of {base.bit_length()} bits is too large")
            return base**power
        case ast.BinOp(op=op, left=x, right=y) if type(op) in _BINARY and not isinstance(op, ast.Pow):
            return _BINARY[type(op)](_evaluate(x, parameters, text), _evaluate(y, parameters, text))
        case ast.Call(func=ast.Name(id=name), args=[x], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](as_array(_evaluate(x, parameters, text)))[()]
    raise CatalogueError(f"{text!r}: expected numbers, parameters, + - * / ( ), powers up to 8, sqrt sin cos pi")
