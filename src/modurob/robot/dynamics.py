"""The equations of motion of a robot, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from modurob import algorithms, kernels
from modurob.algorithms.base_parameters import BaseParameters
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.constraints.torques import DRIVEN_SLOPES, torques_by
from modurob.algorithms.coriolis import CORIOLIS_MATRIX
from modurob.algorithms.derivatives import FORWARD_REGRESSOR, ForwardDerivatives, InverseDerivatives, derivatives_of
from modurob.algorithms.forces import acting
from modurob.algorithms.forward import dynamics_of
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.joint_space import SLOPES
from modurob.algorithms.regressor import REGRESSOR
from modurob.algorithms.wrenches import External
from modurob.caching import cached_property
from modurob.robot.checks import Checked
from modurob.spatial.scalars import Array


class Dynamics(Checked):
    """Forces and accelerations, energies and momenta."""

    # ---- dynamics ----

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None) -> Array:
        """tau = M(q) vdot + C(q, v) v + N(q) - J^T F, (..., nv) [N m or N]: the torques for a given motion.

        `external` are wrenches (f, n) that act on frames, by name, in the axes of each frame at its origin [N, N m]; or
        an array (..., bodies, 6) in body frames, the world first. With loops the torques are those of the joints with a
        drive. Passive forces are not included: a drive has to supply inverse_dynamics - `passive_forces`.

        >>> robot.inverse_dynamics(q, v, np.zeros(3)).round(3)
        array([6.671, 1.023, 0.723])
        >>> robot.inverse_dynamics(q, v, np.zeros(3), {"m3": [0, 0, -1, 0, 0, 0]}).round(3)
        array([6.879, 1.128, 0.723])
        """
        if external is None and not self.constraints:
            tau = kernels.once(INVERSE_DYNAMICS, self, q, v, vdot)
            if tau is not None:
                return tau
        q, v, vdot = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(vdot, self.nv, "vdot")
        return algorithms.inverse_dynamics(self, q, v, vdot, external, kernels.run)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None) -> Array:
        """vdot = M^-1 (tau + J^T F - C v - N), (..., nv) [rad/s² or m/s²], with loops kept closed; `external` as in
        `inverse_dynamics`.

        Passive forces (friction, end stops, springs) are not included: add `passive_forces` to tau, or use `simulate`.

        >>> vdot = robot.forward_dynamics(q, v, tau=[5.0, 1.0, 1.0])
        >>> robot.inverse_dynamics(q, v, vdot).round(9)
        array([5., 1., 1.])
        """
        if external is None:
            found = kernels.once(self._dynamics, self, q, v, tau)
            if found is not None:
                return found[0] if isinstance(found, tuple) else found
        q, v, tau = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(tau, self.nv, "tau")
        return algorithms.forward_dynamics(self, q, v, tau, external, kernels.run)

    @cached_property
    def _dynamics(self) -> Any:
        return dynamics_of(self)

    @cached_property
    def _derivatives(self) -> Any:
        return derivatives_of(self)

    @cached_property
    def _has_rotors(self) -> bool:
        return bool(self.armature.any())

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q) of the tree, (..., nv, nv) [kg m², kg m or kg]: symmetric, kinetic energy = v^T M v / 2; includes rotor
        inertias.

        >>> robot.mass_matrix(robot.neutral()).round(4) + 0.0
        array([[0.1305, 0.0239, 0.0239],
               [0.0239, 0.0129, 0.    ],
               [0.0239, 0.    , 0.0129]])
        """
        M = kernels.once(MASS_MATRIX, self, q)
        if M is None:
            return algorithms.mass_matrix(self, self._q(q), kernels.run)
        if self._has_rotors:
            M.reshape(-1, self.nv**2)[:, :: self.nv + 1] += self.armature.astype(M.dtype, copy=False)
        return M

    def bias_forces(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) v + N(q) of the tree, (..., nv) [N m or N]: the torques at which vdot = 0.

        >>> bool(np.allclose(robot.bias_forces(q, v), robot.coriolis_matrix(q, v) @ v + robot.gravity_forces(q)))
        True
        """
        return algorithms.bias_forces(self, self._q(q), self._v(v), kernels.run)

    def gravity_forces(self, q: ArrayLike) -> Array:
        """N(q) of the tree, (..., nv) [N m or N]: the torques that hold it at rest; the gradient of the potential
        energy.

        >>> robot.gravity_forces(robot.neutral()).round(3)
        array([7.21, 1.03, 1.03])
        """
        return algorithms.gravity_forces(self, self._q(q), kernels.run)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) of Christoffel symbols, (..., nv, nv): C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2;
        dM/dt - 2 C is skew-symmetric.

        >>> (robot.coriolis_matrix(q, v) @ v).round(5)
        array([ 0.00802, -0.00219,  0.00529])
        """
        C = kernels.once(CORIOLIS_MATRIX, self, q, v)
        return algorithms.coriolis_matrix(self, self._q(q), self._v(v), kernels.run) if C is None else C

    def two_step_coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C(q, v) = S^T G^T (M G A1 + A2 M) G S of the two-step recursion, (..., nv, nv): the same product C v, a
        different matrix (Gutenkunst (3.38)).

        >>> (robot.two_step_coriolis_matrix(q, v) @ v).round(5)
        array([ 0.00802, -0.00219,  0.00529])
        """
        return algorithms.two_step_coriolis_matrix(self, self._q(q), self._v(v))

    def regressor(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """Y, (..., nv, 10 bodies), with Y pi = inverse dynamics of the tree, pi the `inertial_parameters` (without
        rotors).

        >>> Y = robot.regressor(q, v, np.zeros(3))
        >>> bool(np.allclose(Y @ robot.inertial_parameters(), robot.inverse_dynamics(q, v, np.zeros(3))))
        True
        """
        Y = kernels.once(REGRESSOR, self, q, v, vdot)
        if Y is not None:
            return Y
        return algorithms.regressor(self, self._q(q), self._v(v), self._v(vdot, "vdot"), kernels.run)

    def forward_dynamics_regressor(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None
    ) -> Array:
        """d vdot / d pi, (..., nv, 10 bodies): the derivative of forward dynamics by `inertial_parameters`, exact; without
        loops -M^-1 Y, with Y the `regressor` at vdot.

        >>> tau = np.array([5.0, 1.0, 1.0])
        >>> Y = robot.regressor(q, v, robot.forward_dynamics(q, v, tau))
        >>> bool(np.allclose(robot.mass_matrix(q) @ robot.forward_dynamics_regressor(q, v, tau), -Y))
        True
        """
        if external is None and not self.constraints:
            found = kernels.once(FORWARD_REGRESSOR, self, q, v, tau)
            if found is not None:
                return found
        q, v, tau = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(tau, self.nv, "tau")
        return algorithms.forward_dynamics_regressor(self, q, v, tau, external, kernels.run)

    def inertial_parameters(self) -> Array:
        """pi, (10 bodies,): (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each moving body, in its frame about its origin [kg, kg
        m, kg m²].

        >>> robot.inertial_parameters()[:4]
        array([3.   , 0.   , 0.315, 0.   ])
        """
        return algorithms.inertial_parameters(self)

    def torque_regressor(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, terms: Sequence[str] = ("inertia", "rotor")
    ) -> Array:
        """Y, (..., nv, parameters), with the drives' torques Y pi, of `terms` "inertia" (ten numbers per body),
        "rotor", "viscous", "coulomb", "offset" (one each per rate of a coordinate; quaternions have none), in this order.

        >>> robot.torque_regressor(q, v, np.zeros(3), ["inertia", "viscous", "coulomb"]).shape
        (3, 36)
        """
        return algorithms.torque_regressor(self, self._q(q), self._v(v), self._v(vdot, "vdot"), terms, kernels.run)

    def base_parameters(self, terms: Sequence[str] = ("inertia",), seed: int = 0) -> BaseParameters:
        """beta = K pi: the combinations of inertial parameters (and rotors, friction: `terms` of `torque_regressor`) on
        which torques depend, and which measured torques can identify (Gautier 1991).

        Found by the rank of the regressor in random states with closed loops, drawn from `seed`.

        >>> print(robot.base_parameters().sums[0])
        m0/B my + 0.105 m2/B m + 0.105 m4/B m
        """
        return algorithms.base_parameters(self, terms, seed)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None
    ) -> InverseDerivatives:
        """Derivatives of inverse dynamics with respect to q (along `integrate`), v and vdot, (..., nv, nv) each, as .q,
        .v and .vdot, exact.

        Wrenches are constant in their frames. Without loops the derivative with respect to vdot is M. With loops the
        derivatives are those of the torques of the joints with a drive; an error if these do not move every degree of
        freedom.

        >>> slopes = robot.inverse_dynamics_derivatives(q, v, np.zeros(3))
        >>> bool(np.allclose(slopes.vdot, robot.mass_matrix(q)))
        True
        """
        if external is None and not self._has_rotors and not self.constraints:
            found = kernels.once(SLOPES, self, q, v, vdot)
            if found is not None:
                M, by_q, by_v = found
                return InverseDerivatives(by_q, by_v, M)
        if external is None and self.constraints:
            found = kernels.once(DRIVEN_SLOPES, self, q, v, vdot)
            if found is not None:
                return InverseDerivatives(*torques_by(self, *found))
        q, v, vdot = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(vdot, self.nv, "vdot")
        return algorithms.inverse_dynamics_derivatives(self, q, v, vdot, external, kernels.run)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None
    ) -> ForwardDerivatives:
        """Derivatives of forward dynamics with respect to q (along `integrate`), v and tau, (..., nv, nv) each, as .q,
        .v and .tau, exact.

        Wrenches are constant in their frames. Without loops the derivative with respect to tau is M^-1.

        >>> slopes = robot.forward_dynamics_derivatives(q, v, np.zeros(3))
        >>> bool(np.allclose(slopes.tau @ robot.mass_matrix(q), np.eye(3)))
        True
        """
        if external is None:
            found = kernels.once(self._derivatives, self, q, v, tau)
            if found is not None:
                n = self.nv
                return ForwardDerivatives(found[..., :n], found[..., n : 2 * n], found[..., 2 * n :])
        q, v, tau = self._shaped(q, self.nq, "q"), self._shaped(v, self.nv, "v"), self._shaped(tau, self.nv, "tau")
        return algorithms.forward_dynamics_derivatives(self, q, v, tau, external, kernels.run)

    def passive_forces(self, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None, t: float = 0.0) -> Array:
        """The sum of the passive forces of the robot as torques, (..., nv) [N m or N]: viscous friction, springs, end
        stops, and J^T F of those between frames.

        M vdot + C v + N = tau + passive_forces + dry friction. Dry friction is not a function of the state and is not
        included: see `algorithms.dry_friction`. `x` are states of the forces, (..., nx), by default their initial
        values; t [s] is for forces that depend on time.

        >>> damped = robot.with_force("oil", mr.Friction(viscous=0.5), joint="m0/hinge")
        >>> damped.passive_forces(q, v)
        array([-0.5,  0. ,  0. ])
        >>> vdot = damped.forward_dynamics(q, v, damped.passive_forces(q, v))
        """
        states = None if x is None else self._shaped(x, acting(self).nx, "x")
        return algorithms.passive_forces(self, self._q(q), self._v(v), states, t, kernels.run)

    # ---- energy and momentum ----

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """v^T M v / 2, including rotors, (...) [J].

        >>> round(float(robot.kinetic_energy(q, v)), 5)
        0.061
        """
        return algorithms.kinetic_energy(self, self._q(q), self._v(v), kernels.run)

    def potential_energy(self, q: ArrayLike) -> Array:
        """-m g . c of the moving bodies, (...) [J], zero with the centre of mass at the world origin; without springs.

        >>> round(float(robot.potential_energy(q)), 5)
        2.36375
        """
        return algorithms.potential_energy(self, self._q(q), kernels.run)

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Linear and angular momentum (p, L), L about the world origin, in world axes, (..., 6) [N s, N m s].

        >>> robot.momentum(q, v).round(4) + 0.0
        array([ 0.    , -0.1709,  0.6583,  0.1166, -0.0165, -0.0017])
        """
        return algorithms.momentum(self, self._q(q), self._v(v), kernels.run)

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Linear and angular momentum (p, L), L about the centre of mass, in world axes, (..., 6) [N s, N m s].

        >>> robot.centroidal_momentum(q, v).round(4) + 0.0
        array([ 0.    , -0.1709,  0.6583,  0.019 , -0.0165, -0.0017])
        """
        return algorithms.centroidal_momentum(self, self._q(q), self._v(v), kernels.run)

    def centroidal_momentum_matrix(self, q: ArrayLike) -> Array:
        """A, (..., 6, nv): the centroidal momentum is A v, in world axes [N s, N m s].

        >>> bool(np.allclose(robot.centroidal_momentum_matrix(q) @ v, robot.centroidal_momentum(q, v)))
        True
        """
        return algorithms.centroidal_momentum_matrix(self, self._q(q), kernels.run)

    def total_mass(self) -> float:
        """Mass of the moving bodies [kg]; whatever is welded to the world is not included.

        >>> robot.total_mass()
        5.0
        """
        mass = algorithms.total_mass(self)
        return mass if self.inertia.dtype == object else float(mass)
