"""What laws promise wherever a robot is, on random robots whose base is held and others whose base floats, at random states.

Lyapunov functions are differentiated along the motion that a law makes, so that nothing need be simulated.
"""

import numpy as np
import pytest

import modurob as mr
from modurob.control.adaptive import FOLLOWS, Learnt
from modurob.control.coupling import coupling
from modurob.control.drives import Drives
from modurob.simulation import Measured
from tests.control.loops import rate
from tests.control.test_field import robots, waves, with_other_masses

T = 0.3
# differences of fourth order in steps of 1e-4 s, where rates are some rad/s and torques some 10 N m
CLOSE = 1e-6


@pytest.fixture(
    params=[
        pytest.param((floating, number), id=f"{number} {word}", marks=[pytest.mark.judge] * (number > 10))
        for number in (10, 50)
        for floating, word in ((False, "held"), (True, "floating"))
    ]
)
def states(request):
    """Robots of 2 to 9 joints, their states, references of their joints, and where the joints' rates stand."""
    floating, number = request.param
    base = int(floating)

    def drawn(seed):
        for rng, robot in robots(number, seed, least=2 + base, most=9 + base, floating=floating):
            q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
            yield rng, robot, q, v, waves(rng, robot.nv - 6 * base), np.arange(6 * base, robot.nv)

    return drawn


def slope_along(V, robot, q, v, tau, h=1e-4):
    """dV(t, q, v)/dt while torques tau move the robot."""
    y, ydot = np.concatenate([q, v]), rate(robot, q, v, tau)
    at = [V(T + k * h, *np.split(y + k * h * ydot, [robot.nq])) for k in (-2, -1, 1, 2)]
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)


def energy_of(robot, q, s, joints):
    """s^T M s/2 of joint rates s, with the inertia that the drives move."""
    return s @ np.linalg.inv(np.linalg.inv(robot.mass_matrix(q))[np.ix_(joints, joints)]) @ s / 2


@pytest.mark.parametrize("reach", [None, 3.0], ids=["slotine-li", "sliding-mode"])
def test_energy_of_s_falls_as_promised(states, reach):
    """By s^T Kd s, and for sliding modes by reach |s| outside the layer, less what a push at the joints brings."""
    for rng, robot, q, v, motion, joints in states(51):
        kd, push = rng.uniform(1, 5, len(joints)), np.zeros(robot.nv)
        follow = {"reference": lambda t, m=motion: m(t), "slope": 6.0, "kd": kd}
        law = (mr.SlotineLi(**follow) if reach is None else mr.SlidingMode(reach=reach, layer=0.1, **follow)).on(robot)
        push[joints] = 0.0 if reach is None else rng.normal(size=len(joints))

        def V(t, q, v, robot=robot, law=law, joints=joints):
            return energy_of(robot, q, law.sliding(t, q, v).s[joints], joints)

        s = law.sliding(T, q, v).s[joints]
        lost = s @ (kd * s) + (reach or 0.0) * np.sum(np.minimum(np.abs(s), s**2 / 0.1)) + s @ push[joints]
        slope = slope_along(V, robot, q, v, law.torque(T, q, v) + push)
        assert slope == pytest.approx(-lost, abs=CLOSE * max(V(T, q, v), lost) * 10)


