"""The studio under load: how soon its page is ready, how smoothly it draws, what it costs the server, and whether it leaks.

`python -m benchmarks.studio [MINUTES] [soak]` needs Chromium and Playwright; MINUTES (1 by default) is how long robots are built,
run and stopped in a loop; with `soak` only that is measured. The browser draws in software, in the page's low detail, so numbers
are for machines without a graphics card.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table
from websockets.asyncio.client import ClientConnection, connect

import modurob as mr
from benchmarks.robots import snake
from modurob.assembly.files import dumps
from modurob.studio.protocol.coding import FRAME

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-gpu --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
# a studio that counts what it holds, for each line that it is told
SERVER = """
import gc, json, sys, threading
from modurob.studio.client import Client
from modurob.studio.server import serve
from modurob.studio.session import Session
from modurob.studio.runs import Run
def count():
    for _ in sys.stdin:
        gc.collect()
        held = [type(x) for x in gc.get_objects()]
        print(json.dumps([held.count(kind) for kind in (Session, Client, Run)]), flush=True)
threading.Thread(target=count, daemon=True).start()
serve(browser=False)
"""
READY = "window.studio?.view?.frames > 0 && window.studio.state.design !== null"
# the drives of a snake of so many modules cannot carry it: ideal ones can
SETTINGS = {"controller": "computed-torque", "ideal": True, "amplitude": 0.1, "duration": 12.0, "step": 0.005}
WALK = {"controller": "servos", "ground": True, "stepper": "linearly-implicit", "step": 0.0025, "duration": 12.0}


class Server(NamedTuple):
    """A studio in a process of its own."""

    address: str
    process: int
    pipes: Any  # its standard input and output

    def cpu_seconds(self) -> float:
        """Processor time that it has used."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Resident memory [MB]."""
        return int(Path(f"/proc/{self.process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def files(self) -> int:
        """Open files and sockets."""
        return len(os.listdir(f"/proc/{self.process}/fd"))

    def held(self) -> list[int]:
        """How many sessions, connections of pages and runs there are in its memory."""
        self.pipes.stdin.write("?\n")
        self.pipes.stdin.flush()
        return json.loads(self.pipes.stdout.readline())


@contextmanager
def serving() -> Iterator[Server]:
    """A studio, its saved robots in a folder that goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder}
        command = [sys.executable, "-c", SERVER]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, **pipes, text=True, env=environment) as process:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1].partition("#")[0]
            try:
                yield Server(address, process.pid, process)
            finally:
                process.terminate()


def until(page: Page, script: str, patience: float = 60.0) -> None:
    """Wait until a script in the page gives something true."""
    deadline = time.monotonic() + patience
    while not page.evaluate(script):
        if time.monotonic() > deadline:
            raise TimeoutError(script)
        time.sleep(0.005)


@contextmanager
def browsing() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS.split())
        yield browser
        browser.close()


def page_ready(browser: Any, server: Server) -> float:
    """Seconds from asking for the page to the robot on it, nothing cached."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    started = time.monotonic()
    page.goto(server.address + "&detail=low")
    until(page, READY)
    took = time.monotonic() - started
    context.close()
    return took


class Motion(NamedTuple):
    """A run as it was seen: frames a second, and how long the robot moved after stop [s]."""

    rate: float
    still: float


def motion(browser: Any, server: Server, modules: int, seconds: float = 6.0) -> Motion:
    """A snake under computed torque, shown for a while, then stopped."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(server.address + "&detail=low")
    until(page, READY)
    page.evaluate("(text) => studio.send('open', {text})", dumps(snake(modules - 1)))
    until(page, f"studio.state.design.modules.length === {modules}")
    page.evaluate("(settings) => studio.send('start_run', {settings})", SETTINGS)
    until(page, "studio.state.runs.state === 'running' && studio.state.sample?.[0] > 0.2")
    frames, started = page.evaluate("studio.view.frames"), time.monotonic()
    time.sleep(seconds)
    rate = (page.evaluate("studio.view.frames") - frames) / (time.monotonic() - started)
    still = page.evaluate(
        """new Promise((done) => {
          const pressed = performance.now();
          let [last, moved] = [studio.state.sample[0], pressed];
          studio.send("stop_run");
          const look = () => {
            const now = performance.now();
            if (studio.state.sample[0] !== last) [last, moved] = [studio.state.sample[0], now];
            if (now - pressed < 2000) requestAnimationFrame(look); else done((moved - pressed) / 1000);
          };
          look();
        })"""
    )
    context.close()
    return Motion(rate, still)


# ---- users without a browser ----


@asynccontextmanager
async def user(server: Server) -> AsyncIterator[ClientConnection]:
    """A page's side of the websocket."""
    page, token = server.address.split("?token=")
    async with connect(f"{page.replace('http://', 'ws://')}socket?token={token}", max_size=None) as socket:
        await say(socket, "hello")
        yield socket


async def say(socket: ClientConnection, command: str, **fields: Any) -> None:
    await socket.send(json.dumps({"type": command, **fields}))


async def heard(socket: ClientConnection) -> dict[str, Any]:
    """The next event; frames are acknowledged, as a page does."""
    message = await asyncio.wait_for(socket.recv(), timeout=20)
    if isinstance(message, str):
        return json.loads(message)
    kind, number = np.frombuffer(message[:8], "<u4").tolist()
    if kind != FRAME:
        return {"type": "bytes"}
    await say(socket, "acknowledge", number=number)
    return {"type": "frame"}


class Seen(NamedTuple):
    """Frames a second, and what went wrong."""

    rate: float
    problem: str


async def watched(server: Server, robot: str, seconds: float, settings: dict[str, Any] = SETTINGS) -> Seen:
    """One user who runs a robot and takes every frame."""
    frames, problem = 0, ""
    async with user(server) as socket:
        await say(socket, "open", text=robot)
        await say(socket, "start_run", settings=settings)
        counting = time.monotonic() + 1.0
        while (now := time.monotonic()) < counting + seconds:
            event = await heard(socket)
            frames += event["type"] == "frame" and now > counting
            problem = event["message"] if event["type"] == "refused" else problem
    return Seen(frames / seconds, problem)


def alone(server: Server, robot: str, settings: dict[str, Any], seconds: float = 6.0) -> tuple[float, float]:
    """One user with a robot that runs: frames a second, and the server's share of one core."""

    async def run() -> tuple[float, float]:
        task = asyncio.create_task(watched(server, robot, seconds, settings))
        await asyncio.sleep(1.5)
        cpu, started = server.cpu_seconds(), time.monotonic()
        await asyncio.sleep(seconds - 1.0)
        share = (server.cpu_seconds() - cpu) / (time.monotonic() - started)
        return (await task).rate, share

    return asyncio.run(run())


def crowd(server: Server, users: int = 20, seconds: float = 8.0) -> list[Seen]:
    """Users who all run a crab at once."""

    async def everybody() -> list[Seen]:
        crab = dumps(mr.load("crab"))
        return await asyncio.gather(*(watched(server, crab, seconds) for _ in range(users)))

    return asyncio.run(everybody())


class Held(NamedTuple):
    """What server and page hold after so many rounds; the page after its rubbish was collected."""

    rounds: int
    server: float  # memory [MB]
    page: float  # its heap [MB]
    nodes: int  # of the page's document
    listeners: int
    files: int  # open in the server
    sessions: int
    connections: int
    runs: int


# what may be added from the second half on, as a part and as such: more is a leak
ALLOWED = {
    "server": (0.04, 4.0),
    "page": (0.05, 1.0),
    "nodes": (0.1, 400),
    "listeners": (0.1, 100),
    "files": (0.0, 2),
    "sessions": (0.0, 0),
    "connections": (0.0, 1),
    "runs": (0.0, 1),
}
FULL = 2000  # rounds until the history of edits holds all it may: the server's memory grows until then


ROUND = """async (settings) => {
  const told = (type, fields) => new Promise((done) => {
    studio.connection.once("runs", done);
    studio.send(type, fields);
  });
  await told("open_shipped", { name: "crab" });
  await told("dock", { kind: "scout", at: "m3/3", by: "4" });
  await told("start_run", { settings });
  await new Promise((done) => setTimeout(done, 50));
  await told("stop_run");
  await told("undo");
}"""
AGAIN = "new Promise((done) => (studio.connection.once('welcome', () => setTimeout(done, 500)), studio.drop()))"
LOOK = 50  # rounds from one look to the next


def soak(browser: Any, server: Server, minutes: float) -> list[Held]:
    """One page opens, docks, runs, stops and undoes without a pause, with its plots open; after each look it is connected anew."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(server.address + "&detail=low")
    until(page, READY)
    page.get_by_role("tab", name="Simulate").click()
    tools = page.context.new_cdp_session(page)
    seen, rounds, deadline = [], 0, time.monotonic() + 60 * minutes
    while time.monotonic() < deadline or len(seen) < 4:
        for _ in range(LOOK):
            page.evaluate(ROUND, SETTINGS)
        rounds += LOOK
        seen.append(looked(tools, server, rounds))
        page.evaluate(AGAIN)
    page.close()
    return seen


def looked(tools: Any, server: Server, rounds: int) -> Held:
    """Count everything."""
    tools.send("HeapProfiler.collectGarbage")
    counted = tools.send("Memory.getDOMCounters")
    page = tools.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    own = counted["nodes"], counted["jsEventListeners"], server.files()
    return Held(rounds, server.memory(), page, *own, *server.held())


def grown(seen: list[Held]) -> dict[str, str]:
    """What has grown from the middle of the time to its end, beyond what is allowed: medians of the looks around both."""
    third, verdict = max(1, len(seen) // 3), {}
    for name, (part, more) in ALLOWED.items():
        middle, end = (
            float(np.median([getattr(x, name) for x in some])) for some in (seen[third:-third] or seen, seen[-third:])
        )
        if name == "server" and seen[-1].rounds < 2 * FULL:
            verdict[name] = f"fills the history until round {FULL}"
        else:
            verdict[name] = "level" if end <= middle * (1 + part) + more else f"GROWS: {middle:g} to {end:g}"
    return verdict


def print_soak(console: Console, seen: list[Held], minutes: float) -> None:
    """What is held at the beginning, on the way and at the end, and whether it grows."""
    table = Table(*Held._fields, title=f"{minutes:g} minutes of open, dock, run, stop, undo on one page")
    for at in (seen[0], seen[len(seen) // 4], seen[len(seen) // 2], seen[3 * len(seen) // 4], seen[-1]):
        table.add_row(*(f"{x:.1f} MB" if isinstance(x, float) else str(x) for x in at))
    console.print(table)
    for name, words in grown(seen).items():
        console.print(f"{name}: {words}")


def main(minutes: float = 1.0) -> None:
    """Measure everything and print it."""
    console = Console()
    table = Table("what", "measured", "wanted", title="studio, Chromium drawing in software, low detail")
    with serving() as server:
        with browsing() as browser:
            times = [page_ready(browser, server) for _ in range(5)]
            table.add_row("page ready, nothing cached", f"{np.median(times):.2f} s", "under 1 s")
            for modules in (10, 100, 1000):
                seen = motion(browser, server, modules)
                wanted = ("30 /s", "under 0.2 s") if modules == 100 else ("", "")
                table.add_row(f"{modules} modules: frames drawn", f"{seen.rate:.0f} /s", wanted[0])
                table.add_row(f"{modules} modules: moves after stop", f"{seen.still:.3f} s", wanted[1])
        for name, robot, settings in (
            ("100 modules", snake(99), SETTINGS),
            ("crab on the ground", mr.load("crab"), WALK),
        ):
            rate, cpu = max((alone(server, dumps(robot), settings) for _ in range(3)), key=lambda seen: seen[1])
            words = f"{name}: server at {rate:.0f} frames/s, of one core, worst of three runs"
            table.add_row(words, f"{100 * cpu:.0f} %", "under 20 % at 30 or more")
        used, started = server.cpu_seconds(), time.monotonic()
        together = crowd(server)
        cpu = (server.cpu_seconds() - used) / (time.monotonic() - started)
        table.add_row("20 users with a crab each: server, of one core", f"{100 * cpu:.0f} %", "")
        table.add_row("20 users with a crab each: slowest", f"{min(s.rate for s in together):.0f} /s", "10 /s")
        table.add_row("errors among them", str(sum(bool(s.problem) for s in together)), "0")
    console.print(table)
    endure(minutes)


def endure(minutes: float) -> None:
    """Build, run and stop for so long, and print what server and page hold; the exit status is 1 if something grew."""
    with serving() as server, browsing() as browser:
        seen = soak(browser, server, minutes)
    print_soak(Console(width=140), seen, minutes)
    if any(words.startswith("GROWS") for words in grown(seen).values()):
        raise SystemExit(1)


if __name__ == "__main__":
    chosen = endure if "soak" in sys.argv else main
    chosen(float(next((x for x in sys.argv[1:] if x != "soak"), 1.0)))
