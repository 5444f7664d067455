"""Makes the tables that `weft run` prints: results by load and series, by job, and by phase of the load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import (
    batch_table,
    notes,
    of_flows,
    of_jobs,
    of_message_classes,
    program_table,
    queue_table,
    si_units,
    soundness,
    ways_around,
)
from weft.results import quantities as q
from weft.results.curves import Panel, panels
from weft.text.columns import GAP, columns, number
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from weft.results.curves import Curve
    from weft.results.quantities import Quantity
    from weft.results.result_set import ResultSet

_SHOWN = (q.LATENCY, q.ACCEPTED, q.ENERGY)
_OF_PHASES = (q.SET_LOAD, q.OFFERED, q.ACCEPTED, q.LATENCY, q.P99, q.ENERGY, q.POWER)
_OVERLOADED = soundness.OVERLOADED_MARK
# Quantities that grow without limit if a job or phase is saturated; a word replaces their values.
_TAILS = (q.LATENCY, q.P99, q.LATENCY_US, q.PERCENTILES_US["99"])
# Names of the three parts into which faults divide the window.
_PARTS = ("before", "during", "after")


def loads(results: ResultSet, *, width: int = 100, units: str = si_units.CYCLES) -> str:
    """The table of latency, accepted load and energy of a sweep, or of completion times of batches.

    The table has a line per load, and a group of columns per series (combination of the other swept values).

    If some packets took detours, the table also has the share of packets on minimal paths. If some packets were lost,
    the table has the share of delivered packets.

    Parameters
    ----------
    results : ResultSet
        Finished points.
    width : int
        Width of a line in characters. Series that do not fit next to each other are printed one below the other.
    units : str
        ``si`` also shows latencies in us, and accepted loads in Gb/s per terminal.
    """
    programs = [*program_table.lines(results), *queue_table.lines(results)] if program_table.are_some(results) else []
    if program_table.are_all(results):
        return "\n".join(programs)
    if batch_table.answers(results):
        return "\n".join(batch_table.lines(results))
    stall = _meaning(["stall"]) if results.stalls else ""
    shown_panels = panels(results)
    curves = [curve for panel in shown_panels for curve in panel.curves]
    more = [
        *([q.MINIMAL] if any(map(_has_detours, curves)) else []),
        *([q.DELIVERED] if _any(curves, "dropping") else []),
    ]
    quantities = [*si_units.beside(_SHOWN, units), *more]
    found = (*_SHOWN, *more)
    shown = ", ".join(f"{each.short} [{each.unit}]" if each.unit else f"{each.short} share" for each in found)
    if units == si_units.SI:
        si_units.check(results.summaries)
        shown = ". ".join(filter(None, [si_units.note(results.summaries), shown]))
    marks = _meaning({_mark(row) for curve in curves for row in curve.frame.iter_rows(named=True)})
    over = any(map(_has_overloaded, curves))
    overloaded = f"; {_OVERLOADED}: {soundness.OVERLOADED_MEANING}" if over else ""
    cut = _meaning([soundness.CUT_SIGN]) if _any(curves, "cut") else ""
    limit = f"{_meaning(['sat']).lstrip('; ')}{stall}{cut}{marks}{overloaded}"
    begun = " at the start of the run, because it changes in phases" if any(curve.changes for curve in curves) else ""
    replies = " of requests; accepted loads also count replies" if _have_replies(results) else ""
    lines = [f"{shown} against the configured load{begun} [{q.OFFERED.unit}]{replies}; {limit}"]
    if any(panel.title for panel in shown_panels):
        lines.insert(0, results.title)
    for panel in shown_panels:
        lines += ["", panel.title or results.title, *_panel(panel, width, quantities)]
    return "\n".join([*programs, *([""] if programs else []), *lines])


def _have_replies(results: ResultSet) -> bool:
    """Whether some job receives replies, which count in its accepted load but not in its offered load."""
    jobs = (job for summary in results.summaries for job in of_jobs.of(summary))
    return any(job.get("reply_latency_mean_cycles") is not None for job in jobs)


def jobs(results: ResultSet, *, units: str = si_units.CYCLES) -> list[str]:
    """Lines of a table with a row per point and job; empty if the table of `loads` already has these numbers."""
    frame = results.jobs
    several = any(len(of_jobs.of(summary)) > 1 for summary in results.summaries)
    batches = any(
        map(of_jobs.is_batch, (job for summary in results.summaries for job in of_jobs.of(summary)))
    ) and not batch_table.answers(results)
    if program_table.are_all(results):
        return []
    if frame.is_empty() or not (several or batches):
        return []
    varied = [path for path in results.coordinates if frame[path].n_unique() > 1]
    batches = frame["batch_packets"].null_count() < frame.height
    shown = si_units.beside((q.OFFERED, q.ACCEPTED, q.LATENCY, q.P99, q.HOPS), units)
    head = [*varied, "job", "terminals", *(quantity.short for quantity in shown)]
    signs = [sign for summary in results.summaries for sign in of_jobs.signs(summary)]
    summaries = [results.summaries[point] for point, _ in results.job_rows]
    rows = [
        [*(label(row[path]) for path in varied), row["job"], str(row["terminals"])]
        + [_of_job(row | si_units.of_part(row, summary), quantity, sign) for quantity in shown]
        + ([_delivered(row), label(row["completion_cycles"])] if batches else [])
        for row, sign, summary in zip(frame.iter_rows(named=True), signs, summaries, strict=True)
    ]
    return [
        f"jobs{_meaning(signs)}",
        *columns([*head, *(("delivered", "completion [cycles]") if batches else ())], rows, left=len(varied) + 1),
    ]


def flows(results: ResultSet, *, units: str = si_units.CYCLES) -> list[str]:
    """Lines of a table with a row per point and class of flows; empty if no point measured flows.

    In a saturated point, latencies are those of the delivered packets only, and have a mark.
    """
    frame = results.flows
    if frame.is_empty():
        return []
    varied = [path for path in results.coordinates if frame[path].n_unique() > 1]
    shown = si_units.beside((q.ACCEPTED, q.SOURCE_ACCEPTED, q.LATENCY, q.P99, q.HOPS), units)
    head = [*varied, "flow", "sources", "packets", *(quantity.short for quantity in shown), "dynamic energy [uJ]"]
    summaries = [results.summaries[point] for point, _ in results.flow_rows]
    signs = [of_flows.sign(summary) for summary in summaries]
    rows = [
        [*(label(row[path]) for path in varied), row["flow"], str(row["sources"]), str(row["packets"])]
        + [_of_flow(row | si_units.of_part(row, summary), quantity, sign) for quantity in shown]
        + [f"{float(row['energy_dynamic_fj']) * 1e-9:.4g}"]
        for row, sign, summary in zip(frame.iter_rows(named=True), signs, summaries, strict=True)
    ]
    meanings = "".join(f"; {sign}: {of_flows.MEANINGS[sign]}" for sign in dict.fromkeys(signs) if sign)
    return [
        f"flows by source and destination{meanings}",
        *columns(head, rows, left=len(varied) + 1),
    ]


def message_classes(results: ResultSet, *, units: str = si_units.CYCLES) -> list[str]:
    """Lines of a table with a row per point and message class; empty if no point has message classes."""
    frame = results.message_classes
    if frame.is_empty():
        return []
    varied = [path for path in results.coordinates if frame[path].n_unique() > 1]
    shown = si_units.beside((q.ACCEPTED, q.LATENCY, q.P99, q.HOPS), units)
    summaries = [results.summaries[point] for point, _ in results.message_class_rows]
    signs = [sign for summary in results.summaries for sign in of_message_classes.signs(summary)]
    rows = [
        [*(label(row[path]) for path in varied), row["message_class"]]
        + [_of_job(row | si_units.of_part(row, summary), quantity, sign) for quantity in shown]
        for row, sign, summary in zip(frame.iter_rows(named=True), signs, summaries, strict=True)
    ]
    head = [*varied, "message class", *(quantity.short for quantity in shown)]
    return [f"message classes{_meaning(signs)}", *columns(head, rows, left=len(varied) + 1)]


def phases(results: ResultSet, *, units: str = si_units.CYCLES) -> list[str]:
    """Lines of a table with a row per point and phase of the load; empty if no load changes.

    A word replaces the latencies of a saturated phase. Dashes replace the numbers of a phase that was not measured. The
    numbers of a phase that is not settled or not judged have a mark.
    """
    frame = results.phases
    if frame.is_empty():
        return []
    varied = [path for path in results.coordinates if frame[path].n_unique() > 1]
    shown = si_units.beside(_OF_PHASES, units)
    head = [*varied, "phase", "cycles", "set", *(quantity.short for quantity in shown[1:])]
    summaries = [results.summaries[point] for point, _ in results.phase_rows]
    marks = [_phase_mark(phase) for summary in results.summaries for phase in soundness.in_phases(summary)]
    rows = [
        [*(label(row[path]) for path in varied), str(row["phase"]), _cycles(row)]
        + [_of_phase(row | si_units.of_part(row, summary), quantity, mark) for quantity in shown]
        for row, mark, summary in zip(frame.iter_rows(named=True), marks, summaries, strict=True)
    ]
    text = (
        "phases of the load: set, offered and accepted [flits/terminal/cycle], latency and p99 of the packets created"
    )
    over = f"; {_OVERLOADED}: {soundness.OVERLOADED_MEANING}"
    marked = _meaning(set(marks)) + (over if any(frame["saturated"]) else "")
    lines = [f"{text} in the phase [cycles], energy [pJ/bit], power [W]{marked}"]
    return [*lines, *columns(head, rows, left=len(varied))]


def faults(results: ResultSet) -> list[str]:
    """Lines of a table with a row per point with faults; empty if no point has faults.

    A row has the latencies and delivered shares before, during and after the faults, and the longest recovery times.
    Notes below the table give the reasons for missing numbers, and the routings that would not lose packets.
    """
    rows = [(row, summary) for row, summary in enumerate(results.summaries) if summary.get("fault_parts")]
    if not rows:
        return []
    varied = [path for path in results.coordinates if results.frame[path].n_unique() > 1]
    head = [*varied, *_PARTS, *(f"share {part}" for part in _PARTS), "recovery", "return"]
    lines = [
        [*(label(results.points[row]["coordinates"][path], path) for path in varied), *_of_faults(summary)]
        for row, summary in rows
    ]
    signs = {sign for _, summary in rows for part in summary["fault_parts"] if (sign := _part_sign(summary, part))}
    text = (
        "faults: mean latency [cycles] of the packets delivered before, during and after the faults, and the share of "
        "packets not dropped; recovery: longest time from a first failure until packets are as before, with the parts "
        "still failed [cycles]; return: longest time from the last repair until packets are as before "
        f"[cycles]{_meaning(signs)}"
    )
    return [text, *columns(head, lines, left=len(varied)), *notes.faults(results), *ways_around.lines(results)]


def _of_faults(summary: Mapping[str, Any]) -> list[str]:
    parts = {part["part"]: part for part in summary["fault_parts"]}
    times = [summary["recovery_cycles"], summary["return_recovery_cycles"]]

    def latency(part: Mapping[str, Any]) -> str:
        value, sign = part["latency_cycles"], _part_sign(summary, part)
        return sign if value is not None and sign in soundness.ENDED else _marked(value, q.LATENCY, sign)

    return [
        *(latency(parts[part]) for part in _PARTS),
        *(number(parts[part]["delivered_share"], 4) for part in _PARTS),
        *("-" if time is None else str(time) for time in times),
    ]


def _part_sign(summary: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    """The sign after the latency before, during or after the faults.

    The sign for dropped packets occurs only after the part in which packets were dropped.
    """
    if part["latency_cycles"] is None:
        return ""
    sign = soundness.sign(summary)
    nothing_lost = sign == soundness.DROPPING_MARK and part["delivered_share"] == 1
    return soundness.mark_without_drops(summary) if nothing_lost else sign


def _cycles(phase: Mapping[str, object]) -> str:
    measured = phase.get("from_cycle") is not None
    return f"{phase['from_cycle']}-{phase['to_cycle']}" if measured else f"from {phase['start_cycle']}"


def _of_phase(phase: Mapping[str, Any], quantity: Quantity, mark: str) -> str:
    if phase.get("saturated"):
        if quantity in _TAILS:
            return "sat"
        mark = _OVERLOADED
    return _marked(phase.get(quantity.column), quantity, mark)


def _phase_mark(phase: Mapping[str, Any]) -> str:
    """The mark of a phase of `soundness.in_phases`; empty if no packet was measured in the phase."""
    return soundness.mark(phase) if phase.get("packets") else ""


def _of_flow(flow: Mapping[str, Any], quantity: Quantity, sign: str) -> str:
    value = flow.get(quantity.column)
    return number(value, quantity.digits) + (
        sign if value is not None and sign in of_flows.marks_of(quantity.column) else ""
    )


def _of_job(job: Mapping[str, Any], quantity: Quantity, sign: str) -> str:
    if sign in soundness.ENDED:
        known = quantity in _TAILS and job[quantity.column] is not None
        return sign if known else number(job[quantity.column], quantity.digits)
    value = job[quantity.column]
    return number(value, quantity.digits) + (
        sign if value is not None and sign in of_jobs.marks_of(quantity.column) else ""
    )


def _marked(value: float | None, quantity: Quantity, mark: str) -> str:
    """A number as a string, with the mark `mark` after it if numbers of this quantity have this mark."""
    known = value is not None and mark in soundness.marks_of(quantity.column)
    return number(value, quantity.digits) + (mark if known else "")


def _meaning(marks: Collection[str]) -> str:
    """The meanings of the signs in a table, as a string."""
    return "".join(f"; {sign}: {meaning}" for sign, meaning in of_jobs.MEANINGS.items() if sign in marks)


def _delivered(job: Mapping[str, Any]) -> str:
    return batch_table.delivered([job]) if of_jobs.is_batch(job) else "-"


def _panel(panel: Panel, width: int, quantities: Sequence[Quantity]) -> list[str]:
    """The lines of the table for one panel (traffic pattern).

    As many series as fit into the width are next to each other, and the next ones are below.
    """
    offered = sorted({load for curve in panel.curves for load in curve.frame["load"]})
    axis = ["", "load", "----", *(f"{load:g}" for load in offered)]
    axis = [cell.rjust(max(map(len, axis))) for cell in axis]
    lines: list[str] = []
    row = axis
    for block in (_block(curve, offered, quantities) for curve in panel.curves):
        if row is not axis and len(row[0]) + len(GAP) * 2 + len(block[0]) > width:
            lines += [*(line.rstrip() for line in row), ""]
            row = axis
        row = [left + GAP * 2 + right for left, right in zip(row, block, strict=True)]
    return [*lines, *(line.rstrip() for line in row)]


def _block(curve: Curve, offered: Sequence[float], quantities: Sequence[Quantity]) -> list[str]:
    """Lines of one series, all of the same width: title, heading, rule, and one line per load."""
    known = {row["load"]: row for row in curve.frame.iter_rows(named=True)}
    late = any(_mark(row) != " " for row in curve.frame.iter_rows(named=True))
    over = _has_overloaded(curve)
    marked = {each: (late and each is not q.DELIVERED) or (over and each is q.ENERGY) for each in quantities}
    rows = [[_cell(known.get(load), each, marked=marked[each]) for each in quantities] for load in offered]
    lines = columns([quantity.short for quantity in quantities], rows, left=0)
    width = max(map(len, [curve.label, *lines]))
    return [curve.label.ljust(width), *(line.ljust(width) for line in lines)]


def _has_detours(curve: Curve) -> bool:
    """Whether some packets took detours: the share on minimal paths, as printed, is below 1.00 at some load."""
    shares = curve.frame[q.MINIMAL.column].drop_nulls()
    return shares.len() > 0 and bool((shares.round(q.MINIMAL.digits) < 1).any())


def _any(curves: Iterable[Curve], column: str) -> bool:
    return any(curve.frame[column].any() for curve in curves)


def _mark(row: Mapping[str, float | bool | str | None]) -> str:
    if row["dropping"] and not (row["saturated"] or row["stalled"]):
        return soundness.DROPPING_MARK
    if row["unjudged"]:
        return soundness.UNJUDGED_MARK
    if row["unsettled"]:
        return soundness.UNSETTLED_MARK
    if row["few"]:
        return soundness.FEW_MARK
    return soundness.PERIOD_MARK if row["partial"] else " "


def _has_overloaded(curve: Curve) -> bool:
    over = curve.frame.filter(curve.frame["saturated"] | curve.frame["stalled"])
    return q.ENERGY.column in over.columns and over[q.ENERGY.column].null_count() < over.height


def _cell(row: dict[str, float | bool | None] | None, quantity: Quantity, *, marked: bool) -> str:
    if row is None:
        return ""
    # a blank instead of a mark, so that the digits of a column are aligned
    over = row["stalled"] or row["saturated"]
    mark = " " if marked else ""
    if marked and row[quantity.column] is not None:
        mark = _mark(row)
        if mark == " " and over and quantity is q.ENERGY:
            mark = _OVERLOADED
    if quantity in (q.LATENCY, q.LATENCY_US) and over:
        return (soundness.STALLED_SIGN if row["stalled"] else soundness.SATURATED_SIGN) + mark
    if quantity in (q.LATENCY, q.LATENCY_US) and row["cut"]:
        return soundness.CUT_SIGN + mark
    return number(row.get(quantity.column), quantity.digits) + mark
