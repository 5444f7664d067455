"""The rules of the 37 claims. "Significant" is 10 %; differences below 1 % count as none.

Numbers of the paper, and its comparisons of networks, are judged on networks of its sizes only. A quick run has
smaller ones, whose order depends on their size.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.design.comparison_of_designs import compare
from weft_papers.common.measured import LackingError
from weft_papers.common.rules import WITHIN, Part, constructed, exact, given, or_undecided, trend, untestable
from weft_papers.congestion import application_outcomes
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
    from weft_papers.common.rules import Finding, Rule, Undecided
    from weft_papers.congestion.scheme_outcomes import Means, Outcome

SIGNIFICANT, SAME = 0.10, 0.01
_WORDS = {THROUGHPUT: "throughput", LATENCY: "latency", ENERGY: "energy/data"}
_UNITS = {THROUGHPUT: "flits/terminal/cycle", LATENCY: "us", ENERGY: "nJ/bit"}
# The networks of the paper, as the scenarios have them.
PAPER_NETWORKS: dict[str, dict[str, Any]] = {
    TORUS: {"torus": {"widths": [12, 11, 8], "terminals_per_router": 1}},
    TREE: {"k_ary_n_tree": {"k": 4, "n": 5}},
    DRAGONFLY: {
        "dragonfly": {"groups": 33, "routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4}
    },
}
# The tree has the fewest nodes of the paper's networks.
_LEAST_NODES = 1024
LANES, LANE_W, LINK_GBPS, TRANSITION_US, CORE_W = 12, 0.342, 96, 10, 7.2


@cache
def _facts(network: str) -> dict[str, Any]:
    return compare({"one": PAPER_NETWORKS[network]}).designs[0].facts


def _nodes(network: str) -> Callable[[Measured], float]:
    return lambda _: float(_facts(network)["terminals"])


def _cost(row: Means, measure: str) -> float:
    """A measure so that less is better."""
    value = row[measure]
    if measure != THROUGHPUT:
        return value
    return 1 / value if value else math.inf


def _ranks(
    measured: Measured, holds: Callable[[list[str]], bool], units: Mapping[str, str] | None = None
) -> list[Part | Undecided]:
    """Each measure and policy on the torus: whether the order of the schemes is as asked, the best scheme first."""
    found = outcome(measured, TORUS)

    @or_undecided
    def part(measure: str, saving: str) -> Part:
        rows = {name: got(found, name, saving) for name in schemes(found)}
        order = sorted((name for name in rows if measure in rows[name]), key=lambda name: _cost(rows[name], measure))
        text = ", ".join(f"{name} {rows[name][measure]:.4g}" for name in order)
        unit = f" [{units[measure]}]" if units else ""
        # Where the schemes whose numbers are known have the wrong order, so have all schemes.
        is_right = holds(order) and all(math.isfinite(row[measure]) for row in rows.values())
        return Part(is_right, f"{_WORDS[measure]}{unit}, {saving}, best first: {text}")

    return [part(measure, saving) for measure in MEASURES for saving in POLICIES]


def _worst(measured: Measured) -> list[Part | Undecided]:
    """VOQsw is the worst of all schemes in each measure, under each policy."""
    return _ranks(measured, lambda order: order[-1] == VOQSW, _UNITS)


def _best_two(measured: Measured) -> list[Part | Undecided]:
    """DBBM and IODET are the two best schemes in each measure, under each policy."""
    return _ranks(measured, lambda order: {*order[:2]} == {DBBM, IODET})


def _better(found: Outcome, ours: str, theirs: str, measures: Iterable[str]) -> list[Part | Undecided]:
    """A policy is nowhere worse than another one, and somewhere better."""

    @or_undecided
    def part(measure: str) -> Part:
        pairs = {scheme: (got(found, scheme, ours), got(found, scheme, theirs)) for scheme in schemes(found)}
        ratios = {
            scheme: _times(_cost(one, measure), _cost(other, measure))
            for scheme, (one, other) in pairs.items()
            if measure in one and measure in other
        }
        # a scheme that is worse decides, whatever the unknown numbers are
        is_worse = any(each > 1 + SAME for each in ratios.values())
        if not is_worse:
            ratios = {
                scheme: _times(_cost(one, measure), _cost(other, measure)) for scheme, (one, other) in pairs.items()
            }
        holds = not is_worse and min(ratios.values()) < 1 - SAME
        text = ", ".join(f"{scheme} {100 * (each - 1):+.1f} %" for scheme, each in ratios.items())
        what = "1/throughput" if measure == THROUGHPUT else _WORDS[measure]
        return Part(holds, f"{what} of {ours} beside {theirs}: {text}")

    return [part(measure) for measure in measures]


def _times(value: float, base: float) -> float:
    """The ratio of two values, 1 for equal ones, both of which may be 0 or infinite."""
    if value == base:
        return 1.0
    return value / base if base else math.inf


def _apart(values: Sequence[float]) -> float:
    """How much the largest value is above the least [share]."""
    return _times(max(values), min(values)) - 1


def _policies_alike(network: str, *names: str) -> Callable[[Measured], list[Part | Undecided]]:
    """The policies differ by less than 10 % in each measure."""

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


def _two_policies_alike(measured: Measured) -> list[Part | Undecided]:
    """Both policies differ by less than 10 % in throughput and latency, under every scheme on the torus."""
    found = outcome(measured, TORUS)

    @or_undecided
    def part(scheme: str, measure: str) -> Part:
        one, other = (got(found, scheme, saving)[measure] for saving in (ON_OFF, HIGH_LOW))
        apart = _apart((one, other))
        text = f"{scheme}: {_WORDS[measure]} {one:.4g} with on/off, {other:.4g} with high/low ({apart:.1%} apart)"
        return Part(apart < SIGNIFICANT, text)

    return [part(scheme, measure) for scheme in schemes(found) for measure in (THROUGHPUT, LATENCY)]


def _policies_improve(measured: Measured) -> tuple[bool, str]:
    """Whether a policy lowers the energy per unit of data in most combinations, and the number of such combinations."""
    less, unknown, every, words = 0, 0, 0, []
    for network in NETWORKS:
        found = outcome(measured, network)
        pairs = [(row, got(found, scheme, NONE)) for (scheme, saving), row in found.items() if saving != NONE]
        known = [row[ENERGY] < base[ENERGY] for row, base in pairs if ENERGY in row and ENERGY in base]
        words.append(f"{NAMES[network]} {sum(known)} of {len(pairs)}")
        less, unknown, every = less + sum(known), unknown + len(pairs) - len(known), every + len(pairs)
    if 2 * less <= every < 2 * (less + unknown):
        raise LackingError(
            f"{unknown} of {every} combinations delivered no packet in the window; more seeds may have some"
        )
    return 2 * less > every, f"less energy/data with the policy: {', '.join(words)}"


def _few_changes(measured: Measured) -> list[Part]:
    """Links of the dragonfly hardly change under a scheme, as they hardly idle."""
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


def _effects(measured: Measured) -> tuple[bool, str]:
    """The energy per data differs more over schemes than over policies."""
    found = outcome(measured, TORUS)

    def spread(values: list[float]) -> float:
        return max(values) / min(values)

    by_scheme = [spread([got(found, name, saving)[ENERGY] for name in schemes(found)]) for saving in POLICIES]
    by_policy = [spread([got(found, name, saving)[ENERGY] for saving in POLICIES]) for name in schemes(found)]
    words = f"times over schemes {_listed(by_scheme)} (by policy), over policies {_listed(by_policy)} (by scheme)"
    return min(by_scheme) > max(by_policy), words


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _above_one_queue(measured: Measured) -> list[Part]:
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


def _flow2sl_slower(measured: Measured) -> list[Part | Undecided]:
    found = outcome(measured, TREE)
    return [_flow2sl_beside_one_queue(found, saving) for saving in POLICIES]


def _mean(found: Outcome, measure: str) -> float:
    """The geometric mean over all schemes and policies."""
    return math.prod([math.pow(row[measure], 1 / len(found)) for row in found.values()])


@or_undecided
def _first(measured: Measured, measure: str, network: str, *others: str) -> Part:
    """A network is better than others in the geometric mean over all schemes and policies."""
    means = {each: _mean(outcome(measured, each), measure) for each in (network, *others)}
    order = sorted(means, key=lambda each: -means[each] if measure == THROUGHPUT else means[each])
    text = ", ".join(f"{NAMES[each]} {value:.4g}" for each, value in means.items())
    return Part(order[0] == network, f"mean {_WORDS[measure]} [{_UNITS[measure]}]: {text}")


def _use_of_links(measured: Measured) -> list[Part]:
    """Mean use of links between routers over the longest window from an empty network."""
    rows = measured[FILL]
    longest = max(rows["window_us"])
    means = rows.group_by("scheme", "window_us", maintain_order=True).agg(pl.col("link_use").mean())
    at_last = means.filter(pl.col("window_us") == longest)
    last: dict[str, float] = dict(zip(at_last["scheme"], at_last["link_use"], strict=True))
    if ONE_QUEUE not in last or len(last) < 2:
        raise LackingError("1q and a scheme were not run from an empty network")
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
def _reduction(measured: Measured, network: str, measure: str, other: str, words: str) -> Part:
    """The best combination of a scheme and a policy saves more than half of the baseline's."""
    found = outcome(measured, network)
    best, share = best_reduction(found, measure)
    second, beside = best_reduction(found, other)
    text = f"{NAMES[network]}: {', '.join(best)} {-share:+.1%}; {words}: {', '.join(second)} {-beside:+.1%}"
    return Part(share > 0.5, text)


