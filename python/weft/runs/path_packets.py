"""Finds the critical path of a program, and the links that its messages crossed, by running a point twice."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ResultsError
from weft.results import critical_path
from weft.results.critical_path import TRANSFER
from weft.runs import watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft._engine import Point
    from weft.results.critical_path import Path

# Maximum number of transfers (messages on the critical path) whose packets are watched; longer transfers have priority.
MOST = 5000


@dataclass(frozen=True)
class Crossed:
    """A channel that packets of transfers on a critical path crossed.

    Attributes
    ----------
    router, port : int or str, int
        Sending router of the channel, and port of the channel at this router.
    link : str
        Link class of the channel.
    to : int, str or None
        Router at the end of the channel; ``None`` if a terminal is there.
    transfers : int
        Number of transfers of the path whose last packet crossed the channel.
    waited_cycles : int
        Time from the arrival of the heads of these packets at the router until the heads left the router, summed over
        the transfers [cycles].
    """

    router: int | str
    port: int
    link: str
    to: int | str | None
    transfers: int
    waited_cycles: int


@dataclass(frozen=True)
class Critical:
    """The critical paths of the programs of a run, and the channels that their transfers crossed.

    Attributes
    ----------
    summary : dict
        The measured numbers of the run.
    paths : list of Path
        One path per job that runs a program.
    crossed : list of Crossed
        Channels that the watched packets crossed, the one with the most transfers first.
    watched, transfers : int
        Number of transfers whose last packet was watched, and number of all transfers of the paths over the network.
    interface_cycles, network_cycles : int
        Time of the watched transfers until the head of their last packet was injected, and time after that [cycles],
        summed over the transfers.
    """

    summary: dict[str, Any]
    paths: Sequence[Path]
    crossed: Sequence[Crossed]
    watched: int
    transfers: int
    interface_cycles: int
    network_cycles: int


def find(point: Point, *, threads: int = 1, blocks: int = 0, force_memory: bool = False) -> Critical:
    """Run a point twice: first to find the critical path, and then to watch the packets of its transfers.

    Parameters
    ----------
    point : Point
        Point to run; its `measure.rank_states` must be set.
    threads, blocks, force_memory
        As for `watch.run`.

    Raises
    ------
    ResultsError
        If no job runs a program, a program does not end, or if the record of rank states is cut off.
    """
    options: dict[str, Any] = {"threads": threads, "blocks": blocks, "force_memory": force_memory}
    finished = watch.run(point, **options)
    with tempfile.TemporaryDirectory() as folder:
        finished.save(File(folder) / "point")
        states = pl.read_parquet(File(folder) / "point" / "rank_states.parquet")
    if why := critical_path.flaw(finished.summary, states):
        raise ResultsError.saying(*why)
    paths = critical_path.paths(states)
    moved = [step for path in paths for step in path.steps if step.state == TRANSFER and step.packet is not None]
    longest = sorted(moved, key=lambda step: -step.cycles)[:MOST]
    named = list(dict.fromkeys(step.packet for step in longest if step.packet is not None))
    journeys = watch.run(point, named, **options).journeys if named else []
    lives = {(each["terminal"], each["seq"]): each["life"] for each in journeys}
    interface = sum(max(0, lives[step.packet]["injected_cycle"] - step.from_cycle) for step in longest if step.packet)
    total = sum(step.cycles for step in longest)
    crossed = _crossed(lives[step.packet] for step in longest if step.packet is not None)
    return Critical(finished.summary, paths, crossed, len(longest), len(moved), interface, total - interface)


def _crossed(lives: Iterable[dict[str, Any]]) -> list[Crossed]:
    """The channels that the watched packets crossed after their injection."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for life in lives:
        for visit in life["routers"]:
            leaving = visit["exit"]
            if leaving is not None:
                key = (visit["router"], leaving["port"], leaving["link"], leaving["next_router"])
                found.setdefault(key, []).append(leaving["head_left_cycle"] - visit["arrived_cycle"])
    made = [
        Crossed(router, port, link, to, len(waits), sum(waits)) for (router, port, link, to), waits in found.items()
    ]
    return sorted(made, key=lambda each: (-each.transfers, str(each.router), each.port))
