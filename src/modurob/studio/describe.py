"""A design as plain data for the page: modules, ports, shapes, joints, matrices, cells."""

from typing import Any, NamedTuple

import numpy as np

from modurob import catalogue
from modurob.assembly import PortRef, cells
from modurob.catalogue import Module, ModuleType, Port
from modurob.errors import AssemblyError
from modurob.mechanism.tables import Joint
from modurob.motion.gaits import strides
from modurob.robot import Assembly, Mechanism
from modurob.studio import links, suggestions
from modurob.studio.design import AnyDesign, Design
from modurob.studio.imported import Imported
from modurob.viewer import drawing, scene
from modurob.viewer.guides import axis, guides

# larger matrices are not shown: they are no longer read
MOST_IN_MATRICES = 48
FURTHEST = 1e4  # stands for "no limit" in the page


def robot(design: AnyDesign) -> dict[str, Any]:
    """Everything the page shows of a design."""
    mechanism = design.robot
    return {
        "name": design.name,
        "robot": mechanism.key.hex(),
        "base": design.base,
        "floating": design.floating,
        "gravity": design.gravity,
        "notes": design.notes,
        "bodies": [scene.body(mechanism, i) for i in range(len(mechanism.bodies))],
        "joints": [{**_joint(j), **_axis(j, body)} for body, j in enumerate(mechanism.joints, start=1)],
        "degrees_of_freedom": mechanism.nv - (mechanism.loop_rank() if mechanism.loops else 0),
        "nq": mechanism.nq,
        "nv": mechanism.nv,
        "idle": mechanism.idle,
        "loops": [loop.name for loop in mechanism.loops],
        "redundant": mechanism.redundant,
        "mass": mechanism.total_mass(),
        "cables": scene.cables(mechanism),
        "suggested": suggestions.settings(
            mechanism, strides.organism(design.assembly) if isinstance(design, Design) else ""
        ),
        **(links.parts(mechanism) if isinstance(design, Imported) else _modular(design)),
    }


def _modular(design: Design) -> dict[str, Any]:
    """What robots of modules have."""
    assembly, mechanism = design.assembly, design.robot
    return {
        "made_of": "modules",
        "key": assembly.key if len(assembly) <= MOST_IN_MATRICES else "",
        "types": [_type(kind, label) for label, kind in design.own_types.items()],
        "modules": [_module(name, m, design.kind(m)) for name, m in assembly.modules.items()],
        "connections": [str(c) for c in assembly.connections],
        "shapes": _shapes(assembly, mechanism),
        "guides": guides(mechanism, _guided(assembly, mechanism)),
        "ports": _ports(assembly, mechanism),
        "frames": [drawing.frame(mechanism, name) for name in assembly.modules],
        "views": _views(design) if len(assembly) <= MOST_IN_MATRICES else None,
        "grid": _grid(assembly),
    }


class Types(NamedTuple):
    """Module types that can be docked, and files of the user that hold none."""

    types: list[dict[str, Any]]
    problems: list[str]


def module_types() -> Types:
    """The catalogue; a file that cannot be read does not hide the others."""
    found = [_type(catalogue.named(name), name) for name in catalogue.names()]
    folder = catalogue.user_folder()
    wrong = {name.removesuffix(".yaml"): why for name, why in catalogue.problems().items()}
    return Types(found, [f"module type {name!r} in {folder} cannot be used: {why}" for name, why in wrong.items()])


def _type(kind: ModuleType, label: str) -> dict[str, Any]:
    module = kind.module()
    ports = [p for p in module.ports.values() if not p.connector.virtual]
    return {
        "name": label,
        "letter": kind.specification.letter or kind.name[0].upper(),
        "description": kind.specification.description,
        "ports": [{"name": p.name, "X": drawing.rows(p.X), **_connector(p)} for p in ports],
        "shapes": [drawing.drawn(s.kind, s.size, s.X, s.colour) for part in module.parts.values() for s in part.shapes],
        "joints": len(module.joints),
    }


