"""Common properties of all controllers: sample time, saturation, driven joints and the model."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from modurob.control.drives import Drives
from modurob.control.values import PerJoint
from modurob.errors import ControlError
from modurob.mechanism.driven import drive_rows, rigid, untouched
from modurob.motion.checks import require_model, require_robot, same
from modurob.motion.numbers import checked_sample_time, one_number
from modurob.registry import Registry
from modurob.robot import Mechanism

LAWS: Registry[type["Recipe"]] = Registry("controller", ControlError)


@dataclass(frozen=True, kw_only=True, eq=False)
class Recipe:
    """A controller for any robot: `on(robot)` makes the law for one, pure in its memory, the time and what is measured."""

    sample_time: float | None = None  # how long a torque is held [s]; None: as long as a step
    saturation: PerJoint | None = None  # largest torques [N m or N], or "effort" for the joints' own limits
    actuated: Sequence[str] | None = None  # joints with a drive; None: all that have an effort, but a floating base
    model: Mechanism | None = None  # the robot that the law believes in; None: the one it is put on, in the air
    needs: ClassVar[str] = ""  # what must be given beside numbers and a reference of the joints, in words
    iterates: ClassVar[str] = (
        ""  # what in its step is more than algebra and choices, in words; empty: it can be written as C
    )

    def __post_init__(self) -> None:
        checked_sample_time(self.sample_time)
        for f in fields(self):
            if f.type is float or (f.type == float | None and getattr(self, f.name) is not None):
                one_number(getattr(self, f.name), f.name)
        if self.model is not None and not isinstance(self.model, Mechanism):
            raise ControlError(f"model {self.model!r:.60}: expected a Mechanism")

    def drives(self, robot: Mechanism) -> Drives:
        """The drives of the model of the law: motors that turn with their joints and give torques."""
        return Drives.of(rigid(self.believed(robot)), self.actuated)

    def believed(self, robot: Mechanism) -> Mechanism:
        """The model of the law for this robot: without contacts, since a law that included the ground would compensate
        its forces.
        """
        require_robot(robot, type(self).__name__, ControlError)
        model = untouched(robot) if self.model is None else require_model(self.model, robot, ControlError)
        require_torque_inputs(robot, type(self).__name__)
        return model

    def on(self, robot: Mechanism) -> Any:
        """The law for this robot."""
        raise NotImplementedError(f"{type(self).__name__} has no method on(robot), which returns its law")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.sample_time, self.model))


def plain_laws() -> list[str]:
    """The laws that need only numbers and a reference of the joints, on any robot: those that a form or a command can
    offer.

    >>> "pid" in mr.control.plain_laws(), "delayed" in mr.control.plain_laws()
    (True, False)
    """
    return [name for name, law in LAWS.items() if not law.needs]


def plain_law(name: str) -> type[Recipe]:
    """The law of that name, or an error: there is none, or it needs what only Python can give.

    >>> mr.control.plain_law("pid").__name__
    'PID'
    """
    law = LAWS[name]
    if law.needs:
        raise ControlError(
            f"controller {name!r} needs {law.needs}: make it in Python, mr.{law.__name__}(...), or choose another, "
            f"{', '.join(plain_laws())}"
        )
    return law


def require_torque_inputs(robot: Mechanism, what: str) -> None:
    """An error where a drive of the robot takes something else than a torque."""
    for row in drive_rows(robot):
        force: Any = row.force
        if force.input != "N m":
            raise ControlError(
                f"{what} works with torques, and {row.name} takes [{force.input}]: expected a drive with_input('torque')"
            )


class BoundLaw:
    """A law made for one robot: a value, equal and picklable as its recipe and its robot are."""

    def __init__(self, recipe: Any, robot: Mechanism):
        self.recipe, self.robot = recipe, robot
        self.drives: Drives = recipe.drives(robot)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.recipe, self.robot)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.recipe, self.robot) == (other.recipe, other.robot)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.recipe, self.robot))

    def __repr__(self) -> str:
        return f"{type(self.recipe).__name__}(...).on({self.robot.name})"
