"""Names of files and folders that are being written. With the writer in them, rests of a dead one can go.

A name ends with ``.<machine>-<process>-<start>-<random>.part``: a hash that stands for the machine since its last start
(and for the container, where processes have numbers of their own), the number of the process, and when it started.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from contextlib import suppress
from functools import cache
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = re.compile(r"\.([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{32}\.")
_PARTS = ".*.part"
# Nobody writes so long: of a writer on another machine, only the time of its last writing is known.
_ABANDONED_SECONDS = 3600


def beside(path: Path) -> Path:
    """A new name next to `path` for its successor; it begins with a dot."""
    pid = os.getpid()
    mark = f"{_machine()}-{pid}-{_started(pid) or 0}-{uuid4().hex}"
    return path.with_name(f".{_kept(path.name)}.{mark}.part")


def clear(folder: Path, name: str = "") -> None:
    """Remove rests of dead writers in a folder, of all files or of one; files of a living one stay."""
    _remove(folder.glob(f".{escape(_kept(name))}{_PARTS}" if name else _PARTS))


def _kept(name: str) -> str:
    """Part of a name that fits into another name: the system allows 255 bytes."""
    return name.encode(errors="surrogateescape")[:120].decode(errors="ignore")


def _remove(parts: Iterable[Path]) -> None:
    for part in parts:
        with suppress(OSError):  # another process may remove it at the same time
            if _dead(part):
                shutil.rmtree(part) if part.is_dir() else part.unlink()


def _dead(part: Path) -> bool:
    """Whether the process that wrote the file has ended."""
    mark = _MARK.search(part.name)
    if mark is None or mark[1] != _machine() or os.name != "posix":
        return time.time() - part.stat().st_mtime > _ABANDONED_SECONDS
    pid, start = int(mark[2]), int(mark[3])
    try:
        os.kill(pid, 0)
    except PermissionError:  # it belongs to another user, of whom the system may say no more
        return bool(start) and _started(pid) not in (start, None)
    except (OSError, OverflowError):
        return True
    return bool(start) and _started(pid) != start


@cache
def _machine() -> str:
    """A word for this machine since its last start, and for the container in which this process runs."""
    known = [socket.gethostname()]
    with suppress(OSError):
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        known.append(str(Path("/proc/self/ns/pid").readlink()))
    return sha256("\n".join(known).encode()).hexdigest()[:12]


def _started(pid: int) -> int | None:
    """When a process started, in ticks since the start of the machine; ``None`` if it has ended, or is not known."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *more = said.rpartition(")")[2].split()  # the name of the program stands in parentheses before
    return None if state in "ZX" else int(more[18])
