"""Bodies without mass that a weld closes a loop with: MuJoCo moves them with a share of what they are welded to."""

from dataclasses import replace

import numpy as np

from modurob.catalogue.joints import Fixed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3


def shared(m: Tables) -> Tables:
    """The robot with half of a body's inertia on each body without mass at the end of a branch that a loop welds to it.

    While the loop is closed the two are one, so that the motion is the same; the mass matrix of the tree alone is another.
    """
    own = np.array(m.inertia)
    for loop in m.loops:
        for a, b in ((loop.predecessor, loop.successor), (loop.successor, loop.predecessor)):
            if isinstance(loop.type, Fixed) and a.body and a.body not in m.parent and not own[a.body].any() and b.body:
                half = own[b.body] / 2
                own[b.body] = half
                own[a.body] = inertia.moved(half, a.X @ se3.inverse(b.X))
    return m if np.array_equal(own, m.inertia) else replace(m, inertia=own)
