"""Motion: simulate, plot, gait, reproduce, studio."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from modurob.cli.app import Base, File, Floating, app, console, robot_of
from modurob.control import PID, ComputedTorque, GravityCompensation
from modurob.errors import InputError, SimulationError, StudioError, choices
from modurob.estimation import ExtendedKalmanFilter, HallSensors
from modurob.motion.gaits import gait, plot_phases
from modurob.robot import Mechanism
from modurob.simulation import (
    Adaptive,
    Controller,
    ImplicitMidpoint,
    Recording,
    RungeKutta4,
    SemiImplicitEuler,
    Stepper,
    Variational,
    simulate,
)
from modurob.simulation.progress import progress_bar

STEPPERS: dict[str, Callable[[float], Stepper]] = {
    "runge-kutta-4": RungeKutta4,
    "semi-implicit-euler": SemiImplicitEuler,
    "implicit-midpoint": ImplicitMidpoint,
    "variational": Variational,
    "dop853": lambda dt: Adaptive("DOP853"),
    "radau": lambda dt: Adaptive("Radau"),
    "lsoda": lambda dt: Adaptive("LSODA"),
}
CONTROLLERS = ("none", "computed-torque", "pid", "gravity")


def _numbers(text: str | None, n: int, what: str) -> Any:
    """One number for all, or n of them, from a text with commas."""
    if text is None:
        return None
    try:
        values = [float(x) for x in text.split(",")]
    except ValueError:
        raise InputError(f"{what} {text!r}: expected numbers with commas between them") from None
    if len(values) not in (1, n):
        raise InputError(f"{what} has {len(values)} numbers: expected one, or {n}")
    return values[0] if len(values) == 1 else np.array(values)


def _controller(
    robot: Mechanism,
    name: str,
    gains: tuple[float, float, float],
    reference: Any,
    sample_time: float | None,
    partial: bool,
) -> Controller | None:
    kp, kd, ki = gains
    match name:
        case "none":
            return None
        case "computed-torque":
            return ComputedTorque(kp, kd, reference, sample_time, partial=partial)
        case "pid":
            return PID(kp, ki, kd, reference, sample_time or 1e-3)
        case "gravity":
            return GravityCompensation(sample_time=sample_time)
    raise SimulationError(f"controller {name!r}: {choices(name, CONTROLLERS)}")


@app.command(name="simulate")
def simulate_command(
    file: File,
    base: Base = None,
    floating: Floating = False,
    duration: Annotated[float, typer.Option(help="seconds")] = 5.0,
    controller: Annotated[str, typer.Option(help=", ".join(CONTROLLERS))] = "none",
    kp: Annotated[float, typer.Option(help="gain of the position error")] = 100.0,
    kd: Annotated[float, typer.Option(help="gain of the velocity error")] = 20.0,
    ki: Annotated[float, typer.Option(help="gain of the integral, for pid")] = 0.0,
    reference: Annotated[str | None, typer.Option(help="where to go: one number, or one a joint with commas")] = None,
    gait_name: Annotated[
        str | None, typer.Option("--gait", help="rhythm to track: snake, crab, quadruped, wheel")
    ] = None,
    start: Annotated[str | None, typer.Option(help="initial coordinates: one a joint, with commas")] = None,
    stepper: Annotated[str, typer.Option(help=", ".join(STEPPERS))] = "runge-kutta-4",
    dt: Annotated[float, typer.Option(help="step of fixed steppers [s]")] = 1e-3,
    sample_time: Annotated[
        float | None, typer.Option(help="how long a torque is held [s]; a step if not given")
    ] = None,
    ekf: Annotated[bool, typer.Option("--ekf", help="control from an estimate by an extended Kalman filter")] = False,
    noise: Annotated[float, typer.Option(help="noise of the angle sensors [rad], for --ekf")] = 1e-3,
    out: Annotated[Path | None, typer.Option(help="write the recording here (.mrun)")] = None,
    picture: Annotated[Path | None, typer.Option("--plot", help="draw the run here (.png, .pdf, .svg)")] = None,
) -> None:
    """Let a robot move, under gravity alone or under a controller."""
    _, robot = robot_of(file, base, floating)
    if stepper not in STEPPERS:
        raise SimulationError(f"stepper {stepper!r}: {choices(stepper, STEPPERS)}")
    target = gait(gait_name) if gait_name else _numbers(reference or "0", robot.nv, "--reference")
    q0 = _numbers(start, robot.nq, "--start")
    if isinstance(q0, float):
        q0 = np.full(robot.nq, q0)
    law = _controller(robot, controller, (kp, kd, ki), target, sample_time, floating)
    estimator = ExtendedKalmanFilter(HallSensors(noise=noise)) if ekf else None
    run = simulate(robot, q0, None, duration, law, STEPPERS[stepper](dt), estimator=estimator)
    console.print(f"{robot.name}: {len(run.t)} ticks, {run.status}")
    for event in run.events:
        console.print(f"  {event.t:.4g} s  {event.message}")
    with np.printoptions(precision=6, suppress=True):
        console.print("at the end q =", run.q[-1], "v =", run.v[-1])
    if out is not None:
        run.save(out)
        console.print(f"recording: {out}")
    if picture is not None:
        run.plot(picture)
        console.print(f"picture: {picture}")
    if not run.status.ok:
        raise typer.Exit(1)


@app.command()
def plot(
    recording: Annotated[Path, typer.Argument(help="a recording (.mrun)")],
    out: Annotated[
        Path | None, typer.Option(help="picture (.png, .pdf, .svg); beside the recording by default")
    ] = None,
    joints: Annotated[str | None, typer.Option(help="joints to draw, with commas between them")] = None,
    table: Annotated[Path | None, typer.Option(help="also write all numbers here (.csv or .parquet)")] = None,
) -> None:
    """Draw a recording: position, velocity, acceleration and torque over time."""
    run = Recording.load(recording)
    out = out or recording.with_suffix(".png")
    run.plot(out, joints.split(",") if joints else None)
    console.print(f"{run!r}\npicture: {out}")
    if table is not None:
        (run.to_parquet if table.suffix == ".parquet" else run.to_csv)(table)
        console.print(f"table: {table}")


@app.command(name="gait")
def gait_command(
    file: File,
    base: Base = None,
    floating: Floating = False,
    name: Annotated[str, typer.Option(help="snake, crab, quadruped, wheel")] = "crab",
    generator: Annotated[str, typer.Option(help="what makes the waves: sine, hopf, matsuoka, logistic")] = "sine",
    duration: Annotated[float | None, typer.Option(help="seconds; ten swings if not given")] = None,
    out: Annotated[Path, typer.Option(help="picture")] = Path("gait.png"),
) -> None:
    """Draw the rhythm of a gait on a robot: each joint's wave and phase."""
    _, robot = robot_of(file, base, floating)
    figure = plot_phases(gait(name, generator=generator).on(robot), duration)
    figure.savefig(out, dpi=150)
    console.print(f"{name} gait of {robot.name}: {out}")


