"""A robot that was not built of modules: links and joints from a URDF file."""

import re
import tempfile
import threading
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from modurob.caching import cached_property
from modurob.errors import ModurobWarning, StudioError
from modurob.robot import Mechanism
from modurob.viewer import meshes

MOST_LINKS = 1000
# the list of warnings is one for all threads
_reading = threading.Lock()


@dataclass(frozen=True)
class Imported:
    """A URDF text, whether its root link floats, and gravity in world axes [m/s²]."""

    text: str
    file: str = ""  # its name where it came from
    called: str = ""  # a name that differs from the file's own
    floating: bool = False
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    path: Path | None = None  # of a file on this machine that the studio was started with, whose meshes are beside it

    @property
    def name(self) -> str:
        return self.called or self.robot.name

    @cached_property
    def robot(self) -> Mechanism:
        """The robot of the file."""
        return self._read[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading the file brought up."""
        return self._read[1]

    @property
    def base(self) -> str:
        """The root link."""
        return next((name for name in self.robot.frames if name != "world"), "world")

    def kept(self) -> "Imported":
        """What makes the design and nothing that follows from it."""
        return replace(self)

    def design(self) -> "Imported":
        """The design again."""
        return self

    @property
    def _encoded(self) -> bytes:
        try:
            return self.text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise StudioError(f"{self.file or 'the text'}: cannot be read as text: {error}") from None

    @cached_property
    def _read(self) -> tuple[Mechanism, tuple[str, ...]]:
        links = len(re.findall(r"<link\b", self.text))
        if links > MOST_LINKS:
            raise StudioError(f"{self.file or 'the text'}: {links} links: the studio takes at most {MOST_LINKS}")
        with _reading, tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModurobWarning)
            path = self.path or Path(folder) / (re.sub(r"[^\w.-]", "_", self.file)[-80:] or "robot.urdf")
            if not self.path:
                path.write_bytes(self._encoded)
            robot = Mechanism.from_urdf(path, self.floating, self.gravity)
            drawn = robot if self.path else replace(robot, shapes=tuple(s for s in robot.shapes if s.kind != "mesh"))
            meshes.warn(robot.name, drawn.shapes)
        notes = dict.fromkeys(str(w.message) for w in caught if w.category is ModurobWarning)
        return drawn, (*notes, *_left_out(robot, drawn))


def _left_out(robot: Mechanism, drawn: Mechanism) -> tuple[str, ...]:
    """Which meshes a text names that came without them; files of this machine are not looked for in texts from elsewhere."""
    names = [Path(s.file).name for s in robot.shapes if s.kind == "mesh"][:6]
    if not names or drawn is robot:
        return ()
    return (
        f"{robot.name}: meshes do not come with a text ({', '.join(names)}): modurob studio FILE draws those beside the file",
    )
