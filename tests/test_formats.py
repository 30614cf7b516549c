"""`mr.load` and `mr.save`: what a file holds is told by its content, what is written by the value and the ending."""

import zipfile
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import modurob as mr
from modurob.errors import CatalogueError, FormatError, InputError, RecordingError, UrdfError
from modurob.formats import Shipped

CRAB = mr.load("crab")
ROBOT = CRAB.mechanism()


def short_run() -> mr.Recording:
    return mr.simulate(ROBOT, duration=0.005)


# ---- there and back ----


@pytest.mark.parametrize("name", ["robot.yaml", "robot.yml", "robot"])
def test_assemblies(name, tmp_path):
    mr.save(CRAB, tmp_path / name)
    assert mr.load(tmp_path / name) == CRAB
    assert type(mr.load(tmp_path / name)) is mr.Assembly


@pytest.mark.parametrize(
    ("name", "text"), [("crab.urdf", mr.urdf), ("crab.URDF", mr.urdf), ("crab", mr.urdf), ("crab.xml", mr.mjcf)]
)
def test_robots(name, text, tmp_path, rng):
    mr.save(ROBOT, tmp_path / name)
    read = mr.load(tmp_path / name)
    assert type(read) is mr.Mechanism
    q = ROBOT.random_configuration(rng)
    # angles in the file are those of the matrices to the last digits
    np.testing.assert_allclose(read.mass_matrix(q), ROBOT.mass_matrix(q), rtol=1e-12, atol=1e-15)
    assert (tmp_path / name).read_text() == text(ROBOT)


def test_an_assembly_is_written_to_urdf_as_it_stands(tmp_path):
    crane = mr.load("crane")
    mr.save(crane, tmp_path / "crane.urdf")
    assert (tmp_path / "crane.urdf").read_text() == mr.urdf(crane.robot())


@pytest.mark.parametrize("name", mr.catalogue.names())
def test_module_types(name, tmp_path):
    kind = mr.module_type(name)
    mr.save(kind, tmp_path / "kind.yaml")
    assert mr.load(tmp_path / "kind.yaml") == kind
    assert mr.module_type(tmp_path / "kind.yaml") == kind


def test_recordings(tmp_path):
    run = short_run()
    mr.save(run, tmp_path / "a.mrun")
    assert mr.load(tmp_path / "a.mrun") == run
    mr.save(run, tmp_path / "a.csv")
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + len(run.t)
    mr.save(run, tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").read_bytes()[:4] == b"PAR1"


def test_content_decides_and_not_the_ending(tmp_path):
    """A name says nothing: a recording may be called robot.yaml."""
    run = short_run()
    for value, write in (
        (run, run.save),
        (ROBOT, lambda p: p.write_text("\ufeff\n " + mr.urdf(ROBOT).split("\n", 1)[1])),
    ):
        write(tmp_path / "robot")
        (tmp_path / "robot").rename(tmp_path / "robot.yaml")
        assert type(mr.load(tmp_path / "robot.yaml")) is type(value)


def test_the_shipped_robots_have_their_type():
    assert get_args(Shipped) == mr.shipped_robots()


# ---- refused ----


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", FormatError, "x: expected a mapping .* found NoneType"),
        (b"a: 1", FormatError, "x: not a robot: expected the line .* found format None; URDF files and recordings"),
        (b"format: modurob module 7\nname: a", CatalogueError, "x:\n  format: Input should be 'modurob module 1'"),
        (
            b"format: modurob robot 1",
            FormatError,
            "expected the line 'format: modurob robot 2', found format 'modurob robot 1'",
        ),
        (b"format: modurob robot 9", FormatError, "written as 'modurob robot 9', this version reads 'modurob robot 2'"),
        (b"<sdf/>", UrdfError, "x: root element <sdf>: expected <robot>"),
        (b"<robot", UrdfError, "x: cannot be read as XML"),
        (b"PK\x03\x04", RecordingError, "x: not a recording, or cut short"),
        (
            b"\x89PNG\r\n\x1a\n",
            FormatError,
            "x: cannot be read as text: byte 0x89 at place 0 is no UTF-8: expected a text",
        ),
        (b"name: \xff", FormatError, "x: cannot be read as text: byte 0xff at place 6 is no UTF-8"),
    ],
)
def test_unknown_content(content, error, message, tmp_path):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(error, match=message):
        mr.load(tmp_path / "x")


