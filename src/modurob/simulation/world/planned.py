"""The changes of a run: those that can never happen are refused before the run starts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, get_args

import numpy as np

from modurob.assembly import PortRef
from modurob.assembly.cables import Cable
from modurob.assembly.graph import port_of
from modurob.catalogue import Module, module_type
from modurob.errors import ModurobError, SimulationError, choices
from modurob.robot import Assembly
from modurob.simulation.changes import MET, Change, Connect, Dock, Merge, Reroot, Tie, Undock, Untie

# the fields of changes that name organisms, and ports, wherever they occur
ORGANISMS, PORTS = ("organism", "first", "second"), ("at", "port", "a", "b")


class _Names(NamedTuple):
    """All names that changes may use: those in the world, and those that any of the changes adds."""

    organisms: list[str]
    modules: dict[str, Module]
    lines: list[str]


def planned(changes: Sequence[Change] | Change, living: Mapping[str, Assembly], begin: float) -> list[Change]:
    """The changes of a run in a world of these organisms from `begin` [s] on, or an error for a moment that never comes, or for a
    name that nothing has, now or after any of the changes."""
    found: list[Change] = [changes] if isinstance(changes, Change) else list(changes)
    for change in found:
        _require_change(change)
        _require_moment(change, begin)
        _require_tolerance(change)
    names = _names(found, living)
    for change in found:
        with _blamed_on(change):
            _require_names(change, names)
    return found


@contextmanager
def _blamed_on(change: Change) -> Iterator[None]:
    """Errors with the change they are about."""
    when: Any = change.when
    moment = "on a condition" if callable(when) else f"when {MET}" if when == MET else f"at {when:g} s"
    try:
        yield
    except ModurobError as error:
        raise type(error)(f"{type(change).__name__.lower()} {moment}: {error}") from None


def _require_change(change: Any) -> None:
    if not isinstance(change, Change):
        valid = ", ".join(f"mr.{kind.__name__}" for kind in get_args(Change))
        raise SimulationError(f"change {change!r:.60}: expected one such as mr.Undock(1.0, ...); valid: {valid}")


def _require_moment(change: Change, begin: float) -> None:
    """A time from zero on, a condition, or the meeting of ports."""
    when: Any = change.when
    timed = isinstance(when, int | float | np.number) and not isinstance(when, bool) and 0 <= when < np.inf
    past = timed and when < begin
    met = isinstance(when, str) and when == MET and isinstance(change, Merge | Connect)
    if not (timed or met or callable(when)):
        raise SimulationError(
            f"{type(change).__name__.lower()} when {when!r:.60}: expected a time of zero or more [s] or a function of the world; "
            f"mr.Merge and mr.Connect also {MET!r}"
        )
    if past:
        raise SimulationError(
            f"{type(change).__name__.lower()} at {when:g} s: that is past; times are those of the world, not of this run"
        )


def _require_tolerance(change: Change) -> None:
    """How far ports may be from fitting."""
    given: Any = getattr(change, "tolerance", (0.0, 0.0))
    if (
        not isinstance(given, tuple | list)
        or len(given) != 2
        or not all(isinstance(x, int | float) and x >= 0 for x in given)
    ):
        raise SimulationError(
            f"{type(change).__name__.lower()} with tolerance {given!r:.60}: expected two numbers of zero or more, [m, rad]"
        )


def _names(changes: Iterable[Change], living: Mapping[str, Assembly]) -> _Names:
    docked = dict(_docked(c) for c in changes if isinstance(c, Dock))
    there = {name: module for assembly in living.values() for name, module in assembly.modules.items()}
    parted = [c.into for c in changes if isinstance(c, Undock)]
    tied = [c.line for c in changes if isinstance(c, Tie)]
    lines = [line for assembly in living.values() for line in assembly.setup.lines]
    return _Names([*living, *parted], {**docked, **there}, [*lines, *tied])


def _docked(change: Dock) -> tuple[str, Module]:
    """The module that docks, which has the port that it docks by."""
    with _blamed_on(change):
        module = module_type(change.type).module()
        port_of(module, PortRef(change.module, str(change.by)))
    return change.module, module


def _require_names(change: Change, names: _Names) -> None:
    """An error for a name that nothing has."""
    said = vars(change)
    for name in (said[x] for x in ORGANISMS if x in said):
        _require(name, "organism", names.organisms)
    for port in (PortRef.parse(said[x]) for x in PORTS if x in said):
        _require(port.module, "module", names.modules)
        port_of(names.modules[port.module], port)
    if isinstance(change, Reroot):
        _require(change.base, "module", names.modules)
    if isinstance(change, Tie):
        Cable(change.route, change.law).require_fits(change.line, names.modules)
    if isinstance(change, Untie):
        _require(change.line, "line", names.lines)


def _require(name: Any, what: str, valid: Iterable[str]) -> None:
    if name not in list(valid):
        raise SimulationError(f"no {what} {name!r:.80}: {choices(str(name)[:80], valid)}")
