"""What values look like in a terminal and in a notebook: short, true, and safe for a page."""

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import modurob as mr
from modurob import tabular

CRAB = mr.load("crab")
RUN = mr.simulate(CRAB.mechanism(), [0.3, 0.2, -0.1], duration=0.05)
SHOWN = {
    "Mechanism": CRAB.mechanism(),
    "Assembly": CRAB,
    "Recording": RUN,
    "Equations": CRAB.mechanism().equations("masses"),
    "ModuleType": mr.module_type("scout"),
}


class Balance(HTMLParser):
    """Which tags are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def cells(html: str) -> list[list[str]]:
    """The rows of all tables in it, as text."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [[unescape(x) for x in re.findall(r"<t[hd]>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows]


@pytest.mark.parametrize("name", SHOWN)
def test_representations(name):
    value = SHOWN[name]
    assert repr(value).startswith(f"{name}(")
    assert len(repr(value)) < 120
    parser = Balance()
    parser.feed(value._repr_html_())
    assert parser.open == []
    latex = value._repr_latex_()
    assert latex[0] == latex[-1] == "$"
    assert latex.count(r"\begin{") == latex.count(r"\end{") > 0
    assert latex.replace(r"\{", "").replace(r"\}", "").count("{") == latex.replace(r"\{", "").replace(r"\}", "").count(
        "}"
    )


def test_a_robot():
    table = cells(SHOWN["Mechanism"]._repr_html_())
    assert table[0] == ["v", "joint", "kind", "from – to", "limits [rad, m]", "effort [N m, N]"]
    assert table[1] == ["0", "m0/hinge", "revolute", "world – m0/B", "-1.571 to 1.571", "7"]
    assert len(table) == 4
    assert "5 kg" in SHOWN["Mechanism"]._repr_html_()
    floating = CRAB.mechanism(floating=True)
    assert cells(floating._repr_html_())[1][:3] == ["0:6", "floating_base", "free"]
    assert (
        repr(mr.Assembly.single("a", "backbone").mechanism(floating=True)) == "Mechanism('robot', 1 body, nq=7, nv=6)"
    )


def test_a_robot_with_loops_has_multipliers():
    ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    assert r"\tau + K^\top\lambda" in ring._repr_latex_()
    assert "constraints: m0/4 - m2/3" in ring._repr_html_()
    assert "lambda" not in CRAB.mechanism()._repr_latex_()


def test_a_robot_with_symbols():
    import sympy

    robot = CRAB.with_parameters(mass=sympy.Symbol("m"), effort=sympy.Symbol("u")).mechanism()
    assert "symbolic" in robot._repr_html_()
    assert cells(robot._repr_html_())[1][-1] == "u"


def test_an_assembly_on_paper_is_its_incidence_matrix():
    rows = CRAB._repr_latex_().split(r"\hline ")[1].split(r" \\ ")
    found = [re.findall(r"\\text\{(.*?)\}", row) for row in rows]
    assert [row[0] for row in found] == [*CRAB.modules, "dyads"]
    np.testing.assert_array_equal(np.array([row[1:-1] for row in found[:-1]], dtype=int), CRAB.aim())


def test_a_recording_tells_where_joints_went():
    row = cells(RUN._repr_html_())[1]
    assert row[:2] == ["0 to 0.05", "m0/hinge"]
    low, high = map(float, row[2].split(" to "))
    assert low == pytest.approx(RUN.q[:, 0].min(), rel=1e-3)
    assert high == pytest.approx(RUN.q[:, 0].max(), rel=1e-3)
    assert float(row[3]) == pytest.approx(np.abs(RUN.v[:, 0]).max(), rel=1e-3)
    floating = mr.simulate(CRAB.mechanism(floating=True), duration=0.002)
    assert cells(floating._repr_html_())[1][2] == "quaternion"


def test_a_recording_tells_its_events():
    beyond = mr.simulate(CRAB.mechanism(), v0=[20.0, 0, 0], duration=0.2)
    assert beyond.events
    table = cells(beyond._repr_html_())
    at = table.index(["t [s]", "kind", "what"])
    assert table[at + 1][1:] == ["limit", "joint m0/hinge passed its limit"]
    assert "events" not in RUN._repr_html_()


def test_a_module_type():
    table = cells(mr.module_type("scout")._repr_html_())
    assert ["part", "A", "1.0 kg"] in table
    assert ["joint", "turn", "revolute, B – disc"] in table
    assert ["port", "3", "cobold on disc"] in table
    assert ["parameter", "effort", "4 N m: largest torque of the hinge"] in table


def test_names_cannot_break_the_page():
    html = CRAB.labelled("<script>alert(1)</script>").mechanism()._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_long_tables_are_cut():
    table = tabular.html("many", ["a", "b"], [(i, i) for i in range(500)])
    assert len(cells(table)) == 52
    assert cells(table)[-1] == ["… 500 in all", ""]


def test_words_in_formulas():
    assert tabular.text("50 % of m_0 & 3²") == r"\text{50 \% of m\_0 \& 3$^2$}"
    assert tabular.text("a\\b ~ {c}") == r"\text{a$\backslash $b $\sim $ \{c\}}"
