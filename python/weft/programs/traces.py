"""Finds the files of a trace (a recorded program of messages) in a folder, in an archive, or next to the named file."""

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

# Number of bytes at the start of a file from which Weft recognises its format.
_HEAD = 64
# Ending of the file that describes a trace. Then the separators that can be between the name of a trace and the number
# of a rank in a file name.
_META = ".meta"
_DIVIDERS = "-._"

# First bytes of compressed files, each with the function that decompresses such a file. Then the endings of their
# names.
_PACKED: dict[bytes, Callable[[bytes], bytes]] = {b"\xfd7zXZ\x00": lzma.decompress, b"\x1f\x8b": gzip.decompress}
_ENDINGS = (".xz", ".gz")

# Exceptions that the packages for compressed files and archives raise for damaged files.
DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError)


@dataclass(frozen=True)
class Trace:
    """The files of a trace, with functions that read and close them.

    Attributes
    ----------
    format : str
        Name of the format of the trace.
    names : list of str
        Names of the files, without folders.
    load : callable
        Function that returns the content of the file with index k in `names`.
    close : callable
        Function that closes the archive that contains the files.
    clock : str, optional
        The clock of the trace, if the format has only one.
    """

    format: str
    names: list[str]
    load: Callable[[int], bytes]
    close: Callable[[], None] = lambda: None
    clock: str | None = None

    def read(self, clock: str | None) -> _engine.Program:
        """Read the program of the trace, and close the trace.

        Parameters
        ----------
        clock : str, optional
            Clock by which computations are timed: one of `_engine.trace_clocks`. By default the clock is the processor
            clock, if the trace has it.

        Raises
        ------
        ProgramError
            If a file is damaged or missing. The error names the place and the remedy.
        """
        try:
            return _engine.read_trace(self.format, self.names, self.load, clock or self.clock)
        finally:
            self.close()


def of_folder(folder: Path) -> Trace | None:
    """The trace whose files are in a folder; ``None`` if the folder has no trace."""
    return _of_paths(sorted(path for path in folder.iterdir() if path.is_file()))


def is_tar(path: Path) -> bool:
    """Whether a file is a tar archive, compressed or not.

    Raises
    ------
    ProgramError
        If the file is compressed, and the compressed data are damaged.
    """
    try:
        return tarfile.is_tarfile(path)
    except (EOFError, lzma.LZMAError, zlib.error) as problem:
        raise unpacking_failed(path, problem) from problem


def unpacking_failed(path: str | Path, problem: Exception) -> ProgramError:
    """The error for a damaged compressed file."""
    return ProgramError.saying(f"{path} can't be unpacked: {problem}", "copy the file again")


def unpacked(file: str, content: bytes) -> bytes:
    """The decompressed content of a file that may be compressed by xz or gzip.

    Raises
    ------
    ProgramError
        If the compressed data are damaged.
    """
    for head, unpack in _PACKED.items():
        if content.startswith(head):
            try:
                content = unpack(content)
            except DAMAGED as problem:
                raise unpacking_failed(file, problem) from problem
    return content


def of_archive(path: Path) -> Trace | None:
    """The trace in a tar archive, compressed or not; ``None`` if the file is not an archive, or has no trace.

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
    """The trace to which a file belongs, with the other files next to it; ``None`` if the file belongs to no trace.

    Parameters
    ----------
    path : Path
        The file, which is the description of a trace or the file of a rank.
    content : bytes
        Content of the file, decompressed.
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
    """A file name without the ending of a compressed file, such as ``.gz``."""
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def _family(name: str) -> str:
    """The part that the names of all files of a trace share, such as the name of the program."""
    stem, _, ending = _plain(name).rpartition(".")
    return stem if f".{ending}" == _META else stem.rstrip("0123456789").rstrip(_DIVIDERS)


def _of_paths(paths: Sequence[Path]) -> Trace | None:
    return _of_files([path.name for path in paths], lambda place: paths[place].read_bytes())


def _of_files(names: list[str], load: Callable[[int], bytes], close: Callable[[], None] = lambda: None) -> Trace | None:
    """The trace that consists of these files, each of which may be compressed; ``None`` if they are no trace."""
    plain = [_plain(name) for name in names]

    def read(place: int) -> bytes:
        return unpacked(names[place], load(place))

    for place, name in enumerate(plain):
        form = _engine.trace_format(name, read(place)[:_HEAD])
        if form is not None:
            return Trace(form, plain, read, close)
    return None
