"""Which modules are docked where: an immutable graph."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from modurob import tabular
from modurob.assembly import files, matrix_text
from modurob.assembly.graph import new_name
from modurob.assembly.grid_text import read as read_cells
from modurob.assembly.incidence import read_matrix
from modurob.assembly.incidence_modules import Parameters, Types, contents, require_classes
from modurob.assembly.links import LinkTypes
from modurob.assembly.links import contents as contents_of_links
from modurob.assembly.matrices import Matrices
from modurob.assembly.setup import GRAVITY
from modurob.catalogue import ModuleType, module_type
from modurob.catalogue.expression import Scalar
from modurob.errors import explained


class Assembly(Matrices):
    """Modules by name, the connections between their ports, and the setup, in a fixed order. A value.

    Every change returns a new assembly of the same class. Assemblies are equal if modules (names, types, parameters,
    order), connections and setup are equal; `name` and `description` are labels. Equal assemblies have equal hashes;
    copies, pickles and threads are safe.

    >>> crab = Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="4")
    >>> crab
    Assembly('robot', 2 backbone, 1 connection)
    >>> crab == Assembly.from_aim([[3], [4]], types="backbone")
    True
    """

    def __repr__(self) -> str:
        kinds = Counter(m.type.name for m in self.modules.values())
        counted = [f"{n} {kind}" for kind, n in kinds.items()]
        words = [f"{type(self).__name__}({self.name!r}", *counted]
        words.append(f"{len(self.connections)} connection" + "s" * (len(self.connections) != 1))
        words += [f"base {self.base!r}"] * (self.setup.base is not None) + ["floating"] * self.setup.floating
        words += [f"gravity ({', '.join(f'{x:g}' for x in self.setup.gravity)})"] * (self.setup.gravity != GRAVITY)
        return ", ".join(words) + ")"

    def _repr_html_(self) -> str:
        """Modules and connections as a table, for notebooks."""
        docked: dict[str, list[str]] = {name: [] for name in self.modules}
        for c in self.connections:
            roll = f" @ {c.roll:g}°" if c.roll else ""
            docked[c.a.module].append(f"{c.a.port} – {c.b}{roll}")
            docked[c.b.module].append(f"{c.b.port} – {c.a}{roll}")
        rows = [
            (name, repr(module).removeprefix("Module(").removesuffix(")").replace("'", ""), ", ".join(docked[name]))
            for name, module in self.modules.items()
        ]
        return tabular.html(repr(self), ("module", "type", "port – docked to"), rows)

    def _repr_latex_(self) -> str:
        """The Assembly Incidence Matrix with module names and types, for notebooks on paper."""
        names, table = [*self.modules, "dyads"], self.aim_table()
        head = ("", *(f"e{k}" for k in range(len(self.connections))), "type")
        return f"${tabular.latex(head, ((name, *row) for name, row in zip(names, table, strict=True)))}$"

    # ---- making ----

    @classmethod
    @explained
    def single(cls, name: str, kind: str | ModuleType, parameters: Mapping[str, Scalar] | None = None) -> Self:
        """An assembly of one module, to which others can be docked.

        >>> Assembly.single("m0", "scout", {"mass": 0.8}).modules["m0"]
        Module('scout', mass=0.8)
        """
        return cls({new_name(name, ()): module_type(kind).module(parameters)})

    @classmethod
    @explained
    def from_aim(
        cls,
        matrix: Any,
        types: Types = None,
        parameters: Parameters = None,
        name: str = "robot",
    ) -> Self:
        """The assembly of an Assembly Incidence Matrix, given as rows of entries or text: rows are modules m0, m1, ...,
        columns connections, entries faces.

        `types` is one module type, one for each row, or a mapping from the letters that the matrix uses; `parameters`
        are common to all rows, or one set for each. A last column gives types by letter or name. A last row gives dyad
        classes (Meister, Gutenkunst, Levi, Figure 5), which must agree with the geometry, or joint types (Chen and
        Yang): those of the modules' own joints, or of joint modules e0, e1, ... between links. If a single type is
        given, a module docked by 7 alone is a virtual joint. Entries may include a roll, 3@90, or the motion of a
        virtual joint, 7X; docs/conventions.md defines the notation.

        >>> Assembly.from_aim([[3, 0], [4, 2], [0, 5]], types="backbone")
        Assembly('robot', 3 backbone, 2 connections)
        >>> list(Assembly.from_aim("1 L; 6 L; R", name="arm").modules)
        ['m0', 'm1', 'e0']
        """
        rows = matrix_text.padded(matrix_text.table(matrix)) if isinstance(matrix, str) else matrix
        matrix = read_matrix(rows)
        found = contents(matrix, types, parameters)
        assembly = cls(found.modules, found.connections, name)
        if matrix.last is not None:
            classes = dict(zip(assembly.connections, assembly.dyad_classes(), strict=True))
            require_classes(matrix.last, found.columns, classes)
        return assembly

    @classmethod
    @explained
    def from_direct_transformations(
        cls,
        rows: Any,
        types: Types = None,
        parameters: Parameters = None,
        name: str = "robot",
    ) -> Self:
        """The assembly of a Direct Transformation List, given as rows or text: module, module, face, face. `types` and
        `parameters` are as in `from_aim`.

        >>> Assembly.from_direct_transformations("0 1 3 4; 1 2 2 5@90", types="backbone").connections[1].roll
        90.0
        """
        matrix = matrix_text.incidence_of_rows(matrix_text.table(rows) if isinstance(rows, str) else rows)
        found = contents(matrix, types, parameters)
        return cls(found.modules, found.connections, name)

    @classmethod
    @explained
    def from_grid(
        cls,
        cells: str | Sequence[Sequence[str | None]],
        parameters: Mapping[str, Scalar] | None = None,
        name: str = "robot",
    ) -> Self:
        """The assembly of cells in a plane, given as text or rows: B is a Backbone, S90 a Scout turned by 90 degrees, a
        dot an empty cell.

        The first row has the largest y. Neighbours dock if both have a port that faces the other. Modules are numbered
        row by row: m0, m1, ...

        >>> print(*Assembly.from_grid("B S90").connections)
        m0/2 - m1/3
        """
        return cls(*read_cells(cells, parameters), name)

    @classmethod
    @explained
    def from_links(cls, links: Iterable[str], types: LinkTypes | None = None, name: str = "arm") -> Self:
        """The arm of a list of link types, given as text or words, from its pedestal outwards: A, B, C, ..., then
        endeffector, then none.

        `types` are modules by link type, with the ports in and out; by default A, B, C, D are the links of the LWA 4P,
        and A, B, C in this order are that arm. At most six; a gap, a missing end effector or a link after it is
        refused.

        >>> Assembly.from_links("B, B, C, endeffector, none, none")
        Assembly('arm', 2 straight_link, 3 powerball, 2 elbow_link, 6 connections)
        """
        return cls(*contents_of_links(links, types), name)

    # ---- files ----

    @classmethod
    @explained
    def load(cls, path: str | Path) -> Self:
        """The assembly in a robot file (YAML), or one of the package by its name; `shipped_robots` lists them.

        >>> Assembly.load("crane")
        Assembly('crane', 1 virtual, 2 backbone, 2 connections, gravity (0, 9.81, 0))
        """
        return files.load(cls, path)

    @classmethod
    @explained
    def loads(cls, text: str, where: str = "text", folder: Path | None = None) -> Self:
        """The assembly in the text of a robot file. `where` names the text in errors.

        Module type files that the text refers to are read below `folder` only, and not at all without one.

        >>> Assembly.loads("{format: modurob robot 2, modules: {m0: backbone}, floating: true}")
        Assembly('robot', 1 backbone, 0 connections, floating)
        """
        return files.loads(cls, text, where, folder)
