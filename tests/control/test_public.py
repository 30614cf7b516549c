"""The names that users rely on, the interface to simulations, and the examples of the document."""

import contextlib
import dataclasses
import io
import re
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob import control
from modurob.simulation import Measured

ROOT = Path(__file__).parent.parent.parent
RECIPES = (control.ComputedTorque, control.FeedForward, control.GravityCompensation, control.LQR, control.PID)


def test_exported_names_exist_once():
    assert len(set(control.__all__)) == len(control.__all__)
    assert all(hasattr(control, name) for name in control.__all__)


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_are_values_that_make_laws(recipe):
    first, *others = (1.0,) * (2 if recipe is control.ComputedTorque else 1)
    made = recipe(first, *others, sample_time=0.01)
    assert made.sample_time == 0.01
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.sample_time = 0.02
    for robot in (mr.load("crab").mechanism(), mr.load("double_pendulum").mechanism()):
        law = made.on(robot)
        _, tau = law.step(law.start(), 0.0, Measured(robot.neutral(), np.zeros(robot.nv)))
        assert tau.shape == (robot.nv,)
        assert np.all(np.isfinite(tau))


def test_the_examples_of_the_document_run():
    text = (ROOT / "docs" / "control.md").read_text()
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(code, "control.md", "exec"), names)
    assert np.all(np.isfinite(names["tau"]))
    assert names["run"].status.ok
    assert names["damped"].status.ok
    np.testing.assert_array_equal(names["gains"].kp, [6, 50])
    assert "[" in out.getvalue()