def _module(name: str, module: Module, kind: str) -> dict[str, Any]:
    specification = module.type.specification
    return {
        "name": name,
        "kind": kind,
        "letter": specification.letter or "",
        "parameters": [
            {
                "name": parameter,
                "value": value if isinstance(value, str) else float(value),
                "unit": specification.parameters[parameter].unit,
                "minimum": specification.parameters[parameter].minimum,
                "maximum": specification.parameters[parameter].maximum,
                "choices": specification.parameters[parameter].choices,
                "description": specification.parameters[parameter].description,
                "changed": parameter in module.changed,
            }
            for parameter, value in module.parameters.items()
        ],
        "joints": [
            {"name": f"{name}/{j.name}", "kind": j.type.kind, **{k: float(x) for k, x in j.properties.items()}}
            for j in module.joints.values()
        ],
    }


def _shapes(assembly: Assembly, mechanism: Mechanism) -> list[dict[str, Any]]:
    """Every shape with its module and its body."""
    shapes = []
    for index, (name, module) in enumerate(assembly.modules.items()):
        for part in module.parts.values():
            frame = mechanism.frames[f"{name}/{part.name}"]
            for shape in part.shapes:
                drawn = drawing.drawn(shape.kind, shape.size, frame.X @ shape.X, shape.colour)
                shapes.append({"module": index, "body": frame.body, **drawn})
    return shapes


def _bodiless(assembly: Assembly) -> set[str]:
    """The modules that have no shape at all: virtual joints."""
    return {name for name, m in assembly.modules.items() if not any(part.shapes for part in m.parts.values())}


def _guided(assembly: Assembly, mechanism: Mechanism) -> list[int]:
    """The bodies that joints of such modules move."""
    bodiless = _bodiless(assembly)
    return [body for body, joint in enumerate(mechanism.joints, start=1) if joint.name.split("/")[0] in bodiless]


def _connector(port: Port) -> dict[str, Any]:
    c = port.connector
    return {"connector": c.kind, "gender": c.gender, "size": float(c.size), "rolls": c.rolls}


def _ports(assembly: Assembly, mechanism: Mechanism) -> list[dict[str, Any]]:
    """Every port with a face."""
    ports = []
    for name, module in assembly.modules.items():
        for port in module.ports.values():
            if not port.connector.virtual:
                ref = PortRef(name, port.name)
                frame = mechanism.frames[str(ref)]
                holds = assembly.occupied.get(ref)
                ports.append(
                    {
                        "ref": str(ref),
                        "body": frame.body,
                        "X": drawing.rows(frame.X),
                        "holds": str(holds) if holds else None,
                        **_connector(port),
                    }
                )
    return ports


def _joint(joint: Joint) -> dict[str, Any]:
    low, high = (np.clip(bound, -FURTHEST, FURTHEST) for bound in joint.limits)
    return {
        "name": joint.name,
        "kind": joint.kind,
        "mimics": joint.mimics,
        "q": [joint.q_slice.start, joint.q_slice.stop],
        "v": [joint.v_slice.start, joint.v_slice.stop],
        "q_names": joint.coordinate_names(),
        "v_names": joint.rate_names(),
        "lower": [float(x) for x in low],
        "upper": [float(x) for x in high],
        "unit": joint.type.units[0] if joint.type.nq == 1 else "",
        "effort": [float(x) for x in np.clip(joint.effort_limit, 0, FURTHEST)],
        "armature": [float(x) for x in joint.armature],
    }


def _axis(joint: Joint, body: int) -> dict[str, Any]:
    """Where a joint of one rate acts: its axis in the frame of its body, and whether it turns."""
    found = axis(joint)
    return (
        {"body": body, "axis": None} if found is None else {"body": body, "axis": found[0].tolist(), "turns": found[1]}
    )


def _views(design: Design) -> dict[str, Any]:
    """The matrices and lists of Gutenkunst and of Meister, Gutenkunst, Levi."""
    a, base = design.assembly, design.base
    return {
        "aim": a.aim_table(),
        "accessibility": a.accessibility(base).tolist(),
        "dtl": [list(row) for row in a.direct_transformations(base)],
        "idtl": [list(row) for row in a.indirect_transformations(base)],
        "dyads": a.dyad_classes(),
    }


def _grid(assembly: Assembly) -> dict[str, Any]:
    try:
        plane = list(cells.plane(assembly).modules.values())
    except AssemblyError as error:
        return {"cells": [], "problem": str(error)}
    bodiless = _bodiless(assembly)
    shown = [p for p in plane if p.name not in bodiless] or plane
    return {
        "cells": [{"module": p.name, "column": p.cell[0], "row": p.cell[1], "quarters": p.quarters} for p in shown],
        "problem": "",
    }
