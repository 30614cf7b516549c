"""The equations of motion, derived in a thread that can be stopped."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from modurob.errors import ModurobError, NotExactError
from modurob.robot import Mechanism
from modurob.studio.protocol import Derive, Equations
from modurob.symbolic import Equations as Derived

TIME_LIMIT = 120.0  # seconds
MOST_TERMS = 600  # that are typeset
DIGITS = 9  # decimals of numbers that are not exact
ROUNDED = f"numbers that are no short fractions are rounded to {DIGITS} decimals"


@dataclass
class Derivation:
    """One derivation: `run` in a thread, `cancel` from anywhere."""

    robot: Mechanism
    wish: Derive
    progress: Callable[[str, float], None]
    rounded: bool = False  # whether numbers that are not exact were rounded
    _cancelled: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Stop soon."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def run(self) -> Equations:
        """The equations, or the reason why there are none."""
        try:
            found = shown(self.derive(), self.wish.shorthand)
        except ModurobError as error:
            return Equations("", {}, [], str(error))
        return replace(found, legend=[*found.legend, ROUNDED]) if self.rounded else found

    def derive(self) -> Derived:
        """The equations of the robot with the wanted symbols; numbers that are not exact, as in most files, are rounded."""
        try:
            return self._derived(None)
        except NotExactError:
            self.rounded = True
            return self._derived(DIGITS)

    def _derived(self, digits: int | None) -> Derived:
        return self.robot.equations(
            self.wish.symbols,
            digits=digits,
            time_limit=TIME_LIMIT,
            cancelled=self._cancelled.is_set,
            progress=self.progress,
        )


def shown(eq: Derived, shorthand: bool) -> Equations:
    """The equations for the page: the whole as LaTeX, and each matrix apart; neither if nobody could read them."""
    count = eq.terms(*eq.parts())
    if count > MOST_TERMS:
        return Equations("", {}, [f"{count} terms: too many to read here; Export writes them to files"])
    latex = eq.latex(shorthand)
    law, *matrices = (line.removeprefix("& ").removesuffix(r" \\") for line in latex.splitlines()[1:])
    parts = {part: next(m for m in matrices if m.startswith(f"{part} = ")) for part in eq.parts()}
    return Equations(latex, {"Law of motion": law, **parts}, [*eq.legend(), *eq.notes()])
