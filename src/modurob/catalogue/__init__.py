"""Module types as data files: rigid parts, joints between them, ports to dock by."""

from modurob.catalogue import library
from modurob.catalogue.checking import check
from modurob.catalogue.library import module_type, named, names, problems, user_folder
from modurob.catalogue.module import Connector, Module, ModuleJoint, Part, PartShape, Port
from modurob.catalogue.module_type import ModuleType

__all__ = [
    "Connector",
    "Module",
    "ModuleJoint",
    "ModuleType",
    "Part",
    "PartShape",
    "Port",
    "check",
    "library",
    "module_type",
    "named",
    "names",
    "problems",
    "user_folder",
]
