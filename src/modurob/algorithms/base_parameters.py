"""Base parameters: the combinations of inertias, rotors and friction that torques depend on, found by rank (Gautier 1991)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modurob.algorithms.configuration import random_configuration
from modurob.algorithms.constraints.closure import close_loops, close_velocity, independent_coordinates
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import together
from modurob.algorithms.program import Run
from modurob.algorithms.regressor import regressor
from modurob.algorithms.steps import apply, transposed
from modurob.errors import ClosureError, InputError, choices
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

# the terms of torques: ten numbers a body; for each rate a rotor, viscous and dry friction, and a constant
TERMS = ("inertia", "rotor", "viscous", "coulomb", "offset")
# names of the ten inertial parameters of a body
INERTIAL = ("m", "mx", "my", "mz", *(f"I{a}" for a in ("xx", "xy", "yy", "xz", "yz", "zz")))
# a column of length one depends on others if its remainder is shorter than this
DEPENDENT = 1e-8
# shorter columns, relative to the longest, are rounding; so are smaller factors
NONE = 1e-9
ATTEMPTS = 10


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """beta = K pi, (rank,), with K = [1 F] up to the order: the combinations of parameters pi that torques can
    identify.
    """

    names: tuple[str, ...]  # of pi, all of them
    kept: tuple[int, ...]  # the places in pi that each base parameter is named after
    K: Array  # (rank, parameters)

    @property
    def rank(self) -> int:
        """How many there are.

        >>> robot.base_parameters().rank
        9
        """
        return len(self.kept)

    @property
    def sums(self) -> tuple[str, ...]:
        """Each base parameter in words.

        >>> robot.base_parameters().sums[0]
        'm0/B my + 0.105 m2/B m + 0.105 m4/B m'
        """
        return tuple(self._sum(row) for row in self.K)

    def _sum(self, row: Array) -> str:
        lead = self.kept[int(np.argmax(row[list(self.kept)]))]
        rest = [k for k in np.flatnonzero(row) if k != lead]
        return self.names[lead] + "".join(
            f" {'+' if row[k] > 0 else '-'} {_factor(row[k])}{self.names[k]}" for k in rest
        )

    def __str__(self) -> str:
        return f"{self.rank} base parameters of {len(self.names)}:\n" + "\n".join(f"  {line}" for line in self.sums)


def _factor(x: float) -> str:
    return "" if abs(abs(x) - 1) < NONE else f"{abs(x):.6g} "


def coordinate_rates(m: Tables) -> Array:
    """The rates whose joint has coordinates, not quaternions, (k,): those that can have a rotor and friction."""
    return np.flatnonzero(m.coordinate_of >= 0)


def checked_terms(terms: Sequence[str]) -> tuple[str, ...]:
    """`terms`, in their own order, or an error that names the valid ones."""
    given = (terms,) if isinstance(terms, str) else tuple(terms)
    for term in given:
        if term not in TERMS:
            raise InputError(f"term {term!r:.60} of torques: {choices(str(term), TERMS)}")
    return tuple(term for term in TERMS if term in given)


def parameter_names(m: Tables, terms: Sequence[str] = ("inertia",)) -> tuple[str, ...]:
    """Names of pi: "link1 Izz" of a body, "joint1 rotor" of a rate."""
    rates = [name for j in m.joints if not j.mimics for name in j.rate_names()]
    own = {term: [f"{rates[r]} {term}" for r in coordinate_rates(m)] for term in TERMS}
    own["inertia"] = [f"{body} {x}" for body in m.bodies[1:] for x in INERTIAL]
    return tuple(name for term in checked_terms(terms) for name in own[term])


def torque_regressor(
    m: Tables, q: Array, v: Array, vdot: Array, terms: Sequence[str] = ("inertia",), run: Run = interpret
) -> Array:
    """Y, (..., nv, parameters): torques of the drives are Y pi, with columns of `parameter_names`.

    Beside inverse dynamics: rotor vdot + viscous v + coulomb sign(v) + offset of each rate.
    """
    q, v, vdot = together(q, v, vdot)
    at = coordinate_rates(m)
    one = np.eye(m.nv, dtype=v.dtype)[:, at]
    columns = {
        "rotor": lambda: vdot[..., None, at] * one,
        "viscous": lambda: v[..., None, at] * one,
        "coulomb": lambda: np.sign(v)[..., None, at] * one,
        "offset": lambda: np.ones_like(v)[..., None, at] * one,
        "inertia": lambda: regressor(m, q, v, vdot, run),
    }
    return np.concatenate([columns[term]() for term in checked_terms(terms)], axis=-1)


def base_parameters(m: Tables, terms: Sequence[str] = ("inertia",), seed: int = 0) -> BaseParameters:
    """The combinations of parameters that torques depend on, by the rank of the regressor in random states that keep the loops.

    Of columns that depend on each other the first are kept; the others count into them. `terms` are some of "inertia", "rotor",
    "viscous", "coulomb", "offset". Drives are not taken into account.
    """
    names = parameter_names(m, terms)
    rng = np.random.default_rng(seed)
    W = np.concatenate([_random_rows(m, rng, terms) for _ in range(3 + 2 * len(names) // max(m.nv, 1))])
    return BaseParameters(names, *independent_columns(W))


def independent_columns(W: Array) -> tuple[tuple[int, ...], Array]:
    """The first columns that those before them do not explain, and K with W = W[:, kept] K."""
    lengths = np.linalg.norm(W, axis=0)
    moving = [k for k, length in enumerate(lengths) if length > NONE * lengths.max(initial=0.0)]
    scaled = W / np.where(lengths > 0, lengths, 1)
    kept = first_independent(scaled, moving)
    factors = np.linalg.lstsq(scaled[:, kept], scaled[:, moving], rcond=None)[0]
    K = np.zeros((len(kept), W.shape[1]))
    K[:, moving] = factors * lengths[moving] / lengths[kept][:, None]
    K[np.abs(K) < NONE] = 0.0
    K[:, kept] = np.eye(len(kept))
    return tuple(kept), K


def first_independent(W: Array, candidates: Sequence[int]) -> list[int]:
    """The columns of length one, in this order, that those before them do not explain."""
    basis, kept = np.zeros((len(W), 0)), []
    for k in candidates:
        rest = W[:, k]
        for _ in range(2):  # twice is enough, in spite of rounding
            rest = rest - basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > DEPENDENT:
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
            kept.append(k)
    return kept


def _random_rows(m: Tables, rng: np.random.Generator, terms: Sequence[str]) -> Array:
    """Rows of the regressor in one random state, along the directions that the loops permit."""
    v, vdot = rng.normal(size=(2, m.nv))
    if not m.constraints:
        return torque_regressor(m, random_configuration(m, rng), v, vdot, terms)
    q = _random_closed(m, rng)
    v = close_velocity(m, q, v)
    free = independent_coordinates(m, q, v)
    vdot = apply(free.G, vdot[free.rates]) + free.g
    return transposed(free.G) @ torque_regressor(m, q, v, vdot, terms)


def _random_closed(m: Tables, rng: np.random.Generator) -> Array:
    """A random configuration at which the loops hold."""
    for _ in range(ATTEMPTS):
        try:
            return close_loops(m, random_configuration(m, rng))
        except ClosureError:
            continue
    raise ClosureError(f"{m.name}: no configuration found at which its loops hold, in {ATTEMPTS} attempts")
