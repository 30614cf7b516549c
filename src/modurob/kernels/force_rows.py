"""Rows of the forces of a mechanism: along joints, between frames, lines, and the states that they have of their own."""

from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.decay import Decays
from modurob.algorithms.forces import Acting, acting
from modurob.algorithms.lines import STANDING
from modurob.algorithms.motions import ACCELERATIONS, MOTIONS
from modurob.algorithms.program import Forces
from modurob.kernels import pair_contact_units as pairs
from modurob.kernels.arena import Arena
from modurob.kernels.contact_units import lay_states, lay_wrenches
from modurob.kernels.force_units import (
    decay_unit,
    drift_unit,
    frame_constants,
    frame_unit,
    joint_constants,
    joint_unit,
    law_constants,
    law_unit,
    line_constants,
    line_unit,
    sampled_unit,
    standing_unit,
)
from modurob.kernels.momentum_units import lay_momentum_correction
from modurob.kernels.registers import Register
from modurob.kernels.units import loaded
from modurob.mechanism.tables import LineRow
from modurob.spatial.scalars import Array


class States(NamedTuple):
    """The states of the forces in a step: those that move, or all, and where those of each force begin."""

    moving: Register
    starts: tuple[int, ...]
    all: Register
    all_starts: tuple[int, ...]
    parted: bool  # whether those that do not move stand in `all` alone


