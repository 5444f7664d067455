"""Figures and tables beyond the paper: all queueing schemes under all power policies, and our own combination.

In the traffic, flows to one node (the hot spot) are hot. All other flows are cold.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.plot import style
from weft_papers.common.measured import LackingError
from weft_papers.congestion.hot_spot_networks import NAMES, NETWORKS, SMALLEST
from weft_papers.congestion.hot_spot_runs import BUFFERS, COMBINATIONS, OWN
from weft_papers.congestion.scheme_judges import SAME
from weft_papers.congestion.scheme_outcomes import ENERGY, LATENCY, NONE, ONE_QUEUE

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

# A combination of queueing scheme and power policy harms cold flows if they keep less than this share of the throughput
# that they have with always-on links.
KEPT = 1 - SAME
# Energy that our combination must save, as a share of the energy that links save if their power is proportional to
# traffic.
ASKED = 0.8
# For each topology, the name of the network in figures.
_NAMED = {next(iter(SMALLEST[each])): NAMES[each] for each in NETWORKS}
_PAIR = ("network", "scheme", "saving")
_SAVED = "saved, relative to proportional links [%]"
_COLD, _ENERGY = "Cold throughput [flits/source/cycle]", "Energy per data [nJ/bit]"


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.col("network").replace(_NAMED))


def _means(measured: Measured, experiment: str, *keys: str) -> pl.DataFrame:
    """Compute means over seeds for each network, scheme and policy, and for each value of the columns `keys`."""
    rows = _named(measured[experiment].filter(~pl.col("stalled").fill_null(value=False)))
    return rows.group_by(*_PAIR, *keys, maintain_order=True).agg(pl.col(pl.Float64).exclude(*_PAIR, *keys).mean())


def _beside_always_on(means: pl.DataFrame) -> pl.DataFrame:
    """Add a column ``kept``: throughput of cold flows as a share of that with the same scheme and always-on links."""
    base = means.filter(pl.col("saving") == NONE).select(*_PAIR[:2], cold_always_on="cold_load")
    return means.join(base, on=_PAIR[:2], how="left", maintain_order="left").with_columns(
        kept=pl.col("cold_load") / pl.col("cold_always_on")
    )


def combinations(measured: Measured) -> pl.DataFrame:
    """Make the table of all combinations: a row for each network, queueing scheme and power policy."""
    return _beside_always_on(_means(measured, COMBINATIONS)).select(
        network="network",
        scheme="scheme",
        policy="saving",
        **{
            "cold [flits/source/cycle]": pl.col("cold_load").round(4),
            "cold beside always on [%]": (100 * (pl.col("kept") - 1)).round(1),
            "energy [nJ/bit]": pl.col(ENERGY).round(3),
            "latency [us]": pl.col(LATENCY).round(2),
            _SAVED: (100 * pl.col("saved_share")).round(1),
            "changes [1/(link s)]": pl.col("transitions").round(1),
        },
    )


def energy_and_cold(measured: Measured) -> Drawing:
    """Draw energy per bit over throughput of cold flows.

    Each network has a panel, each scheme a colour, each policy a marker.
    """
    means = _means(measured, COMBINATIONS)
    if means.is_empty():
        raise LackingError("no combination was run")
    names = means["scheme"].unique(maintain_order=True).to_list()
    policies = means["saving"].unique(maintain_order=True).to_list()
    colours = {name: style.COLOURS[number % len(style.COLOURS)] for number, name in enumerate(names)}
    # there are more schemes than colours: after the last colour, schemes use the first colours again, with hollow
    # markers
    hollow = {name: number >= len(style.COLOURS) for number, name in enumerate(names)}
    markers = dict(zip(policies, style.MARKERS, strict=False))

    def look(scheme: str, policy: str) -> dict[str, Any]:
        colour = colours[scheme]
        face = "none" if hollow[scheme] else colour
        return {"marker": markers[policy], "color": colour, "markerfacecolor": face, "linestyle": "", "markersize": 4}

    entries = [
        *(Line2D([], [], label=name, **look(name, policies[0])) for name in names),
        *(Line2D([], [], label=each, marker=markers[each], color=style.GREY, linestyle="") for each in policies),
    ]
    drawing = style.canvas("Beyond the paper: every scheme under every policy", entries, width=style.PAGE, height=2.4)
    networks = means["network"].unique(maintain_order=True).to_list()
    for axes, network in zip(style.grid(drawing, len(networks), len(networks)), networks, strict=True):
        rows = means.filter(pl.col("network") == network)
        for scheme, policy, cold, energy in rows.select("scheme", "saving", "cold_load", ENERGY).rows():
            axes.plot([cold], [energy], label=f"_{scheme}, {policy}", **look(scheme, policy))
        axes.set_title(network, loc="left")
        axes.set_xlabel(_COLD)
        axes.set_ylabel(_ENERGY)
        axes.set_xlim(0, 0.42)
        axes.set_ylim(bottom=0)
    drawing.numbers = means.select(
        "network", "scheme", "saving", pl.col("cold_load").alias(_COLD), pl.col(ENERGY).alias(_ENERGY)
    )
    return drawing


def memory(measured: Measured) -> pl.DataFrame:
    """Make the table of the least memory per port with which cold flows keep their throughput.

    The last column is a break-even power per KiB of memory: if each KiB consumes this power, the combination saves
    nothing. The saving is relative to a network with one queue and always-on links that delivers the same data.
    """
    means = _means(measured, BUFFERS, "port_kib")
    lines = []
    for (network, scheme, policy), rows in means.group_by(*_PAIR, maintain_order=True):
        most = rows["cold_load"].max()
        enough = rows.filter(pl.col("cold_load") >= KEPT * pl.lit(most)).sort("port_kib")
        needed = enough.row(0, named=True)
        base = means.filter(
            pl.col("network").eq(network) & pl.col("scheme").eq(ONE_QUEUE) & pl.col("saving").eq(NONE)
        ).sort(ENERGY)
        saved = 1 - needed[ENERGY] / base[ENERGY][0]
        kib = needed["network_ports"] * needed["port_kib"]
        # the power that one queue with always-on links would need for the same data, minus the power of this
        # combination
        watts = saved / (1 - saved) * needed["power_w"] if saved < 1 else math.inf
        lines.append(
            {
                "network": network,
                "scheme": scheme,
                "policy": policy,
                "needed [KiB/port]": needed["port_kib"],
                "all ports [MiB]": round(kib / 1024, 1),
                "cold [flits/source/cycle]": round(needed["cold_load"], 4),
                "energy [nJ/bit]": round(needed[ENERGY], 3),
                **{
                    f"cold with {size:g} KiB": round(value, 4)
                    for size, value in rows.sort("port_kib").select("port_kib", "cold_load").rows()
                },
                "break-even [mW/KiB]": round(1e3 * watts / kib, 1) if saved > 0 else None,
            }
        )
    if not lines:
        raise LackingError("no combination was run with any memory size")
    return pl.DataFrame(lines)


def own(measured: Measured) -> pl.DataFrame:
    """Make the table that compares our combination with the same scheme on always-on links.

    The table has means over seeds, and the values of the worst seed.
    """
    rows = _named(measured[OWN])
    keys = ["network", "scheme", "seed"]
    base = rows.filter(pl.col("saving") == NONE).select(
        *keys, base="cold_load", base_latency=LATENCY, base_energy=ENERGY
    )
    both = rows.filter(pl.col("saving") != NONE).join(base, on=keys)
    if both.is_empty():
        raise LackingError("our combination was not run together with links that are always on")
    kept = 100 * (pl.col("cold_load") / pl.col("base") - 1)
    saved = 100 * pl.col("saved_share")
    return both.group_by("network", "scheme", "saving", maintain_order=True).agg(
        pl.col("seed").n_unique().alias("seeds"),
        pl.col("cold_load").mean().round(4).alias("cold [flits/source/cycle]"),
        kept.mean().round(2).alias("cold beside always on [%]"),
        (kept.std() / pl.len().sqrt()).round(2).alias("standard error [%]"),
        kept.min().round(2).alias("worst seed [%]"),
        saved.mean().round(1).alias(_SAVED),
        saved.min().round(1).alias("least of a seed [%]"),
        pl.col(LATENCY).mean().round(2).alias("latency [us]"),
        pl.col("base_latency").mean().round(2).alias("always on [us]"),
        pl.col(ENERGY).mean().round(3).alias("energy [nJ/bit]"),
        pl.col("base_energy").mean().round(3).alias("always on [nJ/bit]"),
    )


def own_remark(measured: Measured) -> str:
    """Return text on each network: whether our combination keeps cold flows' throughput and saves enough energy."""
    lines = []
    for row in own(measured).iter_rows(named=True):
        loss, error, saved = row["cold beside always on [%]"], row["standard error [%]"] or 0.0, row[_SAVED]
        verdict = "met" if loss >= 100 * (KEPT - 1) and saved >= 100 * ASKED else "missed"
        text = f"cold {loss:+.2f} % with a standard error of {error:.2f}, saved {saved:.1f} %"
        lines.append(f"{row['network']}: {verdict} ({text})")
    asked = f"Required: cold flows lose at most {100 * (1 - KEPT):.0f} %, and the saving is {100 * ASKED:.0f} % of that"
    return f"{asked} of ideal links, whose power is proportional to their traffic. {'; '.join(lines)}."
