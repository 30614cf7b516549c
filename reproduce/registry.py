"""All figures and tables, by number, and the run through them."""

import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from modurob.catalogue.reading import write_bytes
from modurob.errors import InputError, choices
from reproduce import (
    diagrams,
    figure_2_1,
    figure_2_5,
    figure_2_8,
    figure_2_16,
    figure_4_2,
    figure_5_4,
    figure_5_8,
    figure_5_9,
    figure_6_4,
    figure_6_6,
    figure_8,
    figure_11,
    figure_13,
    figure_15,
    loops_manipulator,
    loops_strut,
    lwa_drives,
    lwa_loops,
    lwa_motor,
    tables,
)
from reproduce.check import Check, Reproduction

# numbers with a point are those of Gutenkunst, others those of Meister, Gutenkunst and Levi, unless an author is named; tables and
# listings have no picture
FIGURES: dict[str, Callable[[], Reproduction]] = {
    "4.2": figure_4_2.reproduced,
    "5.4": figure_5_4.reproduced,
    "5.8": figure_5_8.reproduced,
    "5.9": figure_5_9.reproduced,
    "6.4": figure_6_4.reproduced,
    "6.6": figure_6_6.reproduced,
    "8": figure_8.reproduced,
    "11": figure_11.reproduced,
    "13": figure_13.reproduced,
    "15": figure_15.reproduced,
    "LWA 3.12": lwa_drives.motors,
    "LWA 4.9": lwa_drives.loops,
    "table 3.1": tables.table_3_1,
    "table I": tables.table_1,
    "table II": tables.table_2,
    "table III": tables.table_3,
    "3.5": tables.lists_3_5,
    "AIM": tables.aims,
    "Sepp 2.1": figure_2_1.limits,
    "Sepp 2.2": figure_2_1.frames,
    "Sepp 2.3": figure_2_1.zero_pose,
    "Sepp 2.4": figure_2_1.bent_pose,
    "Sepp 2.5": figure_2_5.convergence,
    "Sepp 2.6": figure_2_5.side_view,
    "Sepp 2.7": figure_2_5.front_view,
    "Sepp 2.8": figure_2_8.position,
    "Sepp 2.9": figure_2_8.velocity,
    "Sepp 2.10": figure_2_8.acceleration,
    "Sepp 2.11": figure_2_1.assemblies,
    "Sepp 2.12": diagrams.quintic,
    "Sepp 2.13": figure_2_8.task_space,
    "Sepp 2.14": figure_2_8.listing,
    "Sepp 2.15": diagrams.kinematic_loop,
    "Sepp 2.16": figure_2_16.goal_1,
    "Sepp 2.17": figure_2_16.goal_2,
    "Sepp 2.18": figure_2_16.goal_3,
    "Sepp 3.8": lwa_motor.gear,
    "Sepp 3.9": lwa_motor.armature,
    "Sepp 3.10": lwa_motor.block,
    "Sepp 3.11": lwa_loops.motors_and_arm,
    "Sepp 4.2": lwa_motor.first_order,
    "Sepp 4.3": lwa_loops.encoder,
    "Sepp 4.7": lwa_loops.current_loop,
    "Sepp 4.9": lwa_loops.root_locus,
    "Sepp 4.12": lwa_loops.pid,
    "Sepp 4.17": lwa_loops.feed_forward,
    "Lieskovsky 4.1": loops_strut.spline,
    "Lieskovsky 5.5": loops_strut.falling,
    "Lieskovsky 5.6": loops_strut.variants,
    "Lieskovsky 5.7": loops_strut.another_tool,
    "Lieskovsky 5.8": loops_strut.wanted,
    "Lieskovsky 5.9": partial(loops_strut.tracking, "5.9", 2e8),
    "Lieskovsky 5.10": partial(loops_strut.tracking, "5.10", 2e9),
    "Lieskovsky 5.11": partial(loops_strut.tracking, "5.11", 2e10),
    "Lieskovsky 5.12": loops_manipulator.settling,
    "Lieskovsky 5.13": partial(loops_manipulator.along, "5.13", "vertical", 2, "z"),
    "Lieskovsky 5.14": partial(loops_manipulator.along, "5.14", "horizontal", 1, "y"),
}

# told which figure is next, and which share is done
Progress = Callable[[str, float], None]


def reproduce(
    folder: str | Path, only: Sequence[str] | None = None, progress: Progress = lambda figure, done: None
) -> list[Check]:
    """What the sources show, found again: a picture a figure into the folder, and what was checked. `only` names figures."""
    for number in only or ():
        if number not in FIGURES:
            raise InputError(f"no figure {number!r}: {choices(number, FIGURES)}")
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: expected a folder, or a place for one: {error.strerror}") from None
    numbers = [number for number in FIGURES if not only or number in only]
    checks: list[Check] = []
    for k, number in enumerate(numbers):
        progress(number, k / len(numbers))
        found, picture = FIGURES[number]()
        checks += found
        if picture is not None:
            buffer = io.BytesIO()
            picture.savefig(buffer, dpi=120)
            write_bytes(folder / picture_name(number), buffer.getvalue())
    progress("", 1.0)
    return checks


def picture_name(number: str) -> str:
    """The file of a figure's picture.

    >>> picture_name("5.4")
    'figure_5_4.png'
    >>> picture_name("Sepp 2.4")
    'figure_sepp_2_4.png'
    """
    return f"figure_{number.replace('.', '_').replace(' ', '_').lower()}.png"
