"""Virtual joints: modules without a body that carry a robot along or about an axis."""

from functools import lru_cache

from modurob.catalogue import Connector, Module, ModuleType, Port, module_type
from modurob.catalogue.specification import ConnectorSpec, PortSpec
from modurob.errors import InputError

MOTIONS = "xyzXYZ"


def chain(motions: str, port: Port) -> list[Module]:
    """One virtual joint for each letter, the last with an `out` that fits `port`."""
    if not isinstance(motions, str) or not motions or any(m not in MOTIONS for m in motions):
        raise InputError(f"motions {motions!r:.80}: expected letters of x, y, z (slide) and X, Y, Z (turn)")
    kinds = [module_type("virtual")] * (len(motions) - 1) + [_carrier(port)]
    return [kind.module(parameters(letter)) for kind, letter in zip(kinds, motions, strict=True)]


def parameters(letter: str) -> dict[str, float | str]:
    """Parameters of the virtual joint that slides along x, y, z or turns about X, Y, Z."""
    axis = {f"a{a}": float(a == letter.lower()) for a in "xyz"}
    return {"freedom": "prismatic" if letter.islower() else "revolute", **axis}


def _carrier(port: Port) -> ModuleType:
    """The shipped virtual joint where it fits, else one made for the connector."""
    plain = module_type("virtual")
    if not port.connector.rolls or not isinstance(port.connector.size, int | float):
        raise InputError(f"port {port.name!r}: expected a connector with a size in numbers and at least one roll")
    if port.connector.misfit(plain.module().ports["out"].connector, port.connector.rolls[0]) is None:
        return plain
    if port.connector.kind in plain.specification.connectors:
        raise InputError(
            f"port {port.name!r}: its connector {port.connector.kind!r} is not that of virtual joints: rename it"
        )
    return _fitting(port.connector)


@lru_cache(maxsize=64)
def _fitting(connector: Connector) -> ModuleType:
    """The virtual joint whose `out` fits a connector; a face points upwards."""
    gender = {"male": "female", "female": "male"}.get(connector.gender, "none")
    like = {"size": connector.size, "rolls": connector.rolls[:1], "virtual": connector.virtual}
    face = ConnectorSpec.model_validate({"gender": gender, **like})
    out = PortSpec.model_validate({"part": "carriage", "at": (0, 0, 0), "connector": connector.kind})
    plain = module_type("virtual").specification
    changes = {
        "name": f"virtual_{connector.kind}"[:64],
        "letter": None,
        "connectors": {**plain.connectors, connector.kind: face},
        "ports": {**plain.ports, "out": out},
    }
    return ModuleType(plain.model_copy(update=changes), f"virtual joint for connector {connector.kind!r}")
