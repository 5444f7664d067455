"""Shows the progress of a reproduction on standard error.

The output has one progress bar for all sweeps of the paper or papers, and a line for each finished sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from weft.runs.progress import Bar
from weft.text.columns import clock

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

    from weft_papers.common.standing import Standing


class PaperBar:
    """A context manager that shows the progress of the sweeps until the context ends.

    Parameters
    ----------
    name : str
        Name of the paper, or ``all papers``.
    console : rich.console.Console, optional
        Console to which the progress is written; by default standard error.
    """

    def __init__(self, name: str, console: Console | None = None) -> None:
        self._paper = name
        self._bar = Bar(name, console)

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, problem, trace)

    def __call__(self, standing: Standing) -> None:
        """Print a line for each sweep that has ended since the last call, and update the bar."""
        for each in standing.ended:
            status = each.status
            before = f", {status.reused} done before" if status.reused else ""
            self._bar.say(f"{status.done} of {status.total} points in {clock(each.seconds)}{before}", each.name)
        self._bar.name = f"{self._paper}, {standing.begun} of {standing.sweeps} sweeps begun, {standing.done} done"
        self._bar(standing.status)
