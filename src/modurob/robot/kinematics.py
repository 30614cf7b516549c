"""Configurations of a robot, and how its frames move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modurob import algorithms, kernels
from modurob.algorithms.frame_slopes import FrameDerivatives
from modurob.errors import InputError, explained
from modurob.robot.checks import Checked
from modurob.spatial.scalars import Array


class Kinematics(Checked):
    """Where frames are, and how they move."""

    # ---- configurations ----

    def neutral(self) -> Array:
        """The zero configuration, (nq,): every joint at zero [rad or m], quaternions (1, 0, 0, 0).

        >>> robot.neutral()
        array([0., 0., 0.])
        """
        return algorithms.neutral(self)

    @explained
    def random_configuration(self, rng: np.random.Generator) -> Array:
        """A configuration drawn uniformly within the joint limits, (nq,) [rad or m]; within half a turn or a metre of
        zero for joints without limits.

        >>> robot.random_configuration(np.random.default_rng(0)).shape
        (3,)
        """
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng {rng!r:.60}: expected a random stream, np.random.default_rng(0)")
        return algorithms.random_configuration(self, rng)

    def rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt, (..., nq) [rad/s or m/s]: v itself for coordinates; for quaternions the derivative of their four
        components.

        >>> robot.rate(q, v)
        array([ 1. ,  0.5, -1. ])
        >>> ball = mr.Assembly.single("m0", "backbone").mechanism(floating=True)
        >>> ball.rate(ball.neutral(), [0, 0, 0, 0, 0, 2.0]) + 0.0
        array([0., 0., 0., 0., 0., 0., 1.])
        """
        return algorithms.rate(self, self._q(q), self._v(v), kernels.run)

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """q moved for one second with the constant velocity dq, (..., nq): q + dq for coordinates, q exp(dq) for poses.

        dq is (..., nv) [rad or m], in the axes of v. `difference` is its inverse.

        >>> robot.integrate(robot.neutral(), [0.1, 0.0, -0.2])
        array([ 0.1,  0. , -0.2])
        """
        return algorithms.integrate(self, self._q(q), self._v(dq, "dq"), kernels.run)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """dq, (..., nv) [rad or m], with integrate(q0, dq) = q1: q1 - q0 for coordinates, the shortest rotation for
        quaternions.

        >>> robot.difference(robot.neutral(), q)
        array([ 0.3, -0.2,  0.5])
        """
        return algorithms.difference(self, self._q(q0, "q0"), self._q(q1, "q1"))

    # ---- kinematics ----

    def forward_kinematics(self, q: ArrayLike) -> algorithms.Poses:
        """X_WB of all bodies and X_WF of all named frames, [[R, p], [0, 1]] in world axes, (..., 4, 4) each [m], by name.

        >>> robot.forward_kinematics(robot.neutral())["m3"][:3, 3]
        array([0.105, 0.21 , 0.   ])
        """
        return algorithms.forward_kinematics(self, self._q(q), kernels.run)

    def frame_pose(self, q: ArrayLike, frame: str) -> Array:
        """X_WF of one frame in the world, (..., 4, 4): a point fixed in the frame is at X_WF p in world axes [m].

        >>> robot.frame_pose(q, "m3")[:3, 3].round(4)
        array([0.105 , 0.2048, 0.0415])
        """
        return self.forward_kinematics(q)[frame]

    def frame_twist(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """Twist (v, w) of a frame, V = J_body v, in its own axes at its own origin, (..., 6) [m/s, rad/s].

        >>> robot.frame_twist(q, v, "m3").round(4) + 0.0
        array([0.0209, 0.    , 0.2604, 0.    , 1.5   , 0.    ])
        """
        return algorithms.frame_twist(self, self._q(q), self._v(v), frame)

    def frame_acceleration(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, frame: str) -> Array:
        """Rate of change of the frame's twist, J_body vdot + (dJ_body/dt) v, in its own axes, (..., 6) [m/s², rad/s²];
        without gravity.

        >>> robot.frame_acceleration(q, v, vdot=np.zeros(3), frame="m3").round(4) + 0.0
        array([-0.0515,  0.    ,  0.0104,  0.    ,  0.    ,  0.    ])
        """
        return algorithms.frame_acceleration(self, self._q(q), self._v(v), self._v(vdot, "vdot"), frame, kernels.run)

    def frame_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, frame: str) -> FrameDerivatives:
        """Derivatives of `frame_twist` and `frame_acceleration` with respect to q (along `integrate`), v and vdot,
        (..., 6, nv) each, exact.

        >>> slopes = robot.frame_derivatives(q, v, np.zeros(3), "m3")
        >>> slopes._fields
        ('twist_q', 'twist_v', 'acceleration_q', 'acceleration_v', 'acceleration_vdot')
        >>> slopes.twist_q.shape
        (6, 3)
        """
        return algorithms.frame_derivatives(self, self._q(q), self._v(v), self._v(vdot, "vdot"), frame, kernels.run)

    def jacobian(self, q: ArrayLike, frame: str) -> Array:
        """J, (..., 6, nv), rows (v, w): velocity of the frame's origin and angular velocity, both in world axes, are J v [m/s,
        rad/s].

        >>> robot.jacobian(robot.neutral(), "m3").round(3) + 0.0
        array([[0.   , 0.   , 0.   ],
               [0.   , 0.   , 0.   ],
               [0.21 , 0.105, 0.   ],
               [1.   , 1.   , 0.   ],
               [0.   , 0.   , 0.   ],
               [0.   , 0.   , 0.   ]])
        """
        return algorithms.jacobian(self, self._q(q), frame, kernels.run)

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """dJ/dt of `jacobian` along v, (..., 6, nv), world axes: the acceleration of the frame is J vdot + (dJ/dt) v
        [m/s², rad/s²].

        >>> (robot.jacobian_rate(q, v, "m3") @ v).round(4) + 0.0
        array([ 0.    , -0.3354, -0.0546,  0.    ,  0.    ,  0.    ])
        """
        return algorithms.jacobian_rate(self, self._q(q), self._v(v), frame, kernels.run)

    def body_jacobian(self, q: ArrayLike, frame: str) -> Array:
        """J, (..., 6, nv), rows (v, w): the twist of the frame in its own axes at its own origin is J v [m/s, rad/s].

        >>> bool(np.allclose(robot.body_jacobian(q, "m3") @ v, robot.frame_twist(q, v, "m3")))
        True
        """
        return algorithms.body_jacobian(self, self._q(q), frame, kernels.run)

    def body_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """dJ/dt of `body_jacobian` along v, (..., 6, nv), in the frame's axes.

        >>> still = robot.frame_acceleration(q, v, np.zeros(3), "m3")
        >>> bool(np.allclose(robot.body_jacobian_rate(q, v, "m3") @ v, still))
        True
        """
        return algorithms.body_jacobian_rate(self, self._q(q), self._v(v), frame, kernels.run)

    def point_jacobian(self, q: ArrayLike, frame: str, point: ArrayLike) -> Array:
        """J, (..., 3, nv): the velocity in world axes of a point fixed in the frame, given in its axes (..., 3) [m], is J v [m/s].

        >>> (robot.point_jacobian(q, "m3", [0.0, 0.05, 0.0]) @ v).round(4) + 0.0
        array([ 0.    , -0.0468,  0.257 ])
        """
        return algorithms.point_jacobian(self, self._q(q), frame, self._point(point), kernels.run)

    def point_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str, point: ArrayLike) -> Array:
        """dJ/dt of `point_jacobian` along v, (..., 3, nv), world axes: the acceleration of the point is J vdot +
        (dJ/dt) v [m/s²].

        >>> robot.point_jacobian_rate(q, v, "m3", [0.0, 0.05, 0.0]).shape
        (3, 3)
        """
        return algorithms.point_jacobian_rate(self, self._q(q), self._v(v), frame, self._point(point), kernels.run)

    def centre_of_mass(self, q: ArrayLike) -> Array:
        """Centre of mass of the moving bodies, sum m c / sum m, in world axes, (..., 3) [m].

        >>> robot.centre_of_mass(q).round(4) + 0.0
        array([0.    , 0.1358, 0.0482])
        """
        return algorithms.centre_of_mass(self, self._q(q))

    def centre_of_mass_jacobian(self, q: ArrayLike) -> Array:
        """J, (..., 3, nv): the velocity of the centre of mass in world axes is J v [m/s]; gravity exerts the joint
        torques m J^T g.

        >>> J = robot.centre_of_mass_jacobian(q)
        >>> bool(np.allclose(-robot.total_mass() * J.T @ robot.gravity, robot.gravity_forces(q)))
        True
        """
        return algorithms.centre_of_mass_jacobian(self, self._q(q), kernels.run)

    def centre_of_mass_jacobian_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dJ/dt of `centre_of_mass_jacobian` along v, (..., 3, nv), world axes.

        >>> (robot.centre_of_mass_jacobian_rate(q, v) @ v).round(4) + 0.0
        array([ 0.    , -0.1473, -0.0357])
        """
        return algorithms.centre_of_mass_jacobian_rate(self, self._q(q), self._v(v))
