"""The local steps and numbers of constraints as C; `constraining.c`, `constrained.c` and `holding.c` solve with them."""

from modurob.algorithms.constraints.solver import (
    COEFFICIENTS,
    ITERATIONS,
    PROXIMAL,
    free_inertia,
    least_size,
    left_of_row,
    raised_size,
    row_scale,
    row_weight,
)
from modurob.kernels.writer import Step

# matrices are multiplied in tiles of this many rows and columns, which stay in registers
TILE = 3
# where p / (d + p) is below this for all eigenvalues d, four terms of the proximal series are exact
FEW_TERMS = 1e-4


def numbers() -> str:
    """The numbers of the proximal iteration, and of products of matrices."""
    coefficients = ", ".join(map(str, COEFFICIENTS))
    return (
        f"enum {{ ITERATIONS = {ITERATIONS}, FILTERS = {len(COEFFICIENTS)}, TILE = {TILE} }};\n"
        f"static const int8_t COEFFICIENTS[] = {{{coefficients}}};\n"
        f"static const real PROXIMAL = {PROXIMAL!r}, FEW_TERMS = {FEW_TERMS!r};"
    )


def of_rows() -> str:
    """Those of the solve."""
    return (
        numbers()
        + "\n"
        + _text(
            Step.of("least_size", {"largest": 1, "rounding": 1}, "to", least_size, "vec"),
            Step.of("raised_size", {"size": 1, "least": 1}, "to", raised_size, "vec"),
            Step.of("row_weight", {"average": 1, "size": 1}, "to", row_weight, "vec"),
            Step.of("row_scale", {"size": 1, "counted": 1}, "to", row_scale, "vec"),
        )
    )


def of_held_rates() -> str:
    """Those of rates that friction holds."""
    return _text(
        Step.of("left_of_row", {"entry": 1, "left": 1, "whole": 1, "rounding": 1}, "to", left_of_row, "vec"),
        Step.of("free_entry", {"entry": 1, "row": 1, "column": 1, "one": 1}, "to", free_inertia, "vec"),
    )


def _text(*steps: Step) -> str:
    return "\n".join(step.text()[0] for step in steps)
