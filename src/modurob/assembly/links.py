"""Arms from a list of link types, as a panel of drop-downs offers them (Sepp et al., chapter 5).

A link type is a chain of modules, each with the ports `in` and `out`. A list such as B, B, C, endeffector, none, none names the
links from the pedestal outwards: all of them, then the end effector, then nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

from modurob.assembly.connection import Connection, docking
from modurob.catalogue import Module, module_type
from modurob.catalogue.plain_yaml import parse_yaml
from modurob.errors import AssemblyError, UnknownNameError, choices

PEDESTAL, END, NONE = "pedestal", "endeffector", "none"
MOST = 6  # links that the panel has room for

LinkTypes = Mapping[str, Sequence[Mapping[str, Any]]]


@cache
def link_types() -> LinkTypes:
    """The link types of the LWA 4P: modules by letter, from input to output."""
    text = (resources.files("modurob.assembly") / "link_types.yaml").read_text(encoding="utf-8")
    return parse_yaml(text, "link_types.yaml")


def contents(links: Iterable[str], types: LinkTypes | None) -> tuple[dict[str, Module], list[Connection]]:
    """Modules and connections of the arm that a list of link types describes."""
    known = link_types() if types is None else types
    _require_types(known)
    chosen = _chosen(links, known)
    modules: dict[str, Module] = {}
    for place, kind in chosen:
        for entry in known[kind]:
            name = place if len(known[kind]) == 1 else f"{place}_{entry['type']}"
            modules[name] = module_type(entry["type"]).module(entry.get("parameters"))
    names = list(modules)
    return modules, [docking(f"{a}/out", f"{b}/in") for a, b in pairwise(names)]


def _require_types(types: Any) -> None:
    """An error for what is no table of link types."""
    rows = types.values() if isinstance(types, Mapping) else [None]
    for row in rows:
        if not isinstance(row, Sequence) or not row or not all(isinstance(m, Mapping) and "type" in m for m in row):
            raise AssemblyError(
                f"link types {types!r:.80}: expected modules by link type, {{'A': [{{'type': 'powerball', 'parameters': ...}}]}}"
            )


def _chosen(links: Iterable[str], known: LinkTypes) -> list[tuple[str, str]]:
    """Places and link types from the pedestal to the end effector, or an error that says which choice is wrong."""
    given = list(links.replace(",", " ").split() if isinstance(links, str) else links)
    _require_known(given, known)
    if len(given) > MOST:
        raise AssemblyError(f"{len(given)} links: expected at most {MOST}, the end effector among them")
    if END not in given:
        raise AssemblyError(
            f"no link is the end effector: expected {END!r} after the last of {', '.join(given) or 'none'}"
        )
    end = given.index(END)
    for i, kind in enumerate(given[end + 1 :], start=end + 2):
        if kind != NONE:
            raise AssemblyError(f"link {i} is {kind!r}, after the end effector, link {end + 1}: expected {NONE!r}")
    if NONE in given[:end]:
        raise AssemblyError(
            f"link {given.index(NONE) + 1} is {NONE!r}, a gap before link {end + 1}: expected a link type"
        )
    if end == 0:
        raise AssemblyError("link 1 is the end effector: expected a link before it")
    own = [(f"link{i}", kind) for i, kind in enumerate(given[:end], start=1)]
    return [*([(PEDESTAL, PEDESTAL)] if PEDESTAL in known else []), *own, (END, END)]


def _require_known(given: list[Any], known: LinkTypes) -> None:
    valid = [*(kind for kind in known if kind != PEDESTAL), NONE]
    for i, kind in enumerate(given, start=1):
        if kind not in valid:
            raise UnknownNameError(f"link {i} is {kind!r:.40}: {choices(str(kind), valid)}")
