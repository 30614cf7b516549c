"""Derivatives of inverse and forward dynamics, exact, by q (along `integrate`), v, vdot or tau, and by inertial parameters."""

from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.acceleration_slopes import FORWARD_DERIVATIVES
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.constraints.slopes import CONSTRAINED_DERIVATIVES
from modurob.algorithms.constraints.torques import DRIVEN_SLOPES, driven_torque_slopes
from modurob.algorithms.forward import (
    CONSTRAINED_DYNAMICS,
    dynamics_of,
    forward_dynamics,
    forward_inputs,
    require_regular,
)
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.joint_space import SLOPES, motion_inputs, slopes
from modurob.algorithms.program import Engine, Flow, Program, Run
from modurob.algorithms.regressor import REGRESSOR_PRODUCT, regressor
from modurob.algorithms.wrenches import External
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array
from modurob.values import compared


@compared
class InverseDerivatives(NamedTuple):
    """d tau by q (along `integrate`), v and vdot, (..., nv, nv) each; the last is the mass matrix of a tree."""

    q: Array
    v: Array
    vdot: Array


@compared
class ForwardDerivatives(NamedTuple):
    """d vdot by q (along `integrate`), v and tau, (..., nv, nv) each; the last is the inverse mass matrix of a tree."""

    q: Array
    v: Array
    tau: Array


def inverse_dynamics_derivatives(
    m: Tables, q: Array, v: Array, vdot: Array, external: External = None, run: Run = interpret
) -> InverseDerivatives:
    """Derivatives of `inverse_dynamics`; external wrenches stay fixed in their frames.

    With constraints they are those of the torques of the joints with a drive, as functions of any q, v and vdot. Where
    constraints depend on each other only as long as they hold, the derivatives are those at states that keep them. Robots with
    motions that move no joint with a drive are refused.
    """
    if m.constraints:
        return InverseDerivatives(*driven_torque_slopes(m, motion_inputs(m, q, v, vdot, external), run))
    return tree_inverse_dynamics_derivatives(m, q, v, vdot, external, run)


def tree_inverse_dynamics_derivatives(
    m: Tables, q: Array, v: Array, vdot: Array, external: External = None, run: Run = interpret
) -> InverseDerivatives:
    """Derivatives of `tree_inverse_dynamics`: of the tree, its constraints left out."""
    M, by_q, by_v = slopes(m, q, v, vdot, external, run)
    return InverseDerivatives(by_q, by_v, M)


def forward_dynamics_derivatives(
    m: Tables, q: Array, v: Array, tau: Array, external: External = None, run: Run = interpret
) -> ForwardDerivatives:
    """Derivatives of `forward_dynamics`; external wrenches stay fixed in their frames.

    M dvdot = dtau - (d inverse dynamics at constant vdot); with constraints the multipliers move too. Where constraints depend on
    each other only as long as they hold, as those of Bennett's linkage, the derivatives are those at states that keep them.
    """
    answer = run(derivatives_of(m), m, forward_inputs(m, q, v, tau, external))
    require_regular(m, answer.singular)
    return ForwardDerivatives(*np.split(answer.results["slopes"], 3, axis=-1))


def inverse_derivatives_of(m: Tables) -> Program | Flow:
    """The algorithm for inverse dynamics that suits a mechanism."""
    return DRIVEN_SLOPES if m.constraints else SLOPES


def derivatives_of(m: Tables) -> Program | Flow:
    """The algorithm that suits a mechanism."""
    if m.constraints:
        return CONSTRAINED_DERIVATIVES
    return COUPLED_DERIVATIVES if m.coupled else FORWARD_DERIVATIVES


def _of_coupled(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    """For joints that share a rate, which cannot be eliminated one after the other."""
    vdot = engine.run(CONSTRAINED_DYNAMICS, **inputs)["vdot"]
    del inputs["tau"]
    found = engine.run(SLOPES, **inputs, vdot=vdot)
    return {"slopes": engine.solved_slopes(found["M"], found["by_q"], found["by_v"])}


COUPLED_DERIVATIVES = Flow("coupled_dynamics_derivatives", FORWARD_DYNAMICS.inputs, {"slopes": "slopes"}, _of_coupled)


# ---- by inertial parameters ----


def forward_dynamics_regressor(
    m: Tables, q: Array, v: Array, tau: Array, external: External = None, run: Run = interpret
) -> Array:
    """d vdot / d pi = -P Y(q, v, vdot), (..., nv, 10 n): the derivative of `forward_dynamics` by `inertial_parameters`.

    P = d vdot / d tau is M^-1 of a tree; with constraints, whose rows do not depend on pi, what moves the multipliers too.
    """
    if m.constraints:
        vdot = forward_dynamics(m, q, v, tau, external, run)
        P = forward_dynamics_derivatives(m, q, v, tau, external, run).tau
        return -P @ regressor(m, q, v, vdot, run)
    answer = run(FORWARD_REGRESSOR, m, forward_inputs(m, q, v, tau, external))
    require_regular(m, answer.singular)
    return answer.results["by_parameters"]


def _forward_regressor(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    q, v = inputs["q"], inputs["v"]
    vdot = engine.run(dynamics_of(engine.m), **inputs)["vdot"]
    inverse = engine.inverse_inertia(engine.run(MASS_MATRIX, q=q)["M"])
    return {"by_parameters": engine.run(REGRESSOR_PRODUCT, q=q, v=v, vdot=vdot, W=inverse * -1.0)["Y"]}


FORWARD_REGRESSOR = Flow(
    "forward_regressor", FORWARD_DYNAMICS.inputs, {"by_parameters": "regressor"}, _forward_regressor
)
