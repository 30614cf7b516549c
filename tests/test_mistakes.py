"""What new users do wrong, and what they are told: what was found, where, what was expected, and the valid choices."""

import pickle
import shutil
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import modurob as mr
from modurob.cli import app
from modurob.spatial import inertia

TYPES = "anchor, backbone, cube_link, elbow_link, eyelet, parallel_link, pivot_joint"
MODULES = "valid: m0, m1, m2, m3, m4, m5"
JOINTS = "m0/hinge, m2/hinge, m4/hinge"
SHAPE = "expected (..., 3) for crab with joints m0/hinge (revolute), m2/hinge (revolute), m4/hinge (revolute)"
PARAMETERS = "valid: length, mass, Ixx, Iyy, Izz, damping, armature, effort"
DOCK = "valid: name, kind, at, by, roll, parameters"
SIMULATE = "valid: robot, q0, v0, duration, controller, stepper, estimator, external"
LAW = "expected a controller such as mr.PID(...), or a function f(t, q, v)"

# code, then pieces that the message must hold
MISTAKES = [
    # ---- names and files ----
    ("mr.simulat(robot)", "module 'modurob' has no attribute 'simulat'", "did you mean 'simulate'?"),
    ("mr.Robot", "module 'modurob' has no attribute 'Robot'", "did you mean 'mr.Mechanism'?"),
    ("mr.from_dh([])", "module 'modurob' has no attribute 'from_dh'", "did you mean 'mr.Mechanism.from_dh'?"),
    ("mr.Fleet([robot])[9]", "no robot 9 in a fleet of 1", "expected a place from 0 to 0, or a slice"),
    ("mr.Fleet([robot])['crab']", "no robot 'crab' in a fleet of 1", "expected a place from 0 to 0"),
    ("robot.frames['m33']", "no frame 'm33'", "did you mean 'm3/3'?", "valid: world, m0/A"),
    ("robot.frames[99]", "no frame 99", "valid: world, m0/A"),
    ("run.segments[0].at([0.001])", "t = [0.001]", "expected one time [s]"),
    ("run.segments[0].at('now')", "t = 'now'", "expected one time [s]"),
    (
        "mr.load('krab')",
        "no file 'krab'",
        "did you mean 'crab'?",
        "valid: cable_planar, crab, crane, double_pendulum, lwa4p",
    ),
    ("mr.load('krab.yaml')", "krab.yaml: no such file", "did you mean 'crab.yaml'?", "valid: crab.yaml"),
    ("robot.robot()", "the robot crab has no attribute 'robot'", "did you mean the robot itself?"),
    (
        "arm.body('b', ball, joint=mr.Revolute(), mimic='a')",
        "body 'b': mimic 'a'",
        "such as mr.Source('left', ratio=-1.0)",
    ),
    ("mr.load(crab)", "Assembly('crab'", "is no file", "expected a path, or the name of a shipped robot"),
    ("mr.save('crab.yaml', crab)", "'crab.yaml' as what to write", "expected an assembly, a robot", "then the path"),
    ("mr.save(crab)", "save needs 'path'", "expected value, path"),
    ("mr.lock(robot)", "lock needs 'joints'", "expected robot, joints"),
    ("mr.save(crab, robot)", "Mechanism('crab'", "is no file", "expected a path"),
    ("mr.save(crab, 'no/such/crab.yaml')", "no/such/crab.yaml: cannot be written", "there is no folder no/such"),
    ("mr.Recording.load('runs.mrun')", "runs.mrun: cannot be read", "did you mean 'run.mrun'?", "valid: run.mrun"),
    ("mr.Recording.load('crab.yaml')", "crab.yaml: not a recording", "expected a file that Recording.save wrote"),
    ("mr.Mechanism.from_urdf('arn.urdf')", "arn.urdf: no such file", "did you mean 'arm.urdf'?", "valid: arm.urdf"),
    ("mr.Mechanism.from_urdf('<robot/>')", "'<robot/>' is the text of a file", "expected the path of one"),
    (
        "mr.Mechanism.from_urdf('crab.yaml')",
        "crab.yaml: cannot be read as XML",
        "line 1",
        "expected a URDF file, <robot ...>",
    ),
    ("mr.Mechanism.from_urdf('arm.urdf', flaoting=True)", "from_urdf has no argument 'flaoting'", "mean 'floating'?"),
    ("mr.module_type('backbon')", "no module type 'backbon'", "did you mean 'backbone'?", TYPES, "a .yaml file"),
    ("mr.module_type('crap.yaml')", "crap.yaml: no such file", "did you mean 'crab.yaml'?"),
    ("mr.module_type('crab.yaml')", "crab.yaml", "modurob module 1"),
    ("mr.draw.save_picture(robot, 'crab.foo')", "crab.foo: files .foo cannot be written", "valid: .png, .pdf, .svg"),
    (
        "mr.draw.save_picture(robot, 'no/such.png')",
        "no/such.png",
        "there is no folder no",
        "make it first, or choose another",
    ),
    ("run.plot('run.jpeg2')", "run.jpeg2: files .jpeg2 cannot be written", "valid: .png, .pdf, .svg"),
    ("run.plot(joints=['m9/hinge'])", "no joint 'm9/hinge' in the recording", f"valid: {JOINTS}"),
    ("run.save('no/such/run.mrun')", "no/such/run.mrun: cannot be written", "there is no folder no/such"),
    # ---- docking ----
    ("crab.dock('m6', 'bakbone', at='m3/3', by='4')", "no module type 'bakbone'", "did you mean 'backbone'?", TYPES),
    ("crab.dock('m6', 'backbone', at='m3', by='4')", "port 'm3'", "expected module/port, like m3/2"),
    ("crab.dock('m6', 'backbone', at='m3/9', by='4')", "backbone 'm3' has no port '9'", "valid: 2, 3, 4, 5, 7"),
    ("crab.dock('m6', 'backbone', at='m3/3', by='9')", "backbone 'm6' has no port '9'", "valid: 2, 3, 4, 5, 7"),
    ("crab.dock('m6', 'backbone', at='m9/3', by='4')", "no module 'm9'", MODULES),
    ("crab.dock('m6', 'backbone', at=('m3', 3), by='4')", "port ('m3', 3)", "expected module/port, like m3/2"),
    ("crab.dock('m6', 'backbone', at='m2/3', by='4')", "port m2/3 already holds m3/2", "free: m0/2, m0/4"),
    ("crab.dock('m6', 'backbone', at='m3/3', by='4', roll=45)", "roll 45 degrees", "valid: 0, 90, 180, 270"),
    ("crab.dock('m6', 'backbone', at='m3/3', by='4', roll=np.pi / 2)", "1.5708 degrees", "did you mean 90?"),
    (
        "crab.dock('m3', 'backbone', at='m3/3', by='4')",
        "there is already a module 'm3'",
        "expected another name",
        "taken: m0, m1, m2",
    ),
    (
        "crab.dock('m6', 'cube_link', at='m3/3', by='1')",
        "m3/3 cannot dock to m6/1",
        "'cobold' does not fit 'socket'",
        "two of one kind",
    ),
    ("crab.dock('backbone', at='m3/3', by='4')", "dock needs 'kind'", "expected name, kind, at, by, roll"),
    ("crab.dock('m6', 'backbone', to='m3/3', by='4')", "dock has no argument 'to'", DOCK),
    ("crab.dock('m6', 'backbone', 'm3/3', '4', parameters={'weight': 2})", "no parameter 'weight'", PARAMETERS),
    ("crab.dock('m6', 'backbone', 'm3/3', '4', parameters={'mass': 'heavy'})", "mass = 'heavy'", "a number [kg]"),
    ("crab.dock('m6', 'backbone', 'm3/3', '4', parameters={'mass': -1})", "mass = -1", "from 0.0 to inf [kg]"),
    ("crab.dock('m6', 'backbone', 'm3/3', '4', parameters=2.0)", "parameters 2.0: expected a mapping", PARAMETERS),
    ("crab.dock('my module', 'backbone', 'm3/3', '4')", "module name 'my module'", "expected 1 to 64 of A-Z a-z 0-9"),
    ("crab.undock('m9')", "no module 'm9'", MODULES),
    ("crab.undock('m3/3')", "no module 'm3/3'", "did you mean 'm3'?", MODULES),
    ("crab.undock('m1')", "without 'm1'", "not connected to 'm0': m2, m3, m4, m5", "undock what hangs on it first"),
    ("crab.connect('m3/3', 'm5')", "port 'm5'", "expected module/port, like m3/2"),
    ("crab.connect('m3/3', 'm3/4')", "m3/3 - m3/4", "a module cannot dock to itself", "expected ports of two modules"),
    (
        "crab.connect('m3/3', 'm5/2').mechanism().close_loops([0, 0, 0, 0])",
        "stay open by",
        "do not close from 15 other starts",
    ),
    ("crab.disconnect('m3/3')", "nothing is docked at m3/3", "valid: m0/3, m1/2, m2/3"),
    ("crab.renamed('m0', 'head')", "renamed has 2 arguments by place", "expected at most 1: names"),
    ("crab.with_parameters(weight=2.0)", "no module has a parameter 'weight'", PARAMETERS),
    ("crab.with_parameters('m0', mass=2)", "modules 'm0'", "expected parameters by module, like {'m0': {'mass': 2.0}}"),
    ("crab.with_setup(base='m9')", "no module 'm9' to be the base", MODULES),
    ("crab.with_setup(coordinates={'m0': 0.1})", "no joint 'm0' to have coordinates", "valid: m0/hinge, m1/hinge"),
    ("crab.with_setup(coordinates=[0, 0, 0])", "coordinates [0, 0, 0]", "by joint name, like {'m0/hinge': 0.1}"),
    ("crab.with_setup(floating='yes')", "floating 'yes'", "expected True or False"),
    # ---- matrices and grids ----
    ("mr.Assembly.from_aim([[3, 0], [4]], 'backbone')", "rows have [1, 2] entries", "expected rows of one length"),
    ("mr.Assembly.from_aim([[3], [4]])", "types None", "a module type for each row, or one for all", f"valid: {TYPES}"),
    ("mr.Assembly.from_aim([[3], [4]], ['backbone'])", "1 types for 2 rows", "expected one for each"),
    ("mr.Assembly.from_aim([[3], [6]], 'backbone')", "column 0", "'m1' has no face 6", "valid: 2, 3, 4, 5, 7"),
    ("mr.Assembly.from_aim([[3], [4]], type='backbone')", "from_aim has no argument 'type'", "did you mean 'types'?"),
    (
        "mr.Assembly.from_grid('B X')",
        "cell 'X' in row 0, column 1",
        "no module type with letter 'X'",
        "valid: A (anchor)",
        "S (scout)",
    ),
    ("mr.Assembly.from_grid('B45')", "cell 'B45' in row 0, column 0", "0, 90, 180 or 270, like B or S90"),
    ("mr.Assembly.single('m0', 'backbone', mass=2)", "single has no argument 'mass'", "valid: name, kind, parameters"),
    ("mr.Assembly(['backbone'])", "modules ['backbone']", "expected modules by name, like {'m0': mr.module_type"),
    ("mr.Assembly()", "Assembly needs 'modules'", "expected modules, connections, name"),
    # ---- an assembly for a robot, a robot for an assembly ----
    ("crab.mass_matrix(q)", "an assembly has no attribute 'mass_matrix'", "assembly.robot().mass_matrix"),
    ("crab.joints", "an assembly has no attribute 'joints'", "assembly.robot().joints"),
    ("robot.dock('m6', 'backbone', 'm3/3', '4')", "the robot crab has no attribute 'dock'", "the assembly that has it"),
    ("robot.modules", "the robot crab has no attribute 'modules'", "the assembly that has it"),
    ("robot.mas_matrix(q)", "the robot crab has no attribute 'mas_matrix'", "did you mean 'mass_matrix'?"),
    ("mr.Mechanism.from_assembly(robot)", "Mechanism('crab'", "is no assembly", "mr.load('crab')"),
    (
        "mr.simulate('crab')",
        "'crab' is no robot",
        "expected a Mechanism, such as mr.load('crab').robot(), or an assembly",
    ),
    ("mr.simulate(mr.Mechanism)", "class", "is no robot", "expected a Mechanism"),
    ("mr.gait('crab').on(crab)", "a gait on Assembly('crab'", "assembly.robot() or assembly.mechanism(...)"),
    ("mr.PID(1.0).on(crab)", "PID on Assembly('crab'", "assembly.robot() or assembly.mechanism(...)"),
    ("mr.draw.draw(crab)", "Assembly('crab'", "is no robot", "expected a Mechanism"),
    # ---- how a robot stands ----
    ("crab.mechanism('m9')", "no module 'm9'", MODULES),
    ("crab.mechanism(base=0)", "no module 0", "did you mean 'm0'?", MODULES),
    ("crab.mechanism(gravity=9.81)", "gravity 9.81", "expected three finite numbers, like (0, 0, -9.81)"),
    ("crab.mechanism(lock=['m0/hinge'])", "mechanism has no argument 'lock'", "did you mean 'locked'?"),
    ("crab.mechanism(locked='m0')", "no joint 'm0' to lock", "valid: m0/hinge, m1/hinge"),
    ("crab.mechanism(locked={'m0/hinge': '90deg'})", "held at '90deg'", "expected a finite coordinate [rad or m]"),
    # ---- configurations, frames, forces ----
    ("robot.mass_matrix([0, 0])", "q has shape (2,)", SHAPE),
    ("robot.mass_matrix(np.zeros((3, 1)))", "q has shape (3, 1)", SHAPE),
    ("robot.mass_matrix('neutral')", "q holds 'neutral'", "expected numbers of shape (..., 3) for crab"),
    ("robot.mass_matrix([0, np.nan, 0])", "q[1] is nan", "expected finite numbers"),
    ("crab.mechanism(floating=True).mass_matrix(np.zeros(9))", "q has shape (9,)", "(..., 10)", "floating_base (free)"),
    ("crab.mechanism(floating=True).mass_matrix(np.zeros(10))", "'floating_base' has length 0", "expected length one"),
    ("robot.jacobian(q, 'm9')", "no frame 'm9' in crab", "valid: world, m0/A"),
    ("robot.jacobian('m3', q)", "q holds 'm3'", "expected numbers of shape (..., 3) for crab"),
    ("robot.joint('hinge')", "no joint 'hinge' in crab", f"valid: {JOINTS}"),
    (
        "robot.inverse_dynamics(q, q, q, {'m3': [0, 0, -1]})",
        "wrench on 'm3' has shape (3,)",
        "(..., 6), force and torque",
    ),
    ("robot.forward_dynamics(q, q, 0.0)", "tau has shape ()", SHAPE),
    ("robot.random_configuration(0)", "rng 0", "expected a random stream, np.random.default_rng(0)"),
    ("robot.with_payload('m3', 2.0)", "payload at m3 has shape ()", "a spatial inertia (6, 6)", "sphere(mass, radius)"),
    ("robot.with_force('spring', mr.JointSpring(2.0), joint='m9/hinge')", "no joint 'm9/hinge'", f"valid: {JOINTS}"),
    (
        "robot.with_force('spring', 3.0, joint='m0/hinge')",
        "force 'spring', 3.0",
        "a force along a joint with joint=, such as mr.JointSpring(2.0), or one between frames with a= and b=",
    ),
    ("robot.with_force('spring', mr.Spring(2.0), joint='m0/hinge')", "force 'spring', Spring", "frames with a= and b="),
    ("robot.with_force('spring', mr.JointSpring(2.0), a='m3')", "force 'spring', JointSpring", "with joint="),
    (
        "robot.with_force('m0/hinge stop', mr.JointSpring(2.0), joint='m2/hinge')",
        "already a force named 'm0/hinge stop' on crab",
        "expected another name",
    ),
    ("robot.without_forces('fricton')", "no force 'fricton' on crab", "valid: m0/hinge stop"),
    ("robot.equations('mass')", "no kind of symbols 'mass'", "did you mean 'masses'?", "valid: all, masses, centres"),
    ("robot.equations().linearised()", "linearised needs 'q'", "expected q, v"),
    ("robot.equations(method='newton')", "no method 'newton'", "valid: two-step, lagrange"),
    ("robot.equations(symbol='masses')", "equations has no argument 'symbol'", "did you mean 'symbols'?"),
    ("mr.spatial.se3.pose((1, 2, 3))", "a rotation of shape (3,)", "expected (..., 3, 3) and (..., 3)", "se3.pose(p="),
    ("mr.spatial.se3.pose(p=(1, 2))", "a place of shape (2,)", "expected (..., 3, 3) and (..., 3)"),
    ("mr.spatial.inertia.box(1.0, 0.1)", "size 0.1 of a box", "expected its edges along the axes, (x, y, z) [m]"),
    ("mr.spatial.inertia.sphere(1.0, -1.0)", "radius -1.0 of a sphere", "expected a number, zero or more"),
    ("mr.spatial.inertia.cylinder(None, 0.1, 0.2)", "mass None of a cylinder", "expected a number [kg]"),
    ("mr.Tension(lower=5.0, upper=1.0)", "tensions from 5.0 to 1.0 N", "expected lower <= upper"),
    ("mr.Ground(mu=0.5)", "Ground has no argument 'mu'", "valid: friction"),
    ("mr.Motor()", "Motor needs 'torque_constant'", "expected torque_constant"),
    ("mr.Builder('x').shape('box', (1, 1, 1), 'world', color='r')", "shape has no argument 'color'", "'colour'?"),
    ("mr.Builder('x').collision('sphere', 0.1, 'world')", "sphere of size 0.1", "expected numbers in brackets"),
    ("mr.walk_to(None, goal='there')", "goal 'there'", "expected (x, y) on the ground [m]"),
    # ---- simulation ----
    ("mr.simulate(robot, 10.0)", "q0 has shape ()", SHAPE),
    ("mr.simulate(robot, [0.1, 0.2, 0.3], [0, 0])", "v0 has shape (2,)", SHAPE),
    ("mr.simulate(robot, [90, 0, 0])", "q0 has 90 rad for m0/hinge", "-1.571 to 1.571 rad", "np.deg2rad"),
    ("mr.simulate(robot, stop_at_limits='yes')", "stop_at_limits 'yes'", "expected True or False"),
    ("mr.simulate(robot, duration=-1)", "duration -1", "expected a positive finite number [s]"),
    ("mr.simulate(robot, duration='10 s')", "duration '10 s'", "expected a positive finite number [s]"),
    ("mr.simulate(robot, duration=0.0015)", "0.0015 s is not a multiple of 0.001 s", "the nearest is 0.002 s"),
    ("mr.simulate(robot, controler=mr.PID())", "simulate has no argument 'controler'", "'controller'?", SIMULATE),
    ("mr.simulate(robot, dt=1e-3)", "simulate has no argument 'dt'", SIMULATE),
    ("mr.simulate(robot, stepper='rk4')", "stepper 'rk4'", "such as mr.RungeKutta4(1e-3)", "SemiImplicitEuler"),
    ("mr.simulate(robot, stepper=mr.RungeKutta4)", "stepper <class", "such as mr.RungeKutta4(1e-3)"),
    ("mr.simulate(robot, stepper=1e-3)", "stepper 0.001", "such as mr.RungeKutta4(1e-3)"),
    ("mr.RungeKutta4(-1e-3)", "a step of -0.001", "expected a positive finite number [s]"),
    ("mr.RungeKutta4(step=1e-3)", "RungeKutta4 has no argument 'step'", "valid: dt"),
    ("mr.Adaptive(method='RK45')", "method 'RK45'", "valid: DOP853, Radau, LSODA"),
    ("mr.simulate(robot, controller='pid')", "controller 'pid'", LAW, "valid: mr.control.LAWS"),
    ("mr.simulate(robot, controller=mr.PID)", "controller <class", LAW, "write PID(...)"),
    ("mr.simulate(robot, controller=lambda q, v: 0 * q)", "controller <lambda>", "f(t, q, v)", "three arguments"),
    ("mr.simulate(robot, controller=mr.gait('crab'))", "controller Gait(", LAW),
    (
        "mr.simulate(robot, controller=mr.PID(), stepper=mr.RungeKutta4(0.003))",
        "sample time 0.001 s is not a multiple of 0.003 s",
        "the nearest is 0.003 s",
    ),
    ("mr.simulate(robot, estimator='ekf')", "estimator 'ekf'", "expected one such as mr.ExtendedKalmanFilter(sensors)"),
    ("mr.simulate(robot, estimator=mr.ExtendedKalmanFilter)", "estimator <class", "mr.ExtendedKalmanFilter(sensors)"),
    ("mr.simulate(robot, estimator=mr.HallSensors())", "estimator HallSensors(", "mr.ExtendedKalmanFilter(sensors)"),
    ("mr.simulate(robot, external={'m3': np.zeros(6)})", "external wrenches {'m3'", "expected a function of t"),
    (
        "mr.simulate(robot, external=lambda: {})",
        "external wrenches by <lambda>",
        "expected a function of t, or of t, q and v",
    ),
    ("mr.simulate(robot, external=lambda t, q: {})", "external wrenches by <lambda>", "or of t, q and v"),
    ("mr.simulate(robot, seed=-1)", "seed -1", "expected a whole number, zero or more"),
    ("mr.Simulation(robot).advance()", "advance needs 'duration'", "expected duration, progress"),
    ("mr.World({'a': crab})", "organism 'a' is Assembly('crab'", "expected mr.Organism(assembly)"),
    ("mr.World([crab])", "organisms [Assembly('crab'", "expected a mapping, {name: mr.Organism(assembly)}"),
    ("mr.World({'a': mr.Organism(robot)})", "organism 'a' of Mechanism('crab'", "expected an assembly"),
    ("mr.World({'a': mr.Organism(crab)}).pose('b', 'm0')", "no organism 'b'", "valid: a"),
    ("mr.World({'a': mr.Organism(crab)}, dt=0.01)", "World has no argument 'dt'", "valid: organisms, stepper"),
    ("mr.Dock(1.0, 'a', 'm6', 'backbone', 'm3/3')", "Dock needs 'by'", "when, organism, module, type, at, by, roll"),
    ("mr.World({'a': mr.Organism(crab)}).run()", "run needs 'duration'", "expected duration, changes"),
    ("mr.World({'a': mr.Organism(crab)}).run(0.01, [1])", "change 1", "such as mr.Undock(1.0, ...)", "valid: mr.Dock"),
    ("mr.simulate(robot, duration=0.01, progress=3)", "progress 3", "expected a function"),
    ("mr.simulate(robot, duration=0.01, cancelled=3)", "cancelled 3", "expected a function"),
    ("run.of_run(0)", "run (0,)", "expected an index into runs of shape ()"),
    (
        "run.q_estimate",
        "q_estimate was not recorded",
        "the run had no estimator",
        "expected simulate(..., estimator=...)",
    ),
    ("run.segments[0].at(5.0)", "t = 5 s", "recorded from 0 to 0.002 s"),
    # ---- controllers, filters, gaits, trajectories ----
    ("mr.PID(Kp=3)", "PID has no argument 'Kp'", "valid: kp, ki, kd, reference"),
    ("mr.PID(kp=[1, 2]).on(robot)", "kp has shape (2,)", "expected one number or shape (3,)"),
    ("mr.PID(kp=-1).on(robot)", "kp = -1 at joint m0/hinge", "expected zero or more"),
    ("mr.PID(reference=[0, 0]).on(robot)", "position has shape (2,)", "expected one number or (..., 3)"),
    ("mr.PID(reference={'m9/hinge': 0.1}).on(robot)", "'m9/hinge' is no joint of crab", f"valid: {JOINTS}"),
    ("mr.PID(sample_time=0)", "sample_time = 0.0", "expected more than zero"),
    ("mr.PID(anti_windup='yes')", "anti_windup 'yes'", "valid: clamping, back-calculation, or None"),
    ("mr.ComputedTorque()", "ComputedTorque needs 'kp', 'kd'", "expected kp, kd, reference"),
    ("mr.ComputedTorque(1, 1, reference=lambda t: 0.1).on(robot)", "gives 0.1", "(position, velocity, acceleration)"),
    ("mr.ComputedTorque(1, 1).on(crab.mechanism(floating=True))", "no drive at floating_base (free)", "partial=True"),
    (
        "mr.ExtendedKalmanFilter('hall').on(robot, 0.001)",
        "sensor 'hall'",
        "expected one of",
        "mr.IMU(...)",
        "mr.HallSensors(...)",
    ),
    ("mr.HallSensors(noise=-1)", "noise is -1", "expected a finite number [rad or m], zero or more"),
    ("mr.gait('crab').on(robot)('now')", "time t [s] = 'now'", "expected numbers"),
    ("mr.gait('gallop')", "no gait 'gallop'", "valid: snake, crab, quadruped, wheel"),
    ("mr.gait('crab', amplitud=1)", "gait 'crab' has no option 'amplitud'", "did you mean 'amplitude'?"),
    (
        "mr.gait('crab', amplitude=30).on(robot)",
        "joint 'm0/hinge' would swing from -30 to 30",
        "-1.571 to 1.571",
        "1.571 fits",
    ),
    ("mr.gait('crab', generator='square')", "no generator 'square'", "valid: hopf, logistic, matsuoka, sine"),
    ("mr.Trajectory.cubic([0, 0], [1, 1, 1], 2.0)", "start (2,)", "end (3,)", "expected one shape, or numbers"),
    ("mr.Trajectory.cubic(0, 1)", "cubic needs 'duration'", "expected start, end, duration"),
    ("mr.Trajectory.cubic(0, 1, -2.0)", "duration = -2.0", "expected more than zero"),
    ("mr.gains_by_poles([3, 4])", "poles = [3, 4]", "expected finite numbers with a real part below zero"),
    ("mr.linearised(robot)", "linearised needs 'q'", "expected robot, q, v, tau, actuated"),
    # ---- mechanisms made by hand ----
    ("arm.body('a', 1.0)", "body 'a': inertia has shape ()", "expected (6, 6), such as mr.spatial.inertia.sphere"),
    ("arm.body('a', ball, joint='revolute')", "body 'a': joint 'revolute'", "such as mr.Revolute((0, 0, 1))"),
    ("arm.body('a', ball, joint=mr.Revolute)", "body 'a': joint <class", "such as mr.Revolute((0, 0, 1))"),
    ("arm.body('a', ball, parent='base')", "no body or frame 'base'", "valid: world"),
    ("arm.body('a', ball, at=[0, 0, 1])", "pose of 'a' has shape (3,)", "expected (4, 4), such as mr.spatial.se3.pose"),
    ("arm.body('a', ball, properties={'damping': 1})", "properties {'damping': 1}", "mr.JointProperties(...) of lower"),
    ("arm.body('a', ball, parrent='world')", "body has no argument 'parrent'", "did you mean 'parent'?"),
    ("arm.loop('l', mr.Revolute(), 'world', 'tip')", "no body or frame 'tip'", "valid: world"),
    ("mr.Revolute('z')", "revolute axis 'z'", "expected three finite numbers, not all zero"),
    ("mr.Revolute(axes=(0, 0, 1))", "Revolute has no argument 'axes'", "did you mean 'axis'?"),
    ("mr.JointProperties(dampin=1)", "no argument 'dampin'", "did you mean 'damping'?", "valid: lower, upper"),
    ("mr.Stop(lower=1, upper=-1)", "stop from 1 to -1", "expected lower <= upper"),
    ("mr.Spring()", "Spring needs 'stiffness'", "expected stiffness, length, damping"),
    ("mr.set_threads('all')", "'all' threads", "expected one or more, or None for all cores"),
]

