"""An engine we did not write, MuJoCo, in place of SimMechanics: robots written by hand for it, which keep and step their own state.

Nothing of modurob is in `plants/`: places, axes and masses there are numbers from the sources.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modurob.simulation import Law, Measured
from modurob.spatial.scalars import Array

MISSING = "pip install modurob[judges]"
PLANTS = Path(__file__).parent / "plants"


def installed() -> bool:
    return find_spec("mujoco") is not None


class EngineRun(NamedTuple):
    """States at the ticks, (ticks, n) each, and the energy (ticks,) [J]."""

    t: Array
    q: Array
    v: Array
    vdot: Array
    energy: Array


class Engine:
    """A robot of hinges in MuJoCo, its coordinates in the order of its file."""

    def __init__(self, xml: str):
        self._mj: Any = import_module("mujoco")
        self.model = self._mj.MjModel.from_xml_string(xml)
        self.names = [self.model.joint(k).name for k in range(self.model.njnt)]

    @classmethod
    def load(cls, name: str, locked: str | None = None) -> "Engine":
        """A robot of `plants/`, without the joints whose names begin with what is locked."""
        lines = (PLANTS / f"{name}.xml").read_text(encoding="utf-8").splitlines()
        return cls("\n".join(line for line in lines if locked is None or f'<joint name="{locked}' not in line))

    def _at(self, q: Array, v: Array) -> Any:
        data = self._mj.MjData(self.model)
        data.qpos[:], data.qvel[:] = q, v
        return data

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        data = self._at(q, v)
        data.qfrc_applied[:] = tau
        self._mj.mj_forward(self.model, data)
        return np.array(data.qacc)

    def poses(self, q: Array, bodies: list[str]) -> Array:
        """Turns and places of bodies in the world, (bodies, 3, 4) [m]."""
        data = self._at(q, np.zeros(self.model.nv))
        self._mj.mj_forward(self.model, data)
        found = (data.body(name) for name in bodies)
        return np.stack([np.column_stack([b.xmat.reshape(3, 3), b.xpos]) for b in found])

    def gravity_forces(self, q: Array) -> Array:
        """Torques that hold the robot still, (n,)."""
        data = self._at(q, np.zeros(self.model.nv))
        self._mj.mj_forward(self.model, data)
        return np.array(data.qfrc_bias)

    def advanced(self, q: Array, v: Array, tau: Array, duration: float, steps: int) -> tuple[Array, Array]:
        """The states (runs, n) after torques (runs, n) were held for the duration [s], each run on its own."""
        self.model.opt.timestep = duration / steps
        data, ends = self._mj.MjData(self.model), []
        for one in zip(q, v, tau, strict=True):
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = one
            self._mj.mj_step(self.model, data, steps)
            ends.append((np.array(data.qpos), np.array(data.qvel)))
        q, v = map(np.array, zip(*ends, strict=True))
        return q, v

    def run(
        self,
        q0: Array,
        duration: float,
        dt: float,
        every: int = 1,
        law: Law | None = None,
        v0: Array | None = None,
    ) -> EngineRun:
        """From q0, at rest or with v0, in steps of dt [s] of its Runge-Kutta rule; a row every so many steps.

        A law is asked at every step, and its torques are held over the step.
        """
        self.model.opt.timestep = dt
        data = self._at(q0, np.zeros(self.model.nv) if v0 is None else v0)
        rows, memory = [], None if law is None else law.start()
        for k in range(round(duration / dt) + 1):
            q, v = np.array(data.qpos), np.array(data.qvel)
            if law is not None:
                memory, tau = law.step(memory, k * dt, Measured(q, v))
                data.qfrc_applied[:] = tau
            if k % every == 0:
                self._mj.mj_forward(self.model, data)
                rows.append((np.array(k * dt), q, v, np.array(data.qacc), data.energy.sum()))
            self._mj.mj_step(self.model, data)
        return EngineRun(*(np.array(column) for column in zip(*rows, strict=True)))
