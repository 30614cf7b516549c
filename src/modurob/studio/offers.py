"""What is registered, as the page calls it: laws, filters, steppers and gaits that a run can be made of, and exports."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from inspect import Parameter, signature
from typing import Any

from modurob.control import LAWS, Recipe, plain_laws
from modurob.control.values import PerJoint
from modurob.estimation import FILTERS
from modurob.mechanism import EXPORTS
from modurob.motion import TRAJECTORIES
from modurob.motion.gaits import GENERATORS, PRESETS
from modurob.simulation import STEPPERS
from modurob.simulation.steppers import FixedStep

NONE = "none"
SERVOS = "servos"  # position servos at the joints, part of the robot
POLES = "pole-placement"  # computed torque with gains from two poles
WORDS = {
    NONE: "none: free motion",
    SERVOS: "servos at the joints",
    "pid": "PID",
    "lqr": "LQR",
    "ekf": "extended Kalman filter",
    "ukf": "unscented Kalman filter",
    "semi-implicit-euler": "semi-implicit Euler",
    "runge-kutta-4": "Runge-Kutta 4",
    "exponential-runge-kutta-4": "exponential Runge-Kutta 4",
    "mujoco": "MuJoCo",
    "slotine-li": "Slotine and Li",
    "sine": "sines",
    "hopf": "Hopf oscillators",
    "matsuoka": "Matsuoka oscillators",
    "logistic": "logistic maps",
    "cubic": "cubic, at rest in each",
    "quintic": "quintic, at rest in each",
    "trapezoid": "trapezoid of speed, at rest in each",
    "s-curve": "S-curve, at rest in each",
    "spline": "cubic spline",
    "minimum-jerk": "least jerk",
    "blended": "lines with blends",
    "through": "spline within limits",
    "kp": "proportional gain",
    "ki": "integral gain",
    "kd": "derivative gain",
    "pole1": "first pole",
    "pole2": "second pole",
    "position": "weight of positions",
    "velocity": "weight of rates",
    "effort": "weight of efforts",
}
_TORQUES = {"kp": "N m", "ki": "N m/s", "kd": "N m s", "filter_time": "s"}
UNITS: Mapping[str, Mapping[str, str]] = {
    "computed-torque": {"kp": "1/s²", "kd": "1/s"},
    POLES: {"pole1": "1/s", "pole2": "1/s"},
    SERVOS: {"kp": "N m", "kd": "N m s"},
    "pid": _TORQUES,
    "gravity": _TORQUES,
    "feed-forward": _TORQUES,
}
# gains that are torques, for a module of a kilogram; `suggestions` has those for a robot
TORQUES: Mapping[str, float] = {"kp": 8.0, "ki": 2.0, "kd": 0.6}
# those of computed torque are accelerations and fit every robot
GAINS: Mapping[str, Mapping[str, float]] = {
    "computed-torque": {"kp": 50.0, "kd": 15.0},
    POLES: {"pole1": -10.0, "pole2": -5.0},
    SERVOS: {"kp": 60.0, "kd": 2.0},
    **{law: TORQUES for law, units in UNITS.items() if units is _TORQUES},
}
_BY_JOINT = (PerJoint, PerJoint | None)  # what fields of numbers for each joint are annotated with
HIGHEST_POLE = -0.01  # [1/s]
# what way points and limits give to a maker of trajectories
GIVEN = {"times", "points", "start", "end", "duration", "velocity", "acceleration", "jerk", "blend"}


def controllers() -> list[str]:
    """Free motion, servos, every law that numbers are enough for, and computed torque by poles."""
    return [NONE, SERVOS, *plain_laws(), POLES]


def unmet(controller: str) -> str:
    """What a law needs that a page cannot give, in words to be added to those on offer."""
    needs = LAWS[controller].needs if controller in LAWS else ""
    return f"; {controller} needs {needs}, which only Python can give" if needs else ""


def filters() -> list[str]:
    """No filter, and every filter."""
    return [NONE, *FILTERS]


def gains(controller: str) -> dict[str, float]:
    """The numbers of a law and what they are unless told otherwise."""
    default = GAINS.get(controller, {})
    own = {f.name: default.get(f.name, 0.0 if f.default is MISSING else f.default) for f in _numbers(controller)}
    # None: the law finds what suits the robot
    return {name: float(x) for name, x in own.items() if x is not None} if own else dict(default)


def options(gait: str) -> dict[str, float]:
    """The numbers of a gait beside amplitude and frequency, and what they are unless told otherwise."""
    defaults = {f.name: f.default for f in fields(PRESETS[gait])}
    return {name: x for name, x in defaults.items() if isinstance(x, int | float)}


def _numbers(controller: str) -> list[Field[Any]]:
    """The fields of a law that are numbers, for all joints or for each."""
    common = {f.name for f in fields(Recipe)} | {"reference"}
    own = fields(LAWS[controller]) if controller in LAWS else ()
    return [f for f in own if f.name not in common and f.type in (*_BY_JOINT, float)]


def interpolations() -> list[str]:
    """Every trajectory that way points, times and limits are enough for."""
    return [name for name, maker in TRAJECTORIES.items() if asked(maker, required=True) <= GIVEN]


def asked(maker: Any, required: bool = False) -> set[str]:
    """What a maker of trajectories is to be told; with `required` only what it cannot do without."""
    told = signature(maker).parameters.values()
    return {p.name for p in told if p.kind != Parameter.VAR_KEYWORD and (not required or p.default is Parameter.empty)}


def _interpolation(name: str) -> dict[str, Any]:
    """`needs`: which of the numbers matter; `timed`: whether the times of the list do; `stops`: whether it rests at each point."""
    needs = asked(TRAJECTORIES[name])
    return {
        **_named(name),
        "timed": bool(needs & {"times", "duration"}),
        "stops": "points" not in needs,
        "needs": sorted(needs & {"velocity", "acceleration", "jerk", "blend"}),
    }


def shown() -> dict[str, Any]:
    """Everything, as plain data for the page."""
    return {
        "controllers": [_controller(name) for name in controllers()],
        "filters": [{"name": NONE, "label": "none: state is known"}, *_all(FILTERS)],
        "gaits": [{**_named(name), "options": _options(name)} for name in PRESETS],
        "generators": _all(GENERATORS),
        "exports": _exports(),
        "interpolations": [_interpolation(name) for name in interpolations()],
        "steppers": [
            {**_stepper(name), "fixed": issubclass(kind, FixedStep), "contacts": kind.contacts}
            for name, kind in STEPPERS.items()
        ],
    }


def _options(gait: str) -> list[dict[str, Any]]:
    return [{**_named(name), "value": x} for name, x in options(gait).items()]


def _controller(name: str) -> dict[str, Any]:
    """`torques`: whether gains are torques, so that they depend on the robot."""
    units = UNITS.get(name, {})
    positive = set(GAINS[SERVOS]) if name == SERVOS else {f.name for f in _numbers(name) if f.type in _BY_JOINT}
    bounds = {"min": None, "max": HIGHEST_POLE} if name == POLES else {"min": None, "max": None}
    shown = [
        {
            **_named(gain),
            "value": x,
            "unit": units.get(gain, ""),
            **bounds,
            **({"min": 0.0} if gain in positive else {}),
        }
        for gain, x in gains(name).items()
    ]
    return {**_named(name), "gains": shown, "torques": units is _TORQUES}


def _stepper(name: str) -> dict[str, str]:
    """The adaptive one has a name that a law has too, and a method by which it steps."""
    return {**_named(name), "label": "adaptive, DOP853"} if name == "adaptive" else _named(name)


def _exports() -> list[str]:
    """One ending for each export: the first of those that write the same."""
    return [ending for i, ending in enumerate(EXPORTS) if EXPORTS[ending] not in list(EXPORTS.values())[:i]]


def _all(names: Iterable[str]) -> list[dict[str, str]]:
    return [_named(name) for name in names]


def _named(name: str) -> dict[str, str]:
    return {"name": name, "label": WORDS.get(name, name.replace("-", " ").replace("_", " "))}
