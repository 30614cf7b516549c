"""Sepp, Feldotto, Attawia and Heinze, chapters 3 and 4: the loop around the current, root loci, encoder, PID and feed-forward, and
the motors with the arm.

Assumed where the report is silent: as in `lwa_drives`; inductance 0.18 H, which its T_c = 6 ms and K_PI = 30 mean; friction of the
arm viscous, its masses those of `lwa_arm`; 3 s for the quintic of Fig. 4.17.
"""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import modurob as mr
from modurob.control import CascadeGains, Recipe, open_loop
from modurob.control.cascade_analysis import python_control
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lwa_arm import GOAL, VISCOUS, arm, wheel
from reproduce.lwa_drives import motor, report_gains
from reproduce.pictures import JUDGE, panels

FALL, CURRENT, LOCUS, ENCODER = (f"Sepp et al. Fig. {n}" for n in ("3.11", "4.7", "4.9", "4.3"))
PID, AHEAD = "Sepp et al. Fig. 4.12", "Sepp et al. Fig. 4.17"
K_PI, INDUCTANCE, N = 30.0, 0.18, 20.0
# peak errors of the joints [deg]: reference of position with gravity, and with speed and acceleration ahead
PEAKS = {
    ("gravity",): (15.59, 8.66, 22.20, 13.89, 0.03, 6.95),
    ("speed", "acceleration", "gravity"): (0.232, 0.321, 0.047, 0.013, 0.029, 0.000),
}


def motors_and_arm() -> Reproduction:
    """Fig. 3.7 and 3.11: the arm let go with its motors short of torque, M vdot = u - n, beside SciPy's integration."""
    robot = arm()
    q0 = np.array([0.3, 0.5, 0.8, 0.2, 0.4, 0.1])
    run = mr.simulate(robot, q0, duration=1.0, stepper=mr.RungeKutta4(1e-3), tick=1e-2)

    def slope(t: float, y: Array) -> Array:
        q, v = y[:6], y[6:]
        n = robot.inverse_dynamics(q, v, np.zeros(6)) + np.array(VISCOUS) * v
        return np.concatenate([v, np.linalg.solve(robot.mass_matrix(q), -n)])

    exact = solve_ivp(slope, (0, 1), [*q0, *np.zeros(6)], t_eval=run.t, rtol=1e-10, atol=1e-12, method="LSODA").y.T
    figure, axes = panels(f"{FALL}: the arm without torques", ["angle [rad]", "rate [rad/s]"])
    for k in range(6):
        axes[0].plot(run.t, run.q[:, k], color=f"C{k}", lw=2.2, label=f"joint {k + 1}")
        axes[1].plot(run.t, run.v[:, k], color=f"C{k}", lw=2.2)
        axes[0].plot(run.t, exact[:, k], **JUDGE)
        axes[1].plot(run.t, exact[:, 6 + k], **JUDGE)
    axes[0].legend(frameon=False, ncols=3)
    checks = [
        Check(FALL, "angles against SciPy", 0.0, apart(run.q, exact[:, :6]), 1e-6, "rad"),
        Check(FALL, "rates against SciPy", 0.0, apart(run.v, exact[:, 6:]), 1e-5, "rad/s"),
    ]
    return Reproduction(checks, figure)


def current_loop() -> Reproduction:
    """Fig. 4.5 to 4.7: C_c = K_PI (T s + 1)/(T s) with T = L/R cancels the winding: one real pole at -K_PI/L, a step of 6 ms."""
    control, own = python_control(), motor("type 1", INDUCTANCE)
    R, L = own.resistance, own.inductance
    loop = control.tf([K_PI * L / R, K_PI], [L / R, 0]) * control.tf([1.0], [L, R])
    closed = control.minreal(control.feedback(loop, 1), verbose=False)
    t = np.linspace(0, 0.05, 501)
    judged = np.asarray(control.step_response(closed, t).outputs)
    run = _held_current(R, t)
    figure, axes = panels(f"{CURRENT}: the loop around the current", ["current [A]"], 3.2)
    axes[0].plot(t, run, color="C0", lw=2.2, label="loops of the drive at 100 kHz")
    axes[0].plot(t, judged, **JUDGE, label="python-control")
    axes[0].legend(frameon=False)
    checks = [
        Check(CURRENT, "poles of the closed loop", 1, float(len(closed.poles())), 0),
        Check(CURRENT, "the pole", -K_PI / L, float(np.real(closed.poles()[0])), 1e-6, "1/s"),
        Check(CURRENT, "63 % of the step", 0.006, float(t[np.argmax(run >= 1 - np.exp(-1))]), 2e-4, "s"),
        Check(CURRENT, "step against python-control", 0.0, apart(run, judged), 2e-3, "A"),
    ]
    return Reproduction(checks, figure)


