"""Numbers and trees as the text of XML files."""

import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree as ET

from modurob.errors import FormatError

NONE_OF_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def numbers(values: Iterable[Any]) -> str:
    """Numbers to their last bit, with spaces between them."""
    return " ".join(repr(float(x) + 0.0) for x in values)


def document(root: ET.Element) -> str:
    """The text of a file, or an error for names with characters that XML does not have."""
    for element in root.iter():
        for text in (element.text or "", *element.attrib.values()):
            if NONE_OF_XML.search(text):
                raise FormatError(
                    f"{text!r:.80} in <{element.tag}>: expected names without control characters, which XML lacks"
                )
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
