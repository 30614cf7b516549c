"""Trees of modules: their number by Burnside's lemma, by listing them, by another listing, and as others published it."""

import numpy as np
import pytest
import yaml

import modurob as mr
from modurob.catalogue import library
from modurob.errors import InputError
from modurob.search import assemblies
from modurob.search.enumeration import Branch, Forest
from modurob.search.kinds import Kinds
from modurob.search.symmetries import symmetries
from tests.sampling import sampled
from tests.search.shapes import MODULES, backbones, cube

# fixed tree-like polycubes of 1, 2, ... cells (OEIS A118356), and bond trees on the square lattice with 1, 2, ... sites (A308409)
TREE_LIKE_POLYCUBES = [1, 3, 15, 83, 486, 2967, 18748]
BOND_TREES = [1, 2, 6, 22, 87, 364, 1574]


def lattice_trees(most):
    """How many trees of edges there are on the cubic lattice, up to shifts, with 1, 2, ... sites: grown edge by edge."""
    steps = [tuple(s * (k == axis) for k in range(3)) for axis in range(3) for s in (1, -1)]
    found, counts = {(frozenset([(0, 0, 0)]), frozenset())}, [1]
    for _ in range(most - 1):
        grown = set()
        for sites, edges in found:
            for a in sites:
                for step in steps:
                    b = tuple(x + d for x, d in zip(a, step, strict=True))
                    if b not in sites:
                        more, whole = sites | {b}, edges | {frozenset((a, b))}
                        low = tuple(min(x) for x in zip(*more, strict=True))
                        shifted = {p: tuple(x - y for x, y in zip(p, low, strict=True)) for p in more}
                        moved = frozenset(frozenset(shifted[p] for p in edge) for edge in whole)
                        grown.add((frozenset(shifted.values()), moved))
        found = grown
        counts.append(len(found))
    return counts


def forest(types, n, rolls=None, clash=True) -> Forest:
    return Forest(Kinds(types, n, rolls), clash)


def itself(f: Forest, tree) -> int:
    """In how many ways a tree comes to lie on itself."""
    group, p = f.kinds[tree.kind].symmetries, tree.halved
    if p is None:
        return sum(f._moved(tree.children, g) == tree.children for g in group)
    half = f.branches[tree.children[p]]
    assert half is not None
    back = f.number(Branch(tree.kind, p, half.roll, (*tree.children[:p], 0, *tree.children[p + 1 :])))
    seen = (*half.children[: half.by], back, *half.children[half.by + 1 :])
    ways = sum((f._moved(tree.children, g), g.to[p]) == (tree.children, p) for g in group)
    return ways * (1 + ((half.kind, *f._least_marked(half.kind, seen, half.by)) == (tree.kind, tree.children, p)))


def contacts(f: Forest, tree) -> int:
    """Pairs of cubes with a common face."""
    P = f.laid(tree.kind, tree.children)[1][:, :3, 3]
    return (int((np.linalg.norm(P[:, None] - P[None], axis=-1) < 0.101).sum()) - len(P)) // 2


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        ("backbone", 2),
        ("scout", 2),
        ("cube_link", 24),
        ("revolute_joint", 4),
        ("prismatic_joint", 4),
        ("elbow_link", 1),
    ],
)
def test_ways_a_module_is_itself_again(kind: str, n: int):
    assert len(symmetries(mr.module_type(kind).module())) == n


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("lower_stop: {value: -pi / 2", "lower_stop: {value: -pi / 3"),
        ("inertia: [Ixx, Iyy, Izz]", "inertia: [Ixx, 0.0001, Iyy, 0, 0, Izz]"),
        ("at: [0, 0.3 * length, 0]", "at: [0.01, 0.3 * length, 0]"),
        ('"5": {part: A, at: [-length / 2, 0, 0]', '"5": {part: A, at: [-length / 3, 0, 0]'),
    ],
)
def test_what_gives_a_backbone_a_side(was: str, now: str):
    text = (MODULES / "backbone.yaml").read_text()
    assert was in text
    kind = library.from_data(yaml.safe_load(text.replace(was, now)), "sided")
    assert len(symmetries(kind.module())) == 1


@pytest.mark.parametrize(
    ("types", "rolls", "most"),
    [
        ("backbone", None, 4),
        ("backbone", (0,), 5),
        ("backbone", (0, 180), 5),
        (["cube_link", "revolute_joint"], None, 5),
        (["backbone", "scout"], None, 3),
        (cube(), None, 6),
    ],
)
def test_numbers_by_burnside_are_those_of_a_list(types, rolls, most: int):
    for n in range(1, most + 1):
        trees = list(forest(types, n, rolls, clash=False).trees())
        assert len(set(trees)) == len(trees) == mr.number_of_assemblies(types, n, rolls)


def test_each_tree_of_labelled_backbones_is_counted():
    """Sum of 1 / |Aut| times n! 2^n: n modules with names have 4^n (3n)! / (2n + 2)! 4^(n - 1) trees of ports and rolls."""
    from math import factorial as f

    for n in range(2, 5):
        own = forest("backbone", n, clash=False)
        classes = sum(1 / itself(own, tree) for tree in own.trees())
        assert classes * f(n) * 2**n == pytest.approx(4**n * f(3 * n) / f(2 * n + 2) * 4 ** (n - 1), rel=1e-12)


