"""Judges and shows the runs of generated applications under every queueing scheme with every link policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

from weft.plot import style
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import unstalled
from weft_papers.common.rules import Part, generated, trend
from weft_papers.common.shared_programs import SCALES
from weft_papers.congestion.application_runs import APPLICATIONS, GRAPH500, NAMD, RUNS
from weft_papers.congestion.hot_spot_networks import NAMES, NETWORKS, SMALLEST, TORUS
from weft_papers.congestion.scheme_outcomes import ENERGY, NONE, ONE_QUEUE, POLICIES

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# Topology name of each network. Frames have this name in the column ``network``.
_TOPOLOGY = {network: next(iter(SMALLEST[network])) for network in NETWORKS}
# Numbers that the paper cites from earlier work: share of time in which torus links are idle, by application, and share
# of link energy that policies save.
IDLE, SAVED = {GRAPH500: 0.93, NAMD: 0.97}, 0.85
_SIZES = (
    "the sizes of the problems: on a torus of 64 nodes, at gaps x 1, STMV (instead of DHFR) saves 93.2 % with on/off "
    "and 87.9 % with high/low, and Graph500 of 2^20 (instead of 2^15) vertices saves -25.6 % and 45.0 %"
)
_TIME, _LINKS = "Run time [1q, none]", "Energy of links [1q, none]"


def _runs(measured: Measured) -> pl.DataFrame:
    """Join each run with two runs on always-on links, of which one has the same scheme, and the other a single queue.

    Stalled runs keep their row, but are not used for comparison.

    Raises
    ------
    LackingError
        If no application was run, all runs stalled, or an application did not run to its end.
    """
    rows = measured[RUNS].drop_nulls("work")
    ended = unstalled(rows)
    if ended.is_empty():
        raise LackingError("no application was run" if rows.is_empty() else "every run of an application stalled")
    if ended.select(pl.col("runtime_us", "managed_j").null_count()).row(0) != (0, 0):
        raise LackingError("an application did not run to its end")
    numbers = ("runtime_us", "managed_j")
    for suffix, keys in (("always_on", ["scheme"]), ("one_queue", [])):
        base = ended.filter(pl.col("saving") == NONE)
        if not keys:
            base = base.filter(pl.col("scheme") == ONE_QUEUE)
        on = ["network", "work", "scale", *keys]
        reference = base.select(*on, *(pl.col(each).alias(f"{each}_{suffix}") for each in numbers))
        rows = rows.join(reference, on=on, how="left", maintain_order="left")
    return rows


def _one(rows: pl.DataFrame, network: str, saving: str, work: str, scale: float) -> dict[str, Any]:
    """Return the row of the run with one queue, by network, policy, application and factor of its computing times."""
    found = rows.filter(network=_TOPOLOGY[network], scheme=ONE_QUEUE, saving=saving, work=work, scale=scale)
    row = found.row(0, named=True) if found.height else None
    if row is None or row["stalled"]:
        outcome = "stalled" if row else "was not run"
        raise LackingError(f"{work} at gaps x {scale:g} {outcome} on the {NAMES[network]} with {saving}")
    return row


def _saved(rows: pl.DataFrame, network: str, saving: str, work: str, scale: float) -> float:
    """Return the link energy that a policy saves, as a share of the link energy without a policy."""
    run, base = (_one(rows, network, each, work, scale)["managed_j"] for each in (saving, NONE))
    if not base:
        raise LackingError("the energy of links without a policy is unknown")
    return float(1 - run / base)


def _idle(measured: Measured) -> list[Part]:
    rows = _runs(measured)
    parts = []
    for work, least in IDLE.items():
        for scale in SCALES:
            use = _one(rows, TORUS, NONE, work, scale)["link_use"]
            if use is None:
                raise LackingError("the utilisation of links is unknown")
            parts.append(Part(1 - use > least, f"{work} at gaps x {scale:g}: {100 * (1 - use):.1f} %"))
    return parts


def _policies_save(measured: Measured) -> list[Part]:
    rows = _runs(measured)
    parts = []
    for network in NETWORKS:
        for work in APPLICATIONS:
            for scale in SCALES:
                saved = {saving: _saved(rows, network, saving, work, scale) for saving in POLICIES if saving != NONE}
                text = ", ".join(f"{saving} {100 * value:.1f} %" for saving, value in saved.items())
                parts.append(Part(max(saved.values()) > SAVED, f"{NAMES[network]}, {work} at gaps x {scale:g}: {text}"))
    return parts


RULES: dict[str, Rule] = {
    "C-031": generated(
        trend(
            "above 93 % for Graph500 and 97 % for NAMD, with one queue, at gaps x 0.5, 1 and 2",
            _idle,
            RUNS,
            cause="the length of gaps: with 64 ranks links are idle 94.9 and 96.9 % of the time with Graph500 at gaps "
            "x 1 and 2, and 92.4 % at gaps x 0.5",
        )
    ),
    "C-032": generated(
        trend(
            "the better policy saves more than 85 % on each network, with one queue, at gaps x 0.5, 1 and 2",
            _policies_save,
            RUNS,
            cause=_SIZES,
        )
    ),
}


def time_and_energy(measured: Measured) -> Drawing:
    """Draw link energy over run time. Each network has a panel, each scheme a colour, each policy a marker."""
    rows = unstalled(_runs(measured)).filter(scale=1.0)
    names = rows["scheme"].unique(maintain_order=True).to_list()
    colours = {name: style.COLOURS[number % len(style.COLOURS)] for number, name in enumerate(names)}
    markers = dict(zip(POLICIES, style.MARKERS, strict=False))

    def look(scheme: str, saving: str, work: str) -> dict[str, Any]:
        face = "none" if work == GRAPH500 else colours[scheme]
        return {"marker": markers[saving], "color": colours[scheme], "markerfacecolor": face, "markersize": 4}

    entries = [
        *(Line2D([], [], label=name, linestyle="", **look(name, NONE, NAMD)) for name in names),
        *(Line2D([], [], label=each, marker=markers[each], color=style.GREY, linestyle="") for each in POLICIES),
    ]
    title = "Generated applications (filled: NAMD, hollow: Graph500)"
    drawing = style.canvas(title, entries, width=style.PAGE, height=2.6)
    for axes, network in zip(style.grid(drawing, len(NETWORKS), len(NETWORKS)), NETWORKS, strict=True):
        for row in rows.filter(network=_TOPOLOGY[network]).iter_rows(named=True):
            if row["runtime_us_one_queue"] and row["managed_j_one_queue"]:
                x, y = (row[each] / row[f"{each}_one_queue"] for each in ("runtime_us", "managed_j"))
                shown = look(row["scheme"], row["saving"], row["work"])
                axes.plot([x], [y], linestyle="", label=f"_{row['mechanism']}, {row['work']}", **shown)
        axes.set_title(NAMES[network], loc="left")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            style.plain_log(axis)
        axes.set_xlabel(_TIME)
        axes.set_ylabel(_LINKS)
    drawing.numbers = rows.select(
        "network",
        "scheme",
        "saving",
        "work",
        (pl.col("runtime_us") / pl.col("runtime_us_one_queue")).alias(_TIME),
        (pl.col("managed_j") / pl.col("managed_j_one_queue")).alias(_LINKS),
    )
    return drawing


def _percent(share: pl.Expr) -> pl.Expr:
    return (100 * share).round(1)


def table(measured: Measured) -> pl.DataFrame:
    """Make the table of applications, with a row for each run that did not stall."""
    return unstalled(_runs(measured)).select(
        network=pl.col("network").replace({topology: NAMES[each] for each, topology in _TOPOLOGY.items()}),
        application="work",
        gaps="scale",
        scheme="scheme",
        policy="saving",
        **{
            "run time [µs]": pl.col("runtime_us").round(1),
            "run time beside no policy [%]": _percent(pl.col("runtime_us") / pl.col("runtime_us_always_on") - 1),
            "idle time of links [%]": _percent(1 - pl.col("link_use")),
            "energy of links saved [%]": _percent(1 - pl.col("managed_j") / pl.col("managed_j_always_on")),
            "energy per data [nJ/bit]": pl.col(ENERGY).round(2),
        },
    )
