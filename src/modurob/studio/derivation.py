"""The equations of motion, derived in a thread that can be stopped; matrix by matrix, entry by entry, and in numbers."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modurob.errors import ModurobError, NotExactError, StudioError, choices
from modurob.mechanism.tables import Joint
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.studio.protocol import Derive, Entry, Equations, Numbers
from modurob.symbolic import Equations as Derived
from modurob.symbolic import describe, typeset
from modurob.symbolic.printing import latex_symbol

TIME_LIMIT = 120.0  # seconds
MOST_TERMS = 600  # of all matrices, if they are typeset whole
LONGEST_ENTRY = 400  # terms of an entry that is typeset by itself
WIDTH = 400.0  # of an entry on the page [pt]
DIGITS = 9  # decimals of numbers that are not exact
ROUNDED = f"numbers that are no short fractions are rounded to {DIGITS} decimals"
LONG = "too many terms to typeset all: choose an entry below, or export them to files"
TITLES = {"M": "Mass matrix", "C": "Coriolis matrix", "D": "Friction and dampers", "S": "Springs", "N": "Gravity"}
# what the meaning of a symbol is about: the name of a body or of a joint
_OWNER = re.compile(r"(?:body|joint) (.+?)(?:, [xyz]| about its centre)?$")


@dataclass
class Derivation:
    """One derivation: `run` in a thread, `cancel` from anywhere."""

    robot: Mechanism
    wish: Derive
    progress: Callable[[str, float], None]
    rounded: bool = False  # whether numbers that are not exact were rounded
    found: Derived | None = None
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
            self.found = self.derive()
            return shown(self.found, self.wish.shorthand, [ROUNDED] if self.rounded else [])
        except ModurobError as error:
            return none(str(error))

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
            avoid=self.robot.frames,
        )

    def entry(self, part: str, row: int, column: int) -> Entry:
        """One entry, to typeset; an error if there is none."""
        eq = self._equations()
        if part not in eq.parts():
            raise StudioError(f"no matrix {part!r:.20} in these equations: {choices(part, eq.parts())}")
        shape = eq.polynomial(part).shape
        at = (row, column)[: len(shape)]
        if not all(i < n for i, n in zip(at, shape, strict=True)):
            raise StudioError(f"no entry ({row + 1}, {column + 1}) of {part}: it has {shape[0]} rows")
        return Entry(part, row, column, typeset.entry(eq, part, at, self.wish.shorthand, LONGEST_ENTRY, WIDTH))

    def numbers(self, q: list[float], v: list[float]) -> Numbers:
        """The matrices at a state."""
        eq, robot = self._equations(), self.robot
        if len(q) != robot.nq or len(v) != robot.nv:
            raise StudioError(
                f"{len(q)} coordinates and {len(v)} rates: expected {robot.nq} and {robot.nv}, those of the robot that the "
                "equations were derived for"
            )
        at = np.array(q), np.array(v)
        return Numbers({part: _rows(_numbers(eq, robot, part, *at)) for part in eq.parts()})

    def _equations(self) -> Derived:
        if self.found is None:
            raise StudioError("there are no equations yet: derive them first")
        return self.found


def none(problem: str) -> Equations:
    """No equations, and why."""
    return Equations("", "", [], [], [], problem)


def shown(eq: Derived, shorthand: bool, notes: list[str]) -> Equations:
    """The equations for the page; as LaTeX only if somebody could read them."""
    parts, count = eq.parts(), eq.terms(*eq.parts())
    if count > MOST_TERMS:
        sizes = [_part(eq, name, "") for name in parts]
        return Equations("", typeset.law(eq), sizes, legend(eq), [f"{count} terms: {LONG}", *notes, *eq.notes()])
    latex = eq.latex(shorthand)
    _, *lines = (line.removeprefix("& ").removesuffix(r" \\") for line in latex.splitlines()[1:])
    matrices = [_part(eq, name, next(m for m in lines if m.startswith(f"{name} = "))) for name in parts]
    return Equations(latex, typeset.law(eq), matrices, legend(eq), [*notes, *eq.notes()])


def _part(eq: Derived, name: str, latex: str) -> dict[str, Any]:
    """A matrix: its name and title, LaTeX if it is typeset, how many terms each entry has, and by which rates its rows go."""
    array = eq.polynomial(name)
    rows = array if array.ndim == 2 else array[:, None]
    terms = [[len(p.terms) for p in row] for row in rows]
    return {"name": name, "title": TITLES[name], "latex": latex, "terms": terms}


def legend(eq: Derived) -> list[dict[str, Any]]:
    """The symbols, a row each: how it is written, what it means, its number and unit, and the body that it belongs to, 0 for none.

    The number of a coordinate is that of the pose: `coordinate` says which.
    """
    coordinates = [
        _symbol(f"q{i + 1}", f"coordinate of joint {joint.name} ({joint.kind})", None, joint.type.units[k], body, i)
        for body, joint in enumerate(eq.robot.joints, start=1)
        for k, i in _own_coordinates(joint)
    ]
    owners = {name: i for i, name in enumerate(eq.robot.bodies)}
    owners |= {joint.name: i for i, joint in enumerate(eq.robot.joints, start=1)}
    parameters = [
        _symbol(str(s), known.meaning, known.value, known.unit, _owner(known.meaning, owners))
        for s in describe.occurring(eq)
        if (known := eq.quantities.get(s)) is not None
    ]
    lengths = [
        _symbol(length.name, f"length of {spring}", None, "m", 0) for spring, _, length, _ in eq.coordinates.distances
    ]
    return [*coordinates, *parameters, *lengths]


def _symbol(
    name: str, meaning: str, value: float | None, unit: str, body: int, coordinate: int | None = None
) -> dict[str, Any]:
    own = {"latex": latex_symbol(name), "name": name, "meaning": meaning}
    return {**own, "value": value, "unit": unit, "body": body, "coordinate": coordinate}


def _own_coordinates(joint: Joint) -> list[tuple[int, int]]:
    """Which of a joint's coordinates stands where in q; none of one that mimics."""
    return [] if joint.mimics else list(enumerate(range(joint.q_slice.start, joint.q_slice.stop)))


def _owner(meaning: str, owners: dict[str, int]) -> int:
    found = _OWNER.search(meaning)
    return owners.get(found[1], 0) if found else 0


def _numbers(eq: Derived, robot: Mechanism, part: str, q: Array, v: Array) -> Array:
    """A matrix in numbers: by the robot's own algorithms where it has them, else by the formula."""
    if part in ("M", "C", "N"):
        return (
            {"M": robot.mass_matrix, "N": robot.gravity_forces}[part](q) if part != "C" else robot.coriolis_matrix(q, v)
        )
    at = dict(zip([*eq.q, *eq.v], [*q, *v], strict=True)) | eq.values
    return np.array(getattr(eq, part).subs(at).evalf(), dtype=float)


def _rows(a: Array) -> list[list[float]]:
    return (a if a.ndim == 2 else a[:, None]).tolist()
