"""One page and its session: commands in, events and frames out."""

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from starlette.websockets import WebSocketDisconnect

from modurob.errors import ModurobError, StudioError
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.studio import protocol, reaching
from modurob.studio.channel import Channel
from modurob.studio.derivation import Derivation, none
from modurob.studio.gait_search import best_gait
from modurob.studio.poses import body_poses
from modurob.studio.replay import Replay
from modurob.studio.runs import Run
from modurob.studio.session import Session
from modurob.viewer import drawing

RATE = 60.0  # frames a second
CONTACTS_RATE = 25.0  # pictures a second of what touches the ground
SHORT = 10_000  # characters of a message that is read at once, and given back when it is refused
LONGEST_TICK = 0.1  # seconds that one frame may stand for: after a pause of the machine a run does not jump

# derivations take turns, so that they never take all cores
_derivers = ThreadPoolExecutor(max_workers=1, thread_name_prefix="derivation")


class Client:
    """Serves one page until it goes."""

    def __init__(self, channel: Channel, session: Session):
        self.channel, self.session = channel, session
        self._editing = asyncio.Lock()
        self._pumping: asyncio.Task[None] | None = None
        self._deriving: tuple[Derivation, asyncio.Task[None]] | None = None
        self._touched = 0.0  # when contacts were shown last

    async def serve(self) -> None:
        """Answer commands until the page goes; a run that is going on is then held."""
        try:
            await self._show_all()
            while True:
                await self._answer(await self.channel.receive())
        except WebSocketDisconnect:
            pass
        finally:
            if self.session.active is not None:
                self.session.paused = True
            await self._end_tasks()

    async def _end_tasks(self) -> None:
        """Wait for what was under way to end: nothing is left behind when the page or the server goes."""
        tasks = [task for task in (self._pumping, self._deriving and self._deriving[1]) if task is not None]
        self._cancel_derivation()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, text: str) -> None:
        """Do one command and say so; if it cannot be done, give it back with the reason."""
        try:
            command = await _decoded(text)
            await self._do(command)
            if not isinstance(command, protocol.Acknowledge):
                await self.channel.send(protocol.Done(protocol.name_of(command)))
        except ModurobError as error:
            await self.channel.send(protocol.Refused(_echo(text), str(error)))
        except WebSocketDisconnect:
            raise
        except Exception as error:
            # a mistake of ours: the user goes on, the log has the whole of it
            logging.getLogger(__name__).exception("%.200s", text)
            message = f"the studio failed at this: {type(error).__name__}: {error}"
            await self.channel.send(protocol.Refused(_echo(text), message))

    async def _do(self, command: protocol.Command) -> None:
        if isinstance(command, protocol.Edit):
            await self.edit(command)
        elif type(command) in self._HANDLERS:
            await self._HANDLERS[type(command)](self, command)
        else:
            raise StudioError("hello comes first, and once")

    # ---- the design ----

    async def edit(self, edit: protocol.Edit) -> None:
        """Change the design, one edit at a time, and show it."""
        async with self._editing:
            await asyncio.to_thread(self.session.edit, edit)
        await self._show_all()

    async def replay(self, data: bytes, name: str) -> None:
        """Show a recording of the robot, from its last moment on."""
        await asyncio.to_thread(self.session.replay, data, name)
        await self._show_kept()

    async def _plan(self, command: protocol.PlanMotion) -> None:
        try:
            await asyncio.to_thread(self.session.plan, command.motion)
        except ModurobError:
            # the plan before is gone with its plots
            await self._show_runs()
            raise
        await self._show_kept()

    async def _compare(self, command: protocol.CompareRun) -> None:
        await asyncio.to_thread(self.session.compare, command.run)
        await self._show_kept()

    async def _trace(self, command: protocol.TraceRun) -> None:
        paths = await asyncio.to_thread(self.session.trails, command.run, command.frames)
        await self.channel.send(protocol.Trails(command.run, paths))

    async def _show_kept(self) -> None:
        """The run that was added last, as it ended."""
        await self._show_runs()
        await self._show_sample(list(self.session.runs.values())[-1])

    async def _undo(self, command: protocol.Undo) -> None:
        async with self._editing:
            await asyncio.to_thread(self.session.undo)
        await self._show_all()

    async def _redo(self, command: protocol.Redo) -> None:
        async with self._editing:
            await asyncio.to_thread(self.session.redo)
        await self._show_all()

    async def _show_all(self) -> None:
        """Tell the page everything that may have changed."""
        s = self.session
        await self.channel.send(protocol.Robot(s.shown))
        await self._show_runs()
        await self._show_pose()
        if s.active is not None and not s.paused:
            self._pump()

    # ---- the pose ----

    async def _set_coordinate(self, command: protocol.SetCoordinate) -> None:
        try:
            await asyncio.to_thread(self.session.set_coordinate, command.index, command.value)
        finally:
            # a coordinate that does not get where it should may have gone part of the way
            await self._show_pose()

    async def _set_rate(self, command: protocol.SetRate) -> None:
        await asyncio.to_thread(self.session.set_rate, command.index, command.value)
        await self._show_pose()

    async def _reset_pose(self, command: protocol.ResetPose) -> None:
        await asyncio.to_thread(self.session.reset_pose)
        await self._show_pose()

    async def _pull(self, command: protocol.Pull) -> None:
        try:
            await asyncio.to_thread(self.session.pull, command.frame, command.point, command.dragged)
        finally:
            # a frame that does not get there has come as near as it can
            await self._show_pose()

    async def _find_solutions(self, command: protocol.FindSolutions) -> None:
        s = self.session
        found = await asyncio.to_thread(reaching.solutions, s.robot, s.q, command.frame)
        await self.channel.send(protocol.Solutions(**found))

    async def _take_pose(self, command: protocol.TakePose) -> None:
        await asyncio.to_thread(self.session.take_pose, command.q)
        await self._show_pose()

    async def _acknowledge(self, command: protocol.Acknowledge) -> None:
        await self.channel.acknowledge(command.number)

    async def _show_pose(self) -> None:
        s = self.session
        await self.channel.send(protocol.Pose(s.q.tolist(), s.v.tolist()))
        if s.active is None:
            await self._show_tensions(s.robot, s.q, s.v)
            await self.channel.show(s.poses(), np.zeros(0))
        else:
            await self._show_sample(s.active)

    # ---- equations ----

    async def _derive(self, command: protocol.Derive) -> None:
        self._cancel_derivation()
        loop = asyncio.get_running_loop()

        def report(stage: str, done: float) -> None:
            if not derivation.cancelled:
                asyncio.run_coroutine_threadsafe(_quiet(self.channel.send(protocol.Progress(stage, done))), loop)

        derivation = Derivation(self.session.robot, command, report)

        async def work() -> None:
            result = await loop.run_in_executor(_derivers, derivation.run)
            if not derivation.cancelled:
                await self.channel.send(result)

        self._deriving = derivation, asyncio.create_task(_quiet(work()))

    async def _cancel(self, command: protocol.CancelDerivation) -> None:
        self._cancel_derivation()
        await self.channel.send(none("stopped"))

    def _cancel_derivation(self) -> None:
        if self._deriving is not None:
            self._deriving[0].cancel()
            self._deriving = None

    async def _show_entry(self, command: protocol.ShowEntry) -> None:
        found = await asyncio.to_thread(self._derived.entry, command.part, command.row, command.column)
        await self.channel.send(found)

    async def _evaluate(self, command: protocol.Evaluate) -> None:
        await self.channel.send(await asyncio.to_thread(self._derived.numbers, command.q, command.v))

    @property
    def _derived(self) -> Derivation:
        if self._deriving is None:
            raise StudioError("there are no equations yet: derive them first")
        return self._deriving[0]

    # ---- runs ----

    async def _start(self, command: protocol.StartRun) -> None:
        await asyncio.to_thread(self.session.start, command.settings)
        await self._show_runs()
        self._pump()

    async def _pause(self, command: protocol.PauseRun) -> None:
        self.session.paused = True
        await self._show_runs()

    async def _resume(self, command: protocol.ResumeRun) -> None:
        self.session.paused = False
        await self._show_runs()
        self._pump()

    async def _step(self, command: protocol.StepRun) -> None:
        run = self.session.active
        self.session.paused = True
        if run is not None:
            await asyncio.to_thread(run.advance_to_sample)
            await self._show_sample(run)
        await self._show_runs()

    async def _stop(self, command: protocol.StopRun) -> None:
        self.session.stop()
        await self._show_runs()

    async def _tune(self, command: protocol.TuneRun) -> None:
        run = self.session.active
        if run is not None:
            await asyncio.to_thread(run.tune, command.amplitude, command.frequency)

    async def _find_gait(self, command: protocol.FindGait) -> None:
        s = self.session
        found = await asyncio.to_thread(best_gait, s.robot, s.q, command.settings)
        await self.channel.send(protocol.FoundGait(**found))

    async def _set_speed(self, command: protocol.SetSpeed) -> None:
        self.session.speed = command.speed
        await self._show_runs()

    async def _scrub(self, command: protocol.Scrub) -> None:
        run = self.session.run(command.run)
        q, sample = run.at(command.t)
        await self._show_tensions(run.robot, q)
        await self._show_contacts(run, command.t)
        await self.channel.show(body_poses(run.robot)(q), sample)

    async def _fetch(self, command: protocol.FetchRun) -> None:
        run = self.session.run(command.run)
        await self.channel.send(protocol.history(run.number, await asyncio.to_thread(lambda: run.samples)))

    async def _delete(self, command: protocol.DeleteRun) -> None:
        self.session.delete_run(command.run)
        await self._show_runs()

    async def _show_runs(self, note: str = "") -> None:
        s = self.session
        state = "idle" if s.active is None else "paused" if s.paused else "running"
        active, t = (s.active.number, s.active.t) if s.active is not None else (-1, 0.0)
        summaries = [run.summary() for run in s.runs.values()]
        await self.channel.send(protocol.Runs(summaries, state, active, t, s.speed, note))

    async def _show_sample(self, run: Run | Replay) -> None:
        q, sample = run.last
        await self._show_tensions(run.robot, q)
        await self._show_contacts(run)
        await self.channel.show(body_poses(run.robot)(q), sample)

    async def _show_tensions(self, robot: Mechanism, q: Array, v: Array | None = None) -> None:
        """What lines pull with; pages without any are told nothing."""
        if robot.lines:
            await self.channel.send(protocol.Tensions(drawing.tensions(robot, q, v)))

    async def _show_contacts(self, run: Run | Replay, t: float | None = None) -> None:
        """Where a robot on the ground touches it; of a run that goes on, not in every frame."""
        now = time.monotonic()
        if run.ground is not None and (t is not None or run.ended or now - self._touched > 1 / CONTACTS_RATE):
            self._touched = now
            await self.channel.send(protocol.contacts(await asyncio.to_thread(run.touching, t)))

    def _pump(self) -> None:
        """Let the run go on, if it is not going on already."""
        if self._pumping is None or self._pumping.done():
            self._pumping = asyncio.create_task(_quiet(self._advance()))

    async def _advance(self) -> None:
        """Advance the run in real time, a frame at a time, no faster than the page can draw."""
        s, before = self.session, time.monotonic()
        while (run := s.active) is not None and not s.paused:
            await self.channel.room()
            now = time.monotonic()
            await asyncio.to_thread(run.advance, min(now - before, LONGEST_TICK) * s.speed)
            before = now
            if s.active is run:
                await self._show_sample(run)
                if run.ended:
                    s.stop()
                    await self._show_runs(run.status)
            await asyncio.sleep(max(0.0, 1 / RATE - (time.monotonic() - now)))

    _HANDLERS: ClassVar[dict[type, Callable[["Client", Any], Awaitable[None]]]] = {
        protocol.Undo: _undo,
        protocol.Redo: _redo,
        protocol.SetCoordinate: _set_coordinate,
        protocol.SetRate: _set_rate,
        protocol.ResetPose: _reset_pose,
        protocol.Pull: _pull,
        protocol.FindSolutions: _find_solutions,
        protocol.TakePose: _take_pose,
        protocol.Acknowledge: _acknowledge,
        protocol.Derive: _derive,
        protocol.CancelDerivation: _cancel,
        protocol.ShowEntry: _show_entry,
        protocol.Evaluate: _evaluate,
        protocol.PlanMotion: _plan,
        protocol.StartRun: _start,
        protocol.PauseRun: _pause,
        protocol.ResumeRun: _resume,
        protocol.StepRun: _step,
        protocol.StopRun: _stop,
        protocol.TuneRun: _tune,
        protocol.FindGait: _find_gait,
        protocol.SetSpeed: _set_speed,
        protocol.Scrub: _scrub,
        protocol.FetchRun: _fetch,
        protocol.DeleteRun: _delete,
        protocol.CompareRun: _compare,
        protocol.TraceRun: _trace,
    }


async def _quiet(work: Awaitable[None]) -> None:
    """Work for a page that may have gone meanwhile."""
    with suppress(WebSocketDisconnect):
        await work


async def _decoded(text: str) -> protocol.Command:
    """The command in a message; a long one is read off the event loop."""
    return protocol.decode(text) if len(text) < SHORT else await asyncio.to_thread(protocol.decode, text)


def _echo(text: str) -> dict[str, Any]:
    """A refused command as it came, if it is short enough to give back."""
    try:
        data = json.loads(text) if len(text) < SHORT else {"type": _type(text)}
    except (ValueError, RecursionError):
        data = {}
    return data if isinstance(data, dict) else {}


def _type(text: str) -> str:
    """The name of a command that is too long to give back."""
    found = re.search(r'"type"\s{0,9}:\s{0,9}"(\w{1,40})"', text[:200])
    return found[1] if found else ""
