"""Algorithms as passes of local steps over the tree of bodies.

A step has access to one joint through a `View` and defines what is computed there; it does not depend on the tree. The
interpreter runs the passes with NumPy, which is the definition of the result; kernels are traced from the same steps.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from modurob.catalogue.joints import JointType
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

# a pivot below this part of the inertia before elimination is singular: a few roundings
SINGULAR = 8 * 2.0**-52


def is_singular(pivots: Array, inertias: Array) -> Array:
    """Where a pivot is nothing next to the inertia that it is left of, (..., n) each; numbers that are not finite say nothing."""
    left, own = np.real(pivots), np.real(inertias)
    return np.any((left <= SINGULAR * own) & np.isfinite(own), axis=-1)


class View(Protocol):
    """The data of a step: its joint, the body that the joint moves, and the fields for its results. Arrays are (...,
    ...).
    """

    type: JointType
    nv: int
    shares: bool  # whether other joints have the same coordinate
    follows: bool  # whether it is one that mimics the owner of that coordinate
    hub: bool  # whether its body is the parent of all joints that share some coordinate
    ratio: Any  # of the rate along S to that in v: one, but for joints that share a coordinate in a kernel

    @property
    def X(self) -> Array:
        """X_PB, the body in its parent, (..., 4, 4)."""
        ...

    @property
    def S(self) -> Array:
        """Motion subspace, (..., 6, nv)."""
        ...

    @property
    def inertia(self) -> Array:
        """Spatial inertia of the body, (6, 6)."""
        ...

    @property
    def frame(self) -> Array:
        """Pose of the tables' body frame in that of X, S and the inertia, (4, 4): a kernel may choose other frames."""
        ...

    @property
    def armature(self) -> Array:
        """Rotor inertia, (nv,)."""
        ...

    @property
    def gravity(self) -> Array:
        """Gravity in world axes, (3,) [m/s²]."""
        ...

    def bias(self, v: Array) -> Array:
        """(dS/dt) v, (..., 6)."""
        ...

    def subspace_rate(self, v: Array) -> Array:
        """dS/dt in the frame of the body, (..., 6, nv)."""
        ...

    def given(self, name: str) -> Array:
        """The joint's or the body's part of an input."""
        ...

    def parent(self, name: str) -> Array:
        """A shared field of the parent body."""
        ...

    def children(self, name: str) -> Any:
        """The sum over the children of what they sent; zero where there are none."""
        ...

    def own(self, name: str) -> Array:
        """A field or columns that were kept."""
        ...

    def keep(self, **fields: Array) -> None:
        """Keep fields of this body for its children and for later passes."""
        ...

    def send(self, **sums: Array) -> None:
        """Add to the sums of the parent."""
        ...

    def emit(self, **results: Array) -> None:
        """Results of this joint or body."""
        ...

    def columns(self, **columns: Array) -> None:
        """Keep a vector for each rate, (..., nv, k), for `Pairs`."""
        ...

    def add_block(self, **blocks: Array) -> None:
        """Add to the entries of a matrix between the joint's own rates, (..., nv, nv)."""
        ...

    def slope(self, function: Callable[[Array], Array]) -> Array:
        """d function(q)/dq along each rate of the joint, on a new last axis."""
        ...

    def require(self, pivot: Array, scale: Array) -> None:
        """Note a singular state where a pivot, (..., nv), is below `SINGULAR` times the inertia `scale`, (..., nv)."""
        ...


class PairView(Protocol):
    """The data of a step of `Pairs`: a rate a, and the rates b of its own joint or of one between it and the root."""

    def a(self, name: str) -> Array:
        """A column of rate a, (..., 1, k)."""
        ...

    def b(self, name: str) -> Array:
        """The same columns of the rates b, (..., rates, k)."""
        ...

    def emit(self, **results: Array) -> None:
        """Add to the entries of matrices in row a and columns b, (..., rates)."""
        ...

    def emit_above(self, **results: Array) -> None:
        """Add to those in rows b and column a, (..., rates), where b are rates of another joint than a."""
        ...


class PathView(Protocol):
    """The data of a step of `Paths`: a body, and the rates of a joint on its path from the root, or all, with weighted sums."""

    def body(self, name: str) -> Array:
        """A shared field of the body."""
        ...

    def rates(self, name: str) -> Array:
        """The columns of the rates, or their weighted sums, (..., rates, k)."""
        ...

    def emit(self, **results: Array) -> None:
        """Add to the entries of regressors in the rows of the rates and the columns of the body, (..., rates, 10)."""
        ...


