"""Motion of any mechanism by SciPy's integrator, for tests that watch a robot for a while."""

import numpy as np
from scipy.integrate import solve_ivp

STEP = 1e-20


def moved(robot, q, v, tau, duration, tolerance=1e-12):
    """q and v after `duration` seconds under the constant torque `tau`; dq/dt comes from a complex step along `integrate`."""

    def rate(_, x):
        q, v = x[: robot.nq], x[robot.nq :]
        qdot = np.imag(robot.integrate(q, 1j * STEP * v)) / STEP
        return np.concatenate([qdot, robot.forward_dynamics(q, v, tau)])

    solution = solve_ivp(
        rate,
        (0, duration),
        np.concatenate([q, v]),
        "DOP853",
        rtol=tolerance,
        atol=tolerance,
        first_step=min(duration, 0.05),
    )
    assert solution.success, solution.message
    return solution.y[: robot.nq, -1], solution.y[robot.nq :, -1]