def test_energy_of_s_falls_but_for_what_masses_are_wrong(states):
    """(s^T M s/2)' = -s^T Kd s + s^T Y (pi - learnt): what learning takes out of V again; s of a floating base counts too."""
    for rng, robot, q, v, motion, joints in states(52):
        kd, wrong = rng.uniform(1, 5, len(joints)), with_other_masses(robot, rng)
        law = mr.AdaptiveControl(lambda t, m=motion: m(t), slope=6.0, kd=kd, model=wrong).on(robot)
        pi, p = law.start().pi, np.arange(joints[0])
        own = v[p] + 0.2 * rng.normal(size=len(p))
        memory, tau = law.step(Learnt(pi, own), T, Measured(q, v))
        assert not tau[p].any()
        # the law's own reference moves on by its acceleration
        ahead = 0.0 if not len(p) else (memory.rate - own) / law.recipe.sample_time

        def s_of(t, q, v, law=law, p=p, own=own, ahead=ahead):
            s = np.array(law.sliding(t, q, v).s)
            s[p] = own + (t - T) * ahead - v[p]
            return s

        def V(t, q, v, robot=robot, s_of=s_of):
            s = s_of(t, q, v)
            return s @ robot.mass_matrix(q) @ s / 2

        s = s_of(T, q, v)
        along = law.sliding(T, q, v)
        full = np.array(along.rate), np.array(along.acceleration)
        full[0][p], full[1][p] = own, ahead
        Y = mr.control.slotine_li_regressor(robot, q, v, *full)
        missing = s @ Y @ (robot.inertial_parameters().ravel() - pi)
        M_pp = wrong.mass_matrix(q)[np.ix_(p, p)]
        lost = s[joints] @ (kd * s[joints]) + FOLLOWS * s[p] @ M_pp @ s[p]
        assert slope_along(V, robot, q, v, tau) == pytest.approx(missing - lost, abs=CLOSE * (V(T, q, v) + lost) * 10)


def test_stiff_joints_get_the_acceleration_they_are_asked_for(states):
    for _rng, robot, q, v, motion, joints in states(53):
        q_d, v_d, vdot_d = motion(T)
        law = mr.ComputedTorque(30.0, 7.0, lambda t, m=motion: m(t), partial=True).on(robot)
        found = robot.forward_dynamics(q, v, law.torque(T, q, v))[joints]
        e, e_v = q_d - q[-len(joints) :], v_d - v[joints]
        assert np.allclose(found, vdot_d + 30.0 * e + 7.0 * e_v, rtol=0, atol=1e-8 * (1 + np.abs(found).max()))
        # feed-forward alone, on its way
        q, v = np.concatenate([q[: -len(joints)], q_d]), np.concatenate([v[: joints[0]], v_d])
        tau = mr.FeedForward(lambda t, m=motion: m(t)).on(robot).torque(T, q, v)
        assert np.allclose(robot.forward_dynamics(q, v, tau)[joints], vdot_d, rtol=0, atol=1e-8)


def test_springs_and_dampers_at_joints_take_energy_away(states):
    """PD with gravity: (v^T M v + e^T Kp e)/2 falls by v^T Kd v; on a base that floats, where nothing turns it by itself."""
    for rng, robot, q, v, _, joints in states(54):
        kp, kd, goal = *rng.uniform(1, 5, (2, len(joints))), rng.normal(size=len(joints))
        law = mr.GravityCompensation(kp, kd, goal).on(robot)
        v = coupling(Drives.of(robot))(q).motion(v)

        def V(t, q, v, robot=robot, goal=goal, kp=kp, joints=joints):
            return energy_of(robot, q, v[joints], joints) + (goal - q[-len(joints) :]) ** 2 @ kp / 2

        lost = v[joints] @ (kd * v[joints])
        slope = slope_along(V, robot, q, v, law.torque(T, q, v))
        assert slope == pytest.approx(-lost, abs=CLOSE * (V(T, q, v) + lost) * 10)


def test_momentum_changes_by_what_pushes(states):
    """The observer's dp/dt with a push is that of M v, base and joints."""
    for rng, robot, q, v, _, _ in states(55):
        tau, push = rng.normal(size=(2, robot.nv))
        observer = mr.MomentumObserver(robot)
        found = slope_along(lambda t, q, v, robot=robot: robot.mass_matrix(q) @ v, robot, q, v, tau + push)
        expected = observer._rate(q, v, robot.mass_matrix(q) @ v) + tau + push
        assert np.allclose(found, expected, rtol=0, atol=CLOSE * 10 * (1 + np.abs(found).max()))


