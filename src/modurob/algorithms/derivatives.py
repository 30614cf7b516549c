"""Derivatives of inverse and forward dynamics, exact, by q (along `integrate`), v, vdot or tau, and by inertial parameters."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.acceleration_slopes import FORWARD_DERIVATIVES
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.configuration import integrate
from modurob.algorithms.forward import CONSTRAINED_DYNAMICS, forward_dynamics, forward_inputs, require_regular
from modurob.algorithms.interpreter import TINY, interpret
from modurob.algorithms.joint_space import SLOPES, slopes
from modurob.algorithms.kinematics import together
from modurob.algorithms.program import Engine, Flow, Run
from modurob.algorithms.wrenches import External
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array


def complex_step(f: Callable[[Array], Array], n: int, axes: int) -> Array:
    """df/dx at zero, (..., k, n), of f: (n, ..., n) -> (n, ..., k) with `axes` batch axes.

    f(x + i h e) = f(x) + i h df/dx e + O(h²): with h = 1e-20 nothing cancels and the remainder is below rounding. All
    directions are evaluated at once as a batch.
    """
    directions = 1j * TINY * np.eye(n).reshape(n, *([1] * axes), n)
    return np.moveaxis(np.imag(f(directions)) / TINY, 0, -1)


class InverseDerivatives(NamedTuple):
    """d tau by q (along `integrate`), v and vdot, (..., nv, nv) each; the last is the mass matrix."""

    q: Array
    v: Array
    vdot: Array


class ForwardDerivatives(NamedTuple):
    """d vdot by q (along `integrate`), v and tau, (..., nv, nv) each; the last is the inverse mass matrix of a tree."""

    q: Array
    v: Array
    tau: Array


def inverse_dynamics_derivatives(
    m: Tables, q: Array, v: Array, vdot: Array, external: External = None, run: Run = interpret
) -> InverseDerivatives:
    """Derivatives of the inverse dynamics of the tree; external wrenches stay fixed in their frames."""
    M, by_q, by_v = slopes(m, q, v, vdot, external, run)
    return InverseDerivatives(by_q, by_v, M)


def forward_dynamics_derivatives(
    m: Tables, q: Array, v: Array, tau: Array, external: External = None, run: Run = interpret
) -> ForwardDerivatives:
    """Derivatives of `forward_dynamics`; external wrenches stay fixed in their frames.

    M dvdot = dtau - (d inverse dynamics at constant vdot). With constraints the multipliers move too, and the algorithms are
    differentiated by complex steps.
    """
    if m.constraints:
        return _by_complex_steps(m, q, v, tau, external)
    answer = run(COUPLED_DERIVATIVES if m.coupled else FORWARD_DERIVATIVES, m, forward_inputs(m, q, v, tau, external))
    require_regular(m, answer.singular)
    return ForwardDerivatives(*np.split(answer.results["slopes"], 3, axis=-1))


def _of_coupled(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    """For joints that share a rate, which cannot be eliminated one after the other."""
    vdot = engine.run(CONSTRAINED_DYNAMICS, **inputs)["vdot"]
    del inputs["tau"]
    found = engine.run(SLOPES, **inputs, vdot=vdot)
    return {"slopes": engine.solved_slopes(found["M"], found["by_q"], found["by_v"])}


COUPLED_DERIVATIVES = Flow("coupled_dynamics_derivatives", FORWARD_DYNAMICS.inputs, {"slopes": "slopes"}, _of_coupled)


def _by_complex_steps(m: Tables, q: Array, v: Array, tau: Array, external: External) -> ForwardDerivatives:
    q, v, tau = together(q, v, tau)
    axes = v.ndim - 1
    return ForwardDerivatives(
        complex_step(lambda d: forward_dynamics(m, integrate(m, q, d), v, tau, external), m.nv, axes),
        complex_step(lambda d: forward_dynamics(m, q, v + d, tau, external), m.nv, axes),
        complex_step(lambda d: forward_dynamics(m, q, v, tau + d, external), m.nv, axes),
    )
