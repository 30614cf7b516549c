"""Compiled code is found again by what a class does: by all that its methods refer to, wherever that stands."""

import collections
import enum
import functools
import math
import operator
import random
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import modurob as mr
from modurob.fingerprints import _Told, fingerprint


class Gain:
    """A gain as people write one in a cell."""

    def __init__(self, k):
        self.k = k

    def times(self, q):
        return self.k * q

    __call__ = times


class Slot:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


def scaled(k):
    def decorated(function):
        @functools.wraps(function)
        def call(*given):
            return k * function(*given)

        return call

    return decorated


@functools.lru_cache
def squared(q):
    return q * q


BESIDE = {
    "number": (1.0, 2.0),
    "sign of zero": (0.0, -0.0),
    "number of numpy": (np.float64(1), np.float64(1 + 1e-16 * 4)),
    "array": (np.array([1.0, 2]), np.array([1.0, 3])),
    "array of objects": (np.array([1.5, None]), np.array([2.5, None])),
    "nested": ([[1], 2], [[1, 2]]),
    "list or tuple": ([1], (1,)),
    "keys": ({(1, 2): 1}, {(1, 3): 1}),
    "set": ({1}, {2}),
    "attributes": (SimpleNamespace(k=1.0), SimpleNamespace(k=2.0)),
    "object": (Gain(1.0), Gain(2.0)),
    "slots": (Slot(1.0), Slot(2.0)),
    "bound method": (Gain(1.0).times, Gain(2.0).times),
    "partial": (functools.partial(np.multiply, 1.0), functools.partial(np.multiply, 2.0)),
    "closure": (scaled(1.0)(abs), scaled(2.0)(abs)),
    "kept": (squared, functools.lru_cache(lambda q: 2 * q)),
    "vectorized": (np.vectorize(lambda q: q), np.vectorize(lambda q: 2 * q)),
    "function of numpy": (np.where, np.dot),
    "ufunc": (np.sin, np.cos),
    "function of math": (math.sin, math.cos),
    "operator": (operator.itemgetter(0), operator.itemgetter(1)),
    "polynomial": (np.polynomial.Polynomial([1, 2]), np.polynomial.Polynomial([1, 3])),
    "fraction": (Fraction(1, 3), Fraction(2, 3)),
    "range": (range(3), range(4)),
    "queue": (collections.deque([1]), collections.deque([2])),
    "class": (type("C", (), {"k": 1}), type("C", (), {"k": 2})),
    "enumeration": (enum.Enum("E", {"k": 1})["k"], enum.Enum("E", {"k": 2})["k"]),
    "force of modurob": (mr.JointSpring(1.0), mr.JointSpring(2.0)),
}
FORCE = "class F:\n    def effort(self, q):\n        return K(q)\n"


def made(text, **space):
    """The class F of a cell of a notebook."""
    exec(text, space := {"__name__": "__main__", "np": np, **space})
    return space["F"]


@pytest.mark.parametrize("kind", BESIDE)
def test_a_class_is_known_by_what_it_uses(kind):
    a, b = BESIDE[kind]
    with np.printoptions(precision=1, legacy="1.13"):
        again = fingerprint(made(FORCE, K=a))
    assert fingerprint(made(FORCE, K=a)) == again != fingerprint(made(FORCE, K=b))


WRITTEN = {
    "constructor": "class K:\n    def __init__(self, q): self.q = {} * q\n",
    "operator": "class H:\n    def __mul__(self, q): return {} * q\ndef K(q): return H() * q\n",
    "metaclass": "class M(type):\n    def __call__(cls, q): return {} * q\nclass K(metaclass=M): pass\n",
    "descriptor": "class D:\n    def __get__(self, own, kind): return {}\nclass H:\n    k = D()\ndef K(q): return H().k * q\n",
    "property": "class H:\n    @property\n    def k(self): return {}\ndef K(q): return H().k * q\n",
    "attribute of a function": "def K(q): return K.k * q\nK.k = {}\n",
    "default": "def K(q, k={}): return k * q\n",
    "base": "class B:\n    k = {}\nclass K(B): pass\n",
    "generator": "def K(q): return sum(x * {} for x in q)\n",
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_class_is_known_by_the_code_it_uses(kind):
    one, again, other = (fingerprint(made(WRITTEN[kind].format(k) + FORCE)) for k in (1.5, 1.5, 2.5))
    assert one == again != other


@pytest.mark.parametrize("name", ["__init__", "__getattr__", "__new__"])
def test_a_class_is_known_by_its_own_special_methods(name):
    text = FORCE + f"    def {name}(self, *given): return {{}}\n"
    assert fingerprint(made(text.format(1.5), K=abs)) != fingerprint(made(text.format(2.5), K=abs))


def test_a_decorator_is_part_of_a_method():
    texts = [FORCE.replace("    def", f"    @scaled({k})\n    def") for k in (1.5, 2.5)]
    one, other = (fingerprint(made(text, scaled=scaled, K=abs)) for text in texts)
    assert one != other


def test_what_a_class_does_not_use_does_not_count():
    """An attribute has the name of a variable of the notebook; numbers are drawn; a description is written."""
    text = FORCE.replace("K(q)", "self.gain * K(q)")
    rng = np.random.default_rng(0)
    one = fingerprint(made(text, K=rng.normal, gain=1))
    rng.normal(), random.random()
    assert fingerprint(made(text.replace("    def", '    """A force."""\n\n    def'), K=rng.normal, gain=2)) == one


def test_what_is_installed_is_known_by_its_version(monkeypatch):
    """A method that draws does not lead through all of matplotlib."""
    import matplotlib.pyplot as plt

    cls = made(FORCE, K=plt.plot)
    assert len(list(_Told("__main__").lines(cls))) < 30
    before = fingerprint(cls)
    monkeypatch.setattr(sys.modules["matplotlib"], "__version__", "0")
    assert fingerprint(cls) != before


def test_a_file_of_a_user_may_have_the_name_of_one_of_python(tmp_path, monkeypatch):
    found = []
    monkeypatch.syspath_prepend(tmp_path)
    # bytecode is taken for that of a file of equal size and time
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for k in (1.5, 2.5):
        (tmp_path / "cmd.py").write_text(f"class F:\n    k = {k}\n")
        monkeypatch.delitem(sys.modules, "cmd", raising=False)
        found.append(fingerprint(__import__("cmd").F))
    assert found[0] != found[1]


def test_code_may_refer_to_itself_and_to_much():
    """Two functions that call each other, a list that holds itself, a chain longer than Python's stack."""
    text = "def K(q): return L(q)\ndef L(q): return K(q), M\nM = []\nM.append(M)\n" + FORCE
    chain = None
    for _ in range(5000):
        chain = [chain]
    assert fingerprint(made(text)) == fingerprint(made(text)) != fingerprint(made(FORCE, K=chain))


CAM = """
from dataclasses import dataclass
from typing import Any
from modurob.catalogue.joints import Prismatic
@dataclass(frozen=True)
class F(Prismatic):
    profile: Any = None
"""


def test_robots_are_told_apart_by_functions_in_their_joints():
    """By what these do: not by where they lie in memory."""
    cls = made(CAM)

    def robot(profile):
        builder = mr.Builder("cam")
        builder.body("rod", np.eye(6), joint=cls(profile=profile))
        return builder.build()

    assert robot(lambda q: q) == robot(lambda q: q) != robot(lambda q: 2 * q)
    assert robot(Gain(1.0)) == robot(Gain(1.0)) != robot(Gain(2.0))
