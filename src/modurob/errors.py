"""The errors that modurob raises.

ModurobError
├── InputError              an argument of a call: wrong shape, not finite, unknown name
│   ├── CallError           unknown or missing arguments of a function (a TypeError too)
│   ├── AbsentError         a name that a value does not have (an AttributeError too)
│   └── EntryError          an entry that a value does not have, value[...] (an IndexError and a KeyError too)
├── FormatError             a file that does not have the expected format
│   ├── CatalogueError      a module type file
│   ├── UrdfError           a URDF file
│   └── MjcfError           a MuJoCo file, or a robot that cannot be written as one
├── AssemblyError           modules that cannot be docked in this way
│   ├── UnknownNameError    no such module type, module or port
│   ├── OccupiedPortError   the port is occupied
│   ├── MatingError         the two ports do not fit
│   ├── ClashError          two modules that overlap
│   ├── DisconnectedError   a module without a connection
│   └── AimError            not an assembly incidence matrix
├── KernelError             compiled code is not available
├── SimulationError         a run that is not possible with these arguments
│   ├── RecordingError      a file that contains no recording
│   └── GaitError           a gait that does not fit the robot
├── ControlError            a controller or trajectory that is not possible
├── EstimateError           a filter or sensor that is not possible
├── StudioError             a request that the studio does not support
├── SearchError             a search that cannot be started or continued with these arguments
└── MechanismError          bodies and joints that do not form a mechanism
    ├── InertiaError        no rigid body has this inertia
    ├── SingularError       a degree of freedom without inertia
    ├── ClosureError        loops that cannot be closed
    └── EquationsError      no closed form, or none within the limits
        ├── NotExactError   a number that is neither a fraction nor a root
        ├── TooLargeError   a closed form that is too large to use
        └── CancelledError  stopped while it was computed

A message gives what was found, where, what was expected, and the valid choices. There is one exception: missing arguments
of a function of a robot's state, as in robot.mass_matrix(), raise Python's own TypeError, which names method and argument;
checking them would slow down correct calls, which take microseconds.
"""

import difflib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


class ModurobError(Exception):
    """Root of all errors that the package raises; a message gives what was found, where, what was expected, and the
    valid choices.

    >>> import modurob as mr
    >>> try:
    ...     mr.load("crabb")
    ... except mr.ModurobError as error:
    ...     print(error)
    no file 'crabb' and no shipped robot of that name: did you mean 'crab'? valid: cable_planar, crab, crane,
    double_pendulum, lwa4p, lwa4p_angled, robocrane, tensegrity_arm, tensegrity_prism, tensegrity_tower, tree9; organisms that
    walk are made by mr.walking_robot
    """


class InputError(ModurobError, ValueError):
    """An argument has the wrong shape, is not finite, or names nothing."""


class CallError(InputError, TypeError):
    """A function does not take these arguments, or lacks one."""


class AbsentError(InputError, AttributeError):
    """A value, or the package, has nothing of that name."""


class EntryError(InputError, IndexError, KeyError):
    """A value has no entry at that place, or of that name."""

    __str__ = Exception.__str__  # that of KeyError quotes the message


class FormatError(ModurobError, ValueError):
    """A file is not what it should be."""


class CatalogueError(FormatError):
    """A module type file does not describe a module type."""


class UrdfError(FormatError):
    """A URDF file cannot be read as a robot; the message names the element."""


class MjcfError(FormatError):
    """A file of MuJoCo cannot be read as a robot, or a robot cannot be written as one; the message names the element."""


class AssemblyError(ModurobError, ValueError):
    """Modules cannot be assembled in this way."""


class UnknownNameError(AssemblyError):
    """There is no module type, module or port of that name."""


class OccupiedPortError(AssemblyError):
    """The port already holds a module."""


class MatingError(AssemblyError):
    """Two ports do not fit: connector kind, size, gender or roll."""


class ClashError(AssemblyError):
    """Two modules would overlap."""


class DisconnectedError(AssemblyError):
    """A module is not connected to the rest."""


