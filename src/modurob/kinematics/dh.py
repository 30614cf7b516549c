"""Denavit-Hartenberg tables in both forms, and the robot of a table.

A row (a, alpha, d, offset, kind) is a screw along z and one along x, with the joint coordinate q added to the angle of a revolute
joint or to the displacement of a prismatic one:

* distal (Denavit and Hartenberg; von Stryk 3.1.3): A = Rz(q + offset) Tz(d) Tx(a) Rx(alpha), joint i turns about z of frame i - 1;
* proximal (Craig): A = Rx(alpha) Tx(a) Rz(q + offset) Tz(d), joint i turns about z of frame i.

Lengths [m], angles [rad]. Entries are floats, or SymPy expressions that stay exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.joints import JointType, Prismatic, Revolute
from modurob.errors import InputError, choices
from modurob.mechanism.builder import Builder
from modurob.mechanism.joint_properties import JointProperties
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array, cos, sin
from modurob.values import Value

FORMS = ("distal", "proximal")
KINDS: dict[str, type[JointType]] = {"revolute": Revolute, "prismatic": Prismatic}
# an angle of a table beyond a whole turn is taken for degrees [rad]
TURN = 2 * np.pi + 1e-6
COLUMNS = ("a", "alpha", "d", "offset", "kind")
EXPECTED = "a, alpha, d, then offset and kind if they are not 0 and revolute"

# a turn closer than this to a whole number of quarter turns is taken for it: pi / 2 as a float is no further away
QUARTER = 1e-14


class Row(NamedTuple):
    """One joint and link: a [m] and alpha [rad] along and about x, d [m] and offset [rad] along and about z at q = 0."""

    a: Any
    alpha: Any
    d: Any
    offset: Any = 0.0
    kind: str = "revolute"

    def pose(self, q: Any, form: str = "distal") -> Array:
        """A(q), the pose of frame i in frame i - 1, (..., 4, 4)."""
        q = as_array(q)
        turn, slide = (q, 0 * q) if self.kind == "revolute" else (0 * q, q)
        z, x = screw(2, self.offset + turn, self.d + slide), screw(0, self.alpha, self.a)
        return z @ x if form == "distal" else x @ z


def screw(k: int, angle: Any, slide: Any) -> Array:
    """Turn about axis k and slide along it, (..., 4, 4): exact for SymPy's numbers, and for floats at whole quarter turns."""
    angle, slide = as_array(angle), as_array(slide)
    c, s = cosine_sine(angle)
    X = np.zeros((*np.broadcast_shapes(angle.shape, slide.shape), 4, 4), dtype=np.result_type(c, slide))
    i, j = (k + 1) % 3, (k + 2) % 3
    X[..., i, i] = X[..., j, j] = c
    X[..., i, j], X[..., j, i] = -s, s
    X[..., k, 3] = slide
    X[..., k, k] = X[..., 3, 3] = 1
    return X


def cosine_sine(angle: Array) -> tuple[Array, Array]:
    """Cosine and sine, 0 and 1 to the last bit where a float angle is a whole number of quarter turns."""
    c, s = cos(angle), sin(angle)
    if angle.dtype.kind != "f":
        return c, s
    return np.where(np.abs(c) < QUARTER, 0.0, c) + 0.0, np.where(np.abs(s) < QUARTER, 0.0, s) + 0.0


def table(rows: Iterable[Any]) -> tuple[Row, ...]:
    """Rows read from sequences of four or five entries, or an error that names the row."""
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise InputError(f"table {rows!r:.60}: expected rows ({', '.join(COLUMNS)}), the last two may be left out")
    read = tuple(_row(i, row) for i, row in enumerate(rows, start=1))
    if not read:
        raise InputError(f"the table has no row: expected one for each joint, {EXPECTED}")
    return read


def _row(i: int, row: Any) -> Row:
    given = [row] if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) else list(row)
    if not 3 <= len(given) <= 5:
        raise InputError(f"row {i} {given!r:.60} has {len(given)} columns: expected {EXPECTED}")
    found = Row(*given)
    if found.kind not in KINDS:
        raise InputError(f"row {i}: joint kind {found.kind!r:.40}: {choices(str(found.kind), KINDS)}")
    for name, x in zip(COLUMNS[:4], found, strict=False):
        if not is_scalar(x):
            raise InputError(f"row {i}: {name} is {x!r:.40}: expected a finite number or a symbol")
    for name, x in (("alpha", found.alpha), ("offset", found.offset)):
        if isinstance(x, int | float | np.number) and abs(x) > TURN:
            raise InputError(
                f"row {i}: {name} is {x!r:.40}: expected radians ({x:.6g} degrees are {np.radians(x):.6g})"
            )
    return found


def is_scalar(x: Any) -> bool:
    """A finite number, or an expression."""
    if isinstance(x, bool) or x is None or isinstance(x, str) or np.ndim(x):
        return False
    return bool(np.isfinite(x)) if isinstance(x, int | float | np.number) else hasattr(x, "free_symbols")


