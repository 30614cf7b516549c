"""The Denavit-Hartenberg table of a chain, found from its axes.

Frame i - 1 has z on the axis of joint i; x of frame i lies along the common normal of the axes of joints i and i + 1, from the
first to the second. The z axis of the end frame counts as the axis after the last one, so that the tool is at most a rotation
about z and a translation along it. Where the common normal is not unique (von Stryk 3.1.3, steps 2 to 4):

* intersecting axes: the origin is at the intersection, x is normal to both, on the side nearer to the last x; if both sides are
  equally near, alpha is positive;
* parallel axes: d = 0, the normal starts from the last origin; for the axis of the end frame it ends at its origin instead;
* collinear axes: x stays and d = 0; for the end frame both are those of the end frame;
* the axis of a prismatic joint has a direction but no position: it is taken through the last origin, so that a = d = 0 in the row
  before it;
* frame 0 is the base frame if the first axis is its z axis; otherwise it is on the first axis, nearest to the base's z axis, with x
  along the base's x (or y, where x is along the axis).

Axes closer than `tolerance` to parallel [rad], or to meeting [relative to the size of the chain], count as such.
"""

from typing import Any, NamedTuple

import numpy as np

from modurob.errors import InputError
from modurob.kinematics.dh import DenavitHartenberg, Row
from modurob.kinematics.screws import Screws
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross, dot, sqrt

# where neither answer is better: normals of axes that are tilted by less lie too far away for floats
TOLERANCE = 1e-8
# what rounding leaves of zeros and quarter turns
ROUNDING = 1e-13


class Line(NamedTuple):
    """A directed line: a point and a unit vector."""

    p: Array
    z: Array


class Floats:
    """What is zero among floats: by a tolerance and the size of the chain [m]."""

    def __init__(self, tolerance: float, size: float):
        self.tolerance, self.size = tolerance, size

    def is_zero(self, x: Any, unit: bool = False) -> bool:
        """Whether a length, or with `unit` a sine, is zero."""
        return bool(abs(x) < self.tolerance * (1.0 if unit else self.size))

    def is_positive(self, x: Any) -> bool:
        return bool(x > ROUNDING)

    def tidy(self, x: Any) -> Any:
        """Without what rounding has left."""
        x = float(x)
        return 0.0 if abs(x) < ROUNDING * max(1.0, self.size) else x

    def angle(self, y: Any, x: Any) -> Any:
        """atan2, whole quarter turns exactly, -pi as pi."""
        quarters = 2 * float(np.arctan2(y, x)) / np.pi
        whole = round(quarters)
        if abs(quarters - whole) < ROUNDING:
            quarters = 2 if whole == -2 else whole
        return quarters * np.pi / 2


class Expressions:
    """Zero tests of SymPy expressions, whose symbols are assumed positive where that decides."""

    def is_zero(self, x: Any, unit: bool = False) -> bool:
        return self.tidy(x) == 0

    def is_positive(self, x: Any) -> bool:
        return bool(self.tidy(x).is_positive)

    def tidy(self, x: Any) -> Any:
        import sympy

        return sympy.simplify(np.asarray(x).item())

    def angle(self, y: Any, x: Any) -> Any:
        import sympy

        return sympy.atan2(self.tidy(y), self.tidy(x))


Geometry = Floats | Expressions


def table(chain: Screws, tolerance: float = TOLERANCE) -> DenavitHartenberg:
    """The distal table of a product of exponentials."""
    exact = object in (chain.axes.dtype, chain.home.dtype)
    g = Expressions() if exact else Floats(tolerance, _size(chain))
    kinds = tuple(_kind(g, S, name) for S, name in zip(chain.axes, chain.joints, strict=True))
    axes = [_line(S) for S in chain.axes]
    end = Line(se3.position(chain.home), chain.home[:3, 2])
    frames = [_first(g, axes[0], kinds[0])]
    for i, (kind, line) in enumerate(zip([*kinds[1:], "end"], [*axes[1:], end], strict=True)):
        X = frames[-1]
        this = Line(se3.position(X), X[:3, 2]) if kinds[i] == "prismatic" else axes[i]
        frames.append(_next(g, X, this, line, kind, chain.home))
    rows = tuple(_row(g, A, B, kind) for A, B, kind in zip(frames, frames[1:], kinds, strict=False))
    tool = _tidied(g, se3.inverse(frames[-1]) @ chain.home)
    return DenavitHartenberg(rows, "distal", _tidied(g, frames[0]), tool, chain.joints, chain.coordinates)


