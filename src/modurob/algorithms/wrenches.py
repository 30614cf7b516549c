"""External wrenches, as users give them, on the bodies they act on."""

from collections.abc import Mapping

import numpy as np

from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array

# wrenches (f, n) by frame name, in the axes of the frame at its origin; or an array (..., bodies, 6) in body frames, the world
# first
External = Mapping[str, Array] | Array | None


def body_wrenches(m: Tables, external: External) -> list[Array]:
    """External wrenches summed on each body, in its own frame, (..., 6) each; no list if there are none."""
    if external is None:
        return []
    if not isinstance(external, Mapping):
        external = as_array(external)
        if external.shape[-2:] != (len(m.bodies), 6):
            raise InputError(
                f"external wrenches of shape {external.shape}: expected (..., {len(m.bodies)}, 6), the world first"
            )
        return [external[..., i, :] for i in range(len(m.bodies))]
    wrenches = [np.zeros(6)] * len(m.bodies)
    for name, wrench in external.items():
        at, F = m.frame(name), as_array(wrench)
        if F.ndim == 0 or F.shape[-1] != 6 or F.dtype.kind not in "fcO":
            raise InputError(f"external wrench on {name!r} has shape {F.shape}: expected (..., 6), force and torque")
        wrenches[at.body] = wrenches[at.body] + se3.to_parent(at.X, F)
    return wrenches
