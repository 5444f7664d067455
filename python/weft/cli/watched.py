"""Prints the output of ``--watch``: the lives of packets of the first point of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.api.sweep import Sweep


def report(sweep: Sweep, names: Sequence[str], *, threads: int, blocks: int, force_memory: bool) -> list[str]:
    """Print the lives of the packets, with a blank line between two lives; nothing if no packet is named.

    Raises
    ------
    ScenarioError
        If the point can't run, or none of the packets is made in it.
    """
    if not names:
        return []
    from weft.runs import watch
    from weft.text import packet_lives

    wanted = watch.packets(names)
    finished = watch.run(sweep.points[0], wanted, threads=threads, blocks=blocks, force_memory=force_memory)
    head = [*taken(sweep, "watched at"), *watch.missing(finished)]
    made = [journey for journey in finished.journeys if journey["life"] is not None]
    lives = [line for journey in made for line in ["", *packet_lives.lines(journey, finished.summary)]]
    return [*head, *(lives if head else lives[1:])]


def taken(sweep: Sweep, what: str) -> list[str]:
    """Which point was run, if the sweep has several."""
    from weft.text.labels import label

    if len(sweep) == 1:
        return []
    where = ", ".join(f"{path} = {label(value, path)}" for path, value in sweep.points[0].coordinates.items())
    return [f"{what} {where}, the first of {len(sweep)} points"]
