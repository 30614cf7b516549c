"""The forces of a robot's own in closed form: D v of friction and dampers, S(q) of springs.

A force along a joint is run on traced scalars; if its trace is sums and products of coordinates, rates and numbers, the ring takes
them over. What chooses between cases (stops, dry friction) or has states of its own has no closed form: it is named, with a reason.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from modurob import algorithms as al
from modurob.catalogue.forces import JointForce, JointLaw, Spring
from modurob.errors import NotExactError
from modurob.mechanism import ContactRow, Frame, FrameRow, JointRow, LineRow, PairRow, Tables
from modurob.registry import with_values
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.model import ExactTables
from modurob.symbolic.ring import FIELD, Polynomial
from modurob.trace import Graph, Traced

DRY = "dry friction: at rest it holds against whatever is applied"
CASES = "piecewise: which law acts depends on the state"
STATES = "it has states of its own"
TIME = "it depends on time"
BETWEEN_FRAMES = "no polynomial is known for forces of this kind between frames"
LINE = "no polynomial; equations.line has it"
# what the trace of a polynomial is made of, and the waves that coordinates know
CLOSED = ("input", "constant", "negate", "+", "-", "*", "sin", "cos")


class LeftOut(NamedTuple):
    """A force that the equations are without, because it has no closed form."""

    name: str
    reason: str


class Passive(NamedTuple):
    """The forces that have a closed form: -(D v + S) are their torques."""

    D: Array  # (nv, nv)
    S: Array  # (nv,)
    energy: Polynomial  # what springs store [J]
    left_out: tuple[LeftOut, ...]


class _Unknown(Exception):  # noqa: N818
    """A force without a closed form; the text is the reason."""


def passive(robot: Tables, m: Tables, coordinates: Coordinates, numbers: ExactTables, by_energy: bool) -> Passive:
    """D, S and the energy of the forces of a robot, whose exact tables are m.

    S is read off the forces along joints and the Jacobians of springs, or it is the gradient of the energy: two ways to the same.
    """
    return _Sum(robot, m, coordinates, numbers, by_energy).of_all()


class _Sum:
    """Adds up forces."""

    def __init__(self, robot: Tables, m: Tables, coordinates: Coordinates, numbers: ExactTables, by_energy: bool):
        self._robot, self._m, self._coordinates, self._numbers = robot, m, coordinates, numbers
        self._by_energy = by_energy
        zero, n = coordinates.ring.constant(0), robot.nv
        self._D, self._S = np.full((n, n), zero, dtype=object), np.full(n, zero, dtype=object)
        self._energy = zero
        self._left_out: list[LeftOut] = []
        self._springs = 0

    def of_all(self) -> Passive:
        for row in self._robot.forces:
            try:
                if isinstance(row, JointRow):
                    self._add_along_joint(row)
                else:
                    self._add_between_frames(row)
            except _Unknown as reason:
                self._left_out.append(LeftOut(row.name, str(reason)))
        return Passive(self._D, self._S, self._energy, tuple(self._left_out))

    # ---- along joints ----

    def _add_along_joint(self, row: JointRow) -> None:
        joint = self._robot.joints[row.joint]
        if isinstance(row.force, JointLaw):
            raise _Unknown(BETWEEN_FRAMES)
        at = joint.v_slice.start + row.rate
        force = _Traced(row.force)
        own = self._numbers.force_parameters(row, joint, force.needed)
        ratio, offset = (self._numbers.coupling(x, joint.name) for x in (joint.ratio, joint.offset))
        c = self._coordinates
        v: Any = c.v[at]
        q: Any = c.linear[at] * ratio + offset if joint.mimics or not force.has_waves else c.q[at]
        effort, energy = force.evaluated(q, v * ratio, own)
        still, moving = _split(effort * ratio, v)
        self._energy = self._energy + energy
        self._D[at, at] = self._D[at, at] - moving
        self._S[at] = self._S[at] + (c.derivative(energy, at) if self._by_energy and energy else -still)
        if _is_dry(row.force):
            raise _Unknown(DRY)

    # ---- between frames ----

    def _add_between_frames(self, row: FrameRow | LineRow | ContactRow | PairRow) -> None:
        if isinstance(row, LineRow):
            raise _Unknown(LINE)
        if isinstance(row, ContactRow | PairRow) or not isinstance(row.force, Spring):
            raise _Unknown(BETWEEN_FRAMES)
        self._springs = i = self._springs + 1
        stiffness, rest, damping = self._numbers.spring_parameters(row, i)
        way, by_q = self._way(row)
        squared: Any = way @ way
        coordinates, n = self._coordinates, self._robot.nv
        if rest or damping:
            names = self._numbers.unused(f"s{i}"), self._numbers.unused(f"w{i}")
            length, inverse = coordinates.distance(row.name, squared, names)
            # d length / dq
            rates = [(way @ by_q[:, k]) * inverse for k in range(n)]
        else:
            length = inverse = coordinates.ring.constant(0)
            rates = []
        energy = (squared - 2 * rest * length + rest * rest) * stiffness / 2
        self._energy = self._energy + energy
        pulled = [stiffness * (1 - rest * inverse) * (way @ by_q[:, k]) for k in range(n)]
        for j in range(n):
            self._S[j] = self._S[j] + (coordinates.derivative(energy, j) if self._by_energy else pulled[j])
            for k in range(n if damping else 0):
                self._D[j, k] = self._D[j, k] + damping * rates[j] * rates[k]

    def _way(self, row: FrameRow) -> tuple[Array, Array]:
        """From frame a to frame b in the world, (3,), and its derivative by q, (3, nv)."""
        ends = [self._end(frame, f"{row.name} at {end}") for frame, end in ((row.a, "a"), (row.b, "b"))]
        (p_a, J_a), (p_b, J_b) = ends
        return p_b - p_a, J_b - J_a

    def _end(self, frame: Frame, where: str) -> tuple[Array, Array]:
        X, n = self._numbers.pose(frame.X, f"frame of {where}"), self._robot.nv
        if frame.body == 0:
            return se3.position(X), np.full((3, n), self._coordinates.ring.constant(0), dtype=object)
        m = replace(self._m, frames={"end": frame._replace(X=X)})
        q = self._coordinates.q
        return se3.position(al.frame_pose(m, q, "end")), al.jacobian(m, q, "end")[:3]


class _Traced:
    """A force along a joint as a graph of its effort and energy."""

    def __init__(self, force: JointForce):
        self._force, self._graph = force, Graph()
        # what is true or false is a choice, no number
        self._names = [name for name, x in force.parameters().items() if not isinstance(x, bool)]
        own = with_values(force, {name: self._graph.input("p", k) for k, name in enumerate(self._names)})
        if force.nx:
            raise _Unknown(STATES)
        q, v, t, x = *(self._graph.inputs(name, ()) for name in "qvt"), np.zeros(0)
        effort, energy = own.effort(t, q, v, x), own.energy(q, x)
        self._outputs = [self._graph.index(np.asarray(y, dtype=object).item()) for y in (effort, energy)]
        nodes = [self._graph.nodes[i] for i in self._graph.needed(Traced(self._graph, i) for i in self._outputs)]
        strange = [node.op for node in nodes if node.op not in CLOSED]
        if strange:
            raise _Unknown(CASES if "select" in strange else f"no polynomial: {', '.join(sorted(set(strange)))}")
        places = [node.value for node in nodes if node.op == "input"]
        if any(place.array == "t" for place in places):
            raise _Unknown(TIME)
        # cosines and sines of coordinates are known, those of other polynomials are not
        self.has_waves = any(node.op in ("sin", "cos") for node in nodes)
        # the numbers that it reads
        self.needed = {self._names[place.index] for place in places if place.array == "p"}

    def evaluated(self, q: Polynomial, v: Polynomial, numbers: Mapping[str, Polynomial]) -> list[Polynomial]:
        """Effort and energy in the ring."""
        inputs = {"q": [q], "v": [v], "p": [numbers.get(name) for name in self._names]}
        try:
            values = self._graph.evaluate(self._outputs, inputs)
        except (NotExactError, TypeError, AttributeError) as error:
            raise _Unknown(f"no polynomial: {error}") from None
        ring = q.ring
        return [x if isinstance(x, Polynomial) else ring.constant(x) for x in (values[i] for i in self._outputs)]


def _split(p: Polynomial, v: Polynomial) -> tuple[Polynomial, Polynomial]:
    """a and b with p = a + b v, a free of v."""
    shift, one = p.ring.shift(v.name), p.ring.field(v.name)
    mask = (1 << FIELD) - 1
    still = {m: c for m, c in p.terms.items() if not m >> shift & mask}
    moving = {m - one: c for m, c in p.terms.items() if m >> shift & mask}
    return Polynomial(p.ring, still, p.denominator), Polynomial(p.ring, moving, p.denominator)


def _is_dry(force: JointForce) -> bool:
    """Whether there is dry friction in it, at rest or in motion."""
    return bool(force.holding() != 0) or any(x != 0 for x in np.asarray(force.dry(np.ones(()))).ravel())
