"""Forward dynamics of any mechanism."""

from typing import Any

import numpy as np

from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.checks import first_state
from modurob.algorithms.constraints.rows import CONSTRAINED
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import together
from modurob.algorithms.program import Answer, Engine, Flow, Program, Run
from modurob.algorithms.siblings import SIBLING_DYNAMICS
from modurob.algorithms.wrenches import External, body_wrenches
from modurob.errors import SingularError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array


def forward_dynamics(
    m: Tables, q: Array, v: Array, tau: Array, external: External = None, run: Run = interpret
) -> Array:
    """vdot = M^-1 (tau + J^T F - C v - N), (..., nv), with constraints satisfied.

    Trees are solved by articulated bodies, including mimic joints beside their source; where other joints share
    coordinates or close loops, mass matrix and constraints are solved together.
    """
    answer = accelerations(m, q, v, tau, external, run)
    require_regular(m, answer.singular)
    return answer.results["vdot"]


def accelerations(m: Tables, q: Array, v: Array, tau: Array, external: External = None, run: Run = interpret) -> Answer:
    """vdot, and the joint that moves no inertia in each state, as `Answer` has it."""
    return run(dynamics_of(m), m, forward_inputs(m, q, v, tau, external))


def dynamics_of(m: Tables) -> Program | Flow:
    """The algorithm that suits a mechanism."""
    if m.constraints or (m.coupled and not m.hubs):
        return CONSTRAINED_DYNAMICS
    return SIBLING_DYNAMICS if m.coupled else FORWARD_DYNAMICS


def forward_inputs(m: Tables, q: Array, v: Array, tau: Array, external: External) -> dict[str, Array]:
    """The inputs of forward dynamics, with equal leading axes."""
    q, v, tau, *wrenches = together(q, v, tau, *body_wrenches(m, external))
    inputs = {"q": q, "v": v, "tau": tau}
    return {**inputs, "external": np.stack(wrenches, axis=-2)} if wrenches else inputs


def _constrained(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    """[[M, -K^T], [K, 0]] (vdot, lambda) = (tau - bias, k) (Lieskovsky (1.2.30), corrected)."""
    tau = inputs.pop("tau")
    terms = engine.run(CONSTRAINED, **inputs, vdot=engine.zeros("rates"))
    vdot, multipliers = engine.constrained(terms["M"], terms["K"], (tau, terms["bias"]), terms["k"])
    return {"vdot": vdot, "multipliers": multipliers}


CONSTRAINED_DYNAMICS = Flow(
    "constrained_dynamics",
    inputs=FORWARD_DYNAMICS.inputs,
    results={"vdot": "rates", "multipliers": "rows"},
    define=_constrained,
)


def require_regular(m: Tables, singular: Array, asked: str = "forward dynamics") -> None:
    """An error if a degree of freedom moves nothing in some state."""
    if not np.any(singular):
        return
    at, where = first_state(singular != 0)
    body = int(np.asarray(singular)[at])
    what = f"joint {singular_joint(m, body)!r} moves" if body > 0 else f"a degree of freedom of {m.name} moves"
    raise SingularError(
        f"{what} no inertia{where}, so {asked} has no answer: give the bodies it carries mass and extent, "
        "set an armature, or lock the joint"
    )


def singular_joint(m: Tables, body: int) -> str:
    """The joint that moves no inertia, by the body where that was found: of joints that share a rate, the one they follow."""
    followed = {j.v_slice.start for j in m.joints if j.mimics}
    on_it = [
        j
        for i, j in enumerate(m.joints, start=1)
        if m.parent[i] == body and j.v_slice.start in followed and not j.mimics
    ]
    return on_it[0].name if body in m.hubs and on_it else m.joints[body - 1].name
