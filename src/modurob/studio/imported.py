"""A robot that was not built of modules: links and joints from a URDF file, or from one of MuJoCo."""

import re
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from modurob.caching import cached_property
from modurob.control.drives import floating
from modurob.errors import ModurobWarning, StudioError
from modurob.robot import Mechanism
from modurob.viewer import meshes

MOST_LINKS = 1000
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ROOT = re.compile(r"<\s*([A-Za-z_][\w.-]*)")  # not <?xml ...?>, nor <!DOCTYPE ...>
_NAMES_FILES = re.compile(
    r"""<\s*(?:include|model|plugin|extension)\b|\s(?:file|fileup|filedown|fileleft|fileright|filefront|fileback)\s*="""
)
# the list of warnings is one for all threads
_reading = threading.Lock()


@dataclass(frozen=True)
class Imported:
    """A URDF or MJCF text, whether its root link floats, and gravity in world axes [m/s²]."""

    text: str
    file: str = ""  # its name where it came from
    called: str = ""  # a name that differs from the file's own
    floating: bool = False
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    path: Path | None = None  # of a file on this machine that the studio was started with, whose meshes are beside it

    @property
    def mjcf(self) -> bool:
        """Whether it is a text of MuJoCo: its root element says so."""
        root = _ROOT.search(_COMMENT.sub("", self.text))
        return root is not None and root[1] == "mujoco"

    @property
    def origin(self) -> str:
        """What it came from."""
        return "file of MuJoCo" if self.mjcf else "URDF file"

    @property
    def ending(self) -> str:
        """Of files of its kind."""
        return "xml" if self.mjcf else "urdf"

    def as_it_stands(self) -> "Imported":
        """Floating and falling as the file says, where it does: files of MuJoCo do."""
        if not self.mjcf:
            return self
        with self._file() as path:
            robot = Mechanism.from_mjcf(path)
        x, y, z = (float(g) for g in robot.gravity)
        return replace(self, floating=bool(floating(robot)), gravity=(x, y, z))

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

    def _robot(self, path: Path) -> Mechanism:
        if self.mjcf:
            return replace(Mechanism.from_mjcf(path), gravity=np.array(self.gravity))
        return Mechanism.from_urdf(path, self.floating, self.gravity)

    @contextmanager
    def _file(self) -> Iterator[Path]:
        """The text as a file; what is too large, or names other files of this machine, is refused before it is read."""
        where, links = self.file or "the text", len(re.findall(r"<(?:link|body)\b", self.text))
        if links > MOST_LINKS:
            raise StudioError(f"{where}: {links} links: the studio takes at most {MOST_LINKS}")
        if self.path:
            yield self.path
            return
        if self.mjcf and (named := _NAMES_FILES.search(self.text)):
            raise StudioError(
                f"{where}: {named[0].strip()} names another file, which does not come with a text: "
                "modurob studio FILE reads those beside the file"
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / (re.sub(r"[^\w.-]", "_", self.file)[-80:] or f"robot.{self.ending}")
            path.write_bytes(self._encoded)
            yield path

    @property
    def _encoded(self) -> bytes:
        try:
            return self.text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise StudioError(f"{self.file or 'the text'}: cannot be read as text: {error}") from None

    @cached_property
    def _read(self) -> tuple[Mechanism, tuple[str, ...]]:
        with _reading, self._file() as path, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModurobWarning)
            robot = self._robot(path)
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
