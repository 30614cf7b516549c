"""Motions through way points, and the commands that plan them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from modurob.studio import offers
from modurob.studio.protocol.checked import Checked, Command, Number, among

MOST_POINTS = 200
Limit = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
InterpolationName = Annotated[str, among(offers.interpolations)]


@dataclass(frozen=True)
class WayPoint(Checked):
    """A pose on the way: when it is passed [s], and all coordinates [rad or m]."""

    t: Annotated[float, Field(ge=0, le=600)]
    q: Annotated[tuple[Number, ...], Field(max_length=4000)]


@dataclass(frozen=True)
class Motion(Checked):
    """A motion from way point to way point: what goes between them, and whose times it keeps.

    `timing` is that of the list, slowed down as far as limits ask, or the fastest along the path that keeps them.
    """

    points: Annotated[tuple[WayPoint, ...], Field(max_length=MOST_POINTS)] = ()
    interpolation: InterpolationName = "minimum-jerk"
    timing: Literal["listed", "within", "fastest"] = "listed"
    velocity: Limit = 1.0  # of every joint [rad/s or m/s]
    acceleration: Limit = 4.0  # [rad/s² or m/s²]
    jerk: Limit = 40.0  # [rad/s³ or m/s³], where a motion has one
    blend: Limit = 0.2  # around way points that are cut [s]


@dataclass(frozen=True)
class PlanMotion(Command):
    """Work out a motion, and show it among the runs."""

    motion: Motion
