"""python -m scripts.package --out dist: wheel and sdist, installed where nothing else is, and used from there.

The wheel is built from the sdist, so that the sdist is whole; an example and the command line run in an empty folder, and every
data file of the source tree must be in what was installed.
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "modurob"
WHERE = "import modurob, pathlib; print(pathlib.Path(modurob.__file__).parent); print(modurob.__version__)"
USES = """
import modurob as mr
robot = mr.load("crab").robot()
run = mr.simulate(robot, duration=0.05)
page = run.show("run.html").read_text()
assert page.startswith("<!doctype html>") and len(page) > 200_000
assert set(mr.shipped_robots()) >= {"crab", "lwa4p"}
"""


def data_files(package: Path) -> set[str]:
    """Every file of a package that is no byte code, relative to it."""
    return {str(p.relative_to(package)) for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts}


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints; an error with its own words if it fails."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def built(out: Path) -> Path:
    """The wheel, made from the sdist, both in `out`."""
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    return max(out.glob("modurob-*.whl"), key=lambda path: path.stat().st_mtime)


def installed(wheel: Path, folder: Path) -> Path:
    """The Python of a new environment that has the wheel and what it needs."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return python


def check(python: Path, folder: Path) -> None:
    """The package is whole and works, away from its source."""
    package, version = run(python, "-c", WHERE, cwd=folder).split()
    if ROOT in Path(package).parents:
        raise SystemExit(f"{package} is the source tree, not what was installed")
    if missing := data_files(SOURCE) - data_files(Path(package)):
        raise SystemExit(f"not in the wheel: {', '.join(sorted(missing)[:10])}")
    print(run(python, ROOT / "examples" / "crab.py", cwd=folder))
    run(python, "-c", USES, cwd=folder)
    run(python.parent / "modurob", "info", "crab", cwd=folder)
    print(f"modurob {version} works from its wheel")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=ROOT / "dist")
    out = arguments.parse_args().out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        check(installed(built(out), Path(folder)), Path(folder))


if __name__ == "__main__":
    main()
