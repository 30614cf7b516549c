"""Robots: what they are, their equations, and whether judges agree."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from modurob.assembly import shipped_robots
from modurob.catalogue.reading import write_text
from modurob.cli.app import Base, File, Floating, app, assembly_of, console, is_urdf, robot_of
from modurob.judges.verify import Report
from modurob.judges.verify import verify as verified
from modurob.robot import Mechanism, load
from modurob.symbolic import Equations
from modurob.symbolic.model import SYMBOLS


@app.command()
def info(file: File, base: Base = None, floating: Floating = False) -> None:
    """Modules, bodies, freedoms, idle joints and loops of a robot."""
    assembly, robot = robot_of(file, base, floating)
    facts = Table.grid(padding=(0, 2))
    if assembly is not None:
        kinds = [m.type.name for m in assembly.modules.values()]
        counted = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
        facts.add_row("modules", f"{len(assembly)} ({counted}), {len(assembly.connections)} connections")
    facts.add_row("bodies", f"{len(robot.bodies) - 1} moving, {robot.total_mass():.6g} kg")
    facts.add_row("freedoms", _freedoms(robot))
    facts.add_row("idle joints", ", ".join(robot.idle) or "none")
    facts.add_row("loops", ", ".join(loop.name for loop in robot.loops) or "none")
    if robot.redundant:
        facts.add_row("redundant", ", ".join(robot.redundant))
    console.print(f"[bold]{robot.name}[/]")
    console.print(facts)
    console.print(_joint_table(robot))


def _freedoms(robot: Mechanism) -> str:
    if not robot.loops:
        return str(robot.nv)
    taken = robot.loop_rank()
    return f"{robot.nv - taken} ({robot.nv} joint rates, {taken} taken by loops)"


def _joint_table(robot: Mechanism) -> Table:
    table = Table("joint", "kind", "carries", "from", "lowest", "highest", box=None, pad_edge=False)
    for i, joint in enumerate(robot.joints, start=1):
        limits = [", ".join(f"{x:.4g}" for x in bound) for bound in joint.limits]
        if joint.type.nq != joint.type.nv:
            limits = ["", ""]
        table.add_row(joint.name, joint.kind, robot.bodies[i], robot.bodies[robot.parent[i]], *limits)
    return table


@app.command()
def aim(file: File, base: Base = None) -> None:
    """Assembly Incidence Matrix, accessibility matrix, direct and indirect transformation lists."""
    assembly = assembly_of(file)
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


@app.command()
def check(file: File, base: Base = None, floating: Floating = False) -> None:
    """Read a robot and say what is wrong with it, if anything."""
    _, robot = robot_of(file, base, floating)
    console.print(f"{file}: fine: {len(robot.bodies) - 1} bodies, {_freedoms(robot)} freedoms")


@app.command()
def verify(file: File, base: Base = None, floating: Floating = False, seed: int = 0) -> None:
    """Compare this robot's model with every judge that is installed and with the laws of mechanics."""
    _, robot = robot_of(file, base, floating)
    report = verified(robot, seed)
    _print_report(robot, report)
    if not report.passed:
        raise typer.Exit(1)


def _print_report(robot: Mechanism, report: Report) -> None:
    table = Table("quantity", "judge", "largest relative error", "allowed", "", title=f"{robot.name}: 10 random states")
    for v in report.verdicts:
        table.add_row(
            v.quantity, v.judge, f"{v.error:.1e}", f"{v.tolerance:.0e}", "[green]pass" if v.passed else "[red]FAIL"
        )
    console.print(table)
    for what, why in report.unanswered.items():
        console.print(f"{what}: {why}")


Symbols = Annotated[
    str,
    typer.Option(
        help="what to write as symbols: masses, centres, inertias, lengths, gravity, armatures, dampings; or all, or none"
    ),
]
Gravity = Annotated[str, typer.Option(help="gravity in world axes, three numbers with commas [m/s²]")]


def _equations(
    file: str, base: str | None, symbols: str, gravity: str, digits: int | None, time_limit: float | None
) -> Equations:
    """Derive with a progress bar; Ctrl-C stops it."""
    try:
        g = [float(x) for x in gravity.split(",")]
    except ValueError:
        raise typer.BadParameter(f"gravity {gravity!r}: expected three numbers, like 0,0,-9.81") from None
    robot = Mechanism.from_urdf(file, gravity=g) if is_urdf(file) else load(file).mechanism(base=base, gravity=g)
    chosen = {"all": SYMBOLS, "none": ()}.get(symbols, tuple(s for s in symbols.split(",") if s))
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("equations", total=1.0)

        def show(stage: str, done: float) -> None:
            bar.update(task, description=stage, completed=done)

        eq = robot.equations(chosen, digits=digits, time_limit=time_limit, progress=show)
        eq.polynomial("C")
        return eq


