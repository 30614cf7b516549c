"""Whether what a module type file says fits together."""

from collections.abc import Collection, Iterable, Iterator

from modurob.catalogue import expression
from modurob.catalogue.joints import KINDS
from modurob.catalogue.specification import ModuleSpec
from modurob.errors import CatalogueError, choices


def mistakes(spec: ModuleSpec, unread: Collection[str] = ()) -> Iterator[str]:
    """The inconsistencies of a description, one line each.

    Entries named in `unread` could not be read: they count as present and are not checked further.
    """
    yield from _unknown_names(spec, unread)
    yield from _names_used_twice(spec)
    yield from _forward_references(spec, unread)
    if not unread:
        yield from _loose_parts(spec)


def _unknown_names(spec: ModuleSpec, unread: Collection[str]) -> Iterator[str]:
    for name, joint in spec.joints.items():
        for part in (joint.from_, joint.to):
            yield from _missing(part, spec.parts, unread, f"joint {name!r}: no part")
        if joint.from_ == joint.to:
            yield f"joint {name!r} goes from part {joint.to!r} to itself: expected two parts"
        choice = spec.parameters.get(joint.kind)
        for kind in (choice.choices if choice else None) or (joint.kind,):
            yield from _missing(kind, KINDS, unread, f"joint {name!r}: no joint kind")
    for name, port in spec.ports.items():
        yield from _missing(port.part, spec.parts, unread, f"port {name!r}: no part")
        yield from _missing(port.connector, spec.connectors, unread, f"port {name!r}: no connector")


def _missing(name: str, valid: Iterable[str], unread: Collection[str], what: str) -> Iterator[str]:
    valid = list(valid)
    if name not in valid and name not in unread:
        yield f"{what} {name!r:.80}: {choices(name, valid)}"


def _names_used_twice(spec: ModuleSpec) -> Iterator[str]:
    parts, joints, ports = set(spec.parts), set(spec.joints), set(spec.ports)
    for name in sorted((parts & joints) | (parts & ports) | (joints & ports)):
        yield f"{name!r} names two things: parts, joints and ports need different names"


def _forward_references(spec: ModuleSpec, unread: Collection[str]) -> Iterator[str]:
    known = set(unread)
    for name, parameter in spec.parameters.items():
        if parameter.choices is None and isinstance(parameter.value, str):
            try:
                used = expression.names(parameter.value)
            except CatalogueError as error:
                yield f"parameter {name!r}: {error}"
                used = set()
            for other in sorted(used - known):
                yield f"parameter {name!r} refers to {other!r}, which does not stand above it"
        known.add(name)


def _loose_parts(spec: ModuleSpec) -> Iterator[str]:
    first = next(iter(spec.parts))
    reached = {first}
    for _ in spec.joints:
        ends = [{j.from_, j.to} for j in spec.joints.values() if reached & {j.from_, j.to}]
        larger = reached.union(*ends)
        if larger == reached:
            break
        reached = larger
    for part in spec.parts:
        if part not in reached:
            yield f"no joint leads from part {first!r} to part {part!r}: join them, or make them one"
