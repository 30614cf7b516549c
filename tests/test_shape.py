"""The package is a pipe of short functions: what its contract says of imports holds without exceptions, and for all of it."""

import ast
import re
import tomllib
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "modurob"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def contract():
    """The one contract of imports."""
    (found,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return found


def test_the_contract_has_no_ignored_edge_and_leaves_nothing_out():
    assert set(contract()) == {"name", "type", "layers"}
    parts = {path.stem if path.is_file() else path.name for path in SOURCE.iterdir() if path.suffix in ("", ".py")}
    assert {layer.removeprefix("modurob.") for layer in contract()["layers"]} == parts - {
        "__init__",
        "__main__",
        "__pycache__",
    }


def test_contributors_are_told_the_layers_as_they_are():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = re.search(r"The package is layered: `([^`]+)`", text)[1].replace("\n", " ")
    assert [x.strip() for x in told.split(",")] == [x.removeprefix("modurob.") for x in reversed(contract()["layers"])]


def test_no_import_goes_past_the_contract():
    """The package as a whole is above all of its parts but the command line; a name in a string would be seen by no contract."""
    wrong, above = [], {SOURCE / "__init__.py", SOURCE / "__main__.py", *(SOURCE / "cli").iterdir()}
    for path, tree in TREES.items():
        for node in ast.walk(tree) if path not in above else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom) and node.module == "modurob":
                wrong += [(path, name) for name in names if not _is_part(name) and name != "__version__"]
            elif isinstance(node, ast.Import):
                wrong += [(path, name) for name in names if name == "modurob"]
            elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
                wrong += [(path, ast.unparse(node)) for x in node.args if "modurob" in ast.unparse(x)]
    assert wrong == []


def _is_part(name):
    return (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()


def test_functions_are_short():
    """Lines of their bodies without docstrings: three in the middle, and nine of ten have at most thirteen."""
    lengths = [
        _lines(node)
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(lengths) > 5000
    assert median(lengths) <= 3
    assert quantiles(lengths, n=10)[-1] <= 13


def _lines(function):
    body = function.body[ast.get_docstring(function) is not None :]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0
