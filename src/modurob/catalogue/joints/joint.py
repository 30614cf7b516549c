"""A joint: the pose of its successor frame in its predecessor frame, and the motion that it permits.

A joint is one small value that defines everything about its kind: units, canonical axes, bracket, the simple joints it
consists of. No other part of the package depends on joint kinds by name. A new kind is a new file that registers
itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob.errors import InputError, MechanismError, blame_methods
from modurob.registry import Registry, with_values
from modurob.spatial import se3
from modurob.spatial.scalars import SCALARS, Array, as_array

Axis = tuple[float, ...]  # three numbers

# what is traced, and run on exact scalars
METHODS = ("pose", "motion_subspace", "subspace_rate", "constraint_subspace", "coordinates", "rate", "integrate")
EXPECTED = f"{SCALARS}; q[..., :1] is an array, q[..., 0] may be a scalar"


def unit_axis(axis: Axis, what: str) -> Axis:
    """`axis` of length one, or an error."""
    a = np.asarray(axis)
    if a.dtype == object:
        return tuple(a)
    # squares of numbers beyond these limits under- or overflow
    if a.shape != (3,) or not 1e-100 < np.abs(a).max() < 1e100:
        raise InputError(f"{what} axis {axis!r}: expected three finite numbers, not all zero")
    length = np.sqrt(a @ a)
    # an axis of length one stays as it is to the last bit, and -0.0 becomes 0.0: equal joints are written alike
    return tuple(float(x) + 0.0 for x in (a if abs(length - 1) < 1e-15 else a / length))


class Canonical(NamedTuple):
    """A joint in its canonical axes, and the rotation R (3, 3) that takes these to the axes it has."""

    joint: "JointType"
    R: Array


class JointType(ABC):
    """A joint between a predecessor and a successor frame. All matrices are in the successor frame."""

    kind: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    # of a displacement along each rate: rad or m
    units: ClassVar[tuple[str, ...]] = ()
    # what the rates, and the coordinates where they differ, are called beside the name of the joint
    labels: ClassVar[tuple[str, ...]] = ("",)
    q_labels: ClassVar[tuple[str, ...]] = ()
    # fields that code for this kind reads from a table; all others are part of the code
    parameters: ClassVar[tuple[str, ...]] = ()
    # whether all of its motions are about and along one axis, z in canonical axes
    axial: ClassVar[bool] = False
    # what URDF calls it, None if it has no such joint
    urdf: ClassVar[str | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Kinds from outside the package are named in the errors of their methods."""
        super().__init_subclass__(**options)
        blame_methods(cls, METHODS, MechanismError, EXPECTED)

    @abstractmethod
    def pose(self, q: Array) -> Array:
        """X_PS(q), (..., 4, 4): successor in predecessor."""

    @abstractmethod
    def motion_subspace(self, q: Array) -> Array:
        """S(q), (..., 6, nv) or (6, nv) if constant: the joint's twist is S v."""

    def subspace_rate(self, q: Array, v: Array) -> Array:
        """dS/dt, (..., 6, nv), linear in v, zero where S is constant."""
        return np.zeros((6, self.nv))

    def bias(self, q: Array, v: Array) -> Array:
        """(dS/dt) v, (..., 6): the rate of change of the joint's twist for vdot = 0 (Lieskovsky (1.2.8))."""
        return (self.subspace_rate(q, v) @ v[..., None])[..., 0]

    @abstractmethod
    def constraint_subspace(self, q: Array) -> Array:
        """T(q), (..., 6, 6 - nv): the wrenches the joint transmits without doing work, S^T T = 0 (Lieskovsky (1.2.9))."""

    @abstractmethod
    def coordinates(self, X: Array) -> Array:
        """q, (..., nq), of a joint pose near X; exact if the joint can reach X."""

    @property
    def turns(self) -> bool:
        """Whether S depends on q."""
        return type(self).subspace_rate is not JointType.subspace_rate

    @property
    def angles(self) -> tuple[int, ...]:
        """The coordinates that are angles."""
        return tuple(k for k, unit in enumerate(self.units) if unit == "rad") if self.nq == self.nv else ()

    # ---- coordinates ----

    def neutral(self) -> Array:
        """q of the zero pose."""
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator, lower: Array, upper: Array) -> Array:
        """q drawn uniformly between the limits; within half a turn or a metre of zero if there are none, or of the
        single limit.
        """
        reach = np.array([np.pi if unit == "rad" else 1.0 for unit in self.units])
        low = np.where(np.isfinite(lower), lower, np.minimum(-reach, upper - 2 * reach))
        return rng.uniform(low, np.where(np.isfinite(upper), upper, np.maximum(reach, low + 2 * reach)))

    def rate(self, q: Array, v: Array) -> Array:
        """dq/dt, (..., nq)."""
        return v

    def integrate(self, q: Array, dq: Array) -> Array:
        """q moved for one second with the constant velocity dq."""
        return as_array(q) + dq

    def stepped(self, v: Array, vdot: Array, dt: Array) -> tuple[Array, Array]:
        """Rates after a time dt, and the displacement dq until then, under a constant acceleration, (..., nv) each."""
        return v + vdot * dt, (v + vdot * dt / 2) * dt

    def difference(self, q0: Array, q1: Array) -> Array:
        """dq, (..., nv), with integrate(q0, dq) = q1."""
        return as_array(q1) - q0

    def bracket(self, v: Array) -> Array:
        """The matrix of x -> [v, x], (..., nv, nv): zero where rates are those of coordinates, ad(v) where they are a body's."""
        return np.zeros((*v.shape, self.nv))

    # ---- the same joint, seen otherwise ----

    def reversed(self) -> "JointType":
        """The same joint with the same coordinates, from successor to predecessor."""
        return Reversed(self)

    @property
    def numbers(self) -> dict[str, Any]:
        """The values of its `parameters`."""
        return {name: getattr(self, name) for name in self.parameters}

    def with_parameters(self, values: Mapping[str, Any]) -> "JointType":
        """The joint with other values for some of its `parameters`."""
        return with_values(self, values)

    def canonical(self) -> Canonical:
        """The joint in canonical axes: axis z if it is axial."""
        return Canonical(self, np.eye(3))

    def elementary(self) -> tuple["JointType", ...] | None:
        """The revolute, prismatic, spherical and free joints that this joint consists of, from predecessor to
        successor; None if there are none.
        """
        return None


