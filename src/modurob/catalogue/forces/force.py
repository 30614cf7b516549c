"""A force: a function of time, of the motion of the joint or frames it acts on, and of its own states.

A force does not depend on robots. A force along a joint is a function of the coordinate and the rate of that joint; a
force between two frames of their motion. The total is the sum over a mechanism's table of forces. Forces are written
with `modurob.spatial.scalars`, so that they can be traced: their derivatives and their code are generated from the same
lines.
"""

import sys
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob.errors import InputError, MechanismError, blame_methods
from modurob.registry import Registry
from modurob.spatial.scalars import SCALARS, Array

# the methods that kernels trace
METHODS = frozenset(("effort", "dry", "rate", "sampled", "energy", "wrenches"))

FORCES: Registry[type["Force"]] = Registry("force")


def there(x: Any) -> bool:
    """Whether a number is not zero; a traced number counts as not zero."""
    return not (isinstance(x, int | float | np.number) and x == 0)


class Numbers(ABC):
    """A frozen dataclass of numbers, registered by its kind."""

    kind: ClassVar[str]

    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def _require(self, lowest: float = 0.0, **numbers: Any) -> None:
        """An error unless these are finite numbers, at least so large; symbols pass."""
        for name, x in numbers.items():
            if isinstance(x, bool | np.bool_) or x is None or isinstance(x, str) or np.ndim(x):
                raise InputError(f"{self.kind}: {name} is {x!r}: expected a number")
            if isinstance(x, int | float | np.number) and not (abs(x) <= sys.float_info.max and x >= lowest):
                bound = "" if lowest == -np.inf else f", {lowest:g} or more"
                raise InputError(f"{self.kind}: {name} is {x!r:.60}: expected a finite number{bound}")


class Force(Numbers):
    """A force that acts by itself, without a command of a controller."""

    nx: ClassVar[int] = 0  # states of its own

    def __init_subclass__(cls, **options: Any) -> None:
        """Forces from outside the package are named in the errors of their methods."""
        super().__init_subclass__(**options)
        blame_methods(cls, METHODS, MechanismError, SCALARS)

    def start(self) -> Array:
        """Initial states x, (nx,)."""
        return np.zeros(self.nx)


class JointForce(Force):
    """A force along one rate of a joint. Arguments are (...), x is (..., nx)."""

    # whether it reads the coordinate; a rate of a quaternion has none
    positional: ClassVar[bool] = True
    # what a command is measured in, for forces that take one: it is x[..., 0], held from sample to sample
    input: ClassVar[str] = ""
    # whether it has loops of its own that sample: `sampled` gives x at the start of a step
    samples: ClassVar[bool] = False
    # places of states whose rate is zero: only commands and samples change them
    still: ClassVar[tuple[int, ...]] = ()

    @abstractmethod
    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        """Force on the joint, without dry friction, (...) [N m or N]."""

    def dry(self, v: Array) -> Array:
        """Magnitude of the dry friction at rate v, (...) [N m or N]; it opposes the motion."""
        return np.zeros(())

    def holding(self) -> Any:
        """The largest force that dry friction balances at rest [N m or N]."""
        return 0.0

    def start_at(self, q: Array) -> Array:
        """Initial states x for a joint at q, (..., nx)."""
        return np.broadcast_to(self.start(), (*np.shape(q), self.nx))

    def sampled(self, q: Array, v: Array, x: Array, dt: Array) -> Array:
        """x after the sampling at the start of a step of dt [s], (..., nx)."""
        return x

    def decay(self) -> Array:
        """Decay rates of the states, (nx,) [1/s]: rate = -decay x + other terms."""
        return np.zeros(self.nx)

    def rate(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        """dx/dt, (..., nx)."""
        return np.zeros(x.shape)

    def energy(self, q: Array, x: Array) -> Array:
        """Stored energy, (...) [J]."""
        return np.zeros(np.shape(q))


class JointLaw(Force):
    """A force along all rates of a joint, which reads the joint itself and all of its coordinates: q (..., nq), v (..., nv)."""

    positional: ClassVar[bool] = True

    def obstacle(self, joint: Any) -> str | None:
        """Why it cannot act on a joint, in words; None if it can."""
        return None

    @abstractmethod
    def effort(self, t: Any, joint: Any, q: Array, v: Array, x: Array) -> Array:
        """Forces on the joint, (..., nv) [N m or N]."""

    def rate(self, t: Any, joint: Any, q: Array, v: Array, x: Array) -> Array:
        """dx/dt, (..., nx)."""
        return np.zeros(x.shape)

    def energy(self, joint: Any, q: Array, x: Array) -> Array:
        """Stored energy, (...) [J]."""
        return np.zeros(q.shape[:-1])


class Motion(NamedTuple):
    """The motion of a frame: its pose in the world, (..., 4, 4), and its twist in its own axes, (..., 6)."""

    X: Array
    V: Array


class FrameForce(Force):
    """A force between two frames, a and b; wrenches (f, n) act on each frame, in its own axes at its origin."""

    @abstractmethod
    def wrenches(self, t: Any, a: Motion, b: Motion, x: Array) -> tuple[Array, Array]:
        """Wrenches on frame a and on frame b, (..., 6) each."""

    def rate(self, t: Any, a: Motion, b: Motion, x: Array) -> Array:
        """dx/dt, (..., nx)."""
        return np.zeros(x.shape)

    def energy(self, X_Wa: Array, X_Wb: Array, x: Array) -> Array:
        """Stored energy, (...) [J]."""
        return np.zeros(X_Wa.shape[:-2])
