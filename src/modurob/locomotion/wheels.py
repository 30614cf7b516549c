"""Bases on wheels: what their wheels allow, from where they are and how they roll (von Stryk 4.5).

A wheel at p = (x, y) of the base moves over the ground with c = (vx - w y, vy + w x), (vx, vy, w) the twist of the base in its own
axes. Its heading psi is its angle on the base plus its steering. A plain wheel of radius r that turns at the rate phi' rolls
without slip if

    (cos psi, sin psi) . c = r phi',    (-sin psi, cos psi) . c = 0,

one with rollers on its rim (omni wheel, Mecanum wheel) if, along the axes of its rollers, at the angle gamma to its heading,

    (cos(psi + gamma), sin(psi + gamma)) . c = r cos(gamma) phi',

since rollers turn freely. Castors do not constrain the base and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, explained
from modurob.locomotion.numbers import numbers, one_number, one_positive
from modurob.spatial.scalars import Array, cos, sin

# singular values of rows with entries near one, and slip [m/s], that are zero; turns that are rounding [1/m]
ZERO, ROUNDING = 1e-9, 1e-12


@explained
@dataclass(frozen=True)
class Wheel:
    """A wheel of a base: `at` (x, y) [m], `radius` [m], `angle` of its heading [rad], free `rollers` at an angle to it
    [rad].

    `steered` is the name of the motor that turns it about the vertical through its centre; wheels with the same motor
    turn together. A wheel that is not `driven` rolls passively. Rollers at 0 make an omni wheel, at pi/4 or -pi/4 a
    Mecanum wheel.

    >>> mr.Wheel((0.0, 0.25), 0.1)
    Wheel(at=(0.0, 0.25), radius=0.1, angle=0.0, rollers=None, steered='', driven=True)
    """

    at: tuple[float, float]
    radius: float
    angle: float = 0.0
    rollers: float | None = None
    steered: str = ""
    driven: bool = True

    def __post_init__(self) -> None:
        at = numbers(self.at, "at of a wheel")
        if at.shape != (2,):
            raise InputError(f"at of a wheel has shape {at.shape}: expected two numbers, (x, y)")
        object.__setattr__(self, "at", tuple(at.tolist()))
        object.__setattr__(self, "radius", one_positive(self.radius, "radius of a wheel"))
        object.__setattr__(self, "angle", one_number(self.angle, "angle of a wheel"))
        if self.rollers is not None:
            object.__setattr__(self, "rollers", one_number(self.rollers, "rollers of a wheel"))
            if abs(np.cos(self.rollers)) < ZERO:
                raise InputError("rollers of a wheel at a right angle to its heading: it drives nothing; expected less")

    def row(self, direction: Array) -> Array:
        """(..., 3): times the twist, the velocity of the wheel's centre along `direction`, an angle on the base."""
        x, y = self.at
        c, s = cos(direction), sin(direction)
        return np.stack([c, s, x * s - y * c], axis=-1)


