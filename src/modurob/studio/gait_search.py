"""Which gait goes farthest on the ground: presets, swings and rhythms are tried side by side."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting
from modurob.control.drives import floating
from modurob.errors import ModurobError, StudioError
from modurob.motion.gaits import PRESETS, gait
from modurob.robot import Mechanism
from modurob.simulation import Simulation
from modurob.spatial.scalars import Array
from modurob.studio import ground, offers
from modurob.studio.protocol import RunSettings

AMPLITUDES = (0.4, 0.6, 0.8, 1.0)  # [rad]
FREQUENCIES = (0.5, 1.0, 1.5)  # [Hz]
DURATION, TICK = 6.0, 0.05  # [s]
MOST_RATES = 80  # degrees of freedom of robots that are tried this often


class _Tried(NamedTuple):
    distance: float  # [m]
    settings: dict[str, Any]


def best_gait(robot: Mechanism, q: Array, settings: RunSettings) -> dict[str, Any]:
    """The gait that goes farthest from q with the servos, on the ground of the settings; see `protocol.FoundGait`."""
    if not floating(robot):
        raise StudioError("the robot is fixed in the world: let it stand on the ground first")
    if robot.nv > MOST_RATES:
        raise StudioError(f"{robot.nv} degrees of freedom are too many to try gaits on: at most {MOST_RATES}")
    kp, kd = ({**offers.gains(offers.SERVOS), **settings.gains}[name] for name in ("kp", "kd"))
    tried = [
        found
        for name in PRESETS
        for found in _tried(robot, q, replace(settings, gait=name, options={}, joints=()), kp, kd)
    ]
    if not tried:
        raise StudioError("no gait fits this robot: it needs joints that turn, and limits that let them swing")
    best = max(tried, key=lambda one: one.distance)
    return {"settings": best.settings, "distance": best.distance, "duration": DURATION}


def _tried(robot: Mechanism, q: Array, settings: RunSettings, kp: float, kd: float) -> Iterator[_Tried]:
    """One preset with all swings that its limits allow, and all rhythms; none if it does not fit the robot."""
    amplitudes = [a for a in AMPLITUDES if _fits(robot, settings.gait, a)]
    if not amplitudes:
        return
    first = replace(settings, reference="gait", generator="sine", amplitude=amplitudes[0], frequency=1.0)
    walker = ground.servoed(robot, q, first, kp, kd).on_ground(ground.under(robot, q, settings))
    servos, pairs = ground.Servos.of(walker), list(product(amplitudes, FREQUENCIES))
    x = np.stack([servos.tuned(0.0, acting(walker).start(), a / amplitudes[0], f) for a, f in pairs])
    run = Simulation(walker, np.broadcast_to(q, (len(pairs), robot.nq)), x0=x, tick=TICK).advance(DURATION).recording
    way = walker.centre_of_mass(run.q[-1]) - walker.centre_of_mass(q)
    ends: Any = run.status  # one for each
    for (a, f), far, end in zip(pairs, np.hypot(way[:, 0], way[:, 1]), ends, strict=True):
        if end.ok and np.isfinite(far):
            yield _Tried(float(far), {"gait": settings.gait, "amplitude": a, "frequency": f})


def _fits(robot: Mechanism, name: str, amplitude: float) -> bool:
    """Whether the limits of the joints allow a gait."""
    try:
        gait(name, amplitude=amplitude, frequency=max(FREQUENCIES)).on(robot)
    except ModurobError:
        return False
    return True
