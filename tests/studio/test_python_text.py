"""A robot as Python is that robot again."""

import numpy as np
import pytest

import modurob as mr
from modurob.studio.design import Design
from modurob.studio.imported import Imported
from modurob.studio.python_text import python
from tests.robots import random_assembly


def made(design, q, monkeypatch, folder=None):
    """What the lines leave."""
    shown = []
    monkeypatch.setattr(mr.Mechanism, "show", lambda robot, q: shown.append((robot, q)))
    names = {}
    exec(python(design, q), names)
    assert shown == [(names["robot"], names["q"])]
    return names


@pytest.mark.parametrize("name", mr.shipped_robots())
def test_shipped_robots(name, monkeypatch):
    design = Design(mr.load(name))
    q = design.robot.random_configuration(np.random.default_rng(1))
    names = made(design, q, monkeypatch)
    assert names["q"] == pytest.approx(q)
    again = names["robot"]
    assert again.nv == design.robot.nv
    assert np.allclose(again.mass_matrix(q), design.robot.mass_matrix(q))


@pytest.mark.parametrize("seed", range(6))
def test_random_robots(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    assembly = random_assembly(rng, 9)
    names = made(Design(assembly), assembly.robot().neutral(), monkeypatch)
    assert names["assembly"].key == assembly.key
    assert names["robot"].total_mass() == pytest.approx(assembly.robot().total_mass())


def test_loops_parameters_and_own_lines(monkeypatch):
    ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]], parameters={"mass": 2.5})
    text = python(Design(ring), ring.robot().neutral())
    assert text.count(".connect(") == 1
    assert "{'mass': 2.5}" in text
    assert made(Design(ring), ring.robot().neutral(), monkeypatch)["assembly"].key == ring.key
    roped = mr.load("crab").with_line("rope", ["m0/3", "m3/3"], mr.Elastic(stiffness=100.0, rest=0.1))
    assert "mr.loads(" in python(Design(roped), np.zeros(3))
    assert [row.name for row in made(Design(roped), np.zeros(3), monkeypatch)["robot"].lines] == ["rope"]


def test_links(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    robot = mr.load("crab").mechanism()
    mr.save(robot, "crab.urdf")
    design = Imported((tmp_path / "crab.urdf").read_text(), "crab.urdf")
    assert made(design, np.zeros(3), monkeypatch)["robot"].nv == 3