class LoopView(Protocol):
    """The data of a step of `Constraints`: a loop joint between its predecessor and its successor, two bodies of the tree.

    `end` is "predecessor" or "successor"; vectors are in world axes at the reference point.
    """

    type: JointType

    def pose(self, end: str) -> Array:
        """The pose of the joint's frame at an end, from the reference point in world axes, (..., 4, 4)."""
        ...

    def motion(self, end: str) -> tuple[Array, Array]:
        """Twist and acceleration of the body at an end, (..., 6) each."""
        ...

    def given(self, name: str) -> Array:
        """The rows of this loop of an input, (..., rows)."""
        ...

    def project(self, **vectors: tuple[Array, ...]) -> None:
        """Rows of a result: the sum of the inner products of vectors, (..., rows, 6) each, with the columns that `projected`
        names, for the rates that move the successor alone; its opposite for those that move the predecessor alone."""
        ...

    def add_wrench(self, F: Array) -> None:
        """Add a wrench to the field F of the successor, and its opposite to that of the predecessor, (..., 6)."""
        ...

    def turn(self, carried: Array, changed: Array | None) -> None:
        """Subtract from entries (a, b) of the matrix `turned`, for rates b between the ends: S_a . carried S_b for rates a that
        move the predecessor, and S_a . changed S_b for rates a between the ends; both matrices are (..., 6, 6)."""
        ...

    def slopes(self, function: Callable[[Array, Array], Array], X: Array, V: Array) -> tuple[Array, Array]:
        """d function(X, V), (..., k), by displacements of the pose X in its own axes, and by V, (..., k, 6) each."""
        ...

    def emit(self, **rows: Array) -> None:
        """Rows of results, (..., rows)."""
        ...


Step = Callable[[View], None]


class Outward(NamedTuple):
    """From the world to the tips."""

    step: Step


class Inward(NamedTuple):
    """From the tips to the world."""

    step: Step


class Climb(NamedTuple):
    """For each joint its columns `start`, (..., nv, 6), are propagated along its ancestors: projected at each,
    transformed from each to the next. For the interpreter alone.
    """

    start: str
    projected: Callable[[Any, Array], Array]
    transformed: Callable[[Any, Array], Array]


class Pairs(NamedTuple):
    """For each rate a and every rate b of its own joint and of the joints between it and the root, entries of matrices from
    their `columns`.
    """

    step: Callable[[PairView], None]


class Paths(NamedTuple):
    """For each body and every rate of the joints between it and the root, its own among them, entries of regressors from
    shared fields of the body and `columns` of the rate.

    `weights` names an input W, a matrix: results are then W Y, and of each body entries in the rows of all rates a, from the
    sums of W_ab times the columns of the rates b on its path. Steps are linear in columns.
    """

    step: Callable[[PathView], None]
    weights: str = ""


class Sweep(NamedTuple):
    """For each rate three columns of `slopes`: with respect to its displacement, its rate, and its torque.

    A column is first a wrench p, propagated inward from the joint of its rate: it begins as `by_q` or `by_v`, or with the torque,
    and with the entry in the block of the joint's own rates; `inward` is its step at each rate on the path. It is then an
    acceleration A, propagated outward, to which `dd` or `e` is added below the joint, together with a turning velocity w, which is
    `dw` or the angular part of S there; `outward` is its step at each rate.
    """

    inward: Callable[..., tuple[Array, Array]]
    outward: Callable[..., tuple[Array, Array]]


class Constraints(NamedTuple):
    """For each loop joint its rows: inner products of vectors (6 a row) with `columns` of the rates between its ends, and
    numbers of its own, as errors and biases. A coupling has constant rows, and needs no step.

    `projected` names for each result that is a row matrix the columns that its vectors are multiplied with: entries are the
    sum of these products, with the opposite sign for rates that move the predecessor. `turned` is the matrix of
    `LoopView.turn`.
    """

    step: Callable[[LoopView], None]
    projected: dict[str, tuple[str, ...]]
    turned: str = ""


Pass = Outward | Inward | Climb | Pairs | Paths | Sweep | Constraints

# a field that is a symmetric 6x6 matrix
SYMMETRIC = (6, 6)


