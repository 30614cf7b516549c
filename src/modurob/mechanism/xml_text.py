"""Numbers and trees as the text of XML files."""

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree as ET


def numbers(values: Iterable[Any]) -> str:
    """Numbers to their last bit, with spaces between them."""
    return " ".join(repr(float(x) + 0.0) for x in values)


def document(root: ET.Element) -> str:
    """The text of a file."""
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
