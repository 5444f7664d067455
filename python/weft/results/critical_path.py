"""Finds the critical path of a program: the chain of computations and messages that determines its run time.

The path leads from the last finish of a rank back through waits to the start of the program.

A waiting rank continues when a transfer of a message ends. There the path continues, backwards in time, with the
transfer and then with the rank that caused it. This rank, the origin, is usually the sender. For a rendezvous transfer
(which waits for its receiver), the origin can be the receiver. Therefore the steps follow each other without gaps, and
the sum of their lengths is the run time.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ResultsError
from weft.results import soundness
from weft.results.quantities import ENDING, NOT_COMPLETE, STALLED
from weft.text.columns import columns
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weft.results.result_set import ResultSet

COMPUTE, OVERHEAD, TRANSFER, WAIT = "compute", "overhead", "transfer", "wait"
STATES = (COMPUTE, OVERHEAD, TRANSFER, WAIT)
MEANINGS = {
    COMPUTE: "computation",
    OVERHEAD: "processor overhead of messages",
    TRANSFER: "messages in transfer",
    WAIT: "unexplained waiting",
}
# Maximum number of rows in the tables that describe a path.
_MOST = 12


@dataclass(frozen=True)
class Step:
    """A step of a critical path.

    Attributes
    ----------
    state : str
        One of `STATES`.
    rank : int
        Rank at which the step ends. Only a transfer involves a second rank.
    origin : int
        Rank at which the step begins.
    peer : int
        For a transfer, the rank at the other end of the message; otherwise the rank itself.
    from_cycle, to_cycle : int
        First cycle and end of the step [cycles]; the next step begins at `to_cycle`.
    packet : tuple of int, optional
        Terminal and number of the last packet of a transfer to arrive.
    """

    state: str
    rank: int
    origin: int
    peer: int
    from_cycle: int
    to_cycle: int
    packet: tuple[int, int] | None = None

    @property
    def cycles(self) -> int:
        """Length of this step [cycles]."""
        return self.to_cycle - self.from_cycle


@dataclass(frozen=True)
class Path:
    """The critical path of a job that runs a program.

    Attributes
    ----------
    job : str
        Name of the job.
    steps : list of Step
        The steps from the start of the program to the last finish.
    """

    job: str
    steps: Sequence[Step]

    @property
    def cycles(self) -> int:
        """The run time of the program [cycles]."""
        return sum(step.cycles for step in self.steps)

    def by_state(self) -> dict[str, int]:
        """Cycles of the path in each state; their sum is the run time."""
        return {state: sum(step.cycles for step in self.steps if step.state == state) for state in STATES}

    def frame(self) -> pl.DataFrame:
        """Table with a row per step: `state`, `rank`, `origin`, `peer`, `from_cycle` and `to_cycle` [cycles]."""
        names = ("state", "rank", "origin", "peer", "from_cycle", "to_cycle")
        return pl.DataFrame({name: [getattr(step, name) for step in self.steps] for name in names})


class _Rank:
    """The spans of a rank in the table `rank_states`, in order of time. A span is a time in one state."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self._ends = [row["to_cycle"] for row in rows]

    def before(self, cycle: int) -> tuple[dict[str, Any] | None, bool]:
        """The span of the rank just before a cycle, and whether the span (or its wait for a transfer) ends later."""
        place = bisect_left(self._ends, cycle)
        if place == len(self.rows) or self.rows[place]["from_cycle"] >= cycle:
            return None, False
        row = self.rows[place]
        later = self.rows[place + 1] if place + 1 < len(self.rows) else None
        goes_on = row["to_cycle"] > cycle or (row["state"] == WAIT and later is not None and later["state"] == TRANSFER)
        return row, goes_on


def paths(states: pl.DataFrame) -> list[Path]:
    """Finds the critical path of each job in a table of rank states.

    Parameters
    ----------
    states : DataFrame
        The table `rank_states` of a point, complete up to the end of the run.

    Returns
    -------
    list of Path
        The paths, one per job, in the order of the table.
    """
    found = []
    for (job,), rows in states.group_by("job", maintain_order=True):
        ranks = {
            rank: _Rank(list(own)) for rank, own in groupby(rows.iter_rows(named=True), key=lambda row: row["rank"])
        }
        found.append(Path(str(job), list(_back(ranks))[::-1]))
    return found


