"""Motion: simulate, plot, gait, studio."""

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any

import typer

import modurob as mr
from modurob.cli.app import (
    PICTURES,
    Base,
    File,
    Floating,
    command,
    console,
    existing,
    made,
    path_of,
    robot_of,
    writable,
)
from modurob.errors import InputError, SimulationError, StudioError, choices

# of laws that cannot do without
GAINS = {"kp": 100.0, "kd": 20.0}
# what laws have in common, each with an option of its own
WITH_OPTIONS = ("kp", "kd", "ki", "reference")
NO_CONTROLLER = "none"
TABLES = (".csv", ".parquet")


def _numbers(text: str | None, n: int, what: str) -> float | list[float] | None:
    """One number for all, or n of them, from a text with commas or spaces."""
    if text is None:
        return None
    try:
        values = [float(x) for x in text.replace(",", " ").split()]
    except ValueError:
        example = ",".join(["0.1"] * n)
        raise InputError(
            f"{what} {text!r}: expected one number, or {n} with commas between them, like {example}"
        ) from None
    if len(values) not in (1, n):
        raise InputError(f"{what} has {len(values)} numbers: expected one, or {n}")
    return values[0] if len(values) == 1 else values


def _controller(robot: "mr.Mechanism", name: str, given: dict[str, Any]) -> Any:
    """The law of that name with the options given; with none, an error for any."""
    if name == NO_CONTROLLER:
        for option, value in given.items():
            if value is not None:
                valid = ", ".join(mr.control.plain_laws())
                raise SimulationError(
                    f"--{option.replace('_', '-')} without a controller: add --controller, one of {valid}"
                )
        return None
    if name not in mr.control.LAWS:
        raise SimulationError(f"no controller {name!r}: {choices(name, [NO_CONTROLLER, *mr.control.plain_laws()])}")
    law = mr.control.plain_law(name)
    options = {option: x for option, x in given.items() if option != "gait"}
    options["reference"] = given["gait"] or given["reference"]
    floating = bool(robot.joints) and robot.joints[0].kind == "free"
    needed = {f.name for f in fields(law) if f.default is MISSING}
    otherwise = {"reference": 0.0, "partial": floating, **{k: x for k, x in GAINS.items() if k in needed}}
    return made(law, name, options, otherwise)


def _write_controller(path: Path | None, law: Any, robot: "mr.Mechanism") -> None:
    """The controller as C, where a file for it is given."""
    if path is not None:
        from modurob.catalogue.reading import write_text

        write_text(path, mr.controller_c(law, robot))
        console.print(f"controller: {path}")


def _start(assembly: "mr.Assembly | None", robot: "mr.Mechanism", start: str | None) -> tuple[Any, Any]:
    """q and v to start from: as the option says, else as the file does, else neutral and at rest."""
    q = _numbers(start, robot.nq, "--start")
    if q is not None:
        return [q] * robot.nq if isinstance(q, float) else q, None
    return (None, None) if assembly is None else assembly.initial_state()


