"""How robust laws are on a robot, from the command line."""

from pathlib import Path
from typing import Annotated

import typer

from modurob.cli.app import Base, File, command, console, robot_of


@command()
def robustness(
    file: File,
    base: Base = None,
    duration: Annotated[float, typer.Option(help="duration of each run [s]")] = 2.0,
    plot: Annotated[Path | None, typer.Option(help="picture of the table: .png, .pdf or .svg")] = None,
) -> None:
    """Tracking errors of several laws if masses, sampling, delay, limits, friction or measurements differ from their model."""
    from rich.table import Table
    from rich.text import Text

    from modurob.catalogue.reading import require_picture
    from modurob.control.robustness import drawn, robustness, table_of
    from modurob.simulation.progress import progress_bar

    if plot is not None:
        require_picture(plot)
    robot = robot_of(file, base, False)[1]
    with progress_bar(f"robustness of {robot.name}") as tell:
        rows = robustness(robot, duration=duration, progress=tell)
    head, lines = table_of(rows)
    table = Table(
        head[0],
        title=Text("root mean square error of tracking [rad or m]"),
        box=None,
        collapse_padding=True,
        pad_edge=False,
    )
    for law in head[1:]:
        table.add_column(law, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    console.print(table)
    if plot is not None:
        drawn(rows).savefig(plot)
        console.print(f"picture: {plot}")
