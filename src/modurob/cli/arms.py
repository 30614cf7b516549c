"""Where the frames of a robot get, and how, from the command line."""

from math import pi, radians
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import modurob as mr
from modurob.cli.app import PICTURES, Base, File, command, console, robot_of, writable
from modurob.errors import InputError, choices

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from modurob.kinematics.collisions import CollisionModel
    from modurob.kinematics.reach import ReachMap

Frame = Annotated[str | None, typer.Option(help="frame of the robot; default: `tip` if it has one")]
STARTS = 16  # of the search for the nearest
TURN = 2 * pi  # angles beyond it are taken for degrees [rad]
SAME = 1e-6  # angles closer than this are one solution [rad or m]


@command()
def ik(
    file: File,
    frame: Frame = None,
    position: Annotated[str | None, typer.Option(help="target of the frame's origin in world axes: x y z [m]")] = None,
    pose: Annotated[
        str | None,
        typer.Option(
            help="target pose: x y z [m], then roll pitch yaw about fixed axes [rad], or a quaternion w x y z"
        ),
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="coordinates to which the first solution is nearest [rad, m]")
    ] = None,
    order: Annotated[str | None, typer.Option(help="order of the solutions: {orders}")] = None,
    free: Annotated[
        str | None, typer.Option(help="axis of the frame about which its rotation is free: x, y or z")
    ] = None,
    collisions: Annotated[bool, typer.Option(help="report collisions (extra collision)")] = False,
    base: Base = None,
) -> None:
    """All configurations that bring a frame to a position or pose, which of them are within limits, and why others are not."""
    robot = robot_of(file, base, False)[1]
    frame = _frame(robot, frame)
    X, q0 = _goal(position, pose), None if start is None else _numbers(start, "--start", robot.nq)
    found = robot.inverse_kinematics(frame, X, q0, free=free, order=order)
    beyond = robot.inverse_kinematics(frame, X, q0, free=free, order=order, limits=False)
    others = [q for q in beyond.q[: int(beyond.count)] if not any(_same(robot, q, own) for own in _rows(found))]
    console.print(f"{robot.name}, {frame}: {found.family}", soft_wrap=True)
    if found.reached or others:
        _print_solutions(robot, frame, [*_rows(found), *others], collisions)
    else:
        near = _nearest(robot, frame, X, q0) if free is None else found
        console.print(
            f"nearest: {_words(robot, frame, near.q[0])}: {near.residual[0]:.4g} away [m or rad]", soft_wrap=True
        )
    console.print(_verdict(found, others), soft_wrap=True)
    if not found.reached:
        raise typer.Exit(1)


def _nearest(robot: "mr.Mechanism", frame: str, X: "np.ndarray", q0: "np.ndarray | None") -> "mr.InverseKinematics":
    """The configuration within limits that comes nearest, by iteration from a few starts."""
    goal = mr.PointGoal(frame, X) if X.ndim == 1 else mr.PoseGoal(frame, X)
    return robot.reach(goal, q0, attempts=STARTS)


def _rows(found: "mr.InverseKinematics") -> "list[np.ndarray]":
    return list(found.q[: int(found.count)])


def _verdict(found: "mr.InverseKinematics", others: "list[np.ndarray]") -> str:
    if not found.reached:
        why = "only outside limits" if others else found.note or "out of reach"
        return why if "not reached" in why else f"not reached: {why}"
    n = int(found.count)
    all_of_them = "all there are" if found.exact and found.certain else "others may exist"
    return f"{n} within limits, {len(others)} outside, {all_of_them}" + (f"; {found.note}" if found.note else "")


