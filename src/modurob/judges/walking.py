"""Walks of a robot on a plane in MuJoCo, as a judge of our own contacts: the same boxes, balls and cylinders, the same servos."""

from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.contact import Ground, Plane
from modurob.catalogue.forces import Oscillator, SpeedServo
from modurob.errors import InputError
from modurob.judges.mujoco import MujocoTwin
from modurob.mechanism.mjcf.parts import leading, parts_of
from modurob.mechanism.tables import JointRow, Loop, Tables
from modurob.spatial import inertia, quaternion, se3
from modurob.spatial.scalars import Array

# welds give way by a ten thousandth, the least that MuJoCo has
IMPEDANCE = (0.9999, 0.9999, 1e-3, 0.5, 2.0)
SERVOS = Oscillator | SpeedServo


class Walk(NamedTuple):
    """Times, (T,) [s], centres of mass, (T, 3) [m], and attitudes of the first body as quaternions, (T, 4)."""

    t: Array
    centre: Array
    attitude: Array


class MujocoWalker(MujocoTwin):
    """A robot with oscillators and speed servos on flat ground. Contacts are as stiff as the step allows, cones
    elliptic; `stiff=False` keeps MuJoCo's own defaults. `yields` is the time constant of contacts in steps: with two of
    them, fast sliding points are thrown off the ground.
    """

    def __init__(self, m: Tables, timestep: float, stiff: bool = True, yields: float = 2.0):
        super().__init__(weighed(m))
        mj, spec, ground = self._mj, self.spec, _ground(m)
        spec.option.disableflags = 0
        spec.option.timestep = timestep
        spec.option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
        solref = [0.02, 1.0]
        if stiff:
            spec.option.cone, spec.option.impratio = mj.mjtCone.mjCONE_ELLIPTIC, 100
            spec.option.iterations, spec.option.tolerance = 200, 1e-10
            solref = [yields * timestep, 1.0]
        self._friction = {"friction": [float(ground.friction), 0.0, 0.0], "solref": solref, "condim": 3}
        plane = {"type": mj.mjtGeom.mjGEOM_PLANE, "size": [50, 50, 1], "pos": [0, 0, float(ground.surface.height)]}  # type: ignore[attr-defined]
        spec.worldbody.add_geom(**plane, contype=1, conaffinity=2, **self._friction)
        self._add_shapes()
        self._add_loops()
        self.servos = [row for row in m.forces if isinstance(row, JointRow) and isinstance(row.force, SERVOS)]
        for row in self.servos:
            self._add_servo(row.joint, row.force)
        self.compile()

    def _add_shapes(self) -> None:
        mj = self._mj
        kinds = {
            "box": mj.mjtGeom.mjGEOM_BOX,
            "sphere": mj.mjtGeom.mjGEOM_SPHERE,
            "cylinder": mj.mjtGeom.mjGEOM_CYLINDER,
            "capsule": mj.mjtGeom.mjGEOM_CAPSULE,
        }
        touching = {row.name.rpartition(" ")[2].split(".")[0] for row in self.m.contacts}
        for k, s in enumerate(self.m.solids):
            if str(k) not in touching:
                continue
            size = [x / 2 for x in s.size] if s.kind == "box" else [s.size[0], *(x / 2 for x in s.size[1:])]
            X = s.in_body
            self.spec.body(self.m.bodies[s.frame.body]).add_geom(
                type=kinds[s.kind],
                size=[*size, 0, 0][:3],
                pos=se3.position(X),
                quat=quaternion.from_matrix(se3.rotation(X)),
                contype=2,
                conaffinity=1,
                mass=0,
                **self._friction,
            )

    def _add_loops(self) -> None:
        for k, c in enumerate(self.m.constraints):
            if not isinstance(c, Loop) or c.type.nv:
                raise InputError(
                    f"{self.m.name}: constraint {c.name!r}: expected welds alone, which MuJoCo holds stiffly"
                )
            ends = c.predecessor, c.successor
            names = [f"end{k}.{i}" for i in range(2)]
            for name, end in zip(names, ends, strict=True):
                R = quaternion.from_matrix(se3.rotation(end.X))
                self.spec.body(self.m.bodies[end.body]).add_site(name=name, pos=se3.position(end.X), quat=R)
            weld = {"type": self._mj.mjtEq.mjEQ_WELD, "objtype": self._mj.mjtObj.mjOBJ_SITE}
            hard = {"solref": [2 * self.spec.option.timestep, 1.0], "solimp": IMPEDANCE}
            self.spec.add_equality(**weld, name1=names[0], name2=names[1], **hard)

    def _add_servo(self, joint: int, force: Any) -> None:
        """ctrl is where to be, and what its rate adds; the force is kp (ctrl - q) - kd v, or kd (ctrl - v)."""
        actuator = self.spec.add_actuator(
            name=f"servo{joint}", target=leading(parts_of(self.m, joint + 1)).name, trntype=self._mj.mjtTrn.mjTRN_JOINT
        )
        kp = getattr(force, "kp", 0.0)
        actuator.gainprm[0] = kp if isinstance(force, Oscillator) else force.kd
        actuator.biastype = self._mj.mjtBias.mjBIAS_AFFINE
        actuator.biasprm[1], actuator.biasprm[2] = -kp, -force.kd
        if np.isfinite(force.limit):
            actuator.forcelimited, actuator.forcerange = True, [-force.limit, force.limit]

    def walk(self, q0: Array, duration: float) -> Walk:
        """From q0 at rest."""
        self._place(q0, np.zeros(self.m.nv))
        rollout: Any = import_module("mujoco.rollout")
        steps = round(duration / self.model.opt.timestep)
        t = np.arange(steps) * self.model.opt.timestep
        start = np.zeros(self._mj.mj_stateSize(self.model, self._mj.mjtState.mjSTATE_FULLPHYSICS))
        self._mj.mj_getState(self.model, self.data, start, self._mj.mjtState.mjSTATE_FULLPHYSICS)
        state, _ = rollout.rollout(self.model, self.data, start[None], self.controls(t)[None])
        every = max(1, round(0.05 / self.model.opt.timestep))
        seen = [self._seen(s) for s in state[0, ::every]]
        return Walk(t[::every], *(np.array(x) for x in zip(*seen, strict=True)))

    def controls(self, t: Array) -> Array:
        """For each step the ctrl of all actuators, (T, nu): the motors of the file are zero beside the servos."""
        out, grown = np.zeros((len(t), self.model.nu)), np.minimum(t, 1.0)
        for row in self.servos:
            out[:, self.model.actuator(f"servo{row.joint}").id] = _asked(row.force, t, grown)
        return out

    def _seen(self, state: Array) -> tuple[Array, Array]:
        self._mj.mj_setState(self.model, self.data, state, self._mj.mjtState.mjSTATE_FULLPHYSICS)
        self._mj.mj_kinematics(self.model, self.data)
        self._mj.mj_comPos(self.model, self.data)
        return np.array(self.data.subtree_com[0]), np.array(self.data.xquat[1])


