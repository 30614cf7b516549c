"""What laws take for granted, said in words and checked."""

from collections.abc import Callable

from modurob.control.drives import Drives, movable
from modurob.errors import ControlError

# by name: what is assumed, and whether it holds
ASSUMPTIONS: dict[str, tuple[str, Callable[[Drives], bool]]] = {
    "driven": ("a drive at every joint", lambda d: not len(d.passive)),
    "coordinates": (
        "joints whose rates are those of their coordinates, no quaternions",
        lambda d: d.robot.nq == d.robot.nv,
    ),
    "tree": ("no loops and no mimic joints", lambda d: not d.robot.constraints and not d.robot.coupled),
    "conservative": ("no forces of its own but stops", lambda d: all(r.force.kind == "stop" for r in d.robot.forces)),
}


def require(drives: Drives, what: str, *names: str) -> None:
    """An error that says which of its assumptions a law cannot make on this robot."""
    for name in names:
        words, holds = ASSUMPTIONS[name]
        if not holds(drives):
            without = ", ".join(f"{j.name} ({j.kind})" for j in movable(drives.robot) if j not in drives.joints)
            found = f"no drive at {without}" if name == "driven" else f"{drives.robot.name} has some"
            raise ControlError(f"{what} assumes {words}: {found}")


def assumptions(law: object) -> tuple[str, ...]:
    """What a law, or its class, takes for granted, in words.

    >>> mr.control.assumptions(mr.SlotineLi)
    ('a drive at every joint', 'joints whose rates are those of their coordinates, no quaternions', 'no loops and no mimic joints')
    """
    return tuple(ASSUMPTIONS[name][0] for name in getattr(law, "assumes", ()))
