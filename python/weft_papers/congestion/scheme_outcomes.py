"""Makes a frame of the paper's runs, and means over seeds for each queueing scheme and link policy.

A scheme is a queueing scheme of the switches: 1q has a single queue, VOQsw, DBBM and others have several. A policy
saves power on links: with on/off a link goes off, with high/low it keeps one lane on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common import frames
from weft_papers.common.measured import LackingError
from weft_papers.congestion.application_runs import of_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet
    from weft_papers.common.measured import Measured

ONE_QUEUE, DBBM = "1q", "DBBM"
VOQSW, IODET, FLOW2SL, H2LQ, BBQ = "VOQsw", "IODET", "Flow2SL", "H2LQ", "BBQ"
# Name of the scheme with a single queue and adaptive routing: packets choose their path by the lengths of queues.
ADAPTIVE = "1q, adaptive"
_SCHEMES = {
    "one_queue": ONE_QUEUE,
    "voqsw": VOQSW,
    "dbbm": DBBM,
    "iodet": IODET,
    "flow2sl": FLOW2SL,
    "h2lq": H2LQ,
    "bbq": BBQ,
}
_ADAPTIVE = ("minimal_adaptive", "dragonfly_ugal")
NONE, ON_OFF, HIGH_LOW = "none", "on/off", "high/low"
POLICIES = (NONE, ON_OFF, HIGH_LOW)
# Two policies that choose the number of active lanes of a link from its utilisation. During a change, the link carries
# nothing (``ladder that stops``), or continues at its previous rate (``ladder``).
LADDER_STOPS, LADDER = "ladder that stops", "ladder"
# Names of the columns that Figs. 1 to 3 show.
THROUGHPUT, LATENCY, ENERGY = "accepted_load", "latency_us", "energy_nj"
MEASURES = (THROUGHPUT, LATENCY, ENERGY)
# Columns that frames of this paper have in addition to `frames.SCHEMA`.
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
    "saved_share": pl.Float64,
    "port_kib": pl.Float64,
    "network_ports": pl.Float64,
    "power_w": pl.Float64,
    "work": pl.String,
    "scale": pl.Float64,
    "runtime_us": pl.Float64,
    "managed_j": pl.Float64,
}


class Means(dict[str, float]):
    """The measurements of a queueing scheme with a power policy: means over seeds, by name of the column."""

    def __init__(self, name: str, numbers: Mapping[str, float | None]) -> None:
        super().__init__({key: value for key, value in numbers.items() if value is not None})
        self._name = name

    def __missing__(self, number: str) -> float:
        """Raise an error for a column in which no seed has a number.

        Raises
        ------
        LackingError
            Always. The error names the scheme and its policy.
        """
        what = f"no packet that counts was delivered in the window: {self._name}"
        raise LackingError(f"{what}; runs with more seeds may deliver some")


Outcome = dict[tuple[str, str], Means]


def mechanism(scheme: str, saving: str) -> str:
    """Return the name of a combination of a scheme with a policy."""
    return f"{scheme}, {saving}"


def frame(results: ResultSet) -> pl.DataFrame:
    """Make the frame of an experiment, with a row for each finished point.

    Returns
    -------
    polars.DataFrame
        Columns of `frames.SCHEMA` and `COLUMNS`. ``latency_us`` counts from the creation of a packet and
        ``network_latency_us`` from its injection, for all packets delivered in the window [us]. ``energy_nj`` is the
        energy of all links and routers per delivered bit; ``energy_between_nj`` excludes the links of terminals
        [nJ/bit]. The two energies are null if no bit was delivered. ``cold_load`` is the accepted load of each terminal
        that sends uniform traffic. ``hot_load`` is the accepted load of the hot node [flits/cycle]. ``link_use`` is the
        mean utilisation of channels between routers [share]. ``transitions`` is the mean number of state changes of
        such a channel per second. ``saved_share`` is the energy that managed links save, as a share of the saving of
        links whose energy is proportional to their traffic. ``port_kib`` is the memory of a port between routers [KiB],
        ``network_ports`` the number of ports between routers. ``power_w`` is the mean power of all links and routers
        [W]. ``work`` is the application, ``scale`` the factor of its gaps, ``runtime_us`` its run time [us] and
        ``managed_j`` the energy of all links [J]; these four are null for runs with a hot spot. For runs with an
        application, the columns of cold and hot flows are null.
    """
    rows = frames.rows(results, lambda scenario: mechanism(_scheme(scenario), _saving(scenario)))
    more = [_more(results, point) for point in range(len(results))]
    return frames.frame([row | added for row, added in zip(rows, more, strict=True)], COLUMNS)


def _scheme(scenario: Mapping[str, Any]) -> str:
    # a resolved scenario omits `queueing` if its scheme is `one_queue`
    ((name, parameters),) = scenario.get("queueing", {"one_queue": {}}).items()
    ((routing, how),) = scenario["routing"].items()
    if routing in _ADAPTIVE or how.get("ascent") == "adaptive":
        return ADAPTIVE
    scheme = _SCHEMES[name]
    # names of schemes in the interpretations that the figures do not use
    odd = {(IODET, "dst_coord"): "IODET by coordinate", (FLOW2SL, "sum"): "Flow2SL by sum"}
    return odd.get((scheme, parameters.get("reading", "")), scheme)


def _saving(scenario: Mapping[str, Any]) -> str:
    (name,) = scenario["power"]["policy"]
    if name == "always_on":
        return NONE
    if name == "rate_ladder":
        return LADDER if scenario["power"]["policy"][name].get("changes") == "carry" else LADDER_STOPS
    return ON_OFF if scenario["power"]["policy"][name].get("to") in (None, "off") else HIGH_LOW


def _more(results: ResultSet, point: int) -> dict[str, Any]:
    summary, scenario = results.summaries[point], results.scenario(point)
    us = 1e6 * summary["cycle_seconds"]
    bits = summary["accepted_bits"]
    between = [each for each in summary["link_classes"] if each["link_class"] != "terminal"]
    channels = sum(each["channels"] for each in between)
    routers = summary.get("energy_routers_j") or 0.0
    (network,) = scenario["topology"]
    always_on, ideal = summary["energy_managed_always_on_j"], summary["energy_managed_ideal_j"]
    return {
        "network": network,
        "scheme": _scheme(scenario),
        "saving": _saving(scenario),
        "ascent": (scenario["routing"].get("up_down") or {}).get("ascent"),
        LATENCY: _times(summary["packet_latency_mean_cycles"], us),
        "network_latency_us": _times(summary["network_latency_mean_cycles"], us),
        ENERGY: 1e9 * summary["energy_total_j"] / bits if bits else None,
        "energy_between_nj": 1e9 * (summary["energy_network_j"] + routers) / bits if bits else None,
        "link_use": sum(each["utilisation_mean"] * each["channels"] for each in between) / channels,
        "transitions": summary["link_transitions"] / channels / summary["window_seconds"],
        "window_us": us * summary["window_cycles"],
        "saved_share": (always_on - summary["energy_managed_j"]) / (always_on - ideal),
        "port_kib": int(scenario["links"]["default"]["port_buffer"].removesuffix("b")) / (8 * 1024),
        "network_ports": channels,
        "power_w": summary["power_mean_w"],
        **(_of_application(summary, us) if summary["flows"] is None else _of_flows(summary, us)),
    }


def _of_flows(summary: Mapping[str, Any], us: float) -> dict[str, Any]:
    """Return the columns of hot and cold flows. `us` is the length of a cycle [us]."""
    flows = {each["flow"]: each for each in summary["flows"]}
    return {
        "cold_load": flows["cold"]["source_accepted_load"],
        "cold_latency_us": _times(flows["cold"]["packet_latency_mean_cycles"], us),
        "hot_load": flows["hot"]["accepted_flits"] / summary["window_cycles"],
    }


def _of_application(summary: Mapping[str, Any], us: float) -> dict[str, Any]:
    """Return the columns of runs with an application. `us` is the length of a cycle [us]."""
    work, scale = of_job(summary) or (None, None)
    return {
        "work": work,
        "scale": scale,
        "runtime_us": _times(summary["completion_cycles"], us),
        "managed_j": summary["energy_managed_j"],
    }


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def outcome(measured: Measured, experiment: str) -> Outcome:
    """Return the mean over seeds of each column, for each scheme and policy. A mean excludes seeds without a value.

    Raises
    ------
    LackingError
        If the experiment was not run.
    """
    rows = measured[experiment].group_by("scheme", "saving", maintain_order=True).agg(pl.col(pl.Float64).mean())
    pairs = {(row.pop("scheme"), row.pop("saving")): row for row in rows.iter_rows(named=True)}
    if not pairs:
        raise LackingError(f"no point of {experiment} was run")
    return {pair: Means(mechanism(*pair), row) for pair, row in pairs.items()}


def schemes(found: Outcome) -> list[str]:
    """List the schemes that were run, in the order of the results."""
    return list(dict.fromkeys(scheme for scheme, _ in found))


def got(found: Outcome, scheme: str, saving: str) -> Means:
    """Return the measurements of a scheme with a policy.

    Raises
    ------
    LackingError
        If this combination was not run.
    """
    if (scheme, saving) not in found:
        raise LackingError(f"{mechanism(scheme, saving)} was not run")
    return found[scheme, saving]


def best_reduction(found: Outcome, measure: str) -> tuple[tuple[str, str], float]:
    """Return the combination of a scheme and a policy with the least value of a measure, and its saving.

    Combinations with one queue (1q) or without a policy do not count. The saving is relative to 1q without a policy
    [share].
    """
    base = got(found, ONE_QUEUE, NONE)
    best = min((pair for pair in found if ONE_QUEUE not in pair and NONE not in pair), key=lambda p: found[p][measure])
    return best, 1 - found[best][measure] / base[measure]
