"""The ways to break the library: one small change of text each."""

from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    """`old` stands once in the file; `new` takes its place. `figure` is tried first, `tests` are all that are run."""

    name: str
    file: str  # below src/modurob
    old: str
    new: str
    figure: str
    tests: tuple[str, ...]  # below tests
    unseen: str = ""  # why no figure of the sources can show it

    def apply(self, package: Path) -> None:
        """Break a copy of the package."""
        path = package / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            found = text.count(self.old)
            raise ValueError(f"mutant {self.name!r}: {self.old!r} stands {found} times in {self.file}: expected once")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


IDENTITIES = "algorithms/test_identities.py"
CLOSED_FORMS = "algorithms/test_closed_forms.py"
MODULES = "catalogue/test_modules.py"
BACKBONE = "catalogue/modules/backbone.yaml"
TREES = "the sources have neither loops nor mimic joints"

MUTANTS = (
    # ---- modules and docking ----
    Mutant(
        "one leg of the crab on another face",
        "assembly/robots/crab.yaml",
        "m2/3 - m3/2",
        "m2/3 - m3/4",
        "table III",
        ("assembly/test_views.py::test_aim_of_the_documents",),
    ),
    Mutant("module mass", BACKBONE, "mass: {value: 1.0,", "mass: {value: 2.0,", "6.6", (CLOSED_FORMS, MODULES)),
    Mutant(
        "hinge axis x to z",
        BACKBONE,
        "to: B, axis: [1, 0, 0]",
        "to: B, axis: [0, 0, 1]",
        "table I",
        ("assembly/test_geometry.py",),
    ),
    Mutant("joint limit", BACKBONE, "upper_stop: {value: pi / 2", "upper_stop: {value: pi", "table I", (MODULES,)),
    Mutant(
        "port of face 2 off by 1 %",
        BACKBONE,
        "at: [length / 2, 0, 0]",
        "at: [0.505 * length, 0, 0]",
        "table 3.1",
        ("assembly/test_geometry.py",),
    ),
    Mutant("face 3 on the other half", BACKBONE, '"3": {part: B', '"3": {part: A', "13", (MODULES,)),
    Mutant(
        "rotor of the Scout's disc",
        "catalogue/modules/scout.yaml",
        "disc_armature: {value: 0.0001",
        "disc_armature: {value: 0.0002",
        "11",
        (MODULES,),
    ),
    Mutant(
        "docking roll",
        "assembly/connection.py",
        "[[c, s, 0.0], [s, -c, 0.0]",
        "[[-c, -s, 0.0], [-s, c, 0.0]",
        "table 3.1",
        ("assembly/test_geometry.py",),
    ),
    Mutant(
        "joints walked from their successor",
        "mechanism/from_assembly.py",
        "joint.type if forth else joint.type.reversed()",
        "joint.type",
        "5.9",
        ("assembly/test_geometry.py", "algorithms/test_invariance.py"),
        "only the tree of Fig. 3.1 has a hinge that is walked so, and no figure moves it",
    ),
    # ---- inertia and the recursions ----
    Mutant(
        "inertia shift",
        "spatial/inertia.py",
        "    shifted = B - A @ p",
        "    shifted = B - 1.01 * A @ p",
        "5.4",
        (IDENTITIES,),
    ),
    Mutant(
        "gyroscopic term times 1.1",
        "algorithms/steps.py",
        "momentum = apply(I[..., 3:], w)",
        "momentum = 1.1 * apply(I[..., 3:], w)",
        "13",
        (IDENTITIES,),
    ),
    Mutant(
        "centripetal acceleration times 1.1",
        "algorithms/steps.py",
        "centripetal = apply(Rt,",
        "centripetal = 1.1 * apply(Rt,",
        "6.6",
        (IDENTITIES,),
    ),
    Mutant(
        "Coriolis acceleration of a slide, halved",
        "algorithms/steps.py",
        "2 * w_parent + w_J",
        "w_parent + w_J",
        "5.8",
        (IDENTITIES,),
        "the only slide of the sources, the crane's rail, stands on the ground",
    ),
    Mutant(
        "gravity upside down",
        "algorithms/kinematics.py",
        "np.concatenate([-m.gravity,",
        "np.concatenate([m.gravity,",
        "8",
        (CLOSED_FORMS,),
    ),
    Mutant(
        "drift left out of the articulated bias",
        "algorithms/articulated.py",
        'p = p + apply(I, j.own("drift"))',
        "p = p + 0",
        "8",
        (IDENTITIES,),
    ),
    Mutant(
        "rotors left out of inverse dynamics",
        "algorithms/inverse.py",
        '+ j.armature * j.given("vdot")',
        "",
        "13",
        (IDENTITIES,),
    ),
    Mutant(
        "two-step Coriolis matrix, a sign",
        "algorithms/coriolis.py",
        "(I @ D_i - transposed(",
        "(I @ D_i + transposed(",
        "5.4",
        (IDENTITIES,),
    ),
    Mutant(
        "Christoffel symbols, a sign",
        "symbolic/derivation.py",
        "dM[i, j] + dM[i, :, j] - dM[j, :, i]",
        "dM[i, j] + dM[i, :, j] + dM[j, :, i]",
        "5.4",
        ("symbolic/test_equations.py::test_symbolic_equals_numeric_at_a_hundred_states",),
    ),
    Mutant(
        "potential energy, its sign",
        "algorithms/energy.py",
        "energy=-dot(first_moment",
        "energy=dot(first_moment",
        "11",
        (IDENTITIES,),
    ),
    Mutant(
        "Lagrange's derivation, a sign",
        "symbolic/lagrange.py",
        "- cross - cross.T +",
        "+ cross + cross.T +",
        "5.4",
        ("symbolic/test_equations.py::test_scara_is_that_of_the_foundations",),
    ),
    Mutant(
        "frames of Denavit and Hartenberg in kernels",
        "kernels/frames.py",
        "offset, T = offset + turn, T @",
        "offset, T = offset - turn, T @",
        "11",
        ("kernels/test_definition.py::test_any_organism",),
    ),
    Mutant(
        "sine in single precision",
        "kernels/c/prelude.h",
        "z * -1.9515295891e-4f",
        "z * 1.9515295891e-4f",
        "11",
        ("kernels/test_definition.py::test_every_kind_of_joint_in_single",),
        "all figures are computed in double precision",
    ),
    Mutant(
        "quaternion rate",
        "spatial/quaternion.py",
        "0 * w[..., :1], w / 2]",
        "0 * w[..., :1], w / 2.02]",
        "5.9",
        ("catalogue/test_joints.py", "spatial/test_quaternion.py"),
    ),
    Mutant(
        "mimic ratio",
        "catalogue/joints/mimic.py",
        "return self.ratio * self.follower.motion_subspace",
        "return self.follower.motion_subspace",
        "AIM",
        ("catalogue/test_joints.py",),
        TREES,
    ),
    Mutant(
        "loop Jacobian, its sign",
        "algorithms/constraints/rows.py",
        "c.project(K=(world_wrenches",
        "c.project(K=(-world_wrenches",
        "AIM",
        ("algorithms/test_loops.py::test_linkages_close_where_their_closed_forms_say",),
        TREES,
    ),
    # ---- forces ----
    Mutant(
        "friction pushes on",
        "catalogue/forces/friction.py",
        "return -self.viscous * v",
        "return self.viscous * v",
        "AIM",
        ("catalogue/test_forces.py",),
        "the sources have no friction",
    ),
    Mutant(
        "spring at rest at another length",
        "catalogue/forces/spring.py",
        "pull = (self.stiffness * (distance - self.length)",
        "pull = (self.stiffness * (distance - 2 * self.length)",
        "AIM",
        ("catalogue/test_forces.py",),
        "the sources have no springs",
    ),
    # ---- time, control, estimation ----
    Mutant(
        "weights of Runge and Kutta",
        "simulation/steppers/runge_kutta_4.py",
        "(a + b * 2.0 + c * 2.0 + d) * (1 / 6)",
        "(a + b * 2.5 + c * 1.5 + d) * (1 / 6)",
        "5.9",
        ("simulation/test_steppers.py::test_every_fixed_stepper_converges_with_its_order",),
    ),
    Mutant(
        "integral of PID",
        "control/pid.py",
        "added = self._ki * self.recipe.sample_time * e",
        "added = 0.9 * self._ki * self.recipe.sample_time * e",
        "13",
        ("control/test_pid.py::test_the_sampled_loop_is_that_of_python_control",),
    ),
    Mutant(
        "rate gain of computed torque",
        "control/computed_torque.py",
        "vdot_d + self._kd(e_v)",
        "vdot_d + 1.01 * self._kd(e_v)",
        "6.6",
        ("control/test_computed_torque.py::test_poles_of_the_double_pendulum_are_the_placed_ones",),
    ),
    Mutant(
        "gains by poles, kp and kd as printed",
        "control/design.py",
        "return Gains(kp, np.real(-a - b - c) - kp * T / 2, ki)",
        "return Gains(np.real(-a - b - c) - kp * T / 2, kp, ki)",
        "6.6",
        ("control/test_design.py",),
    ),
    Mutant(
        "Kalman gain",
        "estimation/belief.py",
        "K = transposed(np.linalg.solve(innovation.S, H @ P))",
        "K = 0.9 * transposed(np.linalg.solve(innovation.S, H @ P))",
        "15",
        ("estimation/test_linear.py::test_the_gain_settles_where_the_riccati_equation_says",),
    ),
    Mutant(
        "transition of the filter",
        "estimation/prediction.py",
        "return one + dt / 6 *",
        "return one + dt / 5 *",
        "15",
        ("estimation/test_prediction.py",),
    ),
    # ---- files ----
    Mutant(
        "inertia of a URDF link not turned",
        "mechanism/urdf/reading.py",
        "np.zeros(3), tensor), X)",
        "np.zeros(3), tensor), se3.pose(None, se3.position(X)))",
        "AIM",
        ("mechanism/test_urdf.py", "mechanism/test_urdf_writing.py"),
        "the sources have no URDF files",
    ),
    Mutant(
        "indirect transformations, two rows left out",
        "assembly/views.py",
        "for i in above.get(x, []))",
        "for i in above.get(x, [])[:1])",
        "table III",
        ("assembly/test_views.py",),
    ),
)
