"""Sentences on the power that policies save by switching links, and on their latency, compared with always-on links.

Points are compared in pairs at the same traffic, as means over seeds. A pair is compared only if its two points deliver
their traffic and had settled (were measured in a steady state). For all other pairs, a sentence has their number and
the reason. If the load changes in phases, each phase is compared separately. The power of the reference (the point with
always-on links) is converted to the load that the policy delivers (`equal_work`).
"""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from weft.results import codes, equal_work, link_modes, soundness
from weft.results import quantities as q
from weft.results.choose import POLICY, ROUTING, SEED
from weft.results.curves import short
from weft.text import shell
from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weft.results.result_set import ResultSet

    Summary = Mapping[str, Any]

# Name of the power policy that never switches a link.
_USUAL = "always_on"
# Code of the reason against a comparison that the windows of the two points contain different faults.
_OTHER_FAULTS = "other_faults"
# Codes of flaws, which concern one point and not the comparison of two points.
_OF_POINTS = {flaw.code for flaw in soundness.FLAWS}
# Relative differences of power or latency below this value count as no difference.
_NOTHING = 0.0005
# Length of a bar of text that represents all links [characters].
_BAR = 40
# Characters of the bar for links in modes below the full rate, the fastest mode first. All slower modes use the last
# character.
_SLOW = "+-"
# Sections of a scenario that can differ between two compared points, because these sections do not define network and
# traffic.
_OF_POLICY = {"power", "routing", "measure"}
# Maximum number of policies with sentences; if a sweep has more policies, its table and its report show them.
_TOLD = 3
# Maximum number of remedies that are listed for points that have not settled.
_REMEDIES = 2


@dataclass(frozen=True)
class Pair:
    """A point under a policy, and the reference point with always-on links and the same traffic."""

    place: str
    policy: Summary
    reference: Summary

    @cached_property
    def obstacle(self) -> str:
        """The reason why the two points cannot be compared, with its code; empty if they can be compared."""
        return ", ".join(what if code in _OF_POINTS else codes.coded(what, code) for code, what in self.obstacles)

    @cached_property
    def obstacles(self) -> list[tuple[str, str]]:
        """Code and text of each reason why the two points cannot be compared."""
        return equal_work.obstacles(self.policy, self.reference)

    @property
    def sides(self) -> tuple[Summary, Summary]:
        """The summaries of the reference and of the policy."""
        return self.reference, self.policy

    @property
    def hashes(self) -> list[str]:
        """The hashes of all runs of the policy and of the reference."""
        return [run["hash"] for run in equal_work.runs(self.sides)]

    @property
    def has_other_faults(self) -> bool:
        """Whether the two points have no flaw, but windows that cover different cycles and thus different faults."""
        return any(code == _OTHER_FAULTS for code, _ in self.obstacles)

    @cached_property
    def reference_w(self) -> float:
        """Power of the reference, scaled to the work of the policy [W]."""
        return equal_work.power_w(self.reference, self.policy[q.ACCEPTED.column])

    @cached_property
    def saved(self) -> float:
        """Power that the network (links, and routers with a price) saves [W].

        The result is 0 if random variation explains the difference.
        """
        return equal_work.saved_w(self.policy, self.reference)

    @property
    def share(self) -> float:
        """The saved power as a share of the power of the reference; negative if the policy draws more."""
        return self.saved / self.reference_w if self.reference_w else 0.0

    @property
    def shown(self) -> str:
        """The saved share as a string for the sentence; empty if the share is negligible."""
        return "" if abs(self.share) < _NOTHING else f"{'-' if self.share < 0 else ''}{_share(self.share)}"

    def powers(self) -> str:
        """Text with the power of the network, and with that of the reference."""
        own = self.policy["power_mean_w"]
        if self.saved == 0.0 and abs(own - self.reference_w) >= _NOTHING * self.reference_w:
            return f"{_watts(own)} (no difference beyond chance)"
        return _instead(own, self.reference_w, _watts)

    def latencies(self) -> str:
        """Text with the mean packet latency, and with that of the reference."""
        own, base = (side[q.LATENCY.column] for side in (self.policy, self.reference))
        return _instead(own, base, _cycles)

    def sentence(self, where: str) -> str:
        """Sentence on the links that draw power, and on power and latency of policy and reference."""
        return (
            f"{where}{f' ({self.place})' if self.place else ''}: {_percent(self.policy['links_on_mean'])} of the links"
            f" that it manages draw power{_at_rates(self.policy)}; the network draws {self.powers()}, and the mean"
            f" packet latency is {self.latencies()}."
        )


