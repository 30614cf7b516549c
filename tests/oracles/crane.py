"""Wagon on a rail with a hanging load: Gutenkunst (5.15a-b), solved for the accelerations."""

import numpy as np


def accelerations(phi, phid, ms, ml, l, force=0.0, torque=0.0, g=9.81):
    """(zdd, phidd); `force` drives the wagon, `torque` the rope's hinge."""
    M = np.array([[ms + ml, ml * l * np.cos(phi)], [ml * l * np.cos(phi), ml * l**2]])
    return np.linalg.solve(M, [force + ml * l * phid**2 * np.sin(phi), torque - ml * g * l * np.sin(phi)])
