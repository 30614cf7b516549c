"""How a robot was stepped, as a file holds it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.simulation.steppers import STEPPERS, Stepper

# what a file holds of the settings, beside the stepper
_SETTINGS: dict[str, type] = {"tick": float, "seed": int, "controller": str, "estimator": str, "pushed": bool}


def of_kind(x: Any, kind: type, what: str) -> Any:
    """A value from a file, if it is of that kind: whole numbers are numbers too, truth values are not."""
    kinds = (int, float) if kind is float else (kind,)
    if type(x) not in kinds:
        raise ValueError(f"{what} {x!r:.60}: expected {kind.__name__}")
    return x


@dataclass(frozen=True)
class Settings:
    """How a robot was stepped. Laws are kept as text: the torques they gave are in the recording."""

    stepper: Stepper
    tick: float  # [s]
    seed: int
    controller: str
    estimator: str
    pushed: bool  # whether external wrenches acted, or forces of a world, which the robot does not have

    def to_data(self) -> dict[str, Any]:
        own = {k: str(x) if x == np.inf else x for k, x in self.stepper.parameters().items()}
        rest = {name: getattr(self, name) for name in _SETTINGS}
        return {"stepper": {"kind": self.stepper.kind, **own}, **rest}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Settings":
        own: dict[str, Any] = {k: float(x) if x == "inf" else x for k, x in data["stepper"].items()}
        stepper: Any = STEPPERS[own.pop("kind")]
        rest = {n: of_kind(data[n], kind, n) for n, kind in _SETTINGS.items()}
        if not 0 < rest["tick"] < np.inf or rest["seed"] < 0:
            raise ValueError(f"tick {rest['tick']} s and seed {rest['seed']}: expected positive numbers")
        return cls(stepper(**own), **rest)
