"""Six turns without special geometry: all solutions from the eigenvalues of a 16 x 16 matrix.

A line with point p and direction l on it has fifteen numbers, (p, l, p x l, (p.p) l - 2 (p.l) p, p.p, p.l, 1), that a rigid motion
transforms linearly (Raghavan and Roth, Inverse kinematics of the general 6R manipulator and related linkages). So the loop
E_a E_b E_c (axis d) = E.^-1 E.^-1 ... (axis d) of four consecutive joints and two others is 14 equations linear in the waves
of the two, of which six are left for the first three: (A + B cos q_a + C sin q_a) (1, c_b, s_b) x (1, c_c, s_c) = 0. Times the
cosine and
sine of q_b / 2 that is a matrix polynomial of size 12 in tan(q_a / 2); with its eight roots at +-i removed it has 16. Five turns
and a slide, and most orders of four and two, are solved alike, with a slide for joint a: 1, q_a, q_a² in the place of 1, cos q_a,
sin q_a; roots that are missing of 24 are at infinity.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.steps import apply
from modurob.kinematics.inverse.axes import Axis, motions
from modurob.kinematics.inverse.finish import Candidates
from modurob.kinematics.inverse.subproblems import Turn, sp1
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, atan2, cos, cross, dot, sin

# eigenvalues whose angle has less than this for imaginary part are tried as real, and real ones closer than this are one cluster
IMAGINARY = 1e-4
CLUSTER = 1e-5
# what keeps a pencil from being regular: the condition of its leading matrix, and the spread of singular values of W
CONDITION = 1e8
SPREAD = 1e-9
# real roots closer than this are equal for all poses, and how much a pencil with such is worth
EQUAL = 1e-9
UNWANTED = 1e-4
TURNS = np.arange(8) * np.pi / 4
# slides from which roots are measured, and the inverse of the longest that counts, over the size of the chain
SLIDES = np.array([-1.618, -1.1, -0.577, -0.1337, 0.2718, 0.6931, 1.2021, 1.847])
FARTHEST = 1e-3
I3 = np.eye(3)


# ---- lines ----


def line(h: Array, o: Array) -> Array:
    """The fifteen numbers of a line through o along h, (..., 15)."""
    pp, pl = dot(o, o)[..., None], dot(o, h)[..., None]
    return np.concatenate([o, h, cross(o, h), pp * h - 2 * pl * o, pp, pl, np.ones_like(pp)], axis=-1)


def lifted(X: Array) -> Array:
    """The matrix that takes the numbers of a line to those of the line moved by X, (..., 15, 15)."""
    R, t = se3.rotation(X), se3.position(X)
    S, tt = so3.skew(t), dot(t, t)[..., None, None]
    Z = np.zeros((*X.shape[:-2], 15, 15), dtype=X.dtype)
    p, l, m, n = (slice(3 * k, 3 * k + 3) for k in range(4))
    for part in (p, l, m, n):
        Z[..., part, part] = R
    row = (np.swapaxes(R, -1, -2) @ t[..., None])[..., 0]
    Z[..., p, 14] = t
    Z[..., m, l] = S @ R
    Z[..., n, m] = -2 * S @ R
    Z[..., n, l] = tt * R - 2 * t[..., :, None] * row[..., None, :]
    Z[..., n, 13] = -2 * t
    Z[..., 12, p], Z[..., 12, 14] = 2 * row, tt[..., 0, 0]
    Z[..., 13, l] = row
    Z[..., 12, 12] = Z[..., 13, 13] = Z[..., 14, 14] = 1
    return Z


def waves(a: Axis, back: bool = False) -> Array:
    """Z_0, Z_c, Z_s with Z(q) = Z_0 + Z_c cos q + Z_s sin q for the turn about an axis, or the turn back, (3, 15, 15);
    of a slide those of 1, q, q²."""
    if not a.turns:
        on, off = (lifted(se3.pose(None, sign * a.h)) for sign in ((-1, 1) if back else (1, -1)))
        return np.stack([np.eye(15), (on - off) / 2, (on + off) / 2 - np.eye(15)])
    along = np.outer(a.h, a.h)
    Z = np.zeros((3, 15, 15))
    for k, R in enumerate((along, I3 - along, so3.skew(-a.h if back else a.h))):
        Z[k, :12, :12] = np.kron(np.eye(4), R)
    Z[0, 12:, 12:] = I3
    there, here = lifted(se3.pose(None, a.o)), lifted(se3.pose(None, -a.o))
    return there @ Z @ here


# ---- pencils ----


@dataclass(frozen=True, eq=False)
class Pencil:
    """One way to close the loop: joints first, first + 1, first + 2 move the axis of first + 3; the two others stand on the
    other side."""

    axes: tuple[Axis, ...]
    first: int  # of the joint whose angle, or slide, is the eigenvalue, from 0
    backwards: bool  # the axes are those of the reversed chain, for the inverse motion
    left: Array  # Z_k G, (3, 14, 9)
    before: Array  # (i, 14, 15)
    behind: Array  # (j, 15), i j = 9: the columns of W are before lifted(T) behind
    frame: Array  # complement of the roots at +-i, (24, 16), with slides all, (24, 24)

    @property
    def turns(self) -> bool:
        """Whether the eigenvalue is an angle."""
        return self.axes[self.first].turns

    @property
    def others(self) -> list[int]:
        """The two joints on the other side: before T come first - 1, ..., 1, behind it 6, 5, ..."""
        return [*range(self.first)[::-1], *range(self.first + 4, 6)[::-1]]

    def weights(self, x: ArrayLike, k: int = 0) -> Array:
        """Those of the eigenvalue, or of the k-th joint behind it, (..., 3)."""
        return weights_of(np.asarray(x), self.axes[self.first + k].turns)


def weights_of(x: Array, turns: bool = True) -> Array:
    """(1, cos x, sin x) of an angle, (1, x, x²) of a slide, (..., 3)."""
    return np.stack([np.ones_like(x), cos(x), sin(x)] if turns else [np.ones_like(x), x, x * x], axis=-1)


def pencil(axes: Sequence[Axis], first: int, backwards: bool = False) -> Pencil:
    """The pencil of a chain with joint `first`, 0 to 2, for its eigenvalue."""
    axes = tuple(a.reversed() for a in axes[::-1]) if backwards else tuple(axes)
    a, b, c, d = axes[first : first + 4]
    Zb, Zc = waves(b), waves(c)
    G = np.einsum("iab,jbc,c->aij", Zb, Zc, line(d.h, d.o)).reshape(15, 9)
    left = (waves(a) @ G)[:, :14]
    # E_a E_b E_c (axis d) = E_{first-1}^-1 ... E_1^-1 T E_6^-1 ... E_{d+1}^-1 (axis d)
    before = _products([waves(x, back=True) for x in axes[:first][::-1]])[:, :14]
    behind = _products([waves(x, back=True) for x in axes[first + 4 :][::-1]]) @ line(d.h, d.o)
    frame = _complement(left) if all(x.turns for x in axes) else np.eye(24)
    return Pencil(axes, first, backwards, left, before, behind, frame)


def _products(factors: list[Array]) -> Array:
    """All products of one matrix of each factor, those of the first slowest, (3^k, 15, 15)."""
    found = np.eye(15)[None]
    for Z in factors:
        found = np.einsum("iab,jbc->ijac", found, Z).reshape(-1, 15, 15)
    return found


def _complement(left: Array) -> Array:
    """An orthonormal basis of what is left of the companion matrix without the eigenvectors of +-i, (24, 16)."""
    whole = twelve(left[1]) + 1j * twelve(left[2])
    null = np.linalg.svd(whole)[2][-4:].conj().T
    re, im = np.real(null), np.imag(null)
    spurious = np.block([[re, im], [-im, re]])
    return np.linalg.svd(spurious)[0][:, 8:]


def twelve(M: Array) -> Array:
    """Equations in (1, c, s) x (1, c', s'), (..., r, 9), as twice as many in (cos h, sin h, cos 3h, sin 3h) x (1, c', s'), h
    half the
    first angle: times cos h and times sin h."""
    one, c, s = (M[..., 3 * k : 3 * k + 3] for k in range(3))
    by_cos = [one + c / 2, s / 2, c / 2, s / 2]
    by_sin = [s / 2, one - c / 2, -s / 2, c / 2]
    return np.concatenate([np.concatenate(by, axis=-1) for by in (by_cos, by_sin)], axis=-2)


class Equations(NamedTuple):
    """For each pose: W, the six equations A, B, C as 12 x 12, and how regular W is."""

    W: Array  # (m, 14, 9)
    ABC: Array  # (3, m, 12, 12)
    spread: Array  # (m,) smallest over largest singular value of the eight columns of W


def equations(p: Pencil, T: Array) -> Equations:
    """The equations left for the first three joints, by the left null space of the eight columns of W that have waves."""
    Z = lifted(se3.inverse(T) if p.backwards else T)
    W = np.einsum("iab,mbj->maij", p.before, Z @ p.behind.T).reshape(-1, 14, 9)
    U, sigma, _ = np.linalg.svd(W[..., 1:])
    N = U[..., :, 8:].swapaxes(-1, -2)
    left = [N @ p.left[k] for k in range(3)]
    left[0] = left[0].copy()
    left[0][..., 0] -= (N @ W[..., :1])[..., 0]
    return Equations(W, np.stack([twelve(x) for x in left]), sigma[:, 7] / sigma[:, 0])


class Roots(NamedTuple):
    """Angles or slides of the first joint, complex, (m, 16 or 24), and the condition of the leading matrix, (m,)."""

    angle: Array
    condition: Array


def roots(p: Pencil, eq: Equations) -> Roots:
    """The sixteen angles: q = phi + 2 atan x with (P2 x² + P1 x + P0) v = 0, phi the one of eight that makes P2 most regular."""
    if not p.turns:
        return _slides(eq)
    waves = np.stack([np.cos(TURNS), np.sin(TURNS)])[..., None, None]
    every = polynomial(*eq.ABC[:, :, None], *waves)
    condition = np.linalg.cond(every[0])
    condition = np.where(np.isfinite(condition), condition, np.inf)
    best = condition.argmin(axis=1)
    take = np.arange(len(best))
    P2, P1, P0 = (P[take, best] for P in every)
    phi, right = TURNS[best], np.concatenate([P0, P1], axis=-1)
    regular = condition[take, best] < 1e15
    P2 = np.where(regular[:, None, None], P2, np.eye(12))
    companion = np.zeros((len(best), 24, 24))
    companion[:, :12, 12:] = np.eye(12)
    companion[:, 12:] = -np.linalg.solve(P2, right)
    x = np.linalg.eigvals(p.frame.T @ companion @ p.frame).astype(complex)
    # 2 atan x, also for x at +-i
    angle = phi[:, None] - 1j * (np.log(1 + 1j * x + 1e-300) - np.log(1 - 1j * x + 1e-300))
    return Roots(angle, np.where(regular, condition[take, best], np.inf))


def polynomial(A: Array, B: Array, C: Array, c: Array, s: Array) -> tuple[Array, Array, Array]:
    """P2, P1, P0 with P2 x² + P1 x + P0 = (1 + x²) (A + B cos q + C sin q) for q = phi + 2 atan x, c and s the waves of phi."""
    along, across = B * c + C * s, C * c - B * s
    return A - along, 2 * across, A + along


def _slides(eq: Equations) -> Roots:
    """The slides: q = d + 1 / x with (P(d) x² + P'(d) x + C) v = 0, d the one of eight that makes P(d) most regular; those at
    infinity are not real."""
    A, B, C = (M[:, None] for M in eq.ABC)
    d = SLIDES[:, None, None]
    P = A + B * d + C * d * d
    condition = np.linalg.cond(P)
    best = np.where(np.isfinite(condition), condition, np.inf).argmin(axis=1)
    take = np.arange(len(best))
    regular = condition[take, best] < 1e15
    lead, here = np.where(regular[:, None, None], P[take, best], np.eye(12)), SLIDES[best][:, None]
    slope = B[:, 0] + 2 * C[:, 0] * here[..., None]
    companion = np.zeros((len(best), 24, 24))
    companion[:, :12, 12:] = np.eye(12)
    companion[:, 12:] = -np.linalg.solve(lead, np.concatenate([C[:, 0], slope], axis=-1))
    x = np.linalg.eigvals(companion).astype(complex)
    far = np.abs(x) < FARTHEST
    return Roots(np.where(far, 1j, here + 1 / np.where(far, 1.0, x)), np.where(regular, condition[take, best], np.inf))


# ---- one root ----


def angles_of(ABC: Array, weights: Array, size: int, slides: bool = False) -> Array:
    """The angles of joints b and c, or the slide of c, that belong to `size` equal roots with these weights of A, B, C, (size, 2).

    On the null space "times exp(i q_b)" and "times exp(i q_c)" are matrices that commute; their eigenvectors are the roots.
    """
    V = np.linalg.svd(np.einsum("z,zij->ij", weights, ABC))[2][-size:].T.reshape(4, 3, size)
    if size == 1:
        return single_angles(V[..., 0], slides)[None]
    # rows as exp(-3ih), exp(-ih), exp(ih), exp(3ih)
    cos1, sin1, cos3, sin3 = V
    E = np.stack([cos3 - 1j * sin3, cos1 - 1j * sin1, cos1 + 1j * sin1, cos3 + 1j * sin3])
    X4 = np.linalg.lstsq(E[:3].reshape(9, size), E[1:].reshape(9, size), rcond=None)[0]
    X5 = np.linalg.lstsq(E[:, 0], E[:, 1] + (0 if slides else 1j * E[:, 2]), rcond=None)[0]
    Y = np.linalg.eig(X4 + 0.6180339887 * X5)[1]
    b, c = (np.einsum("ik,ik->k", Y.conj(), X @ Y) for X in (X4, X5))
    return np.stack([np.angle(b), c.real if slides else np.angle(c)], axis=-1)


def single_angles(v: Array, slides: bool = False) -> Array:
    """Those that one null vector v, (4, 3), stands for: of the factors exp(i q_b) and exp(i q_c) in least squares, (2,)."""
    (cos1, sin1, cos3, sin3), (one, c, s) = v, v.T
    # the products of neighbours among exp(-3ih), exp(-ih), exp(ih), exp(3ih): the first and the last are equal
    re = 2 * (dot(cos3, cos1) + dot(sin3, sin1)) + dot(cos1, cos1) - dot(sin1, sin1)
    im = 2 * (dot(sin3, cos1) - dot(cos3, sin1) + dot(cos1, sin1))
    return np.stack([atan2(im, re), dot(one, c) / dot(one, one) if slides else atan2(dot(one, s), dot(one, c))])


def _clusters(x: Array, turns: bool) -> list[Array]:
    """Numbers closer than CLUSTER to their neighbours, together; angles around the circle."""
    order = np.sort(np.mod(x, 2 * np.pi) if turns else x)
    if not len(order):
        return []
    groups = np.split(order, np.nonzero(np.diff(order) > CLUSTER)[0] + 1)
    if turns and len(groups) > 1 and order[0] + 2 * np.pi - order[-1] < CLUSTER:
        groups[0] = np.concatenate([groups.pop() - 2 * np.pi, groups[0]])
    return groups


def _others(p: Pencil, W: Array, qa: Array, qbc: Array) -> Array:
    """The two joints on the other side, in least squares, (k, 2): the outer of the product first."""
    weights = products_of_weights(p.weights(qa), p.weights(qbc[:, 0], 1), p.weights(qbc[:, 1], 2))
    rhs = np.einsum("kzn,zan->ka", weights, p.left) - W[:, 0]
    y = np.linalg.lstsq(W[:, 1:], rhs.T, rcond=1e-12)[0]
    first, second = (p.axes[k].turns for k in p.others)
    return outer_angles(y, first, second)


def products_of_weights(a: Array, b: Array, c: Array) -> Array:
    """All products of one weight of each of the first three joints, (..., 3, 9)."""
    return (a[..., :, None, None] * (b[..., :, None] * c[..., None, :])[..., None, :, :]).reshape(*a.shape, 9)


def outer_angles(y: Array, first: bool = True, second: bool = True) -> Array:
    """The angles or slides of two joints from the products of their weights without the constant one, (8, ...), those of the
    second fastest."""
    one, two = atan2(y[5], y[2]) if first else y[2], atan2(y[1], y[0]) if second else y[0]
    return np.stack([one, two], axis=-1)


def solutions(p: Pencil, T: Array, eq: Equations, angle: Array) -> Array:
    """The coordinates of one pose, (k, 6), in the order of the chain; the last is found from the rotation."""
    real = np.real(angle)[np.abs(np.imag(angle)) < IMAGINARY]
    groups = _clusters(real, p.turns)
    if not groups:
        return np.zeros((0, 6))
    means = [float(g.mean()) for g in groups]
    slides = not p.axes[p.first + 2].turns
    qbc = np.concatenate(
        [angles_of(eq.ABC[:, 0], p.weights(a), len(g), slides) for a, g in zip(means, groups, strict=True)]
    )
    qa = np.repeat(means, [len(g) for g in groups])
    if slides:
        near = np.abs(qbc[:, 1]) < 1 / FARTHEST
        qa, qbc = qa[near], qbc[near]
    x, y = _others(p, eq.W[0], qa, qbc).T
    q = np.zeros((len(qa), 6))
    q[:, p.first], q[:, p.first + 1 : p.first + 3] = qa, qbc
    q[:, p.others[0]], q[:, p.others[1]] = x, y
    return _with_last(p, q, T)


def _with_last(p: Pencil, q: Array, T: Array) -> Array:
    """The angle of the joint whose axis was moved, from the rotation: E_{k-1}^-1 ... E_1^-1 T E_6^-1 ... E_{k+1}^-1 turns u."""
    k, R = p.first + 3, se3.rotation(se3.inverse(T) if p.backwards else T)
    u = np.broadcast_to(p.axes[k].u, (len(q), 3))
    for j in range(k + 1, 6):
        u = _turned_back(p.axes[j], q[:, j], u)
    u = apply(R, u)
    for j in range(k):
        u = _turned_back(p.axes[j], q[:, j], u)
    q[:, k] = sp1(p.axes[k].h, p.axes[k].u, u).value
    return q[:, ::-1] if p.backwards else q


def _turned_back(a: Axis, x: Array, u: Array) -> Array:
    return turned_back(a.h, x, u) if a.turns else u


def turned_back(h: Array, angle: Array, u: Array) -> Array:
    """u turned by -angle about h, (..., 3)."""
    return Turn(cos(angle), -sin(angle)).rotate(h, u)


# ---- all poses ----


def pencils(axes: Sequence[Axis], rng: np.random.Generator) -> list[Pencil]:
    """The pencils of six turns, the most regular on some poses first; with slides those that are not singular."""
    T = motions(axes, rng.uniform(-np.pi, np.pi, (4, 6)))
    if all(a.turns for a in axes):
        found = [pencil(axes, first, backwards) for backwards in (False, True) for first in (2, 1, 0)]
        return sorted(found, key=lambda p: -_regularity(p, T))
    return [p for p in _with_slides(axes) if _is_regular(p, T)]


# the kinds of four joints in a row that a pencil with slides has
ROWS = ("PRRR", "PRPR")


def _with_slides(axes: Sequence[Axis]) -> Iterator[Pencil]:
    """Those whose eigenvalue is a slide, before three turns of which the second may slide too; any are on the other side."""
    for backwards in (False, True):
        kinds = "".join("R" if a.turns else "P" for a in (axes[::-1] if backwards else axes))
        yield from (pencil(axes, first, backwards) for first in range(3) if kinds[first : first + 4] in ROWS)


def _is_regular(p: Pencil, T: Array) -> bool:
    eq = equations(p, T)
    return bool(np.all((roots(p, eq).condition < CONDITION) & (eq.spread > SPREAD)))


def _regularity(p: Pencil, T: Array) -> float:
    """How far the worst of some poses is from a singular pencil; pencils with equal roots count much less."""
    eq = equations(p, T)
    r = roots(p, eq)
    regular = np.min(np.minimum(eq.spread, 0.01) / r.condition)
    return float(regular * (1.0 if _least_gap(r.angle) > EQUAL else UNWANTED))


def _least_gap(angle: Array) -> float:
    """The least distance of two real roots of one pose."""
    real = [np.sort(np.mod(a.real[np.abs(a.imag) < IMAGINARY], 2 * np.pi)) for a in angle]
    return min((np.diff(r).min() for r in real if len(r) > 1), default=np.inf)


class General(NamedTuple):
    """Candidates and whether the checks say that none is missing, (m,)."""

    candidates: Candidates
    regular: Array
    real: Array  # (m,) how many angles were real


def solve(found: Sequence[Pencil], T: Array) -> General:
    """The candidates of poses T, (m, 4, 4), by the first pencil that is regular there."""
    q, real = np.full((len(T), 16, 6), np.nan), np.zeros(len(T), dtype=int)
    regular, todo = np.zeros(len(T), dtype=bool), np.arange(len(T))
    for p in found:
        eq = equations(p, T[todo])
        r = roots(p, eq)
        fine = (r.condition < CONDITION) & (eq.spread > SPREAD)
        for k in np.nonzero(fine | (p is found[-1]))[0]:
            one = Equations(eq.W[k : k + 1], eq.ABC[:, k : k + 1], eq.spread[k : k + 1])
            own = solutions(p, T[todo[k]], one, r.angle[k])[:16]
            q[todo[k], : len(own)] = own
            real[todo[k]] = len(own)
        regular[todo[fine]] = True
        todo = todo[~fine]
        if not len(todo):
            break
    return General(Candidates(q, np.where(np.isnan(q[..., 0]), -1.0, 1.0), np.ones(q.shape[:2])), regular, real)
