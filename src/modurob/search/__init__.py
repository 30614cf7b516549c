"""Designs over assemblies: all there are, those that are fit for a task, and better ones by evolution."""

from modurob.search.counting import number_of_assemblies
from modurob.search.enumeration import assemblies
from modurob.search.evolution import Design
from modurob.search.operators import OPERATORS
from modurob.search.searching import Designs, Progress, search_designs
from modurob.search.task import TASKS, Refused, Task
from modurob.search.walking import Walk

__all__ = [
    "OPERATORS",
    "TASKS",
    "Design",
    "Designs",
    "Progress",
    "Refused",
    "Task",
    "Walk",
    "assemblies",
    "number_of_assemblies",
    "search_designs",
]
