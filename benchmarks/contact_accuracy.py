"""What contacts of either side hold at which step: `python -m benchmarks.contact_accuracy [ours|mujoco] STEP_MS ...`.

The list is that of `benchmarks.contact`: six gaits of 20 s against stiff MuJoCo at 0.2 ms, a block that slides to rest from 1 m/s,
creep on a slope of 20 degrees, and organisms that are thrown down. MuJoCo has contacts as stiff as the step allows, elliptic cones,
`impratio` 10 and five iterations of its noslip solver. Two hundred organisms take minutes.
"""

import sys
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from examples.walking import ORGANISMS
from modurob.judges.walking import MujocoWalker
from modurob.kinematics.contacts import gaps
from modurob.simulation.mujoco import MujocoMover
from tests.simulation.test_contact import at, block, energies, on_slope, thrown

mujoco: Any = import_module("mujoco")

SEEDS, EDGE, FRICTION, SLOPE = range(6, 206), 0.1, 0.5, np.deg2rad(20.0)


class Fall(NamedTuple):
    """Greatest gain of energy within 10 ms in parts of what is lost, and depth [m]."""

    gain: float
    deepest: float


def accurate(model: Any) -> None:
    """MuJoCo's contacts as hard as its step allows."""
    model.geom_solref[:] = (2 * model.opt.timestep, 1.0)
    model.geom_solimp[:] = (0.9, 0.95, 1e-3, 0.5, 2.0)
    model.opt.cone, model.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
    model.opt.noslip_iterations, model.opt.iterations, model.opt.tolerance = 5, 100, 1e-8


def mover(m: mr.Mechanism, dt: float) -> MujocoMover:
    """A robot on the ground in MuJoCo that does not touch itself, as ours does not."""
    found = mr.MujocoSteps(dt).mover(m)
    model = found._own.model
    accurate(model)
    ground = model.geom("ground").id
    model.geom_contype[:], model.geom_conaffinity[:] = 2, 1
    model.geom_contype[ground], model.geom_conaffinity[ground] = 1, 2
    return found


def run(
    m: mr.Mechanism, q: Any, v: Any, duration: float, dt: float, theirs: bool
) -> tuple[np.ndarray, np.ndarray, Any]:
    """q and v at all steps, and our recording of them."""
    if not theirs:
        seen = mr.simulate(m, q, v, duration=duration, stepper=mr.LinearlyImplicit(dt), tick=dt)
        return seen.q, seen.v, seen
    own = mover(m, dt)._own
    own.place(np.asarray(q), np.asarray(v))
    qs, vs = [np.asarray(q)], [np.asarray(v)]
    for _ in range(round(duration / dt)):
        mujoco.mj_step(own.model, own.data)
        q, v = own.state()
        qs.append(np.array(q))
        vs.append(np.array(v))
    return np.array(qs), np.array(vs), None


def fall(seed: int, dt: float, theirs: bool) -> Fall:
    """A thrown organism, for 1.2 s: all hit the ground by then."""
    m, q0, v0 = thrown(seed)
    q, v, seen = run(m, q0, v0, 1.2, dt, theirs)
    E = m.kinetic_energy(q, v) + m.potential_energy(q) if seen is None else energies(m, seen)
    E = E[:: max(1, round(0.01 / dt))]
    return Fall(float(np.diff(E).max() / (E[0] - E.min())), float(-gaps(m, q).min()))


def slide(dt: float, theirs: bool) -> float:
    """How far a block goes from 1 m/s, over v²/(2 mu g), less one."""
    m = block().on_ground(mr.Ground(friction=FRICTION))
    q, _, _ = run(m, at(EDGE / 2), np.eye(6)[0], 1.0, dt, theirs)
    return float(q[-1, 0] * 2 * FRICTION * 9.81 - 1)


def creep(dt: float, theirs: bool) -> float:
    """How fast a block on a slope below the cone goes from 4 to 8 s [m/s]."""
    plane, q0 = on_slope(SLOPE, 0.7, EDGE / 2)
    m = block().on_ground(mr.Ground(friction=FRICTION, surface=plane))
    q, _, _ = run(m, q0, np.zeros(6), 8.0, dt, theirs)
    return float(np.linalg.norm(q[-1, :3] - q[len(q) // 2, :3]) / 4)


def way(walker: MujocoWalker, q: np.ndarray) -> np.ndarray:
    """From start to end of 20 s in MuJoCo, (2,) [m]."""
    centre = walker.walk(q, 20.0).centre
    return (centre[-1] - centre[0])[:2]


@cache
def walks() -> dict[str, tuple[mr.Mechanism, np.ndarray, np.ndarray]]:
    """Robots with servos, their starts, and the way they go in stiff MuJoCo."""
    found = {}
    for name, gait in ORGANISMS.items():
        if name == "wheel":
            continue
        robot = mr.walking_robot(name).robot()
        m = mr.driven(robot, gait).on_ground(mr.Ground(friction=0.8))
        q = m.standing(gait.on(robot)(0.0)[0])
        found[name] = m, q, way(MujocoWalker(m, 2e-4), q)
    return found


def gait(name: str, dt: float, theirs: bool) -> tuple[float, float]:
    """Distance over that of stiff MuJoCo, less one, and heading beside it [degrees]."""
    m, q, stiff = walks()[name]
    if theirs:
        walker = MujocoWalker(m, dt)
        accurate(walker.model)
        went = way(walker, q)
    else:
        seen = mr.simulate(m, q, duration=20.0, tick=10 * dt, stepper=mr.LinearlyImplicit(dt))
        centre = m.centre_of_mass(seen.q[[0, -1]])
        went = (centre[1] - centre[0])[:2]
    turn = np.angle(complex(*went) / complex(*stiff), deg=True)
    return float(np.hypot(*went) / np.hypot(*stiff) - 1), float(turn)


def column(dt: float, theirs: bool) -> list[str]:
    """The list at one step."""
    gaits = [gait(name, dt, theirs) for name in walks()]
    falls = np.array([fall(seed, dt, theirs) for seed in SEEDS])
    return [
        *(f"{100 * far:+.0f} %, {turn:+.0f}°" for far, turn in gaits),
        f"{100 * slide(dt, theirs):+.2f} %",
        f"{creep(dt, theirs):.0e} m/s",
        f"{1e3 * falls[:, 1].max():.2f} mm ({(falls[:, 1] > 2e-3).sum()} of {len(falls)} over 2)",
        f"{falls[:, 0].max():.0e} ({(falls[:, 0] > 1e-3).sum()} over 1e-3)",
    ]


def main(side: str, steps: list[float]) -> None:
    """Print the list."""
    table = Table(title=f"{side}: by step")
    columns = [
        [*walks(), "slide", "creep", "deepest", "energy gained"],
        *(column(dt, side == "mujoco") for dt in steps),
    ]
    for name in ("", *(f"{1e3 * dt:g} ms" for dt in steps)):
        table.add_column(name)
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main(sys.argv[1], [1e-3 * float(x) for x in sys.argv[2:]])