def _back(ranks: Mapping[int, _Rank]) -> Iterator[Step]:
    """Yields the steps of a critical path, starting with the last one."""
    last = {rank: own.rows[-1]["to_cycle"] for rank, own in ranks.items()}
    cycle = max(last.values())
    rank = min(each for each, end in last.items() if end == cycle)
    been: set[int] = set()  # ranks that the path has visited in this cycle
    while True:
        row, goes_on = ranks[rank].before(cycle) if rank in ranks else (None, False)
        if row is None:
            return
        begin, origin, since = row["from_cycle"], row["origin"], row["since_cycle"]
        has_cause = origin is not None and since <= cycle and not goes_on
        if has_cause and since == cycle and origin not in been | {rank}:
            been.add(rank)
            rank = origin
            continue
        if has_cause and since < cycle:
            named = None if row["packet"] is None else (row["packet_terminal"], row["packet"])
            yield Step(TRANSFER, rank, origin, row["peer"], since, cycle, named)
            rank, cycle = origin, since
        else:
            state = row["state"] if row["state"] in (COMPUTE, OVERHEAD) else WAIT
            yield Step(state, rank, rank, rank, begin, cycle)
            cycle = begin
        been = set()


def of(results: ResultSet, point: int) -> list[Path]:
    """The critical paths of the programs of a point.

    Raises
    ------
    ResultsError
        If the states of ranks were not recorded up to the end of the run, or if a program did not end.
    """
    summary = results.summaries[point]
    why = _unended(summary, f"`weft explain stall {results.root}`")
    if not why:
        states = results.recorded(point, "rank_states")
        why = flaw(summary, states)
    if why:
        raise ResultsError.saying(f"{results.describe(point)} of {results.root}: {why[0]}", why[1])
    return paths(states)


def flaw(summary: Mapping[str, Any], states: pl.DataFrame) -> tuple[str, str] | None:
    """The reason why a point has no critical path, and a remedy; `None` if the point has one."""
    if states.is_empty():
        return "the record has no ranks: no job has the workload `programs`", "give a job this workload"
    if not summary["rank_states_complete"]:
        remedy = "increase measure.rank_states.max_spans and run the point again"
        return "the record of rank states ends before the end of the run", remedy
    return _unended(summary, "`weft run FILE --out FOLDER`, then `weft explain stall FOLDER`,")


def _unended(summary: Mapping[str, Any], explain: str) -> tuple[str, str] | None:
    """The reason why a program did not end, and a remedy; `None` if all programs ended.

    `explain` is the command that prints the reasons why a run stalled.
    """
    if all(job.get("run_time_cycles", 0) is not None for job in summary["jobs"]):
        return None
    how = summary[ENDING.column]
    if how == NOT_COMPLETE:
        return "a program did not end: the run was cut off", soundness.remedy(summary)
    what = f"a program did not end: the run {how}"
    if how == STALLED:
        return what, f"{explain} names the ranks or packets that wait"
    return what, "allow more time with measure.stop.complete.max_window"


def lines(path: Path, cycle_seconds: float) -> list[str]:
    """Lines of text on a critical path: shares of the run time, and the transfers that took longest."""
    total = path.cycles
    rows = [
        [MEANINGS[state], si(cycles * cycle_seconds, "s", 4), f"{100 * cycles / total:.1f} %"]
        for state, cycles in path.by_state().items()
        if cycles
    ]
    rows.append(["run time", si(total * cycle_seconds, "s", 4), "100.0 %"])
    shown = [f"critical path of job {path.job}: {len(path.steps)} steps", *columns(["", "time", "share"], rows, left=1)]
    pairs: dict[tuple[int, int], list[int]] = {}
    for step in path.steps:
        if step.state == TRANSFER:
            pairs.setdefault((step.peer, step.rank), []).append(step.cycles)
    if pairs:
        longest = sorted(pairs.items(), key=lambda pair: (-sum(pair[1]), pair[0]))
        cells = [
            [str(source), str(target), str(len(each)), si(sum(each) * cycle_seconds, "s", 4)]
            for (source, target), each in longest[:_MOST]
        ]
        apart = sum(source != target for source, target in pairs)
        own = f", and of {len(pairs) - apart} ranks to themselves" if apart < len(pairs) else ""
        shown += ["", f"transfers on the path, between {apart} pairs of ranks{own}, longest first"]
        shown += columns(["peer", "rank", "transfers", "time"], cells, left=0)
    return shown


def sentence(path: Path) -> str:
    """A sentence with the share of each state in the critical path."""
    shares = [
        f"{100 * cycles / path.cycles:.0f} % {MEANINGS[state]}" for state, cycles in path.by_state().items() if cycles
    ]
    return f"The critical path of job {path.job} is {', '.join(shares)}."
