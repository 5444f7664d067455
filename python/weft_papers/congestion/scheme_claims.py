"""The rules of the paper's 37 claims. A "significant" difference is at least 10 %; differences below 1 % do not count.

Two kinds of claims are judged only on networks of the paper's sizes: printed numbers, and comparisons of networks,
whose ranking depends on their sizes. A quick run has smaller networks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from weft.design.comparison_of_designs import compare
from weft_papers.common.measured import LackingError
from weft_papers.common.rules import constructed, exact, given, trend, untestable
from weft_papers.congestion import application_outcomes
from weft_papers.congestion import scheme_judges as judges
from weft_papers.congestion.hot_spot_networks import DRAGONFLY, NETWORKS, TORUS, TREE
from weft_papers.congestion.hot_spot_runs import FILL
from weft_papers.congestion.scheme_outcomes import (
    DBBM,
    ENERGY,
    HIGH_LOW,
    IODET,
    LATENCY,
    MEASURES,
    ON_OFF,
    THROUGHPUT,
    outcome,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Finding, Rule

# The networks of the paper: for each, the value of the scenario key ``topology``.
PAPER_NETWORKS: dict[str, dict[str, Any]] = {
    TORUS: {"torus": {"widths": [12, 11, 8], "terminals_per_router": 1}},
    TREE: {"k_ary_n_tree": {"k": 4, "n": 5}},
    DRAGONFLY: {
        "dragonfly": {"groups": 33, "routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4}
    },
}
# Number of nodes of the smallest network of the paper, the tree.
_LEAST_NODES = 1024
LANES, LANE_W, LINK_GBPS, TRANSITION_US, CORE_W = 12, 0.342, 96, 10, 7.2


@cache
def _facts(network: str) -> dict[str, Any]:
    return compare({"one": PAPER_NETWORKS[network]}).designs[0].facts


def _nodes(network: str) -> Callable[[Measured], float]:
    return lambda _: float(_facts(network)["terminals"])


def _against_hardware(measured: Measured) -> tuple[bool, str]:
    hardware = LANES * LANE_W / LINK_GBPS
    found = [row for network in NETWORKS for row in outcome(measured, network).values()]
    # a combination of scheme and policy that delivered nothing has no energy per bit, so the minimum excludes it
    best = min(row[ENERGY] for row in found if ENERGY in row)
    return 10**0.5 <= best / hardware < 10**1.5, f"{best:.3g} nJ/bit, {best / hardware:.1f} times {hardware:.3g} nJ/bit"


def _ideal(measured: Measured) -> float:  # noqa: ARG001 # as all measurements
    nodes: int = _facts(TORUS)["terminals"]
    return (0.75 * nodes * 0.4 + 1) / nodes


def _smaller(rule: Rule, measured: Measured) -> str:
    """Return text with the sizes of the networks that a rule uses; empty if none is smaller than the paper's."""
    sizes = [int(size) for name in rule.needs for size in measured[name]["terminals"].drop_nulls().unique()]
    if not sizes or min(sizes) >= _LEAST_NODES:
        return ""
    return f"at {_listed_sizes(sizes)} terminals, not the sizes of the paper"


def _of_full_size(rule: Rule) -> Rule:
    """Change a rule, so that it judges the claim only on networks of the paper's sizes."""

    def judge(measured: Measured) -> Finding:
        if size := _smaller(rule, measured):
            raise LackingError(f"the networks are too small ({size}): run the claim with --full")
        return rule.judge(measured)

    return replace(rule, judge=judge)


