"""A URDF file through modurob and through Pinocchio's own reader, compared in modurob's coordinates."""

import warnings
from importlib.metadata import files

import numpy as np
import pinocchio as pin

import modurob as mr
from modurob.errors import ModurobWarning, UrdfError
from modurob.judges.verify import relative_error

# where the mass matrix is worse conditioned, accelerations lose digits whoever computes them: their torques must still agree
WELL_CONDITIONED = 1e6
# beyond this there are massless links, and forward dynamics has no answer
WORST_CONDITION = 1e14


def example_files():
    """Every URDF that example-robot-data ships, by its short name."""
    paths = [f.locate() for f in files("example-robot-data") if f.name.endswith(".urdf")]
    return {str(p).split("/robots/")[-1]: str(p.resolve()) for p in sorted(paths, key=str)}


class UrdfTwin:
    """The Pinocchio model of a file; q_pin = q(q), v_pin = P v."""

    def __init__(self, robot: mr.Mechanism, path: str, floating: bool):
        arguments = [pin.JointModelFreeFlyer(), "floating_base"] if floating else []
        self.model = pin.buildModelFromUrdf(path, *arguments)
        self.model.gravity.linear = robot.gravity
        self.data = self.model.createData()
        self.robot = robot
        self.P = np.zeros((self.model.nv, robot.nv))
        for joint in robot.joints:
            start = self._joint(joint).idx_v
            ratio = joint.type.ratio if joint.mimics else 1.0
            self.P[start : start + joint.type.nv, joint.v_slice] = ratio * np.eye(joint.type.nv)

    def _joint(self, joint):
        return self.model.joints[self.model.getJointId(joint.name)]

    def q(self, q):
        out = pin.neutral(self.model)
        for joint in self.robot.joints:
            theirs, own = self._joint(joint), q[joint.q_slice]
            if joint.mimics:
                own = joint.type.ratio * own + joint.type.offset
            if joint.kind == "free":
                own = np.concatenate([own[:3], np.roll(own[3:], -1)])
            elif theirs.nq == 2:
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            out[theirs.idx_q : theirs.idx_q + theirs.nq] = own
        return out


def errors(path: str, floating: bool, rng: np.random.Generator):
    """Relative errors by quantity, with the number of warnings; or the refusal, which names the element."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModurobWarning)
        try:
            robot = mr.Mechanism.from_urdf(path, floating)
        except UrdfError as refusal:
            return None, str(refusal)
    twin = UrdfTwin(robot, path, floating)
    model, data, P = twin.model, twin.data, twin.P
    q, (v, vdot) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
    theirs, v_p, vdot_p = twin.q(q), P @ v, P @ vdot
    pin.forwardKinematics(model, data, theirs)
    pin.updateFramePlacements(model, data)
    links = {f.name: k for k, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}
    ours = {name: "world_link" if name == "world" and "world_link" in robot.frames else name for name in links}
    poses = robot.forward_kinematics(q)
    tip = list(links)[-1]
    M = np.triu(pin.crba(model, data, theirs))
    M = P.T @ (M + np.triu(M, 1).T) @ P
    tau = P.T @ pin.rnea(model, data, theirs, v_p, vdot_p)
    J = pin.computeFrameJacobian(model, data, theirs, links[tip], pin.LOCAL_WORLD_ALIGNED) @ P
    pairs = {
        "poses": (
            np.stack([poses[n] for n in ours.values()]),
            np.stack([data.oMf[k].homogeneous for k in links.values()]),
        ),
        "Jacobian": (robot.jacobian(q, ours[tip]), J),
        "inverse dynamics": (robot.inverse_dynamics(q, v, vdot), tau),
        "mass matrix": (robot.mass_matrix(q), M),
    }
    if robot.nv and np.diag(M).min() > 0 and np.linalg.cond(M) < WORST_CONDITION:
        found = robot.forward_dynamics(q, v, tau)
        pairs["torques of forward dynamics"] = P.T @ pin.rnea(model, data, theirs, v_p, P @ found), tau
        if np.linalg.cond(M) < WELL_CONDITIONED:
            pairs["forward dynamics"] = found, vdot
    named = [str(w.message) for w in caught]
    return {name: relative_error(*pair, scale=1e-6) for name, pair in pairs.items()}, named
