"""python -m scripts.gallery_pictures: pictures of docs/gallery.md and first_robot.md; needs Chromium and the extra `video`."""

import io
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import modurob as mr
from modurob.viewer import film
from modurob.viewer.scene import Chapter

DOCS = Path(__file__).parents[1] / "docs"
SIZE = (480, 360)
QUALITY = 82


class Entry(NamedTuple):
    """A robot of the gallery: its title, the lines that make it, itself and how it stands."""

    title: str
    code: str
    robot: mr.Mechanism
    q: Any

    @property
    def picture(self) -> str:
        """The name of its picture."""
        return picture(self.title)


def picture(title: str) -> str:
    """The name of the picture of a robot."""
    return re.sub(r"\W+", "_", title.lower()).strip("_") + ".webp"


def codes(text: str) -> dict[str, str]:
    """The lines that make each robot of the page, by its title."""
    return dict(re.findall(r"\n### (.*?)\n.*?```python\n(.*?)```", text, re.DOTALL))


def entry(title: str, code: str) -> Entry:
    """A robot of the page, made by its lines."""
    names: dict[str, Any] = {"np": np, "mr": mr}
    exec(compile(code, f"docs/gallery.md: {title}", "exec"), names)
    robot = names["robot"]
    return Entry(title, code, robot, np.asarray(names.get("q", robot.neutral()), dtype=float))


# the picture of docs/first_robot.md
FIRST = Entry("first robot", "", mr.Assembly.from_grid([["B"]] * 3).mechanism(base="m2"), np.array([0.5, -0.8]))


def main() -> None:
    """All pictures, drawn one after the other by one browser."""
    gallery = codes((DOCS / "gallery.md").read_text(encoding="utf-8"))
    found = [*(entry(title, code) for title, code in gallery.items()), FIRST]
    chapters = [Chapter(e.robot, np.array([float(k)]), e.q[None], k) for k, e in enumerate(found)]
    drawn = film.pictures(chapters, np.arange(len(found)), SIZE, 1.0)
    folder = DOCS / "images" / "gallery"
    folder.mkdir(exist_ok=True)
    for robot, png in zip(found, drawn, strict=True):
        with Image.open(io.BytesIO(png)) as image:
            image.save((folder.parent if robot is FIRST else folder) / robot.picture, "WEBP", quality=QUALITY)


if __name__ == "__main__":
    main()