@dataclass(frozen=True)
class Beside:
    """A policy, and the policy with always-on links with which it is compared.

    Attributes
    ----------
    policy, reference : str
        Names of the two policies.
    pairs : list of Pair
        Pairs of their points at the same traffic.
    command : str
        Command that compares points of the two policies, for points that also differ in other coordinates.
    """

    policy: str
    reference: str
    pairs: list[Pair]
    command: str

    @property
    def left_out(self) -> str:
        """Text with the number of pairs that cannot be compared, and with the reasons.

        Without any pair, the text says so, and names a command that compares the policies.
        """
        if self.pairs:
            return left_out(self.pairs)
        return f"{left_out(self.pairs)} Compare points of the two policies with `{self.command}`."

    @property
    def other_windows(self) -> list[str]:
        """A sentence if windows that cover different cycles had different offered loads; otherwise empty."""
        return codes.sentences(equal_work.other_windows(pair.sides for pair in self.good))

    @property
    def diagnoses(self) -> list[tuple[dict[str, Any], list[Pair]]]:
        """Diagnoses of the pairs that cannot be compared, or only with care, each with its pairs."""
        by_code: dict[str, list[Pair]] = {}
        for pair in self.pairs:
            for code, _ in pair.obstacles:
                by_code.setdefault(code, []).append(pair)
        found = [
            (equal_work.not_compared(code, [pair.sides for pair in pairs], len(self.pairs)), pairs)
            for code, pairs in by_code.items()
        ]
        windows = equal_work.other_windows(pair.sides for pair in self.good)
        return [(each, pairs) for each, pairs in found if each] + [(each, self.good) for each in windows]

    @property
    def good(self) -> list[Pair]:
        """The pairs that can be compared, sorted by the saved share, the greatest first, and then by saved power."""
        return sorted((pair for pair in self.pairs if not pair.obstacle), key=lambda pair: (-pair.share, -pair.saved))


def measured(results: ResultSet) -> list[Beside]:
    """Compares each policy with measured always-on links; empty if no or several policies keep links always on."""
    points = _by_policy(results)
    reference = always_on(points)
    if reference is None:
        return []
    names = dict(zip(points, short(POLICY, points), strict=True))
    routings = _routings(results)
    found = []
    for policy in points:
        if policy == reference:
            continue
        both = [names[policy], names[reference]]
        if routings.get(policy) != routings.get(reference):  # then a saving comes from policy and routing together
            both = [f"{names[each]} with {' or '.join(routings[each])}" for each in (policy, reference)]
        command = _command(results, reference, policy, routings)
        found.append(Beside(both[0], both[1], _pairs(points, policy, reference), command))
    return found


def diagnoses(results: ResultSet) -> list[dict[str, Any]]:
    """The diagnoses of the comparisons of `measured`, each with the indices of the compared points as ``points``."""
    rows = {summary["hash"]: row for row, summary in enumerate(results.summaries)}
    return [
        each | {"points": sorted({rows[hash] for pair in pairs for hash in pair.hashes})}
        for beside in measured(results)
        for each, pairs in beside.diagnoses
    ]


def _command(results: ResultSet, reference: str, policy: str, routings: Mapping[str, list[str]]) -> str:
    """The command that compares points of a policy with points of the reference under another routing."""
    sides = []
    for each in (reference, policy):
        routing = "".join(f",{ROUTING}={name.partition('(')[0]}" for name in routings.get(each, [])[:1])
        sides.append(f"{results.root}:{POLICY}={each.partition('(')[0]}{routing}")
    return shell.command("compare", *sides)


