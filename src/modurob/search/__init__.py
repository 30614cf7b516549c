"""Search for designs: enumeration of all assemblies, evaluation for a task, and evolution."""

from modurob.search.arms import ArmSet
from modurob.search.counting import number_of_assemblies
from modurob.search.enumeration import assemblies
from modurob.search.evolution import Design
from modurob.search.operators import OPERATORS
from modurob.search.searching import Designs, Progress, search_designs
from modurob.search.spanning import Span
from modurob.search.task import TASKS, Refused, Task
from modurob.search.walking import Walk

__all__ = [
    "OPERATORS",
    "TASKS",
    "ArmSet",
    "Design",
    "Designs",
    "Progress",
    "Refused",
    "Span",
    "Task",
    "Walk",
    "assemblies",
    "number_of_assemblies",
    "search_designs",
]
