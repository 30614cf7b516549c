"""A controller for robots with loops, cables and too many or too few inputs: one quadratic programme a sample.

Unknown are the accelerations, the inputs and the changes of the cables' tensions. Cables on winches are treated as frozen: their
strains stay, and what their tension would have to change by is as if it came at once (Lieskovsky, chapter 3).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.configuration import integrate
from modurob.algorithms.constraints.actuation import inputs_of
from modurob.algorithms.constraints.torques import RANK
from modurob.algorithms.full_dynamics import full_acceleration, full_equations
from modurob.algorithms.lines import line_slopes
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.tasks import Task
from modurob.control.values import limiter
from modurob.errors import ControlError, warn_user
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.spatial.small import complete_qr, factor, solve_factor, solve_transposed, thin_svd
from modurob.statics.quadratic import quadratic_programme

# what accelerations cost beside inputs, so that the programme has one answer
LITTLE = 1e-8
# directions of a task that motions reach this much less than others are left alone
SINGULAR = 1e-3
# directions in which a task moves this much less than in others, in the metric of the mass matrix, it does not see
UNSEEN = 3e-5
# rows whose parts across those before them are no smaller than this beside the largest are independent
CLEARLY = 1e-3
# tensions beyond what is there, the least and the weight, in parts of the largest of these, before they count as running away
RUNAWAY = 100.0
# stretches below zero by more than rounding [m]
SLACK = 1e-9


class Plan(NamedTuple):
    """One sample: accelerations, (nv,), inputs, (inputs,), and how much each frozen cable is to pull more, (cables,) [N]."""

    vdot: Array
    u: Array
    more: Array


@LAWS.register("whole-body")
@dataclass(frozen=True, eq=False)
class WholeBody(Recipe):
    """Follow tasks with the smallest inputs within their bounds: min |u|² subject to M vdot + c = B u + passive - J^T
    dT + K^T lambda, K vdot = k, constant strains of cables on winches, and J_i vdot = wanted_i of the tasks, by
    priority.

    `tension` bounds the tension of such cables [N]; without an upper bound, a plan that needs a hundred times the usual
    tension, as near poses where cables lose their hold, is refused. `damping` k [1/s] and `weight` w damp the motions
    that the tasks leave free: w |N (vdot + k v)|² in the metric of the mass matrix, N the null space of the tasks.
    `injection` [N s] damps strains at the winches. With `predict` the state half a sample ahead is controlled. `solver`
    is one of qpsolvers.

    >>> law = mr.WholeBody([mr.JointTask(["m0/hinge", "m2/hinge", "m4/hinge"], reference=[0.1, 0.2, 0.3])], sample_time=1e-3)
    >>> run = mr.simulate(robot, q, duration=0.1, controller=law)
    >>> run.status.ok
    True
    """

    tasks: Sequence[Task]
    tension: tuple[float, float] = (0.0, np.inf)
    damping: float = 0.0
    weight: float = 0.0
    injection: float = 0.0
    predict: bool = False
    solver: str = "proxqp"
    needs: ClassVar[str] = "tasks"
    iterates: ClassVar[str] = "its step solves a quadratic programme by iterations"

    def __post_init__(self) -> None:
        super().__post_init__()
        for task in self.tasks:
            if not isinstance(task, Task):
                raise ControlError(f"task {task!r:.60}: expected a JointTask, PointTask or PoseTask")
        if self.predict and self.sample_time is None:
            raise ControlError("WholeBody: predict asks for half a sample, and there is no sample_time: give one [s]")

    def on(self, robot: Mechanism) -> "WholeBodyLaw":
        return WholeBodyLaw(self, robot)


class WholeBodyLaw(BoundLaw):
    """The controller for one robot; its memory is the torque it held last."""

    def __init__(self, recipe: WholeBody, robot: Mechanism):
        super().__init__(recipe, robot)
        self._model: Mechanism = self.drives.robot
        self._made = Made.of(self._model)
        self._limited = limiter(recipe.saturation, self.drives)

    def start(self) -> Array:
        # nothing was held before the first sample
        return np.full(self._model.nv, np.nan)

    def step(self, memory: Array, t: float, measured: Any) -> tuple[Array, Array]:
        if not np.isfinite(memory).all():
            self._warn_of_slack(measured.q)
        if memory.shape != measured.v.shape:
            memory = np.broadcast_to(memory, measured.v.shape)
        tau = self._of_each(t, measured.q, measured.v, memory)
        return tau, tau

    def _warn_of_slack(self, q: Array) -> None:
        """A warning for slack cables: cables on winches are assumed to be taut."""
        frozen = self._made.frozen
        stretches = np.min(self._model.line_stretches(q)[..., frozen], axis=tuple(range(q.ndim - 1)))
        slack = [
            f"{self._model.lines[k].name} by {-u:.3g} m"
            for k, u in zip(frozen, stretches.tolist(), strict=True)
            if u < -SLACK
        ]
        if slack:
            warn_user(
                f"{self._model.name}: slack at the start: {', '.join(slack)}; the controller takes cables for taut, so that it "
                "asks for tensions that are not there yet: wind them in first"
            )

    def _of_each(self, t: float, q: Array, v: Array, held: Array) -> Array:
        """The states of a batch, one after the other."""
        if q.ndim == 1:
            return self.torque(t, q, v, held)
        return np.stack([self._of_each(t, *state) for state in zip(q, v, held, strict=True)])

    def torque(self, t: float, q: Array, v: Array, held: Array) -> Array:
        """B u, (nv,)."""
        if self.recipe.predict and np.isfinite(held).all():
            half = self.recipe.sample_time / 2
            vdot = full_acceleration(self._model, q, v, held, t, kernels.run)
            q, v, t = integrate(self._model, q, half * (v + half / 2 * vdot), kernels.run), v + half * vdot, t + half
        plan, problem = self.plan(t, q, v)
        joints = self._made.torques.shape[1]
        tau = self._made.torques @ plan.u[:joints]
        if self.recipe.injection and self._made.frozen:
            braked = self.recipe.injection * (problem.strain_slopes @ v)
            tau = tau - self._made.radii.T @ braked
        # lines under a given tension pull on joints that may have no drive
        return self._limited(tau) + problem.B[:, joints:] @ plan.u[joints:]

    def plan(self, t: float, q: Array, v: Array) -> tuple[Plan, "Problem"]:
        """The programme of one state, and its answer."""
        problem = Problem.of(self._made, t, q, v, self.recipe.tension)
        rows = [(task.priority, task.rows(self._model, t, q, v)) for task in self.recipe.tasks]
        return problem.solved(rows, self.recipe), problem


class Made(NamedTuple):
    """What does not change with the state: inputs, and cables on winches."""

    robot: Mechanism
    names: tuple[str, ...]
    lower: Array
    upper: Array
    torques: Array  # B of the joints with a drive, (nv, n)
    pulled: list[int]  # lines under a given tension
    frozen: list[int]  # cables on winches
    radii: Array  # of their drums, (cables, nv)
    weight: float  # of the robot [N]

    @classmethod
    def of(cls, robot: Mechanism) -> "Made":
        given = inputs_of(robot, robot.neutral())
        pulled = [k for k, row in enumerate(robot.lines) if row.force.law.driven]
        frozen = [k for k, row in enumerate(robot.lines) if any(i >= 0 for i in row.joints) and k not in pulled]
        torques = given.B[:, : len(given.names) - len(pulled)]
        weight = robot.total_mass() * float(np.linalg.norm(robot.gravity))
        return cls(robot, given.names, given.lower, given.upper, torques, pulled, frozen, _radii(robot, frozen), weight)


class Problem(NamedTuple):
    """The equations of one state: vdot = first + Z s keeps constraints and strains; G^T (M vdot - B u + arms^T dT - force) = 0."""

    made: Made
    v: Array
    B: Array  # inputs to torques, (nv, inputs)
    G: Array  # motions that keep the constraints, (nv, n)
    Z: Array  # those that keep strains too, (nv, m)
    first: Array  # (nv,)
    M: Array
    force: Array  # passive - bias, (nv,)
    arms: Array  # of cables on winches, (cables, nv)
    strain_slopes: Array  # (cables, nv)
    more: tuple[Array, Array]  # bounds of what they pull more

    @classmethod
    def of(cls, made: Made, t: float, q: Array, v: Array, tension: tuple[float, float]) -> "Problem":
        robot, frozen = made.robot, made.frozen
        M, force, K, k = full_equations(robot, q, v, t, kernels.run)
        arms, slopes, drift, tensions = line_slopes(robot, q, v, kernels.run)
        B = np.hstack([made.torques, -arms[made.pulled].T]) if made.pulled else made.torques
        arms, slopes, drift, now = arms[frozen], slopes[frozen], drift[frozen], tensions[frozen]
        held, G = _solutions(K, k, RANK)
        # among motions that keep the constraints, those that keep strains
        still, free = _solutions(slopes @ G, -drift - slopes @ held, RANK)
        more = tension[0] - now, tension[1] - now
        return cls(made, v, B, G, G @ free, held + G @ still, M, force, arms, slopes, more)

    def solved(self, tasks: list[tuple[int, Any]], recipe: WholeBody) -> Plan:
        """x = (s, u, dT): the dynamics as equations, then tasks by priority, then the least inputs."""
        m, n = self.Z.shape[1], self.B.shape[1]
        MZ = self.M @ self.Z
        dynamics = self.G.T @ np.hstack([MZ, -self.B, self.arms.T])
        held = [(dynamics, self.G.T @ (self.force - self.M @ self.first)), *self._levels(tasks, dynamics.shape[1])]
        x = _lexicographic(*self._cost(tasks, recipe, MZ), held, self._bounds(m), recipe.solver)
        if x is None:
            low, high = recipe.tension
            raise ControlError(
                f"{self.made.robot.name}: no inputs within their bounds keep this robot moving as it must: inputs are "
                f"{', '.join(self.made.names) or 'none'}, cables on winches pull from {low:g} to {high:g} N"
            )
        plan = Plan(self.first + self.Z @ x[:m], x[m : m + n], x[m + n :])
        self._require_hold(plan, recipe)
        return plan

    def _bounds(self, m: int) -> tuple[Array, Array]:
        """Of x: none of the m accelerations, those of inputs and tensions."""
        free = np.full(m, np.inf)
        low, high = (-free, self.made.lower, self.more[0]), (free, self.made.upper, self.more[1])
        return np.concatenate(low), np.concatenate(high)

    def _levels(self, tasks: list[tuple[int, Any]], n: int) -> Iterator[tuple[Array, Array]]:
        """The equations of the tasks of each priority in x, of n entries, as far as motions can satisfy them."""
        for level in sorted({p for p, _ in tasks}):
            J, wanted = _stacked([r for p, r in tasks if p == level])
            reachable, wanted = _reachable(J @ self.Z, wanted - J @ self.first)
            rows = np.zeros((len(reachable), n))
            rows[:, : self.Z.shape[1]] = reachable
            yield rows, wanted

    def _require_hold(self, plan: Plan, recipe: WholeBody) -> None:
        """An error if cables without an upper bound can hardly produce the commanded motion."""
        robot = self.made.robot
        now = recipe.tension[0] - self.more[0]
        usual = max([*now, recipe.tension[0], self.made.weight, 1.0])
        worst = int(np.argmax(now + plan.more)) if len(now) else -1
        if worst >= 0 and recipe.tension[1] == np.inf and now[worst] + plan.more[worst] > RUNAWAY * usual:
            raise ControlError(
                f"{robot.name}: cable {robot.lines[self.made.frozen[worst]].name} would have to pull with "
                f"{now[worst] + plan.more[worst]:.3g} N, where {usual:.3g} N are usual: the cables have nearly lost their hold on "
                "what tasks ask for; give tension=(least, most) [N]"
            )

    def _cost(self, tasks: list[tuple[int, Any]], recipe: WholeBody, MZ: Array) -> tuple[Array, Array]:
        """|u|², and w |N (vdot + k v)|² in the metric of M, N the projector to the motions that no task controls."""
        m, n, c = self.Z.shape[1], self.B.shape[1], len(self.arms)
        P, cost = np.diag(np.repeat([LITTLE, 1.0, LITTLE], [m, n, c])), np.zeros(m + n + c)
        if recipe.weight and tasks and m:
            metric = recipe.weight * _unseen(self.Z.T @ MZ, _stacked([r for _, r in tasks])[0] @ self.Z)
            P[:m, :m] += metric
            cost[:m] = metric @ (recipe.damping * self.Z.T @ self.v)
        return P, cost


def _stacked(rows: list[Any]) -> tuple[Array, Array]:
    """The rows of several tasks as one."""
    if len(rows) == 1:
        return rows[0].J, rows[0].wanted
    return np.vstack([r.J for r in rows]), np.concatenate([r.wanted for r in rows])


def _unseen(M: Array, J: Array) -> Array:
    """N^T M N with N = 1 - M^-1 J^T (J M^-1 J^T)^+ J, the projector to the null space of J."""
    L = factor(M)
    if L is None:
        return M - J.T @ np.linalg.pinv(J @ np.linalg.solve(M, J.T), rcond=UNSEEN**2) @ J
    # with M = L L^T and J L^-T = U s V^T that is L (1 - V V^T) L^T
    _, s, Vt = thin_svd(solve_factor(L, J.T).T)
    V = L @ Vt[s > UNSEEN * s.max(initial=0.0)].T
    return M - V @ V.T


def _solutions(A: Array, b: Array, rank: float) -> tuple[Array, Array]:
    """The least x with A x = b, as well as may be, and orthonormal columns N with A N = 0; singular values below `rank` of the
    largest are none."""
    rows, n = A.shape
    if not rows:
        return np.zeros(n), np.eye(n)
    if rows <= n:
        # rows that are clearly independent need no singular values
        Q, R = complete_qr(A.T)
        size = abs(R.diagonal())
        if size.min() > CLEARLY * size.max():
            return Q[:, :rows] @ solve_transposed(R, b), Q[:, rows:]
    U, s, Vt = np.linalg.svd(A)
    n = int((s > rank * max(s[0], 1e-300)).sum())
    return Vt[:n].T @ ((U.T @ b)[:n] / s[:n]), Vt[n:].T


def _reachable(J: Array, wanted: Array) -> tuple[Array, Array]:
    """The rows of a task in directions that motions reach; next to singularities the others are left alone."""
    U, s, Vt = thin_svd(J)
    kept = s > SINGULAR * s.max(initial=0.0)
    return s[kept, None] * Vt[kept], (U.T @ wanted)[kept]


def _lexicographic(
    P: Array, cost: Array, held: list[tuple[Array, Array]], bounds: tuple[Array, Array], solver: str
) -> Array | None:
    """All of `held` as equations if they can be met; else the first as equations, and the others one after the other as well as
    they can be."""
    met = held[:1]
    found = _bounded(P, cost, held, bounds, solver)
    for A, b in held[1:] if found is None else ():
        found = _bounded(A.T @ A + LITTLE * np.eye(len(cost)), -A.T @ b, met, bounds, solver)
        if found is None:
            return None
        met = [*met, (A, A @ found)]
    return found if len(met) == 1 and found is not None else _bounded(P, cost, met, bounds, solver)


def _bounded(
    P: Array, cost: Array, equations: list[tuple[Array, Array]], bounds: tuple[Array, Array], solver: str
) -> Array | None:
    """The x of least cost that meets equations and bounds: x = x0 + N z, the equations being eliminated."""
    A, b = np.vstack([A for A, _ in equations]), np.concatenate([b for _, b in equations])
    first, N = _solutions(A, b, 1e-9)
    if np.abs(A @ first - b).max(initial=0.0) > 1e-6 * (1 + np.abs(b).max(initial=0.0)):
        return None
    if not N.shape[1]:
        return first if _within(first, bounds) else None
    kept = np.isfinite(bounds[0]) | np.isfinite(bounds[1])
    size = max(np.abs(first).max(initial=0.0), 1.0)
    z = quadratic_programme(
        N.T @ P @ N,
        N.T @ (cost + P @ first) / size,
        N[kept],
        (bounds[0] - first)[kept] / size,
        (bounds[1] - first)[kept] / size,
        solver,
    )
    x = None if z is None else first + size * (N @ z)
    return x if x is not None and _within(x, bounds) else None


def _within(x: Array, bounds: tuple[Array, Array]) -> bool:
    slack = 1e-6 * (1 + np.abs(x).max(initial=0.0))
    return bool(((x >= bounds[0] - slack) & (x <= bounds[1] + slack)).all())


def _radii(robot: Mechanism, lines: list[int]) -> Array:
    R = np.zeros((len(lines), robot.nv))
    for row, k in enumerate(lines):
        line = robot.lines[k]
        for drum, i in zip(line.force.drums, line.joints, strict=True):
            if i >= 0:
                R[row, robot.joints[i].v_slice.start] += robot.joints[i].ratio * line.force.nodes[drum].drum
    return R
