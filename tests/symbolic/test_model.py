"""Tables of exact numbers: recovered from floats where these stand for decimals, symbols where they do not."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.assembly import shipped_robots
from modurob.catalogue import module_type, names
from modurob.errors import InputError, NotExactError
from modurob.spatial import angles, inertia, se3
from modurob.symbolic import Equations, size
from tests.sampling import sampled
from tests.symbolic.robots import lwa_4p

SEEDS = range(6)


def decimal(rng, digits, low=-1.0, high=1.0):
    """A decimal with so many digits after the point."""
    return Fraction(int(rng.integers(int(low * 10**digits), int(high * 10**digits) + 1)), 10**digits)


def link(rng, digits=6):
    """Mass, centre and tensor of a link as a URDF file gives them, in fractions."""
    mass = decimal(rng, digits, 0.1, 20)
    centre = [decimal(rng, digits) for _ in range(3)]
    moments = [1 + decimal(rng, digits, 0, 1) for _ in range(3)]
    xy, xz, yz = (decimal(rng, digits, -0.1, 0.1) for _ in range(3))
    xx, yy, zz = moments
    return mass, centre, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def spatial(mass, centre, tensor):
    """The same in floats, shifted to the link's frame as the reader of URDF files does it."""
    at_centre = inertia.spatial_inertia(float(mass), np.zeros(3), np.array(tensor, dtype=float))
    return inertia.moved(at_centre, se3.pose(None, np.array([float(x) for x in centre])))


def single(I, at=se3.IDENTITY):
    builder = mr.Builder("single")
    builder.body("link", I, joint=mr.Revolute((0, 0, 1)), at=at)
    return builder.build()


def exactly(mass, centre, tensor):
    """Spatial inertia in fractions."""
    c = np.array(centre, dtype=object)
    shift = mass * (
        np.array([[c @ c if i == j else 0 for j in range(3)] for i in range(3)], dtype=object) - np.outer(c, c)
    )
    return np.array(tensor, dtype=object) + shift, mass * c