def series(f, most):
    """The series y with y = f(y), where f takes a series to one that is right by one more term, (most + 1,)."""
    y = np.zeros(most + 1, dtype=object)
    for _ in range(most + 1):
        y = f(y)
    return y


def test_backbones_by_generating_functions():
    """Otter's way: trees are those seen from a module, less those seen from a connection, plus those that a half turn of a
    connection takes to themselves.

    A Backbone is the same after half a turn, which exchanges faces 2 and 5 and turns what is docked on 3 and 4 by half a turn. B
    counts what can hang on a face (16 ways to dock, in pairs that are the same), F what is the same after half a turn.
    """
    most = 7
    x = np.eye(most + 1, dtype=object)[1]

    def times(*factors):
        total = np.eye(most + 1, dtype=object)[0]
        for factor in factors:
            total = np.convolve(total, factor)[: most + 1]
        return total

    def more(y):
        return y + np.eye(most + 1, dtype=object)[0]

    B = series(lambda B: 8 * times(x, *[more(B)] * 3), most)
    pairs = np.array([B[n // 2] if n % 2 == 0 else 0 for n in range(most + 1)], dtype=object)  # B(x²)
    F = series(lambda F: 4 * times(x, more(pairs), more(F)), most)
    seen = times(x, *[more(B)] * 4) + times(x, more(pairs), more(F), more(F))
    docked = times(x, x, 16 * times(*[more(B)] * 6) + 4 * times(more(pairs), more(pairs), more(F), more(F)))
    turned = 8 * times(x, x, *[more(pairs)] * 3)
    trees = (seen - docked + turned) // 2
    assert trees[1:].tolist() == [mr.number_of_assemblies("backbone", n) for n in range(1, most + 1)]


@pytest.mark.parametrize(("n", "rolls"), sampled([(1, None), (2, None), (3, None), (4, (0, 180))], 3))
def test_backbones_by_another_list(n: int, rolls):
    quarters = range(4) if rolls is None else [r // 90 for r in rolls]
    assert sum(1 for _ in forest("backbone", n, rolls).trees()) == backbones(n, quarters)


@pytest.mark.judge
@pytest.mark.parametrize(("n", "rolls"), [(4, None), (5, (0, 180)), (6, (0, 180))])
def test_more_backbones_by_another_list(n: int, rolls):
    quarters = range(4) if rolls is None else [r // 90 for r in rolls]
    assert sum(1 for _ in forest("backbone", n, rolls).trees()) == backbones(n, quarters)


@pytest.mark.parametrize("most", sampled((6, 7), 1))
def test_cubes_are_the_trees_on_the_cubic_lattice(most):
    """A tree with k symmetries lies in 24 / k ways on the lattice; those that touch where they are docked alone are
    tree-like polycubes."""
    trees = lattice_trees(6)
    for n in range(1, most + 1):
        f = forest(cube(), n)
        ways = [(24 // itself(f, t), contacts(f, t) == n - 1) for t in f.trees()]
        assert n == 7 or sum(w for w, _ in ways) == trees[n - 1]
        assert sum(w for w, lonely in ways if lonely) == TREE_LIKE_POLYCUBES[n - 1]


def test_flat_cubes_are_the_trees_on_the_square_lattice():
    for n in range(1, 8):
        f = forest(cube("2345"), n, (0, 180))
        assert sum(8 // itself(f, t) for t in f.trees()) == BOND_TREES[n - 1]


def test_assemblies_differ_and_dock():
    found = list(assemblies("backbone", 3))
    assert len({a.key for a in found}) == len(found) == 204
    assert all(len(a) == 3 for a in found)


def test_numbers_by_type():
    found = list(assemblies({"backbone": 2, "scout": 1}, rolls=[0]))
    assert {tuple(sorted(m.type.name for m in a.modules.values())) for a in found} == {
        ("backbone", "backbone", "scout")
    }
    both = list(assemblies(["backbone", "scout"], 3, rolls=[0]))
    assert len(found) == sum(sorted(m.type.name for m in a.modules.values())[1:] == ["backbone", "scout"] for a in both)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((3, 3), "expected a module type, a list of them, or numbers by module type"),
        (([], 3), "no module types"),
        (({"backbone": 0},), "0 modules of type 'backbone': expected a number of at least 1"),
        (({"backbone": 2}, 3), "3 modules of a list of 2"),
        (("backbone", 0), "0 modules: expected a whole number from 1 to 64"),
        (("backbone", 2, ["a"]), "expected a list of degrees"),
        (("backbon", 2), "backbone"),
    ],
)
def test_what_cannot_be_listed(given, words: str):
    with pytest.raises(mr.ModurobError, match=words):
        assemblies(*given)


def test_numbers_by_type_are_not_counted():
    with pytest.raises(InputError, match="numbers by type: expected a module type or a list"):
        mr.number_of_assemblies({"backbone": 2}, 2)
