"""What robots can be written as for other tools, by the ending of the file. A new format is a new file that registers itself."""

from collections.abc import Callable

from modurob.errors import MechanismError
from modurob.mechanism.tables import Tables
from modurob.registry import Registry

# the text of a file from a robot
EXPORTS: Registry[Callable[[Tables], str]] = Registry("export", MechanismError)
