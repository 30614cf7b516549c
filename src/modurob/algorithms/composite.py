"""The mass matrix by composite bodies (001 5.6.1.3, mended)."""

import numpy as np

from modurob.algorithms.kinematics import dyads
from modurob.algorithms.recursion import inward
from modurob.algorithms.steps import transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array, as_array


def mass_matrix(m: Tables, q: Array) -> Array:
    """M(q), (..., nv, nv): symmetric, positive definite where every freedom moves inertia.

    The composite inertia of joint i is that of all it carries; its momentum per unit rate, taken back along the ancestors,
    gives column i.
    """
    q = as_array(q)
    links = dyads(m, q)
    composite = inward(m, [(I,) for I in m.inertia], lambda i, total: (inertia.to_parent(links[i].X, total[0]),))
    M = np.zeros((*q.shape[:-1], m.nv, m.nv), dtype=np.result_type(q, m.inertia, m.X_PJ))
    M[...] = np.diag(m.armature)
    for i, joint in enumerate(m.joints, start=1):
        momentum = composite[i][0] @ links[i].S
        M[..., joint.v_slice, joint.v_slice] += transposed(links[i].S) @ momentum
        for child, ancestor in zip(m.ancestors[i], m.ancestors[i][1:], strict=False):
            momentum = transposed(se3.Ad_inverse(links[child].X)) @ momentum
            block = transposed(links[ancestor].S) @ momentum
            other = m.joints[ancestor - 1].v_slice
            M[..., other, joint.v_slice] += block
            M[..., joint.v_slice, other] += transposed(block)
    return M
