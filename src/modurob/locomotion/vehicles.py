"""The usual bases on wheels, as data: x ahead, y to the left, the origin on the axle that does not steer (von Stryk 4.5)."""

import numpy as np

from modurob.errors import explained
from modurob.locomotion.numbers import one_positive, whole
from modurob.locomotion.wheels import Wheel, WheeledBase


@explained
def differential(width: float, radius: float) -> WheeledBase:
    """Two driven wheels on one axle, left and right, `width` apart [m]: v = (v_l + v_r) / 2, w = (v_r - v_l) / width (4.5.2).

    >>> differential(width=0.5, radius=0.1).mobility
    (2, 0)
    """
    half = one_positive(width, "width") / 2
    return WheeledBase((Wheel((0, half), radius), Wheel((0, -half), radius)))


@explained
def tricycle(length: float, radius: float, width: float = 0.0) -> WheeledBase:
    """A wheel in front that steers and drives, two behind, or one (a bicycle), that roll: V = v cos a, w = v sin a / length.

    The origin is the middle of the rear axle, `length` behind the front wheel [m].

    >>> tricycle(length=1.0, radius=0.1).twist([10.0], steering=[np.pi / 4]).round(4) + 0.0
    array([0.7071, 0.    , 0.7071])
    """
    front = Wheel((one_positive(length, "length"), 0), radius, steered="front")
    return WheeledBase((front, *(Wheel((0, y), radius, driven=False) for y in sorted({width / 2, -width / 2}))))


@explained
def ackermann(length: float, width: float, radius: float) -> WheeledBase:
    """A car: two wheels steer in front, each by its own angle, two drive behind: w = V tan(a) / length, and of the two angles
    cot(outer) - cot(inner) = width / length (4.5.6). The origin is the middle of the rear axle.

    >>> car = ackermann(length=2.5, width=1.5, radius=0.3)
    >>> left, right = car.steer([5.0, 0.0, 1.0])
    >>> bool(np.isclose(1 / np.tan(right) - 1 / np.tan(left), 1.5 / 2.5))
    True
    """
    l, half = one_positive(length, "length"), one_positive(width, "width") / 2
    front = [Wheel((l, y), radius, steered=n, driven=False) for n, y in (("left", half), ("right", -half))]
    return WheeledBase((*front, Wheel((0, half), radius), Wheel((0, -half), radius)))


@explained
def synchro(width: float, radius: float, wheels: int = 3) -> WheeledBase:
    """Wheels on a circle of the diameter `width` that one motor steers together: it moves anywhere but does not turn (4.5.6).

    >>> synchro(width=0.4, radius=0.05).twist([20, 20, 20], steering=[np.pi / 2]).round(9) + 0.0
    array([0., 1., 0.])
    """
    around = 2 * np.pi * np.arange(whole(wheels, "wheels", 2)) / wheels
    r = one_positive(width, "width") / 2
    return WheeledBase(tuple(Wheel((r * np.cos(a), r * np.sin(a)), radius, steered="column") for a in around))


@explained
def steerable(width: float, radius: float, wheels: int = 3) -> WheeledBase:
    """Wheels on a circle of the diameter `width`, each with its own steering: the centre of rotation can be anywhere (4.5.5).

    >>> steerable(width=0.4, radius=0.05).steer([0.0, 0.0, 1.0]).round(4)
    array([-1.5708,  0.5236, -0.5236])
    """
    base = synchro(width, radius, wheels)
    return WheeledBase(tuple(Wheel(w.at, w.radius, steered=f"wheel {i}") for i, w in enumerate(base.wheels)))


@explained
def omni(width: float, radius: float, wheels: int = 3) -> WheeledBase:
    """Omni wheels on a circle of the diameter `width`, rolling along it: any twist at any time.

    >>> omni(width=0.4, radius=0.05).rates([0.0, 0.0, 1.0]).round(9)
    array([4., 4., 4.])
    """
    around = 2 * np.pi * np.arange(whole(wheels, "wheels", 3)) / wheels
    r = one_positive(width, "width") / 2
    return WheeledBase(
        tuple(Wheel((r * np.cos(a), r * np.sin(a)), radius, angle=a + np.pi / 2, rollers=0.0) for a in around)
    )


@explained
def mecanum(length: float, width: float, radius: float) -> WheeledBase:
    """Four Mecanum wheels, front left, front right, rear left, rear right, axes of their rollers at the ground towards the
    middle: rates (vx -+ vy -+ (length + width) w / 2) / radius. `length` between axles, `width` between sides [m].

    >>> mecanum(length=0.4, width=0.3, radius=0.05).rates([1.0, 0.0, 0.0]).round(9)
    array([20., 20., 20., 20.])
    """
    l, b, tilt = one_positive(length, "length") / 2, one_positive(width, "width") / 2, np.pi / 4
    places = ((l, b, -tilt), (l, -b, tilt), (-l, b, tilt), (-l, -b, -tilt))
    return WheeledBase(tuple(Wheel((x, y), radius, rollers=g) for x, y, g in places))


@explained
def tracked(width: float, radius: float, spread: float = 1.0) -> WheeledBase:
    """Two tracks, left and right, as the differential drive they behave like, the apparent width `spread` times the true one.

    Tracks slide sideways where they turn, so that a base turns less than its width says: `spread` is measured, 1.5 to 2 being usual
    (Martínez, Mandow and others). `mr.locomotion.turning_resistance` has the forces.

    >>> tracked(width=0.5, radius=0.1, spread=1.6).twist([-8.0, 8.0]).round(9) + 0.0
    array([0., 0., 2.])
    """
    return differential(one_positive(width, "width") * one_positive(spread, "spread"), radius)
