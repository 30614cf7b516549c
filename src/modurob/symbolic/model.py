"""A mechanism whose tables hold exact numbers and symbols."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from modurob.errors import EquationsError, InputError, NotExactError, choices
from modurob.mechanism import FrameRow, Joint, JointRow, Tables
from modurob.spatial import angles, inertia, se3
from modurob.spatial.scalars import Array
from modurob.symbolic.numbers import direction, exact, recognised, rounded, rounding_error, simplest_fraction
from modurob.symbolic.ring import Polynomial, Ring

# what can be turned from numbers into symbols
SYMBOLS = ("masses", "centres", "inertias", "lengths", "gravity", "armatures", "dampings", "stiffnesses")
# the numbers of forces that have letters: their kind, letter and words
FORCE_NUMBERS = {
    "viscous": ("dampings", "d", "viscous friction"),
    "damping": ("dampings", "d", "damping"),
    "stiffness": ("stiffnesses", "k", "stiffness"),
    "rest": ("", "rest", "coordinate at rest"),
}
# a turn so close [rad] to one with an exact sine and cosine is that one: files give pi/2 as 1.57079632679
SAME_TURN = 1e-8
# one so close was meant to be that one, but is another robot
NEARLY = 2e-3
EXACT_TURNS = sorted({*range(-360, 361, 30), *range(-360, 361, 45)})

# moments are sums of so many rounded parts
SUMS = 4

_TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class Quantity(NamedTuple):
    """The quantity of the robot that a symbol represents."""

    meaning: str
    unit: str
    value: float


def kinds_of_symbols(symbols: str | Iterable[str]) -> frozenset[str]:
    """The kinds that are selected by one name, by several, or by "all".

    >>> sorted(kinds_of_symbols("masses"))
    ['masses']
    >>> len(kinds_of_symbols("all"))
    8
    """
    if isinstance(symbols, str):
        symbols = SYMBOLS if symbols == "all" else (symbols,)
    if not isinstance(symbols, Iterable):
        raise InputError(f"symbols are {symbols!r}: expected 'all' or names; valid: {', '.join(SYMBOLS)}")
    kinds = list(symbols)
    for kind in kinds:
        if kind == "parameters":
            raise InputError(
                "a mechanism does not know the parameters of its modules: use modurob.symbolic.parametric(assembly)"
            )
        if kind not in SYMBOLS:
            raise InputError(f"no kind of symbols {kind!r}: {choices(str(kind), ('all', *SYMBOLS))}")
    return frozenset(kinds)


class ExactTables:
    """Converts the tables of a mechanism to elements of a ring.

    Nonzero numbers of the selected kinds become symbols, and so do numbers that are neither a short fraction nor a root
    of one: the equations stay exact, and the number is the value of the symbol. Names in `taken` belong to other
    symbols, those in `avoid` to other objects, such as modules: m1 is then mb1, the mass of body 1.
    """

    def __init__(
        self,
        ring: Ring,
        symbols: frozenset[str],
        digits: int | None,
        taken: Iterable[str] = (),
        avoid: Iterable[str] = (),
    ):
        self.ring, self.symbols, self.digits = ring, symbols, digits
        self._taken, self._avoid = set(taken), frozenset(avoid)
        self._lengths: dict[float, Polynomial] = {}
        self._turns: dict[float, tuple[Polynomial, Polynomial]] = {}
        # how many times more than by rounding numbers are off where turns are nearly exact
        self._inexact = 1.0
        # the longest distance between joints: lengths were made of such, and rounded
        self._reach = 0.0
        # in the order they were met
        self.quantities: dict[sympy.Symbol, Quantity] = {}

    def tables(self, m: Tables) -> Tables:
        """The mechanism in the ring."""
        own = _own_symbols(m)
        if own & self._taken:
            raise InputError(
                f"{m.name} has a parameter with the symbol {min(own & self._taken)!r}: the coordinates, rates and accelerations "
                f"are q1, qd1, qdd1, ...; rename it"
            )
        self._taken |= own
        self._inexact = 1 + max(map(_off_exact_turns, m.X_PJ)) / rounding_error(1.0)
        self._reach = _largest_number(se3.position(m.X_PJ))
        where = [f"placement of joint {joint.name!r}" for joint in m.joints]
        return replace(
            m,
            X_PJ=np.stack([self.pose(X, w) for X, w in zip(m.X_PJ, ["world", *where], strict=True)]),
            inertia=np.stack(
                [self._inertia(I, i, name) for i, (I, name) in enumerate(zip(m.inertia, m.bodies, strict=True))]
            ),
            gravity=self._gravity(m.gravity),
            joints=tuple(self._joint(joint, i) for i, joint in enumerate(m.joints, start=1)),
            # forces are converted separately: see `modurob.symbolic.forces`
            forces=(),
        )

    # ---- single numbers ----

    def _array(self, a: Array, where: str) -> Array:
        out = np.empty(a.shape, dtype=object)
        for at in np.ndindex(a.shape):
            out[at] = exact(self.ring, a[at], where, self.digits, scale=1.0)
        return out

    def _number(self, kind: str, name: str, x: Any, meaning: str, unit: str, scale: float = 0.0) -> Polynomial:
        """A symbol if its kind is selected and x is not zero, or if x is not exact; otherwise x itself."""
        found = self._without_symbol(kind, x, scale)
        return self._symbol(name, Quantity(meaning, unit, float(x))) if found is None else found

    def _without_symbol(self, kind: str, x: Any, scale: float) -> Polynomial | None:
        if isinstance(x, sympy.Expr):
            return exact(self.ring, x, kind)
        found = self._small_or_recognised(float(x), scale)
        return None if kind in self.symbols and found != 0 else found

    def _recognised(self, x: float, scale: float) -> Polynomial | None:
        """The exact number that x represents, or x rounded to the given digits."""
        found = recognised(self.ring, x, scale)
        if found is None and self._inexact > 1:
            found = recognised(self.ring, x, scale * self._inexact)
        return self.ring.constant(rounded(x, self.digits)) if found is None and self.digits is not None else found

    def _new(self, name: str, quantity: Quantity) -> sympy.Symbol:
        """A symbol of that name, or of a like one if the robot came with such a symbol."""
        symbol = sympy.Symbol(self.unused(name))
        self.quantities[symbol] = quantity
        return symbol

    def _symbol(self, name: str, quantity: Quantity) -> Polynomial:
        return self.ring.symbol(self._new(name, quantity))

    def _length(self, x: Any) -> Polynomial:
        """Equal lengths are one symbol."""
        found = self._without_symbol("lengths", x, self._reach)
        if found is not None:
            return found
        size = round(abs(float(x)), 12)
        if size not in self._lengths:
            name = f"l{len(self._lengths) + 1}"
            self._lengths[size] = self._symbol(name, Quantity("length", "m", abs(float(x))))
        return self._lengths[size] if float(x) > 0 else -self._lengths[size]

    # ---- placements ----

    def pose(self, X: Array, where: str) -> Array:
        """A pose, (4, 4), in the ring."""
        out = np.full((4, 4), self.ring.constant(0), dtype=object)
        out[3, 3] = self.ring.constant(1)
        out[:3, :3] = self._rotation(se3.rotation(X), where)
        out[:3, 3] = [self._length(x) for x in se3.position(X)]
        return out

    def _rotation(self, R: Array, where: str) -> Array:
        """By its entries where these are exact, else by its turns about z, y and x."""
        if any(isinstance(x, sympy.Expr) for x in R.ravel()):
            return self._array(R, where)
        R = R.astype(float)
        found = _array([recognised(self.ring, float(x), 1.0) for x in R.ravel()]).reshape(3, 3)
        if None not in found and np.all(found @ found.T == np.eye(3)):
            return found
        yaw, pitch, roll = angles.euler_angles("zyx", R).first
        return self._turn(2, yaw, where) @ self._turn(1, pitch, where) @ self._turn(0, roll, where)

    def _turn(self, axis: int, angle: float, where: str) -> Array:
        """The rotation about a coordinate axis."""
        c, s = self._cosine_and_sine(float(angle), "xyz"[axis], where)
        j, k = (axis + 1) % 3, (axis + 2) % 3
        R = np.full((3, 3), self.ring.constant(0), dtype=object)
        R[axis, axis] = self.ring.constant(1)
        R[j, j], R[k, k], R[j, k], R[k, j] = c, c, -s, s
        return R

    def _cosine_and_sine(self, angle: float, axis: str, where: str) -> tuple[Polynomial, Polynomial]:
        """Exact ones, or those of a fixed angle alpha1, alpha2, ...; equal angles are one symbol."""
        nearest = _nearest_exact_turn(angle)
        off = abs(np.deg2rad(nearest) - angle)
        exactly = np.deg2rad(nearest) if off < SAME_TURN else angle
        c, s = (recognised(self.ring, float(f(exactly)), 1.0) for f in (np.cos, np.sin))
        if c is not None and s is not None and c * c + s * s == 1:
            return c, s
        if self.digits is not None:
            return self.ring.constant(rounded(np.cos(angle), self.digits)), self.ring.constant(
                rounded(np.sin(angle), self.digits)
            )
        if off < NEARLY:
            digits = max(1, int(-np.log10(2 * off)))
            raise NotExactError(
                f"{where} is turned by {angle!r} rad about {axis}, {off:.1e} rad off {nearest} degrees: write the angle with all "
                f"its digits, or round what is not exact with equations(digits={digits})"
            )
        size = round(abs(angle), 12)
        if size not in self._turns:
            quantity = Quantity("angle between axes", "rad", abs(angle))
            self._turns[size] = self.ring.angle(self._new(f"alpha{len(self._turns) + 1}", quantity))
        c, s = self._turns[size]
        return c, s if angle > 0 else -s

    # ---- inertias ----

    def _inertia(self, I: Array, body: int, name: str) -> Array:
        """Mass, centre and tensor about the centre, each exact or a symbol, put together again."""
        if body == 0:
            # what is welded to the world moves nothing
            return np.full((6, 6), self.ring.constant(0), dtype=object)
        if any(isinstance(x, sympy.Expr) for x in I.ravel()):
            # symbols came with the robot: the matrix is taken entry by entry
            return self._array(I, f"inertia of body {name!r}")
        I = I.astype(float)
        mass, centre, tensor = self._exact_inertia(I)
        m = self._known("masses", f"m{body}", mass, Quantity(f"mass of body {name}", "kg", float(I[0, 0])))
        c = [
            self._centre(axis, x, Quantity(f"centre of mass of body {name}, {axis}", "m", float(number)), body)
            for axis, x, number in zip("xyz", centre, inertia.centre(I), strict=True)
        ]
        T = np.empty((3, 3), dtype=object)
        for i, j in _TENSOR:
            axes = f"{'xyz'[i]}{'xyz'[j]}"
            meaning = f"{'moment' if i == j else 'entry'} {axes} of the inertia of body {name} about its centre"
            quantity = Quantity(meaning, "kg m²", float(inertia.tensor(I)[i, j]))
            T[i, j] = T[j, i] = self._known("inertias", f"I{axes}{body}", tensor[i, j], quantity)
        return inertia.spatial_inertia(np.array(m), np.array(c, dtype=object), T)

    def _known(self, kind: str, name: str, number: Polynomial | None, quantity: Quantity) -> Polynomial:
        """An exact number, or a symbol if its kind is selected and it is not zero, or if there is none."""
        if number is None or (number and kind in self.symbols):
            return self._symbol(name, quantity)
        return number

    def _centre(self, axis: str, number: Polynomial | None, quantity: Quantity, body: int) -> Polynomial:
        """Coordinates of centres are lengths, unless they are symbols of their own."""
        if "lengths" in self.symbols and "centres" not in self.symbols:
            return self._length(quantity.value) if number is None or number else number
        return self._known("centres", f"{axis}{body}", number, quantity)

    def _exact_inertia(self, I: Array) -> tuple[Polynomial | None, list[Polynomial | None], Array]:
        """Mass, centre and tensor about it as exact numbers; None for those that are not.

        The centre is short itself, or because mass and first moment are; the tensor is so about the centre, where a single link
        has it, or about the origin, where the tensors of several add up.
        """
        mass, moments = float(I[0, 0]), inertia.parameters(I)[1:4]
        m = self._recognised(mass, 0.0)
        c = [self._exact_centre(float(p), mass) for p in moments]
        about_centre, about_origin = inertia.tensor(I), I[3:, 3:]
        scale = SUMS * float(np.abs(about_origin).max())
        T = np.empty((3, 3), dtype=object)
        for i, j in _TENSOR:
            T[i, j] = self._small_or_recognised(float(about_centre[i, j]), scale)
        if m is not None and None not in c:
            shift = inertia.spatial_inertia(np.array(m), np.array(c, dtype=object), np.zeros((3, 3)))[3:, 3:]
            for i, j in _TENSOR:
                if T[i, j] is None:
                    whole = self._recognised(float(about_origin[i, j]), scale)
                    T[i, j] = None if whole is None else whole - shift[i, j]
        return m, c, T

    def _exact_centre(self, moment: float, mass: float) -> Polynomial | None:
        found = self._small_or_recognised(moment / (mass or 1.0), self._reach)
        if found is not None:
            return found
        above, below = simplest_fraction(moment, self._reach * mass), simplest_fraction(mass)
        return None if above is None or not below else self.ring.constant(above / below)

    def _small_or_recognised(self, x: float, scale: float) -> Polynomial | None:
        """Zero where x is what rounding left of numbers of that scale."""
        if abs(x) <= rounding_error(0.0, scale * self._inexact):
            return self.ring.constant(0)
        return self._recognised(x, scale)

    # ---- gravity and joints ----

    def _gravity(self, g: Array) -> Array:
        """Magnitude times direction; the magnitude is a symbol if selected."""
        if any(isinstance(x, sympy.Expr) for x in g) or not np.any(g):
            return self._array(g, "gravity")
        g = g.astype(float)
        size = float(np.sqrt(g @ g))
        along = direction(self.ring, g / size) if "gravity" in self.symbols else None
        if along is not None:
            return np.array(along, dtype=object) * self._symbol("g", Quantity("gravity", "m/s²", size))
        parts = zip("xyz", g, strict=True)
        return np.array(
            [self._number("gravity", f"g{axis}", x, f"gravity along {axis}", "m/s²", size) for axis, x in parts],
            dtype=object,
        )

    def _joint(self, joint: Joint, i: int) -> Joint:
        armature = [
            self._number(
                "armatures", f"J{i}", x, f"rotor inertia at joint {joint.name}", "kg m²" if unit == "rad" else "kg"
            )
            for x, unit in zip(joint.armature, joint.type.units, strict=True)
        ]
        kind: Any = joint.type
        for name in ("axis", "axis2"):
            axis = getattr(kind, name, None)
            if axis is not None and not _is_coordinate_axis(axis):
                if joint.kind == "planar":
                    raise EquationsError(f"planar joint {joint.name!r} has the axis {axis}: expected a coordinate axis")
                kind = replace(kind, **{name: self.axis(axis, f"axis of joint {joint.name!r}")})
        kind = kind.with_parameters(self._joint_parameters(joint, i))
        return replace(joint, type=kind, armature=np.array(armature, dtype=object))

    def _joint_parameters(self, joint: Joint, i: int) -> dict[str, Polynomial]:
        """The numbers of a joint kind, such as the pitch of a screw."""
        return {
            name: self._number("", f"{name}{i}", x, f"{name} of joint {joint.name}", "")
            for name, x in joint.type.numbers.items()
        }

    # ---- forces ----

    def force_parameters(self, row: JointRow, joint: Joint, needed: Iterable[str]) -> dict[str, Polynomial]:
        """The numbers that a force along a joint reads, by name."""
        along = joint.type.units[row.rate]
        effort = "N m" if along == "rad" else "N"
        units = {"dampings": f"{effort} s/{along}", "stiffnesses": f"{effort}/{along}"}
        found = {}
        for name, x in row.force.parameters().items():
            if name in needed:
                kind, letter, words = FORCE_NUMBERS.get(name, ("", name, name))
                unit = units.get(kind, along if name == "rest" else "")
                found[name] = self._number(kind, f"{letter}{row.joint + 1}", x, f"{words} of joint {joint.name}", unit)
        return found

    def spring_parameters(self, row: FrameRow, i: int) -> list[Polynomial]:
        """Stiffness, length and damping of the i-th spring between frames."""
        given = row.force.parameters()
        return [
            self._number("stiffnesses", f"ks{i}", given["stiffness"], f"stiffness of {row.name}", "N/m"),
            self._number("lengths", f"ls{i}", given["length"], f"length of {row.name} at rest", "m"),
            self._number("dampings", f"ds{i}", given["damping"], f"damping of {row.name}", "N s/m"),
        ]

    def unused(self, name: str) -> str:
        """That name, or a like one that nothing has; from now on it is taken."""
        if name in self._avoid:
            name = re.sub(r"(?=\d)", "b", name, count=1)
        while name in self._taken | self._avoid:
            name += "_"
        self._taken.add(name)
        return name

    def coupling(self, x: Any, joint: str) -> Polynomial:
        """The ratio or offset of a mimic joint."""
        return self._number("", "ratio", x, f"ratio or offset of joint {joint}", "")

    def axis(self, axis: tuple, where: str) -> tuple[Polynomial, ...]:
        """A unit vector."""
        found = direction(self.ring, np.array(axis, dtype=float))
        return tuple(exact(self.ring, x, where, self.digits) for x in axis) if found is None else tuple(found)


def _array(entries: list[Any]) -> Array:
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out


def _nearest_exact_turn(angle: float) -> int:
    """In degrees."""
    return min(EXACT_TURNS, key=lambda degrees: abs(np.deg2rad(degrees) - angle))


def _off_exact_turns(X: Array) -> float:
    """How far the turns of a placement are from exact ones, if they are nearly that [rad]."""
    R = se3.rotation(X)
    if any(isinstance(x, sympy.Expr) for x in R.ravel()):
        return 0.0
    turns = angles.euler_angles("zyx", R.astype(float)).first
    off = (float(abs(np.deg2rad(_nearest_exact_turn(a)) - a)) for a in turns)
    return max((x for x in off if rounding_error(1.0) < x < SAME_TURN), default=0.0)


def _own_symbols(m: Tables) -> set[str]:
    """The names of the symbols that came with the robot."""
    arrays = [m.X_PJ, m.inertia, m.gravity, *(j.armature for j in m.joints)]
    entries = [x for a in arrays if a.dtype == object for x in a.ravel()]
    entries += [x for row in m.forces for x in row.force.parameters().values()]
    return {s.name for x in entries if isinstance(x, sympy.Expr) for s in x.free_symbols if isinstance(s, sympy.Symbol)}


def _largest_number(a: Array) -> float:
    """The largest size among entries that are numbers."""
    return max((abs(float(x)) for x in a.ravel() if not isinstance(x, sympy.Expr)), default=0.0)


def _is_coordinate_axis(axis: tuple) -> bool:
    return sorted(abs(float(x)) for x in axis) == [0.0, 0.0, 1.0]
