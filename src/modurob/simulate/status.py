"""How a run ended."""

from dataclasses import dataclass

DONE = "done"
KINDS = {
    DONE: "it reached its end",
    "diverged": "rates grew beyond all bounds",
    "not finite": "a state or torque was not a finite number",
    "step limit": "the stepper could not go on",
    "limit hit": "a joint passed its limit, and the run was to stop there",
    "singular": "a freedom moved no inertia",
    "controller failed": "the control law or the estimator raised an error",
    "wrench failed": "the function of external wrenches raised an error",
    "cancelled": "it was stopped from outside",
}


@dataclass(frozen=True)
class Status:
    """The kind of end, a key of KINDS, when it came [s], and what happened."""

    kind: str
    t: float
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run reached its end."""
        return self.kind == DONE

    def __str__(self) -> str:
        return f"{self.kind} at t = {self.t:g} s" + (f": {self.message}" if self.message else "")