def _held_current(R: float, t: Array) -> Array:
    """The current of a drive with a sampled loop around it, on a wheel that hardly turns, after a step of 1 A."""
    loops = mr.Loops(current_gain=K_PI, current_integral=K_PI * R / INDUCTANCE, loop_time=1e-5)
    drive = mr.Drive(mr.Motor(1.0, resistance=R, inductance=INDUCTANCE), loops=loops, input="current")
    run = mr.simulate(wheel(drive, 1e6), duration=t[-1], controller=lambda t, q, v: np.ones(1), tick=float(t[1]))
    return run.drive("rim").current


def root_locus() -> Reproduction:
    """Fig. 4.9: poles of the position loop over its gain: from 0 and -8, meeting at -4, then straight up."""
    control, gains = python_control(), report_gains()
    speed = 2 * 0.9 * 4 / 0.9  # 2 zeta wn, the pole of the closed loop around the speed
    inner = control.tf([speed], [1, speed, 0])
    figure, axes = panels(f"{LOCUS}: root locus of the position loop", ["imaginary part [1/s]"], 4.0)
    axes[0].set_xlabel("real part [1/s]")
    factors = np.linspace(1e-9, 6, 400)
    own = np.array([_position_poles(gains, k) for k in factors])
    judged = np.array([control.feedback(k * inner, 1).poles() for k in factors])
    axes[0].plot(own.real, own.imag, ".", color="C0", ms=3)
    axes[0].plot(judged.real, judged.imag, color="black", lw=0.8, ls="--")
    at = _position_poles(gains, gains.position_gain)
    axes[0].plot(at.real, at.imag, "kx", ms=9)
    meet = factors[np.argmax(np.abs(own.imag).max(axis=1) > 1e-9)]
    checks = [
        Check(LOCUS, "starts at", -8.0, float(own[0].real.min()), 1e-6, "1/s"),
        Check(LOCUS, "and at", 0.0, float(own[0].real.max()), 1e-6, "1/s"),
        Check(LOCUS, "branches meet at the gain", 2.0, float(meet), 0.02, "1/s"),
        Check(LOCUS, "then straight up at", -4.0, float(own[-1].real.mean()), 1e-6, "1/s"),
        Check(LOCUS, "the design's pole", 1.937, float(at.imag.max()), 1e-3, "1/s"),
    ]
    return Reproduction(checks, figure)


def _position_poles(gains: CascadeGains, position_gain: float) -> Array:
    """The two poles of the cascade with another gain of position; the third, -1/T_m, is cancelled by the speed loop's zero."""
    loop = open_loop(gains._replace(position_gain=position_gain))
    poles = np.roots(np.polyadd(loop.den[0][0], loop.num[0][0]))
    mode = -gains.viscous / gains.inertia
    return np.sort_complex(np.delete(poles, np.argmin(np.abs(poles - mode))))


def encoder() -> Reproduction:
    """Fig. 4.3: what 500 counts are at the joint, by where they are counted; the speed of one count at 1 kHz, and its torque."""
    kinds = {
        "at the joint": (mr.Encoder(500, side="joint"), 0.72, 12.566, 24.1),
        "at the motor": (mr.Encoder(500), 0.0045, 0.0785, 0.151),
        "with 3:1": (mr.Encoder(500, ratio=3), 0.0015, 0.0262, 0.0503),
        "and quadrature": (mr.Encoder(500, ratio=3, quadrature=True), 0.000375, 0.00654, 0.0126),
    }
    D, h, checks = 1.92, 1e-3, []
    figure, axes = panels(f"{ENCODER}: a ramp of 0.1 rad/s as encoders see it", ["angle [rad]"], 3.2)
    t = np.linspace(0, 0.5, 2001)
    for k, (name, (own, degrees, speed, kick)) in enumerate(kinds.items()):
        step = own.quantum(160.0)
        checks += [
            Check(ENCODER, f"{name}: one count", degrees, float(np.rad2deg(step)), 1e-9, "deg"),
            Check(ENCODER, f"{name}: its speed at 1 kHz", speed, step / h, 6e-3 * speed, "rad/s"),
            Check(ENCODER, f"{name}: its torque, D dq/h", kick, D * step / h, 6e-3 * kick, "N m"),
        ]
        axes[0].plot(t, step * np.rint(0.1 * t / step), color=f"C{k}", lw=1.2, label=name)
    axes[0].legend(frameon=False)
    return Reproduction(checks, figure)


