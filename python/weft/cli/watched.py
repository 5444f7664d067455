"""Prints the output of ``--watch``: the histories of chosen packets of the first point of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.api.sweep import Sweep


def report(sweep: Sweep, names: Sequence[str], *, threads: int, blocks: int, force_memory: bool) -> list[str]:
    """Lines with the histories of the packets, separated by blank lines; empty if the user names no packet.

    Raises
    ------
    ScenarioError
        If the point cannot run, or does not create any of the packets.
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
    """Lines that name the point to which the output `what` belongs (the first); empty if the sweep has only one."""
    from weft.text.labels import label

    if len(sweep) == 1:
        return []
    where = ", ".join(f"{path} = {label(value, path)}" for path, value in sweep.points[0].coordinates.items())
    return [f"{what} {where}, first of {len(sweep)} points"]
