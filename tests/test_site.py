"""The site has every page and every public name; the gallery's robots are made by the lines beside them."""

import ast
import contextlib
import inspect
import io
import re
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from scripts import api_pages, gallery_pictures

DOCS = Path(__file__).parent.parent / "docs"
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
CODES = gallery_pictures.codes(GALLERY)


def test_the_contents_name_every_page_once():
    trees = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    named = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    assert sorted(named) == sorted([*(p.stem for p in DOCS.glob("*.md") if p.stem != "index"), "api/index"])


def test_links_lead_to_pages_of_the_site():
    pages = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    links = {(name, link) for name, text in pages.items() for link in re.findall(r"\]\(([^):#]+\.md)[#)]", text)}
    assert len(links) > 30
    assert [(name, link) for name, link in sorted(links) if not (DOCS / link).is_file() or link.startswith("..")] == []


def test_the_reference_has_every_public_name_once():
    pages = api_pages.pages()
    found = re.findall(r"\.\. auto\w+:: modurob\.(\w+)", "".join(pages.values()))
    assert sorted(found) == sorted(mr.__all__)
    listed = re.findall(r"^(\w+)$", pages["index"].split("toctree")[1], re.MULTILINE)
    assert sorted([*listed, "index"]) == sorted(pages)


def test_old_pages_of_the_reference_go(tmp_path):
    (tmp_path / "gone.md").write_text("")
    api_pages.write(tmp_path)
    assert {p.stem for p in tmp_path.iterdir()} == set(api_pages.pages())


def test_docstrings_become_rst():
    text = "The |v| of *args, a_b, `q` (nq,).\nMore.\n\n>>> f(*a)\n1\n\nTree\n  a\n  b"
    assert api_pages.as_rst(text.split("\n")) == [
        r"The \|v\| of \*args, a\_b, ``q`` (nq,).",
        "More.",
        "",
        ">>> f(*a)",
        "1",
        "",
        "::",
        "",
        "   Tree",
        "     a",
        "     b",
        "",
    ]


def test_links_between_pages_lead_somewhere():
    for page in DOCS.glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (DOCS / link).exists(), f"{page.name}: {link}"


def test_the_gallery_shows_every_shipped_robot_and_a_picture_of_each():
    assert len(CODES) >= 25
    shipped = set(re.findall(r'mr\.load\("(\w+)"\)', GALLERY))
    assert set(mr.shipped_robots()) <= shipped
    pictures = re.findall(r"### (.*)\n!\[(.*)\]\(images/gallery/(.*)\)", GALLERY)
    assert [(title, title, gallery_pictures.picture(title)) for title in CODES] == pictures
    assert {p.name for p in (DOCS / "images" / "gallery").iterdir()} == {name for *_, name in pictures}


@pytest.mark.parametrize("title", CODES)
def test_a_robot_of_the_gallery_takes_five_statements_and_stands_as_it_is_drawn(title):
    entry = gallery_pictures.entry(title, CODES[title])
    assert len(ast.parse(entry.code).body) <= 5
    assert entry.q.shape == (entry.robot.nq,)
    if entry.robot.loops:
        assert np.abs(entry.robot.loop_error(entry.q)).max() < 1e-9


@pytest.mark.parametrize("page", ["first_robot", "coming_from"])
def test_pages_for_beginners_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n(?:```\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) >= 5
    for code, printed in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, f"docs/{page}.md", "exec"), names)
        assert out.getvalue() == printed


def test_names_that_are_compared_with_other_tools_exist():
    text = (DOCS / "coming_from.md").read_text(encoding="utf-8")
    for name in re.findall(r"`mr\.(\w+)", text):
        assert hasattr(mr, name), name
    for name in re.findall(r"`robot\.(\w+)\(", "".join(re.findall(r"\|[^|]*\|$", text, re.MULTILINE))):
        assert hasattr(mr.Mechanism, name), name


@pytest.mark.parametrize("name", sorted(mr.__all__))
def test_quoted_words_of_a_docstring_end_before_the_next(name):
    """The site's builder would take what follows for a part of the quotation, and end with an error."""
    shown = getattr(mr, name)
    own = vars(shown).values() if isinstance(shown, type) else ()
    texts = [inspect.getdoc(x) or "" for x in (shown, *(x for x in own if callable(x) or isinstance(x, property)))]
    assert [after for text in texts for after in text.split("`")[2::2] if after[:1].isalnum()] == []
