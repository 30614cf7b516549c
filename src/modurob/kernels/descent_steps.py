"""The local steps of descents as C; `c/descent.c` solves with them."""

from modurob.algorithms.descent import freedom, margin, whole_damping
from modurob.kernels.writer import Step
from modurob.spatial.scalars import clip

LIMITED = {"q": 1, "limits": 2}


def text() -> str:
    """All of them."""
    steps = [
        Step.of(
            "freedom", {"descent": 1, **LIMITED}, "free", lambda p, q, limits: freedom(p, *margin(q, *limits)), "vec"
        ),
        Step.of("within_limits", {"dq": 1, **LIMITED}, "to", lambda x, q, limits: clip(x, *margin(q, *limits)), "vec"),
        Step.of("whole_damping", {"damping": 1, "cost": 1, "square": 1}, "to", whole_damping, "vec"),
    ]
    return "\n".join(step.text()[0] for step in steps)
