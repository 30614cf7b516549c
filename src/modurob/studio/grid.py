"""Planar robots in cells: where each module stands, and how a click in a cell changes the robot.

A cell is (column, row), the first module in (0, 0), columns along its x axis and rows along its y axis. Neighbours dock wherever
both have a port that looks at the other, as in `Assembly.from_grid`.
"""

from typing import NamedTuple

import numpy as np

from modurob.assembly import Assembly, Connection, PortRef
from modurob.catalogue import Module, ModuleType, Port, module_type
from modurob.errors import StudioError
from modurob.spatial import se3

Cell = tuple[int, int]
# from a cell to its neighbours, and a quarter turn about z as (cosine, sine)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
# modules this far from the middle of their cell, as part of its width, are not in the grid
LOOSE = 1e-3


class Placed(NamedTuple):
    """A module in a cell, turned by so many quarters."""

    name: str
    cell: Cell
    quarters: int


class Plane(NamedTuple):
    """All modules in cells of one width [m], the first in (0, 0)."""

    width: float
    modules: dict[str, Placed]

    @property
    def at(self) -> dict[Cell, Placed]:
        """What stands in each cell."""
        return {p.cell: p for p in self.modules.values()}


def plane(assembly: Assembly) -> Plane:
    """The cells of a planar robot, or an error that says which module is not in the plane."""
    first = next(iter(assembly.modules.values()))
    width = _width(first)
    placed = {}
    for name, X in assembly.placements.items():
        cell, turn = se3.position(X)[:2] / width, se3.rotation(X)
        column, row = (round(float(x)) for x in cell)
        off = max(np.abs(cell - (column, row)).max(), abs(X[2, 3]) / width, np.abs(turn - np.round(turn)).max())
        if off > LOOSE or turn[2, 2] < 0.5:
            raise StudioError(f"{name} does not stand in a cell of the plane: this robot has no grid")
        placed[name] = Placed(name, (column, row), STEPS.index((round(turn[0, 0]), round(turn[1, 0]))))
    return Plane(width, placed)


def placed(assembly: Assembly, name: str, kind: str | ModuleType, cell: Cell) -> Assembly:
    """With a new module in an empty cell, docked to its neighbours; turned as little as it takes to dock."""
    where = plane(assembly)
    _require_empty(where, cell)
    module = module_type(kind).module()
    if abs(_width(module) - where.width) > LOOSE * where.width:
        raise StudioError(
            f"a {module.type.name} is {_width(module):.3g} m wide, the cells are {where.width:.3g} m: it does not fit"
        )
    for quarters in range(4):
        docked = _connections(assembly, where, name, module, cell, quarters)
        if docked:
            return Assembly({**assembly.modules, name: module}, [*assembly.connections, *docked], assembly.name)
    raise StudioError(f"cell {cell}: no neighbour has a port that looks here; add modules beside those that are there")


def turned(assembly: Assembly, cell: Cell) -> Assembly:
    """With the module in a cell turned by a quarter, or by the next that docks; removed after the last."""
    where = plane(assembly)
    if cell not in where.at:
        raise StudioError(f"cell {cell} is empty")
    name, _, before = where.at[cell]
    if name == next(iter(assembly.modules)):
        raise StudioError(f"{name} is the first module: the others turn about it; remove it in the 3D view")
    rest = assembly.undock(name)
    for quarters in range(before + 1, 4):
        docked = _connections(rest, where, name, assembly.modules[name], cell, quarters)
        if docked:
            return Assembly(assembly.modules, [*rest.connections, *docked], assembly.name)
    return rest


def moved(assembly: Assembly, name: str, cell: Cell) -> Assembly:
    """With a module taken out and put into an empty cell, turned as it was if it docks there."""
    where = plane(assembly)
    if name not in where.modules:
        raise StudioError(f"no module {name!r} in the grid")
    if name == next(iter(assembly.modules)):
        raise StudioError(f"{name} is the first module and stays in its cell: move the others")
    _require_empty(where, cell)
    rest = assembly.undock(name)
    at = where.modules[name].quarters
    for quarters in range(at, at + 4):
        docked = _connections(rest, where, name, assembly.modules[name], cell, quarters % 4)
        if docked:
            return Assembly(assembly.modules, [*rest.connections, *docked], assembly.name)
    raise StudioError(f"cell {cell}: no neighbour has a port that looks here")


def _require_empty(where: Plane, cell: Cell) -> None:
    if cell in where.at:
        raise StudioError(f"{where.at[cell].name} stands in cell {cell}")


def _width(module: Module) -> float:
    """The width of a module: the distance of its ports from each other."""
    reach = [float(np.linalg.norm(se3.position(p.X))) for p in module.ports.values() if not p.connector.virtual]
    if not reach:
        raise StudioError(f"a {module.type.name} has no ports with faces: it has no place in a grid")
    return 2 * max(reach)


def _connections(
    assembly: Assembly, where: Plane, name: str, module: Module, cell: Cell, quarters: int
) -> list[Connection]:
    """How a module in a cell docks to the neighbours that are there."""
    found = []
    at = {c: p for c, p in where.at.items() if p.name in assembly.modules}
    for side, (dx, dy) in enumerate(STEPS):
        neighbour = at.get((cell[0] + dx, cell[1] + dy))
        if neighbour is None:
            continue
        own = _looking(module, side - quarters)
        other = _looking(assembly.modules[neighbour.name], side + 2 - neighbour.quarters)
        taken = other is not None and PortRef(neighbour.name, other.name) in assembly.occupied
        if own and other and not taken and not own.connector.misfit(other.connector, 0):
            found.append(Connection(PortRef(neighbour.name, other.name), PortRef(name, own.name)))
    return found


def _looking(module: Module, side: int) -> Port | None:
    """The port that looks to a side of the module: 0 is x, 1 is y, 2 is -x, 3 is -y."""
    towards = np.array([*STEPS[side % 4], 0.0])
    for port in module.ports.values():
        if not port.connector.virtual and np.allclose(se3.rotation(port.X)[:, 2], towards):
            return port
    return None
