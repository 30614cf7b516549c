"""YAML read without trust, and written so that it reads back the same.

Mappings, lists and plain values only: no tags, no aliases, no repeated keys, and limits on size, number and nesting that are
checked before the work. Keys are text as written, so that a port 07 stays 07. Values are those of YAML 1.2: null, true, false,
numbers and text; dates and times are text.
"""

import math
import re
from typing import Any

import yaml

from modurob.errors import FormatError

# a robot of ten thousand modules takes under 2 MB and 70,000 values
LARGEST_TEXT = 8_000_000
MOST_VALUES = 150_000
DEEPEST = 32
LONGEST_NUMBER = 400

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_REAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
# libyaml's parser where it is installed: ten times faster, the same events
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Dumper(yaml.SafeDumper):
    """SafeDumper without aliases that quotes text which would read back as something else: 1e5, line breaks other than \\n."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = '"' if any(c in text for c in "\r\x85\u2028\u2029\ufeff") else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(rf"^(?:{_REAL.pattern})$"), list("-+.0123456789"))


def dump_yaml(data: dict[str, Any]) -> str:
    """Plain data as YAML text that `parse_yaml` reads back equal.

    >>> dump_yaml({"name": "1e5", "mass": 1.5})
    "name: '1e5'\\nmass: 1.5\\n"
    """
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def parse_yaml(text: str, where: str) -> dict[str, Any]:
    """The mapping that a YAML text holds; `where` names the text in errors.

    >>> parse_yaml("a: 1\\nb: [x, 2.5, true, 12:30]", "example")
    {'a': 1, 'b': ['x', 2.5, True, '12:30']}
    """
    try:
        require_size(text)
        data = _Document(text).read()
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FormatError(f"{where}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise FormatError(f"{where}: expected a mapping (key: value lines), found {type(data).__name__}")
    return data


def require_size(text: str) -> None:
    """Refuse what is too large before any of it is parsed."""
    if len(text) > LARGEST_TEXT:
        raise FormatError(f"{len(text) / 1e6:.1f} MB of text: expected at most {LARGEST_TEXT / 1e6:.0f} MB")
    # every value but the first stands after one of these
    if text.count(",") + text.count("\n") > 2 * MOST_VALUES:
        raise FormatError(f"more than {MOST_VALUES} values: split the file, or describe fewer modules")


class _Document:
    """The one document of a text, made from the parser's events."""

    def __init__(self, text: str):
        self._parser, self._left = _Parser(text), MOST_VALUES

    def read(self) -> Any:
        try:
            self._parser.get_event()  # start of the stream
            if self._parser.check_event(yaml.StreamEndEvent):
                return None
            self._parser.get_event()  # start of the document
            data = self._value(1)
            self._parser.get_event()  # end of the document
            if not self._parser.check_event(yaml.StreamEndEvent):
                raise FormatError("expected a single document: a second one begins with ---")
            return data
        finally:
            self._parser.dispose()

    def _value(self, depth: int) -> Any:
        event = self._parser.get_event()
        self._left -= 1
        if self._left < 0:
            raise FormatError(f"more than {MOST_VALUES} values")
        if isinstance(event, yaml.AliasEvent):
            raise FormatError(f"{_line(event)}: an alias (*{event.anchor}): write the value out")
        if event.tag is not None:
            raise FormatError(
                f"{_line(event)}: a tag ({event.tag.replace('tag:yaml.org,2002:', '!!')}): write the plain value"
            )
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event.value, event) if event.implicit[0] else event.value
        if depth > DEEPEST:
            raise FormatError(f"nested deeper than {DEEPEST} levels")
        return self._list(depth) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(depth)

    def _list(self, depth: int) -> list[Any]:
        items = []
        while not self._parser.check_event(yaml.SequenceEndEvent):
            items.append(self._value(depth + 1))
        self._parser.get_event()
        return items

    def _mapping(self, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not self._parser.check_event(yaml.MappingEndEvent):
            key = self._key(mapping)
            mapping[key] = self._value(depth + 1)
        self._parser.get_event()
        return mapping

    def _key(self, taken: dict[str, Any]) -> str:
        """The next key, as written."""
        event = self._parser.peek_event()
        if isinstance(event, yaml.AliasEvent) or event.tag is not None:
            self._value(1)  # says what is wrong
        if not isinstance(event, yaml.ScalarEvent) or (event.implicit[0] and event.value == "<<"):
            raise FormatError(f"{_line(event)}: expected a plain key")
        if event.value in taken:
            raise FormatError(f"{_line(event)}: key {event.value!r:.80} stands twice")
        return self._parser.get_event().value


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"


def _scalar(text: str, event: Any) -> Any:
    """The value of a plain word: a number, true, false, null, or the word itself."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+.0123456789" or not _REAL.fullmatch(text):
        return text
    whole = bool(_INTEGER.fullmatch(text))
    if not whole and text.lstrip("-+").isdigit():
        return text  # 007 is a name
    number = float(text) if len(text) <= LONGEST_NUMBER else math.inf
    if math.isinf(number):
        raise FormatError(f"{_line(event)}: {text[:20]}{'...' * (len(text) > 20)} is too large for a number")
    # whole numbers that a float cannot hold exactly become floats
    return int(text) if whole and abs(number) < 2**53 else number