# arguments of the command, then pieces of what it says
COMMANDS = [
    (["inf", "crab"], "No such command 'inf'", "info"),
    (["info"], "Missing argument", "file"),
    (["info", "krab"], "no file 'krab'", "did you mean 'crab'?", "valid: cable_planar, crab, crane"),
    (["info", "crab", "--flaoting"], "No such option", "--flaoting", "--floating"),
    (["info", "crab", "--base", "m9"], "no module 'm9'", MODULES),
    (["aim", "arm.urdf"], "arm.urdf is a URDF file", "give an assembly"),
    (["simulate", "crab", "--duration", "long"], "Invalid value for '--duration'", "valid"),
    (["simulate", "crab", "--duration", "-1"], "duration -1.0", "expected a positive finite number [s]"),
    (["simulate", "crab", "--controller", "bang"], "no controller 'bang'", "valid: none, "),
    (["simulate", "crab", "--controler", "pid"], "No such option", "--controller"),
    (["simulate", "crab", "--stepper", "rk4"], "no stepper 'rk4'", "runge-kutta-4"),
    (["simulate", "crab", "--kp", "3"], "--kp without a controller", "add --controller, one of"),
    (
        ["simulate", "crab", "--reference", "1,2", "--controller", "pid"],
        "--reference has 2 numbers",
        "expected one, or 3",
    ),
    (["simulate", "crab", "--start", "90,0,0"], "q0 has 90 rad for m0/hinge", "np.deg2rad"),
    (["simulate", "crab", "--plot", "run.foo"], "files .foo cannot be written", "valid: .png, .pdf, .svg"),
    (["simulate", "crab", "--gait", "gallop", "--controller", "pid"], "no gait 'gallop'", "valid: snake, crab"),
    (
        ["simulate", "crab", "--start", "m0/hinge=1"],
        "--start 'm0/hinge=1'",
        "one number, or 3 with commas",
        "0.1,0.1,0.1",
    ),
    (
        ["plot", "run.mrun", "--out", "run.csv"],
        "--out run.csv",
        "expected a picture (.png, .pdf, .svg)",
        "--table run.csv",
    ),
    (["plot", "runs.mrun"], "runs.mrun: cannot be read", "did you mean 'run.mrun'?"),
    (["equations", "crab", "--symbols", "mass"], "'mass'", "masses"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a robot, a URDF file and a recording."""
    made = tmp_path_factory.mktemp("files")
    mr.save(mr.load("crab"), made / "crab.yaml")
    (made / "arm.urdf").write_text("<robot name='arm'><link name='base'/></robot>")
    mr.simulate(mr.load("crab").mechanism(), duration=0.002).save(made / "run.mrun")
    return made


@pytest.fixture(scope="module")
def values(files):
    """What no mistake can change."""
    crab = mr.load("crab")
    return {"mr": mr, "np": np, "crab": crab, "robot": crab.mechanism(), "run": mr.Recording.load(files / "run.mrun")}


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """A folder with such files in which a new user works."""
    monkeypatch.chdir(shutil.copytree(files, tmp_path, dirs_exist_ok=True))
    return tmp_path


@pytest.fixture
def names(folder, values):
    """What the code of the mistakes may use."""
    return {**values, "q": np.zeros(3), "arm": mr.Builder(), "ball": inertia.sphere(1.0, 0.1)}


# of every message: beside what was found and where, what helps
WAYS = (
    *("expected", "valid:", "did you mean", "free:", "make it first", "first", "start closer", "the nearest is"),
    *("fits", "it is the assembly that has it", "it is the robot that has it", "recorded from"),
)


@pytest.mark.parametrize(("code", "pieces"), [(code, pieces) for code, *pieces in MISTAKES], ids=lambda x: str(x)[:70])
def test_mistake(code, pieces, names):
    with pytest.raises(mr.ModurobError) as told:
        eval(code, names)
    message = str(told.value)
    assert len(pieces) >= 2
    assert any(way in message for way in WAYS), message
    assert [piece for piece in pieces if piece not in message] == [], message


@pytest.mark.parametrize(("arguments", "pieces"), [(a, pieces) for a, *pieces in COMMANDS], ids=lambda x: str(x)[:70])
def test_mistake_on_the_command_line(arguments, pieces, folder):
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    own = isinstance(result.exception, mr.ModurobError)
    assert own or result.exit_code == 2, result.output
    said = str(result.exception) if own else result.output
    assert [piece for piece in pieces if piece not in said] == [], said


@pytest.mark.parametrize(
    ("missing", "code", "pieces"),
    [
        ("pyarrow", "run.to_parquet('run.parquet')", ["Parquet needs pyarrow", "pip install modurob[parquet]"]),
        ("control", "mr.control.state_space(robot, q)", ["needs python-control", "pip install 'modurob[control]'"]),
    ],
)
def test_missing_extras(missing, code, pieces, names, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(mr.ModurobError) as told:
        eval(code, names)
    assert [piece for piece in pieces if piece not in str(told.value)] == []


HOT = [
    ("robot.mass_matrix()", "Mechanism.mass_matrix() missing 1 required positional argument: 'q'"),
    ("robot.forward_dynamics(q, q)", "Mechanism.forward_dynamics() missing 1 required positional argument: 'tau'"),
    ("robot.jacobian(q)", "Mechanism.jacobian() missing 1 required positional argument: 'frame'"),
    ("robot.mass_matrix(q, q)", "Mechanism.mass_matrix() takes 2 positional arguments but 3 were given"),
    ("robot.locked({}, 1)", "Mechanism.locked() takes 2 positional arguments but 3 were given"),
    ("crab.aim(1, 2, 3)", "Assembly.aim() takes"),
    ("mr.World({'crab': mr.Organism(crab)}).pose()", "World.pose() missing 2 required positional arguments"),
    ("robot.bias_forces(q, w=q)", "Mechanism.bias_forces() got an unexpected keyword argument 'w'"),
]


@pytest.mark.parametrize(("code", "message"), HOT)
def test_calls_that_cost_microseconds_are_explained_by_python(code, message, names):
    """A check of its own would cost right calls as much as a part of the answer; Python names method and argument."""
    with pytest.raises(TypeError) as told:
        eval(code, names)
    assert message in str(told.value)


def test_entries_that_are_not_there_are_lookup_errors_too(values):
    fleet, frames = mr.Fleet([values["robot"]]), values["robot"].frames
    with pytest.raises(IndexError):
        fleet[1]
    with pytest.raises(KeyError):
        frames["m33"]
    assert frames.get("m33") is None
    assert frames[-2:] == tuple(frames)[-2:]
    assert fleet[:1] == fleet


def test_methods_named_after_their_class_can_be_sent_elsewhere():
    for function in (mr.Mechanism.mass_matrix, mr.Mechanism.locked, mr.Assembly.aim, mr.World.pose):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize(
    ("properties", "pieces"),
    [
        ("damping=-1", "joint 'a': damping -1: expected a finite number, zero or more"),
        ("friction=np.inf", "joint 'a': friction inf: expected a finite number, zero or more"),
        ("friction=0.1, stribeck=-2", "joint 'a': stribeck -2: expected a finite number, zero or more"),
        ("stiffness=-3", "joint 'a': stiffness -3: expected a finite number, zero or more"),
    ],
)
def test_properties_of_a_joint_are_named_as_they_were_given(properties, pieces, names):
    with pytest.raises(mr.ModurobError) as told:
        exec(
            f"arm.body('a', ball, joint=mr.Revolute(), properties=mr.JointProperties({properties})); arm.build()", names
        )
    assert pieces == str(told.value)


def test_there_are_enough_of_them():
    assert len({code for code, *_ in MISTAKES}) + len(COMMANDS) >= 80
