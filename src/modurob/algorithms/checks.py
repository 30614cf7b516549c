"""States that have no answer, said before anything is computed from them."""

import numpy as np

from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

# a quaternion stands for the rotation of its direction; beyond these lengths it is taken for a mistake
SHORTEST, LONGEST = 1e-6, 1e6


def require_finite(x: Array, name: str) -> Array:
    """x itself, or an error that says which entry is no finite number."""
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


def require_quaternions(m: Tables, q: Array, name: str = "q") -> Array:
    """q itself, or an error if a quaternion in it is far from length one."""
    if m.nq == m.nv or q.dtype == object:
        return q
    for joint in m.joints:
        if joint.type.nq > joint.type.nv:
            with np.errstate(over="ignore"):
                length = np.sqrt((np.abs(q[..., joint.q_slice][..., -4:]) ** 2).sum(axis=-1))
            if not np.all((length > SHORTEST) & (length < LONGEST)):
                worst = float(
                    np.atleast_1d(length)[np.argmax(np.abs(np.log(np.maximum(np.atleast_1d(length), 1e-300))))]
                )
                raise InputError(
                    f"{name}: the quaternion of joint {joint.name!r} has length {worst:g}: expected length one"
                )
    return q


def require_inputs(m: Tables, inputs: dict[str, Array]) -> None:
    """An error if an input of a program holds numbers that are not finite, or quaternions far from length one."""
    for name, x in inputs.items():
        require_finite(x, name)
    if "q" in inputs:
        require_quaternions(m, inputs["q"])
