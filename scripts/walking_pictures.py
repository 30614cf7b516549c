"""python -m scripts.walking_pictures [name ...]: films of docs/walking.md; needs Chromium and the extra `video`."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

import modurob as mr
from examples.walking import ORGANISMS, walked
from modurob.viewer import film
from modurob.viewer.scene import Chapter, film_times

OUT = Path(__file__).parents[1] / "docs" / "images" / "walking"
FPS, SPEED, START, DURATION, SIZE, COLOURS = 8.0, 2.0, 2.0, 6.0, (1200, 640), 48
SEEN, WIDTH = 1.5, 420  # sizes of the robot in a picture, and pixels across
TILE, THICK = 0.1, 0.01  # of the floor [m]
FROM = (1.0, -0.45, 0.55)  # to the camera
LARGEST = 700_000  # bytes of one film


def on_floor(robot: mr.Mechanism, q: np.ndarray) -> mr.Mechanism:
    """The robot over tiles wherever it goes, so that it is seen to travel."""
    at = robot.forward_kinematics(q).bodies[:, 1:, :2, 3].reshape(-1, 2)
    low, high = np.floor(at.min(axis=0) / TILE - 1).astype(int), np.ceil(at.max(axis=0) / TILE + 1).astype(int)
    floor = mr.Builder("floor")
    for i in range(low[0], high[0]):
        for j in range(low[1], high[1]):
            X = mr.spatial.se3.pose(None, np.array([(i + 0.5) * TILE, (j + 0.5) * TILE, -THICK / 2]))
            floor.shape("box", (TILE, TILE, THICK), "world", X, ("#e8ecf0", "#b7c1cc")[(i + j) % 2])
    return replace(robot, shapes=(*robot.shapes, *floor.build().shapes))


def around_robot(pictures: list[bytes]) -> list[bytes]:
    """The part of pictures where colours are: the robot, which the camera follows."""
    pages = [Image.open(io.BytesIO(png)).convert("RGB") for png in pictures]
    vivid = np.any([np.ptp(np.asarray(page, dtype=int), axis=-1) > 60 for page in pages], axis=0)
    rows, columns = np.flatnonzero(vivid.any(axis=1)), np.flatnonzero(vivid.any(axis=0))
    x, y, width = (columns[0] + columns[-1]) / 2, (rows[0] + rows[-1]) / 2, SEEN * np.ptp(columns)
    height = max(SEEN * np.ptp(rows), 0.45 * width)
    box = [round(v) for v in (x - width / 2, y - height / 2, x + width / 2, y + height / 2)]
    kept = []
    for page in pages:
        out = io.BytesIO()
        page.crop(box).resize((WIDTH, round(WIDTH * height / width))).save(out, "PNG")
        kept.append(out.getvalue())
    return kept


def content(run: mr.Recording) -> bytes:
    """A film of some seconds, by a camera that goes along."""
    kept = (run.t >= START) & (run.t <= START + DURATION)
    story = [Chapter(on_floor(run.robot, run.q[kept]), run.t[kept], run.q[kept])]
    times = film_times(story, FPS, SPEED)
    return film.gif(around_robot(film.pictures(story, times, SIZE, FPS / SPEED, **{"from": FROM})), FPS, COLOURS)


def scouts(duration: float) -> mr.Recording:
    """Six Scouts on tracks, docked in a row, that the hinge of the one on its side leads to the left."""
    convoy = mr.Assembly.single("m0", "scout_drive")
    for i in range(1, 6):
        convoy = convoy.dock(f"m{i}", "scout_drive", at=f"m{i - 1}/3", by="4")
    posture = {"m2/turn": np.pi / 2, "m3/turn": -np.pi / 2, "m3/hinge": -0.5}
    robot = mr.on_wheels(convoy.mechanism(floating=True), speed=0.15, posture=posture)
    return mr.simulate(robot, duration=duration, ground=mr.Ground(friction=0.8), tick=0.02)


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name in sys.argv[1:] or (*ORGANISMS, "scouts"):
        duration = START + DURATION
        drawn = content(scouts(duration - 1.0) if name == "scouts" else walked(name, found=False, duration=duration))
        if len(drawn) > LARGEST:
            raise SystemExit(f"{name}.gif has {len(drawn)} bytes: expected at most {LARGEST}")
        (OUT / f"{name}.gif").write_bytes(drawn)
        print(name, len(drawn), flush=True)


if __name__ == "__main__":
    main()
