"""Meister et al. Fig. 15: the crab under computed torque, its states estimated from noisy angles by an extended Kalman filter."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.linalg import expm, solve_discrete_are, solve_discrete_lyapunov

from modurob.control import ComputedTorque, gains_by_poles
from modurob.estimation import ExtendedKalmanFilter, HallSensors
from modurob.robot import Mechanism, load
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.engine import MISSING, Engine, installed
from reproduce.pictures import legend
from reproduce.step_response import linear_step

FIGURE = "Meister et al. Fig. 15"
# (52), (54); W and V are the identity. The paper does not say which half of Q is that of the angles
READINGS = {
    "Q angles first": np.diag(np.repeat([0.1, 1e-4], 3)),
    "Q rates first": np.diag(np.repeat([1e-4, 0.1], 3)),
}
R = np.eye(3)
# the paper gives neither noise nor sample time, gains and steps
NOISE, SAMPLE_TIME, DURATION = 0.02, 1e-2, 3.0  # [rad], [s], [s]
POLES, GOAL = (-5.0, -5.0), np.array([0.5, -0.4, 0.3])  # [1/s], [rad]
RUNS, SETTLED = 80, 1.5  # side by side, with noise of their own; [s], after which the step is done
LIGHT, FEW = 0.9, 4  # kg of each module in a wrong model; runs with it
SMALL = 1e-5  # a displacement [rad], or a rate [rad/s]


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
    """The loop with the paper's Q, R, W and V around MuJoCo's crab; its errors beside what linear theory says of this filter.

    Law and filter are made for our crab; then for one whose modules are 10 % light.
    """
    if not installed():
        nothing = np.full((2, 3), np.nan)
        lines = [Check.skipped(FIGURE, "MuJoCo's crab, law and filter", MISSING)]
        return Reproduction(lines, picture(np.arange(2.0), Loop(*[nothing] * 5)))
    crab, engine = load("crab"), Engine.load("crab")
    light = crab.with_parameters({name: {"mass": LIGHT} for name in crab.modules}).robot().ideal()
    checks, loops, wrong = [], [], []
    for name, Q in READINGS.items():
        loop, lines = judged(engine, crab.robot().ideal(), Q, name)
        checks += lines
        loops.append(loop)
        wrong.append(closed_loop(engine, light, estimator(Q), FEW))
    for what, error, most in (("error of estimated rates", rate_error, 0.5), ("tracking error", tracking_error, 0.75)):
        angles_first, rates_first = map(error, wrong)
        ratio = rates_first / angles_first
        checks.append(Check(FIGURE, f"models 10 % light: {what}, Q rates first over angles first", 0.0, ratio, most))
    return Reproduction(checks, picture(samples(), Loop(*(x[:, 0] for x in loops[0]))))


def rate_error(loop: Loop) -> float:
    """Root mean square of the estimated rates' error after the step [rad/s]."""
    return rms((loop.v_hat - loop.v)[samples() >= SETTLED])


def tracking_error(loop: Loop) -> float:
    """Root mean square distance from the goal after the step [rad]."""
    return rms(loop.q[samples() >= SETTLED] - GOAL)


def judged(engine: Engine, crab: Mechanism, Q: Array, name: str) -> tuple[Loop, list[Check]]:
    """The loop for one reading of Q, and its lines."""
    loop, rest = closed_loop(engine, crab, estimator(Q), RUNS), at_rest(engine, Q)
    t, (kp, kd) = samples(), gains()
    late = t >= SETTLED
    quiet = linear_step([kp], [1, kd, kp], t)[:, None] * GOAL
    differences = np.diff(loop.measured, axis=0, prepend=np.nan) / SAMPLE_TIME
    angle, by_differences = (rms(x[late]) for x in (loop.q_hat - loop.q, differences - loop.v))
    off, predicted = apart(loop.q.mean(axis=1), quiet), expected_error(rest)
    drifted = drift(engine, crab, estimator(Q), rest)
    return loop, [
        Check(FIGURE, f"{name}: covariance at rest against Riccati's equation (SciPy)", 0.0, drifted, 1e-6),
        Check(FIGURE, f"{name}: error of estimated angles against theory", predicted, angle, 0.05 * predicted, "rad"),
        Check(
            FIGURE,
            f"{name}: error of estimated rates, over that of differences",
            0.0,
            rate_error(loop) / by_differences,
            0.2,
        ),
        Check(FIGURE, f"{name}: mean of {RUNS} runs against one without noise", 0.0, off, NOISE, "rad"),
    ]


