"""Compiled code equals the definition in NumPy, which the judges have judged: every program, every kind of joint, any layout."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from benchmarks.robots import organism
from modurob.algorithms.articulated import FORWARD_DYNAMICS, HYBRID_DYNAMICS
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.configuration import INTEGRATE, RATE
from modurob.algorithms.constraints.rows import CLOSURE, CONSTRAINED
from modurob.algorithms.constraints.slopes import CONSTRAINED_DERIVATIVES, CONSTRAINED_SLOPES
from modurob.algorithms.coriolis import CORIOLIS_MATRIX
from modurob.algorithms.derivatives import COUPLED_DERIVATIVES, FORWARD_DERIVATIVES, FORWARD_REGRESSOR
from modurob.algorithms.descent import CENTRE, WORLD_COLUMNS
from modurob.algorithms.energy import KINETIC_ENERGY, MOMENTA, POTENTIAL_ENERGY
from modurob.algorithms.forces import MOTIONS, acting
from modurob.algorithms.forward import CONSTRAINED_DYNAMICS
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.jacobians import JACOBIAN
from modurob.algorithms.joint_space import EQUATIONS, MOTION_SLOPES, SLOPES
from modurob.algorithms.kinematics import FORWARD_KINEMATICS
from modurob.algorithms.regressor import REGRESSOR, REGRESSOR_PRODUCT
from modurob.errors import InputError, KernelError, SingularError
from modurob.kernels import NOT_FINITE, begin, compiler, once, repeated, run, run_any, running
from modurob.kernels.anatomy import anatomy
from modurob.kernels.dyad_units import MANY, kinds_for
from modurob.kernels.evaluator import Evaluator, evaluator, lanes_of
from modurob.simulation.stepping import holding_flow, step_flow
from modurob.spatial import inertia, se3
from tests.algorithms.test_loops import gripper
from tests.oracles.four_bar import FourBar
from tests.oracles.linkages import LINKAGES, Z, along_x, four_bar_state
from tests.robots import KINDS, random_assembly, random_joint, random_mechanism, random_state
from tests.sampling import sampled

PROGRAMS = (
    FORWARD_DYNAMICS,
    HYBRID_DYNAMICS,
    MASS_MATRIX,
    RATE,
    INTEGRATE,
    EQUATIONS,
    SLOPES,
    MOTION_SLOPES,
    FORWARD_DERIVATIVES,
    KINETIC_ENERGY,
    POTENTIAL_ENERGY,
    MOTIONS,
    INVERSE_DYNAMICS,
    JACOBIAN,
    WORLD_COLUMNS,
    CENTRE,
    FORWARD_KINEMATICS,
    REGRESSOR,
    REGRESSOR_PRODUCT,
    FORWARD_REGRESSOR,
    CORIOLIS_MATRIX,
    MOMENTA,
)
# what each kind of joint, each way through it and each type of number passes; `make judge` asks for every program there
FEW = (FORWARD_DYNAMICS, INVERSE_DYNAMICS, FORWARD_DERIVATIVES, RATE, INTEGRATE, FORWARD_KINEMATICS)
FEW_OR_EVERY = pytest.mark.parametrize(
    "programs", [FEW, pytest.param(PROGRAMS, marks=pytest.mark.judge)], ids=["few", "every"]
)
WITH_CONSTRAINTS = (CLOSURE, CONSTRAINED, CONSTRAINED_DYNAMICS, CONSTRAINED_SLOPES, CONSTRAINED_DERIVATIVES)
STATES = 11  # a whole block of lanes and some more


def inputs_of(program, robot, rng, shape=(STATES,), optional=True):
    """Random inputs of a program, by name."""
    states = [random_state(rng, robot) for _ in range(int(np.prod(shape)))]
    own = [np.stack(x).reshape(*shape, -1) for x in zip(*states, strict=True)]
    bodies = len(robot.bodies)
    out = {}
    for name, kind in program.inputs.items():
        match kind:
            case "coordinates":
                out[name] = own[0]
            case "rates":
                out[name] = {"v": own[1], "free": np.ones(own[1].shape)}.get(name, rng.normal(size=own[1].shape))
            case "wrenches" if optional:
                out[name] = rng.normal(size=(*shape, bodies, 6))
            case "inertias" if optional:
                own_inertias = [inertia.random(rng) for _ in range(int(np.prod(shape)) * bodies)]
                out[name] = np.stack(own_inertias).reshape(*shape, bodies, 6, 6)
            case "matrix":
                out[name] = rng.normal(size=(*shape, robot.nv, robot.nv))
            case "bodies":
                out[name] = np.broadcast_to(_ancestors(robot, bodies - 1), (*shape, bodies)).astype(float)
            case "rows":
                out[name] = rng.normal(size=(*shape, sum(c.rows for c in robot.constraints)))
            case int():
                out[name] = rng.normal(size=(*shape, kind))
    if program is HYBRID_DYNAMICS:
        out["free"] = (rng.random(own[1].shape) < 0.7).astype(float)
        out["resistance"] = np.abs(out["resistance"])
    return out


def _ancestors(robot, body):
    on = np.zeros(len(robot.bodies))
    on[[body, *robot.ancestors[body]]] = 1
    return on


def require_close(found, expected, tolerance, what):
    assert found.keys() == expected.keys()
    for name, x in expected.items():
        assert found[name].shape == x.shape, (what, name)
        size = max(1e-3, np.abs(x).max(initial=0.0))
        assert np.abs(found[name] - x).max(initial=0.0) <= tolerance * size, (what, name)


@pytest.fixture
def every(request):
    """Whether batches are asked for without what may be left out, too; a compiler takes as long for them again."""
    return request.node.get_closest_marker("judge") is not None


def check(robot, rng, programs=PROGRAMS, dtype=np.float64, tolerance=1e-11, every=False):
    """Batches with all inputs, and single states without those that may be left out."""
    for program in programs:
        for shape, optional in [
            ((STATES,), True),
            *[((STATES,), False)] * every,
            *[((), False)] * (dtype == np.float64),
        ]:
            given_ = {n: x.astype(dtype) for n, x in inputs_of(program, robot, rng, shape, optional).items()}
            found = repeated(program, robot, given_, 1)
            assert found is not None, program.name
            assert {x.dtype for x in found.results.values()} == {np.dtype(dtype)}
            expected = interpret(program, robot, {n: x.astype(float) for n, x in given_.items()})
            require_close(found.results, expected.results, tolerance, (program.name, shape, optional))


def any_mechanism(seed):
    rng = np.random.default_rng(seed)
    return random_mechanism(rng, 1 + seed % 9, floating=bool(seed % 2), armature=bool(seed % 3))


@pytest.mark.parametrize("seed", sampled((11, 8, *range(100, 140)), 1))
def test_any_mechanism_in_double(seed, every):
    check(any_mechanism(seed), np.random.default_rng(seed), every=every)


def test_robots_of_many_placements_share_general_code(rng):
    """Parts of longer steps have one code for all hinges of a robot of many types, and the same results."""
    robot = organism(30)
    kinds, anywhere = kinds_for(anatomy(robot).kinds, HYBRID_DYNAMICS, False)
    assert len({*anatomy(robot).kinds}) > MANY
    assert anywhere
    assert len({*kinds}) == 1
    check(robot, rng, (HYBRID_DYNAMICS, MOTIONS))


def test_what_is_laid_out_ahead_gives_the_same_bits(rng):
    robot = random_mechanism(rng, 5, ["revolute", "prismatic"])
    given_ = inputs_of(FORWARD_DYNAMICS, robot, rng, (), False)
    begin(FORWARD_DYNAMICS, robot, 1)
    begin(FORWARD_DYNAMICS, robot, 1)
    begin(FORWARD_DYNAMICS, robot, 0)
    ahead = Evaluator(robot, FORWARD_DYNAMICS, frozenset(), False, 1)
    alone = Evaluator(robot, FORWARD_DYNAMICS, frozenset(), False, 1)
    rows = {name: x[None] for name, x in given_.items()}
    assert ahead(rows, 1)[0][0].tobytes() == alone(rows, 1)[0][0].tobytes()


@FEW_OR_EVERY
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_in_single(kind, programs, every):
    rng = np.random.default_rng(3)
    check(random_mechanism(rng, 3, kinds=(kind,)), rng, programs, np.float32, 2e-4, every)


@pytest.mark.parametrize("seed", sampled((6, 0, *range(100, 120)), 1))
def test_any_organism(seed, every):
    rng = np.random.default_rng(seed)
    check(random_assembly(rng, 9 - seed % 7).mechanism(floating=True), rng, every=every)


@FEW_OR_EVERY
@pytest.mark.parametrize(
    ("name", "floating"), [*((name, False) for name in mr.shipped_robots()), ("crab", True), ("tree9", True)]
)
def test_every_shipped_robot(name, floating, programs, every):
    robot = mr.load(name).mechanism(floating=floating)
    programs = programs if not robot.constraints else (*programs, *WITH_CONSTRAINTS)
    check(robot, np.random.default_rng(9), programs, every=every)


def junctions(rng, bodies, kinds, floating):
    """Several roots, some of which float, from the origin or not, some with rotors; branches hang on few rates and on many."""
    builder = mr.Builder("junctions", gravity=rng.normal(size=3) * 5)
    for i in range(bodies):
        root = i == 0 or rng.random() < 0.1
        floats = rng.random() < (floating if root else floating / 5)
        builder.body(
            f"b{i}",
            inertia.random(rng),
            parent="world" if root else f"b{rng.integers(max(0, i - 6), i)}",
            joint=mr.Free() if floats else random_joint(rng, str(rng.choice(kinds))),
            at=np.eye(4) if root and rng.random() < 0.5 else se3.random(rng, reach=0.5),
            properties=mr.JointProperties(armature=rng.uniform(0, 0.3) if rng.random() < 0.3 else 0.0),
        )
    return builder.build()


@pytest.mark.parametrize("seed", sampled(range(40), 8))
def test_branches_on_few_rates_and_many_and_bases_with_rotors(seed):
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic") if seed % 2 else ("revolute", "spherical", "universal")
    floating = 0.0 if seed % 4 == 1 else 0.7
    check(junctions(rng, 9 + 2 * seed % 11, kinds, floating), rng, (SLOPES, MASS_MATRIX, FORWARD_DERIVATIVES))


def backwards(rng):
    builder = mr.Builder("backwards")
    for i, joint in enumerate((mr.Spherical(), mr.Planar(), mr.Universal(), mr.Free(), mr.Helical((0, 1, 1), 0.1))):
        parent = f"b{i - 1}" if i else "world"
        builder.body(f"b{i}", inertia.random(rng), parent=parent, joint=joint.reversed(), at=se3.random(rng, reach=0.5))
    return builder.build()


@pytest.mark.parametrize(
    "programs",
    [tuple(p for p in FEW if p is not FORWARD_DERIVATIVES), pytest.param(PROGRAMS, marks=pytest.mark.judge)],
    ids=["few", "every"],
)
def test_joints_walked_through_from_their_successor(programs, every):
    """The base of an organism decides the way through its joints."""
    rng = np.random.default_rng(5)
    check(backwards(rng), rng, programs, every=every)


def mimicking(rng):
    builder = mr.Builder("gripper", gravity=(1, 2, 3))
    builder.body("arm", inertia.random(rng), joint=mr.Universal(), at=se3.random(rng))
    builder.body("left", inertia.random(rng), parent="arm", joint=mr.Revolute((0, 1, 1)), joint_name="screw")
    for k, ratio in enumerate((-0.5, 2.0)):
        follower = mr.Source("screw", ratio=ratio, offset=0.1)
        own = mr.JointProperties(armature=0.1, damping=0.2)
        builder.body(
            f"right{k}", inertia.random(rng), parent="left", joint=mr.Prismatic((1, 0, k)), mimic=follower,
            at=se3.random(rng), properties=own,
        )  # fmt: skip
    return builder.build()


@FEW_OR_EVERY
def test_joints_that_mimic(programs, every):
    rng = np.random.default_rng(6)
    robot = mimicking(rng)
    trees = (FORWARD_DYNAMICS, HYBRID_DYNAMICS, FORWARD_DERIVATIVES)
    programs = [*(p for p in programs if p not in trees), *WITH_CONSTRAINTS, COUPLED_DERIVATIVES]
    check(robot, rng, programs, every=every)


def ring(rng, joint):
    """A chain whose end is tied to the world by a joint of that kind, with a gear between two of its joints."""
    builder = mr.Builder("ring", gravity=rng.normal(size=3))
    for i in range(6):
        parent = f"b{i - 1}" if i else "world"
        builder.body(
            f"b{i}",
            inertia.random(rng),
            parent=parent,
            joint=mr.Revolute(tuple(rng.normal(size=3))),
            at=se3.random(rng),
        )
    builder.loop("tie", joint, "world", "b5", se3.random(rng), se3.random(rng))
    builder.coupling("gear", {"b0": 1.0, "b1": -2.0}, 0.1)
    return builder.build()


@pytest.mark.parametrize(
    "joint", sampled([mr.Planar((1, 0, 1)), mr.Universal(), mr.Spherical(), mr.Cylindrical((0, 1, 0))], 2)
)
def test_loops_and_couplings(joint, every):
    rng = np.random.default_rng(7)
    check(ring(rng, joint), rng, (*PROGRAMS, *WITH_CONSTRAINTS), every=every)


def tilted_four_bar(rng, closing):
    """Anywhere in space, so that rows of the loop across its plane are rounding, not zero; and a closed configuration."""
    bar, at, builder = FourBar(), se3.random(rng), mr.Builder("tilted", gravity=rng.normal(size=3))
    builder.body("crank", inertia.random(rng), joint=Z, at=at)
    builder.body("coupler", inertia.random(rng), parent="crank", joint=Z, at=along_x(bar.a))
    builder.body("rocker", inertia.random(rng), joint=Z, at=at @ along_x(bar.d))
    builder.loop("pin", closing, "coupler", "rocker", along_x(bar.b), along_x(bar.c))
    return builder.build(), four_bar_state(bar, rng.uniform(-3, 3), 0.0)[0]


def bennett(rng, _):
    link = LINKAGES["bennett"](rng)
    return link.robot, link.closed(rng)


@pytest.mark.parametrize("make", [tilted_four_bar, bennett])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 2e-4)])
def test_multipliers_of_rows_that_depend_on_others(make, dtype, tolerance, rng):
    for closing in (Z, mr.Spherical()):
        robot, q = make(rng, closing)
        v, tau = robot.close_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
        given_ = {n: np.tile(x, (STATES, 1)) for n, x in {"q": q, "v": v, "tau": tau}.items()}
        expected = interpret(CONSTRAINED_DYNAMICS, robot, given_).results
        found = repeated(CONSTRAINED_DYNAMICS, robot, {n: x.astype(dtype) for n, x in given_.items()}, 1).results
        require_close(found, expected, tolerance, closing)
        # what moves nothing carries nothing
        K = np.linalg.norm(robot.loop_jacobian(q), axis=-1)
        size = np.abs(expected["multipliers"]).max()
        assert np.abs(expected["multipliers"][:, K < 1e-14]).max(initial=0.0) < 1e-12 * size


STEPPERS = [mr.SemiImplicitEuler(2e-3), mr.RungeKutta4(2e-3), mr.LinearlyImplicit(2e-3)]


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: s.kind)
@pytest.mark.parametrize("seed", range(3))
def test_steps_with_every_kind_of_force(stepper, seed):
    """Repeated by the kernel, they are the steps taken one by one with NumPy."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 4, floating=bool(seed % 2))
    for n, joint in enumerate(robot.joints):
        robot = robot.with_force(f"rub {n}", mr.Friction(0.3), joint=joint.name)
        if robot.coordinate_of[joint.v_slice.start] >= 0:
            robot = robot.with_force(f"spring {n}", mr.JointSpring(5.0, 0.1, 0.02), joint=joint.name)
            robot = robot.with_force(f"stop {n}", mr.Stop(-0.1, 0.1, 50.0, 0.5), joint=joint.name)
    robot = robot.with_force("rope", mr.Spring(20.0, 0.3, 0.4), a="b3", b="world")
    flow = step_flow(stepper, 0, False)
    q, v = np.stack([random_state(rng, robot)[0] for _ in range(STATES)]), rng.normal(size=(STATES, robot.nv))
    column = np.ones((STATES, 1))
    given_ = {"t": 0 * column, "dt": 2e-3 * column, "q": q, "v": v, "x": np.zeros((STATES, 0)), "u": 0.1 * v}
    found, expected = repeated(flow, robot, given_, 5).results, dict(given_)
    for _ in range(5):
        expected |= interpret(flow, robot, expected).results
    require_close(found, {n: expected[n] for n in found}, 1e-11, stepper.kind)


