"""This robot's model against every judge that is installed, and against the laws of mechanics."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from modurob import algorithms as al
from modurob.algorithms.complex_steps import TINY as STEP
from modurob.algorithms.complex_steps import complex_step
from modurob.errors import ClosureError, SingularError
from modurob.judges.twin import JUDGES, Twin
from modurob.mechanism import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array

STATES = 10
IDENTITY_TOLERANCE = 1e-9


class Verdict(NamedTuple):
    """How well one quantity agrees: the largest relative error over the states."""

    quantity: str
    judge: str
    error: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return self.error <= self.tolerance


class Report(NamedTuple):
    """All verdicts, and the comparisons that were not possible, with the reason."""

    verdicts: list[Verdict]
    unanswered: dict[str, str]

    @property
    def passed(self) -> bool:
        return all(v.passed for v in self.verdicts)


class State(NamedTuple):
    q: Array
    v: Array
    vdot: Array


def relative_error(found: Array, expected: Array, scale: float = 0.0) -> float:
    """Largest difference, relative to the largest entry of what is expected, or to `scale` if that is larger."""
    return float(np.abs(found - expected).max(initial=0) / max(np.abs(expected).max(initial=0), scale, 1e-12))


def verify(m: Tables, seed: int = 0) -> Report:
    """Compare at random states within the joint limits."""
    rng = np.random.default_rng(seed)
    states = [State(_configuration(m, rng), *rng.normal(size=(2, m.nv))) for _ in range(STATES)]
    unanswered: dict[str, str] = {}
    try:
        al.forward_dynamics(m, states[0].q, states[0].v, states[0].vdot)
    except SingularError as error:
        unanswered["forward dynamics"] = str(error)
    solvable = not unanswered
    verdicts = list(_identities(m, states, solvable))
    for package, judge in JUDGES.items():
        if find_spec(package) is None:
            unanswered[judge.name] = "not installed: pip install modurob[judges]"
        elif obstacle := judge.obstacle(m):
            unanswered[judge.name] = f"cannot hold this robot: {obstacle}"
        else:
            verdicts += _judged(m, judge(m), states, solvable)
    return Report(verdicts, unanswered)


def _configuration(m: Tables, rng: np.random.Generator) -> Array:
    """Within the joint limits, loops closed where a few tries close them."""
    for _ in range(10):
        q = al.random_configuration(m, rng)
        try:
            return al.close_loops(m, q) if m.loops else q
        except ClosureError:
            continue
    return al.random_configuration(m, rng)


def _worst(states: list[State], error: Callable[[State], float]) -> float:
    return max((error(s) for s in states), default=0.0)


def _judged(m: Tables, twin: Twin, states: list[State], solvable: bool) -> Iterator[Verdict]:
    """The quantities that every judge computes."""
    tip = m.bodies[-1]

    def compare(quantity: str, ours: Callable[[State], Array], theirs: Callable[[State], Array]) -> Verdict:
        error = _worst(states, lambda s: relative_error(ours(s), theirs(s)))
        return Verdict(quantity, twin.name, error, twin.tolerance)

    yield compare("body poses", lambda s: al.forward_kinematics(m, s.q).bodies, lambda s: twin.body_poses(s.q))
    yield compare(
        f"Jacobian of {tip}",
        lambda s: al.body_jacobian(m, s.q, tip),
        lambda s: se3.Ad_inverse(m.frames[tip].X) @ twin.body_jacobian(s.q, m.frames[tip].body),
    )
    yield compare(
        "inverse dynamics",
        lambda s: al.tree_inverse_dynamics(m, s.q, s.v, s.vdot),
        lambda s: twin.inverse_dynamics(s.q, s.v, s.vdot),
    )
    yield compare("mass matrix", lambda s: al.mass_matrix(m, s.q), lambda s: twin.mass_matrix(s.q))
    if solvable and not m.loops:
        yield compare(
            "forward dynamics",
            lambda s: al.forward_dynamics(m, s.q, s.v, s.vdot),
            lambda s: twin.forward_dynamics(s.q, s.v, s.vdot),
        )


def _identities(m: Tables, states: list[State], solvable: bool) -> Iterator[Verdict]:
    """What holds for every robot."""
    if not m.nv:
        return
    still = np.zeros(m.nv)

    def law(quantity: str, error: Callable[[State], float]) -> Verdict:
        return Verdict(quantity, "identity", _worst(states, error), IDENTITY_TOLERANCE)

    def size(s: State) -> float:
        """The natural scale of velocity products: largest entry of M times largest rate squared."""
        return float(np.abs(al.mass_matrix(m, s.q)).max() * np.abs(s.v).max() ** 2)

    def columns(s: State) -> float:
        free = al.tree_inverse_dynamics(m, s.q, still, np.eye(m.nv)) - al.tree_inverse_dynamics(m, s.q, still, still)
        return relative_error(al.mass_matrix(m, s.q), free.T)

    def skewness(s: State) -> float:
        rate = np.imag(al.mass_matrix(m, al.integrate(m, s.q, 1j * STEP * s.v))) / STEP
        C = al.coriolis_matrix(m, s.q, s.v)
        return relative_error(rate, C + C.T, size(s))

    def one_product(s: State) -> float:
        expected = al.bias_forces(m, s.q, s.v) - al.gravity_forces(m, s.q)
        matrices = al.coriolis_matrix(m, s.q, s.v), al.two_step_coriolis_matrix(m, s.q, s.v)
        return max(relative_error(C @ s.v, expected, size(s)) for C in matrices)

    def gradient(s: State) -> float:
        slope = complex_step(lambda d: al.potential_energy(m, al.integrate(m, s.q, d))[..., None], m.nv, 0)[0]
        weight = float(np.linalg.norm(m.gravity) * al.total_mass(m))
        return relative_error(al.gravity_forces(m, s.q), slope, weight)

    def power(s: State) -> float:
        tau = al.tree_inverse_dynamics(m, s.q, s.v, s.vdot)
        q, v = al.integrate(m, s.q, 1j * STEP * s.v), s.v + 1j * STEP * s.vdot
        rate = np.imag(al.kinetic_energy(m, q, v) + al.potential_energy(m, q)) / STEP
        return relative_error(rate, tau @ s.v, float(np.abs(tau * s.v).max()))

    def round_trip(s: State) -> float:
        return relative_error(al.forward_dynamics(m, s.q, s.v, al.tree_inverse_dynamics(m, s.q, s.v, s.vdot)), s.vdot)

    def closure(s: State) -> float:
        v = al.close_velocity(m, s.q, s.v)
        K, vdot = al.loop_jacobian(m, s.q), al.forward_dynamics(m, s.q, v, s.vdot)
        return relative_error(K @ vdot, al.loop_bias(m, s.q, v), float(np.abs(vdot).max()))

    def closed_form(s: State) -> float:
        return relative_error(al.closed_form_mass_matrix(m, s.q), al.mass_matrix(m, s.q))

    yield law("M = d tau / d vdot", columns)
    yield law("dM/dt = C + C^T", skewness)
    yield law("both C v = bias - N", one_product)
    yield law("N = gradient of the potential energy", gradient)
    yield law("power = rate of the energy", power)
    yield law("closed form through G = recursion", closed_form)
    if solvable:
        yield law("K vdot = k on the loops", closure) if m.loops else law("forward after inverse dynamics", round_trip)