def _print_solutions(robot: "mr.Mechanism", frame: str, found: "list[np.ndarray]", collisions: bool) -> None:
    """A table of configurations, and below it why some are refused."""
    from rich.table import Table

    names = _coordinates(robot, frame)
    rows = "pose" if len(names) >= 6 else "position"
    model = robot.collision_model() if collisions else None
    heads = [name.replace("/", "/\n") for name in names.values()]
    table = Table("", *heads, f"manipulability\n({rows})", "allowed", box=None, pad_edge=False)
    why = [[*_beyond(robot, q, names), *([] if model is None else _clash(model, q))] for q in found]
    for k, (q, words) in enumerate(zip(found, why, strict=True), start=1):
        cells = [f"{q[c]:.3f}" for c in names]
        table.add_row(str(k), *cells, f"{float(robot.manipulability(q, frame, rows)):.3g}", "no" if words else "yes")
    console.print(table)
    for k, words in enumerate(why, start=1):
        if words:
            console.print(f"{k}: {'; '.join(words)}", soft_wrap=True)


def _clash(model: "CollisionModel", q: "np.ndarray") -> list[str]:
    if model.clear(q):
        return []
    closest = model.closest(q)
    return [f"{closest.a} collides with {closest.b}"]


def _beyond(robot: "mr.Mechanism", q: "np.ndarray", names: dict[int, str]) -> list[str]:
    """Which joints are outside their limits."""
    bounds = {int(c): k for k, c in enumerate(robot.coordinate_of)}
    words = []
    for c, name in names.items():
        low, high = robot.limits.lower[bounds[c]], robot.limits.upper[bounds[c]]
        if not low - SAME <= q[c] <= high + SAME:
            words.append(f"{name} {q[c]:.3f} is outside {low:.3f} to {high:.3f}")
    return words


def _coordinates(robot: "mr.Mechanism", frame: str) -> dict[int, str]:
    """The coordinates that move a frame, by name of their joint."""
    joints = [robot.joints[i - 1] for i in sorted(robot.ancestors[robot.frame(frame).body])]
    return {c: j.name for j in joints for c in range(j.q_slice.start, j.q_slice.stop)}


def _words(robot: "mr.Mechanism", frame: str, q: "np.ndarray") -> str:
    return ", ".join(f"{name} {q[c]:.4f}" for c, name in _coordinates(robot, frame).items())


def _same(robot: "mr.Mechanism", a: "np.ndarray", b: "np.ndarray") -> bool:
    """Whether two configurations are one, whole turns aside."""
    apart = (abs(j.type.pose(a[j.q_slice]) - j.type.pose(b[j.q_slice])).max() for j in robot.joints)
    return all(gap < SAME for gap in apart)


# ---- arguments ----


def _frame(robot: "mr.Mechanism", frame: str | None) -> str:
    name = frame or "tip"
    if name not in robot.frames:
        raise InputError(f"--frame {frame or 'is not given'}: {choices(name, robot.frames)}")
    return name


def _numbers(text: str, option: str, *counts: int) -> "np.ndarray":
    """Numbers separated by commas or blanks."""
    import numpy as np

    try:
        numbers = np.array([float(x) for x in text.replace(",", " ").split()])
    except ValueError:
        raise InputError(f'{option} "{text}": expected numbers, such as "0.3 0 0.5"') from None
    if len(numbers) not in counts:
        raise InputError(f'{option} "{text}": {len(numbers)} numbers: expected {" or ".join(map(str, counts))}')
    return numbers


def _goal(position: str | None, pose: str | None) -> "np.ndarray":
    """A point (3,), or a pose (4, 4)."""
    if (position is None) == (pose is None):
        raise InputError('expected --position "x y z" or --pose "x y z roll pitch yaw", one of them')
    if pose is None:
        return _numbers(position or "", "--position", 3)
    from modurob.spatial import angles, quaternion, se3

    x = _numbers(pose, "--pose", 6, 7)
    if len(x) == 7 and not x[3:].any():
        raise InputError(f'--pose "{pose}": the quaternion is zero')
    for name, angle in zip(("roll", "pitch", "yaw"), x[3:], strict=False):
        if len(x) == 6 and abs(angle) > TURN:
            raise InputError(
                f'--pose "{pose}": {name} is {angle:g}: expected radians ({angle:g} degrees are {radians(angle):.4g})'
            )
    return se3.pose(angles.fixed("xyz", x[3:]) if len(x) == 6 else quaternion.to_matrix(x[3:]), x[:3])


