"""Steps with dry friction that holds exactly.

Within a step each joint with dry friction either rests, held by the force that this requires, up to its limit, or slides in one
direction. Where a rate passes zero the joint stops: the step is divided at that moment, found to rounding, and the rest of it
begins with the joint at rest, or sliding back. Steps of second or higher order are divided too where the force that holds a joint
exceeds its limit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.constraints.actuation import moving_together
from modurob.algorithms.forces import acting, sampled_states
from modurob.algorithms.friction import breakaway
from modurob.algorithms.steps import apply
from modurob.mechanism.tables import Tables
from modurob.simulation.steppers.adaptive import DIVERGED
from modurob.simulation.steppers.stepper import UNSETTLED
from modurob.simulation.system import Held, Moved, State, assign, some
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.simulation.stepping import Mover

# a joint is released when the force that holds it exceeds friction times this
RELEASED = 1 + 1e-12
# and within a step where it exceeds friction times this: enough for the joint to begin to move
GIVES_WAY = 1 + 1e-8
# stops and starts of joints within one step, beside three of each
MOST_EVENTS = 24
# how often friction and forces of contact are found in turn
CONTACT_ROUNDS = 8
# rates below this are rounding of loops at rest [rad/s or m/s]
AT_REST = 1e-12
# rates below this part of those before and after count as stopped when another one stops
STOPPED = 1e-9
# halvings and secants in search of a moment, and how exactly it is found
SEARCH, FOUND = 60, 1e-13
# parts of a step below this are none
NOTHING = 1e-9


def step_with_friction(mover: "Mover", t: float, start: Moved, u: Array, dt: float) -> Moved:
    """One step of runs, (runs, ...), divided wherever a joint stops or gives way."""
    s, n = State(*(np.array(x) for x in start.state)), len(start.state.v)
    if acting(mover.m).samples:
        s = s._replace(x=sampled_states(mover.m, s.q, s.v, s.x, np.full((n, 1), dt)))
    singular, left = start.singular.copy(), np.full((n, 1), dt)
    turned = np.zeros(s.v.shape, dtype=bool)
    going = np.flatnonzero((singular == 0) & _bounded(s.v))
    for _ in range(MOST_EVENTS + 3 * mover.m.nv):
        if not len(going):
            break
        rest = left[going]
        piece = Piece(mover.on(going), n > 1, t + dt - rest, some(s, going), u[going], rest, turned[going])
        held, bad = piece.modes()
        end, worse = piece.end(held)
        end, share = piece.divided(held, end)
        turned[going] |= (held.slide != 0) & (piece.s.v == 0) & (end.v == 0) & (share <= NOTHING)
        assign(s, going, end)
        left[going] = rest * (1 - share)
        singular[going] = np.where(bad != 0, bad, worse)
        going = going[(left[going, 0] > NOTHING * dt) & (singular[going] == 0) & _bounded(s.v[going])]
    singular[going] = UNSETTLED
    return Moved(s, singular)


def _bounded(v: Array) -> Array:
    """Which runs have not diverged."""
    return np.abs(v).max(axis=-1, initial=0.0) <= DIVERGED


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a step of some runs: where it begins, the torques in it, its length, and which rates have begun to move and stopped
    at once in this step, (runs, ...) each."""

    mover: "Mover"
    batch: bool  # whether there are other runs: one of many is evaluated as many are, to the last bit
    t: Array
    s: State
    u: Array
    dt: Array
    turned: Array
    most: float = RELEASED  # of friction, what holds joints at rest

    @property
    def m(self) -> Tables:
        return self.mover.m

    @property
    def holding(self) -> Array:
        """The largest force that holds each rate, (nv,)."""
        return self.most * acting(self.m).holding

    def of(self, runs: Any) -> "Piece":
        """That of some of the runs."""
        own = self.t[runs], some(self.s, runs), self.u[runs], self.dt[runs], self.turned[runs]
        return Piece(self.mover.on(runs), self.batch, *own, self.most)

    def end(self, held: Held, share: Array | float = 1.0) -> Moved:
        """The state at the end, or after a share of it."""
        if self.batch and len(self.u) == 1:
            found = self.of(TWICE).end(some(held, TWICE), share)
            return Moved(some(found.state, TWICE[:1]), found.singular[:1])
        return self.mover.steps(self.t, self.s, self.u, self.dt * share, 1, held)

    def solution(self, held: Held) -> tuple[Array, Array, Array]:
        """vdot, the reactions at held rates, and which states are singular."""
        if self.batch and len(self.u) == 1:
            vdot, reaction, singular = self.of(TWICE).solution(some(held, TWICE))
            return vdot[:1], reaction[:1], singular[:1]
        return self.mover.solution(self.t, self.s, self.u, self.dt, held)

    # ---- which joints move ----

    def modes(self) -> tuple[Held, Array]:
        """Which rates friction holds, and which way the others slide; and which states are singular.

        All that rest are held, if this is possible. If not, friction and accelerations of all of them together say which move. What
        has `turned` in this step is held; but in a loop that moves it is free: joints turn at dead centres, where friction does
        nothing to them, nor to what constraints keep at zero.
        """
        v, together = self.s.v, moving_together(self.m)
        joined, dry = together.sum(axis=-1) > 1, (self.holding > 0) & together.any(axis=-1)
        rests = dry & (v == 0)
        turns = rests & joined & ((np.abs(v) > AT_REST) @ together)
        may = rests & ~self.turned
        held = Held(np.where(may | rests & ~turns, 0.0, 1.0), np.where(dry, np.sign(v), 0.0))
        if held.free.all():
            return held, np.zeros(len(v), dtype=int)
        _, reaction, singular = self.solution(held)
        # what holds a joint of a loop that moves through a dead centre is beyond all bounds, or rounding
        exceeded = may & (turns | (np.abs(reaction) > self.holding))
        runs = np.flatnonzero(exceeded.any(axis=-1) & (singular == 0))
        if len(runs):
            singular = singular.copy()
            # in loops it is not unique which joint takes how much
            loose = exceeded | may & joined
            ways, singular[runs] = self.of(runs)._ways(some(held, runs), may[runs], loose[runs])
            held.slide[runs] += ways
            held.free[runs] += np.abs(ways)
        return held, singular

    def _ways(self, held: Held, may: Array, loose: Array) -> tuple[Array, Array]:
        """Which way each held rate that `may`, (runs, nv), begins to move (1 or -1) under the friction of all of them, 0 where it
        rests, (runs, nv); and which states are singular.

        Found for those that are `loose`, (runs, nv), as long as others are held by less than their friction; else these are, too.
        """
        own, holding = acting(self.m), self.holding
        y, ways = np.zeros_like(held.free), np.zeros_like(held.free)
        singular, going = np.zeros(len(y), dtype=int), np.arange(len(y))
        for _ in range(self.m.nv + CONTACT_ROUNDS):
            columns, now = np.flatnonzero(loose[going].any(axis=0)), some(held, going)
            free = now._replace(free=np.where(loose[going], 1.0, now.free))
            loaded = replace(self.of(going), u=self.u[going] + y[going] * holding)
            vdot, reaction, singular[going] = loaded._responses(free, columns)
            fine = singular[going] == 0
            going, vdot, reaction = going[fine], vdot[fine], reaction[fine]
            h, was, among = holding[columns], y[going][:, columns], loose[going][:, columns]
            A = (vdot[:, 1:] - vdot[:, :1])[..., columns] * h
            A = np.where(among[:, None] & among[..., None], (A + np.swapaxes(A, -1, -2)) / 2, 0.0)
            found, w = breakaway(A, among * vdot[:, 0, columns] * h - apply(A, was), own.kinetic[columns])
            by = ((found - was)[..., None] * (reaction[:, 1:] - reaction[:, :1])).sum(axis=-2)
            more = may[going] & ~loose[going] & (np.abs(reaction[:, 0] + by) > holding)
            before = ways[going]
            y[np.ix_(going, columns)], ways[np.ix_(going, columns)] = found, np.sign(w)
            loose[going] |= more
            # forces of contact depend on accelerations in pieces
            unsettled = more.any(axis=-1) | (own.touching & (ways[going] != before).any(axis=-1))
            going = going[unsettled]
            if not len(going):
                break
        return ways, singular

    def _responses(self, held: Held, columns: Array) -> tuple[Array, Array, Array]:
        """vdot and reactions, and those under the friction that holds each of some rates besides, (runs, 1 + columns, nv); and
        which states are singular."""
        n, k = len(self.u), 1 + len(columns)
        pushes = np.zeros((k, self.m.nv))
        pushes[1 + np.arange(k - 1), columns] = self.holding[columns]
        many = np.repeat(np.arange(n), k)
        pushed = replace(self.of(many), u=(self.u[:, None] + pushes).reshape(n * k, -1))
        vdot, reaction, singular = pushed.solution(some(held, many))
        return vdot.reshape(n, k, -1), reaction.reshape(n, k, -1), singular[::k]

    # ---- when they stop or give way ----

    def divided(self, held: Held, end: State) -> tuple[State, Array]:
        """The state where the first joint stops or gives way, and the share of the piece until then, (runs, 1); else its end, and
        one."""
        end, share = State(*map(np.array, end)), np.ones_like(self.dt)
        stops = np.flatnonzero((held.slide * end.v < 0).any(axis=-1))
        if len(stops):
            stopped, share[stops] = self.of(stops)._stopped(some(held, stops), some(end, stops))
            assign(end, stops, stopped)
        if self.mover.stepper.order > 1 and not held.free.all():
            late = np.flatnonzero(self._margin(held, end, share)[:, 0] < 0)
            if len(late):
                given, share[late] = self.of(late)._given_way(some(held, late), some(end, late), share[late])
                assign(end, late, given)
        return end, share

    def _stopped(self, held: Held, end: State) -> tuple[State, Array]:
        """The state where the first sliding rate comes to rest, that rate at zero, and the share until then."""
        stops = held.slide * end.v < 0

        def slowest(now: State, _: Any = None) -> Array:
            """The least rate along its slide, (runs, 1): it has the sign of whether all still slide."""
            return np.where(stops, held.slide * now.v, np.inf).min(axis=-1, keepdims=True)

        best, share = self._moment(slowest, held, slowest(self.s), slowest(end), np.ones_like(self.dt))
        # in loops all rates of one motion stop together
        small = np.abs(best.v) <= STOPPED * (np.abs(self.s.v) + np.abs(end.v))
        rests = (held.slide != 0) & (small | (held.slide * best.v <= 0))
        return best._replace(v=np.where(rests, 0.0, best.v)), share

    def _given_way(self, held: Held, end: State, until: Array) -> tuple[State, Array]:
        """The state where the first held rate gives way, and the share until then; those given where it does so at the start."""

        def margin(now: State, share: Array) -> Array:
            return self._margin(held, now, share)

        begins, ends = margin(self.s, np.zeros_like(self.dt)), margin(end, until)
        state, share = self._moment(margin, held, begins, ends, until)
        first = begins > 0
        return State(*(np.where(first, a, b) for a, b in zip(state, end, strict=True))), np.where(first, share, until)

    def _margin(self, held: Held, now: State, share: Array) -> Array:
        """The part of friction that is left at the held rate that needs most of it, (runs, 1); below zero where it gives way. In
        loops it is not unique which joint takes how much, and only the sign is."""
        later = replace(self, t=self.t + self.dt * share, s=now, most=GIVES_WAY)
        if self.m.constraints:
            return np.where((later.modes()[0].free > held.free).any(axis=-1, keepdims=True), -1.0, 1.0)
        rests = (held.free == 0) & ~self.turned
        _, reaction, _ = later.solution(held)
        taken = np.abs(reaction) / np.where(rests, later.holding, 1.0)
        return 1 - np.where(rests, taken, 0.0).max(axis=-1, keepdims=True)

    def _moment(
        self, margin: Callable[[State, Array], Array], held: Held, begins: Array, ends: Array, until: Array
    ) -> tuple[State, Array]:
        """The state where a margin is not positive any more, and the share until then, (runs, 1): the margin of a state and the
        share until it, which `begins` at the start and `ends` at the share `until`."""
        low, high, f_low, f_high = np.zeros_like(until), until, begins, ends
        for k in range(SEARCH):
            secant = low + (high - low) * f_low / np.maximum(f_low - f_high, 1e-300)
            guess = (low + high) / 2 if k % 3 == 2 else secant
            share = np.clip(guess, low + 1e-3 * (high - low), high - 1e-3 * (high - low))
            f, wide = margin(self.end(held, share).state, share), high - low >= FOUND
            later, sooner = wide & (f > 0), wide & (f <= 0)
            low, f_low = np.where(later, share, low), np.where(later, f, f_low)
            high, f_high = np.where(sooner, share, high), np.where(sooner, f, f_high)
            if np.all(high - low < FOUND):
                break
        return self.end(held, high).state, high


TWICE = np.zeros(2, dtype=int)
