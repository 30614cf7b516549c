"""Joint coordinates as scalars of the ring.

The rotations of consecutive joints with parallel axes add up: such joints form a run, and the generators of the ring are the
cosine and sine of the angle summed from the start of the run, cos(q1 + q2). A single angle of a run is a difference of two sums.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from modurob.errors import EquationsError, NotExactError
from modurob.mechanism import Tables
from modurob.spatial import se3
from modurob.symbolic.numbers import exact
from modurob.symbolic.ring import Expr, Polynomial, Ring

# axes closer than this are parallel
PARALLEL = 1e-9

Pair = tuple[Polynomial, Polynomial]


class Distance(NamedTuple):
    """How long a spring between two points of the robot is, and one over it, as generators of the ring."""

    spring: str
    squared: Polynomial
    length: Polynomial
    inverse: Polynomial


class Coordinate(Polynomial):
    """A joint coordinate: a polynomial where it is a length, with a cosine and sine where it is an angle.

    Whole multiples and quarter turns added keep it an angle; with another offset, `quarters` is None.
    """

    __slots__ = ("_pair", "_quarters", "_times")

    def __init__(self, linear: Polynomial, pair: Pair, times: Fraction = Fraction(1), quarters: int | None = 0):
        super().__init__(linear.ring, linear.terms, linear.denominator)
        self._pair, self._times, self._quarters = pair, times, quarters

    def _angle(self) -> Pair:
        if self._times.denominator != 1 or self._quarters is None:
            raise NotExactError(
                f"the cosine of {self} has no polynomial form: expected whole multiples of a coordinate, and quarter turns"
            )
        c, s = multiple(self._pair, int(self._times))
        for _ in range(self._quarters % 4):
            c, s = -s, c
        return c, s

    def cos(self) -> Polynomial:
        return self._angle()[0]

    def sin(self) -> Polynomial:
        return self._angle()[1]

    def __neg__(self) -> "Coordinate":
        quarters = None if self._quarters is None else -self._quarters
        return Coordinate(super().__neg__(), self._pair, -self._times, quarters)

    def __mul__(self, other: Any) -> Polynomial:
        linear = super().__mul__(other)
        if isinstance(other, Polynomial | np.ndarray) or self._quarters != 0:
            return linear
        return Coordinate(linear, self._pair, self._times * Fraction(float(other)))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Polynomial:
        if isinstance(other, Polynomial | np.ndarray):
            return super().__add__(other)
        quarters = 2 * float(other) / np.pi
        if self._quarters is None or abs(quarters - round(quarters)) > PARALLEL:
            offset = exact(self.ring, float(other), f"the offset of {self}")
            return Coordinate(super().__add__(offset), self._pair, self._times, None)
        linear = (
            self
            if not quarters
            else Polynomial.__add__(self, self.ring.symbol(sympy.pi) * Fraction(round(quarters), 2))
        )
        return Coordinate(linear, self._pair, self._times, self._quarters + round(quarters))

    __radd__ = __add__


def multiple(pair: Pair, times: int) -> Pair:
    """Cosine and sine of a whole multiple of an angle."""
    ring = pair[0].ring
    c, s = ring.constant(1), ring.constant(0)
    for _ in range(abs(times)):
        c, s = combined((c, s), pair)
    return (c, s) if times >= 0 else (c, -s)


def combined(a: Pair, b: Pair) -> Pair:
    """Cosine and sine of the sum of two angles."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]