def _kind(g: Geometry, S: Array, name: str) -> str:
    """Revolute or prismatic; an error for a screw with pitch, or one that is scaled by a mimic's ratio."""
    v, w = S[:3], S[3:]
    slides = all(x == 0 for x in w)
    along = v if slides else w
    if not slides and not g.is_zero(dot(v, w), unit=True):
        what = "turns and slides at once"
    elif not g.is_zero(dot(along, along) - 1, unit=True):
        what = "mimics another joint with a ratio"
    else:
        return "prismatic" if slides else "revolute"
    raise InputError(
        f"joint {name!r} {what}: a Denavit-Hartenberg table has revolute and prismatic joints with coordinates of their own"
    )


def _line(S: Array) -> Line:
    """The axis of a revolute joint; of a prismatic one its direction through the origin."""
    v, w = S[:3], S[3:]
    return Line(cross(w, v), w) if any(x != 0 for x in w) else Line(0 * v, v)


def _size(chain: Screws) -> float:
    """How large the chain is [m]."""
    points = [_line(S).p for S in chain.axes] + [se3.position(chain.home)]
    return max(float(np.abs(points).max()), 1e-3)


def _frame(o: Array, x: Array, z: Array) -> Array:
    return se3.pose(np.stack([x, cross(z, x), z], axis=-1), o)


def _unit(a: Array) -> Array:
    return a / sqrt(dot(a, a))


def _across(a: Array, z: Array) -> Array:
    """The part of a that is perpendicular to z."""
    return a - dot(a, z) * z


def _first(g: Geometry, axis: Line, kind: str) -> Array:
    """Frame 0 on the first axis."""
    ex, ey, ez = np.eye(3, dtype=int).astype(axis.z.dtype)
    tilt = cross(ez, axis.z)
    o = 0 * axis.p if kind == "prismatic" else axis.p - dot(axis.p, axis.z) * axis.z
    if not g.is_zero(sqrt(dot(tilt, tilt)), unit=True) and kind == "revolute":
        o = _feet(Line(0 * axis.p, ez), axis)[1]
    elif g.is_zero(sqrt(dot(o, o))):
        o = 0 * o
    x = _across(ex, axis.z)
    return _frame(o, _unit(_across(ey, axis.z) if g.is_zero(sqrt(dot(x, x)), unit=True) else x), axis.z)


def _feet(a: Line, b: Line) -> tuple[Array, Array]:
    """The points of two lines that are not parallel where they are nearest to each other."""
    n, between = cross(a.z, b.z), b.p - a.p
    square = dot(n, n)
    s, t = dot(cross(between, b.z), n) / square, dot(cross(between, a.z), n) / square
    return a.p + s * a.z, b.p + t * b.z


def _next(g: Geometry, X: Array, this: Line, line: Line, kind: str, home: Array) -> Array:
    """The frame on the next axis, from the one on this axis."""
    o, x = se3.position(X), X[:3, 0]
    if kind == "prismatic":
        line = Line(o, line.z)
    n = cross(this.z, line.z)
    if g.is_zero(sqrt(dot(n, n)), unit=True):
        return _parallel(g, X, this, line, home if kind == "end" else None)
    foot, onto = _feet(this, line)
    normal, unit = onto - foot, _unit(n)
    if g.is_zero(dot(normal, unit)):
        # towards the last x; where that does not decide, alpha is positive
        return _frame(onto, -unit if g.is_positive(-dot(unit, x)) else unit, line.z)
    return _frame(onto, -unit if g.is_positive(-dot(normal, unit)) else unit, line.z)


def _parallel(g: Geometry, X: Array, this: Line, line: Line, home: Array | None) -> Array:
    """The frame on a parallel axis; for the end frame it is that of the end frame."""
    o = se3.position(X) if home is None else this.p + dot(se3.position(home) - this.p, this.z) * this.z
    normal = _across(line.p - o, this.z)
    distance = sqrt(dot(normal, normal))
    z = this.z if g.is_positive(dot(line.z, this.z)) else -this.z
    if g.is_zero(distance):
        x = X[:3, 0] if home is None else home[:3, 0]
        return _frame(o, x if home is None else _unit(_across(x, this.z)), z)
    return _frame(o + normal, normal / distance, z)


def _row(g: Geometry, A: Array, B: Array, kind: str) -> Row:
    """The row that takes frame A to frame B."""
    x, y, z = A[:3, 0], A[:3, 1], A[:3, 2]
    along, x2, z2 = se3.position(B) - se3.position(A), B[:3, 0], B[:3, 2]
    alpha, offset = g.angle(dot(cross(z, z2), x2), dot(z, z2)), g.angle(dot(x2, y), dot(x2, x))
    return Row(g.tidy(dot(along, x2)), alpha, g.tidy(dot(along, z)), offset, kind)


def _tidied(g: Geometry, X: Array) -> Array:
    return np.array([[g.tidy(x) for x in row] for row in X], dtype=X.dtype)
