"""python -m scripts.readme_film: the moving picture that README opens with; needs Chromium and the extra `video`.

Two organisms of four modules drift towards each other, dock, and go on as one snake under the same law: the run of
examples/docking.py with more modules, seen as a whole.
"""

from pathlib import Path

import numpy as np

import modurob as mr
from modurob.spatial import quaternion
from modurob.viewer import film
from modurob.viewer.scene import Chapter, film_times

OUT = Path(__file__).parents[1] / "docs" / "images" / "docking.gif"
FPS, DURATION, MEET, SIZE, COLOURS = 12.5, 5.0, 1.5, (640, 300), 96
FROM = (0.9, -0.35, 0.5)  # to the camera
LARGEST = 3_000_000  # bytes


def chain(prefix: str, kinds: str) -> mr.Assembly:
    """Modules in a row, B a Backbone, S a Scout."""
    names = {"B": "backbone", "S": "scout"}
    assembly = mr.Assembly.single(f"{prefix}0", names[kinds[0]])
    for i, kind in enumerate(kinds[1:], start=1):
        assembly = assembly.dock(f"{prefix}{i}", names[kind], at=f"{prefix}{i - 1}/3", by="4")
    return assembly


class Snake:
    """Joints held straight, and swung as a snake's once all are one."""

    def on(self, robot: mr.Mechanism):
        still = np.zeros(robot.nv)
        straight = robot.neutral(), still, still
        one = all(name in robot.frames for name in ("m0", "n0"))
        return mr.gait("snake", amplitude=0.55, frequency=0.6).on(robot) if one else lambda t: straight


def world() -> tuple[mr.World, mr.Merge]:
    """Two chains, the second on its way to the port of the first, and when it is there."""
    first, second, drift, spin = (
        chain("m", "BBBB"),
        chain("n", "BSBB"),
        np.array([0.1, -0.22, 0.08]),
        np.array([0, 0.8, 0]),
    )
    both = first.joined(second, "m3/3", "n0/4").mechanism(base="m0", floating=True)
    there = both.frame_pose(both.neutral(), "n0")[:3, 3]
    turn = quaternion.exp(-MEET * spin)
    robot = second.mechanism(floating=True)
    rest = np.zeros(robot.nv - 6)
    q = np.concatenate([there - MEET * drift, turn, rest])
    v = np.concatenate([quaternion.to_matrix(turn).T @ drift, spin, rest])
    law = mr.ComputedTorque(kp=100, kd=20, reference=Snake(), partial=True)
    organisms = {"first": mr.Organism(first, controller=law), "second": mr.Organism(second, q, v, controller=law)}
    return mr.World(organisms, gravity=(0, 0, 0)), mr.Merge(MEET, "first", "second", "m3/3", "n0/4")


def chapters() -> list[Chapter]:
    """All organisms together, before and after they dock."""
    place, merge = world()
    seen: list[tuple[mr.Mechanism, float, np.ndarray]] = [(place.mechanism, place.t, place.state.q)]
    for _ in range(round(FPS * DURATION)):
        waiting = [merge] if place.t <= MEET < place.t + 1 / FPS else []
        place.run(1 / FPS, waiting)
        seen.append((place.mechanism, place.t, place.state.q))
    robots = list(dict.fromkeys(robot for robot, *_ in seen))
    return [Chapter(r, *map(np.array, zip(*((t, q) for o, t, q in seen if o == r), strict=True))) for r in robots]


def main() -> None:
    story = chapters()
    times = film_times(story, FPS, 1.0)
    content = film.gif(film.pictures(story, times, SIZE, FPS, **{"from": FROM}), FPS, COLOURS)
    if len(content) > LARGEST:
        raise SystemExit(f"{OUT.name} has {len(content)} bytes: expected at most {LARGEST}")
    OUT.write_bytes(content)


if __name__ == "__main__":
    main()