def _doubled(measured: Measured) -> list[Part]:
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
def _no_slower(measured: Measured, network: str) -> Part:
    """A policy with a scheme has at most 10 % more latency than the same scheme without a policy."""
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


def _against_hardware(measured: Measured) -> tuple[bool, str]:
    hardware = LANES * LANE_W / LINK_GBPS
    found = [row for network in NETWORKS for row in outcome(measured, network).values()]
    # a combination that delivered nothing is no rival
    best = min(row[ENERGY] for row in found if ENERGY in row)
    return 10**0.5 <= best / hardware < 10**1.5, f"{best:.3g} nJ/bit, {best / hardware:.1f} times {hardware:.3g} nJ/bit"


def _ideal(measured: Measured) -> float:  # noqa: ARG001 # as all measurements
    nodes: int = _facts(TORUS)["terminals"]
    return (0.75 * nodes * 0.4 + 1) / nodes


def _high_low_everywhere(measured: Measured) -> list[Part | Undecided]:
    """High/low is the most efficient policy of every scheme on every network, and not by chance alone."""
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
    return [*parts, Part(min(ratios) < 1 - SAME, f"at best {min(ratios) - 1:+.1%} beside both others")]


def _smaller(rule: Rule, measured: Measured) -> str:
    """The sizes of the networks that a rule looks at, if one is smaller than the paper's; else empty."""
    sizes = [int(size) for name in rule.needs for size in measured[name]["terminals"].drop_nulls().unique()]
    return "" if not sizes or min(sizes) >= _LEAST_NODES else f"at {_listed_sizes(sizes)} terminals, not the paper's"


