"""Factored polynomials as text and as LaTeX."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

from modurob.symbolic.factored import Power, Product, Sum, collected, horner
from modurob.symbolic.ring import Generator, Polynomial

Namer = Callable[[Generator], str]


class Printer(ABC):
    """Writes sums and products; how numbers, powers and parentheses look is the language's."""

    def __init__(self, namer: Namer):
        self._name = namer

    def polynomial(self, p: Polynomial) -> str:
        """The coefficients of cosines and sines collected; fully factored where that is shorter by a quarter."""
        by_wave, nested = self.sum(collected(p)), self.sum(horner(p))
        return nested if len(nested) < 0.75 * len(by_wave) else by_wave

    def sum(self, s: Sum) -> str:
        if not s.terms:
            return "0"
        text = ""
        for i, term in enumerate(s.terms):
            sign = "-" if term.coefficient < 0 else "+"
            body = self.product(Product(abs(term.coefficient), term.factors))
            text += (f"-{body}" if sign == "-" else body) if i == 0 else f" {sign} {body}"
        return text

    def product(self, p: Product) -> str:
        """A product with positive coefficient."""
        return self._joined(p.coefficient, [self._factor(f) for f in p.factors])

    def _factor(self, f: Power | Sum) -> str:
        return self._parentheses(self.sum(f)) if isinstance(f, Sum) else self._power(f)

    @abstractmethod
    def _joined(self, coefficient: Fraction, factors: list[str]) -> str: ...

    @abstractmethod
    def _power(self, p: Power) -> str: ...

    @abstractmethod
    def _parentheses(self, text: str) -> str: ...


class TextPrinter(Printer):
    """l1*l2*m2*cos(q2), as Python reads it."""

    def _joined(self, coefficient: Fraction, factors: list[str]) -> str:
        if coefficient == 1 and factors:
            return "*".join(factors)
        if coefficient.denominator == 1 or not factors:
            return "*".join([str(coefficient), *factors])
        head = [] if coefficient.numerator == 1 else [str(coefficient.numerator)]
        return f"{'*'.join([*head, *factors])}/{coefficient.denominator}"

    def _power(self, p: Power) -> str:
        name = self._name(p.generator)
        return name if p.exponent == 1 else f"{name}**{p.exponent}"

    def _parentheses(self, text: str) -> str:
        return f"({text})"


class LatexPrinter(Printer):
    """l_{1} l_{2} m_{2} \\cos(q_{2})."""

    def _joined(self, coefficient: Fraction, factors: list[str]) -> str:
        if coefficient == 1 and factors:
            return " ".join(factors)
        top, bottom = coefficient.numerator, coefficient.denominator
        head = str(top) if bottom == 1 else rf"\tfrac{{{top}}}{{{bottom}}}"
        return " ".join([head, *factors])

    def _power(self, p: Power) -> str:
        name = self._name(p.generator)
        if p.exponent == 1:
            return name
        function = re.match(r"(\\cos|\\sin)(.*)", name)
        return f"{function[1]}^{{{p.exponent}}}{function[2]}" if function else f"{name}^{{{p.exponent}}}"

    def _parentheses(self, text: str) -> str:
        return rf"\left({text}\right)"


def text_name(generator: Generator) -> str:
    """The name itself."""
    return generator.name


def latex_symbol(name: str) -> str:
    r"""qd3 is \dot{q}_{3}, Ixy2 is I_{xy,2}, m1 is m_{1}."""
    found = re.fullmatch(r"([A-Za-z]+?)(dd|d)?(\d+)", name)
    if found and found[1] == "q":
        head = {"d": r"\dot{q}", "dd": r"\ddot{q}", None: "q"}[found[2]]
        return f"{head}_{{{found[3]}}}"
    inertia = re.fullmatch(r"I([xyz]{2})(\d+)", name)
    if inertia:
        return f"I_{{{inertia[1]},{inertia[2]}}}"
    indexed = re.fullmatch(r"([A-Za-z]+)_?(\d+)", name)
    if indexed:
        head = indexed[1] if len(indexed[1]) == 1 else rf"\mathrm{{{indexed[1]}}}"
        return f"{head}_{{{indexed[2]}}}"
    if len(name) == 1:
        return name
    return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


def latex_name(generator: Generator) -> str:
    r"""\cos(q_{1}+q_{2}) for waves, \sqrt{2} for roots."""
    wave = re.fullmatch(r"(cos|sin)\((.*)\)", generator.name)
    if wave:
        angle = re.sub(
            r"[A-Za-z]\w*",
            lambda m: latex_symbol(m[0]),
            wave[2].replace("*", r" ").replace(" + ", "+").replace(" - ", "-"),
        )
        return rf"\{wave[1]}\left({angle}\right)"
    root = re.fullmatch(r"sqrt\((\d+)\)", generator.name)
    if root:
        return rf"\sqrt{{{root[1]}}}"
    return latex_symbol(generator.name)


def latex_shorthand(generator: Generator) -> str:
    """c_{12} for cos(q1 + q2), s_{2} for sin(q2); other angles are written out."""
    wave = re.fullmatch(r"(cos|sin)\(((?:q\d+)(?: \+ q\d+)*)\)", generator.name)
    if not wave:
        return latex_name(generator)
    numbers = re.findall(r"\d+", wave[2])
    joint = "" if all(len(n) == 1 for n in numbers) else ","
    return f"{wave[1][0]}_{{{joint.join(numbers)}}}"
