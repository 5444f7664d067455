"""Writes an example of the section `bill` (yearly cost) for some results, for messages if a scenario has no bill."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from weft.results import quantities as q
from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weft.results.result_set import ResultSet


def example(results: ResultSet) -> str:
    """The section `bill` in one line.

    The section names loads or phases at which the results have no flaws, if there are any.

    The price in the section is only an example.
    """
    parts = [list(_parts(summary)) for summary in results.summaries]
    # the example names only loads at which all series are sound, because a series that lacks a load of the bill has no
    # bill
    counts = Counter(part for each in parts for part in each)
    most = max(counts.values(), default=0)
    known = [part for part, count in counts.items() if count == most]
    shown = list(dict.fromkeys([known[0], known[-1]])) if known else ["load: 0.1"]
    profile = ", ".join(f"{{share: {1 / len(shown):g}, {part}}}" for part in shown)
    return f"bill: {{price_per_kwh: 0.25EUR, profile: [{profile}]}}"


def remedy(results: ResultSet) -> str:
    """Text that says how the user adds a bill to these results: the keys, and the file in which to write them."""
    return (
        f"write a file, such as contract.yaml, with the line `{example(results)}`, and name it with"
        " --bill contract.yaml; or write that line into the scenario and run it again (finished points stay)"
    )


def _parts(summary: Mapping[str, Any]) -> Iterator[str]:
    """The loads or phases of a point that a bill can name, such as ``load: 0.1``."""
    if phases := soundness.in_phases(summary):
        yield from (
            f"phase: {phase['phase']}" for phase in phases if phase.get("packets") and soundness.is_sound(phase)
        )
    elif summary.get(q.SET_LOAD.column) and soundness.is_sound(summary):
        yield f"load: {summary[q.SET_LOAD.column]:.12g}"
