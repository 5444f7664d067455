"""Notes below a table: points not measured, not settled or collapsed, unsure means, losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft.results import backlog, collapse, mixed_verdicts, price_source, remedies, soundness
from weft.results import quantities as q
from weft.text.labels import setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from weft.results.backlog import Backlog
    from weft.results.result_set import ResultSet

# Most points that a line names.
_NAMED = 3


def lines(results: ResultSet) -> list[str]:
    """The notes of a sweep, a line each."""
    warmup = _answers(results, "warmup_settled", "warm-up settled")
    if warmup:
        ended = [
            row
            for row in results.summaries
            if row["warmup_settled"] and row.get("power_settled") is not False and row.get("packets") != 0
        ]
        cycles = [summary["warmup_cycles"] for summary in ended]
        taken = f" after {_range(cycles)} cycles" if cycles else ""
        warmup = [f"{warmup[0]}{taken}", *warmup[1:], *_late(results)]
    power = _answers(results, "power_settled", "power state settled")
    confidence = _answers(results, "confidence_reached", "wanted confidence reached")
    lost = dropped(results.summaries)
    told = [
        *collapse.sentences(results),
        *mixed_verdicts.sentences(results),
        *unjudged(results),
        *_partial(results),
        *unmeasured(results),
        *starved(results),
        *too_early(results),
        *warmup,
        *_by_phases(results),
        *power,
        *confidence,
    ]
    return [
        *told,
        *to_settle(results),
        *lost,
        *_fairness(results),
        *unlisted(results),
        *damage(results),
        *price_source.lines(results.summaries),
    ]


def unmeasured(results: ResultSet) -> list[str]:
    """Points, jobs and phases of which the window holds no packet, each kind with the reason; no line if none is."""
    return [
        *_each_once(results, lambda summary: [_no_packet(summary)] if summary.get("packets") == 0 else []),
        *_each_once(results, _short_window),
        *_each_once(results, _silent_jobs),
        *_each_once(results, _silent_phases),
        *_each_once(results, _overloaded_phases),
        *_each_once(results, _late_phases),
    ]


def too_early(results: ResultSet) -> list[str]:
    """Points whose fixed warm-up is too short for power states or replies, and queues that have not settled."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        short, early = soundness.short_warmup(summary), soundness.without_replies(summary)
        lines = [] if short is None else [f"power states not settled: {short}"]
        return lines if early is None else [*lines, f"replies not settled: {early}"]

    def queues(summary: Mapping[str, Any]) -> list[str]:
        found = soundness.flaws(summary)
        if soundness.QUEUES_UNSETTLED not in found or soundness.FULL in found:
            return []
        return _queues_of_phases(summary) if summary.get("phases") else [_queues(summary)]

    def full(summary: Mapping[str, Any]) -> list[str]:
        return [_full(summary)] if soundness.FULL in soundness.flaws(summary) and not soundness.is_over(summary) else []

    def left(summary: Mapping[str, Any]) -> list[str]:
        late = None if summary.get("phases") else soundness.began_behind(summary)
        return [] if late is None else [f"began with {_waiting(late)} left by the warm-up: {_drains(summary)}"]

    return [
        *_each_once(results, told),
        *_each_once(results, full),
        *_each_once(results, queues),
        *_each_once(results, left),
    ]


def to_settle(results: ResultSet) -> list[str]:
    """Settings with which points settle; the engine warns of a fixed warm-up before the run."""
    limit = longest_limit(results)

    def told(summary: Mapping[str, Any]) -> list[str]:
        if soundness.short_warmup(summary) is not None or soundness.without_replies(summary) is not None:
            return []
        return [f"to settle: {remedy}" for remedy in remedies.to_settle(summary, limit)]

    return _each_once(results, told)


