"""Collects numbers on the runs of an experiment. The page of a reproduction and its data for programs contain them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import soundness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft.results.result_set import ResultSet


def facts(results: ResultSet) -> dict[str, Any]:
    """Collect numbers on the runs of an experiment, such as points, cycles, flit-hops and run time."""
    summaries = results.summaries
    seconds = [results.run_info(row).get("seconds") or 0.0 for row in range(len(results))]
    return {
        "points": len(results),
        "missing": results.missing,
        "seeds": sorted({summary["seed"] for summary in summaries}),
        "warmup_cycles": _span(summary["warmup_cycles"] for summary in summaries),
        "window_cycles": _span(summary["window_cycles"] for summary in summaries),
        "cycles": sum(summary["cycles_total"] for summary in summaries),
        "flit_hops": sum(summary["flit_hops"] for summary in summaries),
        "seconds": sum(seconds),
        "saturated": sum(map(soundness.is_over, summaries)),
        "unsettled": sum(map(soundness.is_unsettled, summaries)),
        "weft_versions": sorted({str(summary.get("weft_version")) for summary in summaries}),
        "hashes": [point["hash"] for point in results.points],
    }


def _span(values: Iterable[int]) -> list[int]:
    """Return the smallest and the greatest value as a list; empty if there are no values."""
    known = sorted(values)
    return [known[0], known[-1]] if known else []
