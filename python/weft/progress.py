"""The progress bar of a sweep on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from types import TracebackType

    from weft.execute import Status


class Bar:
    """Shows the status of a sweep while it is used as a context.

    Parameters
    ----------
    name : str
        What is running.
    """

    def __init__(self, name: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[words]}"),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task(name, total=None, words="checking")
        self._begun = False

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def __call__(self, status: Status) -> None:
        """Show a status."""
        if not self._begun:
            self._begun = True
            self._progress.reset(self._task)  # checking is no part of the rate
            if status.reused:
                self._progress.console.print(f"{status.reused} of {status.total} done before")
        seconds = self._progress.tasks[self._task].elapsed or 0.0
        completed = status.done + status.running
        words = f"{status.done} of {status.total}{_pace(completed - status.reused, status.total - completed, seconds)}"
        self._progress.update(self._task, total=status.total, completed=completed, words=words)


def _pace(new: float, left: float, seconds: float) -> str:
    """Points per minute and the time left, once there is something to tell from."""
    if new <= 0 or seconds <= 0:
        return ""
    rest = round(left * seconds / new)
    hours, minutes = divmod(rest // 60, 60)
    clock = f"{hours}:{minutes:02}:{rest % 60:02}" if hours else f"{minutes}:{rest % 60:02}"
    return f", {60 * new / seconds:.3g} a minute, {clock} left" if left > 0 else f" in {seconds:.1f} s"
