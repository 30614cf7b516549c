"""The local steps of constraints as C; `c/constraining.c` and `c/holding.c` solve with them."""

from modurob.algorithms.constraints.solver import (
    free_inertia,
    least_size,
    left_of_row,
    raised_size,
    row_scale,
    row_weight,
)
from modurob.kernels.writer import Step


def of_rows() -> str:
    """Those of the solve."""
    return _text(
        Step.of("least_size", {"largest": 1, "rounding": 1}, "to", least_size, "vec"),
        Step.of("raised_size", {"size": 1, "least": 1}, "to", raised_size, "vec"),
        Step.of("row_weight", {"average": 1, "size": 1}, "to", row_weight, "vec"),
        Step.of("row_scale", {"size": 1}, "to", row_scale, "vec"),
    )


def of_held_rates() -> str:
    """Those of rates that friction holds."""
    return _text(
        Step.of("left_of_row", {"entry": 1, "left": 1, "whole": 1, "rounding": 1}, "to", left_of_row, "vec"),
        Step.of("free_entry", {"entry": 1, "row": 1, "column": 1, "one": 1}, "to", free_inertia, "vec"),
    )


def _text(*steps: Step) -> str:
    return "\n".join(step.text()[0] for step in steps)