@app.command()
def equations(
    file: File,
    base: Base = None,
    symbols: Symbols = "masses,lengths,gravity",
    gravity: Gravity = "0,0,-9.81",
    latex: Annotated[Path | None, typer.Option(help="write LaTeX here")] = None,
    c: Annotated[Path | None, typer.Option(help="write a C99 file here")] = None,
    python: Annotated[Path | None, typer.Option(help="write a Python module here")] = None,
    shorthand: Annotated[bool, typer.Option("--shorthand", help="c_{12} for cos(q1 + q2) in LaTeX")] = False,
    digits: Annotated[int | None, typer.Option(help="round numbers that are not exact to so many decimals")] = None,
    time_limit: Annotated[float | None, typer.Option(help="give up after so many seconds")] = None,
) -> None:
    """The equations of motion in closed form: M, C and N, exact."""
    eq = _equations(file, base, symbols, gravity, digits, time_limit)
    written = {latex: lambda: eq.latex(shorthand), c: eq.c, python: eq.python}
    for path, make in written.items():
        if path is not None:
            write_text(path, make())
            console.print(f"wrote {path}")
    if not any((latex, c, python)):
        console.print(str(eq), soft_wrap=True, markup=False)
    for line in eq.legend():
        console.print(line, style="dim", markup=False)
    count = eq.operations()
    console.print(
        f"code for M, C, N ({count['origin']}): {count['multiplications']} multiplications, {count['additions']} additions, "
        f"{count['sines and cosines']} sines and cosines; inverse dynamics by Newton-Euler takes {count['Newton-Euler']}, "
        f"by naive Lagrange {count['naive Lagrange']}",
        style="dim",
        soft_wrap=True,
    )


@app.command()
def prove(
    file: File, base: Base = None, symbols: Symbols = "masses,lengths,gravity", gravity: Gravity = "0,0,-9.81"
) -> None:
    """Derive the equations by the two-step recursion and from energies (Lagrange), and compare them entry by entry."""
    eq = _equations(file, base, symbols, gravity, None, None)
    table = Table("entry", "terms", "two-step = Lagrange")
    lines = eq.proof()
    for line in lines:
        table.add_row(line.entry, str(line.terms), "[green]identical" if line.equal else "[red]different")
    console.print(table)
    if not all(line.equal for line in lines):
        raise typer.Exit(1)
    console.print(f"{len(lines)} entries: both derivations are identical")


@app.command()
def demo(out: Annotated[Path, typer.Option(help="folder for the pictures")] = Path("out")) -> None:
    """The crab of document 003 from modules to torques, with pictures."""
    import matplotlib as mpl

    mpl.use("Agg")
    from modurob.draw import save_picture

    out.mkdir(parents=True, exist_ok=True)
    crab = load("crab")
    robot = crab.mechanism(base="m0")
    info("crab")
    aim("crab")
    q, v, vdot = np.array([0.4, -0.7, 0.9]), np.array([1.0, 0.5, -0.5]), np.zeros(3)
    with np.printoptions(precision=6, suppress=True):
        console.print(f"at q = {q}, v = {v}:")
        console.print(
            "M =",
            robot.mass_matrix(q),
            "C v =",
            robot.coriolis_matrix(q, v) @ v,
            "N =",
            robot.gravity_forces(q),
            sep="\n",
        )
        console.print("torques to keep going:", robot.inverse_dynamics(q, v, vdot))
    _print_report(robot, verified(robot))
    save_picture(robot, out / "crab.png", title="crab, all hinges at zero")
    save_picture(robot, out / "crab_bent.png", q, title="crab, bent")
    _plot_gait(robot, out / "crab_torques.png")
    bigger = crab.dock("m6", "scout", at="m3/3", by="4").mechanism(base="m0")
    console.print(f"dock a Scout at m3/3: {robot.nv} freedoms become {bigger.nv}")
    save_picture(bigger, out / "crab_with_scout.png", title="crab with a Scout docked at m3/3")
    console.print(f"pictures: {', '.join(sorted(str(p) for p in out.glob('crab*.png')))}")


def _plot_gait(robot: Mechanism, path: Path) -> None:
    """Torques of a swing of all hinges, from inverse dynamics over the whole swing in one call."""
    import matplotlib.pyplot as plt

    t = np.linspace(0, 2, 400)[:, None]
    phase, rate = np.arange(robot.nv) * 2 * np.pi / 3, np.pi
    q, v, vdot = (
        0.6 * np.sin(rate * t + phase),
        0.6 * rate * np.cos(rate * t + phase),
        -0.6 * rate**2 * np.sin(rate * t + phase),
    )
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
    figure.savefig(path, dpi=150)
    plt.close(figure)


@app.command()
def doctor(
    warm_up: Annotated[bool, typer.Option(help="compile now for every way the shipped modules dock")] = False,
) -> None:
    """What compiles the kernels here, where they are kept, and how fast one is."""
    from modurob.kernels import diagnosis, warmed_up

    for what, found in diagnosis().items():
        console.print(f"{what:>16}: {found}", highlight=False)
    if warm_up:
        with Bar(console=console) as progress:
            task = progress.add_task("compiling", total=None)
            for done, total in warmed_up():
                progress.update(task, completed=done, total=total)


@app.command()
def robots() -> None:
    """The robots that come with modurob."""
    for name in shipped_robots():
        console.print(name)