KINDS: Registry[type[JointType]] = Registry("joint kind")


class Reversed(JointType):
    """A joint walked through from its successor: X = X_J^-1 with the coordinates of the original."""

    def __init__(self, original: JointType):
        self.original = original
        for name in ("kind", "nq", "nv", "units", "labels", "q_labels", "parameters"):
            setattr(self, name, getattr(original, name))

    @property
    def turns(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and self.original == other.original

    def __hash__(self) -> int:
        return hash((Reversed, self.original))

    def __repr__(self) -> str:
        return f"Reversed({self.original!r})"

    def _turned(self, q: Array, M: Array) -> Array:
        return -se3.Ad(self.original.pose(q)) @ M

    def pose(self, q: Array) -> Array:
        return se3.inverse(self.original.pose(q))

    def motion_subspace(self, q: Array) -> Array:
        return self._turned(q, self.original.motion_subspace(q))

    def subspace_rate(self, q: Array, v: Array) -> Array:
        S = self.original.motion_subspace(q)
        V = (S @ v[..., None])[..., 0]
        return self._turned(q, se3.ad(V) @ S + self.original.subspace_rate(q, v))

    def constraint_subspace(self, q: Array) -> Array:
        return np.swapaxes(se3.Ad_inverse(self.original.pose(q)), -1, -2) @ self.original.constraint_subspace(q)

    def coordinates(self, X: Array) -> Array:
        return self.original.coordinates(se3.inverse(X))

    def neutral(self) -> Array:
        return self.original.neutral()

    def random(self, rng: np.random.Generator, lower: Array, upper: Array) -> Array:
        return self.original.random(rng, lower, upper)

    def rate(self, q: Array, v: Array) -> Array:
        return self.original.rate(q, v)

    def integrate(self, q: Array, dq: Array) -> Array:
        return self.original.integrate(q, dq)

    def stepped(self, v: Array, vdot: Array, dt: Array) -> tuple[Array, Array]:
        return self.original.stepped(v, vdot, dt)

    def difference(self, q0: Array, q1: Array) -> Array:
        return self.original.difference(q0, q1)

    def bracket(self, v: Array) -> Array:
        return self.original.bracket(v)

    def reversed(self) -> JointType:
        return self.original

    @property
    def numbers(self) -> dict[str, Any]:
        return self.original.numbers

    def with_parameters(self, values: Mapping[str, Any]) -> JointType:
        return Reversed(self.original.with_parameters(values))

    def canonical(self) -> Canonical:
        joint, R = self.original.canonical()
        return Canonical(Reversed(joint), R)
