"""Motions of numbers and arrays over time: from one point to another, and through many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import ControlError, explained, gathered
from modurob.motion import profiles, splines
from modurob.motion.numbers import one_positive, positive
from modurob.motion.piecewise import Piecewise, Point, alike, timed
from modurob.registry import Registry

if TYPE_CHECKING:
    from modurob.robot import Mechanism

__all__ = ["TRAJECTORIES", "Point", "Trajectory"]

# makers of trajectories by name: functions whose result is one, a value t -> (position, velocity, acceleration)
TRAJECTORIES: Registry[Callable[..., Any]] = Registry("trajectory", ControlError)


@gathered
class Trajectory(Piecewise):
    """A motion x(t) of a number or an array [rad or m], at rest before its start and after its end.

    From breaks[i] to breaks[i + 1] x is the sum over k of coefficients[k, i] (t - breaks[i])^(order - k), as in SciPy's
    PPoly. `trajectory(t)` returns position, velocity and acceleration, of shape t.shape + x.shape each.

    >>> reach = mr.Trajectory.quintic([0.0, 0.0, 0.0], [0.5, -0.2, 0.3], duration=2.0)
    >>> reach(1.0).position
    array([ 0.25, -0.1 ,  0.15])
    >>> law = mr.ComputedTorque(kp=100, kd=20, reference=reach)
    """

    @explained
    def within(
        self,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        *,
        robot: Mechanism | None = None,
        torque: ArrayLike | str = "effort",
    ) -> Trajectory:
        """The same path, slowed down as far as necessary to satisfy these limits, numbers or arrays of the shape of x;
        None means no limit.

        Velocities are in rad/s or m/s, accelerations in rad/s² or m/s², jerks in rad/s³ or m/s³ (within pieces: jumps
        of the acceleration are not counted). With a `robot`, whose coordinates x are, torques [N m or N] are limited
        too: what its drives have to supply for rigid bodies, rotors, friction and springs; "effort" means the largest
        torques of the drives.

        >>> round(mr.Trajectory.cubic(0.0, 1.0, 1.0).within(velocity=0.5, acceleration=10.0).duration, 6)
        3.0
        >>> reach = mr.Trajectory.quintic([0.0, 0.0, 0.0], [0.5, -0.2, 0.3], duration=0.05)
        >>> reach.within(robot=robot, torque=8.0).duration > 0.05
        True
        """
        slower = super().within(velocity, acceleration, jerk)
        if robot is None:
            return slower
        from modurob.motion.fastest.timing import slowing_within  # which imports this

        factor = slowing_within(robot, slower, torque)
        return slower if factor == 1.0 else slower.slowed(factor)

    # ---- from one point to another ----

    @classmethod
    @explained
    def cubic(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        start_velocity: ArrayLike = 0.0,
        end_velocity: ArrayLike = 0.0,
    ) -> Trajectory:
        """The cubic in t with these positions [rad or m] and velocities [rad/s or m/s] at its ends, over `duration` [s].

        >>> mr.Trajectory.cubic([0.0, 1.0], [1.0, 1.0], duration=2.0)(1.0).position
        array([0.5, 1. ])
        """
        return cls._between(duration, start=start, start_velocity=start_velocity, end=end, end_velocity=end_velocity)

    @classmethod
    @explained
    def quintic(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        start_velocity: ArrayLike = 0.0,
        end_velocity: ArrayLike = 0.0,
        start_acceleration: ArrayLike = 0.0,
        end_acceleration: ArrayLike = 0.0,
    ) -> Trajectory:
        """The quintic in t with these positions, velocities and accelerations at its ends, over `duration` [s].

        It minimises the integral of squared jerk among all motions between these ends.

        >>> reach = mr.Trajectory.quintic(0.0, 1.0, duration=2.0)
        >>> float(reach(1.0).position), float(reach(1.0).velocity)
        (0.5, 0.9375)
        """
        return cls._between(
            duration,
            start=start,
            start_velocity=start_velocity,
            start_acceleration=start_acceleration,
            end=end,
            end_velocity=end_velocity,
            end_acceleration=end_acceleration,
        )

    @classmethod
    @explained
    def trapezoid(cls, start: ArrayLike, end: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> Trajectory:
        """The fastest straight line from rest to rest within these limits: constant acceleration, velocity,
        deceleration.

        All coordinates start and end together; if the distance is too short to reach the velocity, the profile is a
        triangle. Limits are in rad/s and rad/s², or m/s and m/s².

        >>> mr.Trajectory.trapezoid(0.0, 1.0, velocity=0.5, acceleration=1.0).duration
        2.5
        """
        return cls._fastest(profiles.trapezoid, start, end, velocity=velocity, acceleration=acceleration)

    @classmethod
    @explained
    def s_curve(
        cls, start: ArrayLike, end: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike
    ) -> Trajectory:
        """The fastest straight line from rest to rest with limited jerk: at most seven pieces of constant jerk.

        All coordinates start and end together. Limits are in rad/s, rad/s² and rad/s³, or m/s, m/s² and m/s³.

        >>> mr.Trajectory.s_curve(0.0, 1.0, velocity=0.5, acceleration=1.0, jerk=4.0).duration
        2.75
        """
        return cls._fastest(profiles.s_curve, start, end, velocity=velocity, acceleration=acceleration, jerk=jerk)

    @classmethod
    def _fastest(cls, profile: Callable[..., profiles.Pieces], start: Any, end: Any, **limits: ArrayLike) -> Trajectory:
        """The line from start to end with that profile of progress, as fast as the slowest coordinate allows."""
        x0, x1, *largest = alike(start=start, end=end, **limits)
        way, moves = x1 - x0, x1 != x0
        each = [positive(limit, name) for name, limit in zip(limits, largest, strict=True)]
        if not np.any(moves):
            return cls(np.array([0, np.nextafter(0, 1)]), x0[None, None])
        progress = profile(*(float(np.min(limit[moves] / np.abs(way[moves]))) for limit in each))
        return cls(*profiles.along_line(progress, x0, way))

    @classmethod
    def _between(cls, duration: float, **ends: ArrayLike) -> Trajectory:
        """The polynomial with the given derivatives at start and end, named in this order."""
        time = one_positive(duration, "duration")
        derivatives = np.stack(alike(**ends))
        return cls._of(splines.hermite(np.array([0, time]), np.stack(np.split(derivatives, 2))))

    # ---- through many points ----

    @classmethod
    @explained
    def hermite(
        cls,
        times: ArrayLike,
        points: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        jerks: ArrayLike | None = None,
    ) -> Trajectory:
        """The spline through the points, (k, ...), at the times, (k,) [s], with these derivatives there, (k, ...).

        As many derivatives as are given are continuous: velocities make cubics, accelerations quintics, jerks septics.

        >>> wave = mr.Trajectory.hermite([0, 1, 2], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
        >>> float(wave(0.5).position)
        0.5
        """
        t, x = timed(times, points)
        if jerks is not None and accelerations is None:
            raise ControlError("jerks without accelerations: expected velocities, then accelerations, then jerks")
        given = {"velocities": velocities, "accelerations": accelerations, "jerks": jerks}
        rates = alike(points=x, **{name: y for name, y in given.items() if y is not None})
        return cls._of(splines.hermite(t, np.stack(rates, axis=1)))

    @classmethod
    @explained
    def spline(cls, times: ArrayLike, points: ArrayLike, continuity: int = 2) -> Trajectory:
        """From rest to rest through the points, (k, ...), at the times, (k,) [s], with the given number of continuous
        derivatives.

        1 is Hermite's cubic with the rates of parabolas through three points each, in which moving a point changes the
        curve no further than to its neighbours; 2, 4 and 6 minimise the integral of squared acceleration, jerk and
        snap.

        >>> float(mr.Trajectory.spline([0, 1, 2], [0.0, 1.0, 0.0], continuity=1)(0.5).position)
        0.5
        """
        return cls._of(splines.through(*timed(times, points), continuity))

    @classmethod
    @explained
    def blended(cls, times: ArrayLike, points: ArrayLike, blend: float, smooth: bool = False) -> Trajectory:
        """Straight lines between the points, (k, ...), with blends of `blend` [s] around the times, (k,) [s], from rest
        to rest.

        The acceleration is constant within a blend, or, with `smooth`, continuous. The motion starts at the first point
        and ends at the last, and cuts the corners at those between by blend/8 times the change of velocity (smooth:
        3/32). The total duration is one blend longer than the times.

        >>> corner = mr.Trajectory.blended([0, 1, 2], [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], blend=0.4)
        >>> corner(1.2).position
        array([0.95, 0.05])
        """
        t, x = timed(times, points)
        length, least = one_positive(blend, "blend"), np.diff(t).min()
        if length > least:
            raise ControlError(
                f"blend = {length:g} s: expected at most {least:g} s, the shortest time between two points"
            )
        return cls(*profiles.blended(t, x, length, smooth))

    @classmethod
    @explained
    def minimum_jerk(cls, times: ArrayLike, points: ArrayLike) -> Trajectory:
        """From rest to rest through the points, (k, ...), at the times, (k,) [s], with the least integral of squared
        jerk.

        Between two points it is x0 + (x1 - x0) (10 s³ - 15 s⁴ + 6 s⁵); through more the quintic spline with four
        continuous derivatives.

        >>> float(mr.Trajectory.minimum_jerk([0, 1, 2], [0.0, 1.0, 2.0])(1.0).position)
        1.0
        """
        return cls.spline(times, points, continuity=4)

    @classmethod
    @explained
    def through(
        cls, points: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike | None = None
    ) -> Trajectory:
        """From rest to rest through the points, (k, ...), on a smooth spline that satisfies these limits [rad/s,
        rad/s²].

        Each segment gets a time in proportion to its duration at full speed; then the whole motion is slowed down as
        far as the limits require.

        >>> path = mr.Trajectory.through([[0, 0], [1, 0.5], [0, 1]], velocity=1.0, acceleration=4.0)
        >>> bool((path.largest(1) <= 1.0).all() and (path.largest(2) <= 4.0).all())
        True
        """
        t, x = timed(np.arange(len(np.atleast_1d(points))), points)
        limit = alike(point=x[0], velocity=velocity)[1]
        times = (np.abs(np.diff(x, axis=0)) / positive(limit, "velocity")).reshape(len(t) - 1, -1).max(axis=1)
        if np.any(times == 0):
            i = int(np.argmin(times))
            raise ControlError(f"points {i} and {i + 1} coincide: expected every point to differ from the one before")
        return cls.spline(np.append(0, np.cumsum(times)), x).within(velocity, acceleration, jerk)


for _kind in ["cubic", "quintic", "trapezoid", "s_curve", "hermite", "spline", "minimum_jerk", "blended", "through"]:
    TRAJECTORIES.add(_kind.replace("_", "-"), getattr(Trajectory, _kind))
