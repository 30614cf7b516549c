"""Sepp, Feldotto, Attawia and Heinze, Fig. 3.8 to 3.10 and 4.2: a motor behind its gear, its armature, both, and each as PT1.

Assumed where the report is silent: 24 V over the largest current for the resistance, 0.18 mH; rotors of 5.23e-5 kg m² behind 160:1
and 15.68 N m s/rad, as the set IMPROV has them, and 0.8 kg m² on the gear; where the block is elastic, 1e4 N m/rad.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import modurob as mr
from modurob.control.cascade_analysis import python_control
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart
from reproduce.lwa_arm import wheel
from reproduce.lwa_drives import INERTIA, TYPES, VISCOUS, motor
from reproduce.pictures import JUDGE, panels

GEAR, ARMATURE, BLOCK, FIRST_ORDER = (f"Sepp et al. Fig. {n}" for n in ("3.8", "3.9", "3.10", "4.2"))
RATIO, ROTOR, LOAD, FRICTION, TORQUE = 160.0, 5.23e-5, 0.8, 15.68, 0.3
INDUCTANCE, STIFFNESS = 1.8e-4, 1e4


def held(u: float):
    """A law that always asks for the same."""
    return lambda t, q, v: np.array([u])


def gear() -> Reproduction:
    """Fig. 3.8: a rotor and a load on two wheels of a gear, J_m w_m' = u - B w_m - f r_m and J_o w_o' = f r_o, r_o = 160 r_m:
    written at the motor and integrated by SciPy; the drive has (J_m K² + J_o) w_o' + B K² w_o = K u."""
    own = mr.Motor(1.0, inertia=ROTOR, viscous=FRICTION / RATIO**2)
    robot = wheel(mr.Drive(own, mr.Gear(RATIO), input="torque"), LOAD)
    run = mr.simulate(robot, duration=1.0, controller=held(RATIO * TORQUE), tick=1e-2)

    def slope(t: float, y: Array) -> Array:
        return np.array([y[1], (TORQUE - FRICTION / RATIO**2 * y[1]) / (ROTOR + LOAD / RATIO**2)])

    exact = solve_ivp(slope, (0, 1), [0, 0], t_eval=run.t, rtol=1e-11, atol=1e-12).y
    teeth = LOAD * run.vdot[:, 0]
    judged = LOAD / RATIO * np.array([slope(0.0, y)[1] for y in exact.T])
    figure, axes = panels(f"{GEAR}: a motor behind its gear", ["rate of the motor [rad/s]", "torque on the load [N m]"])
    for axis, y, judge in zip(axes, (RATIO * run.v[:, 0], teeth), (exact[1], judged), strict=True):
        axis.plot(run.t, y, color="C0", lw=2.2)
        axis.plot(run.t, judge, **JUDGE)
    checks = [
        Check(GEAR, "rotor at the joint, J_m K²", 1.33888, float(robot.joints[0].armature[0]), 1e-9, "kg m²"),
        Check(GEAR, "rate of the motor against SciPy", 0.0, apart(RATIO * run.v[:, 0], exact[1]), 1e-6, "rad/s"),
        Check(GEAR, "torque on the load against SciPy", 0.0, apart(teeth, judged), 1e-6, "N m"),
    ]
    return Reproduction(checks, figure)


def armature() -> Reproduction:
    """Fig. 3.9: L di/dt + R i = V - K_b w of both motors, held fast, at 24 V."""
    control = python_control()
    figure, axes = panels(f"{ARMATURE}: currents of motors that are held", [f"{kind}: current [A]" for kind in TYPES])
    checks = []
    for axis, kind, constant in zip(axes, TYPES, (29.25e-6, 138.75e-6), strict=True):
        own = motor(kind, INDUCTANCE)
        robot = wheel(mr.Drive(own, input="voltage"), 1e9)
        run = mr.simulate(robot, duration=1e-3, controller=held(24.0), stepper=mr.ExponentialRungeKutta4(1e-5))
        judged = 24 * np.asarray(control.step_response(control.tf([1], [INDUCTANCE, own.resistance]), run.t).outputs)
        found = run.drive("rim").current
        axis.plot(1e3 * run.t, found, color="C0", lw=2.2)
        axis.plot(1e3 * run.t, judged, **JUDGE)
        checks += [
            Check(ARMATURE, f"{kind}: L/R", constant, own.electrical_time_constant, 1e-8, "s"),
            Check(ARMATURE, f"{kind}: current held at 24 V", TYPES[kind][1], float(found[-1]), 0.02, "A"),
            Check(ARMATURE, f"{kind}: current against python-control", 0.0, apart(found, judged), 1e-6, "A"),
        ]
    axes[-1].set_xlabel("time [ms]")
    return Reproduction(checks, figure)


