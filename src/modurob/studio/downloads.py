"""Files that a user takes away."""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from urllib.parse import quote

from starlette.responses import Response

from modurob.assembly import dumps
from modurob.errors import StudioError, choices
from modurob.mechanism import EXPORTS
from modurob.simulation import Recording
from modurob.studio import race, share
from modurob.studio.derivation import Derivation
from modurob.studio.design import AnyDesign
from modurob.studio.imported import Imported
from modurob.studio.protocol import Derive
from modurob.studio.python_text import python
from modurob.studio.session import Session
from modurob.viewer.glb import glb
from modurob.viewer.scene import still

EQUATIONS = {"equations.tex": "latex", "equations.py": "python", "equations.c": "c"}
_RUN = re.compile(r"^run-([0-9]{1,9})\.(csv|parquet|mrun|mcap)$")
_RUN_FILES = {"csv": "to_csv", "parquet": "to_parquet", "mrun": "save", "mcap": "to_mcap"}
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')


async def answer(session: Session, name: str, query: dict[str, str]) -> Response:
    """The file of that name, to be saved under the robot's."""
    data = await asyncio.to_thread(content, session, name, query)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(saved_as(session, name), safe='')}"}
    return Response(data, media_type="application/octet-stream", headers=headers)


def saved_as(session: Session, name: str) -> str:
    """What a file is called on the user's disk: crab.yaml, crab_equations.tex, crab_run-0.csv."""
    robot = _NOT_IN_NAMES.sub("_", session.design.name).strip(". ") or "robot"
    return name.replace("robot", robot, 1) if name.startswith("robot.") else f"{robot}_{name}"


def content(session: Session, name: str, query: dict[str, str]) -> str | bytes:
    """What the file of that name holds."""
    if name == "robot.yaml":
        return _yaml(session.posed)
    if name == "robot.py":
        return python(session.posed, session.q)
    if name == "robot.glb":
        return glb(*still(session.robot, session.q))
    if name == "robot.share":
        return share.packed(session.posed)
    if name in EQUATIONS:
        return _equations(session, name, query)
    if name in exports():
        return _export(session, name.removeprefix("robot."))
    if name == "race.json":
        return json.dumps(race.lanes(session, query.get("runs", "")))
    if found := _RUN.match(name):
        return _run_file(session.run(int(found[1])).recording, found[2])
    raise StudioError(f"no file {name!r:.80}: {choices(name, _files(session))}")


def _files(session: Session) -> list[str]:
    runs = [f"run-{number}.{kind}" for number in session.runs for kind in _RUN_FILES]
    return ["robot.yaml", "robot.py", "robot.glb", *exports(), "robot.share", *EQUATIONS, *runs]


def exports() -> list[str]:
    """The files of other tools that a robot can be written as, all that are registered."""
    return [f"robot.{ending}" for ending in EXPORTS]


def _export(session: Session, ending: str) -> str:
    """A robot that came as a file of this kind is given back as it came."""
    design = session.design
    return design.text if isinstance(design, Imported) and ending == design.ending else EXPORTS[ending](session.robot)


def _yaml(design: AnyDesign) -> str:
    if isinstance(design, Imported):
        raise StudioError(
            f"{design.name} came from a {design.origin} and has no modules to write as YAML: save it as URDF"
        )
    return dumps(design.assembly)


def _equations(session: Session, name: str, query: dict[str, str]) -> str:
    symbols = tuple(s for s in query.get("symbols", "").split(",") if s)
    eq = Derivation(session.robot, Derive(symbols), lambda stage, done: None).derive()
    if name == "equations.tex":
        return eq.latex(query.get("shorthand") == "1", document=True)
    return getattr(eq, EQUATIONS[name])()


def _run_file(recording: Recording, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        getattr(recording, _RUN_FILES[suffix])(path)
        return path.read_bytes()
