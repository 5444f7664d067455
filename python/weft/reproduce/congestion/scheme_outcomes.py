"""The runs of the paper as rows of a frame, and their means over seeds by queueing scheme and link policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft.reproduce.common import frames
from weft.reproduce.common.measured import LackingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.reproduce.common.measured import Measured
    from weft.results.result_set import ResultSet

ONE_QUEUE, DBBM = "1q", "DBBM"
VOQSW, IODET, FLOW2SL, H2LQ = "VOQsw", "IODET", "Flow2SL", "H2LQ"
_SCHEMES = {
    "one_queue": ONE_QUEUE,
    "voqsw": VOQSW,
    "dbbm": DBBM,
    "iodet": IODET,
    "flow2sl": FLOW2SL,
    "h2lq": H2LQ,
}
NONE, ON_OFF, HIGH_LOW = "none", "on/off", "high/low"
POLICIES = (NONE, ON_OFF, HIGH_LOW)
# The measures of Figs. 1 to 3, with their units.
THROUGHPUT, LATENCY, ENERGY = "accepted_load", "latency_us", "energy_nj"
MEASURES = (THROUGHPUT, LATENCY, ENERGY)
# Columns beside those of every paper: means are over seeds.
COLUMNS: dict[str, Any] = {
    "network": pl.String,
    "scheme": pl.String,
    "saving": pl.String,
    "ascent": pl.String,
    LATENCY: pl.Float64,
    "network_latency_us": pl.Float64,
    ENERGY: pl.Float64,
    "energy_between_nj": pl.Float64,
    "cold_load": pl.Float64,
    "cold_latency_us": pl.Float64,
    "hot_load": pl.Float64,
    "link_use": pl.Float64,
    "transitions": pl.Float64,
    "window_us": pl.Float64,
}

Outcome = dict[tuple[str, str], dict[str, float]]


def mechanism(scheme: str, saving: str) -> str:
    """The name of a scheme with a policy."""
    return f"{scheme}, {saving}"


def frame(results: ResultSet) -> pl.DataFrame:
    """A row per finished point.

    Returns
    -------
    polars.DataFrame
        Columns of `frames.SCHEMA` and `COLUMNS`. ``latency_us`` is from the creation of a packet and
        ``network_latency_us`` from its injection, of all that were delivered in the window [us]. ``energy_nj`` is
        that of all links and routers per bit delivered, ``energy_between_nj`` leaves out the links of terminals
        [nJ/bit]. ``cold_load`` is per terminal that sends uniformly, ``hot_load`` is that of the hot node
        [flits/cycle]. ``link_use`` is of the channels between routers [share], ``transitions`` is per such channel
        and second.
    """
    rows = frames.rows(results, lambda scenario: mechanism(_scheme(scenario), _saving(scenario)))
    more = [_more(results, point) for point in range(len(results))]
    return frames.frame([row | added for row, added in zip(rows, more, strict=True)], COLUMNS)


def _scheme(scenario: Mapping[str, Any]) -> str:
    # a resolved scenario leaves out the scheme that divides nothing
    ((name, parameters),) = scenario.get("queueing", {"one_queue": {}}).items()
    scheme = _SCHEMES[name]
    # the readings that are not those of the figures
    odd = {(IODET, "dst_coord"): "IODET by coordinate", (FLOW2SL, "sum"): "Flow2SL by sum"}
    return odd.get((scheme, parameters.get("reading", "")), scheme)


def _saving(scenario: Mapping[str, Any]) -> str:
    (name,) = scenario["power"]["policy"]
    if name == "always_on":
        return NONE
    return ON_OFF if scenario["power"]["policy"][name].get("to") in (None, "off") else HIGH_LOW


def _more(results: ResultSet, point: int) -> dict[str, Any]:
    summary, scenario = results.summaries[point], results.scenario(point)
    us = 1e6 * summary["cycle_seconds"]
    bits = summary["accepted_bits"] or float("nan")
    flows = {each["flow"]: each for each in summary["flows"]}
    between = [each for each in summary["link_classes"] if each["link_class"] != "terminal"]
    channels = sum(each["channels"] for each in between)
    routers = summary.get("energy_routers_j") or 0.0
    (network,) = scenario["topology"]
    return {
        "network": network,
        "scheme": _scheme(scenario),
        "saving": _saving(scenario),
        "ascent": (scenario["routing"].get("up_down") or {}).get("ascent"),
        LATENCY: _times(summary["packet_latency_mean_cycles"], us),
        "network_latency_us": _times(summary["network_latency_mean_cycles"], us),
        ENERGY: 1e9 * summary["energy_total_j"] / bits,
        "energy_between_nj": 1e9 * (summary["energy_network_j"] + routers) / bits,
        "cold_load": flows["cold"]["source_accepted_load"],
        "cold_latency_us": _times(flows["cold"]["packet_latency_mean_cycles"], us),
        "hot_load": flows["hot"]["accepted_flits"] / summary["window_cycles"],
        "link_use": sum(each["utilisation_mean"] * each["channels"] for each in between) / channels,
        "transitions": summary["link_transitions"] / channels / summary["window_seconds"],
        "window_us": us * summary["window_cycles"],
    }


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def outcome(measured: Measured, experiment: str) -> Outcome:
    """The means over seeds of every number, by scheme and policy.

    Raises
    ------
    LackingError
        If the experiment was not run, or a number of Figs. 1 to 3 is not known.
    """
    rows = measured[experiment].group_by("scheme", "saving", maintain_order=True).agg(pl.col(pl.Float64).mean())
    found = {(row["scheme"], row["saving"]): row for row in rows.iter_rows(named=True)}
    lacking = [pair for pair, row in found.items() if any(row[each] is None for each in MEASURES)]
    if lacking or not found:
        raise LackingError(f"no number is known of {' and '.join(map(str, lacking)) or experiment}")
    return found


def schemes(found: Outcome) -> list[str]:
    """The schemes that were run, in order."""
    return list(dict.fromkeys(scheme for scheme, _ in found))


def got(found: Outcome, scheme: str, saving: str) -> dict[str, float]:
    """The numbers of a scheme with a policy.

    Raises
    ------
    LackingError
        If it was not run.
    """
    if (scheme, saving) not in found:
        raise LackingError(f"{mechanism(scheme, saving)} was not run")
    return found[scheme, saving]
