"""Table of the recovery from faults: latency before, during and after the faults, delivered packets, and recovery time.

Source: the reliability argument of TCEP (ISCA 2018), section VII-D. The paper measures no recovery, so we chose the
quantities. Parameters: none. The engine measures the values during the run. `crates/scenario/src/recovery.rs` tests
whether a time bin differs from the state before the faults by more than random variation. Guarantees: the table has the
same columns, whether a scenario names the faults or draws them at random. Not modelled: which packets a fault affected.
Validation: `tests/test_analysis_recovery.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.results import soundness
from weft.results.rows import frame_of
from weft.results.set_times import FAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from weft.results.result_set import ResultSet

# Name of the column with the reason why a number is missing.
NOTE = "note"


def table(results: ResultSet) -> pl.DataFrame:
    """Recovery of each point from the faults in its measured window.

    Parameters
    ----------
    results : ResultSet
        Finished points.

    Returns
    -------
    polars.DataFrame
        A row per point and episode. An episode is the time from a first failure until all parts work again. The columns
        are the coordinates of the point, and:

        - ``failed``: the parts that fail.
        - ``from_cycle``, ``to_cycle``: begin and end of the episode [cycles].
        - ``before_cycles``, ``during_cycles``, ``after_cycles``: mean latency of the packets delivered before the first
          episode of the point, during this episode, and after the end of the episode [cycles].
        - ``delivered_share``, ``dropped_packets``: share of delivered packets and number of dropped packets in the
          episode.
        - ``recovery_cycles``: time from the start of the episode until latency and delivery are as before, although the
          failed parts are still broken [cycles].
        - ``return_cycles``: time from the end of the episode until latency and delivery are as before [cycles].
        - ``recovery_low_cycles``, ``recovery_high_cycles``, ``return_low_cycles``, ``return_high_cycles``: the ends of
          the confidence intervals of these times [cycles].
        - ``note``: the point, and the reason why a number is missing.

    Raises
    ------
    ResultsError
        If no part of the network fails at any point.
    """
    rows = []
    for point, about in enumerate(results.points):
        summary = results.summaries[point]
        if not summary.get("fault_parts"):
            continue
        where = results.describe(point) if len(results) > 1 else ""
        coordinates = {path: value for path, value in about["coordinates"].items() if path != "faults"}
        episodes = summary["fault_episodes"] or [{}]
        rows += [coordinates | _row(summary, episode, where) for episode in episodes]
        if (left := summary["fault_episodes_count"] - len(summary["fault_episodes"])) > 0:
            rows[-1][NOTE] = "; ".join(filter(None, [rows[-1][NOTE], f"{left} later episodes are not listed"]))
    if not rows:
        raise _nothing(results)
    return frame_of(rows)


def _nothing(results: ResultSet) -> ResultsError:
    """Creates the error for results in which no part fails.

    The error repeats the warning that the run gave about random faults, or names the setting to add.
    """
    what = f"nothing fails at any point of {results.root}"
    warnings = [each for summary in results.summaries for each in summary.get("warnings") or []]
    shown = next((each for each in warnings if each["path"].startswith(f"{FAULT_MODEL}.")), None)
    if shown is not None:
        return ResultsError.saying(f"{what}: {shown['what']}", shown["help"])
    return ResultsError.saying(what, "name failures under `faults` in the scenario, or write `fault_model.random`")


def _row(summary: Mapping[str, Any], episode: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The table row of an episode (a time with failed parts). If a point has no episode, its row states the reason."""
    parts = {part["part"]: part for part in summary["fault_parts"]}
    lacking = [parts[part]["unknown"] for part in ("before", "after") if parts[part]["unknown"]]
    # dropped packets are not named as a flaw, because the table has a column for them
    flaw = ", ".join(each.words for each in soundness.flaws(summary) if each is not soundness.DROPPING)
    why = [*lacking, episode.get("unknown"), f"the point is {flaw}" if flaw else None]
    text = "; ".join(dict.fromkeys(filter(None, why)))
    return {
        "failed": episode.get("failed", "nothing in the window"),
        "from_cycle": episode.get("from_cycle"),
        "to_cycle": episode.get("to_cycle"),
        "before_cycles": parts["before"]["latency_cycles"],
        "during_cycles": episode.get("latency_cycles"),
        "after_cycles": parts["after"]["latency_cycles"],
        "delivered_share": episode.get("delivered_share"),
        "dropped_packets": episode.get("dropped_packets"),
        **_time(episode, "recovery"),
        **_time(episode, "return_recovery", "return"),
        NOTE: ": ".join(filter(None, [where, text])) if text else None,
    }


def _time(episode: Mapping[str, Any], key: str, name: str | None = None) -> dict[str, int | None]:
    """A time of an episode and the ends of its confidence interval, in columns that begin with `name`."""
    low, high = episode.get(f"{key}_interval_cycles") or (None, None)
    name = name or key
    return {f"{name}_cycles": episode.get(f"{key}_cycles"), f"{name}_low_cycles": low, f"{name}_high_cycles": high}
