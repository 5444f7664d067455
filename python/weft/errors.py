"""The exceptions of Weft: one family, each with the place and the remedy."""

from __future__ import annotations

from typing import Self


class WeftError(Exception):
    """Anything Weft refuses to do.

    Attributes
    ----------
    text : str
        The message as a person should read it, with the snippet where there is one.
    path : str
        Dotted path of the scenario key in question; empty if there is none.
    line, column : int or None
        Place in the scenario file, counted from 1; ``None`` if it is not in the file.
    what : str
        What is wrong, with the arithmetic.
    help : str
        What to do instead.
    """

    def __init__(
        self,
        text: str,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        what: str = "",
        help: str = "",  # the name of the field of a diagnostic
    ) -> None:
        super().__init__(text)
        self.text = text
        self.path = path
        self.line = line
        self.column = column
        self.what = what or text
        self.help = help

    @classmethod
    def saying(cls, what: str, help: str, path: str = "") -> Self:
        """An error about no place in a file, worded as those of the engine are."""
        place = f"{path}: " if path else ""
        return cls(f"error: {place}{what}\n  = help: {help}", path, what=what, help=help)


class ScenarioError(WeftError):
    """A scenario that can't be read or can't run."""


class ResultsError(WeftError):
    """A folder that does not hold the results of a sweep."""


class PeerError(WeftError):
    """A file of peer results that can't be read."""


class WriteError(WeftError):
    """A file that can't be written."""