def rubbed(name, rng):
    """A robot whose joints rub, and states of it, among them closed ones of loops and those on the ground."""
    if name in LINKAGES:
        link = LINKAGES[name](rng)
        robot, q = link.robot.without_forces(), [link.closed(rng) for _ in range(STATES)]
    elif name == "gripper":
        robot = gripper(rng, "two")
        q = [robot.random_configuration(rng) for _ in range(STATES)]
    else:
        robot = mr.load("crab").mechanism(floating=True).on_ground(mr.Ground(friction=0.8))
        robot = robot.with_body_contact(mr.BodyContact(friction=0.5)) if name == "crab that touches itself" else robot
        q = [robot.standing(robot.neutral()) + 1e-4 * np.eye(robot.nq)[2] * -k for k in range(STATES)]
    for n, joint in enumerate(robot.joints):
        for k in range(joint.type.nv if joint.kind != "free" else 0):
            robot = robot.with_force(f"rub {n} {k}", mr.Friction(0.1, 0.5, 0.7, 0.2), joint=joint.name, rate=k)
    return robot, np.stack(q)


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: s.kind)
@pytest.mark.parametrize(
    "name", ["gripper", "four-bar", "stewart", "delta", "crab on the ground", "crab that touches itself"]
)
def test_what_dry_friction_holds(name, stepper):
    """Accelerations and reactions, and steps, with rates held or sliding."""
    rng = np.random.default_rng(8)
    robot, q = rubbed(name, rng)
    if "crab" in name and not stepper.contacts:
        stepper = replace(STEPPERS[-1], solves=3)
    held = (rng.random((STATES, robot.nv)) < 0.5) & (acting(robot).holding > 0)
    v = np.where(held, 0.0, 0.1 * rng.normal(size=held.shape))
    if robot.constraints:
        held, v = held & (np.arange(robot.nv) < 2), 0 * v
    column, own = np.ones((STATES, 1)), acting(robot)
    given_ = {"t": 0 * column, "dt": 2e-3 * column, "q": q, "v": v, "x": own.start_at(q), "u": rng.normal(size=v.shape)}
    given_ |= {"free": 1.0 - held, "slide": np.where(held | (own.holding == 0), 0.0, np.sign(v))}
    for flow, tolerance in [(holding_flow(stepper, own.nx), 1e-8), (step_flow(stepper, own.nx, True), 1e-9)]:
        found, expected = run_any(flow, robot, given_), interpret(flow, robot, given_)
        require_close(found.results, expected.results, tolerance, (name, flow.name))
        assert not found.singular.any()
    assert not found.results["v"][held].any()


