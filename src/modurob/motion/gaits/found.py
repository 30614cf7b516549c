"""Organisms that can walk, and gaits that `search_gait` found for them, stored with the settings of the search."""

from importlib import resources
from pathlib import Path

from modurob.catalogue.plain_yaml import parse_yaml
from modurob.errors import GaitError, choices, explained
from modurob.motion.gaits.patterns import Phases
from modurob.motion.gaits.recipe import Gait
from modurob.robot import Assembly

ORGANISMS = ("caterpillar", "convoy", "crab", "hexapod", "quadruped", "snake", "wheel")


@explained
def walking_robot(name: str) -> Assembly:
    """An organism that can walk: caterpillar, convoy, crab, hexapod, quadruped, snake or wheel.

    >>> mr.walking_robot("hexapod").robot().nv
    20
    """
    if name not in ORGANISMS:
        raise GaitError(f"no organism {name!r:.60}: {choices(str(name), ORGANISMS)}")
    if name == "crab":
        return Assembly.load(name).with_setup(floating=True)
    return Assembly.load(organism_file(name))


def organism_file(name: str) -> Path:
    """Where the robot file of an organism is; the crab's is that of the shipped robot."""
    return Path(__file__).parent / "organisms" / f"{name}.yaml"


def found_gaits() -> tuple[str, ...]:
    """Names of the organisms with a gait that was found.

    >>> from modurob.motion.gaits.found import found_gaits
    >>> "crab" in found_gaits()
    True
    """
    folder = resources.files("modurob.motion.gaits") / "data"
    return tuple(sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")))


@explained
def found_gait(robot: str) -> Gait:
    """The gait that a search found for a `walking_robot`; its file contains the settings of the search.

    >>> crab = mr.walking_robot("crab").robot()
    >>> walker = mr.driven(crab, mr.found_gait("crab"))
    """
    if robot not in found_gaits():
        raise GaitError(f"no gait was found for {robot!r:.60}: {choices(str(robot), found_gaits())}")
    text = (resources.files("modurob.motion.gaits") / "data" / f"{robot}.yaml").read_text(encoding="utf-8")
    data = parse_yaml(text, f"{robot}.yaml")
    joints = data["joints"]
    return Gait(
        Phases({name: wave[2] for name, wave in joints.items()}),
        amplitude={name: wave[1] for name, wave in joints.items()},
        frequency=data["frequency"],
        posture={name: wave[0] for name, wave in joints.items()},
    )
