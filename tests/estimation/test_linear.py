"""Where the motion is linear both filters are the Kalman filter of the textbooks."""

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

import modurob as mr
from modurob.estimation import ExtendedKalmanFilter, HallSensors, UnscentedKalmanFilter
from modurob.spatial import inertia
from tests.estimation.runs import Running

DT = 0.01
RECIPES = [ExtendedKalmanFilter, UnscentedKalmanFilter]
MASSES, DAMPING, GRAVITY = (1.3, 0.7), (0.9, 0.4), np.array([0.5, 0.0, -9.81])
AXES = np.array([[1.0, 0.0, 0.0], [0.6, 0.0, 0.8]])


def slides() -> mr.Mechanism:
    """A damped mass on a slide that carries another on a slanted one: linear, coupled, with gravity along both."""
    builder = mr.Builder("slides", gravity=GRAVITY)
    for i, parent in enumerate(("world", "b0")):
        builder.body(
            f"b{i}",
            inertia.box(MASSES[i], (0.1, 0.1, 0.1)),
            parent=parent,
            joint=mr.Prismatic(tuple(AXES[i])),
            properties=mr.JointProperties(damping=DAMPING[i]),
        )
    return builder.build()


def discrete():
    """A, B and c of x' = A x + B tau + c, from Newton's law by hand and SciPy's exact discretisation."""
    # the first mass moves with the first slide, the second with both
    M = MASSES[0] * np.diag([1.0, 0.0]) + MASSES[1] * AXES @ AXES.T
    weight = np.array([(MASSES[0] + MASSES[1]) * GRAVITY @ AXES[0], MASSES[1] * GRAVITY @ AXES[1]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.zeros((2, 2)), -np.linalg.solve(M, np.diag(DAMPING))]])
    B = np.vstack([np.zeros((2, 2)), np.linalg.inv(M)])
    A, B, *_ = scipy.signal.cont2discrete((A, B, np.eye(2, 4), np.zeros((2, 2))), DT)
    return A, B, B @ weight


class Textbook:
    """The Kalman filter with the short form of P, for angles first and rates last."""

    def __init__(self, x, P, Q, R):
        (self.A, self.B, self.c), self.H = discrete(), np.eye(2, 4)
        self.x, self.P, self.Q, self.R = x, P, Q, R

    def predict(self, tau):
        self.x = self.A @ self.x + self.B @ tau + self.c
        self.P = self.A @ self.P @ self.A.T + self.Q

    def correct(self, y):
        K = self.P @ self.H.T @ np.linalg.inv(self.H @ self.P @ self.H.T + self.R)
        self.x = self.x + K @ (y - self.H @ self.x)
        self.P = (np.eye(4) - K @ self.H) @ self.P


Q = np.diag([1e-6, 2e-6, 1e-4, 3e-4])
R = np.array([[1e-4, 2e-5], [2e-5, 3e-4]])
START = np.diag([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("delay", [0, 2])
def test_every_estimate_is_the_textbook_one(rng, recipe, delay):
    """Lost samples and late ones too: a late sample corrects the belief of its own time."""
    sensors = HallSensors(delay=delay)
    recipe = recipe(sensors, Q=Q, R=R, start=START)
    ours = Running(recipe, slides(), np.array([0.3, -0.2]), np.array([1.0, 0.5]), DT)
    theirs = Textbook(np.array([0.3, -0.2, 1.0, 0.5]), START, Q, R)
    torques = []
    for k in range(20):
        tau = rng.normal(size=2)
        y = rng.normal(size=2) if k >= delay and rng.random() < 0.7 else None
        q, v = ours.update(k * DT, tau, y)
        if k:
            torques.append(tau)
        if len(torques) > delay:
            theirs.predict(torques.pop(0))
        if y is not None:
            theirs.correct(y)
        now = Textbook(theirs.x, theirs.P, Q, R)
        for held in torques:
            now.predict(held)
        # Runge and Kutta's rule leaves (DT damping / mass)^5 / 120 ~ 1e-12 of a rate at every step
        np.testing.assert_allclose(np.concatenate([q, v]), now.x, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.belief.P, now.P, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_gain_settles_where_the_riccati_equation_says(recipe):
    ours = Running(recipe(Q=Q, R=R, start=START), slides(), np.zeros(2), np.zeros(2), DT)
    for k in range(200):
        ours.update(k * DT, np.zeros(2), np.zeros(2))
    A, H = discrete()[0], np.eye(2, 4)
    P = scipy.linalg.solve_discrete_are(A.T, H.T, Q, R)
    np.testing.assert_allclose(ours.innovation.S, H @ P @ H.T + R, rtol=1e-8)
    K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    np.testing.assert_allclose(ours.belief.P, (np.eye(4) - K @ H) @ P, rtol=1e-7, atol=1e-12)


def test_noise_enters_through_W_and_V(rng):
    W, V = rng.normal(size=(4, 3)), rng.normal(size=(2, 2))
    plain = ExtendedKalmanFilter(Q=W @ W.T * 0.1, R=V @ np.diag([1.0, 2.0]) @ V.T)
    mapped = ExtendedKalmanFilter(Q=0.1, W=W, R=[1.0, 2.0], V=V)
    beliefs = []
    for recipe in (plain, mapped):
        estimator = Running(recipe, slides(), np.zeros(2), np.zeros(2), DT)
        for k in range(3):
            estimator.update(k * DT, np.ones(2), np.array([0.1, k]))
        beliefs.append(estimator.belief)
    for found, expected in zip(*beliefs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_noises_of_document_003():
    """Meister, Gutenkunst, Levi (52)-(55): the filter of the paper, written out or in short."""
    crab = mr.load("crab").mechanism(base="m0")
    short = ExtendedKalmanFilter(Q=(0.1, 1e-4), R=1.0)
    long = ExtendedKalmanFilter(Q=np.diag([0.1] * 3 + [1e-4] * 3), R=np.eye(3), W=np.eye(6), V=np.eye(3))
    found = [Running(recipe, crab, np.zeros(3), np.zeros(3), DT) for recipe in (short, long)]
    for estimator in found:
        estimator.update(0.0, np.zeros(3), np.full(3, 0.1))
        estimator.update(DT, np.ones(3), np.full(3, 0.2))
    np.testing.assert_array_equal(found[0].belief.P, found[1].belief.P)
    np.testing.assert_array_equal(found[0].belief.q, found[1].belief.q)
