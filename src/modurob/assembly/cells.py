"""Planar robots in the cells of a grid: positions of modules, and changes cell by cell.

A cell is (column, row), the first module in (0, 0), columns along its x axis and rows along its y axis. Neighbours dock
if both have a port that faces the other.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from modurob.assembly.connection import Connection, PortRef
from modurob.assembly.edits import Edits
from modurob.assembly.graph import Graph
from modurob.catalogue import Module, ModuleType, Port, module_type
from modurob.errors import AssemblyError
from modurob.spatial import se3

Cell = tuple[int, int]
A = TypeVar("A", bound=Edits)

# from a cell to its neighbours, and a quarter turn about z as (cosine, sine)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
# modules this far from the middle of their cell, as part of its width, are not in the grid
LOOSE = 1e-3


class Placed(NamedTuple):
    """A module in a cell, turned counter-clockwise by a number of quarter turns."""

    name: str
    cell: Cell
    quarters: int


class Plane(NamedTuple):
    """All modules in cells of one width [m], the first in (0, 0)."""

    width: float
    modules: dict[str, Placed]

    @property
    def at(self) -> dict[Cell, Placed]:
        """The module in each cell."""
        return {p.cell: p for p in self.modules.values()}


def plane(assembly: Graph) -> Plane:
    """The cells of a planar robot, or an error that says which module is not in the plane.

    >>> from modurob.assembly import Assembly
    >>> plane(Assembly.from_grid("B S90")).modules["m1"]
    Placed(name='m1', cell=(1, 0), quarters=1)
    """
    if any(X.dtype == object for X in assembly.placements.values()):
        raise AssemblyError("modules of symbolic size have no grid: give numbers, with `with_parameters`")
    width = _width(next(iter(assembly.modules.values())))
    placed = {}
    for name, X in assembly.placements.items():
        cell, turn = se3.position(X)[:2] / width, se3.rotation(X)
        column, row = (round(float(x)) for x in cell)
        off = max(np.abs(cell - (column, row)).max(), abs(X[2, 3]) / width, np.abs(turn - np.round(turn)).max())
        if off > LOOSE or turn[2, 2] < 0.5:
            raise AssemblyError(f"{name} does not stand in a cell of the plane: this robot has no grid")
        placed[name] = Placed(name, (column, row), STEPS.index((round(turn[0, 0]), round(turn[1, 0]))))
    return Plane(width, placed)


def placed(assembly: A, name: str, kind: str | ModuleType, cell: Cell) -> A:
    """With a new module in an empty cell, docked to its neighbours; turned as little as it takes to dock.

    >>> from modurob.assembly import Assembly
    >>> placed(Assembly.single("m0", "backbone"), "m1", "scout", (0, 1)).grid()
    'S\\nB'
    """
    where = plane(assembly)
    _require_empty(where, cell)
    module = module_type(kind).module()
    if abs(_width(module) - where.width) > LOOSE * where.width:
        raise AssemblyError(
            f"a {module.type.name} is {_width(module):.3g} m wide, the cells are {where.width:.3g} m: it does not fit"
        )
    for quarters in range(4):
        docked = _connections(assembly, where, Placed(name, cell, quarters), module)
        if docked:
            return assembly._with({**assembly.modules, name: module}, [*assembly.connections, *docked])
    raise AssemblyError(
        f"cell {cell}: no neighbour has a port that looks here; add modules beside those that are there"
    )


def turned(assembly: A, cell: Cell) -> A:
    """With the module in a cell turned by a quarter, or by the next that docks; removed after the last.

    >>> from modurob.assembly import Assembly
    >>> turned(Assembly.from_grid("B B"), (1, 0)).grid()
    'B B90'
    """
    where = plane(assembly)
    if cell not in where.at:
        raise AssemblyError(f"cell {cell} is empty")
    name, _, before = where.at[cell]
    if name == next(iter(assembly.modules)):
        raise AssemblyError(f"{name} is the first module: the others turn about it; remove it instead")
    rest = assembly.undock(name)
    return _put_back(assembly, rest, where, name, cell, range(before + 1, 4)) or rest


def moved(assembly: A, name: str, cell: Cell) -> A:
    """With a module taken out and put into an empty cell, turned as it was if it docks there.

    >>> from modurob.assembly import Assembly
    >>> moved(Assembly.from_grid("B B S"), "m2", (0, 1)).grid()
    'S .\\nB B'
    """
    where = plane(assembly)
    if name not in where.modules:
        raise AssemblyError(f"no module {name!r:.80} in the grid")
    if name == next(iter(assembly.modules)):
        raise AssemblyError(f"{name} is the first module and stays in its cell: move the others")
    _require_empty(where, cell)
    at = where.modules[name].quarters
    found = _put_back(assembly, assembly.undock(name), where, name, cell, range(at, at + 4))
    if found is None:
        raise AssemblyError(f"cell {cell}: no neighbour has a port that looks here")
    return found


def _put_back(assembly: A, rest: A, where: Plane, name: str, cell: Cell, quarters: Sequence[int]) -> A | None:
    """With a module that was taken out in a cell, turned by the first quarter that docks."""
    for quarter in quarters:
        docked = _connections(rest, where, Placed(name, cell, quarter % 4), assembly.modules[name])
        if docked:
            return assembly._with(connections=[*rest.connections, *docked])
    return None


def _require_empty(where: Plane, cell: Cell) -> None:
    if cell in where.at:
        raise AssemblyError(f"{where.at[cell].name} stands in cell {cell}")


def _width(module: Module) -> float:
    """The width of a module: the distance of its ports from each other."""
    reach = [float(np.linalg.norm(se3.position(p.X))) for p in module.ports.values() if not p.connector.virtual]
    if not any(reach):
        raise AssemblyError(f"a {module.type.name} has no ports with faces: it has no place in a grid")
    return 2 * max(reach)


def docked(modules: Mapping[str, Module], placed: Mapping[Cell, Placed]) -> list[Connection]:
    """The connections of all neighbours, each pair once, seen from the left or from the upper one."""
    return [
        connection
        for one in placed.values()
        for side in (0, 3)
        if (two := placed.get(_beside(one.cell, side))) is not None
        for connection in _between(modules, one, two, side)
    ]


def _beside(cell: Cell, side: int) -> Cell:
    return cell[0] + STEPS[side][0], cell[1] + STEPS[side][1]


def _connections(assembly: Graph, where: Plane, new: Placed, module: Module) -> list[Connection]:
    """How a module in a cell docks to the neighbours that are there."""
    modules = {**assembly.modules, new.name: module}
    at = {c: p for c, p in where.at.items() if p.name in assembly.modules}
    found = []
    for side in range(4):
        neighbour = at.get(_beside(new.cell, side))
        if neighbour is not None:
            found += _between(modules, neighbour, new, (side + 2) % 4)
    return [c for c in found if c.a not in assembly.occupied]


def _between(modules: Mapping[str, Module], one: Placed, two: Placed, side: int) -> list[Connection]:
    """The connection of two neighbours, `two` standing at that side of `one`; none if a port is missing or does not fit."""
    a = _looking(modules[one.name], side - one.quarters)
    b = _looking(modules[two.name], side + 2 - two.quarters)
    if a is None or b is None or a.connector.misfit(b.connector, 0):
        return []
    return [Connection(PortRef(one.name, a.name), PortRef(two.name, b.name))]


def _looking(module: Module, side: int) -> Port | None:
    """The port that faces a side of the module: 0 is x, 1 is y, 2 is -x, 3 is -y."""
    towards = np.array([*STEPS[side % 4], 0.0])
    for port in module.ports.values():
        if not port.connector.virtual and np.allclose(se3.rotation(port.X)[:, 2], towards):
            return port
    return None