@command(name="simulate")
def simulate_command(
    file: File,
    base: Base = None,
    floating: Floating = None,
    duration: Annotated[float, typer.Option(help="seconds")] = 5.0,
    controller: Annotated[str, typer.Option(help="none, {controllers}")] = NO_CONTROLLER,
    kp: Annotated[
        float | None, typer.Option(help="gain of the position error; default: that of the law, or 100")
    ] = None,
    kd: Annotated[
        float | None, typer.Option(help="gain of the velocity error; default: that of the law, or 20")
    ] = None,
    ki: Annotated[float | None, typer.Option(help="integral gain, for pid")] = None,
    reference: Annotated[
        str | None, typer.Option(help="set point: one number, or one per joint, separated by commas [rad, m]")
    ] = None,
    gait: Annotated[
        str | None,
        typer.Option(
            help="gait to track: {gaits}; or found: the result of a search for a walking robot of the package"
        ),
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="initial coordinates: one per joint, separated by commas [rad, m]")
    ] = None,
    amplitude: Annotated[
        float | None, typer.Option(help="amplitude of the gait [rad]; default 0.4, on the ground one at which it walks")
    ] = None,
    frequency: Annotated[
        float | None, typer.Option(help="frequency of the gait [Hz]; default 0.5, on the ground one at which it walks")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="number of the controller or the gait, such as stance=1.2; repeatable"),
    ] = None,
    speed: Annotated[float | None, typer.Option(help="speed of a wheeled robot on the ground [m/s]")] = None,
    turn: Annotated[
        float | None,
        typer.Option(
            help="turning rate of a wheeled robot, positive to the left [rad/s]; default: the rate at which its wheels slip least"
        ),
    ] = None,
    to: Annotated[str | None, typer.Option(help="goal on the ground to which the robot is steered: x,y [m]")] = None,
    ground: Annotated[
        float | None,
        typer.Option(
            help="put the robot on ground with this friction coefficient, such as 0.8; its base floats, and servos follow the gait"
        ),
    ] = None,
    slope: Annotated[float, typer.Option(help="slope of the ground, rising along x [rad]")] = 0.0,
    stepper: Annotated[
        str | None, typer.Option(help="{steppers}; default: runge-kutta-4, or the one that the ground requires")
    ] = None,
    dt: Annotated[
        float | None, typer.Option(help="time step of fixed steppers [s]; default 0.001, on the ground 0.002")
    ] = None,
    method: Annotated[str | None, typer.Option(help="method of the adaptive stepper: DOP853, Radau, LSODA")] = None,
    sample_time: Annotated[
        float | None,
        typer.Option(
            help="sample time of the controller, for which a torque is held [s]; default: its own, or one time step"
        ),
    ] = None,
    estimator: Annotated[
        str | None, typer.Option("--filter", help="use the estimate of this filter for control: {filters}")
    ] = None,
    ekf: Annotated[bool, typer.Option("--ekf", help="short for --filter ekf")] = False,
    noise: Annotated[
        float | None, typer.Option(help="noise of the filter's angle sensors [rad]; default 0.001")
    ] = None,
    ideal: Annotated[bool, typer.Option("--ideal", help="omit friction, end stops and effort limits")] = False,
    out: Annotated[Path | None, typer.Option(help="file for the recording (.mrun)")] = None,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="file for a plot of the run (.png, .pdf, .svg)")
    ] = None,
    c: Annotated[Path | None, typer.Option(help="file for the controller as C99 code")] = None,
) -> None:
    """Simulate a robot, under gravity alone or under a controller, fixed, floating or on the ground."""
    from modurob.simulation.progress import progress_bar

    writable(out, ".mrun", "")
    writable(picture, *PICTURES)
    writable(c)
    assembly, robot = robot_of(file, base, floating if ground is None else True)
    robot = robot.ideal() if ideal else robot
    if gait is not None and reference is not None:
        raise SimulationError("--gait and --reference: expected one of them")
    if c is not None and controller == NO_CONTROLLER:
        raise SimulationError(
            f"--c without a controller: add --controller, one of {', '.join(mr.control.plain_laws())}"
        )
    if slope and ground is None:
        raise SimulationError("--slope without a ground: add --ground, its friction, such as 0.8")
    wheels = {"speed": speed, "turn": turn}
    for name, x in ("--speed", speed), ("--turn", turn), ("--to", to):
        if x is not None and ground is None:
            raise SimulationError(f"{name} without a ground: add --ground, its friction, such as 0.8")
    stands = None if ground is None else robot
    numbers = dict(map(_option, option or []))
    own = {name: numbers.pop(name) for name in _numbers_of(controller) if name in numbers}
    if numbers and gait is None:
        raise SimulationError(_unknown_number(next(iter(numbers)), controller))
    rhythm = _rhythm(file, gait, {"amplitude": amplitude, "frequency": frequency}, numbers, stands)
    given = {
        **own,
        "kp": kp,
        "kd": kd,
        "ki": ki,
        "reference": _numbers(reference, robot.nv, "--reference"),
        "gait": rhythm,
        "sample_time": sample_time,
    }
    q, v = _start(assembly, robot, start)
    surface = None if ground is None else mr.Ground(ground, surface=mr.Plane(slope))
    if to is not None:
        run = _steered(robot, surface, rhythm, to, duration, 2e-3 if dt is None else dt)
    else:
        if surface is not None:
            robot, q, given = _on_ground(robot, surface, q, controller, given, wheels)
        law = _controller(robot, controller, given)
        _write_controller(c, law, robot)
        watch = _filter(estimator or ("ekf" if ekf else None), noise, law)
        name = stepper or ("runge-kutta-4" if ground is None else "linearly-implicit")
        otherwise = {"dt": 1e-3 if ground is None else 2e-3}
        steps = made(mr.simulation.STEPPERS[name], name, {"dt": dt, "method": method}, otherwise)
        with progress_bar(robot.name) as tell:
            run = mr.simulate(robot, q, v, duration, law, steps, estimator=watch, progress=tell)
    _print_run(run)
    if ground is not None:
        _print_travel(run)
    if out is not None:
        run.save(out)
        console.print(f"recording: {out}")
    if picture is not None:
        run.plot(picture)
        console.print(f"picture: {picture}")
    if not run.status.ok:
        raise typer.Exit(1)


