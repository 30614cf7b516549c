"""What a module is: rigid parts, joints between them, ports to dock by. Module types are data files."""

from modurob.catalogue import library
from modurob.catalogue.library import module_type, names, user_folder
from modurob.catalogue.module_type import Connector, Module, ModuleJoint, ModuleType, Part, PartShape, Port

__all__ = [
    "Connector",
    "Module",
    "ModuleJoint",
    "ModuleType",
    "Part",
    "PartShape",
    "Port",
    "library",
    "module_type",
    "names",
    "user_folder",
]
