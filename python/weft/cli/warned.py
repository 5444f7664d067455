"""Prints warnings of the engine before a run: settings with which a point runs but gives misleading results."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from weft.errors import WeftWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weft._engine import Point


def lines(points: Sequence[Point]) -> list[str]:
    """Lines with the warnings of some points, each once, with the number of affected points."""
    return listed((warning for point in points for warning in point.warnings), len(points))


def listed(warnings: Iterable[Mapping[str, str]], total: int) -> list[str]:
    """Lines with warnings, each once, with the number of affected points among ``total``."""
    counts: dict[tuple[str, ...], int] = {}
    for key in map(_key, warnings):
        counts[key] = counts.get(key, 0) + 1
    return [
        line
        for key, count in counts.items()
        for line in _lines("warning", key, "" if total == 1 else f" (at {count} of {total} points)")
    ]


def hints(facts: Iterable[Mapping[str, object]]) -> list[str]:
    """Lines with the hints (on settings that limit what links carry) in the facts of points, each once."""
    keys = dict.fromkeys(_key(hint) for each in facts for hint in each.get("hints", ()))  # type: ignore[attr-defined]
    return [line for key in keys for line in _lines("hint", key, "")]


@contextmanager
def plainly() -> Iterator[None]:
    """Print the warnings of Weft in the style of the command line, as soon as they are issued."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: object) -> None:
            if issubclass(category, WeftWarning):
                print(f"warning: {message}", file=sys.stderr)
            else:
                usual(message, category, *where)  # type: ignore[arg-type]

        warnings.simplefilter("always", WeftWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _key(shown: Mapping[str, str]) -> tuple[str, ...]:
    return shown["path"], shown["what"], shown["help"], shown["code"]


def _lines(kind: str, lines: tuple[str, ...], points: str) -> list[str]:
    path, what, remedy, code = lines
    return [f"{kind}: {path}: {what}{points}", f"  = help: {remedy}", f"  = more: weft explain code {code}"]
