"""Recordings: `Recording.load`, then energies, accelerations, poses, states between ticks, the table and the run again."""

import io
import json
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import modurob as mr
from fuzz.mutation import mutated_bytes, mutated_data
from fuzz.targets.files import file_of
from modurob.errors import SimulationError

HEAD = "recording.json"


def _saved(run: mr.Recording) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        run.save(Path(folder) / "run.mrun")
        return (Path(folder) / "run.mrun").read_bytes()


@cache
def inputs() -> list[bytes]:
    crab, hinge = mr.load("crab"), mr.Assembly.from_aim([[3], [4]], types="backbone")
    law = mr.PID(20.0, 1.0, 2.0, reference=0.2, sample_time=0.002)
    watch = mr.ExtendedKalmanFilter(mr.HallSensors())
    runs = [
        mr.simulate(crab.mechanism(), duration=0.01, controller=law, estimator=watch),
        mr.simulate(hinge.mechanism(floating=True), duration=0.003, stepper=mr.SemiImplicitEuler(1e-3)),
        mr.simulate(hinge.mechanism().ideal(), [0.1], duration=0.02, stepper=mr.Adaptive()),
        mr.simulate(hinge.mechanism(), [[0.1], [0.2]], duration=0.003),
    ]
    return [_saved(run) for run in runs]


def mutated(rng: Random) -> bytes:
    data = rng.choice(inputs())
    if rng.random() < 0.2:
        return mutated_bytes(rng, data)
    members = _members(data)
    if rng.random() < 0.7:
        head = mutated_data(rng, json.loads(members[HEAD]))
        return _packed({**members, HEAD: json.dumps(head).encode()})
    name = rng.choice(sorted(members))
    fate: Any = rng.choice((mutated_bytes, mutated_bytes, None, "other", "renamed"))
    if fate is None:
        del members[name]
    elif fate == "other":
        members[name] = rng.choice(list(members.values()))
    elif fate == "renamed":
        members[rng.choice((f"{name}x", "0/x.npy", "1/q.npy", "../q.npy", "0/", "0/t"))] = members[name]
    else:
        members[name] = fate(rng, members[name])
    return _packed(members)


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def _packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def run(data: bytes) -> None:
    with file_of(data, ".mrun") as path:
        found = mr.Recording.load(path)
        repr((found, found.robot, found.status))
        for segment in found.segments:
            use(segment)
        try:
            found.to_csv(path.with_suffix(".csv"))
            found.repeated()
        except SimulationError:  # of several robots or runs there is none
            pass
        if found.segments[0].v.ndim == 3:
            repr(found.of_run(0).energy)
        found.save(path)
        assert mr.Recording.load(path) == found, "another recording is read back than was written"


def use(segment: Any) -> None:
    """What a user asks of a recording."""
    repr((segment.energy, segment.vdot, segment.names))
    segment.poses()
    if len(segment.t):
        segment.at(float(segment.t[len(segment.t) // 2]))
