"""Wrenches that a user's function gives."""

import inspect
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms import forward_kinematics
from modurob.algorithms.configuration import neutral
from modurob.algorithms.wrenches import External, body_wrenches
from modurob.errors import SimulationError, explained
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array
from modurob.values import Value

# wrenches at (t, q, v), or t alone, by frame name (f, n) in the axes of the frame, or as `forward_dynamics` takes them
Wrenches = Callable[..., External]


class WrenchError(SimulationError):
    """The function of external wrenches raised an error, or returned what are none."""


@dataclass(frozen=True, eq=False)
class ExternalWrenches:
    """A user's wrenches on the bodies of a batch of runs with leading axes `shape`; or on some of them, by number."""

    m: Tables
    function: Wrenches  # of (t, q, v)
    shape: tuple[int, ...]
    runs: Array

    def __call__(self, t: Any, q: Array, v: Array) -> Array:
        """(runs, bodies, 6) in body frames, for t (runs, 1) and states (runs, ...). The function receives all runs, at
        one time.
        """
        all_q, all_v = self._all(q, neutral(self.m)), self._all(v, np.zeros(self.m.nv))
        times = np.broadcast_to(t, (len(v), 1))[:, 0]
        found = np.zeros((len(v), len(self.m.bodies), 6))
        for at in np.unique(times):
            try:
                wrenches = body_wrenches(self.m, _in_frames(self.m, all_q, self.function(float(at), all_q, all_v)))
                each = (
                    np.stack(np.broadcast_arrays(np.zeros((*self.shape, 6)), *wrenches)[1:], axis=-2)
                    if wrenches
                    else 0.0
                )
                if np.iscomplexobj(each):
                    raise TypeError("wrenches are complex: expected real numbers [N, N m]")
            except Exception as error:  # whatever a user's function raises
                raise WrenchError(f"{type(error).__name__}: {error}") from error
            now = times == at
            found[now] = np.broadcast_to(each, (*self.shape, *found.shape[1:])).reshape(-1, *found.shape[1:])[
                self.runs
            ][now]
        return found

    def _all(self, x: Array, rest: Array) -> Array:
        """States of all runs; those left out are at rest in the neutral configuration."""
        full = np.tile(rest, (int(np.prod(self.shape)), 1))
        full[self.runs] = x
        return full.reshape(*self.shape, len(rest))

    def of(self, runs: Array) -> "ExternalWrenches":
        """The same on some of the runs."""
        return replace(self, runs=self.runs[runs])

    def without(self, modules: Set[str]) -> "ExternalWrenches":
        """The same, but for wrenches on frames of these modules."""

        def rest(t: float, q: Array, v: Array) -> External:
            given = self.function(t, q, v)
            if not isinstance(given, Mapping):
                return given
            return {frame: F for frame, F in given.items() if str(frame).partition("/")[0] not in modules}

        return replace(self, function=rest)


def external_wrenches(
    m: Tables, external: Wrenches | Mapping[str, Any] | None, shape: tuple[int, ...] = ()
) -> ExternalWrenches | None:
    """A user's wrenches on runs of leading axes `shape`."""
    if external is None:
        return None
    if not callable(external):
        raise SimulationError(
            f"external wrenches {external!r:.60}: expected a function of t, or of t, q and v, that returns wrenches by frame name"
        )
    return ExternalWrenches(m, _of_state(external), shape, np.arange(int(np.prod(shape))))


def _of_state(external: Wrenches) -> Wrenches:
    """A function of (t, q, v), from one of t alone or of all three; arguments with defaults are the function's own, unless they
    are called q and v."""
    try:
        parameters = inspect.signature(external).parameters.values()
    except (TypeError, ValueError):
        return lambda t, q, v: external(t)
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    named = [p.name for p in places[1:3]] == ["q", "v"]
    many = any(p.kind == p.VAR_POSITIONAL for p in parameters) or len(needed) >= 3 or named
    if not (many or places) or (not many and len(needed) > 1):
        raise SimulationError(
            f"external wrenches by {getattr(external, '__name__', external)!s}: expected a function of t, or of t, q and v"
        )
    return external if many else lambda t, q, v: external(t)


@explained
@dataclass(frozen=True, eq=False)
class InWorld(Value):
    """A wrench (f, n) in world axes at the origin of the frame it acts on, (..., 6) [N, N m], for `external` of `simulate`.

    >>> wind = lambda t: {"m3": mr.InWorld([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])}
    >>> mr.simulate(robot, q, duration=0.01, external=wind).status.ok
    True
    """

    wrench: Any


def _in_frames(m: Tables, q: Array, given: External) -> External:
    """Wrenches in world axes turned into the axes of their frames."""
    if not isinstance(given, Mapping) or not any(isinstance(F, InWorld) for F in given.values()):
        return given
    poses = forward_kinematics(m, q, kernels.run)
    turned = {}
    for name, F in given.items():
        if isinstance(F, InWorld):
            Rt, W = np.swapaxes(se3.rotation(poses[name]), -1, -2), np.asarray(F.wrench, dtype=float)
            F = np.concatenate([(Rt @ W[..., :3, None])[..., 0], (Rt @ W[..., 3:, None])[..., 0]], axis=-1)
        turned[name] = F
    return turned