def _routings(results: ResultSet) -> dict[str, list[str]]:
    """The routings with which each policy (by its label) was measured; empty if the sweep sets no routing."""
    if ROUTING not in results.coordinates:
        return {}
    labels = [
        (label(at[POLICY], POLICY), label(at[ROUTING], ROUTING)) for at in (p["coordinates"] for p in results.points)
    ]
    names = dict(zip(all_of := list(dict.fromkeys(of for _, of in labels)), short(ROUTING, all_of), strict=True))
    found: dict[str, list[str]] = {}
    for policy, routing in labels:
        if names[routing] not in (of_policy := found.setdefault(policy, [])):
            of_policy.append(names[routing])
    return found


def lines(results: ResultSet, *, width: int | None = None) -> list[str]:
    """Sentences that compare each policy with always-on links; empty if the sweep has no always-on policy.

    Parameters
    ----------
    results : ResultSet
        Finished points.
    width : int, optional
        Width of a line in characters; by default the width of the terminal.
    """
    width = shutil.get_terminal_size((120, 24)).columns if width is None else width
    others = measured(results)
    values: list[str] = []
    for beside in others[:_TOLD]:
        values += [*([""] if values else []), *_lines_of(beside, width)]
    if len(others) > _TOLD:
        values += [
            "",
            (
                f"and {len(others) - _TOLD} more policies: see the table above, or run "
                f"`{shell.command('report', results.root)}`"
            ),
        ]
    return values


def _lines_of(beside: Beside, width: int) -> list[str]:
    """The sentences on one policy, broken into lines."""
    policy, reference, pairs, good = beside.policy, beside.reference, beside.pairs, beside.good
    head = f"{policy} compared with {reference}, for the same traffic"
    if not good:
        return textwrap.wrap(f"{head}: no point can be compared. {beside.left_out}", width)
    most = good[0]
    sentences = _extremes(good)
    sentences += [f"{each[:1].upper()}{each[1:]}." for each in beside.other_windows]
    if len(good) < len(pairs):
        sentences.append(left_out(pairs))
    place = f" ({most.place})" if most.place else ""
    return [
        head,
        f"  links that draw power{place}:",
        *(
            f"  {name.ljust(max(len(policy), len(reference)))}  {_drawn(side)}"
            for name, side in ((reference, most.reference), (policy, most.policy))
        ),
        *(
            line
            for each in sentences
            for line in textwrap.wrap(each, width, initial_indent="  ", subsequent_indent="  ")
        ),
    ]


def _extremes(good: Sequence[Pair]) -> list[str]:
    """Sentences on the pairs that save most and least; `good` must begin with the pair that saves most.

    The sentences give the saving as a share of the power. If the pair that saves the most watts is another one, the
    text says which order is meant.
    """
    most, least = good[0], good[-1]
    if len(good) == 1:
        return [most.sentence("At this point")]
    by_share = "" if most.saved >= least.saved else ", as a share"
    if most.shown == least.shown:
        if not most.shown:
            return [most.sentence("It draws neither less nor more power at any of these points, for example")]
        costs = "It saves no power: it draws the same share more at each of these points, for example"
        saves = "It saves the same share at each of these points, for example"
        return [most.sentence(saves if most.saved > 0 else costs)]
    if most.share >= _NOTHING:
        return [most.sentence(f"Where it saves most{by_share}"), least.sentence(f"Where it saves least{by_share}")]
    nowhere = "It saves no power at any of these points. "
    return [
        nowhere + most.sentence(f"Where it costs least{by_share}"),
        least.sentence(f"Where it costs most{by_share}"),
    ]


