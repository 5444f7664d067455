"""Functions that judge the claims on queueing schemes and link power policies.

"Significant" means 10 %; differences below 1 % do not count.

A scheme is a queueing scheme of the switches: 1q has a single queue, VOQsw, DBBM and others have several. A policy
saves power on links: with on/off a link goes off, with high/low it keeps one lane on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from weft_papers.common.measured import LackingError
from weft_papers.common.rules import WITHIN, Part, or_undecided
from weft_papers.congestion.hot_spot_networks import DRAGONFLY, NAMES, NETWORKS, TORUS, TREE
from weft_papers.congestion.hot_spot_runs import FILL
from weft_papers.congestion.scheme_outcomes import (
    DBBM,
    ENERGY,
    FLOW2SL,
    HIGH_LOW,
    IODET,
    LATENCY,
    MEASURES,
    NONE,
    ON_OFF,
    ONE_QUEUE,
    POLICIES,
    THROUGHPUT,
    VOQSW,
    best_reduction,
    got,
    outcome,
    schemes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Undecided
    from weft_papers.congestion.scheme_outcomes import Means, Outcome

SIGNIFICANT, SAME = 0.10, 0.01
_WORDS = {THROUGHPUT: "throughput", LATENCY: "latency", ENERGY: "energy/data"}
_UNITS = {THROUGHPUT: "flits/terminal/cycle", LATENCY: "us", ENERGY: "nJ/bit"}


def _cost(row: Means, measure: str) -> float:
    """Convert the value of a measure, so that a lower number is always better: throughput becomes its inverse."""
    value = row[measure]
    if measure != THROUGHPUT:
        return value
    return 1 / value if value else math.inf


def _ranks(
    measured: Measured, holds: Callable[[list[str]], bool], units: Mapping[str, str] | None = None
) -> list[Part | Undecided]:
    """Judge if `holds` is true for the order of the schemes (best first) on the torus, for each measure and policy."""
    found = outcome(measured, TORUS)

    @or_undecided
    def part(measure: str, saving: str) -> Part:
        rows = {name: got(found, name, saving) for name in schemes(found)}
        order = sorted((name for name in rows if measure in rows[name]), key=lambda name: _cost(rows[name], measure))
        text = ", ".join(f"{name} {rows[name][measure]:.4g}" for name in order)
        unit = f" [{units[measure]}]" if units else ""
        # `holds` first tests the order of the schemes whose numbers are known. If this order is wrong, the part fails:
        # numbers that are missing cannot correct it. If this order is right, a missing number leaves the part
        # undecided.
        is_right = holds(order) and all(math.isfinite(row[measure]) for row in rows.values())
        return Part(is_right, f"{_WORDS[measure]}{unit}, {saving}, best first: {text}")

    return [part(measure, saving) for measure in MEASURES for saving in POLICIES]


def worst(measured: Measured) -> list[Part | Undecided]:
    """Judge if VOQsw is the worst scheme on the torus in each measure and under each policy."""
    return _ranks(measured, lambda order: order[-1] == VOQSW, _UNITS)


def best_two(measured: Measured) -> list[Part | Undecided]:
    """Judge if DBBM and IODET are the two best schemes on the torus in each measure and under each policy."""
    return _ranks(measured, lambda order: {*order[:2]} == {DBBM, IODET})


def better(found: Outcome, ours: str, theirs: str, measures: Iterable[str]) -> list[Part | Undecided]:
    """Judge if the policy `ours` is never worse than `theirs` in each measure, and better with at least one scheme."""

    @or_undecided
    def part(measure: str) -> Part:
        pairs = {scheme: (got(found, scheme, ours), got(found, scheme, theirs)) for scheme in schemes(found)}
        ratios = {
            scheme: _times(_cost(one, measure), _cost(other, measure))
            for scheme, (one, other) in pairs.items()
            if measure in one and measure in other
        }
        # if `ours` is worse with one scheme, the part fails, even if numbers of other schemes are unknown
        is_worse = any(each > 1 + SAME for each in ratios.values())
        if not is_worse:
            ratios = {
                scheme: _times(_cost(one, measure), _cost(other, measure)) for scheme, (one, other) in pairs.items()
            }
        holds = not is_worse and min(ratios.values()) < 1 - SAME
        text = ", ".join(f"{scheme} {100 * (each - 1):+.1f} %" for scheme, each in ratios.items())
        what = "1/throughput" if measure == THROUGHPUT else _WORDS[measure]
        return Part(holds, f"{what} of {ours} compared with {theirs}: {text}")

    return [part(measure) for measure in measures]


def _times(value: float, base: float) -> float:
    """Return `value` divided by `base`, of which each can be 0 or infinite; 1 if they are equal."""
    if value == base:
        return 1.0
    return value / base if base else math.inf


def _apart(values: Sequence[float]) -> float:
    """Return the difference between the largest and the smallest value, as a share of the smallest value."""
    return _times(max(values), min(values)) - 1


def policies_alike(network: str, *names: str) -> Callable[[Measured], list[Part | Undecided]]:
    """Return the judge of a claim: with each scheme, all policies must agree within 10 % in each measure."""

    def judge(measured: Measured) -> list[Part | Undecided]:
        found = outcome(measured, network)

        @or_undecided
        def part(scheme: str, measure: str) -> Part:
            values = [got(found, scheme, saving)[measure] for saving in POLICIES]
            text = ", ".join(f"{value:.4g}" for value in values)
            apart = _apart(values)
            return Part(apart < SIGNIFICANT, f"{scheme}: {_WORDS[measure]} {text} ({apart:.1%} apart)")

        looked_at = names or [name for name in schemes(found) if name != ONE_QUEUE]
        return [part(scheme, measure) for scheme in looked_at for measure in MEASURES]

    return judge


def two_policies_alike(measured: Measured) -> list[Part | Undecided]:
    """Judge if policies on/off and high/low differ by less than 10 % in throughput and latency.

    The claim is about each scheme on the torus.
    """
    found = outcome(measured, TORUS)

    @or_undecided
    def part(scheme: str, measure: str) -> Part:
        one, other = (got(found, scheme, saving)[measure] for saving in (ON_OFF, HIGH_LOW))
        apart = _apart((one, other))
        text = f"{scheme}: {_WORDS[measure]} {one:.4g} with on/off, {other:.4g} with high/low ({apart:.1%} apart)"
        return Part(apart < SIGNIFICANT, text)

    return [part(scheme, measure) for scheme in schemes(found) for measure in (THROUGHPUT, LATENCY)]


def policies_improve(measured: Measured) -> tuple[bool, str]:
    """Judge if link power policies lower the energy per bit in most combinations of scheme, policy and network."""
    less, unknown, every, words = 0, 0, 0, []
    for network in NETWORKS:
        found = outcome(measured, network)
        pairs = [(row, got(found, scheme, NONE)) for (scheme, saving), row in found.items() if saving != NONE]
        known = [row[ENERGY] < base[ENERGY] for row, base in pairs if ENERGY in row and ENERGY in base]
        words.append(f"{NAMES[network]} {sum(known)} of {len(pairs)}")
        less, unknown, every = less + sum(known), unknown + len(pairs) - len(known), every + len(pairs)
    if 2 * less <= every < 2 * (less + unknown):
        raise LackingError(
            f"{unknown} of {every} combinations delivered no packet in the window; with more seeds some may deliver one"
        )
    return 2 * less > every, f"less energy/data with the policy: {', '.join(words)}"


def few_changes(measured: Measured) -> list[Part]:
    """Judge if dragonfly links change their state at most a tenth as often under each scheme as with one queue.

    The paper claims that they rarely change their state, because they are rarely idle.
    """
    found = outcome(measured, DRAGONFLY)
    parts = []
    for saving in (ON_OFF, HIGH_LOW):
        base = got(found, ONE_QUEUE, saving)["transitions"]
        for scheme in schemes(found):
            if scheme != ONE_QUEUE:
                own = got(found, scheme, saving)["transitions"]
                text = f"{scheme}, {saving}: {own:,.0f} changes per link and second, {base:,.0f} with 1q"
                parts.append(Part(10 * own <= base, text))
    return parts


def effects(measured: Measured) -> tuple[bool, str]:
    """Judge whether the energy per bit on the torus differs more between schemes than between policies."""
    found = outcome(measured, TORUS)

    def spread(values: list[float]) -> float:
        return max(values) / min(values)

    by_scheme = [spread([got(found, name, saving)[ENERGY] for name in schemes(found)]) for saving in POLICIES]
    by_policy = [spread([got(found, name, saving)[ENERGY] for saving in POLICIES]) for name in schemes(found)]
    words = f"ratio over schemes {_listed(by_scheme)} (by policy), over policies {_listed(by_policy)} (by scheme)"
    return min(by_scheme) > max(by_policy), words


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def above_one_queue(measured: Measured) -> list[Part]:
    """Judge if every scheme accepts over 10 % more load than one queue, on the tree and under each policy."""
    found = outcome(measured, TREE)
    return [
        Part(
            got(found, name, saving)[THROUGHPUT] > (1 + SIGNIFICANT) * got(found, ONE_QUEUE, saving)[THROUGHPUT],
            f"{name}, {saving}: {got(found, name, saving)[THROUGHPUT]:.4f}, 1q "
            f"{got(found, ONE_QUEUE, saving)[THROUGHPUT]:.4f}",
        )
        for name in schemes(found)
        if name != ONE_QUEUE
        for saving in POLICIES
    ]


@or_undecided
def _flow2sl_beside_one_queue(found: Outcome, saving: str) -> Part:
    ours, base = got(found, FLOW2SL, saving), got(found, ONE_QUEUE, saving)
    text = f"{saving}: Flow2SL {ours[LATENCY]:.2f} us, 1q {base[LATENCY]:.2f} us; from injection "
    inside = f"{ours['network_latency_us']:.2f} and {base['network_latency_us']:.2f} us"
    return Part(ours[LATENCY] > base[LATENCY], text + inside)


def flow2sl_slower(measured: Measured) -> list[Part | Undecided]:
    """Judge if Flow2SL has a longer latency than one queue, on the tree and under each policy."""
    found = outcome(measured, TREE)
    return [_flow2sl_beside_one_queue(found, saving) for saving in POLICIES]


def _mean(found: Outcome, measure: str) -> float:
    """Return the geometric mean of a measure over all schemes and policies."""
    return math.prod([math.pow(row[measure], 1 / len(found)) for row in found.values()])


@or_undecided
def first(measured: Measured, measure: str, network: str, *others: str) -> Part:
    """Judge if `network` has a better geometric mean of a measure, over all schemes and policies, than `others`."""
    means = {each: _mean(outcome(measured, each), measure) for each in (network, *others)}
    order = sorted(means, key=lambda each: -means[each] if measure == THROUGHPUT else means[each])
    text = ", ".join(f"{NAMES[each]} {value:.4g}" for each, value in means.items())
    return Part(order[0] == network, f"mean {_WORDS[measure]} [{_UNITS[measure]}]: {text}")


def use_of_links(measured: Measured) -> list[Part]:
    """Judge whether links between routers have the printed utilisations over the longest window, within 10 %.

    The utilisations are those of 1q and of the best other scheme. The network is empty at the start.
    """
    rows = measured[FILL]
    longest = max(rows["window_us"])
    means = rows.group_by("scheme", "window_us", maintain_order=True).agg(pl.col("link_use").mean())
    at_last = means.filter(pl.col("window_us") == longest)
    last: dict[str, float] = dict(zip(at_last["scheme"], at_last["link_use"], strict=True))
    if ONE_QUEUE not in last or len(last) < 2:
        raise LackingError("1q or the schemes were not run with an empty network at the start")
    without = last.pop(ONE_QUEUE)
    best: str = max(last, key=lambda name: last[name])
    ones = means.filter(pl.col("scheme") == ONE_QUEUE).sort("window_us").select("window_us", "link_use").rows()
    over = ", ".join(f"{100 * use:.1f} % in {window:g} us" for window, use in ones)
    return [
        Part(abs(without / 0.112 - 1) <= WITHIN, f"from an empty network, 1q: {over}; printed 11.2 %"),
        Part(
            abs(last[best] / 0.281 - 1) <= WITHIN, f"{best} {100 * last[best]:.1f} % in {longest:g} us; printed 28.1 %"
        ),
    ]


@or_undecided
def reduction(measured: Measured, network: str, measure: str, other: str, words: str) -> Part:
    """Judge if the best combination of scheme and policy more than halves a measure.

    The baseline is one queue without a policy.
    """
    found = outcome(measured, network)
    best, share = best_reduction(found, measure)
    second, beside = best_reduction(found, other)
    text = f"{NAMES[network]}: {', '.join(best)} {-share:+.1%}; {words}: {', '.join(second)} {-beside:+.1%}"
    return Part(share > 0.5, text)


def doubled(measured: Measured) -> list[Part]:
    """Judge if the best combination of scheme and policy accepts over twice the load of one queue without a policy."""
    parts = []
    for network in (TREE, DRAGONFLY):
        found = outcome(measured, network)
        base = got(found, ONE_QUEUE, NONE)[THROUGHPUT]
        best = max(
            (pair for pair in found if ONE_QUEUE not in pair and NONE not in pair), key=lambda p: found[p][THROUGHPUT]
        )
        times = _times(found[best][THROUGHPUT], base)
        parts.append(
            Part(
                times > 2,
                f"{NAMES[network]}: {', '.join(best)} {found[best][THROUGHPUT]:.4f}, {times:.2f} times {base:.4f}",
            )
        )
    return parts


@or_undecided
def no_slower(measured: Measured, network: str) -> Part:
    """Judge if each policy raises the latency of each scheme by at most 10 %, compared with no policy."""
    found = outcome(measured, network)
    ratios = {
        pair: row[LATENCY] / got(found, pair[0], NONE)[LATENCY]
        for pair, row in found.items()
        if ONE_QUEUE not in pair and NONE not in pair
    }
    if not ratios:
        raise LackingError(f"no scheme with a policy was run on the {NAMES[network]}")
    best = min(ratios, key=lambda pair: ratios[pair])
    return Part(ratios[best] < 1 + SIGNIFICANT, f"{NAMES[network]}: {', '.join(best)} {ratios[best] - 1:+.1%}")


def high_low_everywhere(measured: Measured) -> list[Part | Undecided]:
    """Judge if high/low is the most efficient policy with every scheme and network, by more than random variation."""
    ratios = []

    @or_undecided
    def part(network: str, scheme: str) -> Part:
        found = outcome(measured, network)
        energies = {saving: got(found, scheme, saving)[ENERGY] for saving in POLICIES}
        text = ", ".join(f"{saving} {value:.4g}" for saving, value in energies.items())
        ratios.append(energies[HIGH_LOW] / min(energies[NONE], energies[ON_OFF]))
        return Part(ratios[-1] <= 1 + SAME, f"{NAMES[network]}, {scheme} [nJ/bit]: {text}")

    parts = [part(network, scheme) for network in NETWORKS for scheme in schemes(outcome(measured, network))]
    if len(ratios) < len(parts):
        return parts
    return [*parts, Part(min(ratios) < 1 - SAME, f"at best {min(ratios) - 1:+.1%} compared with both others")]
