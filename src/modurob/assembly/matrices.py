"""What an assembly shows of itself: matrices, lists, classes, grids and keys."""

from modurob.assembly import canonical, grid_text, matrix_text, views
from modurob.assembly.branches import Branches
from modurob.caching import cached_property
from modurob.spatial.scalars import Array


class Matrices(Branches):
    """The views that an `Assembly` offers. Rows and columns count modules and connections in their order.

    Lists walk from `base` (the first module by default), "depth" or "breadth" first.
    """

    def aim(self) -> Array:
        """Assembly Incidence Matrix (Gutenkunst 3.1): rows are modules, columns connections, entries faces; integers
        (n, connections).

        A port without a number gets the lowest free number. Rolls, types and motions are in `aim_table`.

        >>> from modurob.assembly import Assembly
        >>> Assembly.from_grid("B B").aim().tolist()
        [[2], [5]]
        """
        return views.aim(self)

    def aim_table(self, last_row: str = "dyads") -> list[list[int | str]]:
        """The AIM with module types as last column and a last row, in the form that `from_aim` reads; parameters are
        not included.

        The last row is "dyads", the dyad classes (Meister, Gutenkunst, Levi, Figure 5), or "joints", the joint types of
        Chen and Yang, where joint modules between two links are columns. An entry 4@90 includes a roll [degrees], 7X
        the motion of a virtual joint.

        >>> from modurob.assembly import Assembly
        >>> Assembly.from_grid("B S").aim_table()
        [[2, 'B'], [5, 'S'], ['DS', '']]
        >>> arm = Assembly.single("m0", "cube_link").dock("e0", "revolute_joint", "m0/1", "1")
        >>> arm.dock("m1", "cube_link", "e0/2", "6", roll=90).aim_table("joints")
        [[1, 'L'], ['6@90', 'L'], ['R', '']]
        """
        return views.aim_table(self, last_row)

    def accessibility(self, base: str | None = None, order: str = "depth") -> Array:
        """Accessibility matrix (Gutenkunst 3.2): entry (i, j) is 1 if module i carries j, directly or through others;
        integers (n, n).

        >>> from modurob.assembly import Assembly
        >>> Assembly.from_grid("B B B").accessibility().tolist()
        [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
        """
        return views.accessibility(self, base, order)

    def direct_transformations(self, base: str | None = None, order: str = "depth") -> list[views.DirectTransformation]:
        """Direct Transformation List: a row (i, j, from, to) for each connection of the tree, in traversal order.

        Module i carries module j, whose face `to` is docked to face `from`: numbers, or names of ports without one
        (Gutenkunst, Figure 3.5). Connections that close loops are not included.

        >>> from modurob.assembly import Assembly
        >>> [tuple(row) for row in Assembly.from_grid("B B B").direct_transformations()]
        [(0, 1, 2, 5), (1, 2, 2, 5)]
        """
        return views.direct_transformations(self, base, order)

    def indirect_transformations(
        self, base: str | None = None, order: str = "depth"
    ) -> list[views.IndirectTransformation]:
        """Indirect Transformation List: a row i j | i x | x j for every pair of modules on one path that are not
        neighbours.

        T_ij = T_ix T_xj with x the module that carries j; each row needs only rows above it and the DTL (Gutenkunst,
        Figure 3.5; Meister, Gutenkunst, Levi, Table III, which lacks two rows).

        >>> from modurob.assembly import Assembly
        >>> [tuple(row) for row in Assembly.from_grid("B B B").indirect_transformations()]
        [(0, 2, 0, 1, 1, 2)]
        """
        return views.indirect_transformations(self, base, order)

    def dyad_classes(self) -> list[str]:
        """For each connection the relative position of the first hinge axes of its modules, from geometry (Meister,
        Gutenkunst, Levi, Table II).

        DS collinear, DP parallel, DO orthogonal, DX otherwise; - if one of the modules has no hinge.

        >>> from modurob.assembly import Assembly
        >>> Assembly.load("crab").dyad_classes()
        ['DP', 'DS', 'DO', 'DS', 'DO']
        """
        return views.dyad_classes(self)

    def matrix_text(self, view: str = "aim", base: str | None = None, order: str = "depth") -> str:
        """A matrix or list as text: view "aim" (with types and dyad classes), "accessibility", "dtl" or "idtl".

        `from_aim` and `from_direct_transformations` read the first and third, with rolls and motions; `matrix_text.read` all four.

        >>> from modurob.assembly import Assembly
        >>> print(Assembly.from_grid("B B S").matrix_text())
         2  0 B
         5  2 B
         0  5 S
        DS DS
        >>> print(Assembly.from_grid("B B S").matrix_text("dtl"))
        0 1 2 5
        1 2 2 5
        """
        return matrix_text.written(self, view, base, order)

    def grid(self) -> str:
        """A planar robot as cells, in the form that `from_grid` reads, with its first module unrotated; if the robot is
        not planar, an error gives the reason.

        The cells contain modules, their rotations and connections, but not names, parameters and the setup.

        >>> from modurob.assembly import Assembly
        >>> print(Assembly.load("crab").grid())
        B90 . B270
        B   B B
        .   B .
        """
        return grid_text.written(self)

    @cached_property
    def key(self) -> str:
        """64 hexadecimal digits, equal for assemblies that are the same up to names and order of modules and to the setup.

        >>> from modurob.assembly import Assembly
        >>> Assembly.from_grid("B B").key == Assembly.from_aim([[5], [2]], types="backbone").key
        True
        """
        return canonical.canonical_key(self)

    def isomorphism(self, other: "Matrices") -> dict[str, str] | None:
        """A mapping from the modules of this assembly to those of `other` if both are the same robot, or None.

        >>> from modurob.assembly import Assembly
        >>> Assembly.from_grid("B S").isomorphism(Assembly.from_grid("B S").renamed({"m0": "a", "m1": "b"}))
        {'m0': 'a', 'm1': 'b'}
        """
        return canonical.isomorphism(self, other)
