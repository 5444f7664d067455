"""Runs small networks with one property of the runs (a factor) changed at a time.

The runs show which verdicts on claims depend on a factor, and how much the best combination of queueing scheme and link
power policy saves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.paper import Experiment
from weft_papers.congestion.hot_spot_networks import DRAGONFLY, LARGE, NAMES, NETWORKS, SMALL, SMALLEST, TORUS, TREE
from weft_papers.congestion.scheme_outcomes import (
    ENERGY,
    LATENCY,
    NONE,
    best_reduction,
    outcome,
    schemes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft_papers.common.rules import Rule


@dataclass(frozen=True)
class Factor:
    """A change of one property of the runs, such as the memory of a port.

    Attributes
    ----------
    name, words : str
        Part of the names of the factor's experiments, and the factor's label in the table.
    sets : mapping of str to value
        Overrides of the scenario of every network, by dotted path of the key.
    only : mapping of str to mapping
        Overrides by network, if only some networks have them or they differ; empty if `sets` is enough for all
        networks.
    costly : bool
        Whether a quick run omits this factor, because its runs take long.
    """

    name: str
    words: str
    sets: Mapping[str, Any] = field(default_factory=dict)
    only: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    costly: bool = False

    def networks(self) -> list[str]:
        """Return the networks for which this factor has overrides."""
        return [each for each in NETWORKS if not self.only or each in self.only]


_SHORT: dict[str, Any] = {"measure.warmup": "100us", "measure.window": "200us", "sweep.seed": [1]}
_LONGER: dict[str, Any] = {"measure.warmup": "200us", "measure.window": "400us"}
_HIGH_LOW: dict[str, Any] = {
    "idle_timeout": {
        "idle": "11.1us",
        "transition": "10us",
        "to": "low",
        "changes": "stop",
        "switch_at": "break_even",
    }
}
_FEWER: dict[str, Any] = {"sweep.power.policy": ["always_on", _HIGH_LOW]}


# VOQsw needs a VC for each output of a switch. A link has at most 16 VCs. Therefore VOQsw cannot run on the large
# dragonfly, whose switches have 27 outputs.
_WITHOUT_VOQSW: dict[str, Any] = {
    "zip.queueing": ["one_queue", {"dbbm": {"queues": 4}}, {"h2lq": {"standard": 6, "escape": 2}}],
    "zip.links.default.vcs": [2, 8, 16],
}
_USUAL: list[Any] = ["one_queue", "voqsw", {"dbbm": {"queues": 4}}]
FACTORS = (
    Factor("as_is", "nothing"),
    Factor("memory_16", "16 KiB per port", {"links.default.port_buffer": "16KiB"}),
    Factor("memory_256", "256 KiB per port", {"links.default.port_buffer": "256KiB"}),
    Factor("split", "memory only for queues that packets use", {"links.default.split": "reachable"}),
    Factor("interface", "one queue per interface", {"interface": {"queues": "one"}}),
    Factor("unmanaged", "links of terminals stay on", {"power.manages": "all"}),
    Factor(
        "from_empty",
        "the first 100 us of an empty network",
        {"measure.warmup": "0cycles", "measure.window": "100us"},
    ),
    Factor("bursts", "bursts at full load, 20 us on average", {"traffic.injection": {"on_off": {"mean_on": "20us"}}}),
    Factor(
        "long_bursts",
        "bursts at full load, 100 us on average",
        {"traffic.injection": {"on_off": {"mean_on": "100us"}}, "measure.warmup": "300us", "measure.window": "400us"},
    ),
    Factor(
        "other_reading",
        "other reading of the scheme (IODET by coordinate, Flow2SL by sum)",
        only={
            TORUS: {"zip.queueing": [*_USUAL, {"iodet": {"reading": "dst_coord"}}]},
            TREE: {"zip.queueing": [*_USUAL, {"flow2sl": {"queues": 4, "reading": "sum"}}]},
        },
    ),
    Factor(
        "digits",
        "digits of the tree from the highest digit on",
        only={TREE: {"routing": {"up_down": {"ascent": "d_mod_k_high_first"}}}},
    ),
    Factor(
        "finer_flits",
        "flits of 12 bytes, 20 flits per packet",
        {
            "cycle": "1ns",
            "flit": "12B",
            "traffic.packet": "20flits",
            "links.default.latency": "80cycles",
            "router.output_buffer": "40flits",
            **_FEWER,
        },
        costly=True,
    ),
    Factor(
        "quarter",
        "a quarter of the paper's nodes",
        only={name: _LONGER | _FEWER | {"topology": small} for name, small in SMALL.items()},
        costly=True,
    ),
    Factor(
        "four_times",
        "four times the paper's nodes",
        only={
            name: _LONGER | _FEWER | {"topology": large} | (_WITHOUT_VOQSW if name == DRAGONFLY else {})
            for name, large in LARGE.items()
        },
        costly=True,
    ),
)


def experiment(network: str, factor: Factor) -> str:
    """Return the name of the experiment that changes a factor in a network."""
    return f"{network}-{factor.name.replace('_', '-')}"


def _experiments() -> list[Experiment]:
    found = []
    for factor in FACTORS:
        for network in factor.networks():
            sets = _SHORT | {"topology": SMALLEST[network]} | dict(factor.sets) | dict(factor.only.get(network, {}))
            quick = () if factor.costly else (sets,)
            found.append(Experiment(experiment(network, factor), quick, (sets,), "", network))
    return found


EXPERIMENTS = _experiments()
NEEDS = tuple(each.name for each in EXPERIMENTS)


def table(rules: Mapping[str, Rule], measured: Measured) -> pl.DataFrame:
    """Make the table of factors, with a row for each network and factor that was run.

    Parameters
    ----------
    rules : mapping of str to Rule
        The rules of the scoreboard. Only rules about a single network are judged.
    measured : Measured
        The measurements.

    Raises
    ------
    LackingError
        If no factor was run.
    """
    lines = [
        _line(rules, measured, network, factor)
        for network in NETWORKS
        for factor in FACTORS
        if experiment(network, factor) in measured.frames
    ]
    if not lines:
        raise LackingError("no factor was run")
    return pl.DataFrame(lines)


def _line(rules: Mapping[str, Rule], measured: Measured, network: str, factor: Factor) -> dict[str, Any]:
    # rows of an alternative interpretation of a scheme get the plain name of the scheme, so that the rules find them
    plain = pl.col("scheme").str.replace(" by .*", "")
    rows = measured[experiment(network, factor)].with_columns(scheme=plain)
    alone = Measured({network: rows}, measured.quick)
    found = outcome(alone, network)

    def number(measure: str, digits: int) -> str:
        values = {name: found[name, NONE].get(measure) for name in schemes(found)}
        return ", ".join(f"{name} -" if each is None else f"{name} {each:.{digits}f}" for name, each in values.items())

    answers: dict[str, list[str]] = {"met": [], "missed": []}
    for claim, rule in rules.items():
        if rule.needs == (network,):
            try:
                answers[rule.judge(alone).answer].append(claim)
            except LackingError:
                continue  # the claim is about a scheme or a policy that was not run
    cut = {
        words: round(-100 * best_reduction(found, measure)[1], 1)
        for measure, words in (
            (LATENCY, "latency beside 1q [%]"),
            ("network_latency_us", "from injection [%]"),
            (ENERGY, "energy/data beside 1q [%]"),
            ("energy_between_nj", "without links of terminals [%]"),
        )
    }
    return {
        "network": NAMES[network],
        "changed": factor.words,
        "nodes": rows["terminals"][0],
        "cold flows [flits/source/cycle]": number("cold_load", 3),
        "latency [us]": number(LATENCY, 1),
        "met": ", ".join(answers["met"]),
        "missed": ", ".join(answers["missed"]),
        **cut,
    }
