"""What the page is made with is what was fetched: every file is listed, with its hash and its licence."""

import hashlib
from pathlib import Path

import pytest

from modurob.studio.page_files import FOLDER

HERE = Path(__file__).parent


@pytest.mark.parametrize("vendor", [FOLDER / "vendor", HERE / "vendor"], ids=["page", "tests"])
def test_vendored_files_are_as_they_were_fetched(vendor: Path) -> None:
    listed = {}
    for line in (vendor / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        listed[name] = digest
    found = {str(p.relative_to(vendor)) for p in vendor.rglob("*") if p.is_file() and p.name != "SHA256SUMS"}
    assert found == set(listed)
    for name, digest in listed.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest, name
    for package in vendor.iterdir():
        if package.is_dir():
            assert (package / "LICENSE").is_file(), package.name


def test_the_page_names_no_other_server() -> None:
    """No address in our own files leads elsewhere; SVG's namespace is a name, not an address."""
    for path in [*FOLDER.glob("*.*"), *FOLDER.glob("js/*.js")]:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, path.name
        assert "https://" not in text, path.name
