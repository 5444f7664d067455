"""Makes frames of the paper's runs, with the paper's names of routings, and with loads in phits.

The routings are MIN (minimal), VAL (Valiant), PB (piggybacking, adaptive at the source), OFAR (adaptive at every
router), and OFAR-L (OFAR without local detours). Under the pattern ADV+N, each group sends to the group that is N
groups further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common import frames

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

MIN, VAL, PB, OFAR, OFAR_L = "MIN", "VAL", "PB", "OFAR", "OFAR-L"
UGAL, PAR = "UGAL", "PAR"
# Name that OFAR with an embedded ring has in the authors' simulator.
OFAR_E = "OFAR-E"
# PB that compares queues with a coefficient of 125 %, as in a sample file of the authors' simulator. The paper prints
# no coefficient.
PB_125 = "PB 125 %"
UNIFORM = "UN"
# Number of phits of a packet. In Weft's scenarios a packet is one flit. Loads in scenarios are in flits, loads in
# frames are in phits, as in the paper.
PHITS = 8
_LOADS = ("load", "offered_load", "accepted_load")
_OF_GROUPS = {"dragonfly_minimal": MIN, "dragonfly_valiant": VAL, "dragonfly_ugal": UGAL, "dragonfly_par": PAR}
_MIXES = {80: "MIX1", 60: "MIX2", 20: "MIX3"}
# Columns that frames of this paper have in addition to `frames.SCHEMA`.
COLUMNS: dict[str, Any] = {
    "pattern": pl.String,
    "then": pl.String,
    "h": pl.Int64,
    "injection": pl.String,
    "rings": pl.Int64,
    "rule": pl.String,
    "trigger": pl.String,
    "global_misroutes": pl.String,
    "broken": pl.Int64,
    "down_share": pl.Float64,
    "per_terminal": pl.Int64,
    "dropped_packets": pl.Float64,
    "dropped_share": pl.Float64,
    "ring_hops": pl.Float64,
    "change_cycle": pl.Int64,
    "sent_cycle": pl.List(pl.Float64),
    "sent_packets": pl.List(pl.Int64),
    "sent_latency": pl.List(pl.Float64),
}


def adversarial(shift: int) -> str:
    """Return the paper's name of the pattern in which each group sends to the group that is `shift` groups further."""
    return f"ADV+{shift}"


def frame(results: ResultSet) -> pl.DataFrame:
    """Make a frame with a row for each finished point, with the columns of `frames.SCHEMA` and of `COLUMNS`.

    Loads are in phits/(node cycle). The columns of `COLUMNS` are ``pattern`` (name in the paper), ``then`` (pattern
    after a change), ``h``, ``injection`` (injection control), ``rings`` (number of escape rings), and ``rule`` (for
    detours). ``trigger`` and ``global_misroutes`` are values of these parameters of the routing `dragonfly_ofar`.
    ``broken`` is the number of links that the scenario breaks at a given time. ``down_share`` is the mean share of
    broken links, if links break at random. ``per_terminal`` is the number of packets per terminal of a burst. Further
    columns are ``dropped_packets``, ``dropped_share`` (share of the packets that left the network), and ``ring_hops``
    (hops over wires of a ring, per delivered packet).

    If a run recorded latencies by time of sending, a row also has ``change_cycle`` and three lists with a value for
    each bin of this time: ``sent_cycle`` (middle of the bin), ``sent_packets``, and ``sent_latency`` [cycles].
    """
    rows = frames.rows(results, _mechanism)
    return frames.frame([row | _more(results, point, row) for point, row in enumerate(rows)], COLUMNS)


