"""A robot as the lines of Python that make it."""

from collections.abc import Iterator

from modurob.assembly import dumps
from modurob.robot import Assembly
from modurob.spatial.scalars import Array
from modurob.studio.design import AnyDesign, Design


def python(design: AnyDesign, q: Array) -> str:
    """Lines that make the robot, dock by dock, set it to q and show it."""
    lines = ["import modurob as mr", "", *_making(design), f"q = {[round(float(x), 9) for x in q]}", "robot.show(q)"]
    return "\n".join(lines) + "\n"


def _making(design: AnyDesign) -> Iterator[str]:
    if not isinstance(design, Design) and design.mjcf:
        yield f"robot = mr.Mechanism.from_mjcf({design.file or 'robot.xml'!r})"
        return
    if not isinstance(design, Design):
        yield f"robot = mr.Mechanism.from_urdf({design.file or 'robot.urdf'!r}, floating={design.floating})"
        return
    assembly = design.assembly
    if design.own_types or assembly.setup.lines or any(p.connector.virtual for p in _docked(assembly)):
        yield f'assembly = mr.loads("""{dumps(assembly)}""")'
        yield "robot = assembly.robot()"
        return
    yield from _docks(assembly)
    stands = f"base={design.base!r}, floating={design.floating}, gravity={tuple(design.gravity)}"
    yield f"robot = assembly.mechanism({stands})"


def _docked(assembly: Assembly):
    """The ports that hold another module."""
    return [assembly.modules[ref.module].ports[ref.port] for ref in assembly.occupied]


def _docks(assembly: Assembly) -> Iterator[str]:
    """Each module at one that is there already, then what closes loops."""
    first, *waiting = assembly.modules
    there, left = {first}, list(assembly.connections)
    yield f"assembly = mr.Assembly.single({first!r}, {assembly.modules[first].type.name!r}{_parameters(assembly, first)})"
    while waiting:
        c = next(c for c in left if (c.a.module in there) != (c.b.module in there))
        at, by = (c.a, c.b) if c.a.module in there else (c.b, c.a)
        there.add(by.module)
        waiting.remove(by.module)
        left.remove(c)
        kind = assembly.modules[by.module].type.name
        how = f'at="{at}", by={by.port!r}{_roll(c.roll)}{_parameters(assembly, by.module, "parameters=")}'
        yield f"assembly = assembly.dock({by.module!r}, {kind!r}, {how})"
    for c in left:
        yield f'assembly = assembly.connect("{c.a}", "{c.b}"{_roll(c.roll)})'


def _roll(roll: float) -> str:
    return f", roll={roll:g}" if roll else ""


def _parameters(assembly: Assembly, name: str, word: str = "") -> str:
    changed = dict(assembly.modules[name].changed)
    return f", {word}{changed!r}" if changed else ""
