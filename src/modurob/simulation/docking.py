"""State carried over to a robot of another shape: poses stay, momentum stays, and what docking dissipates is known."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms import momentum_matrix
from modurob.assembly import Connection
from modurob.assembly.connection import mated
from modurob.errors import SimulationError
from modurob.mechanism import from_assembly
from modurob.robot import Assembly, Builder, Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array


class Body(NamedTuple):
    """An organism in motion: its modules, its robot, its state, the angles of locked hinges, and the pose of its base
    if it is fixed in the world.
    """

    assembly: Assembly
    robot: Mechanism
    q: Array
    v: Array
    held: Mapping[str, Any]  # a coordinate, or a tuple of them
    stands: Array | None = None  # pose of the base module in the world, None if it floats

    def coordinates(self, joint: str) -> Array | None:
        """The coordinates of a joint, whether it moves or is held; None if it does not exist."""
        for own in self.robot.joints:
            if own.name == joint:
                return self.q[own.q_slice]
        return np.atleast_1d(self.held.get(joint, 0.0)) if joint in self.robot.idle + self.robot.held else None

    def rates(self, joint: str) -> Array | None:
        """How fast it moves."""
        for own in self.robot.joints:
            if own.name == joint:
                return self.v[own.v_slice]
        return None


class Transfer(NamedTuple):
    """The new organism, and the errors of the poses of modules that were closed [m, rad]."""

    body: Body
    shift: tuple[float, float]


def robot_of(
    assembly: Assembly, base: str, gravity: Array, held: Mapping[str, Any] | None = None, stands: Array | None = None
) -> Mechanism:
    """The robot of an organism, floating, or standing at a pose in the world."""
    builder = Builder(assembly.name, gravity, trusted=True)
    at = se3.IDENTITY if stands is None else stands
    reports = from_assembly.add(builder, assembly, base, stands is None, held or {}, at=at)
    return builder.build(**reports._asdict())


def transfer(assembly: Assembly, old: Sequence[Body], gravity: Array, base: str, closed: bool = True) -> Transfer:
    """The organism `assembly` in the state of the organisms its modules come from; it is fixed where the first of them
    is, or floats.

    Coordinates are those that the joints had, or the nearest ones at which loops close, unless these may stay open
    (`closed` false). If all parts can keep their velocities, they do, and new modules get the velocity of the part they
    join. Otherwise the rates are those after a plastic impact: the forces between docked parts do no work on the
    remaining motions, so that the momentum along these is conserved, sum of J^T I (J v - V) = 0 over all parts.
    """
    stands = old[0].stands
    robot, held = _robot(assembly, old, gravity, base, stands)
    q = _coordinates(robot, old, base, stands)
    q = robot.close_loops(q) if closed and robot.constraints else q
    if not _collide(assembly, robot, old) and (stands is None or not _moves(old[0], base)):
        v = _without_impact(robot, q, assembly, old[0], stands)
    else:
        v = _after_impact(robot, q, assembly, old, stands)
    return Transfer(Body(assembly, robot, q, v, held, stands), _shift(robot, q, assembly, old))


def _collide(assembly: Assembly, robot: Mechanism, old: Sequence[Body]) -> bool:
    """Whether parts that moved by themselves are held together now: two organisms, or the ends of one."""
    closes = len(robot.loops) > len(old[0].robot.loops) and assembly.modules.keys() <= old[0].assembly.modules.keys()
    return len(old) > 1 or closes


def _shift(robot: Mechanism, q: Array, assembly: Assembly, old: Sequence[Body]) -> tuple[float, float]:
    """How far parts that were there are from where they were [m, rad]."""
    now, shift = robot.forward_kinematics(q), (0.0, 0.0)
    for body in old:
        before = body.robot.forward_kinematics(body.q)
        known = [frame for frame, _ in _parts(assembly) if frame in body.robot.frames]
        if known:
            apart = _apart(np.stack([before[frame] for frame in known]), np.stack([now[frame] for frame in known]))
            shift = max(shift[0], float(apart[0].max())), max(shift[1], float(apart[1].max()))
    return shift


def kinetic_energy_of(bodies: Sequence[Body]) -> float:
    """Kinetic energy [J]."""
    return float(sum(b.robot.kinetic_energy(b.q, b.v) for b in bodies))


def momentum_of(bodies: Sequence[Body]) -> Array:
    """Linear and angular momentum about the world origin, (6,)."""
    return sum((b.robot.momentum(b.q, b.v) for b in bodies), np.zeros(6))


def _robot(
    assembly: Assembly, old: Sequence[Body], gravity: Array, base: str, stands: Array | None
) -> tuple[Mechanism, dict[str, Any]]:
    """The robot, hinges that carry nothing held where they are."""
    robot = robot_of(assembly, base, gravity, stands=stands)
    held = {}
    for name in robot.idle:
        at = next((x for b in old if (x := b.coordinates(name)) is not None), np.zeros(1))
        if at.any():
            held[name] = float(at[0]) if len(at) == 1 else tuple(at.tolist())
    return (robot_of(assembly, base, gravity, held, stands) if held else robot), held


def _coordinates(robot: Mechanism, old: Sequence[Body], base: str, stands: Array | None) -> Array:
    """q of the new robot, its base module where it was."""
    q = robot.neutral()
    first = 1 if stands is None else 0
    for joint in robot.joints[first:]:
        known = next((x for b in old if (x := b.coordinates(joint.name)) is not None), None)
        if known is not None:
            q[joint.q_slice] = known
    if stands is not None:
        return q
    owner = next(b for b in old if base in b.assembly.modules)
    X = owner.robot.frame_pose(owner.q, base) @ se3.inverse(robot.frame_pose(q, base))
    q[robot.joints[0].q_slice] = robot.joints[0].type.coordinates(se3.inverse(robot.X_PJ[1]) @ X @ robot.X_PJ[1])
    return q


def _parts(assembly: Assembly) -> list[tuple[str, Array]]:
    """All parts: the name of the frame, and the spatial inertia in it."""
    return [(f"{m}/{p.name}", p.inertia) for m, module in assembly.modules.items() for p in module.parts.values()]


def _moves(body: Body, frame: str) -> bool:
    """Whether a module moves; one that is not there does not."""
    return frame in body.robot.frames and bool(body.robot.frame_twist(body.q, body.v, frame).any())


def _apart(X: Array, Y: Array) -> tuple[Array, Array]:
    """Distance [m] and angle [rad] between two poses, (..., 4, 4)."""
    turn = so3.log(np.swapaxes(se3.rotation(X), -1, -2) @ se3.rotation(Y))
    return np.linalg.norm(se3.position(X) - se3.position(Y), axis=-1), np.linalg.norm(turn, axis=-1)


def _without_impact(robot: Mechanism, q: Array, assembly: Assembly, old: Body, stands: Array | None) -> Array:
    """Rates with which all parts that were there move as they did: nothing pushes, what joins is carried along."""
    v = np.zeros(robot.nv)
    for joint in robot.joints:
        rates = old.rates(joint.name)
        if rates is not None:
            v[joint.v_slice] = rates
    if stands is None:
        part = _carried_part(robot, assembly, old)
        v[robot.joints[0].v_slice] = se3.Ad(robot.frames[part].X) @ old.robot.frame_twist(old.q, old.v, part)
    return robot.close_velocity(q, v) if robot.constraints else v


def _carried_part(robot: Mechanism, assembly: Assembly, old: Body) -> str:
    """The part that tells how the base body of a robot moves: the heaviest, or one that carries others. A part without mass may
    have been beyond a hinge that carries nothing any more, and have moved by itself."""
    mass = {part: own[0, 0] for part, own in _parts(assembly) if robot.frames[part].body == 1}
    docked = {f"{x.module}/{assembly.modules[x.module].ports[x.port].part}" for x in assembly.occupied}
    known = [part for part in mass if part in old.robot.frames]
    return max(known, key=lambda part: (mass[part], part in docked))


def _after_impact(robot: Mechanism, q: Array, assembly: Assembly, old: Sequence[Body], stands: Array | None) -> Array:
    """Rates that keep the momentum of all parts, and of the rotors, along the motions that are left."""
    momentum = np.zeros(robot.nv)
    for joint in robot.joints[0 if stands is not None else 1 :]:
        rates = next((r for b in old if (r := b.rates(joint.name)) is not None), np.zeros(joint.type.nv))
        momentum[joint.v_slice] += joint.armature * rates
    for frame, own in _parts(assembly):
        body = next(b for b in old if frame in b.robot.frames)
        momentum += robot.body_jacobian(q, frame).T @ own @ body.robot.frame_twist(body.q, body.v, frame)
    M = robot.mass_matrix(q)
    v = _solved(robot, q, M, momentum)
    return v + _exact_momentum(robot, q, v, M, momentum_of(old)) if stands is None else v


def _exact_momentum(robot: Mechanism, q: Array, v: Array, M: Array, before: Array) -> Array:
    """The least change of rates that gives the robot the momentum there was, although modules moved a little to fit."""
    A = momentum_matrix(robot, q)
    S = _solved(robot, q, M, A.T)
    return S @ np.linalg.solve(A @ S, before - A @ v)


def _solved(robot: Mechanism, q: Array, M: Array, momentum: Array) -> Array:
    """Rates v with M v = momentum, in columns; those next to them that keep loops closed, where M of the tree may be singular."""
    if not robot.constraints:
        return np.linalg.solve(M, momentum)
    return robot.close_velocity(q, np.linalg.lstsq(M, momentum, rcond=None)[0].T).T


def gap(first: Body, second: Body, docked: Connection) -> tuple[float, float]:
    """How far port b of the second organism is from where it belongs at port a of the first [m, rad]."""
    a, b = (x.assembly.modules[p.module].ports[p.port] for x, p in ((first, docked.a), (second, docked.b)))
    place = first.robot.frame_pose(first.q, str(docked.a)) @ se3.inverse(a.X) @ mated(a, b, docked.roll) @ b.X
    distance, angle = _apart(place, second.robot.frame_pose(second.q, str(docked.b)))
    return float(distance), float(angle)


def require_fit(apart: tuple[float, float], tolerance: tuple[float, float], what: str) -> None:
    """An error if modules would have to jump."""
    if apart[0] > tolerance[0] or apart[1] > tolerance[1]:
        raise SimulationError(
            f"{what}: the ports are {apart[0] * 1e3:.3g} mm and {np.rad2deg(apart[1]):.3g} degrees apart: "
            f"expected at most {tolerance[0] * 1e3:g} mm and {np.rad2deg(tolerance[1]):g} degrees"
        )