# ---- layouts ----


@pytest.fixture(scope="module")
def crab():
    return mr.load("crab").mechanism(base="m0")


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 4097])
def test_batches_of_any_size(crab, n):
    q, v, u = np.random.default_rng(n).normal(size=(3, n, crab.nv))
    vdot, M = crab.ideal().forward_dynamics(q, v, u), crab.mass_matrix(q)
    assert vdot.shape == (n, crab.nv)
    assert M.shape == (n, crab.nv, crab.nv)
    if n:
        rows = [0, n // 2, n - 1]
        expected = interpret(FORWARD_DYNAMICS, crab, {"q": q[rows], "v": v[rows], "tau": u[rows]}).results
        require_close({"vdot": vdot[rows]}, expected, 1e-12, n)


def test_inputs_of_any_layout():
    rng = np.random.default_rng(1)
    robot = random_mechanism(rng, 5, kinds=("revolute", "prismatic"))
    q, v, u = (np.stack(x) for x in zip(*(random_state(rng, robot) for _ in range(64)), strict=True))
    expected = interpret(FORWARD_DYNAMICS, robot, {"q": q, "v": v, "tau": u}).results["vdot"]
    wide = np.zeros((64, 3 * robot.nv))
    wide[:, ::3] = q
    every_other = np.repeat(v, 2, axis=0)[::2]
    layouts = [
        (wide[:, ::3], every_other, np.asfortranarray(u)),
        (q[::-1][::-1], v.T.copy().T, u),
        (q.reshape(4, 16, -1), v.reshape(4, 16, -1), u.reshape(4, 16, -1)),
    ]
    for layout in layouts:
        np.testing.assert_allclose(robot.forward_dynamics(*layout).reshape(64, -1), expected, atol=1e-11)
    # one torque, and one configuration, for all
    np.testing.assert_allclose(
        robot.forward_dynamics(q, v, u[0])[7], robot.forward_dynamics(q[7], v[7], u[0]), atol=1e-11
    )
    spread = robot.forward_dynamics(q[:, None], v[None, :3], u[0])
    assert spread.shape == (64, 3, robot.nv)
    np.testing.assert_allclose(spread[5, 2], robot.forward_dynamics(q[5], v[2], u[0]), atol=1e-11)
    with pytest.raises(mr.ModurobError, match="leading axes that broadcast"):
        robot.forward_dynamics(q, v[:3], u)


def test_wrong_types_are_refused(crab):
    x = np.zeros((4, 3))
    compiled = evaluator(crab, FORWARD_DYNAMICS, frozenset(), False, lanes_of(False))
    assert compiled is not None
    for bad in (x[:, :2], x[:2]):
        with pytest.raises(KernelError, match="expected 4 rows of"):
            compiled({"q": x, "v": bad, "tau": x}, 4)
    with pytest.raises(mr.ModurobError, match="expected numbers"):
        crab.forward_dynamics([["a", "b", "c"]], x, x)
    assert crab.forward_dynamics(x.astype(int), x, x).dtype == np.float64
    with pytest.raises(mr.ModurobError, match=r"q\[2, 1\] is nan"):
        crab.forward_dynamics(np.where(np.arange(12).reshape(4, 3) == 7, np.nan, 0.0), x, x)


def test_robots_without_kernels_are_answered_by_the_definition(crab):
    assert repeated(MASS_MATRIX, crab, {"q": crab.neutral()[None] + 0j}, 1) is None
    still = random_mechanism(np.random.default_rng(0), 3, kinds=("fixed",))
    assert repeated(MASS_MATRIX, still, {"q": np.zeros((2, 0))}, 1) is None
    assert still.mass_matrix(np.zeros((2, 0))).shape == (2, 0, 0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_nan_in_one_lane_touches_no_other(program):
    rng = np.random.default_rng(2)
    robot = any_mechanism(11)
    given_ = inputs_of(program, robot, rng, (19,))
    clean = run_any(program, robot, given_).results
    spoilt = dict(given_)
    spoilt["q"] = given_["q"].copy()
    spoilt["q"][5] = np.nan
    found = repeated(program, robot, spoilt, 1)
    others = np.arange(19) != 5
    assert found.singular[5] == NOT_FINITE
    assert not found.singular[others].any()
    for name, x in run_any(program, robot, spoilt).results.items():
        assert np.array_equal(clean[name][others], x[others]), name
    with pytest.raises(InputError, match="nan"):
        run(program, robot, spoilt)


def test_angles_of_millions_of_turns_are_taken_by_numpy(crab):
    q = np.full((9, 3), 1e9)
    q[4] = 0.3
    expected = interpret(MASS_MATRIX, crab, {"q": q}).results["M"]
    np.testing.assert_allclose(crab.mass_matrix(q), expected, rtol=1e-12, atol=1e-14)


def empty():
    builder = mr.Builder("empty")
    builder.body("b", np.zeros((6, 6)), joint=mr.Revolute())
    return builder


def test_a_degree_of_freedom_without_inertia_is_refused_alone_and_in_a_batch():
    robot = empty().build()
    for n in ((), (600,)):
        with pytest.raises(SingularError, match="no inertia"):
            robot.forward_dynamics(np.zeros((*n, 1)), np.zeros((*n, 1)), np.ones((*n, 1)))
    builder = empty()
    builder.body("c", np.zeros((6, 6)), joint=mr.Revolute(), parent="b", mimic=mr.Source("b"))
    with pytest.raises(SingularError, match="no inertia"):
        builder.build().forward_dynamics([0.0], [0.0], [1.0])


# ---- no history ----


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(4)
    robot = random_mechanism(rng, 6)
    given_ = inputs_of(FORWARD_DYNAMICS, robot, rng, (1003,), optional=False)
    compiled = Evaluator(robot, FORWARD_DYNAMICS, frozenset(), False, lanes_of(False))
    results = [compiled(given_, 1003, threads)[0][0] for threads in (1, 2, 3, 16)]
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_a_state_is_answered_alike_in_any_batch():
    """Bit for bit, wherever in a batch it stands, and however large that is."""
    rng = np.random.default_rng(5)
    robot = random_mechanism(rng, 5, floating=True)
    given_ = inputs_of(FORWARD_DYNAMICS, robot, rng, (41,), optional=False)
    whole = run(FORWARD_DYNAMICS, robot, given_).results["vdot"]
    for part in (slice(3, 5), slice(7, 16), slice(40, 10, -1)):
        some = run(FORWARD_DYNAMICS, robot, {n: x[part] for n, x in given_.items()}).results["vdot"]
        assert np.array_equal(some, whole[part])


def test_the_thousandth_call_has_the_bits_of_the_first():
    rng = np.random.default_rng(6)
    robot = random_mechanism(rng, 4, floating=True)
    q, v, u = random_state(rng, robot)
    first = robot.forward_dynamics(q, v, u)
    for _ in range(1000):
        assert robot.forward_dynamics(q, v, u).tobytes() == first.tobytes()


def test_threads_that_step_one_robot_do_not_disturb_each_other(crab):
    flow = step_flow(mr.RungeKutta4(1e-3), 0, False)
    q, v, u = np.random.default_rng(7).normal(size=(3, 2048, crab.nv))
    column = np.ones((2048, 1))
    robot = crab.ideal()

    def stepped(k):
        dt = (1e-4, 3e-3)[k % 2] * column
        given_ = {"t": 0 * column, "dt": dt, "q": q, "v": v, "x": np.zeros((2048, 0)), "u": u}
        return np.hstack([repeated(flow, robot, given_, 20).results[n] for n in ("q", "v")])

    expected = [stepped(k) for k in range(2)]
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(x, expected[k % 2]) for k, x in enumerate(pool.map(stepped, range(40))))


def test_single_states_go_the_short_way_and_say_the_same(crab):
    rng = np.random.default_rng(8)
    q, v, u = rng.normal(size=(3, crab.nv))
    robot = crab.ideal()
    short = once(FORWARD_DYNAMICS, robot, q, v, u)
    assert short is not None
    np.testing.assert_array_equal(short, robot.forward_dynamics(q, v, u))
    # what it cannot take goes the long way, and is checked there
    np.testing.assert_allclose(robot.forward_dynamics(list(q), v.astype(np.float32), u), short, rtol=1e-5, atol=1e-4)
    with pytest.raises(mr.ModurobError, match=r"q has shape \(2,\)"):
        robot.forward_dynamics(q[:2], v, u)
    with pytest.raises(mr.ModurobError, match="inf: expected finite"):
        robot.forward_dynamics(q, v * np.inf, u)


def test_docking_runs_no_compiler_where_its_joints_are_known(monkeypatch):
    def snake(n):
        assembly = mr.Assembly.single("m0", "backbone")
        for i in range(1, n + 1):
            assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
        return assembly

    def asked(robot):
        q, v, tau = np.random.default_rng(0).normal(size=(3, 5, robot.nv))
        return robot.forward_dynamics(q, v, tau), robot.forward_dynamics(q[0], v[0], tau[0])

    asked(snake(4).mechanism())

    def forbidden(*_):
        raise AssertionError("the compiler was run, or NumPy was")

    monkeypatch.setattr(compiler, "_compile", forbidden)
    monkeypatch.setattr(running, "_interpreted", forbidden)
    asked(snake(5).mechanism())


def test_robots_that_differ_in_the_last_bit_are_told_apart():
    def swing(armature):
        builder = mr.Builder("swing")
        own = mr.JointProperties(armature=armature)
        builder.body("b", inertia.box(1.0, (0.1, 0.1, 0.5)), joint=mr.Revolute(), properties=own)
        return builder.build()

    a, b = swing(0.1), swing(0.1 + 1e-10)
    assert a.key != b.key
    with np.printoptions(precision=2):
        assert swing(0.1).key == a.key
    assert a.forward_dynamics([0.3], [0.0], [1.0]) != b.forward_dynamics([0.3], [0.0], [1.0])
    rubbed = [a.with_force("rub", mr.Friction(x), joint="b") for x in (1, 1.0, 1.0 + 1e-15)]
    assert rubbed[0].key == rubbed[1].key != rubbed[2].key


def test_steps_of_steppers_with_other_numbers_are_other_functions():
    flow = step_flow(mr.RungeKutta4(1e-3), 0, False)
    assert flow.name == step_flow(mr.RungeKutta4(2e-3), 0, False).name
    assert flow.name != step_flow(mr.SemiImplicitEuler(1e-3), 0, False).name
    assert replace(mr.RungeKutta4(1e-3)) == mr.RungeKutta4(1e-3)


def test_robots_far_away_lose_no_digits_to_inertia_about_the_origin(rng):
    """Ten kilometres off, mass times distance squared is 1e8: matrices are referred to where a robot stands."""
    robot = random_mechanism(rng, 6, kinds=("revolute",))
    X = np.array(robot.X_PJ)
    X[1, :3, 3] += [1e4, 0.0, 0.0]
    far = replace(robot, X_PJ=X)
    q, v, u = random_state(rng, robot)
    parts = [(far.mass_matrix(q), robot.mass_matrix(q))]
    parts += zip(far.inverse_dynamics_derivatives(q, v, u), robot.inverse_dynamics_derivatives(q, v, u), strict=True)
    parts += zip(far.forward_dynamics_derivatives(q, v, u), robot.forward_dynamics_derivatives(q, v, u), strict=True)
    for found, expected in parts:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
