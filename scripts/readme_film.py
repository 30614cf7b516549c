"""python -m scripts.readme_film: the moving picture that README opens with; needs Chromium and the extra `video`.

Five modules glide over the ground to five others, latch when their ports meet, and both go on as a caterpillar that walks.
"""

from pathlib import Path

import numpy as np

import modurob as mr
from modurob.viewer import film
from modurob.viewer.scene import Chapter, film_times

OUT = Path(__file__).parents[1] / "docs" / "images" / "docking.gif"
FPS, DURATION, WALKS, SIZE, COLOURS = 12.5, 5.0, 0.6, (600, 280), 64
STEP, SLOW, HELD = 0.02, 0.4, 6  # what is kept [s], until when it is shown slowly [s], and pictures before it begins
GAP, SPEED = 0.3, 2.25  # between the two [m], and of the second at the start [m/s]
FROM = (0.75, -0.55, 0.42)  # to the camera
LARGEST = 3_000_000  # bytes


def chain(first: int, count: int = 5) -> mr.Assembly:
    """Backbones in a row."""
    assembly = mr.Assembly.single(f"m{first}", "backbone")
    for i in range(first + 1, first + count):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return assembly


class Caterpillar:
    """Joints held straight, and swung by the gait that was found once all are one."""

    def on(self, robot: mr.Mechanism):
        still = np.zeros(robot.nv)
        straight = robot.neutral(), still, still
        if not all(name in robot.frames for name in ("m0", "m9")):
            return lambda t: straight
        walk = mr.found_gait("caterpillar").on(robot)

        def begun(t: float):
            """The gait, which grows from rest within a second of its start."""
            x, xdot, xddot = walk(t)
            s = float(np.clip(t - WALKS, 0.0, 1.0))
            return s * np.asarray(x), s * np.asarray(xdot), s * np.asarray(xddot)

        return begun


def world() -> tuple[mr.World, mr.Merge]:
    """Two chains on the ground, the second on its way to the port of the first."""
    first, second = chain(0), chain(5)
    both = first.joined(second, "m4/3", "m5/4").mechanism(base="m0", floating=True)
    along = both.frame_pose(both.neutral(), "m5")[:3, 3]
    way = along / np.linalg.norm(along)
    robot = second.mechanism(floating=True)
    q, v = robot.on_ground().standing(), np.zeros(robot.nv)
    q[:3] += along + GAP * way
    v[:3] = -SPEED * way
    law = mr.PID(kp=60.0, kd=2.0, reference=Caterpillar())
    organisms = {"first": mr.Organism(first, controller=law), "second": mr.Organism(second, q, v, controller=law)}
    place = mr.World(organisms, ground=mr.Ground(friction=0.8))
    return place, mr.Merge("met", "first", "second", "m4/3", "m5/4", tolerance=(2e-3, 0.05))


def chapters() -> list[Chapter]:
    """All organisms together, before and after they dock."""
    place, merge = world()
    seen: list[tuple[mr.Mechanism, float, np.ndarray]] = [(place.mechanism, place.t, place.state.q)]
    for _ in range(round(DURATION / STEP)):
        place.run(STEP, [merge] if len(list(place)) > 1 else [])
        seen.append((place.mechanism, place.t, place.state.q))
    robots = list(dict.fromkeys(robot for robot, *_ in seen))
    return [Chapter(r, *map(np.array, zip(*((t, q) for o, t, q in seen if o == r), strict=True))) for r in robots]


def main() -> None:
    story = chapters()
    slow = np.arange(0.0, SLOW, STEP)
    times = np.concatenate([slow, film_times(story, FPS, 1.0)[round(SLOW * FPS) :]])
    seen = film.pictures(story, times, SIZE, 1 / STEP, **{"from": FROM})
    content = film.gif([seen[0]] * HELD + list(seen), FPS, COLOURS)
    if len(content) > LARGEST:
        raise SystemExit(f"{OUT.name} has {len(content)} bytes: expected at most {LARGEST}")
    OUT.write_bytes(content)


if __name__ == "__main__":
    main()
