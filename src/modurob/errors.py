"""Every error modurob raises on purpose.

ModurobError
├── InputError              an argument of a call: wrong shape, not finite, unknown name
├── FormatError             a file that is not what it should be
│   ├── CatalogueError      a module type file
│   └── UrdfError           a URDF file
├── AssemblyError           modules that cannot be docked that way
│   ├── UnknownNameError    no such module type, module or port
│   ├── OccupiedPortError   the port is taken
│   ├── MatingError         the two ports do not fit
│   ├── ClashError          two modules in one place
│   ├── DisconnectedError   a module that hangs on nothing
│   └── AimError            not an assembly incidence matrix
├── KernelError             compiled code is not available
├── SimulationError         a run that cannot be made as asked
│   ├── RecordingError      a file that holds no recording
│   └── GaitError           a gait that does not fit the robot
├── ControlError            a controller or trajectory that cannot be
├── EstimateError           a filter or sensor that cannot be
├── StudioError             what the studio does not do
└── MechanismError          bodies and joints that make no mechanism
    ├── InertiaError        no rigid body has this inertia
    ├── SingularError       a degree of freedom without inertia
    ├── ClosureError        loops that cannot be closed
    └── EquationsError      no closed form, or none that is wanted
        ├── NotExactError   a number that is no fraction or root
        ├── TooLargeError   a closed form that nobody could use
        └── CancelledError  stopped on the way

A message says what was found, where, what was expected, and the valid choices.
"""

import difflib
from collections.abc import Iterable


class ModurobError(Exception):
    """Root of all errors raised on purpose; a message says what was found, where, what was expected, and the valid choices.

    >>> import modurob as mr
    >>> try:
    ...     mr.load("crabb")
    ... except mr.ModurobError as error:
    ...     print(error)
    no file 'crabb' and no shipped robot of that name: did you mean 'crab'? valid: crab, crane, double_pendulum, tree9
    """


class InputError(ModurobError, ValueError):
    """An argument has the wrong shape, is not finite, or names nothing."""


class FormatError(ModurobError, ValueError):
    """A file is not what it should be."""


class CatalogueError(FormatError):
    """A module type file does not describe a module type."""


class UrdfError(FormatError):
    """A URDF file cannot be read as a robot; the message names the element."""


class AssemblyError(ModurobError, ValueError):
    """Modules cannot be put together that way."""


class UnknownNameError(AssemblyError):
    """There is no module type, module or port of that name."""


class OccupiedPortError(AssemblyError):
    """The port already holds a module."""


class MatingError(AssemblyError):
    """Two ports do not fit: connector kind, size, gender or roll."""


class ClashError(AssemblyError):
    """Two modules would stand in one place."""


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
    """This robot has no closed form of the wanted kind."""


class NotExactError(EquationsError):
    """A number is neither a short fraction nor a square root of one."""


class TooLargeError(EquationsError):
    """The closed form would be too large to use."""


class CancelledError(EquationsError):
    """The derivation was stopped by its time limit or by the user."""


class SimulationError(ModurobError, ValueError):
    """A simulation cannot be run as asked."""


class RecordingError(SimulationError):
    """A file is not a recording that can be read."""


class GaitError(SimulationError):
    """A gait does not fit the robot."""


class ControlError(ModurobError, ValueError):
    """A controller or trajectory cannot be made as asked."""


class EstimateError(ModurobError, ValueError):
    """A filter or sensor cannot be made as asked."""


class StudioError(ModurobError, ValueError):
    """The studio was asked for what it does not do."""


class ModurobWarning(UserWarning):
    """Something was accepted that deserves a look, such as a link of a URDF file that moves without mass.

    >>> import warnings
    >>> import modurob as mr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", mr.ModurobWarning)  # take no file that deserves a look
    """


def choices(found: str, valid: Iterable[str]) -> str:
    """The end of a message: the closest valid name, then all of them.

    >>> choices("bakbone", ["backbone", "scout"])
    "did you mean 'backbone'? valid: backbone, scout"
    """
    valid = list(valid)
    close = difflib.get_close_matches(str(found), valid, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    shown = ", ".join(valid[:20]) + (f", ... ({len(valid)} in all)" if len(valid) > 20 else "")
    return f"{hint}valid: {shown or 'none'}"
