"""Writes the first section of a report: the main results in a few sentences, and a table of curves over load.

Every number in the sentences comes from the results.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.errors import WeftError
from weft.results import (
    bill_lines,
    codes,
    notes,
    of_jobs,
    of_programs,
    program_table,
    savings,
    si_units,
    soundness,
    sweep_diagnoses,
)
from weft.results import quantities as q
from weft.results.bill_keys import Bill
from weft.results.confidence import Mean
from weft.results.curves import SOUND
from weft.results.set_times import faults
from weft.results.yearly_bill import YearlyBill
from weft.text.labels import shortened
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.report.sources import Line, Sources
    from weft.results.quantities import Quantity

# Ranks (numbers of kinds) of the flaws with which the accepted load of a point is still reliable.
_ACCEPTING = {SOUND, *(flaw.rank for flaw in soundness.OVERLOADED)}
_LEFT_OUT = "The lowest, highest and least values and the savings below exclude these points."
_FEW_DROPPED = "Savings also compare points that drop at most 3 % of their packets, if both deliver the same load."
# If several points are equally good, a sentence lists at most this number of them.
_NAMED = 3
# Text that follows a point about which the engine warned.
_WARNED = "the network may not carry if the run begins differently (see the warning)"
_NONE_SOUND = "Therefore Weft names no point as the best in any quantity."


def sentences(sources: Sources) -> list[str]:
    """Sentences with the main results of the sweep, one fact per sentence."""
    lines = _sentences(sources)
    return [*lines, *(f"{line[:1].upper()}{line[1:]}." for line in codes.legend(lines))]


def _sentences(sources: Sources) -> list[str]:
    if all(map(program_table.are_all, sources.results)):
        return [*_endings(sources), *_programs(sources)]
    return [
        *_endings(sources),
        *_bill(sources),
        *_extreme(sources, q.LATENCY, "Lowest mean packet latency", min),
        *_extreme(sources, q.ACCEPTED, "Highest accepted load below saturation", max),
        *_extreme(sources, q.ENERGY, "Least energy per delivered bit", min),
        *_saving(sources),
    ]


def _programs(sources: Sources) -> list[str]:
    """Sentences on the best points of a sweep that runs programs.

    The best points are the fastest point, the point with the least energy, and the point with the least product of time
    and energy.
    """
    known = [point for point, summary in enumerate(sources.summaries) if of_programs.ended(summary)]
    heads = ("Least run time", "Least energy to solution", "Least energy times run time")
    shown = []
    for head, answer in zip(heads, of_programs.ANSWERS, strict=True) if known else ():
        values = {point: of_programs.in_units(sources.summaries[point])[answer.column] for point in known}
        best = min(known, key=lambda point: values[point] or 0.0)
        where = f" ({sources.described[best]})" if len(sources) > 1 else ""
        equal = sum(value == values[best] for value in values.values()) - 1
        same = f", and the same at {equal} more points" if equal else ""
        shown.append(f"{head}: {of_programs.words(sources.summaries[best], answer)}{where}{same}.")
    shown += [f"{line}." for results in sources.results for line in of_programs.unequal(results)]
    shares = [
        100 * job["exposed_mean_cycles"] / job[program_table.RUN_TIME]
        for point in known
        for job in of_jobs.of(sources.summaries[point])
        if job.get(program_table.RUN_TIME) and job.get("exposed_mean_cycles") is not None
    ]
    if shares:
        least, most = f"{min(shares):.3g} %", f"{max(shares):.3g} %"
        share = least if least == most else f"{least} to {most}"
        shown.append(f"Exposed communication: a rank does not compute for {share} of the run time, on average.")
    return shown


def _bill(sources: Sources) -> list[str]:
    """Sentences on the cost of a year under each policy, if a scenario has a bill.

    If there is a bill, the report states the saving over a year, because it is more relevant than the saving at the
    best load.
    """
    values: list[str] = []
    for results in sources.results:
        if len(results) and Bill.kept(results):
            with suppress(WeftError):  # the section on the bill has the error
                values += [f"{line}." for line in bill_lines.headline(YearlyBill(results))]
    return values


def curves(sources: Sources) -> list[dict[str, Any]]:
    """Table with a row per load curve: latency at the lowest load, saturation, and highest accepted load.

    The latency is missing if the point at the lowest load is not sound (has a flaw).

    ``accepted_flaw`` says whether the highest accepted load is that of a saturated point. It also names a point that
    accepted a higher load but is left out, with the reason.
    """
    in_si = sources.units == si_units.SI
    rows = []
    for line in sources.lines:
        known = list(zip(sources.means(line, q.ACCEPTED), line.load, line.flaw, line.rank, strict=True))
        accepting = [(mean.value, load, flaw) for mean, load, flaw, rank in known if mean and rank in _ACCEPTING]
        most, load, flaw = max(accepting, default=(None, 0.0, ""))
        shown = [f"{flaw} (load {load:g})"] if flaw else []
        shown += [f"a load that {_WARNED}"] if not flaw and load in _warned(sources, line) else []
        others = [(mean.value, load, flaw) for mean, load, flaw, rank in known if mean and rank not in _ACCEPTING]
        more = [each for each in others if most is None or each[0] > most]
        shown += [f"excluding {value:.4g} at load {load:g}, which is {flaw}" for value, load, flaw in more]
        has_latency = not line.flaw[0] and not _changes(sources, line)
        steady, saturation = carried(sources, line)
        first, first_us = (sources.means(line, each)[0] for each in (q.LATENCY, q.LATENCY_US))
        rows.append(
            {
                "panel": line.panel,
                "curve": line.label,
                "from_load": line.load[0],
                "latency": first.value if first and has_latency else None,
                "latency_us": first_us.value if in_si and first_us and has_latency else None,
                "steady_load": steady,
                "saturation": saturation,
                "accepted": most,
                "accepted_gbps": _at(most, sources.means(line, q.ACCEPTED), sources.means(line, q.ACCEPTED_GBPS))
                if in_si
                else None,
                "accepted_flaw": "; ".join(shown),
            }
        )
    return rows


def _at(value: float | None, means: Sequence[Mean | None], others: Sequence[Mean | None]) -> float | None:
    """The mean in `others` at the load at which `means` has the value `value`."""
    pairs = zip(means, others, strict=True)
    return next((other.value for mean, other in pairs if mean and other and mean.value == value), None)


def _warned(sources: Sources, line: Line) -> set[float]:
    """Loads of a curve about which the engine warned that the network may not carry them from another initial state."""
    return {
        load
        for load, points in zip(line.load, line.points, strict=True)
        if any(soundness.is_warned(sources.summaries[point]) for point in points)
    }


def _changes(sources: Sources, line: Line) -> bool:
    """Whether the load of a curve changes in phases during the run (of the first point of the curve).

    With a changing load, the mean latency of the point belongs to no single load.
    """
    return any(sources.summaries[point].get("phases") for point in line.points[0])


def carried(sources: Sources, line: Line) -> tuple[float | None, str]:
    """The highest load of a curve below saturation, and text on the load at which it saturates or drops packets."""
    dropped = list(_lossy(sources, line).items())
    is_closed_loop, is_warned = all(line.closed_loop), bool(_warned(sources, line))
    return _engine.saturation(judged(sources, line), dropped, is_closed_loop, is_warned)


def _lossy(sources: Sources, line: Line) -> dict[float, float]:
    """The loads at which more than 3 % of the packets are dropped, each with the largest share among its runs."""
    return {
        load: max(soundness.dropped_share(sources.summaries[point]) for point in points)
        for load, points in zip(line.load, line.points, strict=True)
        if any(soundness.is_lossy(sources.summaries[point]) for point in points)
    }


def judged(sources: Sources, line: Line) -> list[tuple[float, bool | None]]:
    """Each load of a curve, and whether the load is too much for the network.

    If the load changes in phases, the loads of the measured phases are judged instead.

    The second value is ``None`` if Weft cannot judge the load.
    """
    found: list[tuple[float, bool | None]] = []
    for load, over, unknown, points in zip(line.load, line.over, line.unjudged, line.points, strict=True):
        measured = [
            (phase[q.SET_LOAD.column], phase["saturated"])
            for point in points
            for phase in sources.summaries[point].get("phases") or []
            # if a point is not saturated, its phases without a judgement send only batches, which are left out
            if phase["packets"]
            and (phase["saturated"] is not None or sources.summaries[point]["saturated"] is not False)
        ]
        if over and measured and not any(too_much for _, too_much in measured):
            highest = max(each for each, _ in measured)  # too much, because packets of the window never arrived
            measured = [(each, too_much if each < highest else True) for each, too_much in measured]
        found += measured or [(load, None if unknown else over)]
    return sorted(found, key=lambda pair: pair[0])


def _endings(sources: Sources) -> list[str]:
    missing = sum(results.missing for results in sources.results)
    damaged = sum(len(results.damaged) for results in sources.results)
    flawed = soundness.counted(sources.summaries)
    counts = [(count, flaw.words) for flaw, count in flawed.items()]
    counts += [(missing, "not finished"), (damaged, "damaged")]
    shown = [f"{count} {'is' if count == 1 else 'are'} {what}" for count, what in counts if count]
    whole = len(sources) + missing + damaged
    points = f"{whole} {'point' if whole == 1 else 'points'}"
    lines = [points + (f": {', '.join(shown)}." if shown else ", none saturated.")]
    if flawed:
        sound = sum(flawed.values()) < len(sources)
        lines.append(_LEFT_OUT if sound else _NONE_SOUND)
        if sound and any(soundness.is_dropping(each) and not soundness.is_lossy(each) for each in sources.summaries):
            lines.append(_FEW_DROPPED)
    for results in sources.results:
        shown = [
            *codes.sentences(sweep_diagnoses.of_loads(results)),
            *notes.unjudged(results),
            *notes.unmeasured(results),
            *notes.starved(results),
            *notes.too_early(results),
            *notes.to_settle(results),
        ]
        shown += notes.warnings(results)
        lines += [f"{line[:1].upper()}{line[1:]}." for line in shown]
    return [*lines, *(f"{line}." for line in notes.dropped(sources.summaries))]


def _known(sources: Sources, quantity: Quantity) -> list[tuple[float, int]]:
    """Values of a quantity at all sound points (without flaws) that have a value, each with the index of its point."""
    return [
        (summary[quantity.column], point)
        for point, summary in enumerate(sources.summaries)
        if summary.get(quantity.column) is not None and soundness.is_sound(summary)
    ]


def _extreme(sources: Sources, quantity: Quantity, words: str, best: Any) -> list[str]:
    """A sentence on the best point in a quantity, and on points that differ from it only by chance.

    Only sound points (points without flaws) count.
    """
    known = _known(sources, quantity)
    if not known:
        return []
    value, point = best(known, key=lambda pair: pair[0] * _scale(sources, quantity, pair[1]))
    time = ""
    if quantity.unit == "cycles" and (cycle := sources.summaries[point].get("cycle_seconds")):
        time = f" ({value * cycle * 1e9:.4g} ns)"
    where = f" ({sources.described[point]})" if len(sources) > 1 else ""
    where += f", a load that {_WARNED}" if soundness.is_warned(sources.summaries[point]) else ""
    equal = [other for _, other in known if other != point and _same(sources, quantity, point, other)]
    named = shortened([sources.described[other] for other in equal], _NAMED, "; ")
    warned = sum(soundness.is_warned(sources.summaries[other]) for other in equal)
    more = f"; {warned} of these have a load that {_WARNED}" if warned else ""
    shown = f", and the same within chance at {len(equal)} more: {named}{more}" if equal else ""
    return [f"{words}: {value:.4g} {quantity.unit}{time}{where}{shown}."]


def _scale(sources: Sources, quantity: Quantity, point: int) -> float:
    """Factor that converts a value to the units of the report, so that points with different cycles are comparable."""
    return si_units.scale(sources.summaries[point], quantity, sources.units)


def _same(sources: Sources, quantity: Quantity, point: int, other: int) -> bool:
    """Whether random variation explains the difference of a quantity between two points.

    The result is false for means over time if the scenario of a point changes the load or the network at given times.
    """
    two = [sources.summaries[each] for each in (point, other)]
    if quantity is q.ACCEPTED:
        return soundness.same_work([each[quantity.column] for each in two], [each.get("packets") for each in two])
    if sources.changes[point] or sources.changes[other]:
        return False
    a, b = (
        Mean.of([each[quantity.column] * by], half and half * by)
        for each, by in zip(two, (_scale(sources, quantity, each) for each in (point, other)), strict=True)
        for half in (each.get(quantity.own_half_width),)
    )
    half_width = a.difference_half_width(b)
    return half_width is not None and abs(a.value - b.value) <= half_width


def _saving(sources: Sources) -> list[str]:
    """Sentences on the greatest saving of power compared with links that are always on.

    The reference is a measured point with always-on links. If no such point was measured, the reference is the cost of
    the same flits on always-on links.

    A network with sleeping links can deliver fewer flits than one with always-on links. Therefore, if both networks
    were measured, only points that deliver the same load are compared.
    """
    compared: list[tuple[savings.Pair, str]] = []
    lines: list[str] = []
    for results in sources.results:
        for beside in savings.measured(results):
            compared += [(pair, beside.policy) for pair in beside.good[:1]]
            if beside.good:
                found = codes.sentences(each for each, _ in beside.diagnoses)
                lines += [f"{each[:1].upper()}{each[1:]}." for each in found]
            else:
                both = f"{beside.policy} compared with {beside.reference}"
                lines.append(f"The saving of {both} is unknown. {beside.left_out}")
    if compared:
        pair, policy = max(compared, key=lambda each: each[0].share)
        amount = f"{100 * abs(pair.share):.1f} % {'less' if pair.share > 0 else 'more'} power at best"
        amount = amount if pair.shown else "no less power at any point"
        where = ", ".join(filter(None, [policy, pair.place]))
        lines.insert(
            0,
            f"Compared with links that are always on, {amount}, at the same traffic ({where}): {pair.powers()};"
            f" mean latency {pair.latencies()}{_doubt(pair.policy)}.",
        )
    return [*lines, *_saving_of_the_same_flits(sources)]


def _doubt(summary: Mapping[str, Any]) -> str:
    """Text to add to the saving of a point about which the engine warned."""
    return f"; this point has a load that {_WARNED}" if soundness.is_warned(summary) else ""


def _saving_of_the_same_flits(sources: Sources) -> list[str]:
    """A sentence on the greatest saving if no point with always-on links was measured.

    The saving is relative to the cost of the same flits on always-on links. Weft states no saving for points with
    failed links, because these draw no power although they do not sleep. Weft also states no saving if the offered load
    depends on the network, because always-on links would then deliver more flits.
    """
    known, left_out = [], 0
    for results in sources.results:
        if savings.measured(results):
            continue
        for row, failing in enumerate(faults(results)):
            point = sources.places.index((results, row))
            summary = sources.summaries[point]
            used, always_on = summary.get("energy_total_j"), summary.get("energy_always_on_j")
            if used is None or not always_on or used == always_on or not soundness.is_sound(summary):
                continue
            if failing or summary.get("closed_loop"):
                left_out += 1
            else:
                known.append((1 - used / always_on, point))
    lines = []
    if known:
        share, point = max(known)
        summary = sources.summaries[point]
        where = f" ({sources.described[point]})" if len(sources) > 1 else ""
        more = "less" if share >= 0 else "more"
        energies = [si(summary[name], "J", 4) for name in ("energy_total_j", "energy_always_on_j")]
        joules = f"{' instead of '.join(energies)} for the same flits"
        best = f"{100 * abs(share):.1f} % {more} energy at best"
        lines.append(f"Compared with links that are always on, {best}: {joules}{where}{_doubt(summary)}.")
    if left_out:
        points = f"{left_out} {'point' if left_out == 1 else 'points'}"
        why = "links fail, or the load depends on the network, and no point with links that are always on was measured"
        lines.append(f"The savings of {points} are unknown: {why}.")
    return lines