def _sized(rule: Rule) -> Rule:
    """Change a rule, so that its finding names the sizes of networks that were smaller than the paper's."""

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
        judges.worst,
        TORUS,
        cause="memory and wires, which the paper does not print: with 16 KiB per port and wires of 32 cycles VOQsw "
        "accepts 0.109, has a latency of 36 us and uses 3.8 nJ/bit, the worst of the four in each measure (120 nodes, "
        "no policy); neither change alone has this effect",
    ),
    "C-012": trend(
        "DBBM and IODET are the two best schemes in each measure, under each policy",
        judges.best_two,
        TORUS,
        cause="the reading of IODET: cold flows accept 0.257 by the coordinate of the destination and 0.142 by the "
        "next dimension, compared with 0.249 under DBBM (240 nodes, no policy)",
    ),
    "C-013": trend(
        "on/off is not worse than high/low by more than 1 % under any scheme, and better by more than 1 % under at "
        "least one",
        lambda measured: judges.better(outcome(measured, TORUS), ON_OFF, HIGH_LOW, (LATENCY, THROUGHPUT)),
        TORUS,
        cause="the times at which packets are created: gaps are too short for links to change; if each source sends "
        "in bursts of 100 us, on/off is never slower (120 nodes, figure factors)",
    ),
    "C-014": trend(
        "high/low is not worse than on/off by more than 1 % under any scheme, and better by more than 1 % under at "
        "least one",
        lambda measured: judges.better(outcome(measured, TORUS), HIGH_LOW, ON_OFF, (ENERGY,)),
        TORUS,
    ),
    "C-015": trend(
        "policies differ by less than 10 % in each measure", judges.policies_alike(TORUS, DBBM, IODET), TORUS
    ),
    "C-016": trend(
        "energy/data differs more between schemes, under each policy, than between policies, under any scheme",
        judges.effects,
        TORUS,
    ),
    "C-017": trend("each scheme accepts over 10 % more than 1q, under each policy", judges.above_one_queue, TREE),
    "C-018": trend(
        "the latency of Flow2SL is above that of 1q, under each policy",
        judges.flow2sl_slower,
        TREE,
        cause="the memory of a port and the queues of interfaces: with 16 KiB instead of 64, or with one queue per "
        "interface, Flow2SL has the longer latency (64 nodes, figure factors)",
    ),
    "C-019": trend(
        "under no scheme on/off is slower, or high/low less efficient, by more than 1 %, and under at least one each "
        "is better by more",
        lambda measured: [
            *judges.better(outcome(measured, TREE), ON_OFF, HIGH_LOW, (LATENCY, THROUGHPUT)),
            *judges.better(outcome(measured, TREE), HIGH_LOW, ON_OFF, (ENERGY,)),
        ],
        TREE,
        cause="in part the times at which packets are created: with bursts on/off is faster under VOQsw and DBBM, but "
        "not under 1q and Flow2SL (64 nodes, figure factors)",
    ),
    "C-020": _of_full_size(
        trend(
            "in the geometric mean over schemes and policies the torus has the lower energy/data, and the tree the "
            "lower latency",
            lambda measured: [
                judges.first(measured, ENERGY, TORUS, TREE),
                judges.first(measured, LATENCY, TREE, TORUS),
            ],
            TORUS,
            TREE,
            cause="the size: under DBBM without a policy a 4-ary 4-tree uses 1.74 nJ/bit; the 4-ary 5-tree of the "
            "paper, with 4 links per node instead of 3, uses 2.25 nJ/bit",
        )
    ),
    "C-021": trend("policies differ by less than 10 % in each measure", judges.policies_alike(DRAGONFLY), DRAGONFLY),
    "C-022": _of_full_size(
        trend(
            "in the geometric mean over schemes and policies the dragonfly is the best in each measure",
            lambda measured: [judges.first(measured, measure, DRAGONFLY, TORUS, TREE) for measure in MEASURES],
            *_HOT,
        )
    ),
    "C-023": _of_full_size(
        trend(
            "within 10 % of 11.2 % for 1q, and of 28.1 % for the best scheme",
            judges.use_of_links,
            FILL,
            cause="the length of the window: the utilisation falls while the congestion tree fills the network: 28.7 % "
            "in 10 us, 13.8 % in 40 us and 8.4 % in 600 us (342 nodes)",
        )
    ),
    "C-024": trend(
        "high/low has the lowest energy/data, within 1 %, under every scheme on every network, and by more than "
        "1 % in at least one case",
        judges.high_low_everywhere,
        *_HOT,
    ),
    "C-025": untestable(
        "the printed 42.7 nJ/bit would be 4.1 kW per link, so the unit is an error; read as 42.7 pJ/bit, the number "
        "is the one from which the price of a lane was derived: 12 lanes of 0.342 W at 96 Gb/s"
    ),
    "C-026": _of_full_size(trend("3.2 to 32 times 12 lanes of 0.342 W at 96 Gb/s", _against_hardware, *_HOT)),
    "C-027": _of_full_size(
        trend(
            "on each network the best scheme with a policy has less than half of the latency of 1q without policy",
            lambda measured: [
                judges.reduction(measured, network, LATENCY, "network_latency_us", "from injection")
                for network in NETWORKS
            ],
            *_HOT,
        )
    ),
    "C-028": _of_full_size(
        trend(
            "on each network the best scheme with a policy has less than half of the energy/data of 1q without policy",
            lambda measured: [
                judges.reduction(measured, network, ENERGY, "energy_between_nj", "without links of terminals")
                for network in NETWORKS
            ],
            *_HOT,
        )
    ),
    "C-029": _of_full_size(
        trend(
            "the best scheme with a policy accepts more than twice as much as 1q without a policy",
            judges.doubled,
            TREE,
            DRAGONFLY,
        )
    ),
    "C-030": trend(
        "on each network, a policy raises the latency of at least one scheme by less than 10 %",
        lambda measured: [judges.no_slower(measured, network) for network in NETWORKS],
        *_HOT,
    ),
    **{name: _of_full_size(rule) for name, rule in application_outcomes.RULES.items()},
    "C-033": given(
        "a torus switch: 7 links of 4.104 W are 80 % of the power with a core of 7.2 W; the core was derived from "
        "this share"
    ),
    "C-034": constructed(exact(10909, lambda _: _SWITCH_POINT, digits=0, unit="bytes")),
    "C-035": trend(
        "on/off and high/low differ by less than 10 % in throughput and latency, under each scheme and 1q",
        judges.two_policies_alike,
        TORUS,
        cause="the lack of a scheme: with each scheme the policies differ by at most 4.6 %, but with 1q by 13.9 % in "
        "throughput and 18.1 % in latency (240 nodes)",
    ),
    "C-036": trend(
        "in more than half of all combinations of a scheme (or 1q) and a policy, the energy/data is lower than without "
        "the policy",
        judges.policies_improve,
        *_HOT,
    ),
    "C-037": trend(
        "under each scheme links between switches change at most a tenth as often as with 1q, under each policy",
        judges.few_changes,
        DRAGONFLY,
        cause="not isolated: tried three schemes and both policies: with H2LQ 17 % of the changes remain under on/off, "
        "and 60 % under high/low, which has a quarter of the changes of on/off with 1q (342 nodes)",
    ),
}
RULES = {name: _sized(rule) for name, rule in _ALL.items()}