def pid() -> Reproduction:
    """Fig. 4.11, 4.12: the PID that equals the cascade in its feedback path: on the error it overshoots, with two degrees of
    freedom it does not; steps by python-control."""
    control, gains = python_control(), report_gains()
    own, s = gains.equivalent_pid(), control.tf("s")
    joint = control.tf([1.0], [gains.inertia, gains.viscous, 0.0])
    rate = s * N / (s + N)
    back = own.kp + own.ki / s + own.kd * rate
    t = np.linspace(0, 4, 2001)
    loops = {
        "on the error": (back, 20.2, 0.2),
        "two degrees of freedom": (own.kp * own.weight + own.ki / s, 0.66, 0.02),
    }
    figure, axes = panels(f"{PID}: steps of the equivalent PID, N = 20", ["angle [rad]"], 3.2)
    checks = [
        Check(PID, "P", 11.141, own.kp, 1e-3),
        Check(PID, "I", 15.802, own.ki, 1e-3),
        Check(PID, "D", 1.92, own.kd, 1e-9),
        Check(PID, "weight of the reference", 0.4255, own.weight, 1e-4),
    ]
    for k, (name, (ahead, overshoot, within)) in enumerate(loops.items()):
        closed = control.minreal(ahead * joint / (1 + back * joint), verbose=False)
        y = np.asarray(control.step_response(closed, t).outputs)
        axes[0].plot(t, y, color=f"C{k}", lw=2.2, label=name)
        checks.append(Check(PID, f"overshoot {name}", overshoot, 100 * float(y.max() - 1), within, "%"))
    axes[0].legend(frameon=False)
    return Reproduction(checks, figure)


class AtGoal(Recipe):
    """Cascades with the inertias I_i at the goal, as the report designs them: K_p = 2.469, K_v = 8 k_v, T_v = I_i/k_v."""

    sample_time = 1e-3

    def __init__(self, reference: mr.Trajectory, robot: mr.Mechanism, ahead: tuple[str, ...]):
        self.inertia = robot.mass_matrix(GOAL).diagonal()
        gains = (2.469, 8 * self.inertia, 8 * np.array(VISCOUS))
        self.law = mr.Cascade(reference, *gains, feed_forward=ahead)

    def on(self, robot: mr.Mechanism) -> Any:
        bound = self.law.on(robot)
        bound.gains = bound.gains._replace(inertia=self.inertia)
        return bound


def feed_forward() -> Reproduction:
    """Fig. 4.17: the arm along a quintic of 3 s under its cascades, with gravity alone ahead, and with speed and acceleration."""
    reach = mr.Trajectory.quintic(np.zeros(6), GOAL, duration=3.0)
    figure, axes = panels(f"{AHEAD}: errors along the quintic", ["gravity ahead [deg]", "all ahead [deg]"])
    checks, robot = [], arm()
    for axis, (ahead, peaks) in zip(axes, PEAKS.items(), strict=True):
        run = mr.simulate(robot, np.zeros(6), duration=3.0, controller=AtGoal(reach, robot, ahead))
        e = np.rad2deg(reach(run.t).position - run.q)
        for k in range(6):
            axis.plot(run.t, e[:, k], color=f"C{k}", lw=1.8, label=f"joint {k + 1}")
            within = 0.02 * peaks[k] + 0.01
            found = float(np.abs(e[:, k]).max())
            checks.append(Check(AHEAD, f"{', '.join(ahead)} ahead: joint {k + 1}", peaks[k], found, within, "deg"))
    axes[0].legend(frameon=False, ncols=3)
    return Reproduction(checks, figure)
