"""One user's work: the design with its history, the pose, and the runs. Knows nothing of the web."""

import secrets
from contextlib import suppress

import numpy as np

from modurob.errors import ModurobError, StudioError, choices
from modurob.robot import Assembly, Mechanism
from modurob.spatial.scalars import Array
from modurob.studio import protocol
from modurob.studio.autosave import Autosave
from modurob.studio.design import Design, edited
from modurob.studio.poses import body_poses
from modurob.studio.runs import Run

MOST_STEPS = 2000  # of undo
MOST_RUNS = 12
MOST_NUMBERS = 16_000_000  # in the recordings of all runs
# edits that a run goes on through
RESHAPING = (
    protocol.Dock,
    protocol.Undock,
    protocol.Connect,
    protocol.Disconnect,
    protocol.Duplicate,
    protocol.Mirror,
    protocol.PlaceCell,
    protocol.TurnCell,
    protocol.MoveCell,
    protocol.SetParameter,
    protocol.SetGravity,
)


class Session:
    """The design, its past and future, the pose, and the runs."""

    def __init__(self, autosave: Autosave, design: Design | None = None):
        self.name = secrets.token_hex(16)
        self.autosave = autosave
        self.design = design or Design.of(Assembly.single("m0", "backbone"))
        self._steps, self._now = [self.design.kept()], 0
        self.q, self.v = self.robot.neutral(), np.zeros(self.robot.nv)
        self.runs: dict[int, Run] = {}
        self.active: Run | None = None
        self.paused = False
        self.speed = 1.0
        self._count = 0

    @property
    def robot(self) -> Mechanism:
        """The robot of the design."""
        return self.design.robot

    # ---- the design ----

    @property
    def can_undo(self) -> bool:
        return self._now > 0

    @property
    def can_redo(self) -> bool:
        return self._now < len(self._steps) - 1

    def edit(self, edit: protocol.Edit) -> None:
        """Change the design, or raise and change nothing."""
        known = isinstance(edit, protocol.OpenRecent)
        design = self.autosave.load(edit.name) if known else edited(self.design, edit)
        self._steps[self._now + 1 :] = [design.kept()]
        del self._steps[:-MOST_STEPS]
        self._now = len(self._steps) - 1
        self._show(design, goes_on=isinstance(edit, RESHAPING))

    def undo(self) -> None:
        """The design before the last edit."""
        if not self.can_undo:
            raise StudioError("nothing to undo")
        self._now -= 1
        self._show(self._steps[self._now].design(), goes_on=True)

    def redo(self) -> None:
        """The design after the edit that was undone."""
        if not self.can_redo:
            raise StudioError("nothing to redo")
        self._now += 1
        self._show(self._steps[self._now].design(), goes_on=True)

    def _show(self, design: Design, goes_on: bool) -> None:
        """Take another design; a run goes on with it if it can."""
        before, run, paused = self.robot, self.active, self.paused
        self.stop("the robot changed")
        self.design = design
        self.q, self.v = carried(before, self.q, self.v, self.robot)
        if run is not None and goes_on and self.robot.nv:
            q, v = carried(run.robot, *run.state, self.robot)
            # what the new robot cannot do, it does not do
            with suppress(ModurobError):
                self._begin(Run(self._count, self.robot, q, v, run.settings, run.t, before=run.number))
                self.paused = paused
        self.autosave.save(self.name, self.design)

    # ---- the pose ----

    def set_coordinate(self, index: int, value: float) -> None:
        """Move one coordinate of the pose."""
        self._require_index(index, self.robot.nq)
        q = self.q.copy()
        q[index] = value
        for joint in self.robot.joints:
            if joint.kind in ("spherical", "free") and joint.q_slice.start <= index < joint.q_slice.stop:
                quaternion = q[joint.q_slice][-4:]
                if np.linalg.norm(quaternion) < 1e-6:
                    raise StudioError(f"the quaternion of {joint.name} would be zero")
                q[joint.q_slice.stop - 4 : joint.q_slice.stop] = quaternion / np.linalg.norm(quaternion)
        self.q = q

    def set_rate(self, index: int, value: float) -> None:
        """Set one initial rate."""
        self._require_index(index, self.robot.nv)
        self.v = np.where(np.arange(self.robot.nv) == index, value, self.v)

    def reset_pose(self) -> None:
        """All coordinates neutral, all rates zero."""
        self.q, self.v = self.robot.neutral(), np.zeros(self.robot.nv)

    def poses(self) -> Array:
        """X_WB of all bodies in the pose, (bodies, 4, 4)."""
        return body_poses(self.robot)(self.q)

    @staticmethod
    def _require_index(index: int, n: int) -> None:
        if index >= n:
            raise StudioError(f"coordinate {index}: this robot has {n}, counted from 0")

    # ---- runs ----

    def start(self, settings: protocol.RunSettings) -> Run:
        """Begin a run from the present pose."""
        if not self.robot.nv:
            raise StudioError("nothing moves: dock a module so that a hinge has something to carry")
        run = Run(self._count, self.robot, self.q, self.v, settings)
        self.stop()
        self._begin(run)
        return run

    def _begin(self, run: Run) -> None:
        """Make it the run that goes on; the oldest are forgotten where there are too many, or too large ones."""
        self.active, self.paused = run, False
        self.runs[run.number] = run
        self._count += 1
        while len(self.runs) > MOST_RUNS or sum(r.numbers for r in self.runs.values()) > MOST_NUMBERS:
            del self.runs[next(iter(self.runs))]

    def stop(self, why: str = "stopped") -> None:
        """End the run that is going on, if any."""
        if self.active is not None:
            self.active.stop(why)
        self.active, self.paused = None, False

    def run(self, number: int) -> Run:
        """A run that is kept."""
        if number not in self.runs:
            raise StudioError(f"no run {number}: {choices(str(number), map(str, self.runs))}")
        return self.runs[number]

    def delete_run(self, number: int) -> None:
        """Forget a run."""
        if self.run(number) is self.active:
            self.stop()
        del self.runs[number]


def carried(before: Mechanism, q: Array, v: Array, after: Mechanism) -> tuple[Array, Array]:
    """The pose of one robot taken over by another, joint by joint of the same name and kind."""
    new_q, new_v = np.array(after.neutral()), np.zeros(after.nv)
    known = {j.name: j for j in before.joints}
    for joint in after.joints:
        old = known.get(joint.name)
        if old is not None and old.kind == joint.kind:
            new_q[joint.q_slice], new_v[joint.v_slice] = q[old.q_slice], v[old.v_slice]
    return new_q, new_v