def block() -> Reproduction:
    """Fig. 3.10: volts in, torque out, of both motors with their load; stiff against python-control, elastic against the matrix
    exponential of J_eq w' = u - B w + K_s (q - theta)."""
    control = python_control()
    figure, axes = panels(f"{BLOCK}: from volts to torque", ["torque, stiff [N m]", "torque, elastic [N m]"])
    checks = []
    for k, kind in enumerate(TYPES):
        own = motor(kind, INDUCTANCE)
        K, R = own.torque_constant, own.resistance
        stiff = wheel(mr.Drive(own, losses=mr.Losses(viscous=VISCOUS), input="voltage"), INERTIA)
        run = mr.simulate(stiff, duration=0.3, controller=held(24.0), stepper=mr.ExponentialRungeKutta4(1e-4))
        found = K * run.drive("rim").current
        whole = control.tf(
            [K * INERTIA, K * VISCOUS], [INDUCTANCE * INERTIA, INDUCTANCE * VISCOUS + R * INERTIA, R * VISCOUS + K * K]
        )
        judged = 24 * np.asarray(control.step_response(whole, run.t).outputs)
        axes[0].plot(run.t, found, color=f"C{k}", lw=2.2, label=kind)
        axes[0].plot(run.t, judged, **JUDGE)
        late = run.t > 2e-3  # python-control's response jumps within its first sample, as the current does
        checks.append(
            Check(BLOCK, f"{kind}: torque against python-control", 0.0, apart(found[late], judged[late]), 2e-3, "N m")
        )
        t, own_torque, exact = _elastic(own)
        axes[1].plot(t, own_torque, color=f"C{k}", lw=2.2)
        axes[1].plot(t, exact, **JUDGE)
        checks.append(Check(BLOCK, f"{kind}: elastic, against SciPy", 0.0, apart(own_torque, exact), 1e-5, "N m"))
    axes[0].legend(frameon=False)
    return Reproduction(checks, figure)


def _elastic(own: mr.Motor) -> tuple[Array, Array, Array]:
    """Times, and the torque through the gear of a motor with half of the inertia on each side, ours and by matrix exponentials."""
    half = INERTIA / 2
    turned = mr.Motor(own.torque_constant, own.resistance, own.inductance, inertia=half, supply=24.0)
    drive = mr.Drive(turned, mr.Gear(stiffness=STIFFNESS), mr.Losses(viscous=VISCOUS), input="voltage")
    run = mr.simulate(
        wheel(drive, half), duration=0.3, controller=held(24.0), stepper=mr.ExponentialRungeKutta4(1e-5), tick=1e-4
    )
    K, L, R = own.torque_constant, own.inductance, own.resistance
    # i, w, theta, v, q, and V, held
    A = np.zeros((6, 6))
    A[0, [0, 1, 5]] = -R / L, -K / L, 1 / L
    A[1, [0, 1, 2, 4]] = K / half, -VISCOUS / half, -STIFFNESS / half, STIFFNESS / half
    A[2, 1] = A[4, 3] = 1
    A[3, [2, 4]] = STIFFNESS / half, -STIFFNESS / half
    step, x = expm(A * 1e-4), np.array([0, 0, 0, 0, 0, 24.0])
    states = np.array([x := step @ x if k else x for k in range(len(run.t))])
    return run.t, run.drive("rim").torque, STIFFNESS * (states[:, 2] - states[:, 4])


def first_order() -> Reproduction:
    """Fig. 4.2: for tuning, the electrical part as k_e/(T_e s + 1) and the mechanical part as k_m/(T_m s + 1)."""
    control = python_control()
    figure, axes = panels(f"{FIRST_ORDER}: the mechanical part as PT1", ["rate [rad/s]"], 3.2)
    robot = wheel(mr.Drive(mr.Motor(1.0), losses=mr.Losses(viscous=VISCOUS), input="torque"), INERTIA)
    run = mr.simulate(robot, duration=2.0, controller=held(1.0), tick=1e-2)
    judged = np.asarray(control.step_response(control.tf([1 / VISCOUS], [INERTIA / VISCOUS, 1]), run.t).outputs)
    axes[0].plot(run.t, run.v[:, 0], color="C0", lw=2.2)
    axes[0].plot(run.t, judged, **JUDGE)
    constant = -run.t[50] / np.log(1 - VISCOUS * run.v[50, 0])
    checks = [
        Check(FIRST_ORDER, "gain k_m", 1.25, float(1 / VISCOUS), 1e-12, "rad/(N m s)"),
        Check(FIRST_ORDER, "time constant T_m", 0.30, float(constant), 1e-9, "s"),
        Check(FIRST_ORDER, "rate against python-control", 0.0, apart(run.v[:, 0], judged), 1e-9, "rad/s"),
    ]
    checks += [
        Check(FIRST_ORDER, f"{kind}: gain k_e", current / 24, 1 / motor(kind, INDUCTANCE).resistance, 1e-12, "A/V")
        for kind, (_, current) in TYPES.items()
    ]
    return Reproduction(checks, figure)
