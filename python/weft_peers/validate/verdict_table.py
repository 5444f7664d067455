"""Makes a table and JSON data of the verdicts of ``weft validate``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from weft.text.columns import columns
from weft_peers.validate import change_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_peers.validate.judge import Comparison, Verdict

_HEAD = ("case", "load", "must match", "latency", "Weft", "hops", "Weft", "accepted", "Weft", "", "verdict")


def text(verdicts: Sequence[Verdict]) -> str:
    """Return the table: numbers of the peer and of Weft side by side, reasons of failures, and verdicts counted."""
    lines = [
        "Mean packet latency [cycles], hops [router-to-router links], accepted load [flits/terminal/cycle]:",
        "the value of the peer, next to Weft's mean over its seeds.",
    ]
    peers = dict.fromkeys(verdict.case.peer for verdict in verdicts)
    for peer in peers:
        of_peer = [verdict for verdict in verdicts if verdict.case.peer == peer]
        if rows := [_row(verdict) for verdict in of_peer if not verdict.case.change]:
            lines += ["", peer, *columns(_HEAD, rows)]
        if changes := [verdict for verdict in of_peer if verdict.case.change]:
            lines += ["", *change_table.lines(changes)]
    failures = [verdict for verdict in verdicts if verdict.answer == "fails"]
    if failures:
        lines += ["", "Failures:"]
        lines += [
            f"  line {case.line}, {case.title} ({case.must_match}): {'; '.join(reasons)}"
            for case, reasons in ((verdict.case, verdict.reasons) for verdict in failures)
        ]
    return "\n".join([*lines, "", _count(verdicts)])


def document(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the verdicts as data: ``rows`` with every number, ``failed``, and ``count`` of each answer.

    If the pattern of a row changes, ``change`` has the data that are compared instead of the other numbers; otherwise
    it is null.
    """
    rows = []
    for verdict in verdicts:
        case = asdict(verdict.case)
        for mapped in ("theirs", "scenario", "refusal", "oblivious", "change"):
            del case[mapped]
        numbers = {name: _numbers(getattr(verdict, name)) for name in ("latency", "hops", "accepted")}
        by_name = {"change": change_table.numbers(verdict), "answer": verdict.answer, "reasons": list(verdict.reasons)}
        rows.append(case | numbers | by_name)
    count = Counter(verdict.answer for verdict in verdicts)
    return {"failed": count["fails"] > 0, "count": dict(count), "rows": rows}


def _row(verdict: Verdict) -> list[str]:
    case = verdict.case
    cells = [case.name, f"{case.load:g}", case.must_match]
    for compared, digits in ((verdict.latency, 2), (verdict.hops, 3), (verdict.accepted, 4)):
        cells += [_number(compared.peer, digits), _number(None if compared.peer is None else compared.ours, digits)]
    apart = verdict.latency if verdict.latency.comparable else verdict.accepted
    absent = "" if case.scenario else ": not expressible"
    return [*cells, _relative(apart), verdict.answer + absent]


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _relative(compared: Comparison) -> str:
    if not compared.peer or compared.ours is None:
        return ""
    return f"{compared.ours / compared.peer - 1:+.1%}"


def _numbers(compared: Comparison) -> dict[str, float | None]:
    return {
        "peer": compared.peer,
        "weft": compared.ours,
        "sigma": compared.sigma,
        "tolerance": compared.tolerance,
    }


def _count(verdicts: Sequence[Verdict]) -> str:
    parts = []
    for kind in ("latency", "accepted", "order"):
        answers = Counter(verdict.answer for verdict in verdicts if verdict.case.must_match == kind)
        if answers:
            parts.append(f"{kind} {answers['agrees']} of {answers.total()}")
    failed = sum(verdict.answer == "fails" for verdict in verdicts)
    return f"Agreement: {', '.join(parts) or 'no rows that must match'}; {failed} failed"
