"""Double pendulum of point masses in relative angles, hanging along gravity: Gutenkunst (5.13a-c)."""

import numpy as np


def mass_matrix(q, l1, l2, m1, m2):
    c2 = np.cos(q[1])
    off = l2 * m2 * (l2 + l1 * c2)
    return np.array([[l1**2 * (m1 + m2) + l2**2 * m2 + 2 * l1 * l2 * m2 * c2, off], [off, l2**2 * m2]])


def two_step_coriolis_matrix(q, v, l1, l2, m1, m2):
    return l1 * l2 * m2 * np.sin(q[1]) * np.array([[-2 * v[1], -v[1]], [v[0] - v[1], v[0]]])


def gravity_forces(q, l1, l2, m1, m2, g=9.81):
    tip = l2 * m2 * np.sin(q[0] + q[1])
    return g * np.array([tip + l1 * (m1 + m2) * np.sin(q[0]), tip])
