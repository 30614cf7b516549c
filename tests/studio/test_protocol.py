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
        protocol.StartRun(protocol.RunSettings(controller="pid", poles=(-2.0, -3.0), duration=2.5)),
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
        ('{"type": "dock", "kind": "backbone"}', "dock: at: Field required"),
        ('{"type": "undo", "evil": 1}', "undo: evil: Unexpected"),
        ('{"type": "dock", "kind": 3, "at": "m0/3", "by": "4"}', "dock: kind: .*string"),
        ('{"type": "set_coordinate", "index": -1, "value": 0}', "set_coordinate: index"),
        ('{"type": "set_coordinate", "index": 0, "value": NaN}', "set_coordinate: value"),
        ('{"type": "set_rate", "index": true, "value": 0}', "set_rate: index"),
        ('{"type": "start_run", "settings": {"duration": 1e9}}', "start_run: settings.duration"),
        ('{"type": "start_run", "settings": {"step": 0}}', "start_run: settings.step"),
        ('{"type": "start_run", "settings": {"controller": "magic"}}', "start_run: settings.controller"),
        ('{"type": "set_gravity", "gravity": [0, 0]}', "set_gravity: gravity"),
    ],
)
def test_what_is_wrong_is_refused(text: str, message: str) -> None:
    with pytest.raises(StudioError, match=message):
        protocol.decode(text)


def test_a_text_that_is_too_long_is_refused() -> None:
    text = json.dumps({"type": "open", "text": "x" * (protocol.LONGEST_TEXT + 1)})
    with pytest.raises(StudioError, match=r"open: text: .*at most"):
        protocol.decode(text)


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