def estimator(Q: Array) -> ExtendedKalmanFilter:
    """The paper's filter."""
    return ExtendedKalmanFilter(HallSensors(noise=NOISE, resolution=0.0), Q=Q, R=R)


def gains() -> tuple[float, float]:
    """kp [1/s²] and kd [1/s]."""
    kp, kd, _ = gains_by_poles(POLES)
    return float(kp), float(kd)


def samples() -> Array:
    """Times of the samples [s]."""
    return SAMPLE_TIME * np.arange(round(DURATION / SAMPLE_TIME) + 1)


def closed_loop(engine: Engine, model: Mechanism, recipe: ExtendedKalmanFilter, runs: int) -> Loop:
    """MuJoCo's crab from rest at zero to the goal, under law and filter made for a model. The filter is not sure of the start."""
    q, v, tau = np.zeros((3, runs, 3))
    law, watch, rng = (
        ComputedTorque(*gains(), GOAL).on(model),
        recipe.on(model, SAMPLE_TIME),
        np.random.default_rng(15),
    )
    memory, belief, rows = law.start(), watch.start(q, v), []
    for t in samples():
        belief, (y,) = watch.measure(belief, t, q, v, np.zeros_like(v), rng)  # angles do not tell accelerations
        belief, seen = watch.update(belief, t, tau, y)
        rows.append((q, v, y, *seen))
        memory, tau = law.step(memory, t, seen)
        q, v = engine.advanced(q, v, tau, SAMPLE_TIME, 4)
    return Loop(*(np.array(column) for column in zip(*rows, strict=True)))


def linearised(engine: Engine) -> Array:
    """dx'/dx of MuJoCo's crab held at the goal, x = (dq, dv), by differences, (6, 6)."""
    tau, step = engine.gravity_forces(GOAL), SMALL * np.eye(3)
    still = np.zeros(3)
    by_q = [engine.accelerations(GOAL + d, still, tau) - engine.accelerations(GOAL - d, still, tau) for d in step]
    by_v = [engine.accelerations(GOAL, d, tau) - engine.accelerations(GOAL, -d, tau) for d in step]
    return np.block([[np.zeros((3, 3)), np.eye(3)], [np.transpose(by_q) / 2 / SMALL, np.transpose(by_v) / 2 / SMALL]])


def at_rest(engine: Engine, Q: Array) -> Rest:
    """Where (50) and (51) come to rest, by SciPy: P = F (P - K H P) F^T + Q with K = P H^T (H P H^T + R)^-1, F = exp(A dt)."""
    F, H = expm(SAMPLE_TIME * linearised(engine)), np.eye(6)[:3]
    P = solve_discrete_are(F.T, H.T, Q, R)
    K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    return Rest(F, (P + P.T) / 2, P - K @ H @ P, K)


def drift(engine: Engine, crab: Mechanism, recipe: ExtendedKalmanFilter, rest: Rest) -> float:
    """How far a hundred updates carry P off its rest, relative to it."""
    watch = replace(recipe, start=rest.before).on(crab, SAMPLE_TIME)
    memory = watch.start(GOAL, np.zeros(3))
    for k in range(100):
        memory, _ = watch.update(memory, k * SAMPLE_TIME, engine.gravity_forces(GOAL), GOAL)
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
