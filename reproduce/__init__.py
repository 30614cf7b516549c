"""What the sources show, found again and checked: `reproduce(folder)` draws their figures and returns the checks."""

from reproduce.check import Check
from reproduce.registry import FIGURES, picture_name, reproduce

__all__ = ["FIGURES", "Check", "picture_name", "reproduce"]
