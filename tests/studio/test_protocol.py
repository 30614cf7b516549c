"""Messages: what is sent comes back, what is wrong is refused."""

import json

import numpy as np
import pytest

from modurob.errors import StudioError
from modurob.studio import protocol


@pytest.mark.parametrize(
    "command",
    [
        protocol.Hello("abc"),
        protocol.Dock("backbone", "m0/3", "4", 90.0),
        protocol.SetParameter("m0", "mass", 2.0, everywhere=True),
        protocol.SetParameter("m0", "freedom", "revolute"),
        protocol.SetGravity((0.0, 9.81, 0.0)),
        protocol.Derive(("masses", "lengths"), shorthand=True),
        protocol.StartRun(protocol.RunSettings(controller="pid", gains={"kp": 2.0, "ki": 3.0}, duration=2.5)),
    ],
    ids=lambda c: type(c).__name__,
)
def test_what_is_sent_comes_back(command: protocol.Command) -> None:
    assert protocol.decode(protocol.encode(command)) == command


def test_every_command_has_a_name_and_a_meaning() -> None:
    assert len(protocol.COMMANDS) > 30
    for name, kind in protocol.COMMANDS.items():
        assert kind.__doc__, name
        assert name == name.lower()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no command None"),
        ('{"type": "dok"}', "did you mean 'dock'"),
        ('{"type": ["dock"]}', "no command"),
        ('{"type": "dock", "kind": "backbone"}', "dock: at: it is missing"),
        ('{"type": "undo", "evil": 1}', "undo: evil: there is no such field"),
        ('{"type": "dock", "kind": 3, "at": "m0/3", "by": "4"}', "dock: kind 3: expected a text"),
        ('{"type": "set_coordinate", "index": -1, "value": 0}', "set coordinate: index -1: expected at least 0"),
        ('{"type": "set_coordinate", "index": 0, "value": NaN}', "value nan: expected a finite number"),
        ('{"type": "set_rate", "index": true, "value": 0}', "set rate: index True: expected a whole number"),
        ('{"type": "start_run", "settings": {"duration": 1e9}}', r"start run: duration 1e\+09: expected at most 600"),
        ('{"type": "start_run", "settings": {"duration": 0}}', "start run: duration 0: expected more than 0"),
        ('{"type": "start_run", "settings": {"step": 0}}', "start run: step 0: expected at least 1e-05"),
        ('{"type": "start_run", "settings": {"controller": "magic"}}', "controller 'magic': expected 'none', .*'pid'"),
        ('{"type": "start_run", "settings": 3}', "start run: settings 3: expected fields"),
        ('{"type": "set_gravity", "gravity": [0, 0]}', "set gravity: gravity entry 3: it is missing"),
        ('{"type": "set_gravity", "gravity": [0, 0, null]}', "gravity entry 3 nothing: expected a number"),
        (
            '{"type": "set_parameter", "module": "m0", "name": "mass", "value": null}',
            "value nothing: expected a number",
        ),
        ('{"type": "rename", "name": ""}', "rename: name nothing: expected at least 1 character"),
        ('{"type": "place_cell", "column": 1e300, "row": 0, "kind": "scout"}', "column .*expected a whole number"),
        ('{"type": "place_cell", "column": 9999999, "row": 0, "kind": "scout"}', "column 9999999: expected at most"),
        ('{"type": "undock", "module": "m1", "branch": 1}', "branch 1: expected true or false"),
        ('{"type": "derive", "symbols": "masses"}', "symbols 'masses': expected a list"),
    ],
)
def test_what_is_wrong_is_refused(text: str, message: str) -> None:
    with pytest.raises(StudioError, match=message):
        protocol.decode(text)


def test_a_text_that_is_too_long_is_refused() -> None:
    text = json.dumps({"type": "open", "text": "x" * (protocol.LONGEST_TEXT + 1)})
    with pytest.raises(StudioError, match=r"open: text: expected at most 2000000 characters"):
        protocol.decode(text)


def test_json_has_no_infinity() -> None:
    """Browsers refuse to read it; null stands for numbers that are not finite."""
    event = protocol.Robot({"effort": np.inf, "joints": [{"lower": [-np.inf, 1.5]}, float("nan")], "name": "Infinity"})
    text = protocol.encode(event)
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert data["design"] == {"effort": None, "joints": [{"lower": [None, 1.5]}, None], "name": "Infinity"}


def test_a_frame_holds_poses_and_a_sample(rng: np.random.Generator) -> None:
    X, sample = rng.normal(size=(5, 4, 4)), rng.normal(size=7)
    data = protocol.frame(42, X, sample)
    kind, number, bodies, columns = np.frombuffer(data[:16], "<u4")
    assert (kind, number, bodies, columns) == (protocol.FRAME, 42, 5, 7)
    numbers = np.frombuffer(data[16:], "<f4")
    assert np.allclose(numbers[:60].reshape(5, 3, 4), X[:, :3], rtol=1e-6)
    assert np.allclose(numbers[60:], sample, rtol=1e-6)


def test_a_history_holds_all_samples(rng: np.random.Generator) -> None:
    samples = rng.normal(size=(11, 3))
    data = protocol.history(2, samples)
    assert np.frombuffer(data[:16], "<u4").tolist() == [protocol.HISTORY, 2, 11, 3]
    assert np.allclose(np.frombuffer(data[16:], "<f4").reshape(11, 3), samples, rtol=1e-6)
