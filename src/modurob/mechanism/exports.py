"""What robots can be written as for other tools, by the ending of the file. A new format is a new file that registers itself."""

from collections.abc import Callable

from modurob.errors import MechanismError, warn_user
from modurob.mechanism.tables import ContactRow, PairRow, Tables
from modurob.registry import Registry

# the text of a file from a robot
EXPORTS: Registry[Callable[[Tables], str]] = Registry("export", MechanismError)


def warn_of_losses(robot: Tables, form: str, written: tuple[type, ...]) -> None:
    """A warning that names what a format without rotor inertia leaves out of a robot: it writes these kinds of forces alone."""
    rotors = [j.name for j in robot.joints if robot.armature[j.v_slice].any()]
    forces = [
        row.name
        for row in robot.forces
        if not isinstance(row, ContactRow | PairRow) and not isinstance(row.force, written)
    ]
    lost = [f"{what} {', '.join(names)}" for what, names in (("rotor inertia of", rotors), ("forces", forces)) if names]
    if lost:
        hint = "MJCF (.xml) supports rotors, springs and lines"
        text = f"{robot.name}: {form} does not support {'; '.join(lost)}: written without; {hint}"
        warn_user(text)
