"""Searches for designs, from the command line."""

from pathlib import Path
from typing import Annotated, Any

import typer

import modurob as mr
from modurob.cli.app import assembly_of, command, console


@command()
def search(
    types: Annotated[list[str], typer.Argument(help="module types to build of: names, or files (.yaml)")],
    folder: Annotated[Path, typer.Option(help="where measures are kept, and a search goes on that was stopped")] = Path(
        "search"
    ),
    modules: Annotated[int, typer.Option(help="largest number of modules")] = 8,
    least: Annotated[int, typer.Option(help="least number of modules")] = 2,
    task: Annotated[str, typer.Option(help="what designs are to do: {tasks}")] = "walk",
    by: Annotated[list[str] | None, typer.Option(help="goal to better; may be given again; all of the task's")] = None,
    method: Annotated[str, typer.Option(help="evolve, or all: every assembly there is")] = "evolve",
    generations: Annotated[int, typer.Option(help="of an evolution")] = 20,
    population: Annotated[int, typer.Option(help="designs of a generation")] = 32,
    seconds: Annotated[float | None, typer.Option(help="stop after so long")] = None,
    refine: Annotated[int, typer.Option(help="how often the best are measured again, with more effort")] = 0,
    finalists: Annotated[int, typer.Option(help="designs that are measured again")] = 8,
    start: Annotated[
        list[str] | None,
        typer.Option(help="robot to begin with, a file or one that comes along, of any size; may be given again"),
    ] = None,
    seed: Annotated[int, typer.Option(help="of everything random")] = 0,
    roll: Annotated[
        list[float] | None, typer.Option(help="roll that may be used [degrees]; may be given again")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="processes; as many as cores if not given")] = None,
    cluster: Annotated[str | None, typer.Option(help="address of a Dask scheduler, or local")] = None,
) -> None:
    """Find designs for a task among assemblies of given modules; writes a table and a page to browse."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from modurob.motion.gaits.found import ORGANISMS

    bar = Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console)
    with bar:
        shown = bar.add_task("starting", total=generations * population if method == "evolve" else None)

        def progress(at: Any) -> None:
            best = "" if at.best is None else f", best {at.best:.4g}"
            told = f"{at.measured} design{'s' * (at.measured != 1)}{' measured again' * (at.again > 0)}{best}"
            bar.update(shown, completed=at.measured, description=told)
            if at.again:
                bar.update(shown, total=max(1, 2 * finalists >> at.again))

        try:
            found = mr.search_designs(
                types,
                (least, modules),
                task,
                by,
                method=method,
                generations=generations,
                population=population,
                seconds=seconds,
                refine=refine,
                finalists=finalists,
                start=[mr.walking_robot(x) if x in ORGANISMS else assembly_of(x) for x in start or ()],
                seed=seed,
                rolls=roll,
                folder=folder,
                workers=workers,
                cluster=cluster,
                progress=progress,
            )
        except KeyboardInterrupt:
            console.print(f"stopped; the same command goes on from what {folder} holds")
            raise typer.Exit(130) from None
    console.print(found)
    for path, write in ((folder / _table(), found.save), (folder / "index.html", found.page)):
        write(path)
        console.print(f"written: {path}")


def _table() -> str:
    from importlib.util import find_spec

    return "designs.parquet" if find_spec("pyarrow") else "designs.csv"