def left_out(pairs: Sequence[Pair]) -> str:
    """Text with the number of pairs that cannot be compared, and with the reasons."""
    reasons = Counter(pair.obstacle for pair in pairs if pair.obstacle)
    if not reasons:
        return (
            "No two points have the same traffic and differ only in the policy and in the settings that the sweep "
            "changes together with it."
        )
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    found: dict[str, Pair] = {}
    sides = [(pair, side) for pair in pairs for side in (pair.policy, pair.reference)]
    limit = max(side.get("warmup_limit_cycles") or 0 for _, side in sides)
    for pair, side in sides:
        for shown in soundness.to_settle(side, limit):
            found.setdefault(shown, pair)
    for pair in pairs:
        if (
            soundness.is_over(pair.policy)
            and soundness.is_warned(pair.policy)
            and not soundness.obstacles(pair.reference)
        ):
            found.setdefault(soundness.remedy(pair.policy), pair)
    if other := [pair for pair in pairs if pair.has_other_faults]:
        found[equal_work.common_warmup(side for pair in other for side in (pair.policy, pair.reference))] = other[0]
    ways = [f"{f'for {pair.place}: ' if pair.place else ''}{shown}" for shown, pair in found.items()]
    more = f"; and {len(ways) - _REMEDIES} more" if len(ways) > _REMEDIES else ""
    remedy = f" Remedies: {'; '.join(ways[:_REMEDIES])}{more}." if ways else ""
    what = "points or phases" if any("phase" in pair.policy for pair in pairs) else "points"
    return f"Not compared, of {len(pairs)} pairs of {what}: {why}.{remedy}"


def _by_policy(results: ResultSet) -> dict[str, list[tuple[dict[str, str], Summary]]]:
    """The points of each policy, by the policy's label. A point has its other settings (as labels) and its summary.

    Settings that `zip` changes together with the policy are left out, such as a routing that the policy needs.
    """
    if POLICY not in results.coordinates:
        return {}
    points = [
        ({path: label(value, path) for path, value in point["coordinates"].items()}, summary)
        for point, summary in zip(results.points, results.summaries, strict=True)
    ]
    by_policy: dict[str, list[tuple[dict[str, str], Summary]]] = {}
    for coordinates, summary in points:
        by_policy.setdefault(coordinates[POLICY], []).append((coordinates, summary))
    fixed = along_with_policy([coordinates for coordinates, _ in points])
    return {
        policy: _over_seeds(
            [({path: each[path] for path in each if path not in fixed}, run) for each, run in of_policy]
        )
        for policy, of_policy in by_policy.items()
    }


def along_with_policy(points: Sequence[Mapping[str, str]]) -> set[str]:
    """Coordinates that have a single value at all points of a policy, because `zip` varies them with the policy."""
    by_policy: dict[str, list[Mapping[str, str]]] = {}
    for point in points:
        by_policy.setdefault(point[POLICY], []).append(point)
    return {
        path
        for path in (points[0] if points else ())
        if path.partition(".")[0] in _OF_POLICY
        and all(len({each[path] for each in of_policy}) == 1 for of_policy in by_policy.values())
    }


def _over_seeds(points: Sequence[tuple[dict[str, str], Summary]]) -> list[tuple[dict[str, str], Summary]]:
    """The means over points that differ only in the seed."""
    places: dict[tuple[tuple[str, str], ...], list[Summary]] = {}
    for place, summary in points:
        places.setdefault(tuple((path, value) for path, value in place.items() if path != SEED), []).append(summary)
    return [(dict(place), equal_work.mean(runs)) for place, runs in places.items()]


def always_on(points: Mapping[str, Sequence[tuple[Any, Summary]]]) -> str | None:
    """The label of the policy whose links were on in every cycle.

    The result is ``None`` if no policy or several policies qualify. If `always_on` is one of several, it is the result.
    """
    found = [
        policy
        for policy, of_policy in points.items()
        if all(
            each.get("links_stay_on") or each.get("energy_total_fj") == each.get("energy_always_on_fj", "")
            for _, each in of_policy
        )
    ]
    never = [
        policy
        for policy in found
        if all(each.get("links_stay_on", each.get("power_settled") is None) for _, each in points[policy])
    ]
    # failed links draw less power than links that are on in every cycle, so the power does not identify the policy
    is_usual = _USUAL in points and (_USUAL in found or not found)
    found = [_USUAL] if is_usual else never or found
    return found[0] if len(found) == 1 and len(points) > 1 else None


