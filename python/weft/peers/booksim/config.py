"""A configuration, with keys and types checked and BookSim2's defaults filled in."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from weft.errors import PeerError
from weft.peers.booksim.grammar import Assignment, Kind, leading_float, leading_int, parse, parse_override, tokenize
from weft.peers.booksim.keys import FLOATS, INTS, KEYS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_TABLES: dict[Kind, Mapping[str, object]] = {"int": INTS, "float": FLOATS, "text": TEXTS}
_WORDS = {"int": "a whole number", "float": "a number with a point", "text": "a word or a list"}
Found = TypeVar("Found")


class Config:
    """A configuration as BookSim2 would hold it, and which of its keys were given.

    For keys that take a number or a text (a list by class): a text that is given counts, also before a later number.

    Parameters
    ----------
    assignments : iterable of Assignment
        In their order; if there are several for one key, the last one counts.

    Raises
    ------
    PeerError
        For a key that BookSim2 does not know, or a value of another type than the key's.
    """

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        self._given: dict[tuple[str, str], Assignment] = {}
        self.replaced: list[Assignment] = []
        self.read: set[str] = set()
        for one in assignments:
            _check(one)
            slot = (one.key, "text" if one.kind == "text" else "number")
            before = self._given.get(slot)
            if before and _file(before) == _file(one):  # the command line is there to replace
                self.replaced.append(before)
            self._given[slot] = one

    @property
    def given(self) -> list[str]:
        """Keys that were given, in their order."""
        return list(dict.fromkeys(key for key, _ in self._given))

    @property
    def outranked(self) -> list[Assignment]:
        """Assignments without effect, because the same key also has a value of the other type."""
        counting = {key: self._found(key) for key in self.given}
        return [one for (key, _), one in self._given.items() if one is not counting[key]]

    def whole(self, key: str) -> int:
        """A whole number."""
        self.read.add(key)
        found = self._given.get((key, "number"))
        return int(found.value) if found else INTS[key]

    def real(self, key: str) -> float:
        """A number with a point."""
        self.read.add(key)
        found = self._given.get((key, "number"))
        return float(found.value) if found else FLOATS[key]

    def text(self, key: str) -> str:
        """A text; empty if the key has a number."""
        self.read.add(key)
        found = self._given.get((key, "text"))
        return str(found.value) if found else TEXTS[key]

    def wholes(self, key: str, classes: int) -> list[int]:
        """A whole number for each traffic class; the last one of a list stands for the classes after it."""
        return self._spread(key, [leading_int(one) for one in tokenize(self.text(key))] or [self.whole(key)], classes)

    def reals(self, key: str, classes: int) -> list[float]:
        """A number for each traffic class."""
        listed: list[float] = [leading_float(one) for one in tokenize(self.text(key))]
        return self._spread(key, listed or [self.real(key)], classes)

    def texts(self, key: str, classes: int) -> list[str]:
        """A text for each traffic class."""
        return self._spread(key, tokenize(self.text(key)), classes)

    def choose(self, key: str, known: Iterable[str]) -> str:
        """A text that is one of those that BookSim2 knows."""
        found, names = self.text(key), sorted(known)
        if found not in names:
            near = get_close_matches(found, names, 1)
            self.fail(key, "BookSim2 does not know it", _did_you_mean(near, f"it knows {', '.join(names)}"))
        return found

    def at_least(self, key: str, least: int) -> int:
        """A whole number of which BookSim2 needs at least `least`."""
        found = self.whole(key)
        if found < least:
            self.fail(key, f"BookSim2 needs {least} or more", f"write {key} = {least}; or more")
        return found

    def fail(self, key: str, what: str, help: str) -> NoReturn:
        """Refuse the value of a key."""
        raise PeerError.saying(f"{self.shown(key)}: {what}", help, self.place(key))

    def place(self, key: str) -> str:
        """Where a key stands; empty for a default."""
        found = self._found(key)
        return "" if found is None else where(found)

    def folder(self, key: str) -> Path:
        """Folder of the file in which a key stands."""
        found = self._found(key)
        return Path(_file(found)).parent if found else Path()

    def shown(self, key: str) -> str:
        """A key with its value."""
        found = self._found(key)
        value = found.value if found else INTS.get(key, FLOATS.get(key, TEXTS.get(key)))
        return f"{key} = {value}"

    def origin(self, key: str) -> str:
        """A key with its value and where it comes from, for a comment."""
        found = self._found(key)
        if found is None:
            return f"{self.shown(key)} (default)"
        where = f"line {found.place.rpartition(':')[2]}" if _file(found) else "command line"
        return f"{self.shown(key)} ({where})"

    def _found(self, key: str) -> Assignment | None:
        text, number = self._given.get((key, "text")), self._given.get((key, "number"))
        return text if text and (not number or tokenize(str(text.value))) else number

    def _spread(self, key: str, listed: Sequence[Found], classes: int) -> list[Found]:
        if not listed:
            self.fail(key, "the list is empty", "write one value for each class: {1,2}")
        return [listed[min(place, len(listed) - 1)] for place in range(classes)]


def read(words: Sequence[str]) -> Config:
    """Read files and ``key=value`` in the order in which they are given, as BookSim2 does.

    Raises
    ------
    PeerError
        With file and line, what is wrong and what to do.
    """
    found: list[Assignment] = []
    for word in words:
        if "=" in word:
            found.append(parse_override(word))
        else:
            found += parse(text_of(word), word)
    return Config(found)


def text_of(path: str | Path) -> str:
    """The text of a file. Any bytes will do: BookSim2 allows them in comments.

    Raises
    ------
    PeerError
        If it can't be read.
    """
    try:
        return Path(path).read_bytes().decode("latin-1")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise PeerError.saying(f"it can't be read: {reason}", "name a file that is there", str(path)) from problem


def where(one: Assignment) -> str:
    """File and line of an assignment, or the command line."""
    return one.place if _file(one) else "command line"


def _file(one: Assignment) -> str:
    """The file in which a key is set; empty for the command line."""
    return "" if "=" in one.place else one.place.rpartition(":")[0]


def _check(one: Assignment) -> None:
    if one.key not in KEYS:
        near = get_close_matches(one.key, KEYS, 1)
        remedy = _did_you_mean(near, "leave it out: BookSim2 stops here, too")
        raise PeerError.saying(f"BookSim2 has no key {one.key}", remedy, one.place)
    if one.key not in _TABLES[one.kind]:
        kinds = [kind for kind, table in _TABLES.items() if one.key in table]
        what = f"{one.key} takes {' or '.join(_WORDS[kind] for kind in kinds)}, and {one.value} is {_WORDS[one.kind]}"
        raise PeerError.saying(what, _retype(one, kinds), one.place)


def _retype(one: Assignment, kinds: Sequence[Kind]) -> str:
    if one.kind == "int" and "float" in kinds:
        return f"write {one.key} = {one.value}.0;"
    if one.kind == "float" and "int" in kinds and float(one.value).is_integer():
        return f"write {one.key} = {int(one.value)};"
    return f"write {one.key} = {INTS.get(one.key, FLOATS.get(one.key, TEXTS.get(one.key)))}; or another value like it"


def _did_you_mean(near: Sequence[str], otherwise: str) -> str:
    return f"did you mean {near[0]}?" if near else otherwise
