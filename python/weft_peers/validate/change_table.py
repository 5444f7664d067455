"""Makes a table and JSON data of the verdicts on rows in which the traffic pattern changes during the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results.response import END, OFF
from weft.text.columns import WIDTH, columns, folded, number
from weft_peers.validate.settling_order import pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.results.response import Response
    from weft_peers.validate.judge import Verdict

_HEAD = ("case", "load", "must match", "before", "Weft", "after", "Weft", "settled", "Weft", "verdict")


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a table as lines: for each row of a peer (another simulator), the numbers that are compared.

    The last line counts the pairs of rows whose settling times differ by more than one bin.
    """
    peer = verdicts[0].case.peer
    bins = " or ".join(map(str, sorted({each.case.change.bin for each in verdicts if each.case.change})))
    compared = (
        f"{peer}, with a traffic pattern that changes. Mean packet latency [cycles] of packets sent before the "
        f"change and in the last {100 * END:g} % of the time after it. Settling time: the middle of the last bin of "
        f"{bins} cycles after the change with a latency more than {100 * OFF:g} % away from the final one; 0 if "
        "there is none. Compared: the order in which rows of one change settle, also relative to the change itself; "
        "rows at most one bin apart settle together."
    )
    if any(each.case.band for each in verdicts):
        compared += " Latencies are compared for rows with a band."
    both = pairs(verdicts)
    theirs, ours = sum(pair.theirs != 0 for pair in both), sum(pair.ours != 0 for pair in both)
    text = (
        f"Pairs of rows of one change: {len(both)}; pairs that settle more than a bin apart: {theirs} in {peer}, "
        f"{ours} in Weft."
    )
    return [*folded(compared, WIDTH), *columns(_HEAD, [_row(verdict) for verdict in verdicts]), text]


def numbers(verdict: Verdict) -> dict[str, Any] | None:
    """Return the compared numbers of a row [cycles] as data for programs; ``None`` if its pattern does not change."""
    change = verdict.case.change
    if change is None:
        return None
    peer, weft = _numbers(change.theirs), _numbers(verdict.response)
    return {
        "cycle": change.cycle,
        "bin_cycles": change.bin,
        **{name: {"peer": peer[name], "weft": weft[name]} for name in peer},
    }


def _numbers(response: Response | None) -> dict[str, float | None]:
    if response is None:
        return dict.fromkeys(("before", "after", "settled"))
    return {"before": response.before, "after": response.final, "settled": response.adapted}


def _row(verdict: Verdict) -> list[str]:
    case = verdict.case
    found = numbers(verdict) or {}
    cells = [number(found[name][who], 1) for name in ("before", "after") for who in ("peer", "weft")]
    cells += [number(found["settled"][who], 0) for who in ("peer", "weft")]
    absent = "" if case.scenario else ": not expressible"
    return [case.name, f"{case.load:g}", case.must_match, *cells, verdict.answer + absent]
