"""Where a robot stays: equilibria under its own weight, lines and springs, with loops kept closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob import algorithms, kernels
from modurob.algorithms.constraints.torques import free_motions
from modurob.algorithms.forces import passive_slopes
from modurob.errors import ClosureError, explained
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.values import compared

# forces that count as balanced, in parts of those that act; Newton steps towards it; the longest [rad or m]
BALANCED, STEPS, LONGEST = 1e-11, 100, 0.2


@compared
class Equilibrium(NamedTuple):
    """A configuration at rest, (nq,), and how it swings: stiffness, (n, n), of motions G, (nv, n), and frequencies [rad/s].

    Squares of frequencies below zero, given as negative frequencies, are falls: e^(w t).
    """

    q: Array
    G: Array
    stiffness: Array
    frequencies: Array

    @property
    def stable(self) -> bool:
        """Whether every small motion is pulled back."""
        return bool(np.linalg.eigvalsh(self.stiffness).min(initial=np.inf) > 0)


@explained
def equilibrium(robot: Mechanism, q0: ArrayLike, tau: ArrayLike | None = None) -> Equilibrium:
    """The equilibrium nearest to q0, (nq,), under constant torques tau, (nv,): G^T (tau + passive - N) = 0, by Newton
    steps.

    It may be unstable: see `stable`. Frequencies are those of small undamped oscillations, w² the eigenvalues of M^-1
    stiffness in the motions that satisfy the constraints (modal analysis).

    >>> b = mr.Builder("hung")
    >>> ball = b.body("ball", mr.spatial.inertia.sphere(1.0, 0.1), joint=mr.Prismatic((0, 0, 1)))
    >>> b.line("rope", [("world", (0, 0, 1)), ("ball", (0, 0, 0))], mr.Elastic(stiffness=98.1, rest=1.0))
    >>> found = mr.equilibrium(b.build(), [-0.2])
    >>> found.q.round(6), found.frequencies.round(4), found.stable
    (array([-0.1]), array([9.9045]), True)
    """
    q, still = robot._one_q(q0, "q0"), np.zeros(robot.nv)
    held = still if tau is None else robot._v(tau, "tau")
    q = robot.close_loops(q) if robot.constraints else q
    left = size = 0.0
    for _ in range(STEPS):
        push = held + robot.passive_forces(q, still) - robot.gravity_forces(q)
        G, multipliers = _free(robot, q, push)
        force = G.T @ push
        size = max(
            np.abs(held).max(initial=0.0), np.abs(robot.gravity_forces(q)).max(initial=0.0), _pulls(robot, q), 1e-300
        )
        left = np.abs(force).max(initial=0.0)
        if left <= BALANCED * size:
            return _settled(robot, q, G, multipliers)
        step = G @ _step(stiffness(robot, q, G, multipliers), force, size)
        q = robot.integrate(q, step * min(1.0, LONGEST / max(np.abs(step).max(), 1e-300)))
        q = robot.close_loops(q) if robot.constraints else q
    raise ClosureError(
        f"{robot.name}: no equilibrium near after {STEPS} steps, {left:.3g} N or N m are left of {size:.3g}: start closer"
    )


def _step(K: Array, force: Array, size: float) -> Array:
    """A Newton step; where nothing resists a force, as below a line that is slack, the longest one along it."""
    step = np.linalg.lstsq(K, force, rcond=1e-12)[0]
    left = force - K @ step
    largest = np.abs(left).max(initial=0.0)
    return step + LONGEST / largest * left if largest > BALANCED * size else step


def _pulls(robot: Mechanism, q: Array) -> float:
    J = robot.line_jacobian(q)
    T = robot.line_tensions(q, np.zeros(robot.nv))
    return float((np.abs(J) * T[:, None]).max(initial=0.0))


def _free(robot: Mechanism, q: Array, push: Array) -> tuple[Array, Array]:
    """Motions that keep the constraints, and the multipliers that balance the rest: K^T lambda = -push beside them."""
    if not robot.constraints:
        return np.eye(robot.nv), np.zeros(0)
    K = robot.loop_jacobian(q)
    return free_motions(K), np.linalg.lstsq(K.T, -push, rcond=1e-10)[0]


def stiffness(robot: Mechanism, q: Array, G: Array, multipliers: Array) -> Array:
    """-G^T d(passive - N + K^T lambda)/dq G, (n, n), along motions G."""
    still = np.zeros(robot.nv)
    tree = algorithms.tree_inverse_dynamics_derivatives(robot, q, still, still, run=kernels.run)
    slopes = tree.q - passive_slopes(robot, q, still)[0]
    if len(multipliers):
        slopes = slopes - _turning(robot, q, multipliers)
    return G.T @ slopes @ G


def _turning(robot: Mechanism, q: Array, multipliers: Array, h: float = 1e-6) -> Array:
    """d(K^T lambda)/dq, (nv, nv), by central differences."""
    steps = h * np.eye(robot.nv)
    ends = [[robot.loop_jacobian(robot.integrate(q, s * d)).T @ multipliers for s in (1, -1)] for d in steps]
    return np.stack([(a - b) / (2 * h) for a, b in ends], axis=-1)


def _settled(robot: Mechanism, q: Array, G: Array, multipliers: Array) -> Equilibrium:
    own = stiffness(robot, q, G, multipliers)
    own = (own + own.T) / 2
    L = np.linalg.cholesky(G.T @ robot.mass_matrix(q) @ G)
    inner = np.linalg.solve(L, np.linalg.solve(L, own).T)
    squares = np.linalg.eigvalsh((inner + inner.T) / 2)
    return Equilibrium(q, G, own, np.sign(squares) * np.sqrt(np.abs(squares)))