class AimError(AssemblyError):
    """A matrix is not an assembly incidence matrix."""


class KernelError(ModurobError):
    """Compiled code is not available, or was given what it cannot take."""


class MechanismError(ModurobError, ValueError):
    """Bodies and joints do not make a mechanism."""


class InertiaError(MechanismError):
    """No rigid body has this mass, centre and inertia."""


class SingularError(MechanismError):
    """A degree of freedom moves no inertia, so its acceleration is undefined."""


class ClosureError(MechanismError):
    """No configuration near the given one closes the loops."""


class EquationsError(MechanismError):
    """This robot has no closed form of the requested kind."""


class NotExactError(EquationsError):
    """A number is neither a short fraction nor a square root of one."""


class TooLargeError(EquationsError):
    """The closed form would be too large to use."""


class CancelledError(EquationsError):
    """The derivation was stopped by its time limit or by the user."""


class SimulationError(ModurobError, ValueError):
    """A simulation cannot be run with these arguments."""


class RecordingError(SimulationError):
    """A file is not a recording that can be read."""


class GaitError(SimulationError):
    """A gait does not fit the robot."""


class ControlError(ModurobError, ValueError):
    """A controller or trajectory cannot be made with these arguments."""


class EstimateError(ModurobError, ValueError):
    """A filter or sensor cannot be made with these arguments."""


class StudioError(ModurobError, ValueError):
    """A request that the studio does not support."""


class SearchError(ModurobError):
    """A search for designs cannot be started or continued with these arguments."""


class ModurobWarning(UserWarning):
    """An input was accepted that should be checked, such as a link of a URDF file that moves without mass.

    >>> import warnings
    >>> import modurob as mr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", mr.ModurobWarning)  # take no file that deserves a look
    """


def warn_user(message: str) -> None:
    """A ModurobWarning at the line outside the package that led to it.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("a link moves without mass")
    >>> caught[0].category.__name__, caught[0].filename != __file__
    ('ModurobWarning', True)
    """
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ModurobWarning, stacklevel=level)


def choices(found: str, valid: Iterable[str], likely: Iterable[str] = ()) -> str:
    """The end of a message: the closest valid name, first of the likely ones, then all of them.

    >>> choices("bakbone", ["backbone", "scout"])
    "did you mean 'backbone'? valid: backbone, scout"
    """
    valid = list(valid)
    close = [x for names in (likely, valid) for x in difflib.get_close_matches(str(found), names, n=1)]
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}valid: {listed(valid)}"


def no_file(path: Path) -> str:
    """The message for a file that does not exist, with those of its kind in the same folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "crab.yaml").write_text("")
    ...     no_file(Path(folder, "krab.yaml")).partition("krab.yaml: ")[2]
    "no such file; did you mean 'crab.yaml'? valid: crab.yaml"
    """
    if not path.parent.is_dir():
        return f"{path}: no such file: there is no folder {path.parent}"
    near = sorted(p.name for p in path.parent.glob(f"*{path.suffix}"))
    return f"{path}: no such file; {choices(path.name, near) if near else f'the folder has no *{path.suffix} file'}"


def listed(names: Iterable[str]) -> str:
    """Names in a message, the first twenty of them.

    >>> listed(f"m{i}" for i in range(30)).endswith("m19, ... (30 in all)"), listed([])
    (True, 'none')
    """
    names = list(names)
    shown = ", ".join(names[:20]) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
    return shown or "none"


def explained(function: F) -> F:
    """A function, or a class, that answers a wrong call with what it takes: misspelt arguments, missing ones, too many.

    >>> @explained
    ... def move(speed, *, duration=1.0): ...
    >>> move(1.0, durations=2.0)
    Traceback (most recent call last):
    modurob.errors.CallError: move has no argument 'durations': did you mean 'duration'? valid: speed, duration
    """
    if isinstance(function, type):
        function.__init__ = explained(function.__init__)
        return function  # type: ignore[return-value]

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except TypeError as error:
            # raised by the call itself, not by what it does
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                raise CallError(_misfit(function, given, named)) from None
            raise

    return call  # type: ignore[return-value]


