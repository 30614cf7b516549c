"""An organism of a world: its specification, and its present state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modurob.errors import SimulationError, explained
from modurob.mechanism.builder import RIGID
from modurob.robot import Assembly, Mechanism
from modurob.simulation.docking import Body
from modurob.simulation.law import Estimator, as_estimator
from modurob.simulation.pilot import Pilot
from modurob.simulation.recorder import Recorder
from modurob.simulation.recording import Event, Segment, Settings
from modurob.simulation.status import Status
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array
from modurob.values import Value


@explained
@dataclass(frozen=True, eq=False)
class Organism(Value):
    """An assembly in the world with its controller and estimator, which are instantiated again whenever it changes shape.

    q and v are those of `assembly.mechanism(base=base, floating=True)`, SI units: position and quaternion of the base first. An
    organism that stands, with `stands` the pose X_WB of its base module in the world, (4, 4), has joints alone. The controller
    may be a function f(t, q, v).

    >>> crab = mr.Organism(assembly, controller=lambda t, q, v: -0.1 * v)
    >>> mr.World({"crab": crab}).mechanism.nv
    9
    """

    assembly: Assembly
    q: Array | None = None
    v: Array | None = None
    controller: Any = None
    estimator: Estimator | None = None
    base: str | None = None
    stands: Array | None = None


@dataclass(eq=False)
class Living:
    """An organism in its present shape and state: its robot, q, v and tau, its controller and estimator."""

    recipe: Organism
    body: Body
    base: str
    settings: Settings
    t0: float
    every: int  # ticks between two samples of its law
    pilot: Pilot
    ticks: int = 0
    status: Status | None = None
    recorder: Recorder = field(default_factory=Recorder)
    past: list[Segment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    beyond: frozenset[int] = frozenset()
    x: Array = field(default_factory=lambda: np.zeros(0))  # states of the forces of its robot, (nx,)

    @property
    def robot(self) -> Mechanism:
        return self.body.robot

    @property
    def q(self) -> Array:
        return self.body.q

    @property
    def v(self) -> Array:
        return self.body.v

    @property
    def tau(self) -> Array:
        return self.pilot.tau

    @property
    def assembly(self) -> Assembly:
        return self.body.assembly

    @property
    def moving(self) -> bool:
        """Whether its run has not ended."""
        return self.status is None

    @property
    def believed(self) -> Body:
        """The organism with the estimate of its state, or with its true state without an estimator."""
        estimate = self.pilot.estimate
        return self.body if estimate is None else self.body._replace(q=estimate.q, v=estimate.v)

    def row(self, t: float) -> dict[str, Array]:
        """The recorded channels."""
        row = {"t": np.array(t), "q": self.q, "v": self.v}
        return {**row, "x": self.x} if self.x.size else row

    def segments(self, t: float) -> list[Segment]:
        """The segments of all its shapes, up to now."""
        now = Segment(self.robot, self.settings, self.recorder.channels({**self.row(t), "tau": self.tau}))
        return [*self.past, now]


def require_organisms(organisms: Any) -> None:
    """Organisms by name, each made of an assembly."""
    if not isinstance(organisms, Mapping) or not organisms:
        raise SimulationError(
            f"organisms {organisms!r:.60}: expected a mapping, {{name: mr.Organism(assembly)}}, of at least one"
        )
    for name, recipe in organisms.items():
        if not isinstance(name, str):
            raise SimulationError(f"organism {name!r:.60}: expected a name, in quotes")
        if not isinstance(recipe, Organism):
            raise SimulationError(f"organism {name!r} is {recipe!r:.60}: expected mr.Organism(assembly)")
        if not isinstance(recipe.assembly, Assembly):
            raise SimulationError(f"organism {name!r} of {recipe.assembly!r:.60}: expected an assembly, mr.load(...)")
        as_estimator(recipe.estimator)


def standing_pose(name: str, recipe: Organism) -> Array | None:
    """X_WB of the base of an organism that stands in the world, (4, 4); None for one that floats."""
    if recipe.stands is None:
        return None
    try:
        X = np.asarray(recipe.stands, dtype=float)
    except (TypeError, ValueError):
        X = np.zeros(0)
    if X.shape != (4, 4) or tuple(X[3]) != (0, 0, 0, 1) or not so3.is_rotation(se3.rotation(X), RIGID):
        raise SimulationError(
            f"organism {name!r} stands at {recipe.stands!r:.60}: expected a pose (4, 4), such as mr.spatial.se3.pose(p=(x, y, z))"
        )
    return X


def require_different(organisms: Mapping[str, Organism]) -> None:
    """Modules of different organisms have different names, so that they can meet."""
    seen: dict[str, str] = {}
    for name, recipe in organisms.items():
        for module in recipe.assembly.modules:
            if module in seen:
                raise SimulationError(
                    f"module {module!r} is in organisms {seen[module]!r} and {name!r}: modules need different names; "
                    "rename them with assembly.renamed({...})"
                )
            seen[module] = name