@explained
@dataclass(frozen=True)
class WheeledBase:
    """A vehicle described by its wheels. Twists are (vx, vy, w), (..., 3) [m/s, rad/s], in the axes of the base at its
    origin.

    Wheel rates [rad/s] are those of the driven wheels, in order, (..., driven); steering angles [rad] are in the order
    of `motors`, (..., motors). `mr.locomotion` has functions that make bases: differential, tricycle, ackermann,
    synchro, omni, mecanum, tracked.

    >>> base = mr.WheeledBase([mr.Wheel((0, 0.25), 0.1), mr.Wheel((0, -0.25), 0.1)])
    >>> base.twist([8.0, 12.0]).round(9) + 0.0
    array([1. , 0. , 0.8])
    >>> base.rates([1.0, 0.0, 0.8])
    array([ 8., 12.])
    """

    wheels: tuple[Wheel, ...]

    def __post_init__(self) -> None:
        wheels = tuple(self.wheels) if isinstance(self.wheels, Iterable) else (self.wheels,)
        if not wheels or not all(isinstance(w, Wheel) for w in wheels):
            raise InputError(f"wheels = {self.wheels!r:.60}: expected one or more mr.Wheel((x, y), radius)")
        object.__setattr__(self, "wheels", wheels)

    @property
    def motors(self) -> tuple[str, ...]:
        """Names of the steering motors, in the order of their wheels."""
        return tuple(dict.fromkeys(w.steered for w in self.wheels if w.steered))

    @property
    def driven(self) -> tuple[Wheel, ...]:
        """The wheels with a drive."""
        return tuple(w for w in self.wheels if w.driven)

    # ---- constraints ----

    def _heading(self, wheel: Wheel, steering: Array) -> Array:
        turn = steering[..., self.motors.index(wheel.steered)] if wheel.steered else np.zeros(steering.shape[:-1])
        return wheel.angle + turn

    def _steering(self, steering: ArrayLike | None) -> Array:
        k = len(self.motors)
        if steering is None and k:
            raise InputError(f"no steering angles: expected (..., {k}) for {', '.join(self.motors)}")
        return numbers(np.zeros(0) if steering is None else steering, "steering", k)

    def rolling(self, steering: ArrayLike | None = None) -> Array:
        """A, (..., driven, 3): wheels that do not slip turn at the rates A twist [rad/s].

        >>> mr.locomotion.differential(width=0.5, radius=0.1).rolling()
        array([[10. ,  0. , -2.5],
               [10. ,  0. ,  2.5]])
        """
        at = self._steering(steering)
        rows = [
            w.row(self._heading(w, at) + (w.rollers or 0.0)) / (w.radius * np.cos(w.rollers or 0.0))
            for w in self.driven
        ]
        return np.stack(rows, axis=-2) if rows else np.zeros((*at.shape[:-1], 0, 3))

    def sideways(self, steering: ArrayLike | None = None) -> Array:
        """C, (..., plain wheels, 3): plain wheels do not slide sideways if C twist = 0.

        >>> mr.locomotion.differential(width=0.5, radius=0.1).sideways().round(3) + 0.0
        array([[0., 1., 0.],
               [0., 1., 0.]])
        """
        at = self._steering(steering)
        return self._sides(at, [w for w in self.wheels if w.rollers is None])

    def _sides(self, at: Array, wheels: list[Wheel]) -> Array:
        rows = [w.row(self._heading(w, at) + np.pi / 2) for w in wheels]
        return np.stack(rows, axis=-2) if rows else np.zeros((*at.shape[:-1], 0, 3))

    # ---- kinematics ----

    @explained
    def twist(self, rates: ArrayLike, steering: ArrayLike | None = None, slip: ArrayLike = 0.0) -> Array:
        """Forward kinematics: the twist for given rates of the driven wheels, (..., 3); by least squares if wheels
        disagree.

        `slip` is the share of each wheel's rolling that is lost, (..., driven): 0 none, 1 all of it.

        >>> base = mr.locomotion.differential(width=0.5, radius=0.1)
        >>> base.twist([8.0, 12.0], slip=[0.0, 0.5]).round(3) + 0.0
        array([ 0.7,  0. , -0.4])
        """
        A, C = self.rolling(steering), self.sideways(steering)
        lost = numbers(slip, "slip")
        if np.any(lost > 1):
            raise InputError(f"slip = {lost.max():g}: expected at most 1, all of the rolling")
        rolled = numbers(rates, "rates", len(self.driven)) * (1 - lost)
        return (self._inverse(A, C) @ rolled[..., None])[..., 0]

    def twist_map(self, steering: ArrayLike | None = None) -> Array:
        """The matrix from rates of the driven wheels to the twist, (..., 3, driven)."""
        return self._inverse(self.rolling(steering), self.sideways(steering))

    def _inverse(self, A: Array, C: Array) -> Array:
        """Columns of the driven wheels of the pseudoinverse of [r A; C]; rows in m/s, so that wheels of any radius count alike."""
        radii = np.array([w.radius for w in self.driven])
        shape = np.broadcast_shapes(A.shape[:-2], C.shape[:-2])
        A = np.broadcast_to(A * radii[:, None], (*shape, *A.shape[-2:]))
        rows = np.concatenate([A, np.broadcast_to(C, (*shape, *C.shape[-2:]))], axis=-2)
        rank = np.linalg.matrix_rank(rows, tol=ZERO)
        if np.any(rank < 3):
            raise InputError(
                f"the wheels leave {3 - np.min(rank)} degrees of freedom of the base open: expected drives that determine its twist"
            )
        return np.linalg.pinv(rows, rcond=ZERO)[..., : len(radii)] * radii

    @explained
    def rates(self, twist: ArrayLike, steering: ArrayLike | None = None) -> Array:
        """Inverse kinematics: rates of the driven wheels for a twist, (..., driven) [rad/s].

        By default the steering angles are those for the twist (`steer`). A twist at which plain wheels would slide is
        refused; `slip` returns the sliding velocities.

        >>> mr.locomotion.mecanum(length=0.4, width=0.3, radius=0.05).rates([0.0, 1.0, 0.0]).round(9)
        array([-20.,  20.,  20., -20.])
        """
        xi = numbers(twist, "twist", 3)
        steering = self.steer(xi) if steering is None and self.motors else steering
        slides = np.abs((self.sideways(steering) @ xi[..., None])[..., 0])
        if slides.size and slides.max() > ZERO * (1 + np.abs(xi).max()):
            raise InputError(
                f"twist {xi.tolist()!r:.60} makes wheels slide sideways at {slides.max():.3g} m/s: expected one that they allow"
            )
        return (self.rolling(steering) @ xi[..., None])[..., 0]

    @explained
    def steer(self, twist: ArrayLike) -> Array:
        """Steering angles for a twist, (..., motors) within a quarter turn [rad]: tan psi = c_y / c_x of each wheel.

        >>> mr.locomotion.tricycle(length=1.0, radius=0.1).steer([1.0, 0.0, 1.0]).round(4)
        array([0.7854])
        """
        xi = numbers(twist, "twist", 3)
        angles = [self._agreed(xi, [w for w in self.wheels if w.steered == motor]) for motor in self.motors]
        return np.stack(angles, axis=-1) if angles else np.zeros((*xi.shape[:-1], 0))

    def _agreed(self, xi: Array, wheels: list[Wheel]) -> Array:
        """The one angle that suits all wheels of a motor."""
        found = [
            np.arctan2((w.row(np.asarray(w.angle + np.pi / 2)) * xi).sum(-1), (w.row(np.asarray(w.angle)) * xi).sum(-1))
            for w in wheels
        ]
        angles = np.remainder(np.stack(found) + np.pi / 2, np.pi) - np.pi / 2
        apart = np.abs(np.sin(angles - angles[0])).max()
        if apart > ZERO:
            raise InputError(
                f"twist {xi.tolist()!r:.60} needs other angles of wheels that {wheels[0].steered} turns together, "
                f"by up to {np.arcsin(apart):.3g} rad: expected one without turning"
            )
        return angles[0]

    @explained
    def slip(self, twist: ArrayLike, rates: ArrayLike, steering: ArrayLike | None = None) -> Array:
        """The velocities at which the rims of the driven wheels slide over the ground, along their headings and to
        their sides, (..., driven, 2) [m/s].

        For wheels with rollers the first is along the axes of the rollers; the second is zero, since the rollers turn.

        >>> mr.locomotion.differential(width=0.5, radius=0.1).slip([1.0, 0.2, 0.0], [10.0, 12.0]).round(9) + 0.0
        array([[ 0. ,  0.2],
               [-0.2,  0.2]])
        """
        xi, turning = numbers(twist, "twist", 3), numbers(rates, "rates", len(self.driven))
        scale = np.array([w.radius * np.cos(w.rollers or 0.0) for w in self.driven])
        along = ((self.rolling(steering) @ xi[..., None])[..., 0] - turning) * scale
        sides = (self._sides(self._steering(steering), list(self.driven)) @ xi[..., None])[..., 0]
        plain = np.array([w.rollers is None for w in self.driven])
        return np.stack(np.broadcast_arrays(along, sides * plain), axis=-1)

    # ---- what it can do ----

    @property
    def mobility(self) -> tuple[int, int]:
        """(degree of mobility, degree of steerability): twists that are free at once, and motors that move the centre of rotation.

        With C of the fixed wheels and of all, of rank at most two while the base can move: mobility = 3 - rank C, steerability =
        min(motors, rank C - rank C_fixed). (3, 0), (2, 0), (2, 1), (1, 1) and (1, 2) are the useful ones (Campion, Bastin,
        d'Andréa-Novel).

        >>> mr.locomotion.ackermann(length=2.5, width=1.5, radius=0.3).mobility
        (1, 1)
        """
        at = np.random.default_rng(0).uniform(-1.0, 1.0, len(self.motors))
        plain = [w for w in self.wheels if w.rollers is None]
        fixed = rank(self._sides(at, [w for w in plain if not w.steered]))
        free = rank(self._sides(at, plain))
        if free > 2 and (together := [m for m in self.motors if [w.steered for w in plain].count(m) > 1]):
            raise InputError(
                f"motor {together[0]} turns several wheels, and others have to agree with them: expected one wheel each"
            )
        whole = max(fixed, min(2, free))
        return 3 - whole, min(len(self.motors), whole - fixed)


def rank(rows: Array) -> int:
    """The rank of constraint rows, (k, 3)."""
    return int(np.linalg.matrix_rank(rows, tol=ZERO)) if len(rows) else 0


@explained
def centre_of_rotation(twist: ArrayLike) -> Array:
    """The instantaneous centre of rotation (-vy, vx) / w, (..., 2) [m] in the axes of the base; at infinity if it does
    not turn.

    >>> mr.locomotion.centre_of_rotation([1.0, 0.0, 0.8]) + 0.0
    array([0.  , 1.25])
    """
    vx, vy, w = np.moveaxis(numbers(twist, "twist", 3), -1, 0)
    turns = (np.abs(w) > ROUNDING * np.hypot(vx, vy))[..., None]
    return np.where(turns, np.stack([-vy, vx], axis=-1) / np.where(turns, w[..., None], 1.0), np.inf)
