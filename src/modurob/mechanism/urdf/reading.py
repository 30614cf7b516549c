"""URDF files, read through yourdfpy into a builder."""

import logging
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from modurob.catalogue.joints import Free, JointType, Planar, Prismatic, Revolute
from modurob.errors import InputError, ModurobError, UrdfError, choices, no_file, warn_user
from modurob.mechanism.builder import Builder
from modurob.mechanism.joint_properties import JointProperties, Source
from modurob.mechanism.tables import FLOATING_BASE, Tables
from modurob.mechanism.urdf.collisions import CollisionShape, collision_shapes, located
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array

LARGEST_FILE = 64_000_000
WORLD_LINK = "world_link"
XACRO = "{http://www.ros.org/wiki/xacro}"
# limits beyond so many turns are taken for degrees, up to 360
TURNS = 2
# attributes that must be one or three numbers
NUMBERS = {
    "origin": (3, ("xyz", "rpy")),
    "axis": (3, ("xyz",)),
    "mass": (1, ("value",)),
    "inertia": (1, ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "limit": (1, ("lower", "upper", "velocity", "effort")),
    "dynamics": (1, ("damping", "friction")),
    "mimic": (1, ("multiplier", "offset")),
    "box": (3, ("size",)),
    "cylinder": (1, ("radius", "length")),
    "sphere": (1, ("radius",)),
}
JOINT_KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def fill(builder: Builder, path: Path, floating: bool) -> Tables:
    """Walk the links from the root, joints in file order, and add every one."""
    robot, collisions = _parse(path)
    builder.name = robot.name or path.stem
    links = {link.name: link for link in robot.links}
    children: dict[str, list[Any]] = {name: [] for name in links}
    for joint in robot.joints:
        children[joint.parent].append(joint)
    root = _root(robot, links, path)
    # a fixed root link called world is the world itself; any other link of that name needs another
    is_world = root == "world" and not floating
    if "world" in links and not is_world:
        _warn(path, f"the frame of link 'world' is called {WORLD_LINK!r}, since 'world' is the inertial frame")
        _rename_world(robot)
        links = {link.name: link for link in robot.links}
        children[WORLD_LINK] = children.pop("world")
        collisions[WORLD_LINK] = collisions.pop("world")
        root = _root(robot, links, path)
    stack = [(root, None)]
    try:
        while stack:
            name, joint = stack.pop()
            if joint is not None:
                _add(builder, links[name], path, **_joint_arguments(joint))
            elif not is_world:
                _add(builder, links[name], path, joint=Free() if floating else None, joint_name=FLOATING_BASE)
            for shape in collisions[name]:
                builder.collision(shape.kind, shape.size, name, shape.X, shape.file)
            stack.extend((child.child, child) for child in reversed(children.pop(name)))
        _require_all_reached(children, root)
        tables = builder.build()
    except ModurobError as error:
        raise UrdfError(f"{path.name}: {error}") from None
    for body in np.flatnonzero(inertia.mass(tables.inertia[1:]) == 0) + 1:
        _warn(path, f"link {tables.bodies[body]!r} moves without mass; forward dynamics may have no answer")
    return tables


def _rename_world(robot: Any) -> None:
    for link in robot.links:
        link.name = WORLD_LINK if link.name == "world" else link.name
    for joint in robot.joints:
        joint.parent = WORLD_LINK if joint.parent == "world" else joint.parent
        joint.child = WORLD_LINK if joint.child == "world" else joint.child


def _add(builder: Builder, link: Any, path: Path, **arguments: Any) -> None:
    spatial = _inertia(link)
    if spatial is not None:
        complaints = inertia.complaints(spatial)
        if complaints:
            warn_user(f"{builder.name}: link {link.name!r}: {'; '.join(complaints)}")
    builder.body(link.name, spatial, check=False, **arguments)
    for shape in _shapes(link, path):
        builder.shape(*shape)


def _inertia(link: Any) -> Array | None:
    """6x6 in the link frame, or None where the file gives none."""
    given = link.inertial
    if given is None or given.mass is None:
        return None
    X = se3.IDENTITY if given.origin is None else given.origin
    tensor = np.zeros((3, 3)) if given.inertia is None else np.asarray(given.inertia, dtype=float)
    if not np.all(np.isfinite(tensor)) or not np.isfinite(given.mass) or not np.all(np.isfinite(X)):
        raise UrdfError(f"<inertial> of link {link.name!r} is not finite")
    return inertia.moved(inertia.spatial_inertia(float(given.mass), np.zeros(3), tensor), X)


def _shapes(link: Any, path: Path) -> Iterator[tuple]:
    for visual in link.visuals:
        X = se3.IDENTITY if visual.origin is None else visual.origin
        geometry = visual.geometry
        if geometry is None:
            continue
        if geometry.box is not None:
            yield "box", tuple(map(float, geometry.box.size)), link.name, X
        elif geometry.cylinder is not None:
            yield "cylinder", (float(geometry.cylinder.radius), float(geometry.cylinder.length)), link.name, X
        elif geometry.sphere is not None:
            yield "sphere", (float(geometry.sphere.radius),), link.name, X
        elif geometry.mesh is not None and geometry.mesh.filename:
            scale = np.broadcast_to(1.0 if geometry.mesh.scale is None else geometry.mesh.scale, 3)
            yield "mesh", tuple(map(float, scale)), link.name, X, "0.7", located(geometry.mesh.filename, path)


def _joint_arguments(joint: Any) -> dict[str, Any]:
    X = se3.IDENTITY if joint.origin is None else joint.origin
    if not np.all(np.isfinite(X)):
        raise UrdfError(f"<origin> of joint {joint.name!r} is not finite")
    mimic = None
    if joint.mimic is not None and joint.type in ("revolute", "continuous", "prismatic"):
        ratio, offset = joint.mimic.multiplier, joint.mimic.offset
        mimic = Source(joint.mimic.joint, 1.0 if ratio is None else ratio, offset or 0.0)
    return {
        "parent": joint.parent,
        "joint": _joint_type(joint),
        "joint_name": joint.name,
        "at": X,
        "properties": _properties(joint),
        "mimic": mimic,
    }


def _joint_type(joint: Any) -> JointType | None:
    axis = tuple(map(float, joint.axis))
    try:
        if joint.type in ("revolute", "continuous"):
            return Revolute(axis)
        if joint.type == "prismatic":
            return Prismatic(axis)
        if joint.type == "planar":
            return Planar(axis)
    except InputError as error:
        raise UrdfError(f"joint {joint.name!r}: {error}") from None
    return Free() if joint.type == "floating" else None


def _properties(joint: Any) -> JointProperties:
    given: dict[str, Any] = {}
    if joint.limit is not None:
        bounds = {"velocity": joint.limit.velocity, "effort": joint.limit.effort}
        if joint.type in ("revolute", "prismatic"):
            bounds |= {"lower": joint.limit.lower or 0.0, "upper": joint.limit.upper or 0.0}
            _warn_of_degrees(joint, bounds)
        given |= {name: float(x) for name, x in bounds.items() if x is not None}
    if joint.dynamics is not None:
        losses = {"damping": joint.dynamics.damping, "friction": joint.dynamics.friction}
        given |= {name: float(x) for name, x in losses.items() if x is not None}
    return JointProperties(**given)


def _warn_of_degrees(joint: Any, bounds: dict[str, Any]) -> None:
    """A warning of limits that are several turns, and at most one in degrees."""
    lower, upper = float(bounds["lower"]), float(bounds["upper"])
    if joint.type == "revolute" and TURNS * 2 * np.pi < max(abs(lower), abs(upper)) <= 360:
        radians = " to ".join(f"{np.radians(x):.4g}" for x in (lower, upper))
        warn_user(
            f"joint {joint.name!r}: limits {lower:g} to {upper:g} rad: expected radians; as degrees they are {radians} rad"
        )


def _parse(path: Path) -> tuple[Any, dict[str, list[CollisionShape]]]:
    """The robot of a file and what its links collide with, its XML checked first: no document type, every joint complete."""
    from lxml import etree  # pyright: ignore  # heavy, and only URDF needs it
    from yourdfpy import URDF

    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UrdfError(
                f"{path.name}: {size / 1e6:.0f} MB is too large: expected at most {LARGEST_FILE / 1e6:.0f} MB"
            )
        text = path.read_bytes()
        tree = etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True))
    except FileNotFoundError:
        if str(path).lstrip().startswith("<"):
            raise UrdfError(f"{str(path)!r:.60} is the text of a file: expected the path of one") from None
        raise UrdfError(no_file(path)) from None
    except (OSError, etree.XMLSyntaxError) as error:
        raise UrdfError(f"{path.name}: cannot be read as XML: {error}: expected a URDF file, <robot ...>") from None
    if tree.getroottree().docinfo.internalDTD is not None:
        raise UrdfError(f"{path.name}: has a <!DOCTYPE>, which could read other files: remove it")
    if tree.tag != "robot":
        hints = {
            "mujoco": ": a file of MuJoCo, which mr.load and Mechanism.from_mjcf read",
            "sdf": ": SDF is written, not read",
        }
        raise UrdfError(f"{path.name}: root element <{tree.tag}>: expected <robot>{hints.get(str(tree.tag), '')}")
    if any(isinstance(element.tag, str) and element.tag.startswith(XACRO) for element in tree.iter()):
        raise UrdfError(f"{path.name}: a xacro file: expand it first, with xacro {path.name} > robot.urdf")
    _require_complete(tree, path)
    collisions = collision_shapes(tree, path)
    _strip(tree)
    tree.set("name", tree.get("name", path.stem))
    logging.getLogger("yourdfpy").setLevel(logging.CRITICAL)
    try:
        robot = URDF.load(BytesIO(etree.tostring(tree)), build_scene_graph=False, load_meshes=False).robot
    except Exception as error:  # yourdfpy raises whatever a malformed attribute meets
        raise UrdfError(f"{path.name}: an element is malformed ({type(error).__name__}: {error})") from None
    return robot, collisions


