"""The linear inverted pendulum and preview control: closed forms, and least squares over the whole walk."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import modurob as mr

WALKER = mr.LinearPendulum(0.8)
W = WALKER.omega


def test_the_closed_form_solves_the_equation():
    def rate(_, s):
        return [s[1], W**2 * (s[0] - 0.07)]

    exact = solve_ivp(rate, (0, 0.6), [-0.1, 0.5], rtol=1e-12, atol=1e-12).y[:, -1]
    assert WALKER.after(0.6, -0.1, 0.5, 0.07) == pytest.approx(exact, abs=1e-10)
    t = np.linspace(0, 0.5, 7)
    x, v = WALKER.after(t, -0.1, 0.5, 0.07)
    assert np.ptp(WALKER.orbital_energy(x, v, 0.07)) < 1e-12
    # the capture point runs away from the foot
    assert WALKER.capture_point(x, v) - 0.07 == pytest.approx((WALKER.capture_point(-0.1, 0.5) - 0.07) * np.exp(W * t))


def test_a_foot_on_the_capture_point_brings_it_to_rest():
    x, v = np.array([0.05, -0.02]), np.array([0.4, 0.3])
    end = WALKER.after(6.0, x, v, WALKER.capture_point(x, v))
    assert end.x == pytest.approx(WALKER.capture_point(x, v), abs=1e-6)
    assert end.v == pytest.approx(np.zeros(2), abs=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_capture_in_so_many_steps(steps):
    """From the edge of the region the longest and quickest steps put the last foot on the capture point; from beyond not."""
    l, T = 0.5, 0.35
    for start, caught in ((1.0, True), (1.001, False)):
        xi, foot = start * WALKER.capture_radius(l, T, steps), 0.0
        for _ in range(steps):
            x, v = WALKER.after(T, xi, 0.0, foot)
            xi = WALKER.capture_point(x, v)
            foot = min(foot + l, xi)
        assert bool(abs(foot - xi) < 1e-9) is caught


def test_the_region_of_many_steps():
    assert WALKER.capture_radius(0.5, 0.35, 200) == pytest.approx(WALKER.capture_radius(0.5, 0.35))
    assert WALKER.capture_radius(0.5, 0.35, 0) == 0


# ---- preview ----


def test_preview_is_the_least_of_all_walks():
    """The jerks of the whole walk from one linear least-squares problem with all steps known."""
    law = mr.PreviewControl(height=0.8, sample_time=0.02, samples=150, R=1e-5)
    p = np.repeat([0.0, 0.2, 0.1, 0.5, 0.5], [30, 25, 25, 20, 300])
    walk, (A, b, c), n = law.walk(p), law.model, len(p) - 1
    columns = [b]
    for _ in range(n - 1):
        columns.append(A @ columns[-1])
    effect = np.array([c @ x for x in columns])
    forced = np.array([[effect[k - j] if k >= j else 0.0 for j in range(n)] for k in range(n)])
    change = np.eye(n) - np.eye(n, k=-1)
    rows = np.concatenate([np.sqrt(law.Q) * forced, np.sqrt(law.R) * change])
    u = np.linalg.lstsq(rows, np.concatenate([np.sqrt(law.Q) * p[1:], np.zeros(n)]), rcond=None)[0]
    assert walk.zmp[1:] == pytest.approx(forced @ u, abs=1e-6)


def test_gains_add_up():
    """Over a constant reference it stands still: Gx along x is minus the sum of Gp."""
    gains = mr.PreviewControl(height=0.814).gains
    assert gains.Gp.sum() == pytest.approx(-gains.Gx[0], rel=1e-2)
    assert gains.Gp[0] == pytest.approx(-gains.Gi)
    # 1.6 s ahead suffices: what is further away counts less than a hundredth
    assert abs(gains.Gp[-1]) < 1e-2 * np.abs(gains.Gp).max()


def test_walking_in_the_plane():
    """Steps of 0.3 m, 0.8 s each, feet 0.2 m apart; the zero-moment point stays on feet of 20 cm by 10 cm."""
    feet = np.array([[0.3 * k, 0.1 * (-1) ** k] for k in range(6)])
    p = np.repeat(feet, 160, axis=0)
    walk = mr.PreviewControl(height=0.8).walk(p)
    off = np.abs(walk.zmp - p)
    # away from the instants of change
    inside = np.abs(np.arange(len(p)) % 160 - 80) < 60
    assert off[inside].max() < 0.03
    # the centre obeys the pendulum that its zero-moment point defines
    assert walk.a == pytest.approx(9.81 / 0.8 * (walk.x - walk.zmp), abs=1e-9)
    assert np.gradient(walk.x, 5e-3, axis=0)[5:-5] == pytest.approx(walk.v[5:-5], abs=2e-3)
