"""Robots: what they are, and whether judges agree."""

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

import modurob as mr
from modurob.cli.app import Base, File, Floating, assembly_of, command, console, is_urdf, robot_of, walkers
from modurob.errors import CatalogueError, InputError

if TYPE_CHECKING:
    from modurob.judges.verify import Report

# how the text of a module type file differs from that of a robot file
MODULE_FILE = re.compile(r"^(format:\s*[\"']?modurob module|parts:)", re.MULTILINE)


@command()
def info(file: File, base: Base = None, floating: Floating = None) -> None:
    """Modules, bodies, degrees of freedom, forces, idle joints and loops of a robot."""
    assembly, robot = robot_of(file, base, floating)
    facts = Table.grid(padding=(0, 2))
    if assembly is not None:
        kinds = [m.type.name for m in assembly.modules.values()]
        counted = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
        facts.add_row("modules", f"{len(assembly)} ({counted}), {len(assembly.connections)} connections")
        facts.add_row("base", assembly.base + (" (floating)" if assembly.setup.floating else ""))
    facts.add_row("gravity", f"({', '.join(f'{x:.6g}' for x in robot.gravity)}) m/s²")
    facts.add_row("bodies", f"{len(robot.bodies) - 1} moving, {robot.total_mass():.6g} kg")
    facts.add_row("degrees of freedom", _degrees_of_freedom(robot))
    facts.add_row("idle joints", ", ".join(robot.idle) or "none")
    facts.add_row("loops", ", ".join(loop.name for loop in robot.loops) or "none")
    facts.add_row("forces", ", ".join(row.name for row in robot.forces) or "none")
    if robot.redundant:
        facts.add_row("redundant", ", ".join(robot.redundant))
    console.print(Text(robot.name, "bold"))
    console.print(facts)
    console.print(_joint_table(robot))


def _degrees_of_freedom(robot: "mr.Mechanism") -> str:
    if not robot.loops:
        return str(robot.nv)
    taken = robot.loop_rank()
    return f"{robot.nv - taken} ({robot.nv} joint rates, {taken} taken by loops)"


def _joint_table(robot: "mr.Mechanism") -> Table:
    table = Table("joint", "kind", "carries", "from", "lowest", "highest", "effort", box=None, pad_edge=False)
    for i, joint in enumerate(robot.joints, start=1):
        limits = ["", ""]
        if joint.type.nq == joint.type.nv:
            limits = [", ".join(f"{x:.4g}" for x in bound) for bound in joint.limits]
        effort = ", ".join(f"{x:.4g}" for x in joint.effort_limit)
        table.add_row(joint.name, joint.kind, robot.bodies[i], robot.bodies[robot.parent[i]], *limits, effort)
    return table


@command()
def aim(file: File, base: Base = None) -> None:
    """Assembly Incidence Matrix, accessibility matrix, direct and indirect transformation lists."""
    assembly = assembly_of(file)
    base = assembly.base if base is None else base
    names = list(assembly.modules)
    table = Table("", *(f"e{c}" for c in range(len(assembly.connections))), "type", title="Assembly Incidence Matrix")
    for name, row in zip([*names, "dyad"], assembly.aim_table(), strict=True):
        table.add_row(name, *map(str, row))
    console.print(table)
    reach = Table("", *names, title="Accessibility matrix")
    for name, row in zip(names, assembly.accessibility(base), strict=True):
        reach.add_row(name, *map(str, row))
    console.print(reach)
    direct = Table("i", "j", "from", "to", title="Direct transformations")
    for row in assembly.direct_transformations(base):
        direct.add_row(*map(str, row))
    console.print(direct)
    indirect = Table("i", "j", "= i", "x", "· x", "j", title="Indirect transformations")
    for row in assembly.indirect_transformations(base):
        indirect.add_row(*map(str, row))
    console.print(indirect)


@command()
def check(file: File, base: Base = None, floating: Floating = None) -> None:
    """Check the file of a robot or a module type and report errors (of a module type, all at once) and warnings."""
    from modurob.catalogue.reading import read_text

    path = Path(file)
    if path.is_file() and not is_urdf(file):
        text = read_text(path)
        if MODULE_FILE.search(text):
            return _check_module(file, text)
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        _, robot = robot_of(file, base, floating)
    facts = f"{len(robot.bodies) - 1} bodies, {_degrees_of_freedom(robot)} degrees of freedom"
    console.print(f"{file}: {'doubtful' if doubts else 'fine'}: {facts}")
    for doubt in doubts:
        console.print(f"  {doubt.message}", soft_wrap=True)
    return None


