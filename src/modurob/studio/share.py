"""A robot as a text that can be sent around: its design, compressed, in letters that addresses may hold."""

import base64
import binascii
import json
import re
import zlib

from modurob.errors import FormatError
from modurob.studio.archive import as_data
from modurob.studio.design import AnyDesign

MARK = "#robot="  # before the text in an address
LONGEST = 2_000_000  # characters of what is in it
_LETTERS = re.compile(r"[A-Za-z0-9_-]+")
CUT_OFF = "this share text cannot be read: it may have been cut off; expected all of what Export shows"


def packed(design: AnyDesign) -> str:
    """The text of a design."""
    squeezer = zlib.compressobj(9, wbits=-15)
    data = squeezer.compress(json.dumps(as_data(design)).encode()) + squeezer.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unpacked(text: str) -> str:
    """What a share text, or an address that ends in one, holds: a saved design, or a robot file."""
    code = text.rpartition(MARK)[2].strip()
    if not _LETTERS.fullmatch(code):
        raise FormatError(CUT_OFF)
    try:
        data = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
        opener = zlib.decompressobj(-15)
        found = opener.decompress(data, LONGEST + 1)
        # what is too long is not unpacked further
        if len(found) > LONGEST:
            raise FormatError(f"this share text holds more than {LONGEST / 1e6:g} MB: expected a robot")
        if not opener.eof:
            raise FormatError(CUT_OFF)
        return found.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise FormatError(CUT_OFF) from None


def is_shared(text: str) -> bool:
    """Whether a text is one of these, or an address with one."""
    text = text.strip()
    return MARK in text[:2000] or (len(text) > 20 and _LETTERS.fullmatch(text) is not None)
