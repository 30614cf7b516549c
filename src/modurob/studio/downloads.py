"""Files that a user takes away."""

import asyncio
import re
import tempfile
from pathlib import Path

from starlette.responses import Response

from modurob.assembly.files import dumps
from modurob.errors import StudioError, choices
from modurob.mechanism.urdf import urdf
from modurob.simulation import Recording
from modurob.studio.derivation import Derivation
from modurob.studio.protocol import Derive
from modurob.studio.session import Session

EQUATIONS = {"equations.tex": "latex", "equations.py": "python", "equations.c": "c"}
FILES = ("robot.yaml", "robot.urdf", *EQUATIONS, "run-0.csv", "run-0.mrun")
_RUN = re.compile(r"^run-([0-9]{1,9})\.(csv|mrun)$")


async def answer(session: Session, name: str, query: dict[str, str]) -> Response:
    """The file of that name."""
    data = await asyncio.to_thread(content, session, name, query)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


def content(session: Session, name: str, query: dict[str, str]) -> str | bytes:
    """What the file of that name holds."""
    if name == "robot.yaml":
        return dumps(session.design.assembly)
    if name == "robot.urdf":
        return urdf(session.robot)
    if name in EQUATIONS:
        symbols = tuple(s for s in query.get("symbols", "").split(",") if s)
        eq = Derivation(session.robot, Derive(symbols), lambda stage, done: None).derive()
        return getattr(eq, EQUATIONS[name])()
    if found := _RUN.match(name):
        return _run_file(session.run(int(found[1])).recording, found[2])
    raise StudioError(f"no file {name!r:.80}: {choices(name, FILES)}")


def _run_file(recording: Recording, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        (recording.to_csv if suffix == "csv" else recording.save)(path)
        return path.read_bytes()
