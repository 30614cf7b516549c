"""The modular Schunk LWA 4P arm with its drives, in the geometry of the report on it, with masses of Timor's module set."""

from dataclasses import replace

import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3

# by joint, in the upright zero pose and base axes: a point on the axis [m], the axis
POINTS = np.array([[0, 0, z] for z in (0.205, 0.205, 0.555, 0.555, 0.86, 0.86)])
AXES = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1))
# by body: mass [kg], centre of mass [m], inertia about it [kg m²], Ixx Iyy Izz and Iyz
MASSES = (3.9, 1.62, 3.9, 1.0, 1.8, 0.1)
CENTRES = np.array(
    [
        [0, 0.0193, 0.187],
        [0, 0.1145, 0.380],
        [0, 0.0180, 0.5743],
        [0, 0.0477, 0.7273],
        [0, 0.0120, 0.8718],
        [0, 0, 0.9448],
    ]
)
MOMENTS = (
    (0.01531, 0.00973, 0.01158, 0.0),
    (0.02444, 0.02473, 0.01685, 0.0),
    (0.01531, 0.01158, 0.00973, 0.0),
    (0.00659, 0.00585, 0.00162, -0.00182),
    (0.00542, 0.00406, 0.00294, 0.0),
    (2.1e-5, 2.1e-5, 3.3e-5, 0.0),
)
COULOMB = (7.14, 5.10, 6.84, 6.91, 2.12, 2.33)  # [N m]
VISCOUS = (15.68, 13.91, 17.89, 13.63, 4.45, 4.67)  # [N m s/rad]
GOAL = np.array([1.11, 0.634, 1.6, 1.0, 0.0, 0.5])  # where the report's trajectory ends [rad]


def drive(joint: int, coulomb: bool = False) -> mr.Drive:
    """The drive of a joint, counted from zero: large Powerballs at the first four; friction of its own."""
    own = mr.load_drive("powerball-large" if joint < 4 else "powerball-small")
    return replace(own, losses=mr.Losses(viscous=VISCOUS[joint], coulomb=COULOMB[joint] if coulomb else 0.0))


def arm(drives: list[mr.Drive] | None = None) -> mr.Mechanism:
    """The arm, upright at zero; without drives a plain one with the rotors' inertia and the viscous friction."""
    b = mr.Builder("lwa4p")
    before = np.zeros(3)
    for k, (point, axis) in enumerate(zip(POINTS, AXES, strict=True)):
        xx, yy, zz, yz = MOMENTS[k]
        tensor = np.array([[xx, 0, 0], [0, yy, yz], [0, yz, zz]])
        plain = mr.JointProperties(armature=drive(k).rotor, damping=VISCOUS[k])
        b.body(
            f"link{k + 1}",
            inertia.spatial_inertia(MASSES[k], CENTRES[k] - point, tensor),
            parent=f"link{k}" if k else "world",
            joint=mr.Revolute(axis),
            at=se3.pose(p=point - before),
            joint_name=f"joint{k + 1}",
            properties=plain if drives is None else mr.JointProperties(drive=drives[k]),
        )
        before = point
    return b.build()


def wheel(drive: mr.Drive, moment: float) -> mr.Mechanism:
    """A wheel of that inertia [kg m²] that a drive turns, without gravity."""
    b = mr.Builder("wheel", gravity=(0, 0, 0))
    own = mr.JointProperties(drive=drive)
    b.body("rim", inertia.spatial_inertia(1.0, np.zeros(3), moment * np.eye(3)), joint=mr.Revolute(), properties=own)
    return b.build()