def _strip(tree: Any) -> None:
    """Leave out what is read otherwise, or has no part in a mechanism: transmissions, plugins, materials, collisions."""
    for element in list(tree.iter()):
        kept = (
            element.tag in ("link", "joint")
            if element.getparent() is tree
            else element.tag not in ("material", "collision")
        )
        if element is not tree and not kept and element.getparent() is not None:
            element.getparent().remove(element)


def _require_complete(tree: Any, path: Path) -> None:
    """Names the element that is missing, doubled or of a kind URDF does not have."""
    for tag in ("link", "joint"):
        seen: set[str] = set()
        for element in tree.findall(tag):
            name = element.get("name")
            if not name:
                raise UrdfError(f"{path.name}, line {element.sourceline}: <{tag}> without a name")
            if name in seen:
                raise UrdfError(f"{path.name}, line {element.sourceline}: two <{tag}> named {name!r}")
            seen.add(name)
    links = [link.get("name") for link in tree.findall("link")]
    for joint in tree.findall("joint"):
        where = f"{path.name}, line {joint.sourceline}: joint {joint.get('name')!r}"
        if joint.get("type") not in JOINT_KINDS:
            raise UrdfError(f"{where} has type {joint.get('type')!r}: {choices(str(joint.get('type')), JOINT_KINDS)}")
        for tag in ("parent", "child"):
            end = joint.find(tag)
            link = None if end is None else end.get("link")
            if link not in links:
                raise UrdfError(f"{where} has <{tag}> link {link!r}: {choices(str(link), links)}")
        _require_numbers(joint, where)
    for link in tree.findall("link"):
        _require_numbers(link, f"{path.name}, line {link.sourceline}: link {link.get('name')!r}")


