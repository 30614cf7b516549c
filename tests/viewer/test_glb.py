"""GLB files, read by trimesh: shapes have their volumes, and stand where the robot has them."""

import io
import json
import struct
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh

from modurob.errors import FormatError
from modurob.viewer import glb, scene

# trimesh keeps glTF's axes: x, z, -y of ours
UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [
        ("box", (0.2, 0.3, 0.5), 0.03),
        ("cylinder", (0.1, 0.4), np.pi * 0.1**2 * 0.4),
        ("sphere", (0.2,), 4 / 3 * np.pi * 0.2**3),
    ],
)
def test_surfaces_are_closed_and_look_outwards(kind, size, volume):
    points, normals, faces = glb.surface(kind, size)
    solid = trimesh.Trimesh(points.round(9) + 0.0, faces)
    solid.update_faces(solid.nondegenerate_faces())  # those at the poles of a sphere
    assert solid.is_watertight
    assert solid.volume == pytest.approx(volume, rel=0.02)
    corners = points[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    there = np.linalg.norm(across, axis=-1) > 1e-9
    assert (np.sum(across * normals[faces].mean(axis=1), axis=-1)[there] > 0).all()


def test_a_robot_stands_in_the_file_as_it_stands(crab, tmp_path):
    q = np.array([0.3, -0.2, 0.5])
    seen = trimesh.load(crab.show(q, tmp_path / "crab.glb"))
    X_WB = crab.forward_kinematics(q).bodies
    own = [X_WB[s.frame.body] @ s.in_body for s in crab.shapes]
    found = [seen.graph[name][0] for name in seen.graph.nodes_geometry]
    assert len(found) == len(own)
    for X in own:
        assert min(np.abs(UP @ X - Y).max() for Y in found) < 1e-5
    volumes = {"box": np.prod, "cylinder": lambda size: np.pi * size[0] ** 2 * size[1]}
    assert seen.volume == pytest.approx(sum(volumes[s.kind](s.size) for s in crab.shapes), rel=0.02)


def test_a_run_is_an_animation(crab, crab_run, tmp_path):
    data = crab_run.show(tmp_path / "run.glb").read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    head, blob = json.loads(data[20 : 20 + length]), data[28 + length :]
    assert len(data) == struct.unpack("<I", data[8:12])[0]

    def numbers(k):
        view = head["bufferViews"][head["accessors"][k]["bufferView"]]
        return np.frombuffer(blob, "<f4", view["byteLength"] // 4, view["byteOffset"])

    (film,) = head["animations"]
    channel = next(c for c in film["channels"] if c["target"] == {"node": 2, "path": "translation"})
    sampler = film["samplers"][channel["sampler"]]
    t, p = numbers(sampler["input"]), numbers(sampler["output"]).reshape(-1, 3)
    rows = np.searchsorted(crab_run.t, t - 1e-5)
    assert np.allclose(p, crab.forward_kinematics(crab_run.q[rows]).bodies[:, 2, :3, 3], atol=1e-6)


def test_rotations_do_not_jump():
    turns = np.linspace(0, 4 * np.pi, 50)
    X = np.zeros((50, 3, 4))
    X[:, 2, 2] = 1
    X[:, 0, 0] = X[:, 1, 1] = np.cos(turns)
    X[:, 1, 0], X[:, 0, 1] = np.sin(turns), -np.sin(turns)
    q = glb._motion(X)["rotation"]
    assert (np.sum(q[1:] * q[:-1], axis=-1) > 0.9).all()


def test_a_robot_that_changed_its_shape_is_refused(crab_run, tmp_path):
    both = SimpleNamespace(chapters=[*crab_run._chapters(), *crab_run._chapters()])
    from modurob.viewer import showing

    with pytest.raises(FormatError, match="changed its shape: GLB holds one"):
        showing.show(both.chapters, tmp_path / "a.glb")
    assert io.BytesIO(glb.glb(*scene.still(crab_run.robot))).read(4) == b"glTF"
