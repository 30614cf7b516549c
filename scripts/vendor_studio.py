"""Fetch what the studio's page is made with: pinned npm versions, checked by hash, without Node.

`python scripts/vendor_studio.py` fills the vendor folders of viewer, studio and tests again; a file that differs from its
package is an error, so a run without a change in `git status` proves that what is shipped is what was published.
"""

import base64
import hashlib
import io
import tarfile
import urllib.request
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "src/modurob/studio/static/vendor"
VIEW = ROOT / "src/modurob/viewer/static/vendor"
TESTS = ROOT / "tests/studio/vendor"
KATEX_FONTS = (
    "AMS-Regular",
    "Main-Bold",
    "Main-Italic",
    "Main-Regular",
    "Math-BoldItalic",
    "Math-Italic",
    "Size1-Regular",
    "Size2-Regular",
    "Size3-Regular",
    "Size4-Regular",
    "Typewriter-Regular",
)


class Package(NamedTuple):
    """An npm package at one version: the hash that the registry gives for it, and the files to take."""

    name: str
    version: str
    sha512: str  # base64
    files: tuple[str, ...]
    folder: Path


PACKAGES = (
    Package(
        "three",
        "0.187.0",
        "Qiu7R+Cmh8CstZsY1uJOSWnVlfo7ZtNLV7mF8Jltk3LB3AtDu9cRZlcnRKkAk8Y4z6KKw35z7Y7Urd7jWY8etA==",
        (
            "LICENSE",
            "build/three.module.js",
            "build/three.core.js",
            "examples/jsm/controls/OrbitControls.js",
            "examples/jsm/geometries/RoundedBoxGeometry.js",
        ),
        VIEW,
    ),
    Package(
        "uplot",
        "1.6.32",
        "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==",
        ("LICENSE", "dist/uPlot.esm.js", "dist/uPlot.min.css"),
        PAGE,
    ),
    Package(
        "katex",
        "0.19.1",
        "jG8uKntjSEcm2EpQOh0XturpPuuC9r3Sq5HLHdsFdWZT27E672SF19QEi+of0/YeOy15lDgRhKvr5614uRrEfA==",
        (
            "LICENSE",
            "dist/katex.mjs",
            "dist/katex.min.css",
            *(f"dist/fonts/KaTeX_{font}.woff2" for font in KATEX_FONTS),
        ),
        PAGE,
    ),
    Package(
        "axe-core",
        "4.14.0",
        "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
        ("LICENSE", "axe.min.js"),
        TESTS,
    ),
)


def fetched(package: Package) -> dict[str, bytes]:
    """The wanted files of a package, by path, after its hash was checked."""
    address = f"https://registry.npmjs.org/{package.name}/-/{package.name}-{package.version}.tgz"
    with urllib.request.urlopen(address, timeout=60) as answer:
        data = answer.read()
    found = base64.b64encode(hashlib.sha512(data).digest()).decode()
    if found != package.sha512:
        raise SystemExit(f"{address}: sha512 is {found}, expected {package.sha512}")
    files = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for path in package.files:
            member = archive.extractfile(f"package/{path}")
            if member is None:
                raise SystemExit(f"{address}: no file {path}")
            files[path] = member.read()
    return files


def main() -> None:
    """Write all files, and a list of their hashes."""
    sums: dict[Path, list[str]] = {VIEW: [], PAGE: [], TESTS: []}
    for package in PACKAGES:
        for path, data in fetched(package).items():
            # fonts stay beside the style sheet that names them
            name = path.split("dist/")[-1] if "fonts/" in path else Path(path).name
            target = package.folder / package.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            sums[package.folder].append(f"{hashlib.sha256(data).hexdigest()}  {package.name}/{name}")
        print(package.name, package.version)
    for folder, lines in sums.items():
        (folder / "SHA256SUMS").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
