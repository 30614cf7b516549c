"""Inverse kinematics by iteration: batches of reachable poses against Robotics Toolbox's C++ solver, pink and Pinocchio.

On one core. Every solver starts where it likes, keeps the joints' limits and restarts what fails, pink apart. Robotics Toolbox
(`pip install roboticstoolbox-python`: `ik_LM` in C++, Chan's damping) and pink (`pip install pin-pink`) are measured where they
are installed; Pinocchio's rows are a damped least-squares loop in Python over its C++ kinematics.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pinocchio
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.robots import shipped_arm
from benchmarks.timing import interleaved
from modurob.judges import PinocchioTwin

BATCH, TOLERANCE = 16384, 1e-10
# poses of the same batch that a peer solves one after the other: as many as time allows, since restarts make times uneven
FEW = {"toolbox": 1000, "pink": 40, "pinocchio": 200}


def poses(robot: mr.Mechanism, frame: str, n: int) -> np.ndarray:
    """Poses that the robot reaches within its limits."""
    rng = np.random.default_rng(0)
    return robot.frame_pose(np.stack([robot.random_configuration(rng) for _ in range(n)]), frame)


def by_pinocchio(robot: mr.Mechanism, frame: str, X: np.ndarray) -> Callable[[], int]:
    """Damped least squares by Pinocchio's Python interface, restarted at random; returns how many poses are reached."""
    twin = PinocchioTwin(robot)
    model, data, at = twin.model, twin.data, robot.frame(frame)
    joint = model.getJointId(robot.joints[at.body - 1].name)
    seat = pinocchio.SE3(at.X)
    lower, upper = robot.limits.lower[twin.v_index], robot.limits.upper[twin.v_index]
    rng = np.random.default_rng(0)

    def solve(goal: Any) -> bool:
        for _ in range(100):
            q = rng.uniform(lower, upper)
            for _ in range(30):
                pinocchio.computeJointJacobians(model, data, q)
                error = pinocchio.log6((data.oMi[joint] * seat).actInv(goal)).vector
                size = error @ error
                if size < TOLERANCE**2:
                    break
                J = pinocchio.getJointJacobian(model, data, joint, pinocchio.ReferenceFrame.LOCAL)
                J = seat.actionInverse @ J
                q = q + J.T @ np.linalg.solve(J @ J.T + 0.1 * size * np.eye(6), error)
            turned = q - 2 * np.pi * np.round(q / (2 * np.pi))
            if size < TOLERANCE**2 and np.all((turned >= lower) & (turned <= upper)):
                return True
        return False

    goals = [pinocchio.SE3(x) for x in X]
    return lambda: sum(solve(goal) for goal in goals)


def by_toolbox(robot: mr.Mechanism, frame: str, X: np.ndarray) -> Callable[[], int]:
    """Robotics Toolbox's Levenberg-Marquardt in C++; its tolerance is on half the squared error."""
    from roboticstoolbox import ET, ETS  # pyright: ignore

    at, chain = robot.frame(frame), ETS()
    path = robot.ancestors[at.body][::-1]
    for i in path:
        axis = np.array(robot.joints[i - 1].type.axis)  # type: ignore[attr-defined]
        turn = (ET.Rx, ET.Ry, ET.Rz)[int(np.argmax(np.abs(axis)))]
        chain = chain * ET.SE3(np.array(robot.X_PJ[i])) * turn(flip=bool(axis.sum() < 0))
    chain = chain * ET.SE3(np.array(at.X))
    v = [robot.joints[i - 1].v_slice.start for i in path]
    chain.qlim = np.array([robot.limits.lower[v], robot.limits.upper[v]])
    return lambda: sum(bool(chain.ik_LM(x, tol=TOLERANCE**2 / 2, joint_limits=True, slimit=100).success) for x in X)


def by_pink(robot: mr.Mechanism, frame: str, X: np.ndarray) -> Callable[[], int]:
    """pink's differential inverse kinematics with its limits, 60 steps from the middle of the ranges."""
    import pink  # pyright: ignore

    twin = PinocchioTwin(robot)
    model, at = twin.model, robot.frame(frame)
    model.lowerPositionLimit, model.upperPositionLimit = (np.array(x)[twin.v_index] for x in robot.limits)
    parent = model.getJointId(robot.joints[at.body - 1].name)
    model.addFrame(pinocchio.Frame("goal", parent, 0, pinocchio.SE3(at.X), pinocchio.FrameType.OP_FRAME))
    middle = (model.lowerPositionLimit + model.upperPositionLimit) / 2

    def solve(goal: Any) -> bool:
        configuration = pink.Configuration(model, model.createData(), middle)
        task = pink.tasks.FrameTask("goal", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        task.set_target(goal)
        for _ in range(60):
            v = pink.solve_ik(configuration, [task], 1.0, solver="proxqp", safety_break=False)
            configuration.integrate_inplace(v, 1.0)
            if np.linalg.norm(task.compute_error(configuration)) < TOLERANCE:
                return True
        return False

    goals = [pinocchio.SE3(x) for x in X]
    return lambda: sum(solve(goal) for goal in goals)


PEERS = {
    "toolbox": ("roboticstoolbox", by_toolbox),
    "pink": ("pink", by_pink),
    "pinocchio": ("pinocchio", by_pinocchio),
}


def measured(robot: mr.Mechanism, frame: str) -> tuple[dict[str, float], dict[str, float]]:
    """Microseconds a pose, and the share that was reached, by solver."""
    X = poses(robot, frame, BATCH)
    few = {name: make(robot, frame, X[: FEW[name]]) for name, (module, make) in PEERS.items() if find_spec(module)}
    calls: dict[str, Callable[[], object]] = {"modurob": lambda: robot.reach(mr.PoseGoal(frame, X)), **few}
    times = interleaved(calls, rounds=5)
    shares = {"modurob": float(robot.reach(mr.PoseGoal(frame, X)).reached.mean())}
    shares |= {name: call() / FEW[name] for name, call in few.items()}
    return {name: t / FEW.get(name, BATCH) * 1e6 for name, t in times.items()}, shares


def main() -> None:
    """Print the table."""
    mr.set_threads(1)
    table = Table("arm", "solver", "µs a pose", "reached", "times modurob", title=f"poses to {TOLERANCE:g}, one core")
    for name, path, frame in (("UR5", "ur5_robot.urdf", "tool0"), ("Panda", "panda.urdf", "panda_hand")):
        robot = shipped_arm(path, frame)
        times, shares = measured(robot, frame)
        for solver, t in times.items():
            table.add_row(name, solver, f"{t:.2f}", f"{shares[solver]:.4f}", f"{t / times['modurob']:.0f}")
    mr.set_threads(None)
    Console().print(table)


if __name__ == "__main__":
    main()
