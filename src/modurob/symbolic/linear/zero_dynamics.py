"""Zero dynamics: what the free joints do while the actuated ones are held."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from modurob.errors import InputError
from modurob.symbolic.linear.arguments import coordinate_indices, expressions
from modurob.symbolic.linear.control_affine import is_zero
from modurob.symbolic.linear.linearisation import Linearised, bias_polynomials, linearised
from modurob.symbolic.ring import Matrix

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# characteristic polynomials of more free joints have no roots worth reading
MOST_ROOTS = 2


@dataclass(frozen=True)
class ZeroDynamics:
    """What the k free joints do while the actuated ones are held: M vdot + bias = 0, and its eigenvalues at a rest.

    `M` (k x k) and `bias` (k x 1) are in the free coordinates and rates; there are 2 k eigenvalues [1/s].
    """

    M: Matrix
    bias: Matrix
    eigenvalues: list[Any]
    verdict: str


def zero_dynamics(eq: "Equations", actuated: Any, rest: Any) -> ZeroDynamics:
    """Zero dynamics of the outputs q_a - rest_a, linearised at the rest q = `rest` (nv entries), v = 0.

    `actuated` are names of joints or numbers of coordinates. Eigenvalues are exact for up to two free joints, else numbers.
    """
    driven = coordinate_indices(eq, actuated, "actuated joints")
    q = expressions(eq, rest, "rest")
    free = [i for i in range(eq.robot.nv) if i not in driven]
    if not free:
        return ZeroDynamics(sympy.zeros(0), sympy.zeros(0, 1), [], "flat: all joints are actuated, no zero dynamics")
    near = linearised(eq, q)
    pull = near.tau.extract(free, [0])
    if not all(is_zero(b) for b in pull):
        raise InputError(f"q = {list(rest)} is no rest: the free joints are pulled by {list(pull)}")
    held = {eq.q[i]: q[i] for i in driven} | {eq.v[i]: sympy.Integer(0) for i in driven}
    bias = eq.matrix(bias_polynomials(eq)[free]).subs(held)
    M = eq.matrix(eq.polynomial("M")[np.ix_(free, free)]).subs(held)
    eigenvalues = _eigenvalues(near, free)
    return ZeroDynamics(M, bias, eigenvalues, _stability(eq, eigenvalues))


def _eigenvalues(near: Linearised, free: list[int]) -> list[Any]:
    """Of the free joints alone."""
    M, D, K = (X.extract(free, free) for X in (near.M, near.D, near.K))
    q, v = (tuple(x[i] for i in free) for x in (near.q, near.v))
    part = Linearised(q, v, sympy.zeros(len(free), 1), M, D, K, near.values, near.budget)
    if len(free) > MOST_ROOTS:
        return [complex(e) for e in np.linalg.eigvals(part.numbers().A)]
    return [e for e, times in part.A.eigenvals().items() for _ in range(times)]


def _stability(eq: "Equations", eigenvalues: list[Any]) -> str:
    values = eq.values
    unknown = sorted({s for e in map(sympy.sympify, eigenvalues) for s in e.free_symbols if s not in values}, key=str)
    point = {**values, **dict.fromkeys(unknown, 1)}
    real = [sympy.re(sympy.N(sympy.sympify(e).subs(point))) for e in eigenvalues]
    assumed = f" (with {' = '.join(map(str, unknown))} = 1)" if unknown else ""
    if any(r > 1e-9 for r in real):
        return f"unstable zero dynamics: the free joints run away while the actuated ones are held{assumed}"
    if all(r < -1e-9 for r in real):
        return f"asymptotically stable zero dynamics: minimum phase{assumed}"
    return f"marginally stable zero dynamics: the free joints swing on{assumed}"