@dataclass(frozen=True, eq=False)
class Program:
    """An algorithm as passes.

    `inputs` and `results` say what each array runs over: coordinates (nq), rates (nv), wrenches (6 a body, in body frames),
    inertias (6x6 a body), reference (3: a point near the robot, found from q), poses (3x4 a body, of body frames), twists (6 a
    body, in body frames), bodies and lines (one number each), vectors (6 a rate), matrix (nv x nv), slopes (nv x 3 nv),
    regressor (nv x 10 a body), rows (one a constraint row), row matrix (rows x nv), or a number of entries common to all.
    `shared` are the fields that children read of their parent, and steps of `Constraints` and `Paths` of bodies; `sent` those
    that children add up for it, with their shapes; `world` gives those of the world.
    """

    name: str
    inputs: dict[str, str | int]
    results: dict[str, str]
    passes: tuple[Pass, ...]
    shared: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sent: dict[str, tuple[int, ...]] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    world: Callable[[Tables], dict[str, Array]] = lambda m: {}
    in_body_axes: bool = True  # whether rates are those along a joint's axis, which a kernel may reverse
    mimics: bool = False  # whether steps read `View.shares`, `follows` or `hub`
    general: bool = (
        False  # whether a kernel has one code for all placements if a robot has many: it is part of a longer step
    )
    still: int = 0  # the number of first passes that read q and v alone: `Engine.run_again` omits them


class Forces(NamedTuple):
    """The mechanism's own forces in a state: torques, wrenches on bodies if there are any, the rates of their states x, and, for an
    implicit step, the derivative of each torque by its rate at the end of the step."""

    tau: Any
    external: Any
    rate: Any
    slope: Any = None


