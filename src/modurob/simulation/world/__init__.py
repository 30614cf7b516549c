"""Organisms that move in one world and change shape on the way."""

from modurob.simulation.world.organism import Living, Organism
from modurob.simulation.world.population import Impact
from modurob.simulation.world.world import World

__all__ = ["Impact", "Living", "Organism", "World"]
