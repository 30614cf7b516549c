"""A law that learns the masses of the robot it moves (Slotine and Li 1987; Lee, Kwon and Park 2018)."""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from modurob.algorithms.steps import apply
from modurob.control.passivity import Sliding, SlidingLaw, slotine_li_regressor
from modurob.control.recipe import LAWS, Recipe
from modurob.control.reference import Reference
from modurob.control.values import PerJoint
from modurob.errors import ControlError
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial import inertia
from modurob.spatial.factors import cholesky, eigh
from modurob.spatial.scalars import Array, clip, exp, maximum, minimum, solve

# every body counts as at least this share of the mean one: those believed to be points, or to weigh nothing, can learn too
LEAST = 0.05
# what the law learns in a sample, as torque for s, is at most this share of kd: faster learning would swing
SHARE = 1.0
# where neither bodies nor distances have a size [m]
SMALL = 0.1
# how fast the reference of a floating base follows the base [1/s]
FOLLOWS = 5.0


class Learnt(NamedTuple):
    """What the law remembers: bodies, (..., 10 bodies), and reference rates of joints without a drive, (..., p), None at first."""

    pi: Array
    rate: Array | None = None


@LAWS.register("adaptive")
@dataclass(frozen=True, eq=False)
class AdaptiveControl(Recipe):
    """tau = Y(q, v, v_r, vdot_r) pi + Kd s - passive, dP/dt = gain P L P: masses, centres and inertias are adapted.

    pi, (10 bodies,), starts at the values of the `model`; rotor inertias are known. P are the pseudo-inertias of pi,
    and L the gradient Y^T s with respect to them, so that the adaptation is independent of units and of the size of
    the bodies, and the bodies remain physically consistent. V = s^T M s/2 + (log-det distance of P)/gain decreases at
    the rate s^T Kd s: the tracking error converges to zero whatever the masses are, and pi to the true values if the
    motion is sufficiently exciting. `gain` [1/J] is the speed of adaptation, as far as the `sample_time` allows.

    The motion of a floating base also depends on the masses: the reference velocity of the base belongs to the law and
    moves as the base of the adapted model would under these torques, so that s of all joints converges to zero without
    a torque at the base (Pucci, Romano and Nori 2015).

    >>> believed = robot.with_payload("m3", mr.spatial.inertia.sphere(0.3, 0.03))
    >>> law = mr.AdaptiveControl([0.3, 0.2, -0.4], slope=10.0, kd=0.5, model=believed)
    >>> mr.simulate(robot, q, duration=0.05, controller=law).status.ok
    True
    """

    reference: Reference = 0.0
    slope: PerJoint = 10.0  # [1/s]
    kd: PerJoint = 1.0  # [N m s/rad or N s/m]
    gain: float = 20.0  # [1/J]
    sample_time: float = field(default=1e-3, kw_only=True)  # type: ignore[assignment]  # [s]
    assumes: ClassVar[tuple[str, ...]] = ("driven", "coordinates", "tree")

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.sample_time, "sample_time")
        one_positive(self.gain, "gain")

    def on(self, robot: Mechanism) -> "AdaptiveLaw":
        return AdaptiveLaw(self, robot)


