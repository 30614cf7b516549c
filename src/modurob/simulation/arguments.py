"""What a run is told, checked: robot, start, stepper, tick, seed and functions."""

from typing import Any

import numpy as np

from modurob.algorithms.interpreter import floats
from modurob.catalogue.contact import Ground
from modurob.errors import InputError, SimulationError, choices
from modurob.robot import Assembly, Mechanism
from modurob.simulation.driving import default_stepper
from modurob.simulation.mujoco import MujocoSteps
from modurob.simulation.steppers import STEPPERS, Stepper
from modurob.spatial.scalars import Array

ENGINES = ("modurob", "mujoco")


def require_routes(robot: Mechanism, q: Array) -> None:
    """An error if a line cannot run over its route in the first of the states."""
    if robot.lines and np.isfinite(q).all():
        faults = robot.line_faults(q.reshape(-1, q.shape[-1])[0])
        if faults:
            raise InputError(f"{robot.name} at the start: {'; '.join(faults)}")


def require_radians(robot: Mechanism, q: Array) -> None:
    """An error for angles that are more than a turn beyond limits which they would meet in degrees."""
    if np.abs(q).max(initial=0.0) <= 2 * np.pi:  # none is
        return
    for joint in robot.joints:
        if joint.mimics or joint.type.units != ("rad",):
            continue
        x, (lower, upper) = q[..., joint.q_slice], joint.limits
        turned = np.deg2rad(x)
        far = (x < lower - 2 * np.pi) | (x > upper + 2 * np.pi)
        if (far & (turned >= lower - 1e-6) & (turned <= upper + 1e-6)).any():
            raise SimulationError(
                f"q0 has {x[far].flat[0]:g} rad for {joint.name}, whose limits are {lower[0]:.4g} to {upper[0]:.4g} rad: expected "
                "radians; np.deg2rad(...) gives them from degrees"
            )


def standing_robot(robot: Any, q0: Any, v0: Any, ground: Ground | None) -> tuple[Mechanism, Any, Any]:
    """The robot on its ground, and where it starts. An assembly stands and starts as its file says; on a ground, on that."""
    if isinstance(robot, Assembly):
        q, v = robot.initial_state()
        made = robot.robot() if ground is None else robot.robot().on_ground(ground)
        q = made.standing(q) if made.contacts and floats(made) else q
        return made, q if q0 is None else q0, v if v0 is None else v0
    if not isinstance(robot, Mechanism):
        raise SimulationError(
            f"{robot!r:.60} is no robot: expected a Mechanism, such as mr.load('crab').robot(), or an assembly"
        )
    return robot if ground is None else robot.on_ground(ground), q0, v0


def _filling(stepper: Stepper, sample_time: Any) -> Stepper:
    """The same with steps that fill the samples of a controller, if it has any."""
    if stepper.dt is None or not isinstance(sample_time, int | float) or not 0 < sample_time < np.inf:
        return stepper
    steps = sample_time / stepper.dt
    return stepper if abs(steps - round(steps)) < 1e-9 * steps else stepper.with_dt(sample_time / int(np.ceil(steps)))


def chosen_stepper(stepper: Any, robot: Mechanism, engine: str = "modurob", controller: Any = None) -> Stepper:
    if engine not in ENGINES:
        raise SimulationError(f"engine {engine!r:.60}: {choices(str(engine), ENGINES)}")
    if stepper is None:
        own = MujocoSteps() if engine == "mujoco" else default_stepper(robot)
        return _filling(own, getattr(controller, "sample_time", None))
    if engine == "mujoco" and isinstance(stepper, Stepper) and not isinstance(stepper, MujocoSteps):
        raise SimulationError(f"engine 'mujoco' with {stepper!r:.60}: expected mr.MujocoSteps(dt), or no stepper")
    return require_stepper(stepper)


def require_stepper(given: Any) -> Stepper:
    """A stepper, or an error."""
    if not isinstance(given, Stepper):
        valid = ", ".join(kind.__name__ for kind in STEPPERS.values())
        raise SimulationError(f"stepper {given!r:.60}: expected one such as mr.RungeKutta4(1e-3); valid: {valid}")
    return given


def chosen_tick(tick: float | None, controller: Any, stepper: Stepper) -> float:
    """The time between ticks: the controller's, else the given one, else the stepper's; steps must fill it."""
    sample_time = getattr(controller, "sample_time", None)
    if sample_time is not None and tick is not None and not np.isclose(sample_time, tick, rtol=1e-12):
        raise SimulationError(
            f"tick {tick:g} s and the controller's sample time {sample_time:g} s: expected one of them"
        )
    chosen = next(x for x in (sample_time, tick, stepper.dt, 0.01) if x is not None)
    if not (np.isfinite(chosen) and chosen > 0):
        raise SimulationError(f"tick {chosen!r}: expected a positive finite number [s]")
    if stepper.dt is not None:
        whole(chosen, stepper.dt, "sample time")
    return float(chosen)


def random_stream(seed: Any) -> np.random.Generator:
    """The stream of random numbers that a seed begins."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise SimulationError(f"seed {seed!r:.60}: expected a whole number, zero or more")
    return np.random.default_rng(seed)


def require_functions(**given: Any) -> None:
    """An error unless each is a function or None."""
    for name, function in given.items():
        if function is not None and not callable(function):
            raise SimulationError(f"{name} {function!r:.60}: expected a function, or None")


def whole(span: float, unit: float, what: str) -> int:
    """How many units make the span, or an error."""
    if isinstance(span, bool) or not isinstance(span, int | float | np.number) or not (np.isfinite(span) and span > 0):
        raise SimulationError(f"{what} {span!r}: expected a positive finite number [s]")
    count = round(span / unit)
    if count < 1 or abs(count * unit - span) > 1e-9 * span:
        near = max(1, count) * unit
        raise SimulationError(f"{what} {span:g} s is not a multiple of {unit:g} s: the nearest is {near:g} s")
    return count