def warnings(results: ResultSet, told: Sequence[str] = ()) -> list[str]:
    """Warnings of the engine, in the order of the points, without those in `told`."""
    known = "\n".join(told)

    def rest(summary: Mapping[str, Any]) -> list[str]:
        lines = []
        for warning in summary.get("warnings") or []:
            parts = [warning[key] for key in ("what", "help") if warning[key] not in known]
            lines += [f"warning: {warning['path']}: {'; '.join(parts)}"] if parts else []
        return lines

    return _each_once(results, rest)


def longest_limit(results: ResultSet) -> int:
    """The longest `measure.warmup_limit` of all points [cycles]; 0 if none has one."""
    return max((summary.get("warmup_limit_cycles") or 0 for summary in results.summaries), default=0)


def _by_phases(results: ResultSet) -> list[str]:
    """Where nobody looked whether the network had settled: no warm-up can end by itself under a load that changes."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        if not summary.get("phases") or summary.get("warmup_settled") is not None:
            return []
        length = summary.get("warmup_cycles")
        return [
            f"settled: not judged, since the load changes at set times; the warm-up is the scenario's, {length} cycles"
        ]

    return _each_once(results, told)


def _late(results: ResultSet) -> list[str]:
    """Why warm-ups came to their limits."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        why = soundness.unsettled_latencies(summary)
        return [] if why is None else [f"  {why}"]

    return _each_once(results, told)


def _each_once(
    results: ResultSet, told: Callable[[Mapping[str, Any]], list[str]], rest: str = "more like these"
) -> list[str]:
    """Texts of `told` about the points, each once, with the first such point and the number of others."""
    found: dict[str, list[int]] = {}
    for row, summary in enumerate(results.summaries):
        for text in told(summary):
            found.setdefault(text, []).append(row)
    several = len(results) > 1
    more = {text: f" and {len(rows) - 1} more" if len(rows) > 1 else "" for text, rows in found.items()}
    where = {text: f" ({results.describe(rows[0])}{more[text]})" if several else "" for text, rows in found.items()}
    lines = [f"{text}{where[text]}" for text in found]
    return [*lines[:_NAMED], f"and {len(lines) - _NAMED} {rest}"] if len(lines) > _NAMED + 1 else lines


def unjudged(results: ResultSet) -> list[str]:
    """Points of which it is not known whether the network carries their load, with the reason."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        why = soundness.unjudged(summary)
        return [] if why is None else [f"not judged: {why}"]

    return _each_once(results, told)


def behind(results: ResultSet) -> list[str]:
    """Points that accepted less than they were offered before they had settled, and settings that show it."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        if not soundness.is_behind(summary):
            return []
        loads = f"{summary[q.ACCEPTED.column]:.4g} of {summary[q.OFFERED.column]:.4g} {q.ACCEPTED.unit}"
        what = f"{loads} were accepted, and the point is {soundness.reason(summary)}"
        return [f"not judged: {what}; {remedies.to_judge(summary)}"]

    return _each_once(results, told)