@contextmanager
def blamed(error: type[ModurobError], what: str, expected: str) -> Iterator[None]:
    """Errors of a user's code that does not accept the scalars it is run on, with its name.

    >>> import math
    >>> with blamed(InputError, "Drag.effort", "functions of modurob.spatial.scalars"):
    ...     math.sin("v")
    Traceback (most recent call last):
    modurob.errors.InputError: Drag.effort: must be real number, not str: expected functions of modurob.spatial.scalars
    """
    try:
        yield
    except NotExactError as found:
        raise NotExactError(f"{what}: {found}") from None
    except ModurobError:
        raise
    except (TypeError, ValueError, AttributeError, IndexError) as found:
        raise error(f"{what}: {found}" + (f": expected {expected}" if "expected" not in str(found) else "")) from found


def require_value(x: Any, error: type[ModurobError]) -> None:
    """An error unless a user's class is one of values, which robots can be told apart and found by.

    >>> require_value(object(), InputError)
    Traceback (most recent call last):
    modurob.errors.InputError: object is no frozen dataclass: expected @dataclass(frozen=True) above the class
    """
    if not is_dataclass(x) or not x.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise error(f"{type(x).__qualname__} is no frozen dataclass: expected @dataclass(frozen=True) above the class")


def blame_methods(cls: type, names: Iterable[str], error: type[ModurobError], expected: str) -> None:
    """Have the errors of these methods of a user's class carry the name of class and method, see `blamed`."""

    def named(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(self: Any, *given: Any) -> Any:
            with blamed(error, f"{type(self).__qualname__}.{method.__name__}", expected):
                return method(self, *given)

        return call

    for name in () if cls.__module__.startswith("modurob.") else set(names).intersection(vars(cls)):
        setattr(cls, name, named(vars(cls)[name]))


def gathered(cls: C) -> C:
    """A class whose methods were written in several, all named as its own in Python's errors: nobody called `Dynamics.mass_matrix`.

    >>> class Part:
    ...     def move(self, speed): ...
    >>> @gathered
    ... class Robot(Part): ...
    >>> Robot().move()
    Traceback (most recent call last):
    TypeError: Robot.move() missing 1 required positional argument: 'speed'
    """
    for name, value in (item for base in cls.__mro__[1:-1] for item in vars(base).items()):
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function) and not name.startswith("_"):
            function.__qualname__, function.__module__ = f"{cls.__name__}.{name}", cls.__module__
    return cls


def _misfit(function: Callable[..., Any], given: tuple, named: dict[str, Any]) -> str:
    """What is wrong with the arguments of a call."""
    *_, owner, name = ["", *function.__qualname__.split(".")]
    # of a class that inherits it, the class that was called
    name = (type(given[0]).__name__ if given else owner) if name == "__init__" else name
    parameters = dict(inspect.signature(function).parameters)
    own = [p for p in parameters if p not in ("self", "cls")]
    for argument in named:
        if argument not in own:
            return f"{name} has no argument {argument!r}: {choices(argument, own)}"
    placed = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(given) > len(placed):
        by_name = [p for p in own if p not in placed]
        rest = f"; by name: {', '.join(by_name)}" if by_name else ""
        said = ", ".join(p for p in placed if p in own) or "none"
        extra = len(parameters) - len(own)
        return (
            f"{name} has {len(given) - extra} arguments by place: expected at most {len(placed) - extra}: {said}{rest}"
        )
    for argument in placed[: len(given)]:
        if argument in named:
            return f"{name} has its argument {argument!r} twice, by place and by name"
    needed = [
        p.name for p in parameters.values() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    missing = [p for p in needed if p not in (*placed[: len(given)], *named)]
    return f"{name} needs {', '.join(map(repr, missing))}: expected {', '.join(own)}"


def absent(what: str, name: str, valid: Iterable[str], hint: str = "") -> AbsentError:
    """The error for a name that something does not have."""
    return AbsentError(f"{what} has no attribute {name!r}{f': {hint}' if hint else f': {choices(name, valid)}'}")