def _numbers_of(controller: str) -> list[str]:
    """The numbers of a controller that have no option of their own."""
    known = {*WITH_OPTIONS, *(f.name for f in fields(mr.control.Recipe))}
    law: Any = mr.control.LAWS.get(controller)
    return [] if law is None else [f.name for f in fields(law) if f.name not in known]


def _unknown_number(name: str, controller: str) -> str:
    """What is wrong with an option that is neither a number of the controller nor one of a gait, in words."""
    if name in WITH_OPTIONS:
        return f"--option {name}: expected --{name}, which is an option of its own"
    own, told = _numbers_of(controller), f"--option {name}: there is no gait: add --gait"
    return f"{told}, or choose a number of the controller {controller!r}: {choices(name, own)}" if own else told


def _rhythm(file: str, name: str | None, waves: dict[str, float | None], options: dict[str, float], walker: Any) -> Any:
    """The gait of that name with these options, or the one that was found for an organism; a walker's strides by default."""
    from modurob.motion.gaits import PRESETS, strides

    told: dict[str, Any] = {key: x for key, x in waves.items() if x is not None} | options
    if name == "found" and not told:
        return mr.found_gait(file)
    if told and name in (None, "found"):
        first = next(iter(told))
        what = "the one that was found has its own" if name else "there is no gait: add --gait"
        raise SimulationError(f"--{first if first in waves else f'option {first}'} of a gait: {what}")
    if name is None:
        return None
    if walker is None or name not in PRESETS:
        return mr.gait(name, **{"amplitude": 0.4, "frequency": 0.5, **told})
    return mr.gait(name, **strides.options_of(strides.stride(walker, name, file)) | told)


def _option(text: str) -> tuple[str, float]:
    """A name and a number, from stance=1.2."""
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise InputError(f"--option {text!r}: expected a name and a number, such as stance=1.2") from None


def _steered(robot: "mr.Mechanism", ground: Any, rhythm: Any, to: str, duration: float, dt: float) -> "mr.Recording":
    """The walk to a goal, by a gait that is turned."""
    goal = _numbers(to, 2, "--to")
    if rhythm is None or not isinstance(goal, list):
        raise SimulationError(f"--to {to}: expected x,y [m], and a gait that is steered: --gait")
    return mr.walk_to(mr.steering(robot, rhythm, ground, dt=dt), goal, duration, dt=dt)


def _on_ground(
    robot: "mr.Mechanism", ground: "mr.Ground", q: Any, controller: str, given: dict[str, Any], wheels: dict[str, Any]
) -> Any:
    """The robot on its ground, q there, and what is left for a controller: without one, servos swing the gait or turn wheels."""
    rhythm = given["gait"]
    if any(x is not None for x in wheels.values()):
        if rhythm is not None:
            raise SimulationError("--gait and --speed or --turn: expected one of them")
        robot = mr.on_wheels(robot, wheels["speed"] or 0.0, wheels["turn"])
    if rhythm is not None and q is None:
        q = rhythm.on(robot)(0.0)[0]
    if rhythm is not None and controller == NO_CONTROLLER:
        robot, given = mr.driven(robot, rhythm), {**given, "gait": None}
    robot = robot.on_ground(ground)
    return robot, robot.standing(q), given


def _print_travel(run: "mr.Recording") -> None:
    went = mr.travel(run)
    console.print(
        f"travelled {went.distance:.3f} m at {went.speed:.3f} m/s, heading {went.heading:.2f} rad, cost of transport "
        f"{went.cost_of_transport:.2f}, slip {went.slip:.2f}",
        soft_wrap=True,
    )


def _filter(name: str | None, noise: float | None, law: Any) -> Any:
    """The filter of that name on angle sensors."""
    if name is None:
        if noise is not None:
            raise SimulationError("--noise without a filter: add --ekf or --filter")
        return None
    if law is None:
        raise SimulationError(
            f"--filter {name} without a controller, which alone would look at the estimate: add --controller"
        )
    return mr.estimation.FILTERS[name](mr.HallSensors(noise=1e-3 if noise is None else noise))


def _print_run(run: "mr.Recording") -> None:
    from modurob.simulation.recording.efforts import remark

    console.print(f"{run.robot.name}: {len(run.t)} ticks, {run.status}", soft_wrap=True)
    for event in run.events:
        console.print(f"  {event.t:.4g} s  {event.message}", soft_wrap=True)
    console.print(_table_of(run))
    weak = remark(run.saturated)
    if weak:
        console.print(f"{weak}: the drives cannot give what is asked of them", soft_wrap=True)


