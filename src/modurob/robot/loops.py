"""Lines and constraints of a robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modurob import algorithms, kernels
from modurob.algorithms.constraints.actuation import Actuation, Mobility
from modurob.algorithms.constraints.closure import Independent
from modurob.errors import explained
from modurob.robot.checks import Checked
from modurob.spatial.scalars import Array


class Loops(Checked):
    """What runs along lines, and what constraints leave free."""

    # ---- lines ----

    def line_lengths(self, q: ArrayLike) -> Array:
        """L over the route of each line, including arcs on pulleys and drums, (..., lines) [m].

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_lengths(q).round(4)
        array([0.2794])
        """
        return algorithms.line_lengths(self, self._q(q), kernels.run)

    def line_paths(self, q: ArrayLike) -> list[Array]:
        """The points that each line passes through at q, (nq,), in world axes, (k, 3) [m] each, for drawing; arcs are
        polygons.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> [path.shape for path in tied.line_paths(q)]
        [(2, 3)]
        """
        return algorithms.line_paths(self, self._one_q(q), kernels.run)

    def line_faults(self, q: ArrayLike) -> tuple[str, ...]:
        """Errors of the routes of the lines at q, (nq,): coincident ends, points inside a pulley's circle; empty if
        there are none. Simulations refuse to start with such errors.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2)).line_faults(q)
        ()
        """
        return algorithms.line_faults(self, self._one_q(q), kernels.run)

    def line_stretches(self, q: ArrayLike) -> Array:
        """The stretch of each line beyond its natural length, as set by its drums, (..., lines) [m]; cables are slack
        below zero.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_stretches(q).round(4)
        array([0.0794])
        """
        return algorithms.line_stretches(self, self._q(q), kernels.run)

    def line_strains(self, q: ArrayLike) -> Array:
        """Stretch over natural length of each line, (..., lines).

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_strains(q).round(4)
        array([0.3971])
        """
        return algorithms.line_strains(self, self._q(q), kernels.run)

    def line_tensions(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Tension T of each line, (..., lines) [N].

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> tied.line_tensions(q, np.zeros(3)).round(4)
        array([39.7145])
        """
        return algorithms.line_tensions(self, self._q(q), self._v(v), kernels.run)

    def line_jacobian(self, q: ArrayLike) -> Array:
        """J, (..., lines, nv): stretches change at the rate J v [m/s], lines exert the torques -J^T T: moment arms [m],
        and radii of drums.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> tied = robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2))
        >>> T = tied.line_tensions(q, np.zeros(3))
        >>> ropes = tied.without_forces("m0/hinge stop", "m2/hinge stop", "m4/hinge stop")
        >>> bool(np.allclose(-tied.line_jacobian(q).T @ T, ropes.passive_forces(q, np.zeros(3))))
        True
        """
        return algorithms.line_jacobian(self, self._q(q), kernels.run)

    # ---- constraints ----

    def loop_error(self, q: ArrayLike) -> Array:
        """The violation of each constraint along its rows, (..., rows) [m and rad]; zero where loops are closed.

        A loop joint adds 6 - nv rows, in the axes of its successor frame.

        >>> linkage.loop_error(linkage.neutral()).round(9) + 0.0
        array([0., 0., 0., 0., 0., 0.])
        """
        return algorithms.loop_error(self, self._q(q), kernels.run)

    def loop_jacobian(self, q: ArrayLike) -> Array:
        """K, (..., rows, nv): K v = 0 where the constraints hold; multipliers exert the torques K^T lambda.

        >>> linkage.loop_jacobian(linkage.neutral()).shape
        (6, 2)
        """
        return algorithms.loop_jacobian(self, self._q(q), kernels.run)

    def loop_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """k, (..., rows): K vdot = k where the constraints hold; k are the velocity-product accelerations [m/s² and
        rad/s²].

        >>> linkage.loop_bias(linkage.neutral(), np.zeros(2)).shape
        (6,)
        """
        return algorithms.loop_bias(self, self._q(q), self._v(v), kernels.run)

    def loop_rank(self) -> int:
        """The number of degrees of freedom that the constraints remove, the rank of K at regular configurations.

        >>> linkage.nv - linkage.loop_rank()
        1
        """
        return algorithms.loop_rank(self)

    def close_loops(self, q: ArrayLike) -> Array:
        """The configurations nearest to q at which the constraints hold, (..., nq) [rad or m], by Newton steps on
        `loop_error`; an error if there is none nearby.

        All joints move, including those that are driven. `reach` with a `mr.JointGoal` closes the loops with given
        joints at given values.

        >>> linkage.close_loops([0.01, -0.02]).round(9)
        array([-0.005, -0.005])
        >>> linkage.reach([mr.JointGoal({"m3/hinge": 0.01})]).q.round(9)
        array([[0.01, 0.01]])
        """
        return algorithms.close_loops(self, self._q(q), kernels.run)

    def close_velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The velocity nearest to v, in the metric of kinetic energy, that satisfies the constraints, K v = 0, (...,
        nv) [rad/s or m/s].

        >>> linkage.close_velocity(linkage.neutral(), [1.0, 0.5]).round(9)
        array([1., 1.])
        """
        return algorithms.close_velocity(self, self._q(q), self._v(v), kernels.run)

    @explained
    def independent_coordinates(self, q: ArrayLike, v: ArrayLike | None = None) -> Independent:
        """The equations of motion in independent rates y: v = G y, G^T M G ydot + bias = G^T tau, as .G (..., nv, k),
        .inertia, .bias; at rest if no v is given.

        >>> linkage.independent_coordinates(linkage.neutral(), [1.0, 1.0]).G.shape
        (2, 1)
        """
        v = np.zeros(self.nv) if v is None else self._v(v)
        return algorithms.independent_coordinates(self, self._q(q), v, kernels.run)

    def mobility(self, q: ArrayLike) -> Mobility:
        """Degrees of freedom at a closed configuration q, (nq,): .instantaneous, to first order, .finite, those of
        finite motions, .redundant, the number of redundant rows of K, and .dependent, the loops with such rows;
        .verdict is a description in words.

        >>> linkage.mobility(linkage.neutral()).verdict
        'over-constrained: a mechanism of 1 degree of freedom, 5 rows of m0/4 - m2/3 say nothing new'
        """
        return algorithms.mobility(self, self._one_q(q), kernels.run)

    def actuation(self, q: ArrayLike) -> Actuation:
        """How the robot is actuated at q, (nq,): a verdict, the matrix B of M ydot' + c = B u in motions v = G y that
        satisfy the constraints, and whether inputs that can only pull can produce any force (wrench closure).

        Inputs are the joints with a drive (effort above zero) and the lines under a given tension (`mr.Tension`).

        >>> found = linkage.actuation(linkage.neutral())
        >>> found.verdict, found.B.shape, found.inputs
        ('redundantly actuated', (1, 2), ('m3/hinge', 'm2/hinge'))
        """
        return algorithms.actuation(self, self._one_q(q), kernels.run)
