"""The C code of a dyad type: one function a pass."""

from dataclasses import dataclass
from typing import Any

from modurob.kernels.dyad_type import DyadType
from modurob.kernels.local import TABLE, Local, Program, TracedPass
from modurob.trace import Graph, Node, Traced, number


@dataclass(frozen=True, eq=False)
class Code:
    """The functions of a type, the nodes its table holds, and the vectors it keeps."""

    functions: list[str]  # names, one a pass
    graph: Graph
    table: list[int]
    fields: int

    def notes(self) -> dict[str, Any]:
        """Itself as JSON has it, with those nodes alone that the table is made of."""
        needed = self.graph.needed(Traced(self.graph, i) for i in self.table)
        place = {i: k for k, i in enumerate(needed)}
        nodes = [(op, [place[a] for a in args], value) for op, args, value in (self.graph.nodes[i] for i in needed)]
        table = [place[i] for i in self.table]
        return {"functions": self.functions, "nodes": nodes, "table": table, "fields": self.fields}

    @classmethod
    def from_notes(cls, notes: dict[str, Any]) -> "Code":
        """The other way."""
        nodes = [Node(op, tuple(args), value) for op, args, value in notes["nodes"]]
        return cls(notes["functions"], Graph(nodes), notes["table"], notes["fields"])


def emitted(kind: DyadType, program: Program, name: str) -> tuple[str, Code]:
    """Trace the program at this type and write it down: C text, and what must be known of it."""
    local = Local(kind, program)
    writer = _Writer(local, program)
    functions = [f"{name}_{i}" for i in range(len(local.passes))]
    bodies = [writer.function(f, traced) for f, traced in zip(functions, local.passes, strict=True)]
    return "\n".join(bodies), Code(functions, local.graph, writer.table, local.size)


class _Writer:
    def __init__(self, local: Local, program: Program):
        self.graph, self.program, self._sibling = local.graph, program, local.kind.adds
        self.table: list[int] = []

    def _is_settled(self, i: int) -> bool:
        return self.graph.depends_only_on(i, TABLE)

    def function(self, name: str, traced: TracedPass) -> str:
        stores, self._adds = traced.stores, traced.way == "inward" and self._sibling
        lines = [f"void {name}(const joint_view *j)", "{"]
        done: dict[int, str] = {}
        self._waves: set[int] = set()
        for i in self._order(stores):
            done[i] = f"n{i}"
            lines += self._statement(i, done)
            lines += [self._store(where, x, done) for where, x in stores if isinstance(x, Traced) and x.index == i]
        lines += [
            self._store(where, x, done) for where, x in stores if not isinstance(x, Traced) or x.index not in done
        ]
        return "\n".join([*lines, "}", ""])

    def _store(self, where: str, x: Any, done: dict[int, str]) -> str:
        array, index = where.rstrip("]").split("[")
        place = f"j->{'out' if array == self.program.output else array}[{index}]"
        return f"    {place} {'+=' if array == 'sent' and self._adds else '='} {self._vector(x, done)};"

    def _order(self, stores: list[tuple[str, Any]]) -> list[int]:
        """The nodes to compute, each as late as the results need it: fewer values are alive at a time."""
        order: list[int] = []
        seen: set[int] = set()
        stack = [x.index for _, x in reversed(stores) if isinstance(x, Traced)]
        while stack:
            i = stack.pop()
            if i in seen or self._is_settled(i):
                continue
            waiting = [a for a in self.graph.nodes[i].args if a not in seen and not self._is_settled(a)]
            if waiting:
                stack += [i, *reversed(waiting)]
            else:
                seen.add(i)
                order.append(i)
        return order

    def _statement(self, i: int, done: dict[int, str]) -> list[str]:
        op, args, value = self.graph.nodes[i]
        operands = [self._operand(a, done) for a in args]
        match op:
            case "input":
                return [f"    const vec n{i} = {self._source(value)};"]
            case "+" | "-" | "*":
                return [f"    const vec n{i} = {operands[0]} {op} {operands[1]};"]
            case "negate":
                return [f"    const vec n{i} = -{operands[0]};"]
            case "reciprocal":
                return [f"    const vec n{i} = (real)1 / {operands[0]};"]
            case "sqrt":
                return [f"    const vec n{i} = square_root({operands[0]});"]
        return self._wave(i, op, operands[0], args[0])

    def _wave(self, i: int, op: str, angle: str, argument: int) -> list[str]:
        """Sine and cosine of one angle are computed together; the second of the two finds them there."""
        name = f"wave{argument}"
        pick = f"    const vec n{i} = {name}_{op};"
        if argument in self._waves:
            return [pick]
        self._waves.add(argument)
        return [f"    vec {name}_sin, {name}_cos;", f"    sine_cosine({angle}, &{name}_sin, &{name}_cos);", pick]

    def _operand(self, i: int, done: dict[int, str]) -> str:
        if i in done:
            return done[i]
        value = self.graph.number(i)
        if value is not None:
            return f"(real){number(value)}" if value >= 0 else f"((real){number(value)})"
        return self._constant(i)

    def _constant(self, i: int) -> str:
        """A value that only the table knows; a sign stays in the code."""
        node = self.graph.nodes[i]
        if node.op == "negate":
            return f"(-{self._constant(node.args[0])})"
        if i not in self.table:
            self.table.append(i)
        return f"j->table[{self.table.index(i)}]"

    def _vector(self, x: Any, done: dict[int, str]) -> str:
        """A value to store; plain numbers are spread over the lanes."""
        if isinstance(x, Traced) and x.index in done:
            return done[x.index]
        text = self._operand(x.index, done) if isinstance(x, Traced) else f"(real){number(float(x))}"
        return f"((vec){{0}} + {text})"

    def _source(self, name: str) -> str:
        array, index = name.rstrip("]").split("[")
        return f"j->{'u' if array in self.program.inputs[2:] else array}[{index}]"