def _table_of(run: "mr.Recording") -> Any:
    """Each coordinate and rate by name: where and how fast it is at the end, and its largest torque."""
    from rich.table import Table

    from modurob.simulation.recording.efforts import torque

    last, own = run.segments[-1], [joint for joint in run.robot.joints if not joint.mimics]
    strongest = [x for j in own for x in abs(torque(last, j)).reshape(-1, j.type.nv).max(axis=0)]
    columns = [
        {name: f"{x:.5g}" for name, x in zip(last.names[kind], numbers, strict=True)}
        for kind, numbers in (("q", last.q[-1]), ("v", last.v[-1]), ("v", strongest))
    ]
    columns.append({name: f"{100 * x:.0f} %" for name, x in run.saturated.items()})
    table = Table("joint", box=None, pad_edge=False)
    units = {
        "q at the end": "rad, m",
        "v at the end": "rad/s, m/s",
        "largest |tau|": "N m, N",
        "at its limit": "of time",
    }
    for head, unit in units.items():
        table.add_column(f"{head}\n[{unit}]", justify="right")
    for name in dict.fromkeys(n for j in own for n in (*j.coordinate_names(), *j.rate_names())):
        table.add_row(name, *(column.get(name, "") for column in columns))
    return table


@command()
def plot(
    recording: Annotated[Path, typer.Argument(help="a recording (.mrun)")],
    out: Annotated[
        Path | None, typer.Option(help="picture (.png, .pdf, .svg); beside the recording by default")
    ] = None,
    joints: Annotated[str | None, typer.Option(help="joints to draw, separated by commas")] = None,
    table: Annotated[Path | None, typer.Option(help="file for a table of all numbers (.csv or .parquet)")] = None,
) -> None:
    """Draw a recording: position, velocity, acceleration and torque over time."""
    if out is not None and out.suffix.lower() in TABLES:
        raise InputError(
            f"--out {out}: expected a picture ({', '.join(PICTURES)}); tables are written by --table {out}"
        )
    writable(out, *PICTURES)
    writable(table, *TABLES)
    run = mr.Recording.load(recording)
    out = out or recording.with_suffix(".png")
    run.plot(out, joints.split(",") if joints else None)
    console.print(f"{run!r}\npicture: {out}")
    if table is not None:
        (run.to_parquet if table.suffix.lower() == ".parquet" else run.to_csv)(table)
        console.print(f"table: {table}")


@command(name="gait")
def gait_command(
    file: File,
    base: Base = None,
    floating: Floating = None,
    name: Annotated[
        str | None, typer.Option("--gait", "--name", help="{gaits}; default: the one named as the robot, or crab")
    ] = None,
    generator: Annotated[str, typer.Option(help="generator of the waves: {generators}")] = "sine",
    duration: Annotated[float | None, typer.Option(help="duration [s]; default: ten periods")] = None,
    out: Annotated[Path, typer.Option(help="picture (.png, .pdf, .svg)")] = Path("gait.png"),
) -> None:
    """Draw the gait of a robot: wave and phase of each joint."""
    from modurob.catalogue.reading import write_figure
    from modurob.motion.gaits import plot_phases
    from modurob.motion.gaits.patterns import PRESETS

    writable(out, *PICTURES)
    _, robot = robot_of(file, base, floating)
    name = name or (str(file) if str(file) in PRESETS else "crab")
    figure = plot_phases(mr.gait(name, generator=generator).on(robot), duration)
    figure.suptitle(f"{name} {figure.get_suptitle()}")
    write_figure(out, figure)
    console.print(f"{name} gait of {robot.name}: {out}")


@command()
def studio(
    file: Annotated[
        str | None,
        typer.Argument(
            help="robot to open: an assembly (.yaml), a URDF or MuJoCo file (.xml), or a robot of the package",
            callback=existing,
        ),
    ] = None,
    share: Annotated[str | None, typer.Option(help="open the robot of a share link, or of the text of one")] = None,
    port: Annotated[int, typer.Option(help="port; 0: any free port")] = 0,
    host: Annotated[
        str, typer.Option(help="address to listen on; by default only this machine can connect")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="open the browser")] = True,
) -> None:
    """Build, watch and steer a robot in the browser."""
    try:
        from modurob.studio.server import serve
    except ImportError:
        raise StudioError("the studio needs its extra: pip install 'modurob[studio]'") from None
    serve(file if file is None or Path(file).suffix else str(path_of(file)), host, port, browser, share)
