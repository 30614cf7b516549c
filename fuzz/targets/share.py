"""Share links: a robot opened from a text or an address, as the studio does it."""

import base64
import json
import zlib
from functools import cache
from random import Random

import modurob as mr
from fuzz.mutation import mutated_bytes, mutated_data, mutated_text
from fuzz.targets import assembly, urdf
from fuzz.targets.files import encoded
from modurob.studio import describe, protocol, share
from modurob.studio.design import Design
from modurob.studio.imported import Imported
from modurob.studio.opening import opened


@cache
def texts() -> list[str]:
    """Valid share texts."""
    designs = [Design(mr.load("crab")), Design(mr.loads(assembly.OWN)), Imported(urdf.ARM, "arm.urdf")]
    packed = [share.packed(design) for design in designs]
    return [*packed, f"http://127.0.0.1:8000/?key=abc{share.MARK}{packed[0]}"]


def inputs() -> list[bytes]:
    return [text.encode() for text in texts()]


def mutated(rng: Random) -> bytes:
    text = rng.choice(texts())
    if rng.random() < 0.3:
        return encoded(mutated_text(rng, text, texts()))
    content = share.unpacked(text)
    if rng.random() < 0.1:
        return _packed(mutated_bytes(rng, content.encode()))
    return _packed(encoded(json.dumps(_mutated(rng, json.loads(content)))))


def _mutated(rng: Random, data: dict) -> object:
    """A saved design of which a field, or the text of the robot in it, is mutated."""
    robot = "robot" if "robot" in data else "urdf"
    if rng.random() < 0.5:
        return mutated_data(rng, data)
    return {**data, robot: mutated_text(rng, data[robot], [data[robot]])}


def _packed(content: bytes) -> bytes:
    squeezer = zlib.compressobj(1, wbits=-15)
    return base64.urlsafe_b64encode(squeezer.compress(content) + squeezer.flush()).rstrip(b"=")


def run(data: bytes) -> None:
    design = opened(data.decode("utf-8", "surrogatepass"))
    json.loads(protocol.encode(protocol.Robot(describe.robot(design))))
    share.packed(design)
