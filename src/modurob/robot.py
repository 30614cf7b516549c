"""The object users hold: the tables of a mechanism with its kinematics and dynamics as methods.

Each method checks its arguments and calls the function of the same name in `modurob.algorithms`, whose docstring says what
it returns. Arguments broadcast over leading axes: q is (..., nq), v, vdot and tau are (..., nv).
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from modurob import algorithms
from modurob.algorithms.derivatives import ForwardDerivatives, InverseDerivatives
from modurob.algorithms.inverse import External
from modurob.algorithms.loops import Independent
from modurob.algorithms.stepping import NO_SPRINGS, LimitSprings, require_steps
from modurob.assembly import Assembly
from modurob.errors import InputError
from modurob.kernels import Fast
from modurob.mechanism import Tables, from_assembly, urdf
from modurob.mechanism.builder import GRAVITY
from modurob.mechanism.builder import Builder as TableBuilder
from modurob.spatial import inertia
from modurob.spatial.scalars import Array, as_array
from modurob.symbolic import Equations
from modurob.symbolic.equations import silent
from modurob.symbolic.ring import never
from modurob.symbolic.size import LARGEST


class Mechanism(Tables):
    """A robot: bodies, joints and loops, and all that follows from them."""

    def __repr__(self) -> str:
        return f"Mechanism({self.name!r}, {len(self.bodies) - 1} bodies, nq={self.nq}, nv={self.nv}, loops={len(self.loops)})"

    @classmethod
    def from_assembly(
        cls,
        assembly: Assembly,
        base: str | None = None,
        floating: bool = False,
        gravity: Any = GRAVITY,
        locked: Mapping[str, float] | Iterable[str] = (),
        keep_idle: bool = False,
    ) -> "Mechanism":
        """The robot of an assembly; see `Assembly.mechanism`."""
        return from_assembly.fill(
            Builder(assembly.name, gravity, trusted=True), assembly, base, floating, locked, keep_idle
        )  # type: ignore[return-value]

    @classmethod
    def from_urdf(cls, path: str | Path, floating: bool = False, gravity: Any = GRAVITY) -> "Mechanism":
        """The robot of a URDF file, its root link fixed in the world or floating."""
        return urdf.fill(Builder(gravity=gravity), Path(path), floating)  # type: ignore[return-value]

    @cached_property
    def key(self) -> str:
        """Equal for mechanisms with equal tables, names aside (64 hexadecimal digits)."""
        parts: list[Any] = [self.parent, self.X_PJ.tolist(), self.inertia.tolist(), self.gravity.tolist()]
        parts += [
            (j.type, j.q_slice, j.v_slice, *map(repr, (j.limits, j.damping, j.friction, j.armature)))
            for j in self.joints
        ]
        parts += [
            (x.type, x.predecessor.body, x.predecessor.X.tolist(), x.successor.body, x.successor.X.tolist())
            for x in self.loops
        ]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def with_payload(self, frame: str, spatial: Array) -> "Mechanism":
        """A robot that carries a rigid load at a frame, its spatial inertia (6, 6) given in that frame: see `spatial.inertia`."""
        at = self.frame(frame)
        load = inertia.checked(np.asarray(spatial, dtype=float), f"payload at {frame}")
        total = np.array(self.inertia)
        total[at.body] += inertia.moved(load, at.X)
        return replace(self, inertia=total)

    # ---- configurations ----

    def neutral(self) -> Array:
        return algorithms.neutral(self)

    def random_configuration(self, rng: np.random.Generator) -> Array:
        return algorithms.random_configuration(self, rng)

    def rate(self, q: Array, v: Array) -> Array:
        return self._answer("rate", self._q(q), self._v(v))

    def integrate(self, q: Array, dq: Array) -> Array:
        return self._answer("integrate", self._q(q), self._v(dq, "dq"))

    def difference(self, q0: Array, q1: Array) -> Array:
        return algorithms.difference(self, self._q(q0, "q0"), self._q(q1, "q1"))

    # ---- kinematics ----

    def forward_kinematics(self, q: Array) -> algorithms.Poses:
        return self._answer("forward_kinematics", self._q(q))

    def frame_pose(self, q: Array, frame: str) -> Array:
        return self.forward_kinematics(q)[frame]

    def frame_twist(self, q: Array, v: Array, frame: str) -> Array:
        return algorithms.frame_twist(self, self._q(q), self._v(v), frame)

    def frame_acceleration(self, q: Array, v: Array, vdot: Array, frame: str) -> Array:
        return algorithms.frame_acceleration(self, self._q(q), self._v(v), self._v(vdot, "vdot"), frame)

    def jacobian(self, q: Array, frame: str) -> Array:
        return self._answer("jacobian", self._q(q), frame)

    def jacobian_rate(self, q: Array, v: Array, frame: str) -> Array:
        return algorithms.jacobian_rate(self, self._q(q), self._v(v), frame)

    def body_jacobian(self, q: Array, frame: str) -> Array:
        return algorithms.body_jacobian(self, self._q(q), frame)

    def body_jacobian_rate(self, q: Array, v: Array, frame: str) -> Array:
        return algorithms.body_jacobian_rate(self, self._q(q), self._v(v), frame)

    def point_jacobian(self, q: Array, frame: str, point: Array) -> Array:
        return algorithms.point_jacobian(self, self._q(q), frame, point)

    def point_jacobian_rate(self, q: Array, v: Array, frame: str, point: Array) -> Array:
        return algorithms.point_jacobian_rate(self, self._q(q), self._v(v), frame, point)

    def centre_of_mass(self, q: Array) -> Array:
        return algorithms.centre_of_mass(self, self._q(q))

    def centre_of_mass_jacobian(self, q: Array) -> Array:
        return algorithms.centre_of_mass_jacobian(self, self._q(q))

    def centre_of_mass_jacobian_rate(self, q: Array, v: Array) -> Array:
        return algorithms.centre_of_mass_jacobian_rate(self, self._q(q), self._v(v))

    # ---- dynamics ----

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, external: External = None) -> Array:
        tau = self._fast.once("inverse_dynamics", q, v, vdot) if external is None else None
        if tau is not None:
            return tau
        return self._dynamics("inverse_dynamics", (q, v, vdot), ("q", "v", "vdot"), external)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, external: External = None) -> Array:
        vdot = self._fast.once("forward_dynamics", q, v, tau) if external is None else None
        if vdot is not None:
            return vdot
        return self._dynamics("forward_dynamics", (q, v, tau), ("q", "v", "tau"), external)

    def mass_matrix(self, q: Array) -> Array:
        M = self._fast.once("mass_matrix", q)
        return self._answer("mass_matrix", self._q(q)) if M is None else self._fast.with_rotors(M)

    def bias_forces(self, q: Array, v: Array) -> Array:
        return self._answer("bias_forces", self._q(q), self._v(v))

    def gravity_forces(self, q: Array) -> Array:
        return self._answer("gravity_forces", self._q(q))

    def advance(
        self,
        q: Array,
        v: Array,
        tau: Array,
        dt: float,
        steps: int = 1,
        method: str = "runge_kutta_4",
        springs: LimitSprings = NO_SPRINGS,
        tabulated: bool = False,
    ) -> tuple[Array, Array]:
        require_steps(dt, steps, method)
        q, v, tau = self._q(q), self._v(v), self._v(tau, "tau")
        if tabulated and (tau.ndim < 2 or tau.shape[-2] != steps):
            raise InputError(
                f"a table of torques of shape {tau.shape}: expected (..., {steps}, {self.nv}), a row a step"
            )
        return self._answer("advance", q, v, tau, dt, steps, method, springs, tabulated)

    def coriolis_matrix(self, q: Array, v: Array) -> Array:
        return algorithms.coriolis_matrix(self, self._q(q), self._v(v))

    def two_step_coriolis_matrix(self, q: Array, v: Array) -> Array:
        return algorithms.two_step_coriolis_matrix(self, self._q(q), self._v(v))

    def regressor(self, q: Array, v: Array, vdot: Array) -> Array:
        return algorithms.regressor(self, self._q(q), self._v(v), self._v(vdot, "vdot"))

    def inertial_parameters(self) -> Array:
        return algorithms.inertial_parameters(self)

    def inverse_dynamics_derivatives(
        self, q: Array, v: Array, vdot: Array, external: External = None
    ) -> InverseDerivatives:
        return algorithms.inverse_dynamics_derivatives(self, self._q(q), self._v(v), self._v(vdot, "vdot"), external)

    def forward_dynamics_derivatives(
        self, q: Array, v: Array, tau: Array, external: External = None
    ) -> ForwardDerivatives:
        return algorithms.forward_dynamics_derivatives(self, self._q(q), self._v(v), self._v(tau, "tau"), external)

    # ---- energy and momentum ----

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        return self._answer("kinetic_energy", self._q(q), self._v(v))

    def potential_energy(self, q: Array) -> Array:
        return self._answer("potential_energy", self._q(q))

    def momentum(self, q: Array, v: Array) -> Array:
        return algorithms.momentum(self, self._q(q), self._v(v))

    def centroidal_momentum(self, q: Array, v: Array) -> Array:
        return algorithms.centroidal_momentum(self, self._q(q), self._v(v))

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        return algorithms.centroidal_momentum_matrix(self, self._q(q))

    def total_mass(self) -> float:
        return algorithms.total_mass(self)

    # ---- loops ----

    def loop_error(self, q: Array) -> Array:
        return algorithms.loop_error(self, self._q(q))

    def loop_jacobian(self, q: Array) -> Array:
        return algorithms.loop_jacobian(self, self._q(q))

    def loop_bias(self, q: Array, v: Array) -> Array:
        return algorithms.loop_bias(self, self._q(q), self._v(v))

    def loop_rank(self) -> int:
        return algorithms.loop_rank(self)

    def close_loops(self, q: Array) -> Array:
        return algorithms.close_loops(self, self._q(q))

    def close_velocity(self, q: Array, v: Array) -> Array:
        return algorithms.close_velocity(self, self._q(q), self._v(v))

    def independent_coordinates(self, q: Array, v: Array) -> Independent:
        return algorithms.independent_coordinates(self, self._q(q), self._v(v))

    # ---- closed form ----

    def equations(
        self,
        symbols: str | Iterable[str] = (),
        method: str = "two-step",
        *,
        digits: int | None = None,
        time_limit: float | None = None,
        largest: int | None = LARGEST,
        cancelled: Callable[[], bool] = never,
        progress: Callable[[str, float], None] = silent,
    ) -> Equations:
        """The equations of motion M(q) vdot + C(q, v) v + D v + N(q) = tau in closed form, exact.

        `symbols` are the numbers that become symbols: one kind, several, or "all" of masses, centres, inertias, lengths, gravity, armatures,
        dampings; parameters that are symbols already stay so, and numbers that are no short fraction become symbols too.
        `method` is "two-step" or "lagrange", two ways to the same equations.
        `digits` rounds numbers that are not exact to so many decimals; `time_limit` [s] is for each call; `largest` is the number of terms
        the mass matrix may have, None for any; `cancelled()` stops the work within 0.2 s of being true; `progress(stage, done)`
        is told what is done, from 0 to 1.

        M, C, C_two_step, D (nv x nv) and N (nv x 1) are SymPy matrices, SI units. See `modurob.symbolic.Equations`.

        >>> import modurob as mr
        >>> eq = mr.load("crab").mechanism().equations(("masses", "lengths", "gravity"))
        >>> eq.N[1]
        g*l1*m2*cos(q1 + q2)
        """
        return Equations(
            self,
            symbols,
            method,
            digits=digits,
            time_limit=time_limit,
            largest=largest,
            cancelled=cancelled,
            progress=progress,
        )

    # ---- which way an answer is found ----

    @cached_property
    def _fast(self) -> Fast:
        return Fast(self)

    def compile(self, wanted: Iterable[tuple[str, int | None]]) -> None:
        """Have functions compiled now rather than in the background: (name, 1) for single states, (name, None) for batches."""
        self._fast.compile(wanted)

    def _answer(self, name: str, *arguments: Any) -> Any:
        """By compiled code where it can, else by the definition."""
        answer = getattr(self._fast, name)(*arguments)
        return getattr(algorithms, name)(self, *arguments) if answer is None else answer

    def _dynamics(self, name: str, inputs: Any, names: tuple[str, ...], external: External) -> Array:
        """As `_answer`; what is not finite shows in the result, so that batches are looked at only then."""
        sizes = (self.nq, self.nv, self.nv)
        arrays = [self._shaped(x, n, called) for x, n, called in zip(inputs, sizes, names, strict=True)]
        if max(x.ndim for x in arrays) > 1:
            answer = getattr(self._fast, name)(*arrays, external)
            if answer is not None:
                return answer
        q, v, third = arrays
        return self._answer(name, self._q(q), self._v(v), self._v(third, names[2]), external)

    # ---- checks ----

    def _q(self, q: Any, name: str = "q") -> Array:
        q = self._finite(self._shaped(q, self.nq, name), name)
        for joint in self.joints:
            if joint.kind in ("spherical", "free") and q.dtype != object:
                quaternion = q[..., joint.q_slice][..., -4:]
                if np.any(np.abs((quaternion * quaternion).sum(axis=-1)) < 1e-12):
                    raise InputError(
                        f"{name}: the quaternion of joint {joint.name!r} is zero: expected length one, (1, 0, 0, 0) for no turn"
                    )
        return q

    def _v(self, v: Any, name: str = "v") -> Array:
        return self._finite(self._shaped(v, self.nv, name), name)

    def _shaped(self, x: Any, n: int, name: str) -> Array:
        try:
            x = np.asarray(x)
            x = x if x.dtype == np.float32 else as_array(x)
        except ValueError:
            raise InputError(f"{name} has rows of different length: expected shape (..., {n})") from None
        words = x.dtype == object and any(y is None or isinstance(y, str) for y in x.flat)
        if x.dtype.kind not in "fcO" or words:
            raise InputError(f"{name} holds {x.tolist()!r:.60}: expected numbers")
        if x.ndim == 0 or x.shape[-1] != n:
            joints = ", ".join(f"{j.name} ({j.kind})" for j in self.joints[:12])
            raise InputError(
                f"{name} has shape {x.shape}: expected (..., {n}) for {self.name} with joints {joints or 'none'}"
            )
        return x

    def _finite(self, x: Array, name: str) -> Array:
        if x.dtype != object and not _all_finite(x):
            where = tuple(int(i) for i in np.argwhere(~np.isfinite(x))[0])
            raise InputError(f"{name}[{', '.join(map(str, where))}] is {x[where]}: expected finite numbers")
        return x


def _all_finite(x: Array) -> bool:
    if x.ndim > 1:
        # a sum is quicker than looking at each; only numbers that are not finite, or huge, spoil it
        with np.errstate(all="ignore"):
            if np.isfinite(x.sum()):
                return True
    return bool(np.isfinite(x).all())


class Builder(TableBuilder):
    """Makes a Mechanism body by body; see `modurob.mechanism.Builder`."""

    product = Mechanism