def test_tips_get_the_acceleration_they_are_asked_for(states):
    """e'' = -kd e' - kp e of frames that joints can move in all directions."""
    measured = 0
    for rng, robot, q, v, _, joints in states(56):
        tip, goal = robot.bodies[-1], rng.normal(size=3)
        J = robot.jacobian(q, tip)[:3]
        G = coupling(Drives.of(robot))(q).jacobian(J)[:, joints]
        if len(joints) < 3 or np.linalg.svd(G)[1].min() < 0.05:
            continue
        law = mr.OperationalSpace(frame=tip, goal=goal, kp=30.0, kd=7.0, joint_damping=2.0).on(robot)
        tau = law.torque(T, q, v)
        found = J @ robot.forward_dynamics(q, v, tau) + robot.jacobian_rate(q, v, tip)[:3] @ v
        expected = 30.0 * (goal - robot.frame_pose(q, tip)[:3, 3]) - 7.0 * J @ v
        assert np.allclose(found, expected, rtol=0, atol=1e-8 * (1 + np.abs(tau).max()))
        assert not tau[: joints[0]].any()
        measured += 1
    assert measured > 3


def test_energy_is_pumped_and_braked_as_promised(states):
    """dE/dt = -(E - energy) gain (v² + kick |v|) of driven joints; too much energy is braked without the kick."""
    for rng, robot, q, v, _, joints in states(57):
        driven, E = rng.choice(joints), float(robot.kinetic_energy(q, v) + robot.potential_energy(q))
        name = next(j.name for j in robot.joints if j.v_slice.start == driven)
        for wanted, kick in ((2.0, 0.3), (-2.0, 0.0)):
            law = mr.SwingUp(energy=E + wanted, gain=0.7, kick=0.3, actuated=[name]).on(robot)
            power = law.torque(T, q, v) @ v
            assert power == pytest.approx(wanted * 0.7 * (v[driven] ** 2 + kick * abs(v[driven])))


def test_joints_rest_where_pushes_have_taken_them(states):
    """Off by tau_ext/stiffness under what an observer sees, admittance leaves joints at rest; so does an observer's law, without
    an offset, though the base is pushed too."""
    for rng, robot, q, v, _, joints in states(58):
        n, push = len(joints), rng.normal(size=robot.nv)
        goal, K, v = 0.5 * rng.normal(size=n), rng.uniform(20, 60, n), np.concatenate([v[: joints[0]], np.zeros(n)])
        soft = mr.Admittance(goal, stiffness=K).on(robot)
        q = np.concatenate([q[:-n], goal])
        plain = mr.ComputedTorque(64.0, 16.0, goal, partial=True, sample_time=1e-3)
        firm = mr.DisturbanceObserver(plain).on(robot)
        _, tau = firm.step((None, firm.start()[1], push), T, Measured(q, v))
        assert np.allclose(robot.forward_dynamics(q, v, tau + push)[joints], 0.0, atol=1e-9)
        # what joints feel of the push depends a little on where it has taken them
        y = np.zeros(robot.nv)
        for _ in range(40):
            felt = coupling(Drives.of(robot))(q).torque(push)
            y[joints] = felt[joints] / K
            q = np.concatenate([q[:-n], goal + y[joints]])
        start = soft.start()
        _, tau = soft.step(start._replace(y=y, torque=felt), T, Measured(q, v))
        assert np.allclose(robot.forward_dynamics(q, v, tau + push)[joints], 0.0, atol=1e-8)


def test_friction_that_the_model_knows_is_taken_off(states):
    """Joints that slide get the acceleration that they would without it."""
    for rng, robot, q, v, motion, joints in states(59):
        coulomb, rusty = rng.uniform(0.2, 1.0, len(joints)), robot
        for k, i in enumerate(joints):
            name = next(j.name for j in robot.joints if j.v_slice.start == i)
            rusty = rusty.with_force(f"{name} rust", mr.Friction(coulomb=coulomb[k]), joint=name)
        plain = mr.ComputedTorque(30.0, 7.0, lambda t, m=motion: m(t), partial=True, sample_time=1e-3)
        law = mr.FrictionCompensation(plain, share=1.0, width=1e-6).on(rusty)
        _, tau = law.step(law.start(), T, Measured(q, v))
        tau[joints] -= coulomb * np.sign(v[joints])
        ideal = plain.on(robot).torque(T, q, v)
        assert np.allclose(tau, ideal, rtol=0, atol=1e-9 * (1 + np.abs(ideal).max()))
