"""Meshes of URDF files: drawn where their files are found, named where they are not, touched by nothing."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh

import modurob as mr
from modurob.errors import ModurobWarning
from modurob.studio import opening
from modurob.studio.imported import Imported
from modurob.viewer import drawing, meshes, scene
from modurob.viewer.glb import glb

URDF = """<robot name="arm">
  <link name="base"><visual><geometry><mesh filename="{base}"/></geometry></visual></link>
  <link name="tip"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 0.5"/><geometry><mesh filename="meshes/tip.{ending}" scale="0.5 1 2"/></geometry></visual></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint>
</robot>"""
BOX = trimesh.creation.box((0.2, 0.3, 0.4)).apply_translation((1.0, 0.0, 0.0))


def written(folder: Path, ending: str = "stl", base: str = "package://arm/meshes/base.obj") -> Path:
    folder = folder / "arm"
    (folder / "meshes").mkdir(parents=True)
    BOX.export(folder / f"meshes/tip.{ending}")
    trimesh.creation.icosphere(radius=0.3).export(folder / "meshes/base.obj")
    (folder / "arm.urdf").write_text(URDF.format(ending=ending, base=base))
    return folder / "arm.urdf"


@pytest.mark.parametrize("ending", ["stl", "obj", "dae"])
def test_meshes_are_drawn_where_they_are(tmp_path: Path, ending: str) -> None:
    robot = mr.Mechanism.from_urdf(written(tmp_path, ending))
    shown = scene.design(robot)
    ball, box = shown["shapes"]
    assert (ball["body"], box["body"]) == (0, 1)
    assert np.allclose(ball["size"], 0.6, atol=1e-3)
    assert np.allclose(box["size"], [0.1, 0.3, 0.8], atol=1e-6)
    # the middle of the mesh, scaled, on the origin of the visual
    assert np.allclose(np.reshape(box["X"], (3, 4))[:, 3], [0.5, 0.0, 0.5], atol=1e-6)
    assert set(shown["meshes"]) == {ball["mesh"], box["mesh"]}
    (_, mesh) = meshes.drawn(robot.shapes)[1]
    inside = np.einsum("ij,ij->i", mesh.surface[1], mesh.points)
    assert (inside > 0).all()  # normals point out
    # what is only drawn is not touched, and comes back from a file
    assert robot.solids == ()
    mr.save(robot, tmp_path / "again.urdf")
    (again,) = mr.load(tmp_path / "again.urdf").shapes
    assert (again.file, again.size) == (robot.shapes[1].file, robot.shapes[1].size)


def test_other_programs_get_the_triangles(tmp_path: Path) -> None:
    data = glb(scene.still(mr.Mechanism.from_urdf(written(tmp_path)))[0])
    head = json.loads(data[20 : 20 + struct.unpack("<I", data[12:16])[0]])
    ends = [head["accessors"][m["primitives"][0]["attributes"]["POSITION"]] for m in head["meshes"]]
    assert np.allclose(ends[1]["max"], [0.05, 0.15, 0.4], atol=1e-6)


def test_fine_meshes_are_drawn_coarser() -> None:
    ball = trimesh.creation.icosphere(subdivisions=6)
    points, faces = meshes._coarser(np.array(ball.vertices), np.array(ball.faces))
    assert len(faces) < len(ball.faces) > meshes.MOST
    assert np.abs(np.linalg.norm(points, axis=1) - 1).max() < 1e-9
    assert trimesh.Trimesh(points, faces).volume == pytest.approx(ball.volume, rel=0.02)


def test_those_that_are_missing_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, base="meshes/none.stl")
    (path.parent / "meshes/tip.stl").write_text("no triangles")
    robot = mr.Mechanism.from_urdf(path)
    with pytest.warns(
        ModurobWarning,
        match=r"arm is drawn without 2 of its meshes: .*none.stl: there is no such file; .*tip.stl: cannot",
    ):
        shown = scene.design(robot)
    assert {shape["kind"] for shape in shown["shapes"]} <= {"sphere", "cylinder"}  # sticks
    assert shown["meshes"] == {}


def test_the_studio_draws_those_beside_its_file_alone(tmp_path: Path) -> None:
    path = written(tmp_path)
    design = opening.first(str(path), None)
    assert design is not None
    assert [drawing.name_of(s) for s in design.robot.shapes] == [drawing.name_of(s) for s in mr.load(path).shapes]
    uploaded = Imported(path.read_text().replace("meshes/tip", f"{path.parent}/meshes/tip"), "arm.urdf")
    assert uploaded.robot.shapes == ()
    assert uploaded.notes == (
        "arm: meshes do not come with a text (base.obj, tip.stl): modurob studio FILE draws those beside the file",
    )