def _asked(force: Any, t: Array, grown: Array) -> Array:
    """The ctrl of a servo, (T,)."""
    if isinstance(force, SpeedServo):
        return force.speed * grown
    w = 2 * np.pi * force.frequency
    swing, rate = np.sin(w * t + force.phase), w * np.cos(w * t + force.phase)
    return force.centre + force.amplitude * grown * (swing + force.kd / force.kp * rate)


def weighed(m: Tables) -> Tables:
    """The same robot, where ends without a mass that are welded to another body carry half of that one's, as MuJoCo wants it: such
    as the second half of the module that closes a ring."""
    own = np.array(m.inertia)
    for c in m.constraints:
        if isinstance(c, Loop) and not c.type.nv:
            for end, other in ((c.predecessor, c.successor), (c.successor, c.predecessor)):
                if not own[end.body].any():
                    own[other.body] /= 2
                    own[end.body] = inertia.to_parent(end.X @ se3.inverse(other.X), own[other.body])
    return replace(m, inertia=own)


def _ground(m: Tables) -> Ground:
    grounds = {row.force.ground for row in m.contacts}
    if len(grounds) != 1 or not isinstance(next(iter(grounds)).surface, Plane) or next(iter(grounds)).surface.slope:  # type: ignore[attr-defined]
        raise InputError(f"{m.name}: expected a robot on flat ground, such as robot.on_ground(mr.Ground())")
    return next(iter(grounds))
