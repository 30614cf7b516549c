"""A design as plain data for the page: modules, ports, shapes, joints, matrices, cells."""

from typing import Any

import numpy as np

from modurob import catalogue
from modurob.assembly import PortRef, cells
from modurob.catalogue import Module, ModuleType, PartShape, Port
from modurob.errors import AssemblyError
from modurob.mechanism.tables import Joint
from modurob.robot import Assembly, Mechanism
from modurob.spatial import inertia
from modurob.spatial.scalars import Array
from modurob.studio.design import Design

# larger matrices are not shown: they are no longer read
MOST_IN_MATRICES = 48
FURTHEST = 1e4  # stands for "no limit" in the page


def robot(design: Design) -> dict[str, Any]:
    """Everything the page shows of a design."""
    assembly, mechanism = design.assembly, design.robot
    return {
        "name": assembly.name,
        "key": assembly.key if len(assembly) <= MOST_IN_MATRICES else "",
        "robot": mechanism.key,
        "base": design.base,
        "floating": design.floating,
        "gravity": design.gravity,
        "modules": [_module(name, m) for name, m in assembly.modules.items()],
        "connections": [str(c) for c in assembly.connections],
        "shapes": _shapes(assembly, mechanism),
        "ports": _ports(assembly, mechanism),
        "bodies": [_body(mechanism, i) for i in range(len(mechanism.bodies))],
        "frames": [_frame(mechanism, name) for name in assembly.modules],
        "joints": [_joint(j) for j in mechanism.joints],
        "freedoms": mechanism.nv - (mechanism.loop_rank() if mechanism.loops else 0),
        "nq": mechanism.nq,
        "nv": mechanism.nv,
        "idle": mechanism.idle,
        "loops": [loop.name for loop in mechanism.loops],
        "redundant": mechanism.redundant,
        "mass": mechanism.total_mass(),
        "views": _views(design) if len(assembly) <= MOST_IN_MATRICES else None,
        "grid": _grid(assembly),
    }


def module_types() -> list[dict[str, Any]]:
    """The catalogue: what can be docked, and how."""
    return [_type(catalogue.module_type(name)) for name in catalogue.names()]


def _type(kind: ModuleType) -> dict[str, Any]:
    module = kind.module()
    ports = [p for p in module.ports.values() if not p.connector.virtual]
    return {
        "name": kind.name,
        "letter": kind.specification.letter or kind.name[0].upper(),
        "description": kind.specification.description,
        "ports": [{"name": p.name, "X": _rows(p.X), **_connector(p)} for p in ports],
        "shapes": [_shape(s, s.X) for part in module.parts.values() for s in part.shapes],
        "joints": len(module.joints),
    }


def _module(name: str, module: Module) -> dict[str, Any]:
    specification = module.type.specification
    return {
        "name": name,
        "kind": module.type.name,
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


def _rows(X: Array) -> list[float]:
    """The first three rows of a pose, row by row."""
    return [round(float(x), 7) for x in X[:3].ravel()]


def _shape(shape: PartShape, X: Array) -> dict[str, Any]:
    size = [round(float(x), 7) for x in shape.size]
    return {"kind": shape.kind, "size": size, "X": _rows(X), "colour": _colour(shape.colour)}


def _colour(text: str) -> str:
    """As the web writes it; 0.35 is a grey."""
    try:
        grey = round(255 * float(text))
    except ValueError:
        return text
    return f"#{grey:02x}{grey:02x}{grey:02x}"


def _shapes(assembly: Assembly, mechanism: Mechanism) -> list[dict[str, Any]]:
    """Every shape with its module and its body."""
    shapes = []
    for index, (name, module) in enumerate(assembly.modules.items()):
        for part in module.parts.values():
            frame = mechanism.frames[f"{name}/{part.name}"]
            for shape in part.shapes:
                shapes.append({"module": index, "body": frame.body, **_shape(shape, frame.X @ shape.X)})
    return shapes


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
                        "X": _rows(frame.X),
                        "holds": str(holds) if holds else None,
                        **_connector(port),
                    }
                )
    return ports


def _frame(mechanism: Mechanism, name: str) -> dict[str, Any]:
    frame = mechanism.frames[name]
    return {"name": name, "body": frame.body, "X": _rows(frame.X)}


def _body(mechanism: Mechanism, i: int) -> dict[str, Any]:
    """Mass, centre and the ellipsoid of the same inertia: axes as columns, half lengths [m]."""
    spatial = mechanism.inertia[i]
    mass = float(inertia.mass(spatial))
    if mass <= 0:
        return {"name": mechanism.bodies[i], "mass": 0.0}
    moments, axes = np.linalg.eigh(inertia.tensor(spatial))
    axes[:, 2] *= np.sign(np.linalg.det(axes)) or 1.0
    half = np.sqrt(np.maximum(2.5 * (moments.sum() - 2 * moments) / mass, 1e-12))
    return {
        "name": mechanism.bodies[i],
        "mass": mass,
        "centre": [float(x) for x in inertia.centre(spatial)],
        "axes": [float(x) for x in axes.ravel()],
        "half": [float(x) for x in half],
    }


def _joint(joint: Joint) -> dict[str, Any]:
    low, high = (np.clip(bound, -FURTHEST, FURTHEST) for bound in joint.limits)
    return {
        "name": joint.name,
        "kind": joint.kind,
        "mimics": joint.mimics,
        "q": [joint.q_slice.start, joint.q_slice.stop],
        "v": [joint.v_slice.start, joint.v_slice.stop],
        "lower": [float(x) for x in low],
        "upper": [float(x) for x in high],
        "unit": {"prismatic": "m", "revolute": "rad"}.get(joint.kind, ""),
        "effort": [float(x) for x in np.clip(joint.effort_limit, 0, FURTHEST)],
        "damping": [float(x) for x in joint.damping],
        "friction": [float(x) for x in joint.friction],
        "armature": [float(x) for x in joint.armature],
    }


def _views(design: Design) -> dict[str, Any]:
    """The matrices and lists of documents 000 and 003."""
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
        plane = cells.plane(assembly).modules.values()
    except AssemblyError as error:
        return {"cells": [], "problem": str(error)}
    return {
        "cells": [{"module": p.name, "column": p.cell[0], "row": p.cell[1], "quarters": p.quarters} for p in plane],
        "problem": "",
    }
