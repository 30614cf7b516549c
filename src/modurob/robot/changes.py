"""Robots made from a robot: with loads, forces, lines, drives, and with joints held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import BodyContact, Ground
from modurob.catalogue.drives import Drive, DriveForce
from modurob.catalogue.drives.library import drive_of
from modurob.catalogue.forces import FrameForce, JointForce, JointLaw
from modurob.errors import InputError, choices, explained
from modurob.kinematics.body_contacts import BodyContactForces, body_contact_forces, pair_rows
from modurob.kinematics.contacts import ContactForces, contact_forces, contact_rows, standing
from modurob.mechanism import ContactRow, FrameRow, Joint, JointRow, PairRow, reduced
from modurob.mechanism.driven import drive_at, with_brakes, with_drive
from modurob.mechanism.routes import line_row
from modurob.robot.kinematics import Kinematics
from modurob.spatial import inertia
from modurob.spatial.scalars import Array, as_array


class Changes(Kinematics):
    """A robot and others like it."""

    def with_payload(self, frame: str, spatial: Array) -> Self:
        """The robot with a rigid load, M += J^T I J with J of the frame and the spatial inertia I (6, 6) [kg, kg m, kg
        m²] in that frame.

        `modurob.spatial.inertia` makes such inertias; in the example a point mass of 0.5 kg, 0.1 m along y.

        >>> loaded = robot.with_payload("m3", mr.spatial.inertia.point(0.5, (0.0, 0.1, 0.0)))
        >>> round(loaded.total_mass() - robot.total_mass(), 9)
        0.5
        """
        at = self.frame(frame)
        try:
            load = np.asarray(spatial).astype(float, casting="same_kind")
        except (TypeError, ValueError):
            raise InputError(f"payload at {frame} is {spatial!r:.60}: expected a spatial inertia (6, 6)") from None
        if load.shape != (6, 6):
            raise InputError(
                f"payload at {frame} has shape {load.shape}: expected a spatial inertia (6, 6), such as "
                "mr.spatial.inertia.sphere(mass, radius)"
            )
        load = inertia.checked(load, f"payload at {frame}")
        total = np.array(self.inertia)
        total[at.body] += inertia.moved(load, at.X)
        return replace(self, inertia=total)

    @explained
    def with_force(
        self,
        name: str,
        force: JointForce | JointLaw | FrameForce,
        joint: str = "",
        rate: int = 0,
        a: str = "",
        b: str = "world",
    ) -> Self:
        """The robot with one more force: along a rate of `joint`, or between the frames `a` and `b`.

        It is included in `passive_forces`, simulations and filters; see docs/conventions.md for signs and frames.
        `rate` selects one of the joint's rates. The names of forces differ.

        >>> soft = robot.with_force("rest", mr.JointSpring(stiffness=2.0), joint="m0/hinge")
        >>> soft.passive_forces(q, v)
        array([-0.6,  0. ,  0. ])
        >>> tied = robot.with_force("rope", mr.Spring(stiffness=100.0, length=0.2), a="m3", b="world")
        >>> tied.forces[-1].name
        'rope'
        """
        if name in {row.name for row in self.forces}:
            raise InputError(f"there is already a force named {name!r} on {self.name}: expected another name")
        if isinstance(force, JointForce | JointLaw) and joint and not a:
            index = self.joints.index(self.joint(joint))
            row: Any = JointRow(name, force, index, rate)
        elif isinstance(force, FrameForce) and a and not joint:
            row = FrameRow(name, force, self.frame(a), self.frame(b))
        else:
            raise InputError(
                f"force {name!r}, {force!r:.60}: expected a force along a joint with joint=, such as mr.JointSpring(2.0), "
                "or one between frames with a= and b=, such as mr.Spring(100.0)"
            )
        return replace(self, forces=(*self.forces, row))

    @explained
    def with_line(self, name: str, route: Any, law: Any) -> Self:
        """The robot with one more line, a cable, belt or spring over `route`, as in `Builder.line`: one tension T [N]
        along its whole length.

        >>> rope = [("world", (0.0, 0.0, 0.2)), ("m3", (0.0, 0.0, 0.0))]
        >>> robot.with_line("rope", rope, mr.Elastic(stiffness=100.0, rest=0.2)).lines[0].name
        'rope'
        """

        def joint_of(joint: str) -> int:
            return self.joints.index(self.joint(joint))

        return replace(self, forces=(*self.forces, line_row(name, route, law, self.frame, joint_of)))

    @explained
    def on_ground(self, ground: Ground | None = None) -> Self:
        """The robot with contact between its shapes and this ground, in place of any other ground: collision shapes,
        otherwise visual shapes.

        Shapes inside the others of their module are left out. `contacts` names them; see docs/contact.md.

        >>> crab = assembly.mechanism(floating=True).on_ground(mr.Ground(friction=0.8))
        >>> len(crab.contacts), crab.contacts[0].force.shape.kind
        (12, 'corners')
        """
        ground = Ground() if ground is None else ground
        if not isinstance(ground, Ground):
            raise InputError(f"ground {ground!r:.60}: expected one such as mr.Ground(friction=0.8)")
        own = tuple(row for row in self.forces if not isinstance(row, ContactRow))
        return replace(self, forces=(*own, *contact_rows(self, ground)))

    @explained
    def with_body_contact(self, between: BodyContact | None = None, ignore: Iterable[tuple[str, str]] = ()) -> Self:
        """The robot with contact between its bodies, in place of any earlier one: the pairs of shapes of
        `collision_model`.

        `ignore` names pairs of parts or links that never touch. `body_contacts` lists the pairs; see docs/contact.md.

        >>> snake = assembly.mechanism(floating=True).with_body_contact(mr.BodyContact(friction=0.5))
        >>> len(snake.body_contacts), snake.body_contacts[0].force.a.kind
        (47, 'corners')
        """
        rows = pair_rows(self, BodyContact() if between is None else between, ignore)
        if not rows:
            raise InputError(
                f"{self.name} has no shapes that can meet: expected at least two that move against each other, as <collision> "
                'geometry, shapes of modules, or Builder.collision("box", size, on=body)'
            )
        return replace(self, forces=(*(row for row in self.forces if not isinstance(row, PairRow)), *rows))

    def standing(self, q: ArrayLike | None = None, gap: float = 0.0, tilted: bool = False) -> Array:
        """The configuration q, (..., nq), with the floating base moved up or down until the lowest point is `gap` [m] above the
        ground. The base keeps its orientation: on a slope it stands on an edge. If `tilted`, it is first turned with the ground
        below its origin, by the smallest rotation that takes z to the normal.

        >>> crab = assembly.mechanism(floating=True).on_ground()
        >>> round(float(crab.standing()[2]), 5)
        0.04725
        >>> uphill = assembly.mechanism(floating=True).on_ground(mr.Ground(surface=mr.Plane(slope=0.2)))
        >>> uphill.standing(tilted=True)[3:7].round(4)
        array([ 0.995 ,  0.    , -0.0998,  0.    ])
        """
        if not self.contacts:
            raise InputError(f"{self.name} knows of no ground: expected robot.on_ground(mr.Ground()).standing(q)")
        return standing(self, self.neutral() if q is None else self._q(q), gap, tilted)

    @explained
    def contact_forces(self, q: ArrayLike, v: ArrayLike | None = None, x: ArrayLike | None = None) -> ContactForces:
        """The contact with the ground of each point of the robot that can touch it: its position, (..., points, 3) [m],
        the force on it, (..., points, 3) [N], and its speed along the ground, (..., points) [m/s]; in world axes. x are
        the states of the robot's forces, as in recordings.

        >>> run = mr.simulate(assembly.mechanism(floating=True), duration=1.0, ground=mr.Ground())
        >>> crab = run.segments[0].robot
        >>> felt = crab.contact_forces(run.q[-1], run.v[-1], run.x[-1])
        >>> weight = -crab.total_mass() * crab.gravity[2]
        >>> round(float(felt.forces.sum(axis=0)[2] / weight), 3)
        1.0
        """
        if not self.contacts:
            raise InputError(f"{self.name} knows of no ground: expected robot.on_ground(mr.Ground()).contact_forces(q)")
        return contact_forces(self, *self._at(q, v, x))

    @explained
    def body_contact_forces(
        self, q: ArrayLike, v: ArrayLike | None = None, x: ArrayLike | None = None
    ) -> BodyContactForces:
        """The contact between the bodies of each pair in `body_contacts`: its position, (..., pairs, 3) [m], force and
        torque of the second body on the first, (..., pairs, 3) [N, N m], and the slip velocity, (..., pairs) [m/s]; in
        world axes.

        x are the states of the robot's forces, as in recordings.

        >>> b = mr.Builder("pile")
        >>> for i in range(2):
        ...     _ = b.body(f"b{i}", mr.spatial.inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Free())
        ...     b.collision("box", (0.1, 0.1, 0.1), on=f"b{i}")
        >>> pile = b.build().on_ground().with_body_contact()
        >>> q = pile.neutral()
        >>> q[[2, 9]] = 0.05, 0.15
        >>> run = mr.simulate(pile, q, duration=1.0)
        >>> felt = pile.body_contact_forces(run.q[-1], run.v[-1], run.x[-1])
        >>> round(float(abs(felt.forces[0, 2])), 3)  # the upper box rests on the lower
        9.81
        """
        if not self.body_contacts:
            raise InputError(f"bodies of {self.name} touch nothing: expected robot.with_body_contact(mr.BodyContact())")
        return body_contact_forces(self, *self._at(q, v, x))

    def _at(self, q: ArrayLike, v: ArrayLike | None, x: ArrayLike | None) -> tuple[Array, Array, Array]:
        """A state of which v and x may be missing."""
        own, at = acting(self), self._q(q)
        rates = np.zeros(self.nv) if v is None else self._v(v)
        states = own.start_at(at) if x is None else np.asarray(x, dtype=float)
        if states.shape[-1:] != (own.nx,):
            raise InputError(
                f"x has shape {states.shape}: expected (..., {own.nx}), the states of the forces on {self.name}"
            )
        return at, rates, states

    def without_forces(self, *names: str) -> Self:
        """The robot without the forces of these names; without names, without any: no friction, no end stops, no
        springs.

        >>> [row.name for row in robot.forces]
        ['m0/hinge stop', 'm2/hinge stop', 'm4/hinge stop']
        >>> [row.name for row in robot.without_forces("m0/hinge stop").forces]
        ['m2/hinge stop', 'm4/hinge stop']
        >>> robot.without_forces().forces
        ()
        """
        known = [row.name for row in self.forces]
        for name in names:
            if name not in known:
                raise InputError(f"no force {name!r} on {self.name}: {choices(str(name), known)}")
        return replace(self, forces=tuple(row for row in self.forces if names and row.name not in names))

    @explained
    def with_drive(self, joint: str, drive: Drive | str) -> Self:
        """The robot with a drive at a joint of one rate, in place of the present one: a `Drive`, or the name of a drive
        of the package.

        The input of a law there is that of the drive. Its rotor adds to the armature of the joint, or is a state of an
        elastic drive.

        >>> servo = robot.with_drive("m0/hinge", "dynamixel-mx64")
        >>> servo.drive("m0/hinge").input, float(servo.armature[0].round(4))
        ('rad', 0.012)
        """
        return with_drive(self, joint, drive_of(drive))

    def drive(self, joint: str) -> DriveForce:
        """The drive at a joint, as a force of the robot; if there is none, the error names the joints that have one.

        >>> robot.with_drive("m0/hinge", "backbone-hinge").drive("m0/hinge").states
        ('command', 'energy')
        """
        return drive_at(self, joint)

    def with_brakes(self, *joints: str) -> Self:
        """The robot with the brakes of these drives applied, or of all that have one: dry friction holds up to their
        torque.

        >>> held = robot.with_drive("m0/hinge", mr.load_drive("powerball-small")).with_brakes("m0/hinge")
        >>> bool(mr.simulate(held, q, duration=0.1).v[-1, 0] == 0)
        True
        """
        return with_brakes(self, joints)

    def ideal(self) -> Self:
        """The ideal robot of textbooks, M vdot + C v + N = tau: no friction, springs or end stops, and drives with
        unlimited torque.

        >>> robot.effort_limit, robot.ideal().effort_limit
        (array([7., 7., 7.]), array([inf, inf, inf]))
        """
        free = tuple(replace(j, effort_limit=np.full(j.type.nv, np.inf)) for j in self.joints)
        return replace(self, joints=free, forces=())

    def locked(self, joints: Mapping[str, ArrayLike] | Iterable[str]) -> Self:
        """The reduced robot with some joints held: names, held at zero, or names with coordinates, (nq,) of each joint
        [rad or m; wxyz].

        The bodies beyond a held joint become part of the body before it, with their inertia, frames and shapes; mimic
        joints are held with their source, and forces along held joints are removed. For the remaining rates M, C v + N
        and all poses are those of the whole robot with held rates at zero. A loop that the held joints determine
        completely must be closed, and is listed in `redundant`. `held` lists the joints.

        >>> part = robot.locked({"m2/hinge": 0.3})
        >>> part, part.held
        (Mechanism('crab', 2 bodies, nq=2, nv=2), ('m2/hinge',))
        >>> bool(np.allclose(part.mass_matrix([0.1, 0.2]), robot.mass_matrix([0.1, 0.3, 0.2])[np.ix_([0, 2], [0, 2])]))
        True
        """
        given = (joints,) if isinstance(joints, str) else joints
        at: dict[str, Any] = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given)
        q, held = self.neutral().astype(object), set()
        for name, x in at.items():
            joint = self.joint(name)
            if joint.mimics:
                source = next(j.name for j in self.joints if not j.mimics and j.q_slice == joint.q_slice)
                raise InputError(f"joint {name!r} mimics {source!r}: lock that one, and this one stays too")
            if x is not None:
                q[joint.q_slice] = self._coordinates(joint, x)
            held |= {j.name for j in self.joints if j.type.nq and j.q_slice == joint.q_slice}
        return reduced.locked(self, held, self._q(as_array(q.tolist())))  # type: ignore[return-value]

    @staticmethod
    def _coordinates(joint: Joint, x: Any) -> Array:
        x = np.atleast_1d(as_array(x))
        numbers = x.dtype.kind in "fO" and not any(y is None or isinstance(y, str) for y in x.flat)
        if x.shape != (joint.type.nq,) or not numbers:
            kind, n = f"{joint.name!r} ({joint.kind})", joint.type.nq
            raise InputError(f"joint {kind} is to be held at {x.tolist()!r:.60}: expected {n} number{'s' * (n != 1)}")
        return x