@pytest.mark.parametrize("digits", [1, 3, 4, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_decimal_inertias_of_a_file_are_recovered_exactly(seed, digits):
    """About the frame's origin they have up to 18 digits, more than a float; about the centre they are short."""
    given = link(np.random.default_rng(seed), digits)
    eq = single(spatial(*given)).equations()
    assert eq.parameters == []
    tensor, moment = exactly(*given)
    I = eq.tables.inertia[1]
    assert I[0, 0] == given[0]
    assert all(I[3 + i, 3 + j] == tensor[i, j] for i in range(3) for j in range(3))
    assert [I[5, 1], I[3, 2], I[4, 0]] == list(moment)


@pytest.mark.parametrize("seed", SEEDS)
def test_inertias_of_welded_links_keep_what_is_known(seed):
    """Sums of products are recovered while they fit a float; what does not fit is a symbol with the float as its number."""
    rng = np.random.default_rng(seed)
    for digits, exact in ((2, True), (6, False)):
        first, second = link(rng, digits), link(rng, digits)
        robot = single(spatial(*first) + spatial(*second))
        eq = robot.equations()
        assert bool(eq.parameters) != exact
        assert eq.tables.inertia[1][0, 0] == first[0] + second[0]
        np.testing.assert_allclose(eq.function([0.3], [0.1])[0], robot.mass_matrix([0.3]), rtol=1e-15)
        if exact:
            tensor = exactly(*first)[0] + exactly(*second)[0]
            assert eq.tables.inertia[1][3, 3] == tensor[0, 0]


@pytest.mark.parametrize("name", names())
def test_every_shipped_module_type_is_exact(name):
    """Its masses, moments and ports are the numbers that exact arithmetic on the file's decimals gives."""
    module = module_type(name).module()
    numbers = {p: sympy.Rational(repr(x)) for p, x in module.parameters.items() if isinstance(x, float)}
    given = {
        p: x for p, x in numbers.items() if isinstance(module_type(name).specification.parameters[p].value, int | float)
    }
    exact_module = module_type(name).module({p: x for p, x in given.items() if p not in ("ax", "ay", "az")})
    for part in module.parts:
        float_tables = single(module.parts[part].inertia).equations().tables
        exact_tables = single(np.array(exact_module.parts[part].inertia, dtype=object)).equations().tables
        same = [
            a.expression() == b.expression()
            for a, b in zip(float_tables.inertia[1].flat, exact_tables.inertia[1].flat, strict=True)
        ]
        assert all(same), part


@pytest.mark.parametrize("name", shipped_robots())
def test_every_shipped_robot_has_exact_equations(name):
    assert mr.load(name).mechanism().equations().parameters == []


def placed(rng, turn, digits=3):
    """Two links, the second placed by decimals and turned."""
    builder, parent = mr.Builder("placed"), "world"
    for i in range(2):
        shift = [float(decimal(rng, digits)) for _ in range(3)]
        builder.body(
            f"b{i}",
            spatial(*link(rng, 3)),
            parent=parent,
            joint=mr.Revolute((0, 0, 1)),
            at=se3.pose(turn, np.array(shift)),
        )
        parent = f"b{i}"
    return builder.build()


@pytest.mark.parametrize("seed", SEEDS)
def test_placements_by_decimals_and_exact_turns_are_exact(seed):
    """Turns by multiples of 30 and 45 degrees about all three axes, as roll, pitch and yaw."""
    rng = np.random.default_rng(seed)
    rpy = rng.choice([0, 30, 45, 60, 90, 135, 180, -90, -45], size=3)
    robot = placed(rng, angles.fixed("xyz", np.deg2rad(rpy)))
    eq = robot.equations()
    assert eq.parameters == []
    R = eq.tables.X_PJ[1][:3, :3]
    assert np.array_equal(R @ R.T, np.eye(3))
    q, v = rng.normal(size=(2, 2))
    np.testing.assert_allclose(eq.function(q, v)[0], robot.mass_matrix(q), rtol=1e-13)


@pytest.mark.parametrize("seed", sampled(SEEDS, 3))
def test_other_turns_are_fixed_angles(seed):
    """cos(0.3) is no fraction: the angle becomes a symbol, and the equations stay exact."""
    rng = np.random.default_rng(seed)
    rpy = rng.uniform(0.1, 0.4, size=3).round(2)
    robot = placed(rng, angles.fixed("xyz", rpy))
    eq = robot.equations("gravity")
    assert sorted(set(rpy)) == sorted(round(x, 9) for p, x in eq.values.items() if str(p).startswith("alpha"))
    assert all(line.equal for line in eq.proof())
    q, v = rng.normal(size=(2, 2))
    for found, expected in zip(
        eq.function(q, v), (robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity_forces(q)), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(robot.mass_matrix(q)).max())
    assert r"\cos\left(\alpha_{1}\right)" in eq.latex()


def test_half_pi_with_eleven_digits_is_a_quarter_turn():
    """As most URDF files write it; with five digits it is another robot, and refused by name."""
    rng = np.random.default_rng(0)
    robot = placed(rng, angles.fixed("xyz", (1.57079632679, 0, -1.57079632679)))
    eq = robot.equations()
    assert eq.parameters == []
    np.testing.assert_allclose(eq.function([0.3, 0.4], [0, 0])[0], robot.mass_matrix([0.3, 0.4]), rtol=1e-10)
    rough = placed(rng, angles.fixed("xyz", (1.5708, 0, 0)))
    with pytest.raises(
        NotExactError, match=r"placement of joint 'b0' is turned by 1\.5708 rad about x.*off 90 degrees.*digits=5"
    ):
        rough.equations()
    eq = rough.equations(digits=5)
    assert eq.parameters == []
    np.testing.assert_allclose(eq.function([0.3, 0.4], [0, 0])[0], rough.mass_matrix([0.3, 0.4]), rtol=1e-4)


def test_numbers_that_are_not_exact_become_symbols():
    rng = np.random.default_rng(1)
    builder = mr.Builder("odd", gravity=(0.1 * np.pi, 0, -9.81))
    spatial_inertia = inertia.spatial_inertia(3 * np.cos(1.0), rng.normal(size=3), np.diag(1 + 0.2 * rng.random(3)))
    builder.body(
        "a",
        spatial_inertia,
        joint=mr.Revolute((0.1, 0.2, -0.3)),
        at=se3.pose(None, rng.normal(size=3)),
        properties=mr.JointProperties(armature=np.e / 10, damping=np.pi / 7),
    )
    robot = builder.build()
    eq = robot.equations()
    assert {"Ixx1", "J1", "d1", "gx", "l1", "m1", "x1"} <= {str(p) for p in eq.parameters}
    assert eq.values[sympy.Symbol("d1")] == np.pi / 7
    np.testing.assert_allclose(eq.function([0.3], [0.1])[0], robot.mass_matrix([0.3]), rtol=1e-14)
    np.testing.assert_allclose(eq.function([0.3], [0.1])[2], robot.gravity_forces([0.3]), rtol=1e-13)


def test_symbols_of_the_robot_are_not_taken_for_others():
    """A robot that came with a symbol m1 keeps it; the mass of its body 1 gets another name."""
    m1 = sympy.Symbol("m1")
    assembly = mr.Assembly.single("m0", "backbone").dock("a", "backbone", at="m0/3", by="4", parameters={"Ixx": m1})
    eq = assembly.mechanism().equations(("armatures", "gravity"))
    assert eq.parameters == [sympy.Symbol("g"), m1]
    builder = mr.Builder("two")
    first, second = inertia.point(2.0, (0, 1, 0)), np.array(inertia.point(2.0, (0, 1, 0)), dtype=object)
    second[3, 3] = sympy.Symbol("m1") ** 2
    builder.body("a", first, joint=mr.Revolute((1, 0, 0)))
    builder.body("b", second, parent="a", joint=mr.Revolute((1, 0, 0)))
    assert {str(p) for p in builder.build().equations("masses").parameters} == {"m1", "m1_"}


def test_symbols_named_like_coordinates_are_refused():
    assembly = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="4")
    with pytest.raises(InputError, match=r"symbol 'q1'.*coordinates.*rename"):
        assembly.with_parameters(length=sympy.Symbol("q1")).mechanism().equations()


@pytest.mark.parametrize(
    ("symbols", "expected"),
    [
        ("masses", {"m"}),
        (["masses"], {"m"}),
        (("masses", "gravity"), {"m", "g"}),
        (iter(["gravity"]), {"g"}),
        ({"lengths"}, {"l"}),
        ("all", {"m", "g", "x", "y", "z", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz", "l"}),
        ((), set()),
    ],
)
def test_symbols_are_one_name_several_or_all(symbols, expected):
    eq = lwa_4p().equations(symbols)
    assert {str(p).rstrip("0123456789") for p in eq.parameters} == expected


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ("mass", r"no kind of symbols 'mass'.*did you mean 'masses'.*valid: all, masses, centres"),
        ("parameters", r"symbolic\.parametric\(assembly\)"),
        (["masses", 3], "no kind of symbols 3"),
        (None, "symbols are None.*valid: masses"),
        (7, "symbols are 7"),
        ("m,a", "no kind of symbols 'm,a'"),
    ],
)
def test_other_symbols_are_refused_with_the_valid_ones(symbols, message):
    with pytest.raises(InputError, match=message):
        mr.load("crab").mechanism().equations(symbols)


@pytest.mark.parametrize(
    "options",
    [{"digits": -1}, {"digits": 2.5}, {"digits": True}, {"time_limit": "soon"}, {"largest": -3}, {"largest": 1.5}],
)
def test_options_are_checked(options):
    (name,) = options
    with pytest.raises(InputError, match=f"{name} is .*expected a number"):
        mr.load("crab").mechanism().equations(**options)


def test_options_are_visible_and_others_refused():
    with pytest.raises(TypeError, match="digit"):
        mr.load("crab").mechanism().equations(digit=3)
    with pytest.raises(TypeError):
        Equations(mr.load("crab").mechanism(), (), "two-step", 3)


def test_a_robot_asks_for_no_larger_equations_than_symbolic_does():
    """The number stands in `robot.py` too, which must not load SymPy to say it."""
    assert inspect.signature(mr.Mechanism.equations).parameters["largest"].default == size.LARGEST
