"""Parses BookSim2's configurations: ``key = value;``, with comments after ``//``.

A value is a whole number, a number with a decimal point or an exponent, a word, or a list in braces without blanks.
Each key accepts only values of certain types. For example, some keys accept ``2.0`` but not ``2``.

ONNXim's files have sections instead: ``[config]``, then ``key = value`` on separate lines, without semicolons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal, NoReturn

from weft.errors import PeerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Kind = Literal["int", "float", "text"]
Value = int | float | str

# A comment line in a file with sections begins with one of these characters.
_REMARKS = (";", "#", "//")

# Kinds of tokens, each with a regular expression. At each place, the kind with the longest match counts; if matches
# have equal length, the first of their kinds counts.
_LEXEMES = (
    ("comment", re.compile(r"//[^\n]*")),
    ("blank", re.compile(r"[ \t\r]+")),
    ("newline", re.compile(r"\n")),
    ("text", re.compile(r"\{[A-Za-z0-9_\-.({,)}]+\}")),
    ("int", re.compile(r"-?[0-9]+")),
    ("float", re.compile(r"-?(?:[0-9]*\.)?[0-9]+(?:[eE][+-]?[0-9]+)?")),
    ("text", re.compile(r"[A-Za-z_\-/.][A-Za-z0-9_\-/.+({,)}]*")),
)


@dataclass(frozen=True)
class Assignment:
    """An assignment ``key = value`` of a file or of the command line.

    Attributes
    ----------
    key : str
        The key.
    value : int, float or str
        The value, with the type that follows from the grammar.
    place : str
        File and line, such as ``torus88:12``; for the command line, the word ``key=value`` itself.
    """

    key: str
    value: Value
    place: str

    @property
    def kind(self) -> Kind:
        """Type that the grammar gives to the value: text, integer or floating-point number."""
        return "text" if isinstance(self.value, str) else "int" if isinstance(self.value, int) else "float"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


def parse(text: str, name: str) -> list[Assignment]:
    """Return the assignments of a file, in their order.

    Parameters
    ----------
    text : str
        Content of the file.
    name : str
        Name of the file in errors.

    Raises
    ------
    PeerError
        At the first place that is not ``key = value;``.
    """
    if _has_sections(text):
        found = list(_lines(text, name))
    else:
        found = _assignments(list(_tokens(text)), lambda line: f"{name}:{line}")
    if not found:
        _fail(name, "the file has no `key = value;`", "name a configuration of BookSim2, e.g. `topology = torus;`")
    return found


def parse_override(word: str) -> Assignment:
    """Return the assignment that a word ``key=value`` of the command line makes."""
    found = _assignments(list(_tokens(word + ";")), lambda _: word)
    if len(found) != 1:
        _fail(word, "it is not a single setting", "write key=value, e.g. injection_rate=0.2")
    return found[0]


def file_of(one: Assignment) -> str:
    """Return the name of the file that contains an assignment; empty for the command line."""
    return "" if "=" in one.place else one.place.rpartition(":")[0]


def _has_sections(text: str) -> bool:
    """Return whether the first line that is neither empty nor a comment is the heading of a section."""
    lines = (line.strip() for line in text.split("\n"))
    return next((line for line in lines if line and not line.startswith(_REMARKS)), "").startswith("[")


def _lines(text: str, name: str) -> Iterator[Assignment]:
    """Yield the assignments of a file with sections, which has one assignment per line."""
    for number, line in enumerate(text.split("\n"), 1):
        words, place = line.strip(), f"{name}:{number}"
        if not words or words.startswith(_REMARKS) or (words.startswith("[") and words.endswith("]")):
            continue
        tokens = list(_tokens(words))
        fits = len(tokens) == len(_SHAPE) - 1 and all(map(_fits, range(len(tokens)), tokens))
        if not fits:
            _fail(
                place, f"`{words}` is not `key = value`", "write `key = value` on one line; after [config] without `;`"
            )
        yield Assignment(tokens[0].text, _value(tokens[2], place), place)


def _tokens(text: str) -> Iterator[_Token]:
    place, line = 0, 1
    while place < len(text):
        matches = [(kind, match) for kind, lexeme in _LEXEMES if (match := lexeme.match(text, place))]
        kind, word = max(
            ((kind, match[0]) for kind, match in matches), key=lambda one: len(one[1]), default=("sign", text[place])
        )
        place += len(word)
        if kind == "newline":
            line += 1
        elif kind not in ("comment", "blank"):
            yield _Token(kind, word, line)


def _assignments(tokens: list[_Token], where: Callable[[int], str]) -> list[Assignment]:
    found = []
    for start in range(0, len(tokens), 4):
        command = tokens[start : start + 4]
        for position, (expected, remedy) in enumerate(_SHAPE):
            if position >= len(command):
                last = command[-1]
                _fail(where(last.line), f"the file ends after `{last.text}`, but {expected} must follow", remedy)
            token = command[position]
            if not _fits(position, token):
                _fail(where(token.line), f"found `{token.text}` instead of {expected}", remedy)
        key, _, value, _ = command
        found.append(Assignment(key.text, _value(value, where(value.line)), where(key.line)))
    return found


_SHAPE = (
    ("a key", "write `key = value;`, with a semicolon after every value and // before comments"),
    ("`=`", "write `key = value;`"),
    ("a value", "write a number, a word, or a list without blanks: {1,2}"),
    ("`;`", "end every value with a semicolon; lists have no blanks: {1,2}"),
)


def _fits(position: int, token: _Token) -> bool:
    if position in (1, 3):
        return token.text == ("=" if position == 1 else ";")
    return token.kind == "text" or (position == 2 and token.kind in ("int", "float"))


def _value(token: _Token, place: str) -> Value:
    if token.kind == "int":
        if len(token.text) > 11 or not -(1 << 31) <= int(token.text) < 1 << 31:
            _fail(place, f"{token.text} does not fit into 32 bits", "write a number from -2147483648 to 2147483647")
        return int(token.text)
    if token.kind == "float":
        if not isfinite(float(token.text)):
            _fail(place, f"{token.text} is too large for a number", "write a smaller number")
        return float(token.text)
    return token.text


def _fail(place: str, what: str, help: str) -> NoReturn:
    raise PeerError.saying(what, help, place)


def tokenize(text: str) -> list[str]:
    """Split a list such as ``{a,b}`` into its elements, like BookSim2. Any text that is not a list is one element.

    Examples
    --------
    >>> tokenize("{tornado({8,3,1}),uniform}"), tokenize("8,3,1"), tokenize("")
    (['tornado({8,3,1})', 'uniform'], ['8,3,1'], [])
    """
    if not text.startswith("{"):
        return [text] if text else []
    found, start, nested = [], 1, 0
    for place in range(1, len(text)):
        sign = text[place]
        if sign == "{":
            nested += 1
        elif sign == "}" and nested:
            nested -= 1
        elif sign in ",}" and not nested:
            if place > start:
                found.append(text[start:place])
            start = place + 1
    return found


def leading_int(text: str) -> int:
    """Return the integer at the beginning of a string, like C's ``atoi``; 0 if there is none."""
    match = re.match(r"\s*([+-]?[0-9]{1,18})", text)
    return int(match[1]) if match else 0


def leading_float(text: str) -> float:
    """Return the number at the beginning of a string, like C's ``atof``; 0 if there is none."""
    match = re.match(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", text)
    return float(match[0]) if match else 0.0


def call(text: str) -> tuple[str, list[str]]:
    """Split a call into name and arguments. ``tornado({8,3})`` has two, 8 and 3; ``tornado(8,3)`` has only ``8,3``."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return name, []
    inner, closing, _ = rest.rpartition(")")
    return name, tokenize(inner if closing else rest)
