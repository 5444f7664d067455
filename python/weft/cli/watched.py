"""What ``--watch`` prints: the lives of packets of the first point of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.sweep import Sweep


def report(sweep: Sweep, names: Sequence[str], *, threads: int, blocks: int) -> list[str]:
    """The lives of the packets, a blank line between two; nothing without names.

    Raises
    ------
    ScenarioError
        If the point can't run, or one of the packets is not made in it.
    """
    if not names:
        return []
    from weft import watch, watch_words
    from weft.labels import label

    point = sweep.points[0]
    journeys = watch.journeys(point, names, threads=threads, blocks=blocks)
    taken = ", ".join(f"{path} = {label(value, path)}" for path, value in point.coordinates.items())
    head = [f"watched at {taken}, the first of {len(sweep)} points"] if len(sweep) > 1 else []
    lives = [line for journey in journeys for line in ["", *watch_words.lines(journey)]]
    return [*head, *(lives if head else lives[1:])]