def _of_full_size(rule: Rule) -> Rule:
    """A claim that is judged on networks of the paper's sizes only."""

    def judge(measured: Measured) -> Finding:
        if size := _smaller(rule, measured):
            raise LackingError(f"its networks are {size}: run it with --full")
        return rule.judge(measured)

    return replace(rule, judge=judge)


def _sized(rule: Rule) -> Rule:
    """A claim about runs, which says so where these had smaller networks than the paper's."""

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        size = _smaller(rule, measured)
        if not size:
            return found
        cause = f"{size}; {found.cause}" if found.cause else ""
        return replace(found, measured=f"{found.measured}; {size}", cause=cause)

    return replace(rule, judge=judge) if rule.needs else rule


def _listed_sizes(sizes: list[int]) -> str:
    return ", ".join(f"{size:,}" for size in dict.fromkeys(sizes))


_SWITCH_POINT = TRANSITION_US * 1e3 * LINK_GBPS * (LINK_GBPS / LANES) / (LINK_GBPS - LINK_GBPS / LANES) / 8
_HOT = (TORUS, TREE, DRAGONFLY)
_ALL: dict[str, Rule] = {
    "C-001": constructed(exact(1056, _nodes(TORUS), digits=0, unit="nodes")),
    "C-002": constructed(exact(1024, _nodes(TREE), digits=0, unit="nodes")),
    "C-003": constructed(exact(1056, _nodes(DRAGONFLY), digits=0, unit="nodes")),
    "C-004": given("a parameter of all runs: 10 us, 500 cycles"),
    "C-005": given("a parameter of all runs: 11.1 us, 555 cycles; 10 us / 0.9 is 11.11 us"),
    "C-006": given("a parameter of all runs: 240 bytes in 20 ns, 12 lanes of 0.342 W"),
    "C-007": constructed(exact(0.301, _ideal, digits=3, unit="flits/terminal/cycle, the ideal")),
    "C-008": given("a parameter of all runs"),
    "C-009": given("a parameter of the runs on the dragonfly"),
    "C-010": constructed(
        exact("7 / 8 / 15", lambda _: " / ".join(str(_facts(each)["radix_ports"]) for each in NETWORKS))
    ),
    "C-011": trend(
        "VOQsw is the worst scheme in each measure, under each policy",
        _worst,
        TORUS,
        cause="memory and wires, which are not printed: with 16 KiB per port and wires of 32 cycles VOQsw takes 0.109 "
        "in 36 us at 3.8 nJ/bit, the worst of the four in each measure (120 nodes, no policy); neither alone does it",
    ),
    "C-012": trend(
        "DBBM and IODET are the two best schemes in each measure, under each policy",
        _best_two,
        TORUS,
        cause="the reading of IODET: cold flows accept 0.257 by the coordinate of the destination and 0.142 by the "
        "next dimension, beside 0.249 under DBBM (240 nodes, no policy)",
    ),
    "C-013": trend(
        "on/off is at no scheme worse than high/low by more than 1 %, and at some scheme better by more than 1 %",
        lambda measured: _better(outcome(measured, TORUS), ON_OFF, HIGH_LOW, (LATENCY, THROUGHPUT)),
        TORUS,
        cause="the times at which packets are created: gaps are too short for links to change; where each source sends "
        "in bursts of 100 us, on/off is nowhere slower (120 nodes, figure factors)",
    ),
    "C-014": trend(
        "high/low is at no scheme worse than on/off by more than 1 %, and at some scheme better by more than 1 %",
        lambda measured: _better(outcome(measured, TORUS), HIGH_LOW, ON_OFF, (ENERGY,)),
        TORUS,
    ),
    "C-015": trend("policies differ by less than 10 % in each measure", _policies_alike(TORUS, DBBM, IODET), TORUS),
    "C-016": trend(
        "energy/data differs more over schemes, at every policy, than over policies, at any scheme", _effects, TORUS
    ),
    "C-017": trend("each scheme accepts over 10 % more than 1q, under each policy", _above_one_queue, TREE),
    "C-018": trend(
        "the latency of Flow2SL is above 1q's, under each policy",
        _flow2sl_slower,
        TREE,
        cause="the memory of a port and the queues of interfaces: with 16 KiB in place of 64, or with one queue per "
        "interface, Flow2SL has the longer latency (64 nodes, figure factors)",
    ),
    "C-019": trend(
        "on/off is nowhere slower and high/low nowhere less efficient by more than 1 %, and somewhere better by more",
        lambda measured: [
            *_better(outcome(measured, TREE), ON_OFF, HIGH_LOW, (LATENCY, THROUGHPUT)),
            *_better(outcome(measured, TREE), HIGH_LOW, ON_OFF, (ENERGY,)),
        ],
        TREE,
        cause="in part the times at which packets are created: with bursts on/off is faster under VOQsw and DBBM, but "
        "not under 1q and Flow2SL (64 nodes, figure factors)",
    ),
    "C-020": _of_full_size(
        trend(
            "in the geometric mean over schemes and policies the torus has the lower energy/data, the tree less "
            "latency",
            lambda measured: [_first(measured, ENERGY, TORUS, TREE), _first(measured, LATENCY, TREE, TORUS)],
            TORUS,
            TREE,
            cause="the size: under DBBM without a policy a 4-ary 4-tree takes 1.74 nJ/bit and the 4-ary 5-tree of the "
            "paper, with 4 links per node in place of 3, takes 2.25",
        )
    ),
    "C-021": trend("policies differ by less than 10 % in each measure", _policies_alike(DRAGONFLY), DRAGONFLY),
    "C-022": _of_full_size(
        trend(
            "in the geometric mean over schemes and policies the dragonfly is the best in each measure",
            lambda measured: [_first(measured, measure, DRAGONFLY, TORUS, TREE) for measure in MEASURES],
            *_HOT,
        )
    ),
    "C-023": _of_full_size(
        trend(
            "within 10 % of 11.2 % for 1q, and of 28.1 % for the best scheme",
            _use_of_links,
            FILL,
            cause="the time of the window: the use falls as the congestion tree fills the network: 28.7 % in 10 us, "
            "13.8 % in 40 us and 8.4 % in 600 us (342 nodes)",
        )
    ),
    "C-024": trend(
        "high/low has the lowest energy/data, within 1 %, of every scheme on every network, and somewhere by more "
        "than 1 %",
        _high_low_everywhere,
        *_HOT,
    ),
    "C-025": untestable(
        "42.7 nJ/bit, as printed, would be 4.1 kW per link, so its unit is an error; read as 42.7 pJ/bit it is "
        "the number from which the price of a lane was derived: 12 lanes of 0.342 W at 96 Gb/s"
    ),
    "C-026": _of_full_size(trend("3.2 to 32 times 12 lanes of 0.342 W at 96 Gb/s", _against_hardware, *_HOT)),
    "C-027": _of_full_size(
        trend(
            "on each network the best scheme with a policy has less than half of the latency of 1q without one",
            lambda measured: [
                _reduction(measured, network, LATENCY, "network_latency_us", "from injection") for network in NETWORKS
            ],
            *_HOT,
        )
    ),
    "C-028": _of_full_size(
        trend(
            "on each network the best scheme with a policy has less than half of the energy/data of 1q without one",
            lambda measured: [
                _reduction(measured, network, ENERGY, "energy_between_nj", "without links of terminals")
                for network in NETWORKS
            ],
            *_HOT,
        )
    ),
    "C-029": _of_full_size(
        trend(
            "the best scheme with a policy accepts more than twice what 1q without one does", _doubled, TREE, DRAGONFLY
        )
    ),
    "C-030": trend(
        "some scheme with a policy has less than 10 % more latency than without it, on each network",
        lambda measured: [_no_slower(measured, network) for network in NETWORKS],
        *_HOT,
    ),
    **{name: _of_full_size(rule) for name, rule in application_outcomes.RULES.items()},
    "C-033": given("a torus switch: 7 links of 4.104 W beside a core of 7.2 W are 80 %; the core was derived from it"),
    "C-034": constructed(exact(10909, lambda _: _SWITCH_POINT, digits=0, unit="bytes")),
    "C-035": trend(
        "on/off and high/low differ by less than 10 % in throughput and latency, under each scheme and 1q",
        _two_policies_alike,
        TORUS,
        cause="the lack of a scheme: with each scheme both policies differ by at most 4.6 %, with 1q by 13.9 % in "
        "throughput and 18.1 % in latency (240 nodes)",
    ),
    "C-036": trend(
        "in more than half of all combinations of a scheme, or 1q, and a policy it takes less energy/data than without "
        "the policy",
        _policies_improve,
        *_HOT,
    ),
    "C-037": trend(
        "under each scheme links between switches change at most a tenth as often as with 1q, under each policy",
        _few_changes,
        DRAGONFLY,
        cause="not isolated: tried three schemes and both policies: H2LQ leaves 17 % of the changes under on/off, and "
        "60 % under high/low, which has a quarter of the changes of on/off with 1q (342 nodes)",
    ),
}
RULES = {name: _sized(rule) for name, rule in _ALL.items()}
