"""Reads a BookSim2 configuration, checks its keys and types, and adds BookSim2's defaults."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from weft.errors import PeerError
from weft_peers.booksim.checks import check, did_you_mean, near
from weft_peers.booksim.forks import DEVICE, LISTS
from weft_peers.booksim.grammar import call, file_of, leading_float, leading_int, parse, parse_override, tokenize
from weft_peers.booksim.keys import FLOATS, INTS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft_peers.booksim.grammar import Assignment

# Maximum number of dimensions. A greater number is a typing error: 2^30 routers are too many.
_MOST_DIMENSIONS = 30
Found = TypeVar("Found")


class Config:
    """A configuration with the values that BookSim2 would use. It also records the keys that were given and read.

    Some keys accept a number, or a string that lists a value for each traffic class. If such a key has an assignment
    with a string, BookSim2 uses the string, even if an assignment with a number follows.

    Parameters
    ----------
    assignments : iterable of Assignment
        The assignments in the order of the files. If a key has several assignments, the last one counts.

    Raises
    ------
    PeerError
        If keys are unknown or values have a wrong type. The error lists all such keys.
    """

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        assignments = list(assignments)
        check(assignments)
        self._given: dict[tuple[str, str], Assignment] = {}
        self.replaced: list[Assignment] = []
        self.read: set[str] = set()
        for one in assignments:
            slot = (one.key, "text" if one.kind == "text" else "number")
            before = self._given.get(slot)
            if before and file_of(before) == file_of(one):  # no note if the command line replaces a value of a file
                self.replaced.append(before)
            self._given[slot] = one

    @property
    def given(self) -> list[str]:
        """Keys that files or the command line set, in the order of their first assignment."""
        return list(dict.fromkeys(key for key, _ in self._given))

    @property
    def outranked(self) -> list[Assignment]:
        """Assignments without effect, because the key also has a value of the other type (number or string)."""
        counting = {key: self._found(key) for key in self.given}
        return [one for (key, _), one in self._given.items() if one is not counting[key]]

    def whole(self, key: str) -> int:
        """Return the value of a key as an integer. A list of equal integers counts as one integer."""
        self.read.add(key)
        listed = self._given.get((key, "text")) if key in LISTS else None
        if listed:
            numbers = {leading_int(one) for one in tokenize(str(listed.value))}
            if len(numbers) != 1:
                self.fail(key, "this key needs one number", "write the same number for all dimensions")
            return numbers.pop()
        found = self._given.get((key, "number"))
        return int(found.value) if found else INTS[key]

    def real(self, key: str) -> float:
        """Return the value of a key as a floating-point number."""
        self.read.add(key)
        found = self._given.get((key, "number"))
        return float(found.value) if found else FLOATS[key]

    def text(self, key: str) -> str:
        """Return the value of a key as a string; empty if the value is a number."""
        self.read.add(key)
        found = self._given.get((key, "text"))
        return str(found.value) if found else TEXTS[key]

    def listed(self, key: str) -> list[str]:
        """Return the elements of a key's list; empty without a list. The call does not mark the key as read."""
        found = self._given.get((key, "text"))
        return tokenize(str(found.value)) if found else []

    def wholes(self, key: str, classes: int) -> list[int]:
        """Return an integer for each traffic class.

        If a list is too short, its last element also applies to further classes.
        """
        return self._spread(key, [leading_int(one) for one in tokenize(self.text(key))] or [self.whole(key)], classes)

    def reals(self, key: str, classes: int) -> list[float]:
        """Return a floating-point number for each traffic class.

        A list that is too short is extended as in `wholes`.
        """
        listed: list[float] = [leading_float(one) for one in tokenize(self.text(key))]
        return self._spread(key, listed or [self.real(key)], classes)

    def texts(self, key: str, classes: int) -> list[str]:
        """Return a string for each traffic class, from the list of the key.

        If the list is too short, its last element also applies to further classes.
        """
        return self._spread(key, tokenize(self.text(key)), classes)

    def choose(self, key: str, known: Iterable[str]) -> str:
        """Check that the value of a key is one of the names in `known`, and return the name."""
        found, names = self.text(key), sorted(known)
        if found not in names:
            remedy = did_you_mean(near(found, names), f"BookSim2 knows {', '.join(names)}")
            self.fail(key, "BookSim2 does not know it", remedy)
        return found

    @property
    def of_device(self) -> list[str]:
        """Keys whose values say that a simulated GPU creates the packets, instead of a traffic pattern."""
        return [key for key, name in DEVICE.items() if call(self.text(key))[0] == name]

    def widths(self) -> list[int]:
        """Return the number of routers in each of n dimensions: k, or (only in forks) the elements of a list."""
        k, n = self._found("k"), self.at_least("n", 1)
        if n > _MOST_DIMENSIONS:
            self.fail("n", "these are too many dimensions", f"write n = {_MOST_DIMENSIONS}; or less")
        if not k or k.kind != "text":
            return [self.at_least("k", 1)] * n
        self.read.add("k")
        listed = [leading_int(one) for one in tokenize(str(k.value))]
        if len(listed) != n or min(listed, default=0) < 1:
            what = f"it needs {n} numbers of 1 or more"
            self.fail("k", what, f"write one number for each of the {n} dimensions")
        return listed

    def at_least(self, key: str, least: int) -> int:
        """Return the integer value of a key for which BookSim2 requires at least `least`."""
        found = self.whole(key)
        if found < least:
            self.fail(key, f"BookSim2 needs {least} or more", f"write {key} = {least}; or more")
        return found

    def fail(self, key: str, what: str, help: str) -> NoReturn:
        """Raise an error that refuses the value of a key."""
        raise PeerError.saying(f"{self.shown(key)}: {what}", help, self.place(key))

    def place(self, key: str) -> str:
        """Return text with the file and line that set a key; empty if the key has its default."""
        found = self._found(key)
        return "" if found is None else where(found)

    def folder(self, key: str) -> Path:
        """Return the folder of the file that sets a key."""
        found = self._found(key)
        return Path(file_of(found)).parent if found else Path()

    def shown(self, key: str) -> str:
        """Return a key with its value, in the form ``key = value``."""
        found = self._found(key)
        value = found.value if found else INTS.get(key, FLOATS.get(key, TEXTS.get(key)))
        return f"{key} = {value}"

    def origin(self, key: str) -> str:
        """Return a key with its value and the place that set it, as text for a comment in the scenario."""
        found = self._found(key)
        if found is None:
            return f"{self.shown(key)} (default)"
        where = f"line {found.place.rpartition(':')[2]}" if file_of(found) else "command line"
        return f"{self.shown(key)} ({where})"

    def _found(self, key: str) -> Assignment | None:
        text, number = self._given.get((key, "text")), self._given.get((key, "number"))
        return text if text and (not number or tokenize(str(text.value))) else number

    def _spread(self, key: str, listed: Sequence[Found], classes: int) -> list[Found]:
        if not listed:
            self.fail(key, "the list is empty", "write one value for each class: {1,2}")
        return [listed[min(place, len(listed) - 1)] for place in range(classes)]


def read(words: Sequence[str]) -> Config:
    """Read configuration files and words ``key=value`` of the command line in the given order, like BookSim2.

    Raises
    ------
    PeerError
        If a file or a word has a fault. The error names the file and line, the fault and the remedy.
    """
    found: list[Assignment] = []
    for word in words:
        if "=" in word:
            found.append(parse_override(word))
        else:
            found += parse(text_of(word), word)
    return Config(found)


def text_of(path: str | Path) -> str:
    """Return the text of a file. All bytes are accepted, because BookSim2 allows any byte in comments.

    Raises
    ------
    PeerError
        If the file cannot be read.
    """
    try:
        return Path(path).read_bytes().decode("latin-1")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise PeerError.saying(f"it can't be read: {reason}", "name an existing file", str(path)) from problem


def where(one: Assignment) -> str:
    """Return the file and line of an assignment as text, or the text "command line"."""
    return one.place if file_of(one) else "command line"
