"""Factored polynomials as text and as LaTeX."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

import sympy

from modurob.symbolic.factored import LARGE_NUMBER, Power, Product, Sum, arranged, lowest_terms
from modurob.symbolic.ring import Expr, Generator, Polynomial

Namer = Callable[[Generator], str]
# sums of consecutive angles with more are written q1 + ... + q9 in LaTeX
MOST_ANGLES = 5


class Printer(ABC):
    """Writes sums and products; the language defines the form of numbers, powers and parentheses."""

    def __init__(self, namer: Namer):
        self._name = namer

    def polynomial(self, p: Polynomial) -> str:
        """Factored, with the coefficients of cosines and sines collected."""
        return self.sum(arranged(p))

    def sum(self, s: Sum) -> str:
        text = " ".join(sign + self.product(term) for sign, term in self.signed(s))
        return text.replace("- ", "-", 1) if text.startswith("- ") else text or "0"

    def signed(self, s: Sum) -> list[tuple[str, Product]]:
        """Each term with the sign before it, and with a positive coefficient."""
        terms = [("- " if t.coefficient < 0 else "+ ", Product(abs(t.coefficient), t.factors)) for t in s.terms]
        return [("" if i == 0 and sign == "+ " else sign, term) for i, (sign, term) in enumerate(terms)]

    def product(self, p: Product) -> str:
        """A product with positive coefficient."""
        return self.joined(p.coefficient, [self.factor(f) for f in p.factors])

    def factor(self, f: Power | Sum) -> str:
        if isinstance(f, Power):
            return self.raised(self._name(f.generator), f.exponent)
        return self.raised(self._parentheses(self.sum(f)), f.exponent)

    @abstractmethod
    def joined(self, coefficient: Fraction, factors: list[str]) -> str:
        """A number times factors."""

    @abstractmethod
    def raised(self, base: str, exponent: int) -> str:
        """A power."""

    @abstractmethod
    def _parentheses(self, text: str) -> str: ...


class TextPrinter(Printer):
    """l1*l2*m2*cos(q2), as Python reads it."""

    def joined(self, coefficient: Fraction, factors: list[str]) -> str:
        if coefficient == 1 and factors:
            return "*".join(factors)
        if coefficient.denominator == 1 or not factors:
            return "*".join([str(coefficient), *factors])
        head = [] if coefficient.numerator == 1 else [str(coefficient.numerator)]
        return f"{'*'.join([*head, *factors])}/{coefficient.denominator}"

    def raised(self, base: str, exponent: int) -> str:
        return base if exponent == 1 else f"{base}**{exponent}"

    def _parentheses(self, text: str) -> str:
        return f"({text})"


class LatexPrinter(Printer):
    """l_{1} l_{2} m_{2} \\cos(q_{2})."""

    def joined(self, coefficient: Fraction, factors: list[str]) -> str:
        if coefficient == 1 and factors:
            return " ".join(factors)
        top, bottom = coefficient.numerator, coefficient.denominator
        head = str(top) if bottom == 1 else rf"\tfrac{{{top}}}{{{bottom}}}"
        return " ".join([head, *factors])

    def raised(self, base: str, exponent: int) -> str:
        if exponent == 1:
            return base
        function = re.match(r"(\\cos|\\sin)(.*)", base)
        return f"{function[1]}^{{{exponent}}}{function[2]}" if function else f"{base}^{{{exponent}}}"

    def _parentheses(self, text: str) -> str:
        return rf"\left({text}\right)"


def factored_expression(s: Sum) -> Expr:
    """For SymPy, factored as it is."""
    terms = []
    for t in s.terms:
        factors = (
            f.generator.expression**f.exponent if isinstance(f, Power) else factored_expression(f) for f in t.factors
        )
        terms.append(sympy.Mul(sympy.Rational(t.coefficient.numerator, t.coefficient.denominator), *factors))
    return sympy.Add(*terms) ** s.exponent


def ratio(above: Polynomial, below: Polynomial) -> Expr:
    """above/below for SymPy, factored, in lowest terms."""
    above, below = lowest_terms(above, below)
    largest = max(abs(c) for c in below.terms.values())
    if largest > LARGE_NUMBER:
        # no number that is written is larger than it need be
        above, below = above / largest, below / largest
    return factored_expression(arranged(above)) / factored_expression(arranged(below))


def text_name(generator: Generator) -> str:
    """The name itself."""
    return generator.name


def latex_text(text: str) -> str:
    r"""Plain words for LaTeX: m3_left is m3\_left, kg m² is kg m$^{2}$."""
    escaped = re.sub(r"([\\{}~^])", "?", text)
    return re.sub(r"([_&%#$])", r"\\\1", escaped).replace("²", "$^{2}$")


def latex_symbol(name: str) -> str:
    r"""qd3 is \dot{q}_{3}, Ixy2 is I_{xy,2}, m1 is m_{1}, mb1 is m_{b1}, alpha1 is \alpha_{1}."""
    found = re.fullmatch(r"q(dd|d)?(\d+)", name)
    if found:
        head = {"d": r"\dot{q}", "dd": r"\ddot{q}", None: "q"}[found[1]]
        return f"{head}_{{{found[2]}}}"
    inertia = re.fullmatch(r"I([xyz]{2})(\d*)", name)
    if inertia:
        return f"I_{{{','.join(part for part in inertia.groups() if part)}}}"
    of_body = re.fullmatch(r"([A-Za-z])(b\d+)", name)
    if of_body:
        return f"{of_body[1]}_{{{of_body[2]}}}"
    indexed = re.fullmatch(r"([A-Za-z]+)_?(\d+)", name)
    if indexed:
        return f"{_letters(indexed[1])}_{{{indexed[2]}}}"
    return _letters(name)


def _letters(name: str) -> str:
    if len(name) == 1:
        return name
    return r"\alpha" if name == "alpha" else rf"\mathrm{{{latex_text(name)}}}"


def latex_name(generator: Generator) -> str:
    r"""\cos(q_{1}+q_{2}) for waves, \sqrt{2} for roots."""
    wave = re.fullmatch(r"(cos|sin)\((.*)\)", generator.name)
    if wave:
        return rf"\{wave[1]}\left({_latex_angle(wave[2])}\right)"
    root = re.fullmatch(r"sqrt\((\d+)\)", generator.name)
    if root:
        return rf"\sqrt{{{root[1]}}}"
    return latex_symbol(generator.name)


def _latex_angle(angle: str) -> str:
    r"""q_{1}+q_{2}, or q_{1}+\cdots+q_{9}."""
    numbers = [int(n) for n in re.findall(r"q(\d+)", angle)]
    consecutive = angle == " + ".join(f"q{n}" for n in numbers) and numbers == list(range(numbers[0], numbers[-1] + 1))
    if consecutive and len(numbers) > MOST_ANGLES:
        return rf"q_{{{numbers[0]}}}+\cdots+q_{{{numbers[-1]}}}"
    plain = angle.replace("*", " ").replace(" + ", "+").replace(" - ", "-")
    return re.sub(r"[A-Za-z]\w*", lambda m: latex_symbol(m[0]), plain)


def latex_shorthand(generator: Generator) -> str:
    """c_{12} for cos(q1 + q2), s_{2} for sin(q2); other angles are written out."""
    wave = re.fullmatch(r"(cos|sin)\(((?:q\d+)(?: \+ q\d+)*)\)", generator.name)
    if not wave:
        return latex_name(generator)
    numbers = re.findall(r"\d+", wave[2])
    joint = "" if all(len(n) == 1 for n in numbers) else ","
    return f"{wave[1][0]}_{{{joint.join(numbers)}}}"