class Engine(Protocol):
    """What evaluates a flow: NumPy, or the writer of a kernel. Its arrays can be added, subtracted and scaled."""

    m: Tables

    def run(self, program: "Program | Flow", **inputs: Any) -> dict[str, Any]:
        """The results of a program or of another flow."""
        ...

    def run_again(self, program: "Program", **inputs: Any) -> dict[str, Any]:
        """The results of a program that has run in this flow, for the same q and v, and other inputs."""
        ...

    def zeros(self, kind: str) -> Any:
        """An array of zeros over coordinates or rates."""
        ...

    def ones(self, kind: str) -> Any:
        """An array of ones."""
        ...

    def times(self, a: Any, b: Any) -> Any:
        """The product of two arrays, entry by entry."""
        ...

    def constant(self, kind: str, values: Array) -> Any:
        """An array of these numbers; for bodies, with the world first."""
        ...

    def smaller(self, a: Any, b: Any, x: Any, y: Any) -> Any:
        """x in states where the number a is less than b, else y."""
        ...

    def goal_rows(self, rows: Any, seen: Any, target: Any) -> Any:
        """The rows of goals in a configuration; see `modurob.algorithms.descent`."""
        ...

    def damped_step(self, rows: Any, q: Any, damping: Any, bounds: Any) -> Any:
        """The step of damped least squares towards the goals, within bounds of the coordinates."""
        ...

    def forces(
        self, t: Any, q: Any, v: Any, x: Any, slide: Any = None, ahead: Any = None, contacts: bool = True
    ) -> Forces:
        """The forces of the mechanism, with or without contacts; dry friction acts against `slide`, the direction in
        which each rate slides. Forces along joints are evaluated at the coordinates after a time `ahead`, if given:
        f(q + ahead v, v) and its derivative are what an implicit step needs.
        """
        ...

    def contact_wrenches(self, start: Any, known: Any, x: Any, dt: Any, last: bool) -> tuple[Any, Any]:
        """Wrenches of the contacts with the ground in a step of dt, and the inertias that they add; see
        `modurob.algorithms.contact`."""
        ...

    def contact_states(self, start: Any, known: Any, end: Any, x: Any, rate: Any, dt: Any) -> Any:
        """The states of the forces at the end of a step, advanced at their rate; bristles of contacts at their new
        values. Those of the start, x, must not be read afterwards.
        """
        ...

    def pair_wrenches(self, q: Any, start: Any, known: Any, x: Any, dt: Any, last: bool) -> tuple[Any, Any, Any]:
        """Wrenches of contacts between bodies in a step of dt; of each pair the force on the first body at the twists of the start,
        and the G that couples them; see `modurob.algorithms.pairs`.
        """
        ...

    def pair_forces(self, q: Any, start: Any, f: Any, G: Any, rates: Any) -> Any:
        """Forces on the first body of each pair, in world axes, where twists change at these rates."""
        ...

    def pair_bias(self, q: Any, start: Any, G: Any, rates: Any) -> Any:
        """Wrenches -D^T G Y of pairs, with Y the rates of the twists of bodies at vdot = 0."""
        ...

    def with_pair_coupling(self, M: Any, q: Any, G: Any) -> Any:
        """M + sum of D^T G D over pairs of bodies in contact; see `modurob.algorithms.pairs`."""
        ...

    def momentum_corrected(self, before: Any, after: Any, v: Any, dt: Any, between: Any) -> Any:
        """Rates with which floating robots conserve their momentum, under forces `between` pairs, if there are any; see
        `modurob.algorithms.momenta`.
        """
        ...

    def pair_states(self, start: Any, known: Any, end: Any, x: Any, dt: Any) -> Any:
        """The states of the forces, bristles between bodies as they are at the end of a step."""
        ...

    def advanced(self, V: Any, rate: Any, dt: Any) -> Any:
        """Twists of bodies a step of dt later."""
        ...

    def with_diagonal(self, M: Any, diagonal: Any) -> Any:
        """A matrix over rates with an array over rates added to its diagonal."""
        ...

    def lines(self, q: Any, v: Any) -> dict[str, Any]:
        """The states of lines: `catalogue.lines.law.Stretch` and the tension, by name, over lines."""
        ...

    def line_drifts(self, q: Any, v: Any) -> Any:
        """How strains of lines accelerate at vdot = 0, over lines."""
        ...

    def sampled(self, q: Any, v: Any, x: Any, dt: Any) -> Any:
        """The states of the forces after their own loops have sampled at the start of a step."""
        ...

    def moving_states(self, x: Any) -> Any:
        """The states of the forces that have a rate; the others are constant until `all_states`. An engine may keep
        all.
        """
        ...

    def all_states(self, x: Any) -> Any:
        """All states of the forces again, from those that `moving_states` gave."""
        ...

    def decays(self, dt: Any) -> Any:
        """`decay.Decays` of the states of the forces for a step of dt."""
        ...

    def constrained(self, M: Any, K: Any, force: tuple[Any, Any], k: Any) -> tuple[Any, Any]:
        """vdot and multipliers with (M + rotors) vdot - K^T lambda = force[0] - force[1] and K vdot = k."""
        ...

    def free_inertia(self, M: Any, free: Any) -> Any:
        """M with ones in place of the rows and columns of rates that are held, where `free` is zero."""
        ...

    def free_rows(self, K: Any, free: Any) -> Any:
        """The rows without the entries of held rates; see `constraints.solver.free_rows`."""
        ...

    def nearest(self, K: Any, k: Any) -> Any:
        """The shortest x with K x = k, (..., nv), lengths in units of the mechanism's size."""
        ...

    def product(self, A: Any, x: Any) -> Any:
        """A x of a row matrix and an array over rates."""
        ...

    def product_transposed(self, A: Any, y: Any) -> Any:
        """A^T y of a row matrix and an array over rows."""
        ...

    def solved_slopes(self, M: Any, by_q: Any, by_v: Any) -> Any:
        """(M + rotors)^-1 times (-by_q, -by_v, 1), (..., nv, 3 nv)."""
        ...

    def inverse_inertia(self, M: Any) -> Any:
        """(M + rotors)^-1, (..., nv, nv)."""
        ...

    def constrained_slopes(self, M: Any, K: Any, by_q: tuple[Any, Any], by_v: tuple[Any, Any]) -> Any:
        """The accelerations dvdot with (M + rotors) dvdot - K^T dlambda = -by[0] and K dvdot = -by[1], for by_q and by_v,
        and those for unit torques, (..., nv, 3 nv). `constrained` has run with the same M and K."""
        ...


@dataclass(frozen=True, eq=False)
class Flow:
    """An algorithm as a sequence of programs with vector arithmetic between them; `inputs` and `results` as those of a program."""

    name: str
    inputs: dict[str, str | int]
    results: dict[str, str]
    define: Callable[[Any, dict[str, Any]], dict[str, Any]]  # (engine, inputs) -> results
    repeated: bool = False  # whether results are the inputs of the same name when it runs again


class Answer(NamedTuple):
    """Results by name, and for each state, (...), 0, or the number of the joint that moves no inertia, from one on, or -1 if that
    joint is unknown."""

    results: dict[str, Array]
    singular: Array


Run = Callable[[Program | Flow, Tables, dict[str, Array]], Answer]
