"""The answer in a few sentences and a table of curves; every number comes from the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import collapse, notes, soundness
from weft.results import quantities as q
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.report.sources import Line, Sources
    from weft.results.quantities import Quantity

# Flaws that say nothing against an accepted load.
_ACCEPTING = {"", *(flaw.words for flaw in soundness.OVERLOADED)}
_LEFT_OUT = "These points are left out of what is called lowest, highest, least or a saving."
_NONE_SOUND = "So no point can be called best in anything, and there is no saving to tell."


def sentences(sources: Sources) -> list[str]:
    """What the sweep found, a fact per sentence."""
    return [
        *_endings(sources),
        *_extreme(sources, q.LATENCY, "Lowest mean packet latency", min),
        *_extreme(sources, q.ACCEPTED, "Highest accepted load below saturation", max),
        *_extreme(sources, q.ENERGY, "Least energy per delivered bit", min),
        *_saving(sources),
    ]


def curves(sources: Sources) -> list[dict[str, Any]]:
    """A row per load curve: latency at its lowest load if that point is sound, saturation, highest accepted load.

    The highest accepted load may be that of a saturated point, and then ``accepted_flaw`` says so.
    """
    rows = []
    for line in sources.lines:
        known = zip(sources.means(line, q.ACCEPTED), line.load, line.flaw, strict=True)
        accepted = [(mean.value, load, flaw) for mean, load, flaw in known if mean and flaw in _ACCEPTING]
        most, load, flaw = max(accepted, default=(None, 0.0, ""))
        first = sources.means(line, q.LATENCY)[0]
        rows.append(
            {
                "panel": line.panel,
                "curve": line.label,
                "from_load": line.load[0],
                "latency": None if first is None or line.flaw[0] else first.value,
                "steady_load": max((load for load, over in judged(sources, line) if not over), default=None),
                "saturation": saturation(line, judged(sources, line)),
                "accepted": most,
                "accepted_flaw": f"{flaw} (load {load:g})" if flaw else "",
            }
        )
    return rows


def judged(sources: Sources, line: Line) -> list[tuple[float, bool]]:
    """Each load of a curve, and whether it is too much; of points whose load changes, those of the measured phases.

    Loads of which that is not known are left out.
    """
    found: list[tuple[float, bool]] = []
    for load, over, unknown, points in zip(line.load, line.over, line.unjudged, line.points, strict=True):
        phases = [phase for point in points for phase in sources.summaries[point].get("phases") or []]
        known = [phase for phase in phases if phase["packets"] and phase["saturated"] is not None]
        measured = [(phase[q.SET_LOAD.column], bool(phase["saturated"])) for phase in known]
        if over and measured and not any(too_much for _, too_much in measured):
            highest = max(each for each, _ in measured)  # what was left over at the end of the window never drained
            measured = [(each, each == highest) for each, _ in measured]
        found += measured or ([] if unknown else [(load, over)])
    return sorted(found)


def saturation(line: Line, loads: Sequence[tuple[float, bool]]) -> str:
    """Where a curve saturates, as far as its loads tell: each with whether it is too much, in order."""
    over = [load for load, is_over in loads if is_over]
    steady = max((load for load, is_over in loads if not is_over), default=None)
    if not over and all(line.closed_loop):
        return "never: the load follows the network"
    if not over:
        unknown = [load for load, unknown in zip(line.load, line.unjudged, strict=True) if unknown]
        open_from = min((load for load in unknown if steady is None or load > steady), default=None)
        told = [] if steady is None else [f"not up to {steady:.4g}"]
        return ", ".join(told if open_from is None else [*told, f"not judged from {open_from:.4g} on"])
    if steady is None:
        return f"at {over[0]:.4g} or below"
    if steady > over[0]:
        return f"at {over[0]:.4g}, though not at {steady:.4g}"
    return f"between {steady:.4g} and {over[0]:.4g}"


def _endings(sources: Sources) -> list[str]:
    missing = sum(results.missing for results in sources.results)
    damaged = sum(len(results.damaged) for results in sources.results)
    flawed = soundness.counted(sources.summaries)
    counts = [(count, flaw.words) for flaw, count in flawed.items()]
    counts += [(missing, "not finished"), (damaged, "damaged")]
    told = [f"{count} {'is' if count == 1 else 'are'} {what}" for count, what in counts if count]
    whole = len(sources) + missing + damaged
    points = f"{whole} {'point' if whole == 1 else 'points'}"
    lines = [points + (f": {', '.join(told)}." if told else ", none saturated.")]
    if flawed:
        sound = sum(flawed.values()) < len(sources)
        lines.append(_LEFT_OUT if sound else _NONE_SOUND)
    for results in sources.results:
        told = [
            *notes.unjudged(results),
            *notes.unmeasured(results),
            *notes.too_early(results),
            *notes.remedies(results),
        ]
        lines += [*collapse.sentences(results), *(f"{line[:1].upper()}{line[1:]}." for line in told)]
    return [*lines, *(f"{line}." for line in notes.dropped(sources.summaries))]


def _known(sources: Sources, quantity: Quantity) -> list[tuple[float, int]]:
    """A quantity of each sound point that measured it, with the number of the point."""
    return [
        (summary[quantity.column], point)
        for point, summary in enumerate(sources.summaries)
        if summary.get(quantity.column) is not None and soundness.is_sound(summary)
    ]


def _extreme(sources: Sources, quantity: Quantity, words: str, best: Any) -> list[str]:
    """A sentence on the sound point with the best value of a quantity."""
    known = _known(sources, quantity)
    if not known:
        return []
    value, point = best(known, key=lambda pair: pair[0])
    time = ""
    if quantity.unit == "cycles" and (cycle := sources.summaries[point].get("cycle_seconds")):
        time = f" ({value * cycle * 1e9:.4g} ns)"
    where = f" ({sources.described[point]})" if len(sources) > 1 else ""
    return [f"{words}: {value:.4g} {quantity.unit}{time}{where}."]


def _saving(sources: Sources) -> list[str]:
    """A sentence on the greatest saving against links that are always on, among sound points whose energy differs.

    Both energies are those of the same flits: a sound point delivers all that is offered, with or without sleep.
    """
    known = []
    for point, summary in enumerate(sources.summaries):
        used, always_on = summary.get("energy_total_j"), summary.get("energy_always_on_j")
        if used is not None and always_on and used != always_on and soundness.is_sound(summary):
            known.append((1 - used / always_on, point))
    if not known:
        return []
    share, point = max(known)
    summary = sources.summaries[point]
    where = f" ({sources.described[point]})" if len(sources) > 1 else ""
    more = "less" if share >= 0 else "more"
    energies = [si(summary[name], "J", 4) for name in ("energy_total_j", "energy_always_on_j")]
    joules = f"{' instead of '.join(energies)} for the same flits"
    return [f"Against links that are always on, {100 * abs(share):.1f} % {more} energy at best: {joules}{where}."]
