"""The one way in which examples of docstrings are run: they go on from the lines of the docstring of the package."""

import doctest
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import matplotlib as mpl

import modurob as mr


@cache
def names() -> dict[str, Any]:
    """What the docstring of the package says that all examples go on from."""
    example = doctest.DocTestParser().get_doctest(mr.__doc__ or "", {}, "modurob", None, 0)
    assert doctest.DocTestRunner().run(example, clear_globs=False).failed == 0
    return {name: value for name, value in example.globs.items() if not name.startswith("__")}


def require_true(text: str, home: ModuleType, name: str) -> None:
    """The examples in a docstring of the module `home` give what they say, without a warning of ours."""
    example = doctest.DocTestParser().get_doctest(text, {**vars(home), **names()}, name, None, 0)
    mpl.use("Agg")
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", mr.ModurobWarning)
        failed = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=said.append).failed
    assert failed == 0, "".join(said)


def require_all_true(module: ModuleType) -> int:
    """All examples of a module give what they say; how many lines of examples there are."""
    found = [x for x in doctest.DocTestFinder().find(module) if x.examples]
    for x in found:
        require_true(x.docstring or "", module, x.name)
    return sum(len(x.examples) for x in found)
