"""True motions with process noise, and filters run along them, many at once."""

from typing import NamedTuple

import numpy as np

import modurob as mr
from modurob.estimation import nees
from modurob.estimation.kalman import Beliefs
from modurob.simulation.steppers import RungeKutta4
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State


def advanced(robot: mr.Mechanism, q, v, tau, dt: float, steps: int = 1):
    """(q, v) after so many steps of dt by Runge and Kutta's rule, torques held."""
    state = State(np.asarray(q), np.asarray(v), np.zeros((*np.shape(v)[:-1], 0)))
    q, v, _ = Mover(robot, RungeKutta4(dt)).advance(0.0, state, np.broadcast_to(tau, np.shape(v)), steps * dt).state
    return q, v


class Running:
    """A filter with its memory, for tests that follow one belief."""

    def __init__(self, recipe, robot: mr.Mechanism, q, v, dt: float):
        self.filter = recipe.on(robot, dt)
        self.memory: Beliefs = self.filter.start(q, v)

    def measured(self, t, q, v, rng, vdot=None):
        """What arrives from the sensors."""
        vdot = np.zeros(np.shape(v)) if vdot is None else vdot
        self.memory, y = self.filter.measure(self.memory, t, q, v, vdot, rng)
        return y

    def update(self, t, tau, y):
        """The estimate (q, v)."""
        self.memory, estimate = self.filter.update(self.memory, t, tau, y)
        return estimate

    @property
    def belief(self):
        return self.memory.belief

    @property
    def innovation(self):
        return self.memory.innovation


class Truth(NamedTuple):
    """States at the samples, (samples + 1, runs, ...), and the torques held after each, (samples, nv)."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


def true_runs(rng, robot: mr.Mechanism, first, runs: int, samples: int, dt: float, Q, start) -> Truth:
    """Runs from around the state `first`, in steps a quarter of a sample, moved by noise of variances Q after each sample."""
    n, nv = 2 * robot.nv, robot.nv

    def disturbed(q, v, variances):
        dx = rng.normal(size=(runs, n)) * np.sqrt(variances)
        return robot.integrate(q, dx[:, :nv]), v + dx[:, nv:]

    tau = 0.2 * np.sin(5 * dt * np.arange(samples)[:, None] + np.arange(nv))
    states = [disturbed(*first, start)]
    for k in range(samples):
        q, v = advanced(robot, *states[-1], tau[k], dt / 4, 4)
        states.append(disturbed(q, v, Q))
    return Truth(*(np.stack(x) for x in zip(*states, strict=True)), tau)


class Followed(NamedTuple):
    """Along a run: errors dx, (samples + 1, runs, 2 nv), their normalised squares, and the innovations."""

    dx: np.ndarray
    nees: np.ndarray
    innovations: list
    readings: list
    estimator: Running


def followed(rng, robot, recipe, first, truth: Truth, dt: float) -> Followed:
    """The filter of `recipe` along the true runs, started at the belief `first`."""
    runs = truth.q.shape[1]
    estimator = Running(recipe, robot, *(np.tile(x, (runs, 1)) for x in first), dt)
    dx, squares, innovations, readings = [], [], [], []
    for k, (q, v) in enumerate(zip(truth.q, truth.v, strict=True)):
        tau = truth.tau[k - 1] if k else np.zeros(robot.nv)
        y = estimator.measured(k * dt, q, v, rng, robot.forward_dynamics(q, v, np.broadcast_to(tau, v.shape)))
        q_hat, v_hat = estimator.update(k * dt, tau, y)
        dx.append(np.concatenate([robot.difference(q_hat, q), v - v_hat], axis=-1))
        squares.append(nees(robot, estimator.belief, q, v))
        innovations.append(estimator.innovation)
        readings.append(y)
    return Followed(np.stack(dx), np.stack(squares), innovations, readings, estimator)
