"""Runs a point once more, and records each step of some packets from creation to delivery (their "lives")."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from weft._engine import Control, Point
from weft.errors import ScenarioError
from weft.results.quantities import ENDING, STALLED
from weft.runs import memory
from weft.text import given

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Finished

_LOOK_SECONDS = 0.1
# Maximum number of packets that can be watched in one run.
_MOST = 10_000


def packets(names: Sequence[str]) -> list[tuple[int, int]]:
    """Reads names of packets, ``"TERMINAL:NUMBER"`` or ``"TERMINAL:FIRST-LAST"``, as pairs of terminal and number.

    Each packet is returned once.

    Raises
    ------
    ScenarioError
        If a name does not have one of these forms, or if the names have more packets than can be watched.
    """
    found: dict[tuple[int, int], None] = {}
    for name in names:
        terminal, colon, numbers = name.partition(":")
        first, dash, last = numbers.partition("-")
        last = last if dash else first
        if not (colon and all(_is_number(part) for part in (terminal, first, last)) and int(first) <= int(last)):
            what = f"{name!r} is not a packet"
            remedy = "write TERMINAL:NUMBER or TERMINAL:FIRST-LAST, with numbers from 0, such as 3:0 or 3:0-5"
            raise ScenarioError.saying(what, remedy)
        # a longer range is cut off one packet above the limit, which is enough to refuse it
        named = range(int(first), min(int(last), int(first) + _MOST) + 1)
        found |= dict.fromkeys((int(terminal), number) for number in named)
        if len(found) > _MOST:
            what = f"with {name} more than {_MOST} packets would be watched"
            raise ScenarioError.saying(what, "name fewer")
    return list(found)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) < 1 << 32


def run(
    point: Point,
    names: Sequence[tuple[int, int]] = (),
    first: int = 0,
    *,
    threads: int = 1,
    blocks: int = 0,
    force_memory: bool = False,
) -> Finished:
    """Run a point and watch the packets with these names; without names, the first packets of the window (`first`).

    Raises
    ------
    ScenarioError
        If the point cannot run, needs more memory than is free (unless `force_memory`) or creates none of the named
        packets, or if too many packets are named.
    """
    if first > _MOST:
        raise ScenarioError.saying(f"{first} packets are too many to watch", f"watch at most {_MOST}")
    if not force_memory:
        memory.refuse_too_much([point], jobs=1, threads=threads, blocks=blocks)
    control = Control()
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(point.run, threads, blocks, control, list(names), first)
        try:
            while not wait([future], timeout=_LOOK_SECONDS).done:
                pass  # short waits, so that Ctrl-C works
        except BaseException:
            control.stop()
            raise
    finished = future.result()
    absent = missing(finished)
    if names and len(absent) == len(names):
        raise ScenarioError.saying(absent[0], _remedy(finished))
    return finished


def missing(finished: Finished) -> list[str]:
    """A line of text for each requested packet that the run never created."""
    return [
        f"packet {journey['terminal']}:{journey['seq']} was not created: "
        f"terminal {journey['terminal']} created {journey['made']} packets in this run"
        for journey in finished.journeys
        if journey["life"] is None
    ]


def journeys(
    point: Point, names: Sequence[str], *, threads: int = 1, blocks: int = 0, force_memory: bool = False
) -> list[dict[str, Any]]:
    """The histories of packets as data, with the same content as the output of `weft run --watch`.

    Parameters
    ----------
    point : Point
        Point to run. Results of the point on disk are not changed.
    names : sequence of str
        ``"TERMINAL:NUMBER"`` or ``"TERMINAL:FIRST-LAST"``: packets by terminal, and by their number among the packets
        that the terminal created.
    threads, blocks : int
        As for `Sweep.run`; they do not change the result.
    force_memory : bool
        Run even if the point needs more memory than is free.

    Returns
    -------
    list of dict
        One dict per packet, in the order of `names`: ``terminal``, ``seq``, ``made`` (number of packets that the
        terminal created), and ``life`` with the cycles of its steps, a list of its ``routers`` and the parts of its
        ``latency``. ``life`` is ``None`` if the packet was not created.

    Raises
    ------
    ScenarioError
        If the point can't run, needs too much memory, or creates none of the packets.
    """
    given.instance(point, Point, "journeys", "point of a sweep", 'write e.g. weft.load("my.yaml").points[0]')
    given.execution(None, threads, blocks, None)
    wanted = packets(given.words(names, "names", "3:0-5"))
    return run(point, wanted, threads=threads, blocks=blocks, force_memory=force_memory).journeys


def _remedy(finished: Finished) -> str:
    """Text that suggests another packet to watch, if the first requested packet was not created."""
    terminal, made = finished.journeys[0]["terminal"], finished.journeys[0]["made"]
    choice = f"name one from {terminal}:0 to {terminal}:{made - 1}" if made else "name a packet of another terminal"
    if finished.summary[ENDING.column] == STALLED:
        return f"{choice}: the network got stuck in cycle {finished.summary['cycles_total']}"
    return f"{choice}, or lengthen measure.window"
