"""Recordings as MCAP files, which Foxglove and ROS tools play: frames, shapes and joints over time, as JSON."""

import base64
import io
import json
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.errors import RecordingError
from modurob.spatial import quaternion
from modurob.spatial.scalars import Array
from modurob.viewer.scene import Chapter, design

if TYPE_CHECKING:
    from modurob.simulation.recording import Segment

FPS = 60.0  # samples that are kept, a second
NANO = 1_000_000_000
WORLD = "world"
_OBJECT = {"type": "object"}
# topic -> name of its schema: those of Foxglove are known to its panels by their names
TOPICS = {
    "/tf": "foxglove.FrameTransforms",
    "/scene": "foxglove.SceneUpdate",
    "/joint_states": "modurob.JointStates",
}


def mcap(segments: "tuple[Segment, ...]") -> bytes:
    """The file; a change of shape sends the scene again."""
    try:
        writing: Any = import_module("mcap.writer")
    except ImportError:
        raise RecordingError("files .mcap need the package mcap: pip install 'modurob[mcap]'") from None
    out = io.BytesIO()
    writer = writing.Writer(out)
    writer.start("", "modurob")
    channels = {topic: writer.register_channel(topic, "json", _schema(writer, name)) for topic, name in TOPICS.items()}
    for topic, t, message in _messages(segments):
        nanoseconds = round(t * NANO)
        writer.add_message(channels[topic], nanoseconds, json.dumps(message).encode(), nanoseconds)
    writer.finish()
    return out.getvalue()


def _schema(writer: Any, name: str) -> int:
    return writer.register_schema(name, "jsonschema", json.dumps(_OBJECT).encode())


def _messages(segments: "tuple[Segment, ...]") -> Iterator[tuple[str, float, dict[str, Any]]]:
    """(topic, time [s], message), in order."""
    for own in segments:
        chapter = Chapter(own.robot, own.t, own.q).sampled(FPS)
        rows = np.searchsorted(own.t, chapter.t)
        names, bodies = [j.name for j in own.robot.joints if not j.mimics], own.robot.bodies
        poses = chapter.poses()
        yield "/scene", float(chapter.t[0]), _scene(own.robot, float(chapter.t[0]))
        for k, t in enumerate(chapter.t.tolist()):
            yield (
                "/tf",
                t,
                {"transforms": [_transform(t, name, X) for name, X in zip(bodies[1:], poses[k, 1:], strict=True)]},
            )
            state = {"position": own.q[rows[k]], "velocity": own.v[rows[k]], "effort": own.tau[rows[k]]}
            yield (
                "/joint_states",
                t,
                {"timestamp": _time(t), "name": names, **{n: x.tolist() for n, x in state.items()}},
            )


def _time(t: float) -> dict[str, int]:
    seconds, rest = divmod(round(t * NANO), NANO)
    return {"sec": seconds, "nsec": rest}


def _transform(t: float, name: str, X: Array) -> dict[str, Any]:
    return {"timestamp": _time(t), "parent_frame_id": WORLD, "child_frame_id": name, **_placed(X)}


def _placed(X: Array, at: str = "translation", turned: str = "rotation") -> dict[str, Any]:
    w, x, y, z = quaternion.from_matrix(np.asarray(X)[:3, :3]).tolist()
    return {
        at: dict(zip("xyz", np.asarray(X)[:3, 3].tolist(), strict=True)),
        turned: {"x": x, "y": y, "z": z, "w": w},
    }


def _scene(robot: Any, t: float) -> dict[str, Any]:
    """The shapes of all bodies, each in the frame of its own."""
    shown = design(robot)
    entities = []
    for i, body in enumerate(shown["bodies"]):
        own = [s for s in shown["shapes"] if s["body"] == i]
        kinds = {"cubes": "box", "cylinders": "cylinder", "spheres": "sphere"}
        parts = {name: [_primitive(s) for s in own if s["kind"] == kind] for name, kind in kinds.items()}
        parts["triangles"] = [_triangles(s, shown["meshes"][s["mesh"]]) for s in own if s["kind"] == "mesh"]
        frame = WORLD if i == 0 else body["name"]
        entities.append({"timestamp": _time(t), "frame_id": frame, "id": body["name"], "frame_locked": True, **parts})
    return {"deletions": [{"timestamp": _time(t), "type": 1, "id": ""}], "entities": entities}


def _common(shape: dict[str, Any]) -> dict[str, Any]:
    from matplotlib.colors import to_rgb

    r, g, b = to_rgb(shape["colour"])
    return {
        "pose": _placed(np.reshape(shape["X"], (3, 4)), "position", "orientation"),
        "color": {"r": r, "g": g, "b": b, "a": 1},
    }


def _primitive(shape: dict[str, Any]) -> dict[str, Any]:
    size = shape["size"]
    edges = {"box": size, "cylinder": [2 * size[0], 2 * size[0], size[-1]], "sphere": [2 * size[0]] * 3}[shape["kind"]]
    round_ends = {"bottom_scale": 1, "top_scale": 1} if shape["kind"] == "cylinder" else {}
    return {**_common(shape), "size": dict(zip("xyz", edges, strict=True)), **round_ends}


def _triangles(shape: dict[str, Any], mesh: dict[str, str]) -> dict[str, Any]:
    points = np.frombuffer(base64.b64decode(mesh["points"]), "<f4").reshape(-1, 3)
    faces = np.frombuffer(base64.b64decode(mesh["faces"]), "<u4")
    return {
        **_common(shape),
        "points": [dict(zip("xyz", p, strict=True)) for p in points.tolist()],
        "indices": faces.tolist(),
    }