@app.command(name="reproduce")
def reproduce_command(
    out: Annotated[Path, typer.Option(help="folder for the pictures")] = Path("reproduced"),
    only: Annotated[list[str] | None, typer.Option(help="a figure, like 5.4 or 11; may be given again")] = None,
) -> None:
    """Draw the figures of documents 000 and 003 again, and check each against a judge."""
    from reproduce import reproduce  # SymPy's mechanics takes a while to import

    with progress_bar("figures") as tell:
        checks = reproduce(out, only, lambda figure, done: tell(done))
    table = Table("figure", "what", "expected", "found", "")
    colours = {"pass": "green", "FAIL": "red", "skipped": "yellow"}
    for c in checks:
        table.add_row(c.figure, c.what, c.expected_text, escape(c.found_text), f"[{colours[c.verdict]}]{c.verdict}")
    console.print(table)
    passed = sum(c.passed for c in checks)
    console.print(f"{passed} of {len(checks)} passed; pictures: {out}")
    if passed < len(checks):
        raise typer.Exit(1)


@app.command()
def studio(
    file: Annotated[
        str | None, typer.Argument(help="robot to open: an assembly (.yaml), a URDF file, or a shipped robot")
    ] = None,
    share: Annotated[str | None, typer.Option(help="open the robot in a share link, or in the text of one")] = None,
    port: Annotated[int, typer.Option(help="port; a free one if 0")] = 0,
    host: Annotated[str, typer.Option(help="address to listen on; this machine alone by default")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="open the browser")] = True,
) -> None:
    """Build, watch and steer a robot in the browser."""
    try:
        from modurob.studio.server import serve
    except ImportError:
        raise StudioError("the studio needs its extra: pip install 'modurob[studio]'") from None
    serve(file, host, port, browser, share)