def _pairs(points: Mapping[str, Sequence[tuple[dict[str, str], Summary]]], policy: str, reference: str) -> list[Pair]:
    """Pairs of points of a policy and of the reference at the same traffic.

    If the load changes in phases, the pairs consist of phases of these points.
    """
    known = {tuple(place.items()): summary for place, summary in points[reference]}
    pairs = []
    for place, summary in points[policy]:
        other = known.get(tuple(place.items()))
        if other is None:
            continue
        where = ", ".join(f"{path.rpartition('.')[2]} {value}" for path, value in place.items())
        phases = list(zip(equal_work.phases(summary), equal_work.phases(other), strict=False))
        pairs += [Pair(", ".join(filter(None, [where, _phase(own)])), own, base) for own, base in phases] or [
            Pair(where, summary, other)
        ]
    return pairs


def _phase(phase: Summary) -> str:
    """Text that names a phase of a load."""
    load = phase.get(q.SET_LOAD.column)
    return f"phase {phase['phase']}" + ("" if load is None else f" of load {load:.3g}")


def _drawn(side: Summary) -> str:
    """A bar of characters for links at the full rate, for links at lower rates, and for links that draw no power."""
    ends, bar, reached = side["links_on_mean"], "", 0.0
    slow = _slow(side)
    signs = dict(zip(link_modes.slower(side), chain(_SLOW, repeat(_SLOW[-1])), strict=False))
    for sign, share in (
        ("#", ends - sum(slow.values())),
        *((signs[mode], share) for mode, share in slow.items()),
    ):
        reached += share
        bar += sign * (round(_BAR * reached) - len(bar))
    return f"{bar.ljust(_BAR, '.')} {_percent(ends)}{_at_rates(side)}"


def _slow(side: Summary) -> dict[str, float]:
    """Shares of the links in each mode below the full rate, by the name of the mode.

    Modes without links are left out.
    """
    shares = {mode: side.get(f"links_{mode}_share") or 0.0 for mode in link_modes.slower(side)}
    return {mode: share for mode, share in shares.items() if share > 0}


def _at_rates(side: Summary) -> str:
    """Text on the rates of the links that draw power; empty if all run at the full rate."""
    slow = _slow(side)
    if not slow:
        return ""
    full = side["links_on_mean"] - sum(slow.values())
    rates = [f"{_percent(full)} at full rate", *(f"{_percent(share)} at {rate} rate" for rate, share in slow.items())]
    return f" ({', '.join(rates)})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _watts(power: float, digits: int = 3) -> str:
    return f"{_rounded(power / 1000, digits)} kW" if power >= 10_000 else f"{_rounded(power, digits)} W"


def _cycles(latency: float, digits: int = 3) -> str:
    return f"{latency:.{digits - 2}f} cycles"


def _rounded(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits, or with all its digits before the decimal point."""
    whole = value >= 10 ** (digits - 1)
    return f"{value:.0f}" if whole else f"{float(f'{value:.{digits}g}'):.15g}"


def _share(share: float) -> str:
    return _rounded(100 * abs(share))


def _instead(value: float, of: float, written: Callable[[float, int], str]) -> str:
    """Text with a value "instead of" the value of the reference, with enough digits to show the difference."""
    difference = value - of
    if value == of or abs(difference) < _NOTHING * of:
        return f"{written(value, 3)} (no difference)"
    digits = next(each for each in range(3, 20) if written(value, each) != written(of, each))
    share = f", {_share(difference / of)} %" if of else ""
    text = f"{written(abs(difference), 3)} {'more' if difference > 0 else 'less'}{share}"
    return f"{written(value, digits)} instead of {written(of, digits)} ({text})"
