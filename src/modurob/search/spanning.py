"""Arms: how much room their last module reaches, and how hard they have to hold themselves there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modurob.errors import InputError
from modurob.robot import Assembly
from modurob.search.clearance import Clearance
from modurob.search.task import TASKS, Measures, Refused, Task


@TASKS.register("span")
@dataclass(frozen=True)
class Span(Task):
    """The volume [m³] that the module farthest from the base reaches within the joint limits without self-collision,
    and the largest share of a joint's effort that the arm's own weight requires there.

    The base is the end of the assembly with the longest path. Configurations are `samples` random ones, the same for
    all designs with the same number of joints; arms that are too weak to hold themselves in more than `most` of them
    are refused.

    >>> found = mr.Span(samples=200).measures(mr.load("crab"))
    >>> found["refused"], bool(found["volume"] > 0)
    ('', True)
    """

    samples: int = 1000
    cell: float = 0.05  # edge of the cells that the volume is counted in [m]
    most: float = 0.9
    kind: ClassVar[str] = "span"
    goals: ClassVar[Mapping[str, int]] = {"volume": 1, "effort": -1}
    units: ClassVar[Mapping[str, str]] = {"volume": "m³"}

    def __post_init__(self) -> None:
        for name in ("samples", "cell", "most"):
            x = getattr(self, name)
            if not isinstance(x, int | float) or isinstance(x, bool) or not 0 < x < np.inf:
                raise InputError(f"{name} {x!r:.40} of a span: expected a positive number")

    def measured(self, assembly: Assembly) -> Measures:
        base, tip = farthest(assembly)
        robot = assembly.mechanism(base=base)
        if not robot.nv:
            raise Refused("no joint moves")
        low, high = np.maximum(robot.limits.lower, -np.pi), np.minimum(robot.limits.upper, np.pi)
        q = np.random.default_rng(0).uniform(low, high, size=(int(self.samples), robot.nv))
        q = q[~Clearance(assembly, robot).meets(q)]
        part = np.abs(robot.gravity_forces(q)) / robot.effort_limit
        able = (part <= 1).all(axis=1)
        if not len(q) or 1 - able.mean() > self.most:
            raise Refused("too weak to hold itself, or in its own way")
        cells = np.unique(np.floor(robot.frame_pose(q[able], tip)[:, :3, 3] / self.cell), axis=0)
        return {"volume": len(cells) * self.cell**3, "effort": float(part[able].max()), "able": float(able.mean())}


def farthest(assembly: Assembly) -> tuple[str, str]:
    """The two ends with the most modules between them, the first in order of the assembly."""
    start = assembly.traversal(order="breadth").order[-1]
    end = assembly.traversal(start, order="breadth").order[-1]
    names = list(assembly.modules)
    one, two = sorted((start, end), key=names.index)
    return one, two