class Coordinates:
    """The coordinates q and rates v of a mechanism in a ring.

    `runs` maps the angle of each generator, a sum of coordinates, to the cosine and sine in the ring; angles that are
    sums belong to joints with parallel axes.
    """

    def __init__(self, m: Tables, ring: Ring):
        require_coordinates(m)
        self.ring = ring
        self.q_symbols = [sympy.Symbol(f"q{i + 1}") for i in range(m.nq)]
        self.v_symbols = [sympy.Symbol(f"qd{i + 1}") for i in range(m.nv)]
        self.vdot_symbols = [sympy.Symbol(f"qdd{i + 1}") for i in range(m.nv)]
        self.linear = [ring.symbol(s) for s in self.q_symbols]
        # the angle of the generator that belongs to each turning coordinate, as signs of the coordinates it sums
        self.sums: dict[int, dict[int, int]] = _sums(m)
        self.pairs = {i: ring.angle(self.angle(signs)) for i, signs in self.sums.items()}
        self.q = np.array([self._coordinate(i) for i in range(m.nq)], dtype=object)
        self.v = np.array([ring.symbol(s) for s in self.v_symbols], dtype=object)
        self.distances: list[Distance] = []
        self._rates: dict[int, dict[str, Polynomial]] = {}

    def distance(self, spring: str, squared: Polynomial, names: tuple[str, str]) -> Pair:
        """The length of a spring, the root of a square, and one over it, as generators of these names."""
        root = sympy.sqrt(squared.expression())
        length, inverse = (self.ring.defined(name, x) for name, x in zip(names, (root, 1 / root), strict=True))
        self.distances.append(Distance(spring, squared, length, inverse))
        self._rates.clear()
        return length, inverse

    def angle(self, signs: Mapping[int, int]) -> sympy.Expr:
        """The sum of coordinates as an expression."""
        return sympy.Add(*(sign * self.q_symbols[i] for i, sign in signs.items()))

    def _coordinate(self, i: int) -> Polynomial:
        if i not in self.pairs:
            return self.linear[i]
        # q_i = sign (sum to here - sum before)
        signs = self.sums[i]
        before = {k: s for k, s in signs.items() if k != i}
        pair = self.pairs[i]
        if before:
            previous = next(k for k, s in self.sums.items() if s == before)
            c, s = self.pairs[previous]
            pair = combined(pair, (c, -s))
        return Coordinate(self.linear[i], (pair[0], signs[i] * pair[1]))

    def rates(self, i: int) -> dict[str, Polynomial]:
        """How the generators move with coordinate i: d cos(a)/dq_i = -sin(a) da/dq_i, ds/dq_i = (ds²/dq_i)/(2 s), and so on."""
        if i not in self._rates:
            self._rates[i] = self._found_rates(i)
        return self._rates[i]

    def _found_rates(self, i: int) -> dict[str, Polynomial]:
        moved = {self.q_symbols[i].name: self.ring.constant(1)}
        for k, signs in self.sums.items():
            if i in signs:
                c, s = self.pairs[k]
                moved[c.name], moved[s.name] = -signs[i] * s, signs[i] * c
        for _, squared, length, inverse in self.distances:
            half = squared.derivative(moved) / 2
            moved[length.name], moved[inverse.name] = inverse * half, -(inverse**3) * half
        return moved

    def derivative(self, p: Polynomial, i: int) -> Polynomial:
        """dp/dq_i."""
        return p.derivative(self.rates(i)) if isinstance(p, Polynomial) else self.ring.constant(0)

    def trigonometry(self, angle: Expr) -> Pair:
        """Cosine and sine in the ring of a whole combination of coordinates, with quarter turns."""
        pair = self.ring.constant(1), self.ring.constant(0)
        rest = sympy.expand(angle)
        for i, symbol in enumerate(self.q_symbols):
            times = rest.coeff(symbol)
            rest = rest - times * symbol
            if times and (not times.is_Integer or i not in self.pairs):
                raise NotExactError(f"cosine or sine of {angle}: expected whole multiples of joint angles")
            if times:
                own: Any = self.q[i]
                pair = combined(pair, multiple((own.cos(), own.sin()), int(times)))
        for symbol in sorted(rest.free_symbols, key=str):
            # a fixed angle of the robot
            if f"cos({symbol})" in self.ring and rest.coeff(symbol).is_Integer:
                pair = combined(pair, multiple(self.ring.angle(symbol), int(rest.coeff(symbol))))
                rest = rest - rest.coeff(symbol) * symbol
        quarters = sympy.simplify(rest * 2 / sympy.pi)
        if not quarters.is_Integer:
            raise NotExactError(f"cosine or sine of {angle}: {rest} is no quarter turn")
        for _ in range(int(quarters) % 4):
            pair = -pair[1], pair[0]
        return pair


def require_coordinates(m: Tables) -> None:
    """An error if a joint has a quaternion."""
    for joint in m.joints:
        if joint.type.nq != joint.type.nv:
            raise EquationsError(
                f"joint {joint.name!r} is {joint.kind}: its quaternion has no closed form here; "
                f"set the robot on virtual joints instead, assembly.on_virtual_joints()"
            )


def _sums(m: Tables) -> dict[int, dict[int, int]]:
    """For every turning coordinate the signed coordinates that its generator's angle sums: itself, and its run before it."""
    sums: dict[int, dict[int, int]] = {}
    # for each body the coordinate that turned it last and the axis of its run in the body; None where that is not known
    last: list[tuple[int, np.ndarray] | None] = [None]
    for i, joint in enumerate(m.joints, start=1):
        before, R = last[m.parent[i]], _numbers(se3.rotation(m.X_PJ[i]))
        along = getattr(joint.type, "axis", None)
        axis = None if along is None else _numbers(np.array(along))
        turning = [joint.q_slice.start + k for k in joint.type.angles]
        if not turning:
            # it turns nothing
            last.append(None if before is None or R is None else (before[0], R.T @ before[1]))
        elif joint.mimics or len(turning) > 1:
            sums.update({} if joint.mimics else {c: {c: 1} for c in turning})
            last.append(None)
        else:
            (coordinate,) = turning
            sums[coordinate] = {coordinate: 1}
            if before is not None and R is not None and axis is not None:
                along = R @ axis
                if np.linalg.norm(np.cross(along, before[1])) < PARALLEL:
                    # against the axis of the run's first joint angles count negative
                    sign = 1 if along @ before[1] > 0 else -1
                    sums[coordinate] = {**sums[before[0]], coordinate: sign}
                    axis = sign * axis
            last.append(None if axis is None else (coordinate, axis))
    return sums


def _numbers(a: np.ndarray) -> np.ndarray | None:
    """The array as floats, or None if it holds symbols."""
    try:
        return a.astype(float)
    except (TypeError, ValueError):
        return None