def require_form(form: str) -> str:
    """The form itself, or an error with the valid ones."""
    if form not in FORMS:
        raise InputError(f"form {form!r:.40}: {choices(str(form), FORMS)}")
    return form


@dataclass(frozen=True, eq=False)
class DenavitHartenberg(Value):
    """A chain as a Denavit-Hartenberg table: X(q) = base A_1(q_1) ... A_n(q_n) tool.

    `rows` are (a, alpha, d, offset, kind) [m, rad]; `form` is distal or proximal; `base` and `tool` are poses (4, 4): what the
    table cannot say. `joints` are the robot's, `coordinates` their entries in its q. `Mechanism.from_dh` takes it.

    >>> arm = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, 0, 0)])
    >>> print(arm.dh("tip"))
      a  alpha    d  offset  joint
    0.3      0    0       0  joint1 (revolute)
    0.2      0  0.1       0  joint2 (revolute)
    """

    rows: tuple[Row, ...]
    form: str = "distal"
    base: Array = field(default_factory=lambda: se3.IDENTITY)
    tool: Array = field(default_factory=lambda: se3.IDENTITY)
    joints: tuple[str, ...] = ()
    coordinates: tuple[int, ...] = ()

    def __str__(self) -> str:
        head = ("a", "alpha", "d", "offset", "joint")
        names = self.joints or tuple(f"joint{i}" for i in range(1, len(self.rows) + 1))
        body = [
            (*(_shown(x) for x in row[:4]), f"{name} ({row.kind})") for name, row in zip(names, self.rows, strict=True)
        ]
        wide = [max(len(line[k]) for line in (head, *body)) for k in range(4)]
        lines = [[*(x.rjust(w) for x, w in zip(line, wide, strict=False)), line[4]] for line in (head, *body)]
        return "\n".join("  ".join(line) for line in lines)

    def pose(self, q: Any) -> Array:
        """The end in the frame that `base` is given in, (..., 4, 4), of the robot's q (..., nq); exact where q and the rows are.

        >>> arm = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, 0, 0)])
        >>> arm.dh("tip").pose([0.0, np.pi / 2])[:3, 3].round(9) + 0.0
        array([0.3, 0.2, 0.1])
        """
        q = as_array(q)
        X = self.base
        for row, k in zip(self.rows, self.coordinates or range(len(self.rows)), strict=True):
            X = X @ row.pose(q[..., k], self.form)
        return X @ self.tool

    def to(self, form: str) -> "DenavitHartenberg":
        """The same chain in the other form: its screws about x are assigned to the joint after them, or before.

        >>> arm = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, 0, 0)])
        >>> [row.a for row in arm.dh("tip").to("proximal").rows]
        [0.0, 0.3]
        """
        if require_form(form) == self.form:
            return self
        x = [row[:2] for row in self.rows]
        if form == "proximal":
            x, base, tool = [(0.0, 0.0), *x[:-1]], self.base, screw(0, *x[-1][::-1]) @ self.tool
        else:
            x, base, tool = [*x[1:], (0.0, 0.0)], self.base @ screw(0, *x[0][::-1]), self.tool
        rows = tuple(row._replace(a=along[0], alpha=along[1]) for along, row in zip(x, self.rows, strict=True))
        return replace(self, rows=rows, form=form, base=base, tool=tool)


def _shown(x: Any) -> str:
    return f"{x:.6g}" if isinstance(x, int | float | np.number) else str(x)


def fill(
    builder: Builder,
    rows: Iterable[Any] | DenavitHartenberg,
    form: str,
    base: Array,
    tool: Array,
    inertias: Sequence[Array | None] | None,
    properties: JointProperties | Sequence[JointProperties],
) -> Tables:
    """A chain of bodies link1, link2, ... on joints joint1, joint2, ..., from frame base to frame tip."""
    if isinstance(rows, DenavitHartenberg):
        rows, form, base, tool = rows.rows, rows.form, base @ rows.base, rows.tool @ tool
    read, proximal = table(rows), require_form(form) == "proximal"
    n = len(read)
    masses = _for_each([None] * n if inertias is None else inertias, n, "inertias")
    own = _for_each([properties] * n if isinstance(properties, JointProperties) else properties, n, "properties")
    builder.frame("base", "world", base)
    for i, (row, inertia, own_properties) in enumerate(zip(read, masses, own, strict=True), start=1):
        X = row.pose(0, form)
        builder.body(
            f"link{i}",
            inertia,
            parent=f"link{i - 1}" if i > 1 else "base",
            joint=KINDS[row.kind]((0.0, 0.0, 1.0)),  # type: ignore[call-arg]
            joint_name=f"joint{i}",
            at=X if proximal else se3.IDENTITY,
            seat=se3.IDENTITY if proximal else X,
            properties=own_properties,
        )
    builder.frame("tip", f"link{n}", tool)
    return builder.build()


def _for_each(values: Any, n: int, what: str) -> list[Any]:
    if not isinstance(values, Sequence | np.ndarray) or len(values) != n:
        raise InputError(f"{what} {values!r:.60}: expected {n}, one for each row")
    return list(values)
