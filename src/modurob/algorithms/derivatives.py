"""Derivatives of inverse and forward dynamics, to the last digit, by a complex step through the algorithms themselves.

f(x + i h e) = f(x) + i h df/dx e + O(h²): with h = 1e-20 nothing cancels and the rest is below rounding. All directions
go through at once as a batch.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modurob.algorithms.composite import mass_matrix
from modurob.algorithms.configuration import integrate
from modurob.algorithms.forward import forward_dynamics
from modurob.algorithms.inverse import External, inverse_dynamics
from modurob.algorithms.kinematics import together
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

STEP = 1e-20


def complex_step(f: Callable[[Array], Array], n: int, axes: int) -> Array:
    """df/dx at zero, (..., k, n), of f: (n, ..., n) -> (n, ..., k) with `axes` batch axes."""
    directions = 1j * STEP * np.eye(n).reshape(n, *([1] * axes), n)
    return np.moveaxis(np.imag(f(directions)) / STEP, 0, -1)


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
    m: Tables, q: Array, v: Array, vdot: Array, external: External = None
) -> InverseDerivatives:
    """Derivatives of `inverse_dynamics`; external wrenches stay fixed in their frames."""
    q, v, vdot = together(q, v, vdot)
    axes = v.ndim - 1
    return InverseDerivatives(
        complex_step(lambda d: inverse_dynamics(m, integrate(m, q, d), v, vdot, external), m.nv, axes),
        complex_step(lambda d: inverse_dynamics(m, q, v + d, vdot, external), m.nv, axes),
        mass_matrix(m, q),
    )


def forward_dynamics_derivatives(
    m: Tables, q: Array, v: Array, tau: Array, external: External = None
) -> ForwardDerivatives:
    """Derivatives of `forward_dynamics`; external wrenches stay fixed in their frames."""
    q, v, tau = together(q, v, tau)
    axes = v.ndim - 1
    return ForwardDerivatives(
        complex_step(lambda d: forward_dynamics(m, integrate(m, q, d), v, tau, external), m.nv, axes),
        complex_step(lambda d: forward_dynamics(m, q, v + d, tau, external), m.nv, axes),
        complex_step(lambda d: forward_dynamics(m, q, v, tau + d, external), m.nv, axes),
    )
