"""Sepp, Feldotto, Attawia and Heinze, chapters 3 and 4: its motors at 24 V, the loops around them, and the arm under them.

Assumed where the report is silent: 0.24 kg m² and 0.8 N m s/rad at the joint (T_m = 0.30 s, k_m = 1.25), 0.18 mH, 24 V over the
largest current for the resistance; K_p = 2.469 where it prints 3.16, which does not follow from its own formula.
"""

import numpy as np
from scipy.linalg import expm

import modurob as mr
from modurob.control import (
    CascadeGains,
    cascade_of,
    disturbance_response,
    margins,
    open_loop,
    reference_response,
    step_in,
)
from modurob.control.cascade_analysis import largest_sample_time, python_control, sampled_loop
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lwa_arm import wheel
from reproduce.pictures import JUDGE, panels

MOTORS, LOOPS = "Sepp et al. Fig. 3.12-3.19", "Sepp et al. Fig. 4.9-4.14"
INERTIA, VISCOUS = 0.24, 0.8
TYPES = {"type 1": (19.0, 3.9), "type 2": (64.0, 18.5)}  # largest torque [N m] and current [A]
# speed [rad/s], current [A] and angle [rad] after ten seconds
ENDS = {"type 1": (4.080, 0.670, 40.59), "type 2": (6.384, 1.476, 63.69)}


def motor(kind: str, inductance: float) -> mr.Motor:
    """A motor with its gear, at the joint."""
    torque, current = TYPES[kind]
    return mr.Motor(torque / current, resistance=24 / current, inductance=inductance, supply=24.0)


def motors() -> Reproduction:
    """Both motors at 24 V for ten seconds: power, current, torque and angle, beside SciPy's matrix exponential."""
    figure, axes = panels(f"{MOTORS}: both motors at 24 V", ["power [W]", "current [A]", "torque [N m]", "angle [rad]"])
    checks, fine = [], mr.ExponentialRungeKutta4(2.5e-4)

    def full(t: float, q: Array, v: Array) -> Array:
        return np.array([24.0])

    for colour, kind in enumerate(TYPES):
        own = motor(kind, 1.8e-4)
        robot = wheel(mr.Drive(own, losses=mr.Losses(viscous=VISCOUS), input="voltage"), INERTIA)
        run = mr.simulate(robot, duration=10.0, controller=full, stepper=fine, tick=1e-2)
        seen, exact = run.drive("rim"), _exact(own, run.t)
        for axis, y in zip(
            axes, (seen.power, seen.current, seen.torque + VISCOUS * run.v[:, 0], run.q[:, 0]), strict=True
        ):
            axis.plot(run.t, y, color=f"C{colour}", lw=2.2, label=kind)
        axes[1].plot(run.t, exact[:, 0], **JUDGE)
        axes[3].plot(run.t, exact[:, 2], **JUDGE)
        found = run.v[-1, 0], seen.current[-1], run.q[-1, 0]
        names = (("speed", "rad/s"), ("current", "A"), ("angle", "rad"))
        checks += [
            Check(MOTORS, f"{kind}: {name} after 10 s", e, float(f), 5e-3 * e, unit)
            for (name, unit), e, f in zip(names, ENDS[kind], found, strict=True)
        ]
        checks.append(Check(MOTORS, f"{kind}: angle against SciPy", 0.0, apart(run.q[:, 0], exact[:, 2]), 2e-4, "rad"))
    axes[0].legend(frameon=False)
    return Reproduction(checks, figure)


