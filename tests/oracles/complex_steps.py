"""Derivatives of forward dynamics by complex steps through all of the NumPy definition: slow, and exact."""

from modurob import algorithms
from modurob.algorithms.complex_steps import complex_step


def by_complex_steps(robot, q, v, tau, external=None):
    """d vdot by q, v and tau, (..., nv, nv) each."""
    axes, n = v.ndim - 1, robot.nv

    def forward(q, v, tau):
        return algorithms.forward_dynamics(robot, q, v, tau, external)

    return (
        complex_step(lambda d: forward(algorithms.integrate(robot, q, d), v, tau), n, axes),
        complex_step(lambda d: forward(q, v + d, tau), n, axes),
        complex_step(lambda d: forward(q, v, tau + d), n, axes),
    )