class ForceRows(Arena):
    """An arena with rows of forces."""

    def forces(
        self,
        t: Register,
        q: Register,
        v: Register,
        x: Register,
        slide: Register | None = None,
        ahead: Register | None = None,
        contacts: bool = True,
    ) -> Forces:
        """All forces of the mechanism's own, contacts among them or not."""
        own, states = acting(self.m), self._states(x)
        contacts = contacts and own.touching
        between = bool(own.frame_rows or self.m.lines or contacts)
        out = Forces(
            self.cleared("rates"),
            self.cleared("wrenches") if between else None,
            self.register(x.n),
            None if ahead is None else self.cleared("rates"),
        )
        self._joint_forces(own, out, t, q, v, states, slide, ahead)
        if between:
            found = self.run(MOTIONS, q=q, v=v)
            self._frame_forces(own, out, t, states, found)
            self._lines(out, q, v, found)
            if contacts:
                now = self.register(1)
                wrench, _ = lay_wrenches(self, found, found["V"], x, now, False)
                between, _ = pairs.lay_wrenches(self, q, found, found["V"], x, now, False)
                out = out._replace(external=out.external + wrench + between)
        return out

    def contact_wrenches(
        self, start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
    ) -> tuple[Register, Register]:
        return lay_wrenches(self, start, known, x, dt, last)

    def contact_states(
        self, start: dict[str, Register], known: Register, end: Register, x: Register, rate: Register, dt: Register
    ) -> Register:
        return lay_states(self, start, known, end, x, rate, dt)

    def pair_wrenches(
        self, q: Register, start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
    ) -> tuple[Register, Register]:
        return pairs.lay_wrenches(self, q, start, known, x, dt, last)

    def pair_bias(self, q: Register, start: dict[str, Register], G: Register, rates: Register) -> Register:
        return pairs.lay_bias(self, q, start, G, rates)

    def with_pair_coupling(self, M: Register, q: Register, G: Register) -> Register:
        return pairs.lay_coupling(self, M, q, G)

    def momentum_corrected(
        self, before: tuple[Register, ...], after: tuple[Register, ...], v: Register, dt: Register
    ) -> Register:
        return lay_momentum_correction(self, before, after, v, dt)

    def pair_states(
        self, start: dict[str, Register], known: Register, end: Register, x: Register, dt: Register
    ) -> Register:
        return pairs.lay_states(self, start, known, end, x, dt)

    def advanced(self, V: Register, rate: Register, dt: Register) -> Register:
        return V + rate * dt

    def with_diagonal(self, M: Register, diagonal: Register) -> Register:
        out, n = self.register(M.n), self.m.nv
        self.assign(out, M)
        ends = [x for k in range(n) for x in (diagonal.place + k, out.place + k * (n + 1))]
        self.op("scatter", [n, *ends])
        return out

    def sampled(self, q: Register, v: Register, x: Register, dt: Register) -> Register:
        """States of the forces, those of loops that sample as they are after it."""
        own, out = acting(self.m), self.register(x.n)
        self.op("copy", [x.place, out.place, x.n])
        rows = [(k, row) for k, row in own.joint_rows if row.force.samples]
        units = loaded([sampled_unit(row.force, self.lanes, self.single) for _, row in rows])
        for (k, row), unit in zip(rows, units, strict=True):
            joint = self.m.joints[row.joint]
            rate, state = joint.v_slice.start + row.rate, own.x_starts[k]
            places = [dt.place, q.place + max(0, int(self.m.coordinate_of[rate])), v.place + rate]
            at = [*places, x.place + state, out.place + state]
            self.row(unit, at, joint_constants(row.force, joint.ratio, joint.offset))
        return out

    def moving_states(self, x: Register) -> Register:
        own = acting(self.m)
        if own.touching or len(own.moving) == x.n:
            return x
        self._all, self._carried = x, own.moving
        out = self.register(len(own.moving))
        self._gather(x.place + own.moving, out.place + np.arange(out.n))
        return out

    def all_states(self, x: Register) -> Register:
        if self._all is None:
            return x
        out, own = self._all, acting(self.m)
        self._gather(x.place + np.arange(x.n), out.place + own.moving)
        self._all, self._carried = None, None
        return out

    def _gather(self, sources: Array, targets: Array) -> None:
        """Copy entries, (n,) places each, those next to each other at once."""
        breaks = np.flatnonzero((np.diff(sources) != 1) | (np.diff(targets) != 1)) + 1
        first = np.concatenate([[0], breaks]).astype(int)
        lengths = np.diff([*first, len(sources)])
        self.op("gather", [len(first), *np.stack([sources[first], targets[first], lengths], axis=-1).ravel()])

    def _states(self, x: Register) -> States:
        """The states x of the forces, all of them or those that move."""
        own = acting(self.m)
        if self._all is None:
            return States(x, own.x_starts, x, own.x_starts, False)
        starts = tuple(np.searchsorted(own.moving, own.x_starts).tolist())
        return States(x, starts, self._all, own.x_starts, True)

    def decays(self, dt: Register) -> Decays:
        """Weights for the states of the forces: each fast one has a row of its own, the others share theirs."""
        decay, before = acting(self.m).decay, len(self.rows)
        rate = decay if self._carried is None else decay[self._carried]
        fast, slow, own = np.flatnonzero(rate), self._constants(np.where(rate, 0.0, 1.0)), self._constants(rate)
        weights = [self.register(len(rate)) for _ in Decays._fields[1:]]
        for k, unit in zip(fast, loaded([decay_unit(self.lanes, self.single)] * len(fast)), strict=True):
            self.row(unit, [dt.place, *(w.place + int(k) for w in weights)], {"parameter": rate[k : k + 1]})
        plain = [slow, slow, slow * dt * 0.5, slow * dt * (1 / 6), slow * dt * (1 / 3), slow * dt * (1 / 6)]
        sums = [self._at((w + p).place, w.n) for w, p in zip(weights, plain, strict=True)]
        # steps are equally long
        self.once, self.rows = [*self.once, *self.rows[before:]], self.rows[:before]
        return Decays(own, *sums)

    def _joint_forces(
        self, own: Acting, out: Forces, t: Register, q: Register, v: Register, x: States, slide: Any, ahead: Any
    ) -> None:
        forces = [row.force for _, row in own.joint_rows]
        units = loaded(
            [joint_unit(f, ahead is not None, slide is not None, x.parted, self.lanes, self.single) for f in forces]
        )
        for (k, row), unit in zip(own.joint_rows, units, strict=True):
            joint = self.m.joints[row.joint]
            rate, state = joint.v_slice.start + row.rate, x.starts[k]
            arrays = [(t, 0), (q, max(0, int(self.m.coordinate_of[rate]))), (v, rate), (x.moving, state), (slide, rate)]
            arrays += [(out.tau, rate), (out.rate, state), (ahead, 0), (out.slope, rate)]
            arrays += [(x.all, x.all_starts[k])]
            at = [0 if register is None else register.place + place for register, place in arrays]
            self.row(unit, at, joint_constants(row.force, joint.ratio, joint.offset))
        self._joint_laws(own, out, t, q, v, x)

    def _joint_laws(self, own: Acting, out: Forces, t: Register, q: Register, v: Register, x: States) -> None:
        for k, row in own.law_rows:
            joint = self.m.joints[row.joint]
            (unit,) = loaded([law_unit(row.force, joint.type, self.lanes, self.single)])
            starts = [joint.q_slice.start, joint.v_slice.start, x.starts[k], joint.v_slice.start, x.starts[k]]
            registers = (q, v, x.moving, out.tau, out.rate)
            at = [t.place, *(r.place + start for r, start in zip(registers, starts, strict=True))]
            self.row(unit, at, law_constants(row.force, joint.type))

    def _frame_forces(self, own: Acting, out: Forces, t: Register, x: States, found: dict[str, Register]) -> None:
        units = loaded([frame_unit(row.force, self.lanes, self.single) for _, row in own.frame_rows])
        for (k, row), unit in zip(own.frame_rows, units, strict=True):
            state = x.starts[k]
            at = [t.place]
            for frame in (row.a, row.b):
                at += self._moving(frame.body, found)
            assert out.external is not None
            on = [out.external.place + 6 * f.body for f in (row.a, row.b)]
            at += [x.moving.place + state, *on, out.rate.place + state]
            self.row(unit, at, frame_constants(row.force, row.a.X, row.b.X))

    def _moving(self, body: int, found: dict[str, Register]) -> list[int]:
        """Where the pose, the twist and, if it was found, its rate of a body stand."""
        rates = [name for name in ("V", "A") if name in found]
        if not body:
            return [self.still()[0], *(self.still()[1] for _ in rates)]
        return [found["X"].place + 12 * (body - 1), *(found[name].place + 6 * (body - 1) for name in rates)]

    def _lines(self, out: Forces, q: Register, v: Register, found: dict[str, Register]) -> None:
        lines = self.m.lines
        for row, unit in zip(lines, loaded([line_unit(x.force, self.lanes, self.single) for x in lines]), strict=True):
            at = [n for frame in row.frames for n in self._moving(frame.body, found)]
            at += [out.external.place + 6 * frame.body for frame in row.frames]
            at += [place for i in row.joints for place in self._drum(i, q, v, out.tau)]
            self.row(unit, at, self._line_constants(row))

    def _line_constants(self, row: LineRow) -> dict[str, Array]:
        joints = [self.m.joints[i] for i in row.joints]
        ratios = [(j.ratio, j.offset) if i >= 0 else (0.0, 0.0) for i, j in zip(row.joints, joints, strict=True)]
        return line_constants(row.force, [f.X for f in row.frames], ratios)

    def lines(self, q: Register, v: Register) -> dict[str, Register]:
        out = {name: self.zeros("lines") for name in STANDING}
        found = self.run(MOTIONS, q=q, v=v)
        self._standing(standing_unit, list(out.values()), q, v, found)
        return out

    def line_drifts(self, q: Register, v: Register) -> Register:
        out = self.zeros("lines")
        found = self.run(ACCELERATIONS, q=q, v=v, vdot=self.zeros("rates"))
        self._standing(drift_unit, [out], q, v, found)
        return out

    def _standing(self, unit_of: Any, out: list[Register], q: Register, v: Register, found: dict[str, Any]) -> None:
        """A row for each line that writes numbers of its own."""
        rows = self.m.lines
        units = loaded([unit_of(row.force, self.lanes, self.single) for row in rows])
        for k, (row, unit) in enumerate(zip(rows, units, strict=True)):
            at = [n for frame in row.frames for n in self._moving(frame.body, found)]
            at += [place for i in row.joints for place in self._drum(i, q, v, v)[:2]]
            self.row(unit, [*at, *(x.place + k for x in out)], self._line_constants(row))

    def _drum(self, i: int, q: Register, v: Register, tau: Register) -> list[int]:
        """Where the coordinate, the rate and the torque of a winch stand; of a held one, zeros and a place that nothing reads."""
        if i < 0:
            return [self.origin(), self.origin(), self.allocate(1)]
        joint = self.m.joints[i]
        return [q.place + joint.q_slice.start, *(x.place + joint.v_slice.start for x in (v, tau))]
