"""The full equations of motion, passive forces included, and the acceleration that follows from them: what controllers need at
every sample, in one evaluation each.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.constraints.rows import CONSTRAINED
from modurob.algorithms.forces import acting
from modurob.algorithms.forward import dynamics_of, require_regular
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.joint_space import EQUATIONS
from modurob.algorithms.program import Engine, Flow, Program, Run
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array


class FullEquations(NamedTuple):
    """M vdot = tau + force + K^T lambda, K vdot = k in one state: M, (nv, nv), with rotors; force, (nv,), of
    passive forces less C v + N; K, (rows, nv), and k, (rows,)."""

    M: Array
    force: Array
    K: Array
    k: Array


def full_equations(m: Tables, q: Array, v: Array, t: float = 0.0, run: Run = interpret) -> FullEquations:
    """The equations in one state, without dry friction; states x of forces are at their initial values."""
    found = run(_equations(acting(m).nx, bool(m.constraints)), m, _inputs(m, q, v, t)).results
    none = np.zeros((0, m.nv)), np.zeros(0)
    K, k = (found["K"], found["k"]) if m.constraints else none
    return FullEquations(found["M"] + np.diag(m.armature), found["force"], K, k)


def full_acceleration(m: Tables, q: Array, v: Array, tau: Array, t: float = 0.0, run: Run = interpret) -> Array:
    """vdot, (nv,), in one state under torques and passive forces, with constraints satisfied."""
    answer = run(_acceleration(acting(m).nx, dynamics_of(m)), m, {**_inputs(m, q, v, t), "tau": tau})
    require_regular(m, answer.singular)
    return answer.results["vdot"]


def _inputs(m: Tables, q: Array, v: Array, t: float) -> dict[str, Array]:
    return {"t": np.array([t], dtype=float), "q": q, "v": v, "x": acting(m).start()}


@lru_cache(maxsize=64)
def _equations(nx: int, closed: bool) -> Flow:
    terms = CONSTRAINED if closed else EQUATIONS
    results = {"M": "matrix", "force": "rates"} | ({"K": "row matrix", "k": "rows"} if closed else {})

    def define(e: Engine, i: dict[str, Any]) -> dict[str, Any]:
        own = e.forces(i["t"], i["q"], i["v"], i["x"])
        found = e.run(terms, q=i["q"], v=i["v"], vdot=e.zeros("rates"), external=own.external)
        return {**found, "force": own.tau - found["bias"]}

    return Flow(f"full_{terms.name} {nx}", _state(nx), results, define)


@lru_cache(maxsize=64)
def _acceleration(nx: int, dynamics: Program | Flow) -> Flow:
    def define(e: Engine, i: dict[str, Any]) -> dict[str, Any]:
        own = e.forces(i["t"], i["q"], i["v"], i["x"])
        return e.run(dynamics, q=i["q"], v=i["v"], tau=i["tau"] + own.tau, external=own.external)

    return Flow(f"full_{dynamics.name} {nx}", {**_state(nx), "tau": "rates"}, {"vdot": "rates"}, define)


def _state(nx: int) -> dict[str, str | int]:
    return {"t": 1, "q": "coordinates", "v": "rates", "x": nx}
