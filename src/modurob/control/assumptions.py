"""The assumptions of laws, as text and as checks."""

from collections.abc import Callable

from modurob.control.drives import Drives, floating, movable
from modurob.errors import ControlError
from modurob.mechanism import Joint

# by name: what is assumed, and whether it holds
ASSUMPTIONS: dict[str, tuple[str, Callable[[Drives], bool]]] = {
    "driven": ("a drive at every joint but a floating base", lambda d: not _missing(d)),
    "held": (
        "a base that is held, since forces would push a floating one away",
        lambda d: not set(floating(d.robot)).difference(d.joints),
    ),
    "coordinates": (
        "driven joints whose rates are those of their coordinates, no quaternions",
        lambda d: all(j.type.nq == j.type.nv for j in d.joints),
    ),
    "tree": ("no loops and no mimic joints", lambda d: not d.robot.constraints and not d.robot.coupled),
    "conservative": ("no forces of its own but stops", lambda d: all(r.force.kind == "stop" for r in d.robot.forces)),
}


def _missing(drives: Drives) -> list[Joint]:
    """The joints without a drive, except a floating base."""
    return [j for j in movable(drives.robot) if j not in (*drives.joints, *floating(drives.robot))]


def require(drives: Drives, what: str, *names: str) -> None:
    """An error that says which of its assumptions a law cannot make on this robot."""
    for name in names:
        words, holds = ASSUMPTIONS[name]
        if not holds(drives):
            raise ControlError(f"{what} assumes {words}: {_found(name, drives)}")


def _found(name: str, drives: Drives) -> str:
    """The reason why an assumption does not hold."""
    if name == "driven":
        return "no drive at " + ", ".join(f"{j.name} ({j.kind})" for j in _missing(drives))
    if name == "held":
        return f"{drives.robot.name} floats by " + ", ".join(f"{j.name} ({j.kind})" for j in floating(drives.robot))
    return f"{drives.robot.name} has some"


def assumptions(law: object) -> tuple[str, ...]:
    """What a law, or its class, takes for granted, in words.

    >>> mr.control.assumptions(mr.OperationalSpace)
    ('a drive at every joint but a floating base', 'no loops and no mimic joints')
    """
    return tuple(ASSUMPTIONS[name][0] for name in getattr(law, "assumes", ()))