def _exact(own: mr.Motor, t: Array) -> Array:
    """Current, speed and angle, (ticks, 3), by matrix exponentials."""
    k, L = own.torque_constant, own.inductance
    A = np.array(
        [[-own.resistance / L, -k / L, 0, 24 / L], [k / INERTIA, -VISCOUS / INERTIA, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    )
    step, x = expm(A * (t[1] - t[0])), np.array([0, 0, 0, 1.0])
    states = [x := step @ x if k else x for k in range(len(t))]
    return np.array(states)[:, :3]


def report_gains() -> CascadeGains:
    """Damping 0.9, settled after a second."""
    return cascade_of(INERTIA, VISCOUS, damping_ratio=0.9, settling_time=1.0)


def loops() -> Reproduction:
    """Steps of the cascade, continuous, sampled and with its motors, a torque at 3 s; margins; python-control judges."""
    gains, control = report_gains(), python_control()
    figure, axes = panels(
        f"{LOOPS}: the cascade, a step of 1 rad and a torque of 0.5 N m at 3 s", ["angle [rad]", "angle [rad]"], 2.8
    )
    t = np.linspace(0, 6, 3001)
    linear = np.asarray(control.step_response(reference_response(gains), t).outputs)
    pushed = np.asarray(control.step_response(disturbance_response(gains), t).outputs)
    judged = linear + 0.5 * np.concatenate([np.zeros(1500), pushed[:-1500]])
    run = _disturbed(gains)
    axes[0].plot(run.t, run.q[:, 0], color="C0", lw=2.2)
    axes[0].plot(t, judged, **JUDGE)
    step, margin = step_in(t, linear), margins(gains)
    checks = [
        Check(LOOPS, "speed gain K_v", 6.4, gains.speed_integral, 1e-9, "N m/rad"),
        Check(LOOPS, "position gain K_p", 2.469, gains.position_gain, 1e-3, "1/s"),
        Check(LOOPS, "overshoot of the cascade", 0.152, 100 * step.overshoot, 2e-3, "%"),
        Check(LOOPS, "90 % of the step", 0.766, step.rise, 8e-3, "s"),
        Check(LOOPS, "within 2 %", 1.057, step.settled, 0.011, "s"),
        Check(LOOPS, "step and torque against python-control", 0.0, apart(run.q[:, 0], judged[::2]), 1e-4, "rad"),
        Check(LOOPS, "phase margin", 73.5, float(np.rad2deg(margin.phase)), 0.7, "deg"),
        Check(LOOPS, "delay margin", 0.154, float(margin.delay), 2e-3, "s"),
        Check(LOOPS, "longest sample time", 0.2537, largest_sample_time(gains), 2.5e-3, "s"),
        Check(LOOPS, "the same with a sample of delay", 0.1019, largest_sample_time(gains, delay=1), 1e-3, "s"),
        Check(LOOPS, "overshoot sampled at 1 kHz", 0.148, 100 * _sampled_overshoot(gains), 2e-3, "%"),
        Check(LOOPS, "poles of the open loop at zero", 2, float(np.sum(np.abs(open_loop(gains).poles()) < 1e-9)), 0),
    ]
    for colour, (kind, overshoot) in enumerate((("type 1", 0.0), ("type 2", 0.51))):
        seen = _complete(gains, kind)
        axes[1].plot(seen.t, seen.q[:, 0], color=f"C{colour}", lw=2.2, label=f"complete model, {kind}")
        found = 100 * max(step_in(seen.t, seen.q[:, 0]).overshoot, 0.0)
        checks.append(Check(LOOPS, f"complete model, {kind}, 0.18 H: overshoot", overshoot, found, 0.02, "%"))
    axes[1].legend(frameon=False)
    return Reproduction(checks, figure)


def _disturbed(gains: CascadeGains) -> mr.Recording:
    """A drive with continuous loops, pushed from 3 s on."""
    drive = mr.Drive(mr.Motor(1.0), losses=mr.Losses(viscous=VISCOUS), loops=gains.loops(), input="position")
    push = {"rim": np.array([0, 0, 0, 0, 0, 0.5])}

    def external(t: float) -> dict[str, Array]:
        return push if t >= 3.0 - 1e-9 else {}

    # forces that change with time are not compiled: long steps, which are fine enough for poles of 4/s
    return mr.simulate(
        wheel(drive, INERTIA),
        duration=6.0,
        controller=lambda t, q, v: np.ones(1),
        stepper=mr.RungeKutta4(4e-3),
        external=external,
        tick=4e-3,
    )


def _complete(gains: CascadeGains, kind: str) -> mr.Recording:
    """Back-EMF and the loop around the current, K_PI = 30, sampled at 10 kHz in place of continuous."""
    own = motor(kind, 0.18)
    inner = gains._replace(current_gain=30.0, current_integral=30.0 * own.resistance / 0.18)
    free = mr.Motor(own.torque_constant, own.resistance, own.inductance)
    loops = inner.loops(sample_time=1e-4, loop_time=1e-4)
    drive = mr.Drive(free, losses=mr.Losses(viscous=VISCOUS), loops=loops, input="position")
    return mr.simulate(wheel(drive, INERTIA), duration=4.0, controller=lambda t, q, v: np.ones(1), tick=2e-3)


def _sampled_overshoot(gains: CascadeGains) -> float:
    A, B = sampled_loop(gains, 1e-3)
    x, most = np.zeros(len(A)), 0.0
    for _ in range(4000):
        x = A @ x + B
        most = max(most, x[0])
    return most - 1