# ---- where a frame gets ----


@command()
def workspace(
    file: File,
    frame: Frame = None,
    what: Annotated[str, typer.Option(help="quantity to draw: count, dexterity or manipulability")] = "manipulability",
    at: Annotated[str | None, typer.Option(help='planes to draw [m], such as "y=0 z=0.3"')] = None,
    samples: Annotated[int, typer.Option(help="configurations")] = 1 << 18,
    cell: Annotated[float | None, typer.Option(help="edge length of a cell [m]")] = None,
    out: Annotated[Path, typer.Option(help="picture: .png, .pdf or .svg")] = Path("workspace.png"),
    base: Base = None,
) -> None:
    """The workspace of a frame within the joint limits: volume, extent and best positions as numbers, slices as a picture."""
    writable(out, *PICTURES)
    robot = robot_of(file, base, False)[1]
    seen = robot.reach_map(_frame(robot, frame), samples=samples, cell=cell)
    planes = _planes(seen, at)
    _draw(seen, planes, what, out)
    console.print(_numbers_of(seen))
    console.print(f"picture: {out}", soft_wrap=True)


def _planes(seen: "ReachMap", at: str | None) -> list[tuple[str, float]]:
    """Axis and position of each slice; by default two through zero, or through the middle of the map."""
    if at is not None:
        return [_plane(word) for word in at.replace(",", " ").split()]
    wide = [k for k in range(3) if seen.count.shape[k] > 1]
    flat = [k for k in range(3) if k not in wide]
    chosen = flat if len(flat) == 1 else [1, 2]
    return [("xyz"[k], _middle(seen, k)) for k in chosen]


def _middle(seen: "ReachMap", k: int) -> float:
    low, high = seen.lower[k], seen.lower[k] + seen.cell * seen.count.shape[k]
    return 0.0 if low <= 0 < high else round(float(low + high) / 2, 4)


def _plane(word: str) -> tuple[str, float]:
    axis, _, number = word.partition("=")
    try:
        return axis, float(number)
    except ValueError:
        raise InputError(f'--at "{word}": expected an axis and a coordinate, such as y=0') from None


def _draw(seen: "ReachMap", planes: list[tuple[str, float]], what: str, out: Path) -> None:
    import matplotlib.pyplot as plt

    from modurob.catalogue.reading import write_figure

    figure = plt.figure(figsize=(6.2 * len(planes), 5), layout="constrained")
    for k, (axis, at) in enumerate(planes, start=1):
        seen.plot(axis=axis, at=at, what=what, ax=figure.add_subplot(1, len(planes), k))
    write_figure(out, figure)
    plt.close(figure)


def _numbers_of(seen: "ReachMap") -> "Table":
    from rich.table import Table

    facts = Table.grid(padding=(0, 2))
    facts.add_row("configurations", f"{seen.samples}, cells of {seen.cell:.3g} m")
    facts.add_row("volume", f"{seen.volume:.4g} m³")
    for axis, low, n in zip("xyz", seen.lower, seen.count.shape, strict=True):
        facts.add_row(axis, f"{low:.3f} to {low + n * seen.cell:.3f} m")
    for what in ("manipulability", "dexterity"):
        values = getattr(seen, what)
        facts.add_row(f"largest {what}", f"{values.max():.4g} at {_place(seen, int(values.argmax()))}")
    return facts


def _place(seen: "ReachMap", flat: int) -> str:
    import numpy as np

    cell = np.array(np.unravel_index(flat, seen.count.shape))
    return f"({', '.join(f'{x:.3f}' for x in seen.lower + (cell + 0.5) * seen.cell)}) m"
