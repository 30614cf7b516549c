"""The passive forces of a robot: the one sum over its table of forces.

Forces along joints add to the torques; forces between frames are wrenches on bodies. Dry friction is treated
separately: it opposes motion, and at rest balances whatever is applied, so it is not a function of the state. Forces of
the same kind are evaluated together.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.complex_steps import TINY, complex_step
from modurob.algorithms.composite import mass_matrix
from modurob.algorithms.configuration import integrate, neutral
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.kinematics import rigid, together
from modurob.algorithms.lines import add_taken, strung
from modurob.algorithms.motions import MOTIONS, frame_motion
from modurob.algorithms.program import Engine, Flow, Run
from modurob.caching import cached_property
from modurob.catalogue.contact import StepMotion
from modurob.catalogue.forces import JointForce, JointLaw, Stop
from modurob.catalogue.forces.force import there
from modurob.mechanism.tables import ContactRow, ForceRow, FrameRow, JointRow, PairRow, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array

# natural frequency of a joint in a stop without a given stiffness [rad/s], and its damping ratio: it does not bounce
STOP_PULSATION, STOP_DAMPING = 200.0, 1.0


class Acting:
    """The forces of a mechanism, with numbers where a stop had none, in groups of one kind."""

    def __init__(self, m: Tables):
        self.m, self.rows = m, _with_stops(m)
        states = np.cumsum([0, *(row.force.nx for row in self.rows)])
        self.nx = int(states[-1])
        # where the states of each force begin
        self.x_starts: tuple[int, ...] = tuple(states[:-1].tolist())
        along = [(k, row) for k, row in enumerate(self.rows) if isinstance(row, JointRow)]
        self.joint_rows: list[Any] = [(k, row) for k, row in along if isinstance(row.force, JointForce)]
        self.law_rows: list[Any] = [(k, row) for k, row in along if isinstance(row.force, JointLaw)]
        self.frame_rows = [(k, row) for k, row in enumerate(self.rows) if isinstance(row, FrameRow)]
        self.contact_rows = [(k, row) for k, row in enumerate(self.rows) if isinstance(row, ContactRow)]
        self.pair_rows = [(k, row) for k, row in enumerate(self.rows) if isinstance(row, PairRow)]
        # whether anything touches; and whether anything acts between frames
        self.touching = bool(self.contact_rows or self.pair_rows)
        self.between = bool(self.frame_rows or m.lines or self.touching)

    @cached_property
    def groups(self) -> list["Group"]:
        """The forces along joints, those alike together."""
        alike: dict[tuple, list[tuple[int, JointRow]]] = {}
        for k, row in self.joint_rows:
            zero = tuple(name for name, x in row.force.parameters().items() if not there(x))
            alike.setdefault((type(row.force), zero), []).append((k, row))
        return [Group.of(self, rows) for rows in alike.values()]

    @cached_property
    def holding(self) -> Array:
        """The largest force that dry friction holds at rest, by rate, (nv,)."""
        total = np.zeros(self.m.nv)
        for _, row in self.joint_rows:
            joint = self.m.joints[row.joint]
            total[joint.v_slice.start + row.rate] += abs(joint.ratio) * row.force.holding()
        return total

    @cached_property
    def kinetic(self) -> Array:
        """The part of `holding` that is left of dry friction as a joint begins to move, (nv,)."""
        least = np.maximum(self.holding, np.finfo(float).tiny)
        return np.minimum(dry_friction(self.m, np.zeros(self.m.nv)) / least, 1.0)

    @cached_property
    def _start(self) -> Array:
        return np.concatenate([np.zeros(0), *(row.force.start() for row in self.rows)])

    def start(self) -> Array:
        """States of the forces at the start, (nx,)."""
        return self._start.copy()

    def start_at(self, q: Array) -> Array:
        """States of the forces at the start from q, (..., nx): an elastic drive is relaxed there."""
        x = np.array(np.broadcast_to(self.start(), (*q.shape[:-1], self.nx)))
        for k, row in self.joint_rows:
            joint = self.m.joints[row.joint]
            place = int(self.m.coordinate_of[joint.v_slice.start + row.rate])
            if row.force.nx and row.force.positional and place >= 0:
                own = slice(self.x_starts[k], self.x_starts[k] + row.force.nx)
                x[..., own] = row.force.start_at(joint.ratio * q[..., place] + joint.offset)
        return x

    def parts(self, x: Array) -> list[Array]:
        """The states x, (..., nx), split by force, in the order of `rows`."""
        return [x[..., k : k + row.force.nx] for k, row in zip(self.x_starts, self.rows, strict=True)]

    @cached_property
    def commanded(self) -> tuple[Array, Array]:
        """Rates whose forces take commands, and the indices of their commands in x, (n,) each."""
        taking = [(k, row) for k, row in self.joint_rows if row.force.input]
        rates = [self.m.joints[row.joint].v_slice.start + row.rate for _, row in taking]
        return np.array(rates, dtype=int), np.array([self.x_starts[k] for k, _ in taking], dtype=int)

    @cached_property
    def samples(self) -> bool:
        """Whether some force has loops of its own that sample."""
        return any(row.force.samples for _, row in self.joint_rows)

    @cached_property
    def moving(self) -> Array:
        """Places of the states that change by themselves, in order, (n,)."""
        still = {self.x_starts[k] + i for k, row in self.joint_rows for i in row.force.still}
        return np.array([i for i in range(self.nx) if i not in still], dtype=int)

    @cached_property
    def decay(self) -> Array:
        """How fast the states decay by themselves, (nx,) [1/s]."""
        total = np.zeros(self.nx)
        for k, row in self.joint_rows:
            if row.force.nx:
                total[self.x_starts[k] : self.x_starts[k] + row.force.nx] = row.force.decay()
        return total


@lru_cache(maxsize=256)
def acting(m: Tables) -> Acting:
    """The forces of a mechanism."""
    return Acting(m)


def _with_stops(m: Tables) -> list[ForceRow]:
    """The table of forces, with k = w² I and d = 2 z w I for stops without a stiffness, I the inertia behind the joint at zero."""
    rows = list(m.forces)
    open_ = [k for k, row in enumerate(rows) if isinstance(row.force, Stop) and row.force.stiffness is None]
    if not open_:
        return rows
    moved = np.diagonal(mass_matrix(m, neutral(m)))
    for k in open_:
        row: Any = rows[k]
        joint = m.joints[row.joint]
        I = float(moved[joint.v_slice.start + row.rate]) / joint.ratio**2
        stiffness, damping = STOP_PULSATION**2 * I, 2 * STOP_DAMPING * STOP_PULSATION * I
        rows[k] = row._replace(force=Stop(row.force.lower, row.force.upper, stiffness, damping))
    return rows


class Group(NamedTuple):
    """Forces of one kind along n rates: their numbers are arrays, (n,)."""

    force: JointForce
    q: Array  # places of their coordinates in q, -1 for none, (n,)
    v: Array  # places of their rates in v, (n,)
    ratio: Array  # of the own coordinate of a mimic joint to that in q, (n,)
    offset: Array
    x: Array  # places of their states, (n, nx)
    together: bool  # whether no two act on one rate

    @classmethod
    def of(cls, acting: Acting, rows: list[tuple[int, JointRow]]) -> "Group":
        m = acting.m
        joints = [m.joints[row.joint] for _, row in rows]
        v = np.array([j.v_slice.start + row.rate for j, (_, row) in zip(joints, rows, strict=True)])
        force: Any = copy(rows[0][1].force)
        for name, x in force.parameters().items():
            if there(x):
                object.__setattr__(force, name, np.array([getattr(row.force, name) for _, row in rows]))
        starts = np.array([acting.x_starts[k] for k, _ in rows])
        ratio, offset = (np.array([getattr(j, name) for j in joints]) for name in ("ratio", "offset"))
        own = starts[:, None] + np.arange(force.nx)
        return cls(force, m.coordinate_of[v], v, ratio, offset, own, len(set(v.tolist())) == len(v))

    def state(self, q: Array, v: Array, x: Array) -> tuple[Array, Array, Array]:
        """Own coordinates, rates and states, (..., n), (..., n), (..., n, nx)."""
        own = self.ratio * q[..., self.q] + self.offset if self.force.positional else np.zeros(len(self.v))
        return own, self.ratio * v[..., self.v], x[..., self.x]

    def add(self, total: Array, efforts: Array) -> None:
        """Add own efforts, (..., n), to the torques."""
        along_rates = self.ratio * efforts
        if self.together:
            total[..., self.v] += along_rates
        else:
            for k, place in enumerate(self.v):
                total[..., place] += along_rates[..., k]


# ---- along joints ----


def joint_efforts(m: Tables, t: Any, q: Array, v: Array, x: Array, ahead: Array | None = None) -> Array:
    """The sum of the forces along joints, without dry friction, (..., nv); those that depend on one rate are evaluated
    at the coordinate after a time `ahead`, (..., 1).
    """
    total = np.zeros(v.shape, dtype=np.result_type(q, v, x))
    for group in acting(m).groups:
        own, rate, states = group.state(q, v, x)
        group.add(total, group.force.effort(t, own if ahead is None else own + ahead * rate, rate, states))
    for law in joint_laws(m, q, v, x):
        total[..., law.joint.v_slice] += law.joint.ratio * law.force.effort(t, law.joint.type, *law.state)
    return total


def sampled_states(m: Tables, q: Array, v: Array, x: Array, dt: Any) -> Array:
    """States of the forces after their own loops have sampled at the start of a step of dt, (..., nx)."""
    new = np.array(x)
    for group in acting(m).groups:
        if group.force.samples:
            new[..., group.x] = group.force.sampled(*group.state(q, v, x), dt)
    return new


class Law(NamedTuple):
    """A law of a joint in a state: own coordinates, rates and states."""

    force: JointLaw
    joint: Any
    state: tuple[Array, Array, Array]
    x: slice  # place of its states


def joint_laws(m: Tables, q: Array, v: Array, x: Array) -> Iterator[Law]:
    """The laws that read all of a joint."""
    own = acting(m)
    for k, row in own.law_rows:
        joint = m.joints[row.joint]
        place = slice(own.x_starts[k], own.x_starts[k] + row.force.nx)
        yield Law(row.force, joint, (q[..., joint.q_slice], v[..., joint.v_slice], x[..., place]), place)


def effort_slopes(m: Tables, t: Any, q: Array, v: Array, x: Array) -> tuple[Array, Array]:
    """d efforts / dq and / dv, each rate by its own coordinate, (..., nv) each; by complex steps."""
    by_q, by_v = np.zeros(v.shape), np.zeros(v.shape)
    for group in acting(m).groups:
        own, rate, states = group.state(q, v, x)
        for total, dq, dv in ((by_q, 1j * TINY, 0), (by_v, 0, 1j * TINY)):
            slope = np.imag(group.force.effort(t, own + dq, rate + dv, states)) / TINY
            group.add(total, group.ratio * np.broadcast_to(slope, rate.shape))
    return by_q, by_v


def slope_ahead(m: Tables, t: Any, q: Array, v: Array, x: Array, ahead: Array) -> Array:
    """d f(q + ahead v, v) / dv of `joint_efforts`, each by its own rate, (..., nv); by a complex step."""
    total = np.zeros(v.shape)
    for group in acting(m).groups:
        own, rate, states = group.state(q, v, x)
        rate = rate + 1j * TINY
        slope = np.imag(group.force.effort(t, own + ahead * rate, rate, states)) / TINY
        group.add(total, group.ratio * np.broadcast_to(slope, rate.shape))
    return total


def dry_friction(m: Tables, v: Array) -> Array:
    """The size of dry friction at rates v, (..., nv)."""
    total = np.zeros(v.shape, v.dtype)
    for group in acting(m).groups:
        size = np.broadcast_to(group.force.dry(group.ratio * v[..., group.v]), (*v.shape[:-1], len(group.v)))
        group._replace(ratio=np.abs(group.ratio)).add(total, size)
    return total


# ---- between frames ----


class FrameWrenches(NamedTuple):
    """Wrenches on all bodies, in body frames, (..., bodies, 6), and torques of winches, (..., nv)."""

    wrenches: Array
    tau: Array


def frame_wrenches(
    m: Tables, t: Any, q: Array, v: Array, x: Array, run: Run = interpret, contacts: bool = True
) -> FrameWrenches | None:
    """The wrenches of forces between frames, of lines and, unless `contacts` is false, of contacts; None if there are none."""
    own = acting(m)
    if not own.between or not (contacts or own.frame_rows or m.lines):
        return None
    found = run(MOTIONS, m, {"q": q, "v": v}).results
    dtype = np.result_type(q, v, x)
    total = np.zeros((*v.shape[:-1], len(m.bodies), 6), dtype=dtype)
    tau = np.zeros(v.shape, dtype=dtype)
    for k, row in own.frame_rows:
        a, b = (frame_motion(frame, found) for frame in (row.a, row.b))
        states = x[..., own.x_starts[k] : own.x_starts[k] + row.force.nx]
        for frame, F in zip((row.a, row.b), row.force.wrenches(t, a, b, states), strict=True):
            total[..., frame.body, :] += se3.to_parent(frame.X, F)
    for s in strung(m, found, q, v):
        add_taken(m, s, s.line.taken(s.motions, s.wound, s.rates), total, tau)
    for k, row in own.contact_rows if contacts else ():
        at, V = rigid(found["X"][..., row.frame.body - 1, :, :]), found["V"][..., row.frame.body - 1, :]
        states, now = x[..., own.x_starts[k] : own.x_starts[k] + row.force.nx], np.zeros(v.shape[:-1])
        motion = StepMotion(V, V, 1 + now, np.zeros(3), now)
        total[..., row.frame.body, :] += row.force.wrench(row.force.touch(at, row.frame.X), motion, states, False).F
    if own.pair_rows and contacts:
        from modurob.algorithms import pairs  # which imports this module

        total = total + pairs.pair_wrenches(m, q, found, found["V"], x, np.zeros(v.shape[:-1]), False).wrenches
    return FrameWrenches(total, tau)


# ---- states and energy ----


def force_rates(m: Tables, t: Any, q: Array, v: Array, x: Array, run: Run = interpret) -> Array:
    """dx/dt of the states that forces have of their own, (..., nx)."""
    own = acting(m)
    rate = np.zeros(x.shape, dtype=np.result_type(q, v, x))
    if not own.nx:
        return rate
    for group in own.groups:
        if group.force.nx:
            rate[..., group.x] = group.force.rate(t, *group.state(q, v, x))
    for law in joint_laws(m, q, v, x):
        rate[..., law.x] = law.force.rate(t, law.joint.type, *law.state)
    found = run(MOTIONS, m, {"q": q, "v": v}).results if own.frame_rows else {}
    for k, row in own.frame_rows:
        place = slice(own.x_starts[k], own.x_starts[k] + row.force.nx)
        rate[..., place] = row.force.rate(t, frame_motion(row.a, found), frame_motion(row.b, found), x[..., place])
    return rate


def stored_energy(m: Tables, q: Array, x: Array | None = None, run: Run = interpret) -> Array:
    """Energy stored in springs, stops, lines and contacts, (...) [J]."""
    own, q = acting(m), as_array(q)
    x = np.broadcast_to(own.start(), (*q.shape[:-1], own.nx)) if x is None else x
    total = np.zeros(q.shape[:-1])
    still = np.zeros((*q.shape[:-1], m.nv))
    for group in own.groups:
        coordinates, _, states = group.state(q, still, x)
        total = total + np.broadcast_to(group.force.energy(coordinates, states), (*total.shape, len(group.v))).sum(
            axis=-1
        )
    for law in joint_laws(m, q, still, x):
        total = total + law.force.energy(law.joint.type, law.state[0], law.state[2])
    found = run(MOTIONS, m, {"q": q, "v": still}).results if own.between else {}
    for k, row in own.frame_rows:
        states = x[..., own.x_starts[k] : own.x_starts[k] + row.force.nx]
        total = total + row.force.energy(frame_motion(row.a, found).X, frame_motion(row.b, found).X, states)
    for k, row in own.contact_rows:
        touch = row.force.touch(rigid(found["X"][..., row.frame.body - 1, :, :]), row.frame.X)
        total = total + row.force.energy(touch, x[..., own.x_starts[k] : own.x_starts[k] + row.force.nx])
    if own.pair_rows:
        from modurob.algorithms import pairs

        total = total + pairs.pair_energy(m, found["X"], x)
    for s in strung(m, found, q, still):
        total = total + s.line.energy(s.motions, s.wound).sum(axis=-1)
    return total


def passive_forces(m: Tables, q: Array, v: Array, x: Array | None = None, t: Any = 0.0, run: Run = interpret) -> Array:
    """All passive forces of the robot as torques, without dry friction, (..., nv): efforts along joints, and J^T F of
    wrenches.
    """
    q, v = together(q, v)
    own = acting(m)
    x = np.broadcast_to(own.start(), (*v.shape[:-1], own.nx)) if x is None else x
    t = np.broadcast_to(as_array(t)[..., None], (*v.shape[:-1], 1))
    q, v, x, t = together(q, v, x, t)
    return run(_passive(own.nx), m, {"t": t, "q": q, "v": v, "x": x}).results["tau"]


@lru_cache(maxsize=64)
def _passive(nx: int) -> Flow:
    """`passive_forces` of robots whose forces have the given number of states."""

    def define(e: Engine, i: dict[str, Any]) -> dict[str, Any]:
        found = e.forces(i["t"], i["q"], i["v"], i["x"])
        if found.external is None:
            return {"tau": found.tau}
        still = e.zeros("rates")
        alone, loaded = (
            e.run(INVERSE_DYNAMICS, q=i["q"], v=still, vdot=still, external=F)["tau"] for F in (None, found.external)
        )
        return {"tau": found.tau + alone - loaded}

    return Flow(f"passive_forces {nx}", {"t": 1, "q": "coordinates", "v": "rates", "x": nx}, {"tau": "rates"}, define)


def passive_slopes(m: Tables, q: Array, v: Array, x: Array | None = None, t: Any = 0.0) -> tuple[Array, Array]:
    """d `passive_forces` by q (along `integrate`) and by v, (..., nv, nv) each."""
    q, v = together(q, v)
    own, axes = acting(m), v.ndim - 1
    x = np.broadcast_to(own.start(), (*v.shape[:-1], own.nx)) if x is None else x
    by_q, by_v = (s[..., None] * np.eye(m.nv) for s in effort_slopes(m, t, q, v, x))
    coupled = [*own.frame_rows, *own.law_rows, *own.contact_rows, *own.pair_rows]
    if own.between or coupled:
        apart = replace(m, forces=(*(row for _, row in coupled), *m.lines))
        own_x = [x[..., own.x_starts[k] : own.x_starts[k] + row.force.nx] for k, row in coupled]
        x = np.concatenate([x[..., :0], *own_x], axis=-1)
        by_q = by_q + complex_step(lambda d: passive_forces(apart, integrate(m, q, d), v, x, t), m.nv, axes)
        by_v = by_v + complex_step(lambda d: passive_forces(apart, q, v + d, x, t), m.nv, axes)
    return by_q, by_v
