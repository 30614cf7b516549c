"""Tensegrity as a framework of nodes and members: force densities, self-stress, mechanisms, stability (Pellegrino; Skelton and de
Oliveira, Tensegrity Systems)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.caching import cached_property
from modurob.errors import InputError, explained
from modurob.spatial.scalars import Array, read_only
from modurob.statics.quadratic import quadratic_programme
from modurob.values import Value

# singular values of the equilibrium matrix this much smaller than the largest are none
RANK = 1e-9


class Modes(NamedTuple):
    """Small swings: frequencies [rad/s], those of falls negative, (n,), and their shapes, (n, nodes, 3)."""

    frequencies: Array
    shapes: Array


@explained
@dataclass(frozen=True, eq=False)
class Framework(Value):
    """Nodes, (n, 3) [m], bars and cables as pairs of nodes, and fixed nodes.

    A member of force density w = tension / length pulls its ends with w (p_b - p_a); w is positive in cables, negative
    in bars.

    >>> cross = mr.Framework([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], bars=[(0, 2), (1, 3)],
    ...                      cables=[(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> (cross.self_stress()[:, 0] / cross.self_stress()[0, 0]).round(9)
    array([ 1.,  1., -1., -1., -1., -1.])
    """

    nodes: ArrayLike
    bars: ArrayLike
    cables: ArrayLike
    fixed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        nodes = np.array(self.nodes, dtype=float)
        if nodes.ndim != 2 or nodes.shape[1] != 3 or not np.isfinite(nodes).all():
            raise InputError(f"nodes of shape {nodes.shape}: expected (n, 3), finite numbers [m]")
        object.__setattr__(self, "nodes", read_only(nodes))
        for what in ("bars", "cables"):
            object.__setattr__(self, what, read_only(_pairs(getattr(self, what), what, len(nodes))))
        for k in self.fixed:
            if not 0 <= k < len(nodes):
                raise InputError(f"fixed node {k}: expected one of 0 to {len(nodes) - 1}")

    @cached_property
    def members(self) -> Array:
        """Bars, then cables, (m, 2)."""
        return np.concatenate([self.bars, self.cables])  # type: ignore[arg-type]

    @cached_property
    def lengths(self) -> Array:
        """(m,) [m]."""
        return np.linalg.norm(self._ways, axis=-1)

    @cached_property
    def _ways(self) -> Array:
        p: Array = self.nodes  # type: ignore[assignment]
        return p[self.members[:, 1]] - p[self.members[:, 0]]

    @cached_property
    def _free(self) -> Array:
        """Coordinates that move, among 3 n."""
        kept = np.setdiff1d(np.arange(len(self.nodes)), self.fixed)  # type: ignore[arg-type]
        return (3 * kept[:, None] + np.arange(3)).ravel()

    @property
    def kind(self) -> int:
        """The class k: the largest number of bars that meet in one node."""
        return int(np.bincount(np.ravel(self.bars), minlength=1).max())

    def equilibrium_matrix(self) -> Array:
        """A, (free coordinates, members): force densities w exert -A w on the nodes; loads f are balanced if A w = f."""
        A = np.zeros((3 * len(self.nodes), len(self.members)))  # type: ignore[arg-type]
        for k, ((a, b), way) in enumerate(zip(self.members, self._ways, strict=True)):
            A[3 * a : 3 * a + 3, k], A[3 * b : 3 * b + 3, k] = -way, way
        return A[self._free]

    def self_stress(self) -> Array:
        """Force densities in balance without loads, a basis, (members, states)."""
        return _null(self.equilibrium_matrix())

    def mechanisms(self) -> Array:
        """Motions that change no length to first order, without rigid motions, a basis, (free coordinates, motions)."""
        moving = _null(self.equilibrium_matrix().T)
        rigid = self._rigid()
        return _null(np.vstack([rigid.T, _null(moving.T).T])) if rigid.size else moving

    def _rigid(self) -> Array:
        """Motions of the whole, where nothing is held, an orthonormal basis, (free coordinates, 6)."""
        if self.fixed:
            return np.zeros((len(self._free), 0))
        p: Array = self.nodes - np.mean(self.nodes, axis=0)  # type: ignore[operator]
        turns = [np.cross(e, p).ravel() for e in np.eye(3)]
        slides = [np.tile(e, len(p)) for e in np.eye(3)]
        U, s, _ = np.linalg.svd(np.stack([*slides, *turns], axis=-1), full_matrices=False)
        return U[:, s > RANK * s[0]]

    def stress_matrix(self, densities: ArrayLike) -> Array:
        """Omega, (nodes, nodes): members in balance pull node i with -sum_j Omega_ij p_j."""
        w = self._densities(densities)
        omega = np.zeros((len(self.nodes),) * 2)  # type: ignore[arg-type]
        for (a, b), x in zip(self.members, w, strict=True):
            omega[[a, b], [a, b]] += x
            omega[[a, b], [b, a]] -= x
        return omega

    def stiffness(self, densities: ArrayLike, stiffness: ArrayLike) -> Array:
        """d force / d motion of the free coordinates, (n, n) [N/m]: A diag(k / l²) A^T of members' stiffness [N/m], and what the
        prestress adds."""
        A = self.equilibrium_matrix()
        k = np.broadcast_to(np.asarray(stiffness, dtype=float), (len(self.members),)) / self.lengths**2
        w = self._densities(densities)
        # along a member its stiffness is that of the law; across it, tension by length, which stands in the stress matrix
        geometric = np.kron(self.stress_matrix(w), np.eye(3))[np.ix_(self._free, self._free)]
        return A @ ((k - w / self.lengths**2)[:, None] * A.T) + geometric

    def is_stable(self, densities: ArrayLike) -> bool:
        """Whether the prestress stabilises every mechanism: d^T Omega d > 0 for those that change no length to first order (second
        order)."""
        D = self.mechanisms()
        if not D.shape[1]:
            return True
        omega = np.kron(self.stress_matrix(densities), np.eye(3))[np.ix_(self._free, self._free)]
        return bool(np.linalg.eigvalsh(D.T @ omega @ D).min() > RANK * np.abs(self._densities(densities)).max())

    def prestress(self, least: float = 1.0, loads: ArrayLike | None = None) -> Array:
        """Force densities, (members,), of the smallest sum of squares that hold loads, (nodes, 3) [N], with at least
        `least` [N/m] in every cable; an error if there are none."""
        A = self.equilibrium_matrix()
        f = np.zeros(len(self._free)) if loads is None else np.ravel(np.asarray(loads, dtype=float))[self._free]
        lower = np.concatenate([np.full(len(self.bars), -np.inf), np.full(len(self.cables), float(least))])  # type: ignore[arg-type]
        w = _smallest(A, f, lower)
        if w is None:
            raise InputError(
                f"no force densities hold {'these loads' if loads is not None else 'this shape'} with every cable at {least:g} "
                f"N/m or more: it has {self.self_stress().shape[1]} states of self-stress"
            )
        return w

    def modes(self, densities: ArrayLike, stiffness: ArrayLike, masses: ArrayLike) -> Modes:
        """Modal analysis about the prestressed shape, for masses of the nodes [kg], including rigid motions."""
        K = self.stiffness(densities, stiffness)
        m = np.repeat(np.broadcast_to(np.asarray(masses, dtype=float), (len(self.nodes),)), 3)[self._free]  # type: ignore[arg-type]
        root = 1 / np.sqrt(m)
        squares, shapes = np.linalg.eigh(root[:, None] * K * root)
        whole = np.zeros((len(squares), 3 * len(self.nodes)))  # type: ignore[arg-type]
        whole[:, self._free] = (root[:, None] * shapes).T
        return Modes(np.sign(squares) * np.sqrt(np.abs(squares)), whole.reshape(len(squares), -1, 3))

    def _densities(self, densities: ArrayLike) -> Array:
        w = np.asarray(densities, dtype=float)
        if w.shape != (len(self.members),):
            raise InputError(f"force densities of shape {w.shape}: expected ({len(self.members)},), bars first")
        return w


def _pairs(given: ArrayLike, what: str, n: int) -> Array:
    pairs = np.array(given, dtype=int).reshape(-1, 2)
    for a, b in pairs:
        if a == b or not (0 <= a < n and 0 <= b < n):
            raise InputError(f"{what}: ({a}, {b}): expected two different nodes of 0 to {n - 1}")
    return pairs


def _smallest(A: Array, f: Array, lower: Array) -> Array | None:
    """The w of the smallest sum of squares with A w = f and w >= lower, relative to the size of f."""
    N = _null(A)
    first = np.linalg.lstsq(A, f, rcond=RANK)[0]
    if np.abs(A @ first - f).max(initial=0.0) > 1e-8 * (1 + np.abs(f).max(initial=0.0)):
        return None
    bound = np.isfinite(lower)
    z = (
        quadratic_programme(
            np.eye(N.shape[1]), N.T @ first, N[bound], (lower - first)[bound], np.full(int(bound.sum()), np.inf)
        )
        if N.shape[1]
        else np.zeros(0)
    )
    if z is None or ((first + N @ z)[bound] < lower[bound] - 1e-6).any():
        return None
    return first + N @ z


def _null(A: Array) -> Array:
    """An orthonormal basis of x with A x = 0, as columns."""
    if not A.shape[0]:
        return np.eye(A.shape[1])
    _, s, Vt = np.linalg.svd(A)
    return Vt[int((s > RANK * max(s.max(initial=0.0), 1e-300)).sum()) :].T


@explained
def prism(
    bars: int = 3, radius: float = 1.0, height: float = 1.0, twist: float | None = None, ratio: float = 1.0
) -> Framework:
    """A tensegrity prism: two polygons of `bars` corners, the upper one `ratio` times as wide and rotated by `twist`
    [rad].

    Bars connect corner i below to i + 1 above, verticals i to i, and diagonals i to i - 1 unless the twist is the one
    at which none are needed: pi/2 - pi/bars, 30 degrees for three, the default. Members are bars, then the polygon
    below, the one above, verticals and diagonals.

    >>> w = mr.prism(3).self_stress()[:, 0]
    >>> (-w / w[0])[[3, 6, 9]].round(6)
    array([0.57735, 0.57735, 1.     ])
    """
    if bars < 3 or not (radius > 0 and height > 0 and ratio > 0):
        raise InputError(
            f"prism of {bars} bars, radius {radius}, height {height}, ratio {ratio}: expected 3 or more, and lengths above zero"
        )
    plain = np.pi / 2 - np.pi / bars
    turn = plain if twist is None else float(twist)
    i = np.arange(bars)
    below = np.stack([np.cos(2 * np.pi * i / bars), np.sin(2 * np.pi * i / bars), 0 * i], axis=-1) * radius
    angles = 2 * np.pi * i / bars + turn
    above = np.stack([ratio * radius * np.cos(angles), ratio * radius * np.sin(angles), np.full(bars, height)], axis=-1)
    after, before = (i + 1) % bars, (i - 1) % bars
    cables = [*zip(i, after, strict=True), *zip(bars + i, bars + after, strict=True), *zip(i, bars + i, strict=True)]
    if abs(turn - plain) > 1e-9:
        cables += list(zip(i, bars + before, strict=True))
    return Framework(np.concatenate([below, above]), list(zip(i, bars + after, strict=True)), cables)
