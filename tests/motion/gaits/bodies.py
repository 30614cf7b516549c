"""Robots that gaits are tried on."""

import re

import numpy as np

import modurob as mr
from modurob.motion.gaits.active import Network
from modurob.spatial import inertia, se3

X, Y, Z = np.eye(3)


def snake(modules: int) -> mr.Assembly:
    """Backbones in a row, all hinges parallel."""
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, modules):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return assembly


def ring(modules: int) -> mr.Assembly:
    return snake(modules).connect(f"m{modules - 1}/3", "m0/4")


def walker(legs: int, gravity=(0, 0, -9.81), limit=np.inf) -> mr.Mechanism:
    """A floating disc on legs of two joints each, hip and knee about y; leg i stands at the angle 2 pi (i + 1/2) / legs."""
    builder = mr.Builder("walker", gravity=gravity)
    builder.body("disc", inertia.box(5.0, (0.5, 0.5, 0.1)), joint=mr.Free())
    properties = mr.JointProperties(velocity=limit)
    # built out of order, so that order in the tree says nothing of order round the body
    for i in sorted(range(legs), key=lambda i: (i * 5) % 7):
        turn = 2 * np.pi * (i + 0.5) / legs
        hip = se3.pose(None, np.array([np.cos(turn), np.sin(turn), 0]))
        shank = inertia.point(0.2, (0, 0, -0.3))
        builder.body(f"thigh{i}", shank, parent="disc", joint=mr.Revolute(tuple(Y)), at=hip, properties=properties)
        knee = se3.pose(None, np.array([0, 0, -0.3]))
        builder.body(
            f"shank{i}", shank, parent=f"thigh{i}", joint=mr.Revolute(tuple(Y)), at=knee, properties=properties
        )
    return builder.build()


def random_network(rng: np.random.Generator, n: int, chain: bool = False) -> Network:
    """Any phases on any tree of n joints."""
    depth, linked = np.zeros(n, dtype=int), np.zeros((n, n))
    for i in range(1, n):
        p = i - 1 if chain else int(rng.integers(i))
        depth[i] = depth[p] + 1
        linked[i, p] = linked[p, i] = 1
    listens = linked / linked.sum(axis=1, keepdims=True) if n > 1 else np.ones((1, 1))
    return Network(rng.uniform(-np.pi, np.pi, n), depth, listens)


def fitting(refusal) -> float:
    """The amplitude that a refusal says fits, its last digit aside."""
    return 0.999 * float(re.findall(r"about (\S+) fits", str(refusal.value))[0])


def wrapped(angle):
    """Between -pi and pi."""
    return np.angle(np.exp(1j * np.asarray(angle)))
