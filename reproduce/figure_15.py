"""Meister et al. Fig. 15: the crab under computed torque, its states estimated from noisy angles by an extended Kalman filter."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.linalg import expm, solve_discrete_are, solve_discrete_lyapunov

from modurob.control import ComputedTorque, gains_by_poles, linearised
from modurob.estimation import ExtendedKalmanFilter, HallSensors
from modurob.robot import Mechanism, load
from modurob.simulation import Controller, RungeKutta4
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.pictures import legend
from reproduce.step_response import linear_step

FIGURE = "Meister et al. Fig. 15"
Q, R = np.diag(np.repeat([0.1, 1e-4], 3)), np.eye(3)  # (52), (54); W and V are the identity
# the paper gives neither noise nor sample time, gains and steps
NOISE, SAMPLE_TIME, DURATION = 0.02, 5e-3, 4.0  # [rad], [s], [s]
POLES, GOAL = (-5.0, -5.0), np.array([0.5, -0.4, 0.3])  # [1/s], [rad]
RUNS, SETTLED = 40, 2.0  # side by side, with noise of their own; [s], after which the step is done
FILTER = ExtendedKalmanFilter(HallSensors(noise=NOISE, resolution=0.0), Q=Q, R=R)


class Loop(NamedTuple):
    """What went round in the loop of Meister et al. Figure 14, (samples, runs, 3) each."""

    q: Array
    v: Array
    measured: Array
    q_hat: Array
    v_hat: Array


class Rest(NamedTuple):
    """The filter after long rest at the goal: a step dx' = F dx, the covariances before and after a correction, and its gain."""

    F: Array
    before: Array
    after: Array
    K: Array


def reproduced() -> Reproduction:
    """The loop with the paper's Q, R, W and V; its errors beside what linear theory says of this filter."""
    crab = load("crab").robot().ideal()
    kp, kd, _ = (float(gain) for gain in gains_by_poles(POLES))
    loop, rest = closed_loop(crab, ComputedTorque(kp, kd, GOAL)), at_rest(crab)
    t = SAMPLE_TIME * np.arange(len(loop.q))
    late = t >= SETTLED
    quiet = linear_step([kp], [1, kd, kp], t)[:, None] * GOAL
    differences = np.diff(loop.measured, axis=0, prepend=np.nan) / SAMPLE_TIME
    angle, rate, by_differences = (
        rms(x[late]) for x in (loop.q_hat - loop.q, loop.v_hat - loop.v, differences - loop.v)
    )
    off, predicted = apart(loop.q.mean(axis=1), quiet), expected_error(rest)
    checks = [
        Check(FIGURE, "covariance at rest against Riccati's equation (SciPy)", 0.0, drift(crab, rest), 1e-6),
        Check(FIGURE, "error of estimated angles against theory", predicted, angle, 0.05 * predicted, "rad"),
        Check(FIGURE, "error of estimated rates, over that of differences", 0.0, rate / by_differences, 0.2),
        Check(FIGURE, f"mean of {RUNS} runs against one without noise", 0.0, off, NOISE, "rad"),
    ]
    return Reproduction(checks, picture(t, Loop(*(x[:, 0] for x in loop))))


def closed_loop(crab: Mechanism, controller: Controller) -> Loop:
    """From rest at zero to the goal. The filter starts there too, but not sure of it."""
    q, v, tau = np.zeros((3, RUNS, 3))
    law, watch, rng = controller.on(crab), FILTER.on(crab, SAMPLE_TIME), np.random.default_rng(15)
    mover, memory, belief, rows = Mover(crab, RungeKutta4(SAMPLE_TIME / 5)), law.start(), watch.start(q, v), []
    for k in range(round(DURATION / SAMPLE_TIME) + 1):
        t = k * SAMPLE_TIME
        belief, (y,) = watch.measure(belief, t, q, v, np.zeros_like(v), rng)  # angles do not tell accelerations
        belief, seen = watch.update(belief, t, tau, y)
        rows.append((q, v, y, *seen))
        memory, tau = law.step(memory, t, seen)
        q, v, _ = mover.advance(t, State(q, v, np.zeros((RUNS, 0))), tau, SAMPLE_TIME).state
    return Loop(*(np.array(column) for column in zip(*rows, strict=True)))


def at_rest(crab: Mechanism) -> Rest:
    """Where (50) and (51) come to rest, by SciPy: P = F (P - K H P) F^T + Q with K = P H^T (H P H^T + R)^-1, F = exp(A dt)."""
    F, H = expm(SAMPLE_TIME * linearised(crab, GOAL).A), np.eye(6)[:3]
    P = solve_discrete_are(F.T, H.T, Q, R)
    K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    return Rest(F, (P + P.T) / 2, P - K @ H @ P, K)


def drift(crab: Mechanism, rest: Rest) -> float:
    """How far a hundred updates carry P off its rest, relative to it."""
    watch = replace(FILTER, start=rest.before).on(crab, SAMPLE_TIME)
    memory = watch.start(GOAL, np.zeros(3))
    for k in range(100):
        memory, _ = watch.update(memory, k * SAMPLE_TIME, crab.gravity_forces(GOAL), GOAL)
    return float(np.abs(memory.belief.P - rest.after).max() / np.abs(rest.after).max())


def expected_error(rest: Rest) -> float:
    """Root mean square of dq [rad] where dx' = (1 - K H) F dx - K n, with the noise n that the sensors really have."""
    A = rest.F - rest.K @ rest.F[:3]
    covariance = solve_discrete_lyapunov(A, NOISE**2 * rest.K @ rest.K.T)
    return float(np.sqrt(np.diagonal(covariance)[:3].mean()))


def rms(x: Array) -> float:
    """Root of the mean square."""
    return float(np.sqrt((x**2).mean()))


def picture(t: Array, loop: Loop) -> Figure:
    """The four panels of the paper, for one run."""
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    axes: Any = figure.subplots(2, 2, sharex=True)
    shown = {
        "(a) measured angles [rad]": (loop.measured, None),
        "(b) states [rad], [rad/s]": (loop.q, loop.v),
        "(c) estimated states [rad], [rad/s]": (loop.q_hat, loop.v_hat),
        "(d) error of the estimate [rad], [rad/s]": (loop.q - loop.q_hat, loop.v - loop.v_hat),
    }
    for axis, (title, (angles, rates)) in zip(axes.flat, shown.items(), strict=True):
        for k in range(3):
            axis.plot(t, angles[:, k], color=f"C{k}", lw=1.2)
            if rates is not None:
                axis.plot(t, rates[:, k], color=f"C{k}", lw=1, ls=":")
        axis.set_title(title, fontsize="medium")
        axis.grid(alpha=0.3)
        axis.margins(x=0)
    for axis in axes[1]:
        axis.set_xlabel("time [s]")
    figure.suptitle(f"{FIGURE}: the crab under computed torque, states estimated from noisy angles")
    legend(figure, ("m0/hinge", "m2/hinge", "m4/hinge"), Line2D([], [], color="0.4", ls=":", label="rates"))
    return figure
