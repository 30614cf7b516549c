"""Where cables can hold a platform: wrench closure and wrench feasibility, and the pose that lengths of cables give.

Cables are straight and have no weight: sag is ignored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.constraints.actuation import inputs_of
from modurob.errors import ClosureError, InputError, explained
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, as_array

# entries of a unit null vector this small are zero
POSITIVE = 1e-9
# lengths that count as met [m], and the number of Newton steps towards them
MET, STEPS, LONGEST = 1e-12, 60, 0.3


@explained
def wrench_closure(robot: Mechanism, q: ArrayLike) -> Array:
    """Whether the inputs of a robot without loops, some of which can only pull, can produce any force, (...) of
    booleans.

    B has full rank, and a null vector that is positive at the inputs that pull.

    >>> b = mr.Builder("slide", gravity=(0, 0, 0))
    >>> box = b.body("box", mr.spatial.inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Prismatic((1, 0, 0)),
    ...              properties=mr.JointProperties(effort=0.0))
    >>> for side in (-1.0, 1.0):
    ...     b.line(f"cable {side}", [("world", (side, 0, 0)), ("box", (0, 0, 0))], mr.Tension())
    >>> mr.wrench_closure(b.build(), [[0.0], [2.0]])
    array([ True, False])
    """
    q = as_array(q)
    _require_tree(robot)
    given = inputs_of(robot, robot._q(q))
    n, inputs = given.B.shape[-2:]
    if inputs == n + 1 and (given.lower >= 0).all():
        return _one_null_vector(given.B)
    flat = q.reshape(-1, robot.nq)
    return np.array([robot.actuation(x).closure for x in flat], dtype=bool).reshape(q.shape[:-1])


def _one_null_vector(B: Array) -> Array:
    """Whether all entries of the null vector have one sign."""
    _, s, Vt = np.linalg.svd(B)
    null = Vt[..., -1, :]
    regular = s[..., -1] > 1e-9 * s[..., 0]
    return regular & ((null > POSITIVE).all(axis=-1) | (null < -POSITIVE).all(axis=-1))


@explained
def wrench_feasible(robot: Mechanism, q: ArrayLike, force: ArrayLike | None = None) -> Array:
    """Whether inputs within their bounds can produce the generalised force, (..., nv) [N m or N], (...) of booleans.

    By default the force is the one that holds the robot's weight.

    >>> b = mr.Builder("lift")
    >>> box = b.body("box", mr.spatial.inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Prismatic((0, 0, 1)),
    ...              properties=mr.JointProperties(effort=0.0))
    >>> b.line("cable", [("world", (0, 0, 1)), ("box", (0, 0, 0))], mr.Tension(upper=50.0))
    >>> mr.wrench_feasible(b.build(), [[0.0], [2.0]])
    array([ True, False])
    """
    q = as_array(q)
    _require_tree(robot)
    wanted = robot.gravity_forces(q) if force is None else as_array(force)
    pairs = zip(
        q.reshape(-1, robot.nq), np.broadcast_to(wanted, (*q.shape[:-1], robot.nv)).reshape(-1, robot.nv), strict=True
    )
    found = []
    for x, f in pairs:
        own = robot.actuation(x)
        found.append(own.feasible(own.G.T @ f) is not None)
    return np.array(found, dtype=bool).reshape(q.shape[:-1])


def _require_tree(robot: Mechanism) -> None:
    if robot.constraints:
        names = ", ".join(c.name for c in robot.constraints)
        raise InputError(f"{robot.name} has loops ({names}): ask for robot.actuation(q) of one configuration at a time")


@explained
def from_lengths(robot: Mechanism, lengths: ArrayLike, q0: ArrayLike) -> Array:
    """The configuration nearest to q0, (nq,), at which the lines have these lengths, (lines,) [m]: forward kinematics
    of a platform.

    Newton steps in the least-squares sense; an error if there is no such configuration nearby.

    >>> b = mr.Builder("platform")
    >>> box = b.body("box", mr.spatial.inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Prismatic((0, 0, 1)))
    >>> b.line("cable", [("world", (0, 0, 1)), ("box", (0, 0, 0))], mr.Tension())
    >>> mr.from_lengths(b.build(), [1.5], [0.0]).round(9)
    array([-0.5])
    """
    wanted, q = as_array(lengths), robot._q(q0)
    if wanted.shape != (len(robot.lines),):
        raise InputError(f"lengths of shape {wanted.shape}: expected ({len(robot.lines)},), one for each line")
    for _ in range(STEPS):
        missing = wanted - robot.line_lengths(q)
        # drums take in what is wound; lengths of routes do not change with them
        J = _route_arms(robot, q)
        step = np.linalg.lstsq(J, missing, rcond=1e-12)[0]
        if np.abs(step).max(initial=0.0) < MET:
            break
        q = robot.integrate(q, step * min(1.0, LONGEST / np.abs(step).max()))
    missing = np.abs(wanted - robot.line_lengths(q)).max(initial=0.0)
    if missing > 1e3 * MET:
        raise ClosureError(
            f"{robot.name}: lines miss their lengths by {missing:.3g} m after {STEPS} steps: start closer, or give lengths that fit"
        )
    return q


def _route_arms(robot: Mechanism, q: Array) -> Array:
    """dL/dq: `line_jacobian` without the radii of drums."""
    J = np.array(robot.line_jacobian(q))
    for k, row in enumerate(robot.lines):
        for drum, i in zip(row.force.drums, row.joints, strict=True):
            if i >= 0:
                J[k, robot.joints[i].v_slice.start] -= robot.joints[i].ratio * row.force.nodes[drum].drum
    return J
