"""Maps of the region that a frame can reach, of the directions it can have there, and of its manipulability.

Configurations are drawn uniformly within the joint limits (a scrambled Sobol sequence, the same for the same seed) and
sorted into cells. A map shows the samples: a cell without a sample may still be reached by few configurations.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.configuration import neutral
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.jacobians import jacobian
from modurob.algorithms.kinematics import forward_kinematics
from modurob.algorithms.program import Run
from modurob.catalogue.reading import write_figure
from modurob.errors import InputError, choices
from modurob.mechanism.tables import Joint, Tables
from modurob.spatial.scalars import Array

AT_ONCE = 1 << 14  # configurations computed together
IN_A_CELL = 16  # samples on average
BANDS = 8  # of heights, and of turns: directions are told apart by 64 parts of equal area
ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)  # bits set in each byte
MOST_CELLS = 20_000_000
QUANTITIES = {
    "count": "configurations in the cell",
    "dexterity": "part of all directions",
    "manipulability": "largest manipulability",
}


@dataclass(frozen=True, eq=False)
class ReachMap:
    """Cells of a box in world axes, and the samples in each, arrays (nx, ny, nz).

    `count` is the number of configurations that brought the frame's origin there, `dexterity` the share of all
    directions, of 64 of equal area, that its z axis had there, from 0 to 1, `manipulability` the largest. `lower` is
    the corner of the first cell, `cell` the edge [m]. Dexterity is a lower bound: unless `count` is some hundreds, more
    samples or larger cells show more directions.

    >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
    >>> reach = arm.reach_map("tip", samples=4096, cell=0.25)
    >>> reach.samples, int(reach.count.sum()), reach.cell
    (4096, 4096, 0.25)
    """

    name: str
    frame: str
    samples: int
    lower: Array
    cell: float
    count: Array
    dexterity: Array
    manipulability: Array

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.count.shape))
        return f"ReachMap({self.name!r}, frame {self.frame!r}, {self.samples} configurations, {size} cells of {self.cell:.3g} m)"

    @property
    def volume(self) -> float:
        """Of the cells that were reached [m³].

        >>> reach = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)]).reach_map("tip", cell=0.05)
        >>> 9 < reach.volume / 0.05 < 11  # over the height of the cells: pi (1.8² - 0.2²) m²
        True
        """
        return float((self.count > 0).sum() * self.cell**3)

    def reached(self, points: Any) -> Array:
        """Whether points (..., 3) [m] lie in cells that were reached, (...) bool.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> arm.reach_map("tip", samples=4096).reached([[1.0, 0.5, 0.0], [2.0, 0.0, 0.0]])
        array([ True, False])
        """
        at = np.floor((np.asarray(points, float) - self.lower) / self.cell).astype(int)
        inside = np.all((at >= 0) & (at < self.count.shape), axis=-1)
        at = np.where(inside[..., None], at, 0)
        return inside & (self.count[tuple(np.moveaxis(at, -1, 0))] > 0)

    def slice(self, axis: str = "y", at: float = 0.0, what: str = "count") -> Array:
        """The cells of one quantity in the plane across `axis` at a coordinate [m], (n, m): count, dexterity or manipulability.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> reach = arm.reach_map("tip", samples=4096)
        >>> int(reach.slice("z").sum())
        4096
        """
        if what not in QUANTITIES:
            raise InputError(f"no quantity {what!r:.40} in the map: {choices(str(what), QUANTITIES)}")
        k = _axis(axis)
        i = int(np.floor((at - self.lower[k]) / self.cell))
        if not 0 <= i < self.count.shape[k]:
            low, high = self.lower[k], self.lower[k] + self.cell * self.count.shape[k]
            raise InputError(f"the plane {axis} = {at:g} m is outside the map: expected {low:.4g} to {high:.4g} m")
        return getattr(self, what).take(i, axis=k)

    def plot(
        self,
        path: str | Path | None = None,
        axis: str = "y",
        at: float = 0.0,
        what: str = "manipulability",
        ax: Any = None,
    ) -> Any:
        """Draw a slice across `axis` at a coordinate [m] into `ax` or a new figure, written to `path` if given; returns the axes.

        >>> arm = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
        >>> picture = arm.reach_map("tip", samples=4096).plot("reach.png", axis="z", what="manipulability")
        """
        import matplotlib.pyplot as plt  # slow to import, and only pictures need it

        values = self.slice(axis, at, what).astype(float)
        shown = np.where(self.slice(axis, at, "count") > 0, values, np.nan)
        across, up = (k for k in range(3) if k != _axis(axis))
        if ax is None:
            ax = plt.figure(figsize=(6.4, 5), layout="constrained").add_subplot()
        ends = [self.lower[k] + x * self.cell * self.count.shape[k] for k in (across, up) for x in (0, 1)]
        image = ax.imshow(shown.T, origin="lower", extent=ends, cmap="viridis", interpolation="nearest")
        ax.set(xlabel=f"{'xyz'[across]} [m]", ylabel=f"{'xyz'[up]} [m]", aspect="equal")
        ax.set_title(f"{self.name}: {self.frame} at {axis} = {at:g} m")
        ax.figure.colorbar(image, ax=ax, label=QUANTITIES[what], shrink=0.8)
        if path is not None:
            write_figure(Path(path), ax.figure)
            plt.close(ax.figure)
        return ax


def _axis(axis: str) -> int:
    if axis not in ("x", "y", "z"):
        raise InputError(f"axis {axis!r:.40}: valid: x, y, z")
    return "xyz".index(axis)


class Seen(NamedTuple):
    """What a frame did in each sample: its origin (n, 3), the part of directions (n,) it looked to, and how well it moved (n,)."""

    p: Array
    direction: Array
    manipulability: Array


def reach(
    m: Tables, frame: str, samples: int, cell: float | None, rows: list[int], seed: int, run: Run = interpret
) -> ReachMap:
    """The map of a frame over configurations within the joint limits."""
    if not isinstance(samples, int) or not 1 <= samples <= 1 << 26:
        raise InputError(f"samples {samples!r:.40}: expected a whole number from 1 to {1 << 26}")
    parts = [_seen(m, q, frame, rows, run) for q in configurations(m, frame, samples, seed)]
    seen = Seen(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return _sorted(m.name, frame, seen, cell)


def configurations(m: Tables, frame: str, samples: int, seed: int) -> Iterator[Array]:
    """Configurations (k, nq) in which the joints before a frame lie evenly within their limits, others at zero; `samples` in all,
    rounded up to a power of two."""
    from scipy.stats import qmc  # slow to import

    joints = [m.joints[i - 1] for i in m.ancestors[m.frame(frame).body]]
    owners = {j.q_slice.start: j for j in m.joints if not j.mimics}
    moving = list(dict.fromkeys(j.q_slice.start for j in joints if j.type.nq))
    for start in moving:
        if owners[start].type.nq != owners[start].type.nv:
            raise InputError(
                f"joint {owners[start].name!r} ({owners[start].kind}) has no limits to draw within: fix the base"
            )
    if m.constraints:
        raise InputError(
            f"{m.name} has loops ({m.constraints[0].name}): evenly drawn configurations would leave them open"
        )
    places = [k for start in moving for k in range(start, owners[start].q_slice.stop)]
    if not places:
        raise InputError(f"no joint moves frame {frame!r}: expected one beyond a joint")
    low, high = (np.concatenate(x) for x in zip(*(_limits(m, owners[s]) for s in moving), strict=True))
    power = int(np.ceil(np.log2(samples)))
    draws = low + (high - low) * qmc.Sobol(len(places), seed=seed).random_base2(power)  # type: ignore[call-arg]
    for start in range(0, len(draws), AT_ONCE):
        block = draws[start : start + AT_ONCE]
        q = np.tile(neutral(m), (len(block), 1))
        q[:, places] = block
        yield q


def _limits(m: Tables, joint: Joint) -> tuple[Array, Array]:
    """Limits of a joint; half a turn or a metre each way where it has none."""
    free = np.array([np.pi if unit == "rad" else 1.0 for unit in joint.type.units])
    low, high = m.limits.lower[joint.v_slice], m.limits.upper[joint.v_slice]
    return np.where(np.isfinite(low), low, -free), np.where(np.isfinite(high), high, free)


def _seen(m: Tables, q: Array, frame: str, rows: list[int], run: Run) -> Seen:
    X = forward_kinematics(m, q, run)[frame]
    z = X[:, :3, 2]
    height = np.clip(((z[:, 2] + 1) / 2 * BANDS).astype(int), 0, BANDS - 1)
    turn = np.clip(((np.arctan2(z[:, 1], z[:, 0]) / (2 * np.pi) + 0.5) * BANDS).astype(int), 0, BANDS - 1)
    J = jacobian(m, q, frame, run)[:, rows]
    gram = J @ np.swapaxes(J, -1, -2) if J.shape[-2] <= J.shape[-1] else np.swapaxes(J, -1, -2) @ J
    return Seen(X[:, :3, 3], BANDS * height + turn, np.sqrt(np.maximum(np.linalg.det(gram), 0.0)))


def _cell(extent: Array, samples: int) -> float:
    """The edge of cells that hold some samples each on average, in as many directions as there are, 40 along the widest at most."""
    wide = extent[extent > 1e-6 * extent.max()]
    if not len(wide):
        return 0.01
    return float(max((wide.prod() * IN_A_CELL / samples) ** (1 / len(wide)), extent.max() / 40))


def _sorted(name: str, frame: str, seen: Seen, cell: float | None) -> ReachMap:
    """The samples, cell by cell."""
    low, high = seen.p.min(axis=0), seen.p.max(axis=0)
    if cell is None:
        cell = _cell(high - low, len(seen.p))
    if not 0 < cell < np.inf:
        raise InputError(f"cell {cell!r:.40}: expected an edge in metres, more than zero")
    shape = np.maximum(np.ceil((high - low) / cell - 1e-6), 1).astype(int)
    if shape.prod() > MOST_CELLS:
        raise InputError(f"cells of {cell:g} m would be {shape.prod()}: expected at most {MOST_CELLS}, so larger cells")
    lower = (low + high) / 2 - shape * cell / 2
    at = np.ravel_multi_index(tuple(np.clip(((seen.p - lower) / cell).astype(int), 0, shape - 1).T), tuple(shape))
    size = int(shape.prod())
    directions, best = np.zeros(size, dtype=np.uint64), np.zeros(size)
    np.bitwise_or.at(directions, at, np.uint64(1) << seen.direction.astype(np.uint64))
    np.maximum.at(best, at, seen.manipulability)
    quantities = (
        np.bincount(at, minlength=size),
        ONES[directions.view(np.uint8)].reshape(size, -1).sum(axis=1) / BANDS**2,
        best,
    )
    return ReachMap(name, frame, len(seen.p), lower, float(cell), *(x.reshape(shape) for x in quantities))
