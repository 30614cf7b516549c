"""Reading and writing of files: robots, URDF, MJCF, module types and recordings, recognised by their content."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from modurob.assembly import files
from modurob.assembly.graph import Graph
from modurob.assembly.specification import FORMAT
from modurob.catalogue import ModuleType, library
from modurob.catalogue.reading import write_text
from modurob.errors import FormatError, InputError, explained
from modurob.formats.timor import timor_modules
from modurob.mechanism import EXPORTS
from modurob.mechanism.mjcf import is_mjcf
from modurob.mechanism.mjcf import mjcf as mjcf_text
from modurob.mechanism.urdf import HARDWARE
from modurob.mechanism.urdf import urdf as urdf_text
from modurob.robot import Assembly, Mechanism

if TYPE_CHECKING:
    from modurob.simulation import Recording  # loaded where a recording is met

Shipped = Literal[
    "cable_planar",
    "crab",
    "crane",
    "double_pendulum",
    "lwa4p",
    "lwa4p_angled",
    "robocrane",
    "tensegrity_arm",
    "tensegrity_prism",
    "tensegrity_tower",
    "tree9",
]
MODULE = "modurob module 1"
ROBOT_FILES = (".yaml", ".yml")
READ = "a robot or module file (.yaml), URDF (.urdf), MJCF (.xml), a module set of Timor-Python (.json) or a recording (.mrun)"


# ---- reading ----


@overload
def load(path: Shipped) -> Assembly: ...
@overload
def load(path: str | Path) -> Any: ...
@explained
def load(path: str | Path) -> Any:
    """The value in a file, recognised by its content: an Assembly of a robot file (YAML), a Mechanism of a URDF file,
    fixed in the world, or of a MuJoCo file, a ModuleType of a module file (YAML), ModuleTypes by name of a set of
    Timor-Python (JSON), a Recording; or a robot of the package by its name, which `shipped_robots` lists.

    If the kind is known, prefer `Assembly.load`, `Mechanism.from_urdf`, `Mechanism.from_mjcf`, `module_type`,
    `timor_modules` and `Recording.load`, which are typed and have options. SI units.

    >>> mr.load("crab")
    Assembly('crab', 6 backbone, 5 connections)
    >>> mr.save(mr.load("crab").mechanism(), "crab.urdf")
    >>> mr.load("crab.urdf")
    Mechanism('crab', 3 bodies, nq=3, nv=3)
    """
    start = _start(path)
    if start.startswith(b"PK"):
        from modurob.simulation import Recording

        return Recording.load(path)
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return Mechanism.from_mjcf(path) if is_mjcf(path) else Mechanism.from_urdf(path)
    if start.lstrip().startswith(b"{") and str(path).lower().endswith(".json"):
        return timor_modules(path)
    if isinstance(path, str | os.PathLike) and os.path.isdir(path):
        raise FormatError(f"{path}: a folder: expected a file: {READ}")
    data, where, folder = files.read(path)
    kind = str(data.get("format"))
    if kind.startswith("modurob module"):
        return library.from_data(data, where)
    if not kind.startswith(("modurob robot", "modurob assembly")):
        raise FormatError(
            f"{where}: not a robot: expected the line 'format: {FORMAT}', or 'format: {MODULE}' for a module type, "
            f"found format {data.get('format')!r:.80}; URDF files and recordings are read too"
        )
    return files.made(Assembly, data, where, folder)


def _start(path: Any) -> bytes:
    """The first bytes of a regular file; nothing where there is none."""
    if not isinstance(path, str | os.PathLike) or str(path) in files.shipped_robots():
        return b""
    try:
        if not Path(path).is_file():
            return b""
        with Path(path).open("rb") as file:
            return file.read(256)
    except (OSError, ValueError):
        return b""


# ---- writing ----


@explained
def save(value: "Assembly | Mechanism | ModuleType | Recording", path: str | Path) -> None:
    """Write a value to a file, completely or not at all; `load` reads it back.

    An assembly is written as a robot file (.yaml) or, with its setup, for other tools (.urdf, .sdf, .xml of MuJoCo); a
    robot for other tools; a module type as its file (.yaml); a recording as a recording file (.mrun) or as a table
    (.csv, .parquet). A file without an extension gets the first of these formats; any other extension is refused. SI
    units.

    >>> mr.save(mr.load("crab"), "my_crab.yaml")
    >>> mr.load("my_crab.yaml") == mr.load("crab")
    True
    >>> mr.save(run, "run.csv")
    """
    writers = _writers(value)
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r:.60} is no file to write: expected a path such as 'robot.yaml'")
    ending = Path(path).suffix.lower()
    if ending and ending not in writers:
        kind = type(value).__name__
        hint = "; robot files are for assemblies" if isinstance(value, Mechanism) and ending in ROBOT_FILES else ""
        raise InputError(f"{path}: files {ending} hold no {kind}: valid: {', '.join(writers)}{hint}")
    writers[ending or next(iter(writers))](Path(path))


def _writers(value: Any) -> Mapping[str, Callable[[Path], None]]:
    """How a value is written, by the ending of the file; the usual one first."""
    if isinstance(value, ModuleType):
        return dict.fromkeys(ROBOT_FILES, lambda path: write_text(path, library.to_text(value)))
    if isinstance(value, Mechanism):
        return {f".{ending}": _export(ending, lambda: value) for ending in EXPORTS}
    if isinstance(value, Graph):
        own = dict.fromkeys(ROBOT_FILES, lambda path: files.save(value, path))
        robot = value.robot if isinstance(value, Assembly) else None
        return {**own, **({} if robot is None else {f".{ending}": _export(ending, robot) for ending in EXPORTS})}
    from modurob.simulation import Recording

    if isinstance(value, Recording):
        return {".mrun": value.save, ".csv": value.to_csv, ".parquet": value.to_parquet}
    raise InputError(
        f"{value!r:.80} as what to write: expected an assembly, a robot, a module type or a recording, then the path"
    )


def _export(ending: str, robot: Callable[[], Mechanism]) -> Callable[[Path], None]:
    return lambda path: write_text(path, EXPORTS[ending](robot()))


@explained
def urdf(robot: Mechanism, hardware: str | None = HARDWARE) -> str:
    """The text of a robot's URDF file, for ROS and other tools: every body a link, every joint a joint, shapes as
    visuals and collision geometry, driven joints with the interfaces of ros2_control.

    `hardware` is the plugin that ros2_control uses, by default one that mirrors commands; None leaves the section out.
    `Mechanism.from_urdf` reads the text back as the same robot, with `floating=True` if it floats, which the format
    does not specify. Joints are revolute and prismatic; the format does not support loops and rotor inertia: a robot
    with loops is refused. Numbers are in m, kg and rad; slashes in names become underscores.

    >>> print(mr.urdf(robot).splitlines()[1])
    <robot name="crab">
    """
    return urdf_text(_written(robot, "URDF"), hardware)


@explained
def mjcf(robot: Mechanism, shapes: bool = True) -> str:
    """The text of a robot's MuJoCo file (MJCF): bodies, joints with limits, losses, springs and rotors, loops and mimic
    joints as equalities, lines as tendons, drives as motors, shapes as geoms, frames as sites; SI units.

    `Mechanism.from_mjcf` reads it back as the same robot. Features that MuJoCo does not support are refused by name.
    Meshes must be files that MuJoCo reads; without `shapes` there are none.

    >>> print(mr.mjcf(robot).splitlines()[1])
    <mujoco model="crab">
    """
    return mjcf_text(_written(robot, "MJCF"), shapes)


def _written(robot: Any, what: str) -> Mechanism:
    if not isinstance(robot, Mechanism):
        hint = ": give its robot, assembly.robot() or assembly.mechanism(...)" if isinstance(robot, Assembly) else ""
        raise InputError(f"{type(robot).__name__} has no {what}: expected a Mechanism{hint}")
    return robot
