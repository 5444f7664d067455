"""Shows the progress of a sweep in a notebook, below the cell that runs it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from html import escape
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Self

from weft.runs.progress import words
from weft.text.columns import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from weft.runs.execute import Status

    Watch = Callable[[Status], None]

# Minimum time between two updates of the bar [s].
_PAUSE = 0.25


@contextmanager
def shown(name: str, watch: Watch | Literal[False] | None) -> Iterator[Watch | None]:
    """Yields the function to which a sweep passes its status.

    If `watch` is a function, this is the function. If `watch` is ``None``, it is a progress bar in a notebook, and
    ``None`` elsewhere. If `watch` is false, the result is ``None``.
    """
    if watch is not None:
        yield watch or None
    elif in_notebook():
        with NotebookBar(name) as bar:
            yield bar
    else:
        yield None


def in_notebook() -> bool:
    """Whether this program runs in a notebook that can show HTML."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


class NotebookBar:
    """Shows the status of a sweep as a bar inside a ``with`` block; at the end of the block one line remains.

    Parameters
    ----------
    name : str
        Name of the sweep that is running.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = perf_counter()
        self._last = -_PAUSE
        self._status: Status | None = None
        self._handle: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._show(f"{self._status.done} of {self._status.total} points in {clock(self._seconds)}")

    def __call__(self, status: Status) -> None:
        """Show a status, unless the last status was shown very recently."""
        if self._status is None:
            self._begun = perf_counter()  # the rate does not include the checks before the run
        self._status = status
        if self._seconds >= self._last + _PAUSE:
            self._last = self._seconds
            self._show(words(status, self._seconds))

    @property
    def _seconds(self) -> float:
        return perf_counter() - self._begun

    def _show(self, text: str) -> None:
        show = import_module("IPython.display")
        status = self._status
        done = (status.done + status.running) / status.total if status and status.total else 1.0
        bar = f'<progress max="1" value="{done:.3f}" style="width: 16em; vertical-align: middle"></progress>'
        picture = show.HTML(f"<div>{escape(self._name)} {bar} {escape(text)}</div>")
        if self._handle is None:
            self._handle = show.display(picture, display_id=True)
        else:
            self._handle.update(picture)
