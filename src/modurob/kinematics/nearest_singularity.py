"""The nearest singular configuration, by numbers: steps along the gradient of the smallest singular value."""

from typing import NamedTuple

import numpy as np

from modurob.algorithms.configuration import integrate
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.jacobians import jacobian, jacobian_rate
from modurob.algorithms.program import Run
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array
from modurob.values import compared

MOST_STEPS = 60
SINGULAR = 1e-10
LONGEST = 0.3  # of one step, in the units of v times a second


@compared
class NearSingularity(NamedTuple):
    """A configuration near the given one where a singular value is `value`, as far as the steps led; singular if `found`."""

    q: Array
    value: float
    found: bool


def nearest_singularity(m: Tables, q: Array, frame: str, rows: list[int], run: Run = interpret) -> NearSingularity:
    """Newton steps on the smallest singular value s = u^T J w: ds/dq_k = u^T (dJ/dq_k) w, dq = -s ds/dq / |ds/dq|²."""
    q, best = np.array(q, float), (np.array(q, float), np.inf)
    for _ in range(MOST_STEPS):
        U, values, Vt = np.linalg.svd(jacobian(m, q, frame, run)[rows])
        k = min(len(rows), m.nv) - 1
        if values[k] < best[1]:
            best = q, float(values[k])
        if values[k] < SINGULAR:
            break
        slopes = jacobian_rate(m, np.broadcast_to(q, (m.nv, *q.shape)), np.eye(m.nv), frame)[:, rows]
        slope = U[:, k] @ slopes @ Vt[k]
        step = -values[k] * slope / max(slope @ slope, 1e-16)
        q = integrate(m, q, step * min(1.0, LONGEST / max(float(np.linalg.norm(step)), 1e-300)), run)
    return NearSingularity(*best, best[1] < SINGULAR)
