"""What a run can be made of: all that is registered, from inside the package or outside."""

import json
from dataclasses import dataclass, fields

import numpy as np
import pytest

import modurob as mr
from modurob.control import LAWS, Recipe, plain_laws
from modurob.control.recipe import BoundLaw
from modurob.control.values import PerJoint
from modurob.errors import ControlError, StudioError
from modurob.estimation import FILTERS
from modurob.motion.gaits import GENERATORS, PRESETS
from modurob.simulation import STEPPERS, Memoryless, RungeKutta4
from modurob.spatial.scalars import Array
from modurob.studio import offers, protocol
from modurob.studio.protocol import RunSettings
from tests.studio.test_runs import CRAB, column, ran


@dataclass(frozen=True, eq=False)
class Constant(Recipe):
    """The same torque on every joint."""

    torque: PerJoint = 0.5

    def on(self, robot: mr.Mechanism) -> "ConstantLaw":
        return ConstantLaw(self, robot)


class ConstantLaw(BoundLaw, Memoryless):
    def torque(self, t: float, q: Array, v: Array) -> Array:
        return np.full_like(v, self.recipe.torque)


class Own(RungeKutta4):
    """A stepper from outside."""


def names(what: str) -> list[str]:
    return [entry["name"] for entry in offers.shown()[what]]


def test_everything_registered_is_offered() -> None:
    assert names("controllers") == ["none", "servos", *plain_laws(), "pole-placement"]
    assert names("filters") == ["none", *FILTERS]
    assert names("steppers") == list(STEPPERS)
    assert names("gaits") == list(PRESETS)
    assert names("generators") == list(GENERATORS)
    json.dumps(offers.shown(), allow_nan=False)


@pytest.mark.parametrize("law", plain_laws())
def test_every_law_runs_with_the_numbers_it_offers(law: str) -> None:
    gains = {entry["name"]: entry["value"] for entry in _offered(law)["gains"]}
    assert gains.keys() <= {f.name for f in fields(LAWS[law])}
    assert gains
    run = ran(controller=law, gains=gains, reference="hold", ideal=True, duration=0.1)
    assert run.status == "finished"
    assert np.abs(column(run, "tau")).max() > 0.1


@pytest.mark.parametrize("law", [name for name in LAWS if name not in plain_laws()])
def test_a_law_that_needs_more_than_numbers_says_so(law: str) -> None:
    words = f"{law} needs {LAWS[law].needs}"
    with pytest.raises(StudioError, match=rf"controller '{law}': expected 'none', .*; {words}, which only Python"):
        protocol.decode(json.dumps({"type": "start_run", "settings": {"controller": law}}))
    with pytest.raises(ControlError, match=f"controller '{law}' needs {LAWS[law].needs}: make it in Python"):
        ran(controller=law)


@pytest.mark.parametrize("kind", FILTERS)
def test_every_filter_runs(kind: str) -> None:
    run = ran(filter=kind, ideal=True, reference="hold", duration=0.1)
    assert run.status == "finished"
    assert run.estimate is not None


@pytest.mark.parametrize("gait", PRESETS)
@pytest.mark.parametrize("generator", GENERATORS)
def test_every_gait_runs(gait: str, generator: str) -> None:
    chain = mr.Assembly.from_grid("\n".join(7 * "B")).mechanism()
    run = ran(chain, gait=gait, generator=generator, amplitude=0.05, ideal=True, duration=0.1)
    assert run.status == "finished"


def test_a_law_and_a_stepper_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are offered with their numbers, taken from the page, and run."""
    settings = {"controller": "constant", "gains": {"torque": 0.25}, "stepper": "own", "ideal": True, "duration": 0.1}
    text = json.dumps({"type": "start_run", "settings": settings})
    with pytest.raises(StudioError, match="controller 'constant': expected 'none'"):
        protocol.decode(text)
    monkeypatch.setitem(LAWS._things, "constant", Constant)
    monkeypatch.setitem(STEPPERS._things, "own", Own)
    assert _offered("constant")["gains"] == [
        {"name": "torque", "label": "torque", "value": 0.5, "unit": "", "min": 0.0, "max": None}
    ]
    assert {"name": "own", "label": "own", "fixed": True, "contacts": False} in offers.shown()["steppers"]
    assert protocol.decode(text) == protocol.StartRun(RunSettings(**settings))
    run = ran(**settings)
    assert run.status == "finished"
    assert np.allclose(column(run, "tau"), 0.25)


def test_numbers_that_a_law_does_not_have_are_refused() -> None:
    with pytest.raises(StudioError, match=r"pid has no gain 'speed': .*kp"):
        ran(controller="pid", gains={"speed": 1.0})


def test_forces_act_unless_drives_are_ideal() -> None:
    """A hinge with friction, hanging: it comes to rest, an ideal one swings on; and no drive gives more than its effort."""
    rough = mr.load("tree9").with_parameters(damping=0.5).mechanism()
    q = np.full(rough.nq, 0.3)
    energy = {
        ideal: column(ran(rough, q, controller="none", ideal=ideal, step=1e-3, duration=1.0), "energy").sum(axis=1)
        for ideal in (False, True)
    }
    assert energy[False][0] - energy[False][-1] > 0.1
    assert np.ptp(energy[True]) < 0.01 * (energy[False][0] - energy[False][-1])
    strong = {"controller": "computed-torque", "gains": {"kp": 1e4, "kd": 200.0}, "reference": "set_point"}
    limit = CRAB.effort_limit.max()
    assert np.abs(column(ran(**strong, duration=0.1), "tau")).max() == pytest.approx(limit)
    assert np.abs(column(ran(**strong, ideal=True, duration=0.1), "tau")).max() > 2 * limit


def _offered(law: str) -> dict:
    return next(entry for entry in offers.shown()["controllers"] if entry["name"] == law)


def test_what_is_called_alike_is_told_apart():
    """The law that adapts is not the stepper that does."""
    shown = offers.shown()
    labels = {what: {x["name"]: x["label"] for x in shown[what]} for what in ("controllers", "steppers")}
    assert labels["controllers"]["adaptive"] == "adaptive"
    assert labels["steppers"]["adaptive"] == "adaptive, DOP853"
