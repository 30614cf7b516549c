"""A mechanism whose tables hold exact numbers and symbols."""

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from modurob.catalogue.forces import Friction
from modurob.errors import EquationsError, InputError, choices
from modurob.mechanism import ForceRow, Joint, JointRow, Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array
from modurob.symbolic.numbers import exact
from modurob.symbolic.ring import Polynomial, Ring

# what can be turned from numbers into symbols
SYMBOLS = ("masses", "centres", "inertias", "lengths", "gravity", "armatures", "dampings")


class ExactTables:
    """Turns the tables of a mechanism into elements of a ring; nonzero numbers of the wanted kinds become symbols."""

    def __init__(self, ring: Ring, symbols: Collection[str], digits: int | None):
        for name in symbols:
            if name not in SYMBOLS:
                raise InputError(f"no kind of symbols {name!r}: {choices(name, SYMBOLS)}")
        self.ring, self.symbols, self.digits = ring, symbols, digits
        self._lengths: dict[float, sympy.Symbol] = {}
        # symbol and the number it stands for, in the order they were met
        self.values: dict[sympy.Symbol, float] = {}

    def tables(self, m: Tables) -> Tables:
        """The mechanism in the ring."""
        return replace(
            m,
            X_PJ=np.stack([self._pose(X, f"placement of joint {i}") for i, X in enumerate(m.X_PJ)]),
            inertia=np.stack([self._inertia(I, i) for i, I in enumerate(m.inertia)]),
            gravity=self._gravity(m.gravity),
            joints=tuple(self._joint(joint, i) for i, joint in enumerate(m.joints, start=1)),
            forces=tuple(self._force(row, m.joints) for row in m.forces),
        )

    def _exact(self, x: Any, where: str) -> Polynomial:
        return exact(self.ring, x, where, self.digits)

    def _array(self, a: Array, where: str) -> Array:
        out = np.empty(a.shape, dtype=object)
        for at in np.ndindex(a.shape):
            out[at] = self._exact(a[at], where)
        return out

    def _symbol(self, kind: str, name: str, x: Any, where: str) -> Polynomial:
        """A symbol where its kind is wanted and x is a nonzero number, else x itself."""
        if kind not in self.symbols or isinstance(x, sympy.Expr) or float(x) == 0:
            return self._exact(x, where)
        symbol = sympy.Symbol(name)
        self.values[symbol] = float(x)
        return self.ring.symbol(symbol)

    def _length(self, x: Any, where: str) -> Polynomial:
        """Equal lengths are one symbol."""
        if "lengths" not in self.symbols or isinstance(x, sympy.Expr) or abs(float(x)) < 1e-12:
            return self._exact(x, where)
        size = round(abs(float(x)), 12)
        if size not in self._lengths:
            self._lengths[size] = symbol = sympy.Symbol(f"l{len(self._lengths) + 1}")
            self.values[symbol] = abs(float(x))
        length = self.ring.symbol(self._lengths[size])
        return length if float(x) > 0 else -length

    def _pose(self, X: Array, where: str) -> Array:
        out = self._array(X, where)
        out[:3, 3] = [self._length(x, where) for x in se3.position(X)]
        return out

    def _inertia(self, I: Array, body: int) -> Array:
        """Mass, centre and tensor about the centre, each exact or a symbol, put together again."""
        where = f"inertia of body {body}"
        if body == 0:
            # what is welded to the world moves nothing
            return self._array(np.zeros((6, 6)), where)
        if I.dtype == object:
            # symbols came with the robot: the matrix is taken entry by entry
            return self._array(I, where)
        if not {"masses", "centres", "inertias", "lengths"} & set(self.symbols) or not I[0, 0]:
            return inertia.from_parameters(np.array(self._inertial_parameters(I, where), dtype=object))
        mass, centre, tensor = self._taken_apart(I, where)
        m = self._symbol("masses", f"m{body}", mass, where)
        c = [self._centre(f"{axis}{body}", value, where) for axis, value in zip("xyz", centre, strict=True)]
        T = np.empty((3, 3), dtype=object)
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            T[i, j] = T[j, i] = self._symbol("inertias", f"I{'xyz'[i]}{'xyz'[j]}{body}", tensor[i][j], where)
        return inertia.spatial_inertia(np.array(m), np.array(c, dtype=object), T)

    def _taken_apart(self, I: Array, where: str) -> tuple[Any, Any, Any]:
        """Mass, centre, and tensor about the centre: in fractions, so that nothing is lost; in floats if all become symbols."""
        if {"masses", "centres", "inertias"} <= set(self.symbols):
            centre, tensor = inertia.centre(I), inertia.tensor(I)
            nothing = 1e-12 * np.abs(I).max()
            return I[0, 0], np.where(np.abs(centre) < 1e-12, 0, centre), np.where(np.abs(tensor) < nothing, 0, tensor)
        m, *rest = (_fraction(p) for p in self._inertial_parameters(I, where))
        (x, y, z), (xx, xy, yy, xz, yz, zz) = (value / m for value in rest[:3]), rest[3:]
        Ixx, Iyy, Izz = xx - m * (y * y + z * z), yy - m * (x * x + z * z), zz - m * (x * x + y * y)
        Ixy, Ixz, Iyz = xy + m * x * y, xz + m * x * z, yz + m * y * z
        return m, (x, y, z), ((Ixx, Ixy, Ixz), (Ixy, Iyy, Iyz), (Ixz, Iyz, Izz))

    def _centre(self, name: str, value: Any, where: str) -> Polynomial:
        return self._symbol("centres", name, value, where) if "centres" in self.symbols else self._length(value, where)

    def _inertial_parameters(self, I: Array, where: str) -> list[Polynomial]:
        """The ten numbers, exact; each group was summed up at the scale of its largest."""
        p = inertia.parameters(I)
        scales = [p[0], *[np.abs(p[1:4]).max()] * 3, *[np.abs(p[4:]).max()] * 6]
        return [exact(self.ring, x, where, self.digits, float(scale)) for x, scale in zip(p, scales, strict=True)]

    def _gravity(self, g: Array) -> Array:
        """Size times direction; the size is a symbol if wanted."""
        if "gravity" not in self.symbols or g.dtype == object or not np.any(g):
            return self._array(g, "gravity")
        size = float(np.sqrt(g @ g))
        symbol = self._symbol("gravity", "g", size, "gravity")
        return self._array(g / size, "direction of gravity") * symbol

    def _joint(self, joint: Joint, i: int) -> Joint:
        armature = [self._symbol("armatures", f"J{i}", x, f"armature of joint {joint.name}") for x in joint.armature]
        kind: Any = joint.type
        for name in ("axis", "axis2"):
            axis = getattr(kind, name, None)
            if axis is not None and not _is_coordinate_axis(axis):
                if joint.kind == "planar":
                    raise EquationsError(f"planar joint {joint.name!r} has the axis {axis}: expected a coordinate axis")
                kind = replace(kind, **{name: tuple(self._exact(x, f"axis of joint {joint.name}") for x in axis)})
        return replace(joint, type=kind, armature=np.array(armature, dtype=object))

    def _force(self, row: ForceRow, joints: tuple[Joint, ...]) -> ForceRow:
        """Of forces, viscous friction has a place in the equations."""
        if not isinstance(row, JointRow) or not isinstance(row.force, Friction):
            return row
        viscous = self._symbol(
            "dampings", f"d{row.joint + 1}", row.force.viscous, f"damping of joint {joints[row.joint].name}"
        )
        return row._replace(force=replace(row.force, viscous=viscous))


def _fraction(p: Polynomial) -> Fraction:
    """A constant as a fraction."""
    value: Any = p.terms.get(0, 0)
    return Fraction(int(value.numerator), int(value.denominator))


def _is_coordinate_axis(axis: tuple) -> bool:
    return sorted(abs(float(x)) for x in axis) == [0.0, 0.0, 1.0]