def test_a_zip_file_that_is_no_recording(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr("a.txt", "b")
    with pytest.raises(RecordingError, match=r"x.zip: damaged: .*recording.json"):
        mr.load(tmp_path / "x.zip")


def test_a_folder_and_a_name_that_is_none(tmp_path):
    with pytest.raises(FormatError, match=r"a folder: expected a file: a robot or module file \(.yaml\), URDF"):
        mr.load(tmp_path)
    with pytest.raises(FormatError, match="no file 'crabb' and no shipped robot of that name: did you mean 'crab'"):
        mr.load("crabb")
    with pytest.raises(FormatError):
        mr.load("a\0b.yaml")


@pytest.mark.parametrize(
    ("value", "name", "message"),
    [
        (
            ROBOT,
            "x.yaml",
            "x.yaml: files .yaml hold no Mechanism: valid: .urdf, .mjcf, .xml, .sdf; robot files are for assemblies",
        ),
        (ROBOT, "x.csv", "files .csv hold no Mechanism: valid: .urdf"),
        (CRAB, "x.mrun", "files .mrun hold no Assembly: valid: .yaml, .yml, .urdf"),
        (ROBOT, "x.udrf", "files .udrf hold no Mechanism: valid: .urdf, .mjcf, .xml, .sdf$"),
        (CRAB, "x.txt", "files .txt hold no Assembly: valid: .yaml, .yml, .urdf, .mjcf, .xml, .sdf$"),
        (mr.module_type("scout"), "x.yam", "files .yam hold no ModuleType: valid: .yaml, .yml$"),
        (mr.module_type("scout"), "x.urdf", "files .urdf hold no ModuleType: valid: .yaml, .yml"),
        (3, "x.yaml", "3 as what to write: expected an assembly, a robot, a module type or a recording, then the path"),
        (ROBOT.equations(), "x.yaml", "Equations.*: expected an assembly, a robot, a module type or a recording"),
    ],
)
def test_values_that_do_not_fit_the_ending(value, name, message, tmp_path):
    with pytest.raises(InputError, match=message):
        mr.save(value, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_recording_that_does_not_fit_the_ending(tmp_path):
    with pytest.raises(InputError, match=r"files .yaml hold no Recording: valid: .mrun, .csv, .parquet"):
        mr.save(short_run(), tmp_path / "x.yaml")
    with pytest.raises(InputError, match=r"files .mrum hold no Recording: valid: .mrun, .csv, .parquet"):
        mr.save(short_run(), tmp_path / "x.mrum")


def test_urdf_is_that_of_a_robot():
    assert mr.urdf(ROBOT).startswith('<?xml version="1.0"?>\n<robot name="crab">')
    with pytest.raises(
        InputError, match=r"Assembly has no URDF: expected a Mechanism: give its robot, assembly.robot\(\)"
    ):
        mr.urdf(CRAB)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"str has no URDF: expected a Mechanism$"):
        mr.urdf("crab")  # type: ignore[arg-type]


def test_robot_files_keep_their_folder(tmp_path):
    """A robot file names a module type beside it: `load` and `Assembly.load` find it alike."""
    mr.save(mr.module_type("scout"), tmp_path / "own.yaml")
    Path(tmp_path / "robot.yaml").write_text("format: modurob robot 2\nmodules: {a: own.yaml}\n")
    assert mr.load(tmp_path / "robot.yaml") == mr.Assembly.load(tmp_path / "robot.yaml")