def _more(results: ResultSet, point: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `COLUMNS` for a point, and its loads in phits."""
    loads = {name: row[name] and PHITS * row[name] for name in _LOADS}
    found = loads | _parameters(results.scenario(point)) | _sent(results, point)
    found |= _dropped(results.summaries[point])
    found["ring_hops"] = _ring_hops(results, point) if row["mechanism"] in (OFAR, OFAR_L) else None
    return found


def _ring_hops(results: ResultSet, point: int) -> float | None:
    """Return the mean number of hops over wires of a ring per delivered packet."""
    channels, summary = results.channels(point), results.summaries[point]
    flits = channels.filter(pl.col("link_class").cast(pl.String).str.starts_with("ring_"))["flits"].sum()
    delivered = (summary["accepted_load"] or 0) * summary["terminals"] * summary["window_cycles"]
    return flits / delivered if delivered else None


def _named(value: Any) -> tuple[str, Any]:
    """Return the name and the parameters of a model in a resolved scenario."""
    if isinstance(value, str):
        return value, {}
    ((name, parameters),) = value.items()
    return name, parameters


def _mechanism(scenario: Mapping[str, Any]) -> str:
    name, parameters = _named(scenario["routing"])
    if name == "dragonfly_pb":
        return PB if parameters["coefficient"] == 2 else f"PB {parameters['coefficient']:.0%}".replace("%", " %")
    if name == "dragonfly_ofar":
        if parameters["ring"].get("kind") == "embedded":
            return OFAR_E
        return OFAR if parameters["local_misrouting"] else OFAR_L
    return _OF_GROUPS.get(name, name)


def pattern(value: Any) -> str:
    """Return the paper's name of a traffic pattern in a resolved scenario."""
    name, parameters = _named(value)
    if name == "uniform":
        return UNIFORM
    if name == "group_shift":
        return adversarial(parameters["shift"])
    if name == "mix":
        return _MIXES.get(parameters[0]["weight"], name)
    if name == "within":
        return pattern(parameters["pattern"])
    return name


def _parameters(scenario: Mapping[str, Any]) -> dict[str, Any]:
    traffic, (_, network) = scenario["traffic"], _named(scenario["topology"])
    _, routing = _named(scenario["routing"])
    (phase,) = traffic.get("phases") or [{}]
    row: dict[str, Any] = {
        "pattern": pattern(traffic["pattern"]) if "pattern" in traffic else None,
        "then": pattern(phase["pattern"]) if phase else None,
        "change_cycle": int(phase["from"].removesuffix("cycles")) if phase else None,
        "h": network["global_links_per_router"],
        "broken": len(scenario.get("faults") or []),
        "down_share": _down_share(scenario),
        "per_terminal": (traffic.get("batch") or {}).get("per_terminal"),
    }
    if "ring" in routing:
        row |= {"injection": _named(routing["injection"])[0], "rings": routing["ring"]["rings"], "rule": _rule(routing)}
        row |= {"trigger": routing["trigger"], "global_misroutes": routing["global_misrouting"]}
    return row


def _rule(routing: Mapping[str, Any]) -> str:
    """Return the label of the rule by which OFAR permits a detour."""
    if routing["occupancy"] == "waiting":
        return "OFAR by flits that wait"
    return "OFAR, all with room" if routing["most_occupancy"] == {"fixed": 1.0} else OFAR


def _dropped(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the number of packets dropped in the window, and their share of all packets that left the network."""
    dropped, delivered = summary.get("dropped_packets"), summary.get("packets")
    left = (dropped or 0) + (delivered or 0)
    return {"dropped_packets": dropped, "dropped_share": dropped / left if dropped is not None and left else None}


def _down_share(scenario: Mapping[str, Any]) -> float | None:
    """Return the mean share of links that are broken at the same time, if links break at random; else ``None``."""
    random = (scenario.get("fault_model") or {}).get("random")
    if not random:
        return None
    between, mend = (int(random[name].removesuffix("cycles")) for name in ("mtbf", "mttr"))
    return mend / (between + mend)


def _sent(results: ResultSet, point: int) -> dict[str, Any]:
    """Return the columns with latencies by time of sending; empty if the run did not record them."""
    if "transient" not in results.scenario(point)["measure"]:
        return {}
    bins = results.transient(point).filter(pl.col("packets") > 0)
    return {
        "sent_cycle": (bins["from_cycle"] + bins["bin_cycles"] / 2).to_list(),
        "sent_packets": bins["packets"].to_list(),
        "sent_latency": bins["packet_latency_mean_cycles"].to_list(),
    }