class AdaptiveLaw(SlidingLaw):
    """The adaptive law for one robot."""

    def __init__(self, recipe: AdaptiveControl, robot: Mechanism):
        super().__init__(recipe, robot)
        self._least = LEAST * mean_body(self._model)
        self._p, d = self.drives.passive, self.drives.v
        Kd = self._kd(np.eye(robot.nv))[d[:, None], d]
        damping = np.linalg.eigvalsh((Kd + Kd.T) / 2).min(initial=np.inf)
        if not damping > 0:
            raise ControlError(
                f"AdaptiveControl: kd = {recipe.kd!r:.60}: expected above zero at every joint: nothing is learnt"
            )
        # 1/kd of every rate; those without a drive are damped by the inertia that they have
        self._weak = 1 / (FOLLOWS * np.diagonal(self._model.mass_matrix(self._model.neutral())))
        self._weak[d] = 1 / np.diagonal(Kd) if np.allclose(Kd, np.diag(np.diagonal(Kd))) else 1 / damping

    def start(self) -> Learnt:
        return Learnt(self._model.inertial_parameters().ravel())

    def step(self, memory: Learnt, t: float, measured: Measured) -> tuple[Learnt, Array]:
        q, v = measured
        along, rate = self.sliding(t, q, v), None
        if len(self._p):
            along = self._with_base(memory, q, v, along)
            rate = along.rate[..., self._p] + self.recipe.sample_time * along.acceleration[..., self._p]
        Y = slotine_li_regressor(self._model, q, v, along.rate, along.acceleration)
        tau = self._torque(memory.pi, Y, q, v, along) + self._kd(along.s)
        return Learnt(self._learnt(memory.pi, Y, along.s), rate), self._limited(tau)

    def _torque(self, pi: Array, Y: Array, q: Array, v: Array, along: Sliding) -> Array:
        """Y pi, with rotors, less passive forces, (..., nv)."""
        return apply(Y, pi) + self._model.armature * along.acceleration - self._passive(q, v)

    def _with_base(self, memory: Learnt, q: Array, v: Array, along: Sliding) -> Sliding:
        """The reference with joints p that have no drive: accelerations a with (Y pi)_p + FOLLOWS M_pp s_p = 0."""
        p, rate, ahead = self._p, np.array(along.rate), np.array(along.acceleration)
        rate[..., p], ahead[..., p] = v[..., p] if memory.rate is None else memory.rate, 0.0
        resting = Sliding(rate, ahead, rate - v)
        Y = slotine_li_regressor(self._model, q, v, rate, ahead)
        needed = self._torque(memory.pi, Y, q, v, resting)[..., p, None]
        ahead[..., p] = -solve(self._inertia(memory.pi, q, v), needed)[..., 0] - FOLLOWS * resting.s[..., p]
        return Sliding(rate, ahead, resting.s)

    def _inertia(self, pi: Array, q: Array, v: Array) -> Array:
        """M_pp as learnt, (..., p, p): what unit accelerations need, less what rest needs."""
        p, n = self._p, v.shape[-1]
        each = np.concatenate([np.eye(n)[p], np.zeros((1, n))]).reshape(-1, *[1] * (v.ndim - 1), n) + 0 * v
        tau = apply(self._model.regressor(np.broadcast_to(q, (len(each), *q.shape)), 0 * each, each), pi)[..., p]
        return np.moveaxis(tau[:-1] - tau[-1], 0, -1) + np.diag(self._model.armature[p])

    def _learnt(self, pi: Array, Y: Array, s: Array) -> Array:
        """pi a sample of h later: P' = A exp(h gain A^T L A) A^T with P = A A^T, which is positive whatever the step is."""
        bodies = pi.shape[-1] // 10
        A = cholesky(inertia.pseudo_inertia(pi.reshape(*pi.shape[:-1], bodies, 10)) + self._least)
        each = A[..., None, :, :, :]
        # A^T L A by joint and body, (..., nv, bodies, 4, 4)
        B = np.swapaxes(each, -1, -2) @ dual_of(Y.reshape(*Y.shape[:-1], bodies, 10)) @ each
        w, U = eigh(self._speed(B) * np.sum(s[..., None, None, None] * B, axis=-4))
        AU = A @ U
        new = (AU * exp(clip(w, -1.0, 1.0))[..., None, :]) @ np.swapaxes(AU, -1, -2) - self._least
        return inertia.of_pseudo_inertia(new).reshape(*s.shape[:-1], -1)

    def _speed(self, B: Array) -> Array:
        """h gain, (..., 1, 1, 1), or less: Y Gamma Y^T with the metric Gamma is what a sample adds to kd."""
        added = np.sum(np.sum(B**2, axis=(-3, -2, -1)) * self._weak, axis=-1)
        most = SHARE / maximum(added, 1e-300)
        return minimum(self.recipe.sample_time * self.recipe.gain, most)[..., None, None, None]


def dual_of(gradient: Array) -> Array:
    """L, (..., 4, 4), with tr(L P(pi)) = gradient . pi for the pseudo-inertias P of all pi, from (..., 10)."""
    xx, xy, yy, xz, yz, zz = np.moveaxis(gradient[..., 4:], -1, 0)
    m, x, y, z = np.moveaxis(gradient[..., :4], -1, 0)
    rows = [
        [yy + zz, -xy / 2, -xz / 2, x / 2],
        [-xy / 2, xx + zz, -yz / 2, y / 2],
        [-xz / 2, -yz / 2, xx + yy, z / 2],
        [x / 2, y / 2, z / 2, m],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def mean_body(robot: Mechanism) -> Array:
    """The pseudo-inertia of a body of the robot's mean mass, and as large as its bodies and the distances between its joints are,
    (4, 4)."""
    P = inertia.pseudo_inertia(robot.inertial_parameters().reshape(-1, 10))
    total = P[:, 3, 3].sum()
    spread = np.trace(P[:, :3, :3], axis1=-2, axis2=-1).sum() / total if total > 0 else 0.0
    size = spread + np.sum(robot.X_PJ[1:, :3, 3] ** 2) / max(1, len(P))
    return (total / len(P) if total > 0 else 1.0) * np.diag([*[(size or SMALL**2) / 3] * 3, 1.0])
