"""Impossible routes of lines: coincident ends, points inside a pulley's circle."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import together
from modurob.algorithms.lines import Strung, strung
from modurob.algorithms.motions import MOTIONS
from modurob.algorithms.program import Run
from modurob.catalogue.lines import Swivel
from modurob.mechanism.tables import LineRow, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# places closer than this are one [m]
ONE_POINT = 1e-8


def line_faults(m: Tables, q: Array, run: Run = interpret) -> tuple[str, ...]:
    """What is wrong with the lines in one configuration, (nq,): which, where, and by how much."""
    q, v = together(q, np.zeros(m.nv))
    found = run(MOTIONS, m, {"q": q, "v": v}).results if m.lines else {}
    return tuple(text for s in strung(m, found, q, v) for text in _of_group(s))


def _of_group(s: Strung) -> Iterator[str]:
    for k, row in enumerate(s.rows):
        poses = [motion.X[..., k, :, :] for motion in s.motions]
        for n in range(len(poses) - 1):
            fault = _between(row, n, poses)
            if fault:
                yield f"line {row.name!r}: {fault}"


def _between(row: LineRow, n: int, poses: list[Array]) -> str | None:
    """The error between points n and n + 1."""
    nodes = row.force.nodes
    a, b = nodes[n], nodes[n + 1]
    if a.turns or b.turns:
        return _tangent_fault(n, poses, a, b)
    if isinstance(a, Swivel):
        return _swivel_fault(n, n + 1, poses, a)
    if isinstance(b, Swivel) and n == len(nodes) - 2:
        return _swivel_fault(n + 1, n, poses, b)
    apart = float(np.linalg.norm(se3.position(poses[n + 1]) - se3.position(poses[n])))
    if apart > ONE_POINT:
        return None
    return f"places {n} and {n + 1} are one point, {apart:.1e} m apart: which way it pulls is not known there"


def _tangent_fault(n: int, poses: list[Array], a: Any, b: Any) -> str | None:
    """Circles of signed radius have a common tangent if the distance of their centres is at least the difference of
    their radii.
    """
    plane = poses[n] if a.turns else poses[n + 1]
    way = se3.rotation(plane).T @ (se3.position(poses[n + 1]) - se3.position(poses[n]))
    apart = float(np.hypot(way[0], way[1]))
    r_a, r_b = (x.side * x.radius if x.turns else 0.0 for x in (a, b))
    if apart >= abs(r_a - r_b):
        return None
    return (
        f"places {n} ({a.kind}, radius {abs(r_a):.4g} m) and {n + 1} ({b.kind}, radius {abs(r_b):.4g} m) are {apart:.4g} m apart "
        f"in the pulley's plane, one inside the other's circle: expected {abs(r_a - r_b):.4g} m or more"
    )


def _swivel_fault(k: int, target: int, poses: list[Array], node: Any) -> str | None:
    d = se3.rotation(poses[k]).T @ (se3.position(poses[target]) - se3.position(poses[k]))
    apart = float(np.hypot(np.hypot(d[0], d[1]) - node.offset, d[2]))
    if apart >= node.radius:
        return None
    radius = f"inside its radius of {node.radius:.4g} m"
    return f"place {target} is {apart:.4g} m from the centre of the swivelling pulley at place {k}, {radius}"
