"""Changes of shape of organisms of a world, each at its time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modurob.errors import explained
from modurob.values import as_tuples

if TYPE_CHECKING:
    from modurob.simulation.world import World

# a time [s], or a condition that is looked at after every tick; ports that dock may do so as soon as they have met
MET = "met"
When = float | Callable[["World"], bool] | str


@explained
@dataclass(frozen=True)
class Dock:
    """A new module docks, at a time [s] or when a function of the world is true, with the velocity of the port at which
    it docks.

    `by` is the module's own port, `roll` its turn about the port `at` [degrees]. No other body changes its velocity.

    >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
    >>> runs = world.run(0.02, [mr.Dock(0.01, "crab", "m6", "backbone", at="m3/3", by="4")])
    >>> len(runs["crab"].segments)
    2
    """

    when: When
    organism: str
    module: str
    type: str
    at: str
    by: str
    roll: float = 0.0


@explained
@dataclass(frozen=True)
class Undock:
    """A module, or everything beyond a port, separates and continues as an organism of its own, named `into`.

    `when` is a time [s] or a function of the world. Every body keeps its velocity.

    >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
    >>> sorted(world.run(0.02, [mr.Undock(0.01, "crab", "m3/2", into="leg")]))
    ['crab', 'leg']
    """

    when: When
    organism: str
    port: str
    into: str
    controller: Any = None


@explained
@dataclass(frozen=True)
class Merge:
    """Two organisms become one, with the name and the controller of the first, by docking port `a` of the first to `b`
    of the second.

    The ports must fit within `tolerance` [m, rad]; the plastic impact conserves momentum and loses energy. `when` is a
    time [s], a function of the world, or "met": the connectors latch as soon as they are within the tolerance. If one
    of the organisms is fixed in the world, it must be the first.

    >>> block = mr.Assembly.single("n0", "backbone")
    >>> X = assembly.dock("n0", "backbone", at="m3/3", by="4").placements["n0"]  # where it would be docked
    >>> start = np.concatenate([X[:3, 3], mr.spatial.quaternion.from_matrix(X[:3, :3])])
    >>> world = mr.World({"crab": mr.Organism(assembly), "block": mr.Organism(block, start)}, gravity=(0, 0, 0))
    >>> runs = world.run(0.01, [mr.Merge(0.005, "crab", "block", "m3/3", "n0/4")])
    >>> world.assembly("crab"), world.impacts[0].kind
    (Assembly('crab', 7 backbone, 6 connections), 'merge')
    """

    when: When
    first: str
    second: str
    a: str
    b: str
    roll: float = 0.0
    tolerance: tuple[float, float] = (1e-3, 1e-2)


@explained
@dataclass(frozen=True)
class Connect:
    """Two free ports of one organism that fit within `tolerance` [m, rad] dock: this closes a loop.

    `when` is a time [s], a function of the world, or "met": as soon as they fit. After the plastic impact the
    velocities keep the loop closed.

    >>> ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).disconnect("m0/4")
    >>> world = mr.World({"ring": mr.Organism(ring)}, gravity=(0, 0, 0))
    >>> runs = world.run(0.02, [mr.Connect(0.01, "ring", "m0/4", "m2/3")])
    >>> runs["ring"].robot
    Mechanism('robot', 3 bodies, nq=9, nv=8, loops=1)
    """

    when: When
    organism: str
    a: str
    b: str
    roll: float = 0.0
    tolerance: tuple[float, float] = (1e-3, 1e-2)


@explained
@dataclass(frozen=True)
class Disconnect:
    """A connection that closes a loop opens, at a time [s] or when a function of the world is true; the organism
    remains connected.

    >>> ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]])
    >>> world = mr.World({"ring": mr.Organism(ring)}, gravity=(0, 0, 0))
    >>> runs = world.run(0.02, [mr.Disconnect(0.01, "ring", "m0/4")])
    >>> runs["ring"].robot
    Mechanism('robot', 2 bodies, nq=8, nv=7)
    """

    when: When
    organism: str
    port: str


@explained
@dataclass(frozen=True)
class Reroot:
    """Another module of an organism becomes its base, at a time [s] or on a condition: the same motion, in other
    coordinates.

    An organism that is fixed in the world is then fixed at its new base.

    >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
    >>> runs = world.run(0.02, [mr.Reroot(0.01, "crab", base="m3")])
    >>> world["crab"].base
    'm3'
    """

    when: When
    organism: str
    base: str


@explained
@dataclass(frozen=True)
class Tie:
    """A line is added over ports of an organism, as by `assembly.with_line`, at a time [s] or on a condition; a line of
    that name is replaced. Velocities do not change.

    >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
    >>> rope = mr.Elastic(stiffness=100.0, rest=0.1)
    >>> runs = world.run(0.02, [mr.Tie(0.01, "crab", "rope", ["m0/3", "m3/3"], rope)])
    >>> [row.name for row in runs["crab"].robot.lines]
    ['rope']
    """

    when: When
    organism: str
    line: str
    route: Sequence[Any]
    law: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "route", as_tuples(self.route))


@explained
@dataclass(frozen=True)
class Untie:
    """A line of an organism is removed, at a time [s] or on a condition.

    >>> tied = assembly.with_line("rope", ["m0/3", "m3/3"], mr.Elastic(stiffness=100.0, rest=0.1))
    >>> world = mr.World({"crab": mr.Organism(tied)}, gravity=(0, 0, 0))
    >>> runs = world.run(0.02, [mr.Untie(0.01, "crab", "rope")])
    >>> runs["crab"].robot.lines
    ()
    """

    when: When
    organism: str
    line: str


Change = Dock | Undock | Merge | Connect | Disconnect | Reroot | Tie | Untie
