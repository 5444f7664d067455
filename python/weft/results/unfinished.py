"""Makes names for files and folders that are being written.

The name identifies the writing process, so that files that a dead process left can be removed.

A name ends with ``.<machine>-<process>-<start>-<random>.part``. Here ``machine`` is a hash of the machine, its last
start and the container (each container numbers its processes separately). ``process`` is the number of the process, and
``start`` its start time.
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
# If the writing process is on another machine, Weft cannot see whether it still runs. The process then counts as dead
# when this time has passed since its last write [s].
_ABANDONED_SECONDS = 3600


def beside(path: Path) -> Path:
    """A new temporary name next to `path`, for the file that will replace it.

    The name begins with a dot, so that it is hidden.
    """
    pid = os.getpid()
    mark = f"{_machine()}-{pid}-{_started(pid) or 0}-{uuid4().hex}"
    return path.with_name(f".{_kept(path.name)}.{mark}.part")


def clear(folder: Path, name: str = "") -> None:
    """Remove files in a folder that dead processes left: temporary files of all names, or of one name.

    Files of processes that are still running are kept.
    """
    _remove(folder.glob(f".{escape(_kept(name))}{_PARTS}" if name else _PARTS))


def _kept(name: str) -> str:
    """A name, shortened so that a temporary name with this beginning has at most the 255 bytes that systems allow."""
    return name.encode(errors="surrogateescape")[:120].decode(errors="ignore")


def _remove(parts: Iterable[Path]) -> None:
    for part in parts:
        with suppress(OSError):  # another process possibly removes it at the same time
            if _dead(part):
                shutil.rmtree(part) if part.is_dir() else part.unlink()


def _dead(part: Path) -> bool:
    """Whether the process that wrote the temporary file has ended."""
    mark = _MARK.search(part.name)
    if mark is None or mark[1] != _machine() or os.name != "posix":
        return time.time() - part.stat().st_mtime > _ABANDONED_SECONDS
    pid, start = int(mark[2]), int(mark[3])
    try:
        os.kill(pid, 0)
    except PermissionError:  # it belongs to another user, for whom some systems give no details
        return bool(start) and _started(pid) not in (start, None)
    except (OSError, OverflowError):
        return True
    return bool(start) and _started(pid) != start


@cache
def _machine() -> str:
    """A string that identifies this machine since its last start, and the container of this process."""
    known = [socket.gethostname()]
    with suppress(OSError):
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        known.append(str(Path("/proc/self/ns/pid").readlink()))
    return sha256("\n".join(known).encode()).hexdigest()[:12]


def _started(pid: int) -> int | None:
    """Start time of a process, in ticks since the start of the machine.

    The result is ``None`` if the process has ended or is unknown.
    """
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *more = said.rpartition(")")[2].split()  # before the last ")" is the name of the program
    return None if state in "ZX" else int(more[18])
