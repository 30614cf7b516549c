"""One user's work: the design with its history, the pose, and the runs. Knows nothing of the web."""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import ModurobError, StudioError, choices
from modurob.robot import Assembly, Mechanism
from modurob.spatial.scalars import Array
from modurob.studio import carrying, describe, meeting, posing, protocol, reaching, replay
from modurob.studio.autosave import Autosave
from modurob.studio.carrying import Posed
from modurob.studio.design import AnyDesign, Design, Kept
from modurob.studio.edits import edited, require_floatable
from modurob.studio.imported import Imported
from modurob.studio.plans import Plan
from modurob.studio.poses import body_poses
from modurob.studio.replay import Replay
from modurob.studio.runs import Run, Since, suited
from modurob.studio.twins import Twin

MOST_STEPS = 2000  # of undo
MOST_RUNS = 12
MOST_NUMBERS = 16_000_000  # in the recordings of all runs
# edits that a run goes on through, if no module has to jump
RESHAPING = (protocol.Construction, protocol.SetBase, protocol.SetGravity)
# edits that bring another robot, which starts as its file says
OPENING = (protocol.New, protocol.Open, protocol.OpenShipped, protocol.OpenRecent, protocol.ReadMatrix)


class Session:
    """The design, its past and future, the pose, and the runs. Without an `autosave` nothing is saved, nor found again."""

    def __init__(self, autosave: Autosave | None, design: AnyDesign | None = None, name: str = ""):
        self.name = name or secrets.token_hex(16)
        self.autosave = autosave
        self.design: AnyDesign = design or Design(Assembly.single("m0", "backbone"))
        self.description = describe.robot(self.design)
        self._steps, self._now = [_Step(self.design.kept(), 0)], 0
        _, self.q, self.v = posing.closed(carrying.initial(self.design))
        self.runs: dict[int, Run | Replay] = {}
        self.active: Run | None = None
        self.paused = False
        self.speed = 1.0
        self._count = 0
        self.unsaved = ""  # why the design is not on disk

    @property
    def robot(self) -> Mechanism:
        """The robot of the design."""
        return self.design.robot

    # ---- the design ----

    @property
    def posed(self) -> AnyDesign:
        """The design with the present pose and rates as those it starts with."""
        return carrying.posed(Posed(self.design, self.q, self.v))

    @property
    def undoable(self) -> int:
        """How many edits can be undone."""
        return self._now

    @property
    def redoable(self) -> int:
        """How many undone edits can be done again."""
        return len(self._steps) - 1 - self._now

    @property
    def shown(self) -> dict[str, Any]:
        """The design as the page shows it."""
        history = {"undo": self.undoable, "redo": self.redoable, "most_steps": MOST_STEPS}
        return {**self.description, **history, "number": self._steps[self._now].robot, "unsaved": self.unsaved}

    def edit(self, edit: protocol.Edit) -> None:
        """Change the design, or raise and change nothing."""
        another = isinstance(edit, OPENING)
        take = self._ready(self._edited(edit), another, goes_on=isinstance(edit, RESHAPING))
        robot = max(step.robot for step in self._steps) + 1 if another else self._steps[self._now].robot
        self._steps[self._now + 1 :] = [_Step(take.design.kept(), robot)]
        del self._steps[:-MOST_STEPS]
        self._now = len(self._steps) - 1
        self._show(take)

    def _edited(self, edit: protocol.Edit) -> AnyDesign:
        if isinstance(edit, protocol.OpenRecent):
            if self.autosave is None:
                raise StudioError(
                    "this page was opened by a share link: robots saved on this machine are not shown to it"
                )
            return self.autosave.load(edit.name)
        if isinstance(edit, protocol.Connect):
            return meeting.connected(self.design, edit, self.q)
        return edited(self.design, edit)

    def undo(self) -> None:
        """The design before the last edit."""
        if not self.undoable:
            raise StudioError("nothing to undo")
        self._go(-1)

    def redo(self) -> None:
        """The design after the edit that was undone."""
        if not self.redoable:
            raise StudioError("nothing to redo")
        self._go(1)

    def _go(self, steps: int) -> None:
        here, there = self._steps[self._now], self._steps[self._now + steps]
        another = here.robot != there.robot
        take = self._ready(there.kept.design(), another, goes_on=not another)
        self._now += steps
        self._show(take)

    def _ready(self, design: AnyDesign, another: bool, goes_on: bool) -> "_Ready":
        """A design with all that is needed to show it: what fails, fails before anything has changed."""
        if another:
            pose, run = posing.closed(carrying.initial(design)), None
        else:
            carried = carrying.carried(Posed(self.design, self.q, self.v), design)
            pose = posing.closed(posing.within(self.robot, carried))
            run = self._going_on(design) if goes_on else None
        # hinges that carry nothing any more are held where the run brought them
        design = pose.design if run is None else run.start.design
        return _Ready(design, describe.robot(design), pose.q, pose.v, run)

    def _going_on(self, design: AnyDesign) -> "_GoingOn | None":
        """How the run that is going on does so with another design; None if there is none, or a module would have to jump."""
        run = self.active
        if run is None or not design.robot.nv:
            return None
        now = Posed(self.design, *run.state)
        start = carrying.carried(now, design)
        if not carrying.goes_on(now, start):
            return None
        belief = None if run.estimate is None else carrying.carried(Posed(self.design, *run.estimate), design)
        return _GoingOn(run, start, belief)

    def _show(self, take: "_Ready") -> None:
        """Take another design; a run goes on with it if it can."""
        paused = self.paused
        self.stop("the robot changed")
        self.design, self.description, self.q, self.v, going_on = take
        if going_on is not None:
            run, (_, q, v), belief = going_on
            # what the new robot cannot do, it does not do
            with suppress(ModurobError, np.linalg.LinAlgError):
                seen = None if belief is None else (belief.q, belief.v)
                since = Since(run.t, run.number, seen, run.ground)
                self._begin(Run(self._count, self.robot, q, v, suited(run.settings, self.robot), since))
                self.paused = paused
        if self.autosave is not None:
            self.unsaved = self.autosave.save(self.name, self.design)

    # ---- the pose ----

    def set_coordinate(self, index: int, value: float) -> None:
        """Move one coordinate of the pose, as far as it goes; an error if that is not where it should go."""
        self.q, complaint = posing.moved(self.robot, self.q, index, value)
        if complaint:
            raise StudioError(complaint)

    def pull(self, frame: str, point: list[float], near_will_do: bool = False) -> None:
        """Bring a frame to a point, as near as it gets; an error if that is not there and near will not do."""
        self.q, complaint = reaching.pulled(self.robot, self.q, frame, point)
        if complaint and not near_will_do:
            raise StudioError(complaint)

    def take_pose(self, q: list[float]) -> None:
        """Set all coordinates; they must keep limits and loops."""
        self.q = posing.checked(self.robot, q)

    def set_rate(self, index: int, value: float) -> None:
        """Set one initial rate."""
        self.v = posing.with_rate(self.robot, self.q, self.v, index, value)

    def reset_pose(self) -> None:
        """All coordinates neutral, all rates zero."""
        self.q, self.v = posing.rest(self.robot)

    def poses(self) -> Array:
        """X_WB of all bodies in the pose, (bodies, 4, 4)."""
        return body_poses(self.robot)(self.q)

    # ---- runs ----

    def start(self, settings: protocol.RunSettings) -> Run:
        """Begin a run from the present pose."""
        if not self.robot.nv:
            raise StudioError("nothing moves: dock a module so that a hinge has something to carry")
        require_floatable(self.design)
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

    def replay(self, data: bytes, name: str) -> None:
        """Show a recording of the present robot among the runs."""
        self._keep(Replay(self._count, self.robot, replay.read(data, name), name))

    def plan(self, motion: protocol.Motion) -> None:
        """Show a motion among the runs, in the place of the one that was planned before; a refused one leaves none."""
        self.runs = {number: run for number, run in self.runs.items() if not isinstance(run, Plan)}
        self._keep(Plan(self._count, self.robot, motion))

    def compare(self, number: int) -> None:
        """Show a run beside itself, by Lagrange's equations."""
        self._keep(Twin(self._count, self.robot, self._of_this_robot(number)))

    def trails(self, number: int, frames: Sequence[str]) -> list[dict[str, Any]]:
        """Where frames have been in a run."""
        return replay.trails(self._of_this_robot(number), frames)

    def _of_this_robot(self, number: int) -> Run | Replay:
        run = self.run(number)
        if run.robot.key != self.robot.key:
            raise StudioError(f"run {number} is of another shape of the robot: undo until it is shown")
        return run

    def _keep(self, shown: Replay) -> None:
        self.stop()
        self.runs[shown.number] = shown
        self._count += 1

    def stop(self, why: str = "stopped") -> None:
        """End the run that is going on, if any."""
        if self.active is not None:
            self.active.stop(why)
        self.active, self.paused = None, False

    def run(self, number: int) -> Run | Replay:
        """A run that is kept."""
        if number not in self.runs:
            raise StudioError(f"no run {number}: {choices(str(number), map(str, self.runs))}")
        return self.runs[number]

    def delete_run(self, number: int) -> None:
        """Forget a run."""
        if self.run(number) is self.active:
            self.stop()
        del self.runs[number]


class _Step(NamedTuple):
    """A design in the history, and the number of the robot it belongs to."""

    kept: Kept | Imported
    robot: int


class _Ready(NamedTuple):
    """A design that can be shown: how the page describes it, its pose and its rates, and the run that goes on with it."""

    design: AnyDesign
    description: dict[str, Any]
    q: Array
    v: Array
    going_on: "_GoingOn | None"


class _GoingOn(NamedTuple):
    """A run, the state that it goes on from, and what its filter believes that to be."""

    run: Run
    start: Posed
    belief: Posed | None