def _partial(results: ResultSet) -> list[str]:
    """Windows and phases that are no whole periods of the policy, and the remedy."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        why = soundness.part_of_period(summary)
        return [] if why is None or soundness.unjudged(summary) == why else [f"part of a period: {why}"]

    return _each_once(results, told)


def _no_packet(summary: Mapping[str, Any]) -> str:
    if summary.get(q.OFFERED.column):
        return "nothing was measured: none of the packets created in the window was delivered"
    return "nothing was measured: no packet was created in the window"


def _short_window(summary: Mapping[str, Any]) -> list[str]:
    """A window in which few packets, or hardly any latency of one, fit."""
    packets, latency = summary.get("packets") or 0, summary.get(q.LATENCY.column)
    window = summary.get("window_cycles")
    if soundness.FEW in soundness.flaws(summary):
        of = f" of {window} cycles" if window else ""
        count = f"{packets} {'packet' if packets == 1 else 'packets'}"
        if soundness.is_over(summary):
            loads = f"{summary[q.ACCEPTED.column]:.4g} of {summary[q.OFFERED.column]:.4g} {q.ACCEPTED.unit}"
            created = f"of the packets created in the window{of} {count} {'was' if packets == 1 else 'were'} delivered"
            return [f"{soundness.flaws(summary)[0].words}: {created}, the others wait; {loads} were accepted"]
        return [f"{count} in the window{of}: too few for a mean or a percentile; write a longer measure.window"]
    if window and latency and window < latency and not soundness.is_over(summary):
        what = f"the window of {window} cycles is shorter than the mean latency, {latency:.4g} cycles"
        remedy = f"write `measure.window: {math.ceil(10 * latency)}cycles` or more"
        return [f"{what}: what is delivered in it was sent before; {remedy}"]
    return []


def _queues(summary: Mapping[str, Any]) -> str:
    if soundness.drains(summary):
        return f"queues not settled: the window delivers what the warm-up has left in the network: {_drains(summary)}"
    wait, memory = summary["queueing_mean_cycles"], summary["queue_memory_cycles"]
    lasted = summary["warmup_cycles"] + summary["window_cycles"]
    grown = summary.get("latency_growth_share")
    if grown is not None and memory <= lasted:
        return (
            "queues not settled: the latency still grows, packets that were created in the second half of the window"
            f" took {100 * grown:.0f} % longer on average than those of the first: the latency depends on how the run"
            " began and how long it was"
        )
    return (
        f"queues not settled: a packet waits {wait:.4g} of its {summary[q.LATENCY.column]:.4g} cycles in queues, and "
        f"queues of that length need about {memory:.3g} cycles to forget how they began, but warm-up and window are "
        f"{lasted}: the latency depends on how the run began and how long it was"
    )


def _queues_of_phases(summary: Mapping[str, Any]) -> list[str]:
    return [
        f"queues not settled in phase {phase['phase']} of the load: they are so long that they need about "
        f"{phase['queue_memory_cycles']:.3g} cycles to forget how they began, but "
        f"{phase['to_cycle'] - phase['start_cycle']} cycles after the begin of the phase it ends, or"
        " the window does: its latency depends on when that is"
        for phase in soundness.in_phases(summary)
        if soundness.QUEUES_UNSETTLED in soundness.flaws(phase)
    ]


def _full(summary: Mapping[str, Any]) -> str:
    return f"not settled: {_bound(summary)}: so near to it, or above, queues grow for as long as the run lasts"


def _bound(summary: Mapping[str, Any]) -> str:
    """The load and the bound of the paths; a buffer that is too short for its link is the reason of a low bound."""
    offered, bound = summary[q.OFFERED.column], summary["path_bound_load"]
    told = f"offers {offered:.4g}, the bound of its paths is {bound:.4g} {q.OFFERED.unit}"
    buffer = summary.get("path_bound_buffer")
    return told if buffer is None else f"{told} (`{buffer}` is shorter than the round trip of a credit)"


def starved(results: ResultSet) -> list[str]:
    """Saturated points whose buffers are too short for their load, with the remedy."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        if summary.get("path_bound_buffer") is None or not soundness.is_over(summary):
            return []
        above = soundness.is_above_bound(summary)
        return [f"saturated: {_bound(summary)}; write {remedies.below_bound(summary)}"] if above else []

    return _each_once(results, told)


def _waiting(late: Backlog) -> str:
    packets = late.at_begin or 0
    return f"a backlog of {packets} {'packet' if packets == 1 else 'packets'}"


def _drains(summary: Mapping[str, Any]) -> str:
    loads = f"{summary[q.ACCEPTED.column]:.4g} of {summary[q.OFFERED.column]:.4g} {q.ACCEPTED.unit}"
    return f"{loads} are accepted, and its latencies are not those of its load alone"


def _silent_jobs(summary: Mapping[str, Any]) -> list[str]:
    """The jobs that measured nothing, if there are others."""
    jobs = summary.get("jobs") or []
    return [_silent_job(job, summary) for job in jobs if len(jobs) > 1 and job.get("packets") == 0]