def _check_module(file: str, text: str) -> None:
    mistakes = mr.catalogue.check(text)
    if mistakes:
        raise CatalogueError("\n".join((f"{file} describes no module type:", *(f"  {line}" for line in mistakes))))
    console.print(f"{file}: fine: {mr.module_type(Path(file))!r}", soft_wrap=True)


@command()
def verify(file: File, base: Base = None, floating: Floating = None, seed: int = 0) -> None:
    """Compare the model of a robot with Pinocchio and MuJoCo, if installed, and with the laws of mechanics."""
    _, robot = robot_of(file, base, floating)
    report = mr.judges.verify(robot, seed)
    _print_report(robot, report)
    if not report.passed:
        raise typer.Exit(1)


def _print_report(robot: "mr.Mechanism", report: "Report") -> None:
    table = Table("quantity", "judge", "largest relative error", "allowed", "", title=f"{robot.name}: 10 random states")
    for v in report.verdicts:
        verdict = Text("pass", "green") if v.passed else Text("FAIL", "red")
        table.add_row(v.quantity, v.judge, f"{v.error:.1e}", f"{v.tolerance:.0e}", verdict)
    console.print(table)
    for what, why in report.unanswered.items():
        console.print(f"{what}: {why}")


@command()
def demo(out: Annotated[Path, typer.Option(help="folder for the pictures")] = Path("out")) -> None:
    """The crab of Meister, Gutenkunst and Levi from modules to torques, with pictures."""
    import matplotlib as mpl
    import numpy as np

    mpl.use("Agg")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: expected a folder, or a place for one: {error.strerror}") from None
    crab = mr.load("crab")
    robot = crab.robot()
    info("crab")
    aim("crab")
    q, v, vdot = np.array([0.4, -0.7, 0.9]), np.array([1.0, 0.5, -0.5]), np.zeros(3)
    parts = {
        "M": robot.mass_matrix(q),
        "C v": robot.coriolis_matrix(q, v) @ v,
        "N": robot.gravity_forces(q),
        "torques to keep going": robot.inverse_dynamics(q, v, vdot),
    }
    with np.printoptions(precision=6, suppress=True):
        console.print(f"at q = {q}, v = {v}:")
        for name, x in parts.items():
            console.print(f"{name} =", x, sep="\n")
    _print_report(robot, mr.judges.verify(robot))
    mr.draw.save_picture(robot, out / "crab.png", title="crab, all hinges at zero")
    mr.draw.save_picture(robot, out / "crab_bent.png", q, title="crab, bent")
    _plot_swing(robot, out / "crab_torques.png")
    bigger = crab.dock("m6", "scout", at="m3/3", by="4").robot()
    console.print(f"dock a Scout at m3/3: {robot.nv} degrees of freedom become {bigger.nv}")
    mr.draw.save_picture(bigger, out / "crab_with_scout.png", title="crab with a Scout docked at m3/3")
    console.print(f"pictures: {', '.join(sorted(str(p) for p in out.glob('crab*.png')))}")


def _plot_swing(robot: "mr.Mechanism", path: Path) -> None:
    """Torques of a swing of all hinges, from inverse dynamics over the whole swing in one call."""
    import matplotlib.pyplot as plt
    import numpy as np

    from modurob.catalogue.reading import write_figure

    t = np.linspace(0, 2, 400)[:, None]
    swing = np.pi * t + np.arange(robot.nv) * 2 * np.pi / 3
    q, v, vdot = 0.6 * np.sin(swing), 0.6 * np.pi * np.cos(swing), -0.6 * np.pi**2 * np.sin(swing)
    tau = robot.inverse_dynamics(q, v, vdot)
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    above.plot(t, np.rad2deg(q), label=[j.name for j in robot.joints])
    above.set(ylabel="angle [degrees]")
    figure.suptitle("crab swinging its three hinges")
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=robot.nv, frameon=False)
    below.plot(t, tau)
    below.set(xlabel="time [s]", ylabel="torque [N m]")
    for ax in (above, below):
        ax.grid(alpha=0.3)
    write_figure(path, figure)


@command()
def robots() -> None:
    """List the robots of the package; walking robots are shown with the gait that a search found for them."""
    for name in mr.shipped_robots():
        console.print(name)
    for name in walkers():
        console.print(f"{name:18}walks: modurob simulate {name} --ground 0.8 --gait found")
