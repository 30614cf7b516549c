"""Designs over assemblies: all there are, those that are fit for a task, and better ones by evolution."""

from modurob.search.counting import number_of_assemblies
from modurob.search.enumeration import assemblies

__all__ = ["assemblies", "number_of_assemblies"]