def _silent_job(job: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    begin, completed = summary.get("warmup_cycles"), job.get("completion_cycles")
    name = f"job {job['job']} measured nothing"
    if completed is not None and begin is not None and completed <= begin:
        return f"{name}: its batch was complete in cycle {completed}, before the window began in cycle {begin}"
    if job.get(q.OFFERED.column):
        return f"{name}: none of the packets that it created in the window was delivered"
    return f"{name}: it created no packet in the window"


def _silent_phases(summary: Mapping[str, Any]) -> list[str]:
    """The phases of the load that measured nothing."""
    phases = summary.get("phases") or []
    begin = summary.get("warmup_cycles") or 0
    end = begin + (summary.get("window_cycles") or 0)
    told = []
    for number, phase in enumerate(phases):
        name = f"phase {phase['phase']} of the load measured nothing"
        if phase["start_cycle"] >= end:
            told.append(f"{name}: it begins in cycle {phase['start_cycle']}, and the window ends in cycle {end}")
        elif phase.get("from_cycle") is None:
            last = phases[number + 1]["start_cycle"]
            told.append(f"{name}: it ends in cycle {last}, and the window begins in cycle {begin}")
        elif phase["packets"] == 0:
            told.append(f"{name}: no packet that was created in it was delivered")
    return told


def _overloaded_phases(summary: Mapping[str, Any]) -> list[str]:
    phases = summary.get("phases") or []
    return [
        f"phase {phase['phase']} of the load is saturated: {phase[q.ACCEPTED.column]:.4g} of {phase['load']:.4g} "
        f"{q.ACCEPTED.unit} are accepted, {_left(waits)}"
        for phase, waits in zip(phases, backlog.of_phases(phases), strict=True)
        if phase.get("saturated")
    ]


def _left(waits: backlog.Backlog | None) -> str:
    """What waits as a phase ends: of one that works off the backlog of others, what is accepted does not tell that."""
    if waits is None or waits.after <= 0 or waits.offered <= 0:
        return "what is left waits in the source queues for later phases"
    begin = f", and {waits.before:.3g} as it began" if waits.before > 0 else ""
    share = 100 * waits.after / waits.offered
    told = f"{waits.after:.3g} flits/terminal wait in the source queues as it ends"
    return f"{told} ({share:.3g} % of what it is offered){begin}"


def dropped(summaries: Iterable[Mapping[str, Any]]) -> list[str]:
    """How many packets were lost because a link or router failed; no line if none was."""
    losing = [summary for summary in summaries if soundness.is_dropping(summary)]
    if not losing:
        return []
    counts = [summary["dropped_packets"] for summary in losing]
    delivered = 100 * (1 - max(map(soundness.dropped_share, losing)))
    packets, points = sum(counts), len(counts)
    lost = f"{packets} {'packet' if packets == 1 else 'packets'} dropped"
    where = f"{points} {'point' if points == 1 else 'points'}"
    # a loss is not rounded away
    digits = next(digits for digits in range(3, 18) if float(f"{delivered:.{digits}g}") < 100)
    share = f"{delivered:.{digits}g} % were delivered{' at the worst of them' if points > 1 else ''}"
    return [f"{lost} at {where} (a link or router had failed): {share}, and latencies are of those"]


def faults(results: ResultSet) -> list[str]:
    """Why the latency or share of a part of the window, or a time to recover from faults, is not known."""

    def told(summary: Mapping[str, Any]) -> list[str]:
        parts = [(f"{part['part']} the faults", part["unknown"]) for part in summary.get("fault_parts") or []]
        times = [("recovery", summary.get("recovery_unknown")), ("return", summary.get("return_recovery_unknown"))]
        if times[0][1] == times[1][1]:
            times = [("recovery and return", times[0][1])]
        return [f"- {what}: {why}" for what, why in [*parts, *times] if why]

    return _each_once(results, told, "more, which `weft analyse recovery` tells")


def unlisted(results: ResultSet) -> list[str]:
    """Number of points of the folder that the sweep no longer has, and their future; no line if it has all."""
    if not results.unlisted:
        return []
    count = (
        f"{results.unlisted} other point{' lies' if results.unlisted == 1 else 's lie'} in {results.root / 'points'}"
    )
    return [
        f"{count}: the scenario had more or others when they ran; a sweep that has them again takes them from there"
    ]


def damage(results: ResultSet) -> list[str]:
    """Which points can't be used, why, and how to run them again; no line if all can be used."""
    if not results.damaged:
        return []
    named = [f"  {setting(point.coordinates) or point.hash}: {point.reason}" for point in results.damaged[:_NAMED]]
    more = [f"  and {len(results.damaged) - _NAMED} more"] if len(results.damaged) > _NAMED else []
    count = f"{len(results.damaged)} damaged point{'s are' if len(results.damaged) > 1 else ' is'} left out"
    again = results.command or "run the sweep again into this folder"
    return [count, *named, *more, f"  to run what is damaged or missing: {again}"]


def unfinished(results: ResultSet) -> list[str]:
    """Number of unfinished points of a sweep, and the command that runs them; no line if all are finished."""
    if not results.missing:
        return []
    whole = len(results) + results.missing + len(results.damaged)
    count = f"{results.missing} of {whole} points {'is' if results.missing == 1 else 'are'} not finished"
    return [f"{results.root}: {count}, and left out; go on with: {results.command or 'the same run, into this folder'}"]


def _answers(results: ResultSet, column: str, words: str) -> list[str]:
    """How many points have yes in a column, and which have no; no line if the column is empty."""
    # nothing settles at a point that measured no packet
    empty = {row for row, summary in enumerate(results.summaries) if summary.get("packets") == 0}
    answers = enumerate(_values(results, column))
    asked = {row: answer for row, answer in answers if answer is not None and row not in empty}
    if not asked:
        return []
    no = [row for row, answer in asked.items() if not answer]
    line = f"{words} in {len(asked) - len(no)} of {len(asked)} points"
    if not no:
        return [line]
    more = [f"  nor in {len(no) - _NAMED} more"] if len(no) > _NAMED else []
    return [line, *(f"  not in {results.describe(row)}" for row in no[:_NAMED]), *more]


def _fairness(results: ResultSet) -> list[str]:
    """Jain's index of the flits that each source injected: 1 if all injected the same."""
    known = [(value, row) for row, value in enumerate(_values(results, "source_fairness_jain")) if value is not None]
    if not known:
        return []
    least, row = min(known)
    where = f" ({results.describe(row)})" if len(known) > 1 else ""
    return [f"Jain index of the sources: {'at least ' if len(known) > 1 else ''}{least:.4g}{where}"]


def _values(results: ResultSet, column: str) -> list[Any]:
    return [summary.get(column) for summary in results.summaries]


def _range(values: list[int]) -> str:
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)} to {max(values)}"


def _late_phases(summary: Mapping[str, Any]) -> list[str]:
    """Phases that are not saturated and leave a backlog for later ones, or begin with that of earlier ones."""
    told = []
    for phase in soundness.in_phases(summary):
        name = f"phase {phase['phase']} of the load"
        if late := soundness.fell_behind(phase):
            loads = f"{phase[q.ACCEPTED.column]:.4g} of {phase[q.OFFERED.column]:.4g} {q.ACCEPTED.unit} are accepted"
            told.append(
                f"{name} falls behind at first: {loads}, though it carries its load from the second half on; what is"
                f" left waits for later phases; {remedies.longer_phase(phase, late)}"
            )
        elif late := soundness.began_behind(phase):
            share = f"{100 * late.before / late.offered:.3g} % of what it is offered"
            left = (
                "a backlog of earlier phases" if late.at_begin is None else f"{_waiting(late)} left by the phase before"
            )
            told.append(
                f"{name} began with {left}, {share}: its latencies are not those of its load alone;"
                f" {remedies.after_backlog(phase, late)}"
            )
    return told
