"""The examples of docs/viewing.md run, one after another, and write what they say."""

import re
from pathlib import Path

from PIL import Image

TEXT = (Path(__file__).parents[2] / "docs" / "viewing.md").read_text()


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(code, "docs/viewing.md", "exec"), names)
    assert {p.name for p in tmp_path.iterdir()} == {
        "crab.html",
        "walk.html",
        "race.html",
        "crab.png",
        "walk.gif",
        "walk.glb",
    }
    with Image.open("walk.gif") as film:
        assert (film.n_frames, film.size) == (6, (320, 240))
