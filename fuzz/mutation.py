"""Mutations of bytes, of text and of plain data, drawn from a random stream."""

import re
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

# as texts and as values: bounds of number types, words with a meaning somewhere, what breaks lines, quotes and names
NUMBERS = (
    *("0", "-0", "1", "-1", "2", "7", "0.5", "1e-320", "1e-9", "1e9", "1e308", "-1e308", "1e999", "nan", "inf", "-inf"),
    *(".inf", ".nan", "NaN", "Infinity", "2147483648", "-9223372036854775809", "1" + "0" * 400, "0x10", "1_000", "007"),
    *("1.2.3", "1e", "+-1", "1,5", "٣", "1j", "90", "360", "1:30"),
)
WORDS = (
    *(
        "",
        " ",
        "\0",
        "é",
        "😀",
        "\u2028",
        "\ufeff",
        "\ud800",
        "\t",
        "\r\n",
        "\n\n",
        "'",
        '"',
        "\\",
        "/",
        "//",
        "-",
        "@",
    ),
    *("world", "m0", "m1", "m0/3", "m0/hinge", "A", "virtual", "backbone", "null", "true", "~", "None", "x" * 500),
    *("../../etc/passwd", "file.yaml", "!!python/object:os.system x", "!!binary x", "&a", "*a", "<<: 1", "---", "%"),
    *("#", ": ", "- ", "[" * 40, "{" * 40, "]", "}", "(", ")", "<", ">", "<!-- ", "&lt;", "&#0;", "<![CDATA["),
    *("format: modurob robot 2", "format: modurob module 1", "__class__", "m0.__init__", "sin(1)", "1/0", "9**9**9"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 3.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), 2**31, 2**63, 10**400),
    *("", "0", "nan", "inf", "world", "m0", "m0/3", "m0/hinge", "x" * 500, "\0", "é", "../a.yaml", [], {}, [[]], [0]),
    *([0, 0], [0, 0, 0], [1, 2, 3, 4], {"a": 1}, [None], ["m0"], {"type": "scout"}),
)
LONGEST = 200_000
_TOKEN = re.compile(r"[\w.+-]+|[^\w\s]")


def mutated_text(rng: Random, text: str, others: Sequence[str] = ()) -> str:
    """A text after one to four mutations; `others` lend it words."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice(_OF_TEXT)(rng, text, rng.choice(others) if others else text)[:LONGEST]
    return text


def mutated_bytes(rng: Random, data: bytes) -> bytes:
    """Bytes of which some are flipped, left out, repeated or replaced."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        i, j = sorted(rng.randrange(len(changed) + 1) for _ in range(2))
        j = min(j, i + rng.choice((1, 2, 8, 400)))
        kind = rng.randrange(5)
        if kind == 0 and i < len(changed):
            changed[i] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[i:j]
        elif kind == 2:
            changed[i:i] = changed[i:j] * rng.choice((1, 2, 50))
        elif kind == 3:
            changed[i:j] = rng.randbytes(j - i)
        else:
            changed[i:j] = rng.choice((b"\0", b"\xff", b"\x80")) * (j - i)
    return bytes(changed[:LONGEST])


def mutated_data(rng: Random, data: Any) -> Any:
    """Plain data of lists, mappings and values after one to three mutations."""
    data = deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(data))
        if not places:
            return rng.choice(VALUES)
        holder, key = rng.choice(places)
        rng.choice(_OF_DATA)(rng, holder, key, places)
    return data


# ---- text ----


def _token(rng: Random, text: str) -> tuple[int, int]:
    found = [m.span() for m in _TOKEN.finditer(text)]
    return rng.choice(found) if found else (0, 0)


def _slice(rng: Random, text: str) -> tuple[int, int]:
    i = rng.randrange(len(text) + 1)
    return i, min(len(text), i + rng.choice((1, 3, 10, 100)))


def _replace_number(rng: Random, text: str, other: str) -> str:
    i, j = _token(rng, text)
    return text[:i] + rng.choice(NUMBERS) + text[j:]


def _replace_word(rng: Random, text: str, other: str) -> str:
    i, j = _token(rng, text)
    return text[:i] + rng.choice(WORDS) + text[j:]


def _borrow_word(rng: Random, text: str, other: str) -> str:
    (i, j), (k, l) = _token(rng, text), _token(rng, other)
    return text[:i] + other[k:l] + text[j:]


def _insert(rng: Random, text: str, other: str) -> str:
    i = rng.randrange(len(text) + 1)
    return text[:i] + rng.choice((*WORDS, *NUMBERS)) + text[i:]


def _delete(rng: Random, text: str, other: str) -> str:
    i, j = _slice(rng, text)
    return text[:i] + text[j:]


def _repeat(rng: Random, text: str, other: str) -> str:
    i, j = _slice(rng, text)
    return text[:i] + text[i:j] * rng.choice((2, 2, 3, 50, 2000)) + text[j:]


def _splice(rng: Random, text: str, other: str) -> str:
    i, (k, l) = rng.randrange(len(text) + 1), _slice(rng, other)
    return text[:i] + other[k:l] + text[i:]


def _cut(rng: Random, text: str, other: str) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _move_line(rng: Random, text: str, other: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    line = lines.pop(rng.randrange(len(lines)))
    copies = rng.choice(([], [line], [line, line]))
    k = rng.randrange(len(lines) + 1)
    return "".join([*lines[:k], *copies, *lines[k:]])


_OF_TEXT = (
    *(_replace_number, _replace_word, _borrow_word, _insert, _delete, _repeat, _splice, _cut, _move_line),
    *(_replace_number, _borrow_word),
)

# ---- plain data ----


def _places(data: Any) -> Any:
    """All (holder, key) of plain data."""
    keys = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield data, key
        yield from _places(data[key])


def _replace(rng: Random, holder: Any, key: Any, places: Any) -> None:
    holder[key] = deepcopy(rng.choice(VALUES))


def _borrow(rng: Random, holder: Any, key: Any, places: Any) -> None:
    there, other = rng.choice(places)
    holder[key] = deepcopy(there[other])


def _remove(rng: Random, holder: Any, key: Any, places: Any) -> None:
    del holder[key]


def _add(rng: Random, holder: Any, key: Any, places: Any) -> None:
    copies = rng.choice((1, 1, 2, 300))
    if isinstance(holder, list):
        holder[key:key] = [deepcopy(holder[key]) for _ in range(copies)]
    else:
        holder[rng.choice((f"{key}x", *WORDS))] = deepcopy(holder[key])


def _nudge(rng: Random, holder: Any, key: Any, places: Any) -> None:
    """A number scaled or of another sign, a text changed, anything else put into a list."""
    x = holder[key]
    if isinstance(x, str):
        holder[key] = mutated_text(rng, x)
    elif isinstance(x, int | float) and not isinstance(x, bool) and abs(x) < 1e300:
        holder[key] = rng.choice((x + 1, x - 1, -x, float(x), x / 1000, str(x)))
    else:
        holder[key] = [x]


_OF_DATA = (_replace, _replace, _borrow, _borrow, _remove, _add, _nudge, _nudge)
