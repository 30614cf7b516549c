"""Searches for designs, from the command line."""

from pathlib import Path
from typing import Annotated, Any

import typer

import modurob as mr
from modurob.cli.app import assembly_of, command, console


@command()
def search(
    types: Annotated[list[str], typer.Argument(help="module types to build from: names, or files (.yaml)")],
    folder: Annotated[Path, typer.Option(help="folder for the results; a stopped search continues from it")] = Path(
        "search"
    ),
    modules: Annotated[int, typer.Option(help="largest number of modules")] = 8,
    least: Annotated[int, typer.Option(help="smallest number of modules")] = 2,
    task: Annotated[str, typer.Option(help="task of the designs: {tasks}")] = "walk",
    by: Annotated[
        list[str] | None, typer.Option(help="measure to optimise; repeatable; by default all goals of the task")
    ] = None,
    method: Annotated[str, typer.Option(help="evolve, or all: evaluate every possible assembly")] = "evolve",
    generations: Annotated[int, typer.Option(help="number of generations of the evolution")] = 20,
    population: Annotated[int, typer.Option(help="number of designs per generation")] = 32,
    seconds: Annotated[float | None, typer.Option(help="stop after this time [s]")] = None,
    refine: Annotated[
        int, typer.Option(help="number of times the best designs are evaluated again, with more effort")
    ] = 0,
    finalists: Annotated[int, typer.Option(help="number of designs that are evaluated again")] = 8,
    start: Annotated[
        list[str] | None,
        typer.Option(help="robot to start from, a file or a robot of the package, of any size; repeatable"),
    ] = None,
    seed: Annotated[int, typer.Option(help="seed of the random generator")] = 0,
    roll: Annotated[list[float] | None, typer.Option(help="roll that may be used [degrees]; repeatable")] = None,
    workers: Annotated[int | None, typer.Option(help="number of processes; by default one per core")] = None,
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
