"""Equations for people: one line, a page of text, a notebook."""

from html import escape
from typing import TYPE_CHECKING

from modurob.algorithms import loop_rank
from modurob.symbolic.printing import LatexPrinter, latex_name, latex_symbol, latex_text

if TYPE_CHECKING:
    import sympy

    from modurob.symbolic.equations import Equations

# larger equations are not typeset in a notebook
MOST_TYPESET = 600
# squares of lengths of springs with more terms are only counted
LONGEST_DEFINITION = 40


def short(eq: "Equations") -> str:
    """What it is and how large."""
    n = len(occurring(eq))
    parameters = f"{n or 'no'} parameter{'s' * (n != 1)}"
    return f"Equations({eq.robot.name!r}, {_degrees(eq)}, {eq.terms('M', 'N')} terms in M and N, {parameters})"


def _degrees(eq: "Equations") -> str:
    n = eq.robot.nv - loop_rank(eq.robot)
    return f"{n} degree{'s' * (n != 1)} of freedom"


def heading(eq: "Equations") -> str:
    """The law, the robot, the size."""
    return f"{law(eq)} for {eq.robot.name}: {_degrees(eq)}, {eq.terms()} terms in M, C and N"


def law(eq: "Equations") -> str:
    """M(q) vdot + C(q, v) v + D v + S(q) + N(q) = tau, without D and S where there are none."""
    own = {"D": " + D v", "S": " + S(q)"}
    held = " + K(q)^T lambda, K v = 0" if eq.robot.constraints else ""
    return f"M(q) vdot + C(q, v) v{''.join(own[p] for p in eq.parts() if p in own)} + N(q) = tau{held}"


def notes(eq: "Equations") -> list[str]:
    """Which forces of the robot the equations are without, and why; those with one reason in one line."""
    reasons: dict[str, list[str]] = {}
    for name, reason in eq.left_out:
        reasons.setdefault(reason, []).append(name)
    return [
        f"not in these equations, as there is no closed form: {', '.join(names)} ({reason})"
        for reason, names in reasons.items()
    ]


def definitions(eq: "Equations", latex: bool = False) -> list[str]:
    """The symbols for the length of each spring between frames, and for its reciprocal."""
    lines = []
    for spring, squared, length, inverse in eq.coordinates.distances:
        s, w = length.name, inverse.name
        if latex:
            root = LatexPrinter(latex_name).polynomial(eq.displayed(squared))
            root = (
                root if len(squared.terms) <= LONGEST_DEFINITION else rf"\text{{a sum of {len(squared.terms)} terms}}"
            )
            lines.append(rf"${latex_symbol(s)} = \sqrt{{{root}}}$: length of {latex_text(spring)} [m]")
            lines.append(f"${latex_symbol(w)} = 1/{latex_symbol(s)}$")
        else:
            lines.append(f"{s}: length of {spring}, sqrt({eq.text(squared, LONGEST_DEFINITION)}) [m]")
            lines.append(f"{w}: 1/{s} [1/m]")
    return lines


def text(eq: "Equations", longest: int) -> str:
    """Heading, symbols and entries, long ones only counted."""
    entries = [f"{name} = {entry}" for name, entry in eq.entries(*eq.parts(), longest=longest)]
    lines = [heading(eq), *(f"  {line}" for line in (*legend(eq), *notes(eq))), *entries]
    if any(len(p.terms) > longest for part in eq.parts() for p in eq.polynomial(part).ravel()):
        lines.append(f"entries with more than {longest} terms are only counted: entries() writes all of them")
    return "\n".join(lines)


def legend(eq: "Equations", latex: bool = False, shorthand: bool = False) -> list[str]:
    """What the symbols mean, a line each, with units and the numbers of this robot."""

    def line(symbol: str, meaning: str) -> str:
        return f"${latex_symbol(symbol)}$: {latex_text(meaning)}" if latex else f"{symbol}: {meaning}"

    lines = [line(f"q{i + 1}", meaning) for i, meaning in coordinates(eq).items()]
    lines += [line(str(p), meaning(eq, p)) for p in occurring(eq)]
    lines += definitions(eq, latex)
    if shorthand:
        lines.append("$c_{12} = \\cos(q_{1}+q_{2})$, $s_{12} = \\sin(q_{1}+q_{2})$ and so on")
    return lines


def occurring(eq: "Equations") -> "list[sympy.Symbol]":
    """The parameters that M, N, D and S have, and so C."""
    used = 0
    for part in ("M", "N", "D", "S"):
        for p in eq.polynomial(part).ravel():
            for monomial in p.terms:
                used |= monomial
    found = {s for g, _ in eq.ring.exponents(used) for s in g.expression.free_symbols}
    return [p for p in eq.parameters if p in found]


def coordinates(eq: "Equations") -> dict[int, str]:
    """What each coordinate is."""
    found = {}
    for joint in eq.robot.joints:
        if not joint.mimics:
            for k, i in enumerate(range(joint.q_slice.start, joint.q_slice.stop)):
                found[i] = f"coordinate of joint {joint.name} ({joint.kind}) [{joint.type.units[k]}]"
    return found


def meaning(eq: "Equations", symbol: "sympy.Symbol") -> str:
    """What a parameter is, and its number in this robot."""
    quantity = eq.quantities.get(symbol)
    return (
        "parameter of the robot"
        if quantity is None
        else f"{quantity.meaning}, {quantity.value:.6g} {quantity.unit}".rstrip()
    )


def notebook_latex(eq: "Equations") -> str:
    """A formula for a notebook; only the law where the equations are long."""
    from modurob.symbolic import typeset

    return rf"$\displaystyle {eq.latex() if eq.terms() <= MOST_TYPESET else typeset.law(eq)}$"


def html(eq: "Equations") -> str:
    """Heading, symbols as a table, and the matrices or their first entries."""
    rows = "".join(
        f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in (x.split(": ", 1) for x in legend(eq))
    )
    head = f"<p>{escape(heading(eq))}</p><details><summary>symbols</summary><table>{rows}</table></details>"
    head += "".join(f"<p>{escape(note)}</p>" for note in notes(eq))
    if eq.terms() <= MOST_TYPESET:
        return f"{head}$$\n{escape(eq.latex(), quote=False)}\n$$"
    shown = eq.entries("M", longest=60)[:12]
    entries = "\n".join(f"{name} = {entry}" for name, entry in shown)
    return f"{head}<pre>{escape(entries)}\n...</pre>"
