"""Runs programs in copies (forks) of a process that has already imported Weft, which saves half a second per program.

A copy is a separate process: it receives signals, can be killed by them, and has an exit status. Other tests cover the
start of Weft in a new process.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["polars", "weft.cli.run", "weft.cli.saturation", "weft.api.sweep", "weft.results.tables"]
)


class Copy:
    """A Python program that runs in a copy, with the methods of `subprocess.Popen` that the tests use.

    Parameters
    ----------
    code : str
        Text of the program.
    arguments : str
        Its arguments, from ``sys.argv[1]`` on.
    """

    def __init__(self, code: str, *arguments: str) -> None:
        written, name = tempfile.mkstemp()
        os.close(written)
        self._printed = Path(name)
        self._process: BaseProcess = _FORKS.Process(target=_run, args=(name, code, arguments))
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.join()
        self._printed.unlink(missing_ok=True)

    @property
    def returncode(self) -> int | None:
        """The exit status of the program, negative for a signal; ``None`` while the program runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit status, like `returncode`."""
        return self._process.exitcode

    def send_signal(self, how: signal.Signals) -> None:
        """Send a signal to the copy if it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, how)

    def kill(self) -> None:
        """Kill the copy."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for the end of the copy, and return its output, including errors."""
        self._process.join(timeout)
        assert self._process.exitcode is not None, f"it has not ended within {timeout} s"
        return self._printed.read_text(encoding="utf-8"), None


def _run(printed: str, code: str, arguments: tuple[str, ...]) -> None:
    """Run the program in the copy, and write its output to a file."""
    file = os.open(printed, os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(file, stream)
    sys.argv = ["-c", *arguments]
    main: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "<program>", "exec"), main)
