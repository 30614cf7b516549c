"""What controllers around another one share."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from modurob.control.recipe import Recipe
from modurob.errors import ControlError

HANDED_ON = ("saturation", "actuated", "model")


@dataclass(frozen=True, eq=False)
class Around(Recipe):
    """Another controller whose torques are modified; it has the sample time of that controller and passes drives and
    model to it.
    """

    controller: Any = None
    needs: ClassVar[str] = "another controller"

    def __post_init__(self) -> None:
        if not hasattr(self.controller, "on") or getattr(self.controller, "sample_time", None) is None:
            raise ControlError(
                f"controller {self.controller!r:.60}: expected one with a sample time, such as mr.PID(...)"
            )
        object.__setattr__(self, "sample_time", self.controller.sample_time)
        super().__post_init__()
        for name in self._told() if not isinstance(self.controller, Recipe) else ():
            raise ControlError(
                f"{name} is handed on to controller {self.controller!r:.60}: expected one such as mr.PID(...)"
            )

    def _told(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in HANDED_ON if getattr(self, name) is not None}

    @property
    def inner(self) -> Any:
        """The other controller, with the drives and the model of this one."""
        return replace(self.controller, **self._told()) if self._told() else self.controller
