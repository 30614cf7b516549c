"""Lines of an assembly: routes over ports, as m3/2, with a law; a value beside the connections, since nothing is welded by them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any

from modurob.catalogue import Module
from modurob.catalogue.forces import Spring
from modurob.catalogue.lines import LAWS, NODES, Line, LineLaw, Node, Point, Winch
from modurob.errors import InputError, UnknownNameError, choices


@dataclass(frozen=True)
class Cable:
    """A line over ports: `route` lists paths, each alone or with a node, ("m3/2", mr.Pulley(0.05)); `law` as in `Builder.line`.

    >>> sorted(Cable(["m0/3", "m1/2"], mr.Elastic(stiffness=100.0, rest=0.2)).modules)
    ['m0', 'm1']
    """

    route: Any
    law: Any

    def __post_init__(self) -> None:
        if not isinstance(self.law, LineLaw | Spring):
            raise InputError(f"law of a line {self.law!r:.60}: expected mr.Spring(...) or one of {', '.join(LAWS)}")
        object.__setattr__(self, "route", tuple(map(_stop, self.route)))
        Line(tuple(node.node() if isinstance(node, Winch) else node for _, node in self.route), self.law)

    @property
    def modules(self) -> set[str]:
        """The modules that it needs."""
        return {path.partition("/")[0] for path in self._paths()}

    def _paths(self) -> list[str]:
        return [*(at for at, _ in self.route), *(node.joint for _, node in self.route if isinstance(node, Winch))]

    def renamed(self, names: Mapping[str, str]) -> "Cable":
        """With modules renamed."""

        def new(path: str) -> str:
            module, slash, rest = path.partition("/")
            return names.get(module, module) + slash + rest

        def moved(node: Any) -> Any:
            return replace(node, joint=new(node.joint)) if isinstance(node, Winch) else node

        return Cable([(new(at), moved(node)) for at, node in self.route], self.law)

    def require_fits(self, name: str, modules: Mapping[str, Module]) -> None:
        """An error if a port or a winch's joint is not among these modules."""
        ports = [f"{m}/{p}" for m, x in modules.items() for p in x.ports]
        joints = [f"{m}/{j}" for m, x in modules.items() for j in x.joints]
        for at, node in self.route:
            if at not in ports:
                raise UnknownNameError(f"line {name!r}: no port {at!r:.80}: {choices(at[:80], ports)}")
            if isinstance(node, Winch) and node.joint not in joints:
                raise UnknownNameError(
                    f"line {name!r}: no joint {node.joint!r:.80}: {choices(node.joint[:80], joints)}"
                )

    # ---- as plain data ----

    def to_data(self) -> dict[str, Any]:
        """As robot files have it."""
        return {"route": [_stop_data(at, node) for at, node in self.route], "law": {self.law.kind: _numbers(self.law)}}

    @classmethod
    def from_data(cls, route: list[Any], law: Mapping[str, Mapping[str, Any]]) -> "Cable":
        """The inverse of `data`."""
        (kind, numbers), *more = law.items()
        if more:
            raise InputError(f"a line of the laws {', '.join(law)}: expected one")
        return cls([_read_stop(stop) for stop in route], _made({**LAWS, "spring": Spring}, kind, numbers))


def left_among(lines: Mapping[str, Cable], modules: Collection[str]) -> tuple[dict[str, Cable], list[str]]:
    """The lines whose modules are all there, and the names of the others."""
    kept = {name: line for name, line in lines.items() if line.modules <= set(modules)}
    return kept, [name for name in lines if name not in kept]


def _stop(given: Any) -> tuple[str, Any]:
    at, node = (given, Point()) if isinstance(given, str) else given if len(given) == 2 else (None, None)
    if not isinstance(at, str) or not isinstance(node, Node | Winch):
        raise InputError(
            f"place {given!r:.80} on a line: expected a port like m3/2, or (port, mr.Pulley(...)) and the like"
        )
    return at, node


def _numbers(part: Any) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    return {f.name: getattr(part, f.name) for f in fields(part) if getattr(part, f.name) != f.default}


def _stop_data(at: str, node: Any) -> Any:
    if node == Point():
        return at
    if isinstance(node, Winch):
        own = {"joint": node.joint, "radius": node.radius}
        return {"at": at, "winch": own} | ({} if node.swivel is None else {"swivel": _numbers(node.swivel)})
    return {"at": at, node.kind: _numbers(node)}


def _read_stop(stop: Any) -> tuple[str, Any]:
    if isinstance(stop, str):
        return stop, Point()
    own = {key: x for key, x in stop.items() if key != "at"}
    swivel = _made(NODES, "swivel", own.pop("swivel")) if "swivel" in own and "winch" in own else None
    if "winch" in own:
        return stop["at"], _made({"winch": Winch}, "winch", {**own["winch"], **({"swivel": swivel} if swivel else {})})
    if len(own) != 1:
        raise InputError(f"place {stop!r:.80} on a line: expected at, and one of {', '.join((*NODES, 'winch'))}")
    ((kind, numbers),) = own.items()
    return stop["at"], _made(NODES, kind, numbers)


def _made(registry: Mapping[str, Any], kind: str, numbers: Mapping[str, Any]) -> Any:
    if kind not in registry:
        raise InputError(f"no {kind!r:.60} for a line: {choices(kind[:60], registry)}")
    try:
        return registry[kind](**numbers)
    except TypeError:
        names = ", ".join(f.name for f in fields(registry[kind]))
        raise InputError(f"{kind} of {', '.join(numbers)}: expected {names}") from None


def together(lines: Mapping[str, Cable], others: Mapping[str, Cable]) -> dict[str, Cable]:
    """The lines of two assemblies; names of the second that are taken get a number."""
    found = dict(lines)
    for name, line in others.items():
        numbered = (f"{name} {k}" for k in count(2))
        found[name if name not in found else next(n for n in numbered if n not in found)] = line
    return found
