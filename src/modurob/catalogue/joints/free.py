"""The joint that holds nothing: a floating base."""

from dataclasses import dataclass

import numpy as np

from modurob.catalogue.joints.joint import KINDS, JointType
from modurob.spatial import quaternion, se3, so3
from modurob.spatial.scalars import Array, as_array, cross


@KINDS.register("free")
@dataclass(frozen=True)
class Free(JointType):
    """Free motion: q = (position [m], quaternion wxyz), v the twist in successor axes [m/s, rad/s]; S = 1, no
    constraints.

    >>> mr.Free().nq, mr.Free().nv
    (7, 6)
    >>> mr.Free().pose(np.array([1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]))[:3, 3]
    array([1., 2., 3.])
    """

    kind, nq, nv, urdf = "free", 7, 6, "floating"
    units = ("m", "m", "m", "rad", "rad", "rad")
    labels = ("x", "y", "z", "turn x", "turn y", "turn z")
    q_labels = ("x", "y", "z", *quaternion.LABELS)

    def pose(self, q: Array) -> Array:
        return se3.pose(quaternion.to_matrix(q[..., 3:]), q[..., :3])

    def motion_subspace(self, q: Array) -> Array:
        return np.eye(6)

    def constraint_subspace(self, q: Array) -> Array:
        return np.zeros((6, 0))

    def coordinates(self, X: Array) -> Array:
        return np.concatenate([se3.position(X), quaternion.from_matrix(se3.rotation(X))], axis=-1)

    def neutral(self) -> Array:
        return np.concatenate([np.zeros(3), quaternion.IDENTITY])

    def random(self, rng: np.random.Generator, lower: Array, upper: Array) -> Array:
        return np.concatenate([rng.uniform(-1, 1, size=3), quaternion.random(rng)])

    def rate(self, q: Array, v: Array) -> Array:
        moved = (quaternion.to_matrix(q[..., 3:]) @ v[..., :3, None])[..., 0]
        return np.concatenate([moved, quaternion.rate(q[..., 3:], v[..., 3:])], axis=-1)

    def integrate(self, q: Array, dq: Array) -> Array:
        q = as_array(q)
        step = se3.exp(dq)
        moved = (quaternion.to_matrix(q[..., 3:]) @ se3.position(step)[..., None])[..., 0]
        turned = quaternion.multiply(q[..., 3:], quaternion.exp(as_array(dq)[..., 3:]))
        return np.concatenate([q[..., :3] + moved, quaternion.normalised(turned)], axis=-1)

    def stepped(self, v: Array, vdot: Array, dt: Array) -> tuple[Array, Array]:
        """The acceleration is constant in axes that do not rotate: that of the origin is vdot + w x v. The body rotates
        by r = dt (w + dt wdot / 2), the new rates are in its new axes, and dq is the twist of the displacement.
        """
        v_o, w, a, wdot = v[..., :3], v[..., 3:], vdot[..., :3], vdot[..., 3:]
        a = a + cross(w, v_o)
        turn, way = (w + wdot * dt / 2) * dt, (v_o + a * dt / 2) * dt
        turned = cross(turn, way)
        back = np.swapaxes(so3.exp(turn), -1, -2)
        after = [(back @ x[..., None])[..., 0] for x in (v_o + a * dt, w + wdot * dt)]
        # the first terms of the inverse of what exp makes of a twist's linear part; the next is of fourth order in the turn
        straight = way - turned / 2 + cross(turn, turned) / 12
        return np.concatenate(after, axis=-1), np.concatenate([straight, turn], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        return se3.log(se3.inverse(self.pose(as_array(q0))) @ self.pose(as_array(q1)))

    def bracket(self, v: Array) -> Array:
        return se3.ad(v)

    def elementary(self) -> tuple[JointType, ...]:
        return (self,)
