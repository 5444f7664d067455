"""Computes the main results of points whose jobs all run programs: time and energy to solution, and their product.

The time lasts from the start of the run until the last program ends. The energy is that of the network in this time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _engine
from weft.results import codes, equal_work, of_jobs, program_table, savings, soundness
from weft.results.choose import POLICY, SEED
from weft.results.confidence import Mean
from weft.results.quantities import Quantity
from weft.text.columns import columns
from weft.text.labels import brief, label
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.results.result_set import ResultSet

RUN_TIME = Quantity("solution_us", "Time to solution", "us", "time", 3)
ENERGY = Quantity("solution_energy_uj", "Energy to solution", "uJ", "energy", 3)
ENERGY_DELAY = Quantity("energy_delay_njs", "Energy times time to solution", "nJ s", "energy x time", 3)
ANSWERS = (RUN_TIME, ENERGY, ENERGY_DELAY)
# For each of these results (answers): its key in the summary, the unit of the stored value, and the factor from this
# unit to that of the answer.
_SUMMARY = {
    RUN_TIME: ("solution_seconds", "s", 1e6),
    ENERGY: ("energy_total_j", "J", 1e6),
    ENERGY_DELAY: ("energy_delay_js", "J s", 1e9),
}
# Code and words of the diagnosis that runs with different programs cannot be compared.
_CODE, WORK = _engine.PROGRAMS_DIFFER


def ended(summary: Mapping[str, Any]) -> bool:
    """Whether all jobs of a point run programs and all programs have ended."""
    return summary.get("solution_seconds") is not None


def are_programs(summary: Mapping[str, Any]) -> bool:
    """Whether all jobs of a point run programs."""
    jobs = of_jobs.of(summary)
    return len(jobs) > 0 and all(map(program_table.is_program, jobs))


def answer(results: ResultSet) -> bool:
    """Whether all jobs of all points run programs, and the programs of at least one point have ended."""
    return program_table.are_all(results) and any(map(ended, results.summaries))


def in_units(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Time, energy and product of a point, by their columns in `ANSWERS`; ``None`` if a program has not ended."""
    has_ended = ended(summary)
    return {each.column: summary[name] * by if has_ended else None for each, (name, _, by) in _SUMMARY.items()}


def same_work(runs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the programs of all runs send the same numbers of messages and bytes."""
    sent = {tuple((job["messages"], job["message_bytes"]) for job in run["jobs"]) for run in runs}
    return len(sent) == 1


def lines(results: ResultSet) -> list[str]:
    """Lines that compare each policy with always-on links for the same programs: time, energy and their product.

    With several seeds, the numbers are means, with half of the 95 % confidence interval of the difference. The result
    is empty if no policy of the sweep keeps links always on.
    """
    values: list[str] = []
    usual = ""
    for place, of_policy in places(results).items():
        by_policy = {policy: [results.summaries[point] for point in points] for policy, points in of_policy.items()}
        found = savings.always_on({policy: [(None, run) for run in runs] for policy, runs in by_policy.items()})
        if found is None:
            continue
        usual = found
        names = dict(zip(by_policy, brief(list(by_policy)), strict=True))
        rows = [_row(names[policy], runs, by_policy[usual]) for policy, runs in by_policy.items()]
        head = ["policy", *(cell for each in ANSWERS for cell in (each.short, "change", "+-"))]
        values += [*([place] if place else []), *columns(head, rows, left=1)]
    if not values:
        return []
    words = (
        "time to solution, energy to solution, and their product, for each policy; change compared with "
        f"{usual}, and half of its 95 % confidence interval (only with several seeds)"
    )
    return [words, *values, *unequal(results)]


def unequal(results: ResultSet) -> list[str]:
    """Sentences on policies whose programs differ from the programs on always-on links.

    The result is empty if all programs are equal.
    """
    return [f"{policy}: {line}" for policy, each in _unequal(results) for line in codes.sentences([each])]


def diagnoses(results: ResultSet) -> list[dict[str, Any]]:
    """The diagnoses of `unequal` as data, each with the indices of the compared points as ``points``."""
    return [each for _, each in _unequal(results)]


def _unequal(results: ResultSet) -> list[tuple[str, dict[str, Any]]]:
    """Policies whose programs differ from those on always-on links at the same other coordinates, with diagnoses."""
    runs = results.summaries
    pairs: dict[str, list[list[int]]] = {}
    for of_policy in places(results).values():
        usual = savings.always_on({policy: [(None, runs[p]) for p in points] for policy, points in of_policy.items()})
        if usual is None:
            continue
        for policy, points in of_policy.items():
            both = [*of_policy[usual], *points]
            if policy != usual and all(ended(runs[point]) for point in both):
                pairs.setdefault(policy, []).append(both)
    names = dict(zip(pairs, brief(list(pairs)), strict=True))
    found = []
    for policy, every in pairs.items():
        other = [both for both in every if not same_work([runs[point] for point in both])]
        each = equal_work.not_compared(_CODE, [(runs[both[0]], runs[both[-1]]) for both in other], len(every))
        if other and each is not None:
            found.append((names[policy], each | {"points": sorted({point for both in other for point in both})}))
    return found


def places(results: ResultSet) -> dict[str, dict[str, list[int]]]:
    """Indices of the points of each policy, grouped by the other coordinates.

    Points that differ only in the seed, or in coordinates that `zip` changes together with the policy, are in one
    group.
    """
    if POLICY not in results.coordinates:
        return {}
    points = [{path: label(value, path) for path, value in point["coordinates"].items()} for point in results.points]
    along = savings.along_with_policy(points)
    found: dict[str, dict[str, list[int]]] = {}
    for number, words in enumerate(points):
        kept = [path for path in words if path not in {POLICY, SEED, *along}]
        place = ", ".join(f"{path.rpartition('.')[2]} {words[path]}" for path in kept)
        found.setdefault(place, {}).setdefault(words[POLICY], []).append(number)
    return found


def _row(name: str, runs: Sequence[Mapping[str, Any]], usual: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [name]
    for each in ANSWERS:
        _, unit, by = _SUMMARY[each]
        own, base = (mean_of(side, each) for side in (runs, usual))
        cells.append(si(own.value / by if own else None, unit, 4))
        if own is None or base is None or runs is usual or not base.value or not same_work([*runs, *usual]):
            cells += ["", ""]
            continue
        half = own.difference_half_width(base)
        cells.append(f"{100 * (own.value / base.value - 1):+.2f} %")
        cells.append("-" if half is None else f"{100 * half / base.value:.2f} %")
    return cells


def mean_of(runs: Sequence[Mapping[str, Any]], answer: Quantity) -> Mean | None:
    """The mean of an answer (time, energy or product) over the seeds, in the unit of the answer.

    The result is ``None`` if a program has not ended in some run.
    """
    values = [in_units(run)[answer.column] for run in runs]
    known = [value for value in values if value is not None]
    return Mean.of(known, None) if len(known) == len(values) else None


def words(summary: Mapping[str, Any], answer: Quantity) -> str:
    """An answer (time, energy or product) of a point as a string with its unit."""
    name, unit, _ = _SUMMARY[answer]
    return si(summary.get(name), unit, 4)


def flaw(summary: Mapping[str, Any]) -> str:
    """The reason why a point has no time and energy to solution; empty if the point has them."""
    if ended(summary):
        return ""
    flaws = soundness.obstacles(summary)
    return ", ".join(each.words for each in flaws) or "not ended"
