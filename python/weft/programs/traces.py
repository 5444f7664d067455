"""Finds the files of a trace: in a folder, in an archive, or next to the named file."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from weft import _engine
from weft.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# First bytes of a file by which its format is known.
_HEAD = 64
# The ending of a file that describes a trace, and the separator between the name of a trace and the rank.
_META = ".meta"
_DIVIDERS = "-._"

# First bytes of packed files, and the functions that unpack them; the endings of their names.
_PACKED: dict[bytes, Callable[[bytes], bytes]] = {b"\xfd7zXZ\x00": lzma.decompress, b"\x1f\x8b": gzip.decompress}
_ENDINGS = (".xz", ".gz")

# Exceptions of the packages for packed files and archives where these are damaged.
DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError)


@dataclass(frozen=True)
class Trace:
    """The files of a trace.

    Attributes
    ----------
    format : str
        Name of its format.
    names : list of str
        Their names, without folders.
    load : callable
        Gives the bytes of file k of the names.
    close : callable
        Closes the archive in which the files are.
    clock : str, optional
        The clock of the trace, where it has one alone.
    """

    format: str
    names: list[str]
    load: Callable[[int], bytes]
    close: Callable[[], None] = lambda: None
    clock: str | None = None

    def read(self, clock: str | None) -> _engine.Program:
        """The program of the trace, which is closed then.

        Parameters
        ----------
        clock : str, optional
            Clock by which computations are timed, of `_engine.trace_clocks`; that of the processor by default, where
            the trace has it.

        Raises
        ------
        ProgramError
            If a file is damaged or missing, with the place and the remedy.
        """
        try:
            return _engine.read_trace(self.format, self.names, self.load, clock or self.clock)
        finally:
            self.close()


def of_folder(folder: Path) -> Trace | None:
    """The trace whose files are in a folder; ``None`` if there is none."""
    return _of_paths(sorted(path for path in folder.iterdir() if path.is_file()))


def is_tar(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not.

    Raises
    ------
    ProgramError
        If it is packed, and its packing is damaged.
    """
    try:
        return tarfile.is_tarfile(path)
    except (EOFError, lzma.LZMAError, zlib.error) as problem:
        raise unpacking_failed(path, problem) from problem


def unpacking_failed(path: str | Path, problem: Exception) -> ProgramError:
    """The error of a packed file that is damaged."""
    return ProgramError.saying(f"{path} can't be unpacked: {problem}", "copy the file again")


def unpacked(file: str, content: bytes) -> bytes:
    """The content of a file that may be packed by xz or gzip.

    Raises
    ------
    ProgramError
        If the packing is damaged.
    """
    for head, unpack in _PACKED.items():
        if content.startswith(head):
            try:
                content = unpack(content)
            except DAMAGED as problem:
                raise unpacking_failed(file, problem) from problem
    return content


def of_archive(path: Path) -> Trace | None:
    """The trace in a tar archive, packed or not; ``None`` if the file is no archive, or has no trace.

    Raises
    ------
    ProgramError
        If the archive is damaged.
    """
    if not is_tar(path):
        return None
    archive = tarfile.open(path)  # noqa: SIM115 (the trace closes it)
    trace = None
    try:
        members = [member for member in archive.getmembers() if member.isfile()]

        def load(place: int) -> bytes:
            file = archive.extractfile(members[place])
            return b"" if file is None else file.read()

        trace = _of_files([PurePosixPath(member.name).name for member in members], load, archive.close)
    except DAMAGED as problem:
        raise unpacking_failed(path, problem) from problem
    finally:
        if trace is None:
            archive.close()
    return trace


def beside(path: Path, content: bytes) -> Trace | None:
    """The trace to which a file belongs; ``None`` if it belongs to none.

    Parameters
    ----------
    path : Path
        The file: the description of a trace, or the file of a rank.
    content : bytes
        What is in it, unpacked.
    """
    form = _engine.trace_format(_plain(path.name), content[:_HEAD])
    if form is None:
        return None
    family = _family(path.name)
    paths = sorted(other for other in path.parent.iterdir() if other.is_file() and _family(other.name) == family)
    if len(paths) <= 1:
        return Trace(form, [_plain(path.name)], lambda _: content)
    names = [_plain(other.name) for other in paths]
    return Trace(form, names, lambda place: unpacked(paths[place].name, paths[place].read_bytes()))


def _plain(name: str) -> str:
    """A name without the ending of its packing."""
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def _family(name: str) -> str:
    """The common part of the names of the files of a trace."""
    stem, _, ending = _plain(name).rpartition(".")
    return stem if f".{ending}" == _META else stem.rstrip("0123456789").rstrip(_DIVIDERS)


def _of_paths(paths: Sequence[Path]) -> Trace | None:
    return _of_files([path.name for path in paths], lambda place: paths[place].read_bytes())


def _of_files(names: list[str], load: Callable[[int], bytes], close: Callable[[], None] = lambda: None) -> Trace | None:
    """The trace of files, each of which may be packed."""
    plain = [_plain(name) for name in names]

    def read(place: int) -> bytes:
        return unpacked(names[place], load(place))

    for place, name in enumerate(plain):
        form = _engine.trace_format(name, read(place)[:_HEAD])
        if form is not None:
            return Trace(form, plain, read, close)
    return None
