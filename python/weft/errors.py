"""The exceptions of Weft. All exceptions have one base class, and each names the place of the fault and the remedy."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

_ELSEWHERE = "choose another folder (with --out; in Python by its path)"
_ALLOWED = f"{_ELSEWHERE}, or change its permissions"
# Reasons why the operating system refuses a file, each with the remedy, by error number.
_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space and run the same command again: finished points stay"),
    errno.EDQUOT: ("your disk quota is used up", "free some space and run the same command again"),
    errno.EFBIG: ("the file is larger than the system allows", "raise the limit (`ulimit -f`) and try again"),
    errno.EACCES: ("you have no permission to write there", _ALLOWED),
    errno.EPERM: ("you have no permission to write there", _ALLOWED),
    errno.EROFS: ("the disk is read-only", _ELSEWHERE),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.EISDIR: ("it is a folder", "name a file, such as one in this folder"),
}


class WeftError(Exception):
    """The base class of Weft's errors.

    Attributes
    ----------
    text : str
        The message for the user. If the fault is in a file, the message has the lines around it.
    path : str
        Dotted path of the scenario key in question; empty if there is none.
    line, column : int or None
        Place of the fault in the scenario file, counted from 1; ``None`` if the fault is not in the file.
    what : str
        The fault, with the arithmetic behind it.
    help : str
        The remedy.
    """

    def __init__(
        self,
        text: str,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        what: str = "",
        help: str = "",  # `help` is the name of the field in the engine's diagnostics
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
        """Make an error in the format of the engine's errors, but without the line and column of a file."""
        place = f"{path}: " if path else ""
        return cls(f"error: {place}{what}\n  = help: {help}", path, what=what, help=help)


class WeftWarning(UserWarning):
    """A warning about a run that continues nevertheless. The command line prints warnings of this class."""


class ScenarioError(WeftError):
    """Raised if a scenario can't be read or can't run."""


class ResultsError(WeftError):
    """Raised if a folder has no results of a sweep, or lacks the requested results."""


class PeerError(WeftError):
    """Raised if a file with results of another simulator can't be read."""


class ProgramError(WeftError):
    """Raised if a program of messages can't be read or can't run."""


class StuckError(ProgramError):
    """Raised if ranks of a program of messages wait forever.

    Attributes
    ----------
    stuck : dict
        ``stuck_ranks``, the number of ranks that wait forever, and ``waiting``, a list with one entry for each of the
        first eight of these ranks. An entry has ``rank``, ``finished`` (number of finished operations of the rank) and
        ``of`` (number of all operations of the rank). The list ``receives`` of an entry has the receives without a
        message (``operation``, ``source``, ``tag``; ``None``: any source or tag). The list ``messages`` of an entry
        has the messages without a receive (``source``, ``tag``, ``bytes``).
    """

    stuck: dict[str, Any]

    @classmethod
    def of(cls, what: str, help: str, stuck: dict[str, Any], place: str = "the program") -> Self:
        """The error for a program with ranks that wait forever.

        The message names the waiting ranks, and the attribute `stuck` has them as data.
        """
        found = cls.saying(what, help, place)
        found.stuck = stuck
        return found


class WriteError(WeftError):
    """Raised if a file can't be written."""

    @classmethod
    def of(cls, path: str | Path, problem: OSError) -> Self:
        """The error for a file or folder that can't be written, with the operating system's reason and the remedy."""
        why, remedy = reason(path, problem)
        return cls.saying(f"{path} can't be written: {why}", remedy)


def reason(path: str | Path, problem: OSError) -> tuple[str, str]:
    """The reason why the operating system refuses a file or folder, and the remedy, as two strings."""
    place = next((each for each in (Path(path), *Path(path).parents) if os.path.lexists(each)), Path(path))
    number = problem.errno
    if number in (errno.EEXIST, errno.ENOTDIR, errno.ENOENT) and not place.is_dir():
        return f"{place} is not a folder", f"{_ELSEWHERE}, or move that file away"
    folder = place if place.is_dir() else place.parent
    if number in (errno.ENOENT, errno.EACCES, errno.EPERM) and _has_no_disk(folder):
        return f"{folder} belongs to the system, and nobody can create files in it", _ELSEWHERE
    return _REASONS.get(number or 0, (problem.strerror or str(problem), _ELSEWHERE))


def _has_no_disk(folder: Path) -> bool:
    """Whether a folder belongs to a virtual file system, like /proc and /sys.

    No permission allows users to create files in such a folder.
    """
    with suppress(OSError, AttributeError):  # some systems do not have this call
        return os.statvfs(folder).f_blocks == 0
    return False


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn an error of the operating system into a `WriteError` while the ``with`` block writes a file or folder."""
    if "\0" in str(path):
        what = f"{str(path)!r} is not a file name: it contains a null character"
        raise WriteError.saying(what, "remove that character")
    try:
        yield
    except OSError as problem:
        raise WriteError.of(path, problem) from problem