def _require_numbers(parent: Any, where: str) -> None:
    for element in parent.iter(*NUMBERS):
        n, attributes = NUMBERS[element.tag]
        for attribute in attributes:
            text = element.get(attribute, "0 0 0"[: 2 * n - 1])
            try:
                numbers = [float(x) for x in text.split()]
            except ValueError:
                numbers = []
            if len(numbers) != n:
                raise UrdfError(f"{where}: <{element.tag} {attribute}={text!r}>: expected {n} number{'s' * (n > 1)}")


def _root(robot: Any, links: dict[str, Any], path: Path) -> str:
    carried = [joint.child for joint in robot.joints]
    twice = {name for name in carried if carried.count(name) > 1}
    if twice:
        raise UrdfError(f"{path.name}: link {sorted(twice)[0]!r} is the child of two joints: expected a tree")
    roots = [name for name in links if name not in set(carried)]
    if not links:
        raise UrdfError(f"{path.name}: no <link>: expected at least one")
    if len(roots) != 1:
        raise UrdfError(f"{path.name}: root links {roots or 'none, the joints go round'}: expected exactly one")
    return roots[0]


def _require_all_reached(rest: dict[str, Any], root: str) -> None:
    if rest:
        raise UrdfError(f"no joints lead from the root link {root!r} to {', '.join(map(repr, rest))}: they go round")


def _warn(path: Path, text: str) -> None:
    warn_user(f"{path.name}: {text}")
