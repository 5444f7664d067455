"""Makes the tables and the figure of the page on energy to solution, from results of examples/energy_to_solution.yaml.

python docs/howto/energy_to_solution.py results/energy_to_solution docs/_static/energy_to_solution.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D

import weft
from weft.plot import sheet, style
from weft.plot.draw import save
from weft.plot.finish import finish
from weft.results.confidence import quantile95

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROGRAM = "traffic.jobs.0.workload.programs.program"
APPLICATIONS = {"big_fft": "BigFFT", "nekbone": "Nekbone", "multigrid": "MG", "collective": "all-reduce"}
NETWORKS = {"k_ary_n_tree": "tree", "dragonfly": "dragonfly", "hyperx": "HyperX", "flex": "FleX", "torus": "torus"}
ON = "always_on"


def runs(folder: str) -> pl.DataFrame:
    """Read a row per run: application, network, policy, seed, run time [us], energy [mJ]."""
    results = weft.open_results(folder)
    rows = []
    for point, summary in enumerate(results.summaries):
        ((program, _),) = results.points[point]["coordinates"][PROGRAM].items()
        rows.append(
            {
                "application": APPLICATIONS[program],
                "network": NETWORKS[summary["topology"]],
                "policy": summary["policy"],
                "seed": summary["seed"],
                "time": 1e6 * summary["solution_seconds"],
                "energy": 1e3 * summary["energy_total_j"],
            }
        )
    return pl.DataFrame(rows)


def means(rows: pl.DataFrame) -> pl.DataFrame:
    """Compute means over seeds of values and changes against `always_on`, with half their 95 % confidence intervals."""
    keys = ["application", "network", "seed"]
    base = rows.filter(policy=ON).select(*keys, time_on="time", energy_on="energy")
    both = rows.join(base, on=keys, how="left", maintain_order="left").with_columns(
        time_change=100 * (pl.col("time") / pl.col("time_on") - 1),
        energy_change=100 * (pl.col("energy") / pl.col("energy_on") - 1),
    )
    names = ("time", "energy", "time_change", "energy_change")
    return both.group_by("application", "network", "policy", maintain_order=True).agg(
        pl.len().alias("seeds"),
        *(pl.col(name).mean() for name in names),
        *(
            pl.col(name).map_batches(_error, return_dtype=pl.Float64, returns_scalar=True).alias(f"{name}_error")
            for name in names
        ),
    )


def _error(values: pl.Series) -> float | None:
    """Half of the 95 % confidence interval of a mean; none for a single seed."""
    known = values.drop_nulls()
    spread = known.std()
    return quantile95(len(known) - 1) * spread / len(known) ** 0.5 if isinstance(spread, float) else None


def _cell(row: dict[str, Any] | None, numbers: tuple[str, str], sign: str = "") -> str:
    """A cell with two means and their errors; empty if the application was not run on this network and policy."""
    if row is None or None in (row[each] for each in numbers):
        return ""
    errors = {each: row[f"{each}_error"] for each in numbers}
    return "<br>".join(
        f"{row[each]:{sign}.1f}" + ("" if error is None else f" ± {error:.1f}") for each, error in errors.items()
    )


def _by_application(rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Index the rows of one network and policy by application."""
    return {row["application"]: row for row in rows.to_dicts()}


def front(rows: pl.DataFrame) -> list[tuple[str, str]]:
    """Pareto front of one application over run time and energy: (network, policy), the fastest first."""
    best: list[dict[str, Any]] = []
    for row in rows.sort("time", "energy").to_dicts():
        if not best or row["energy"] < best[-1]["energy"]:
            best.append(row)
    return [(row["network"], row["policy"]) for row in best]


def table(found: pl.DataFrame) -> str:
    """Write run time and energy of each application as a table in Markdown, with values on the Pareto front in bold."""
    best = {name: front(found.filter(application=name)) for name in APPLICATIONS.values()}
    heads = ["network", "policy", *(f"{name} [us], [mJ]" for name in APPLICATIONS.values())]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for (network, policy), rows in found.group_by("network", "policy", maintain_order=True):
        known = _by_application(rows)
        cells = []
        for name in APPLICATIONS.values():
            shown = _cell(known.get(name), ("time", "energy"))
            cells.append(f"**{shown}**" if (network, policy) in best[name] else shown)
        lines.append("| " + " | ".join([str(network), f"`{policy}`", *cells]) + " |")
    return "\n".join(lines)


def changes(found: pl.DataFrame) -> str:
    """Write the changes against links that are always on in the same network as a table in Markdown."""
    heads = ["network", "policy", *(f"{name}: time, energy [%]" for name in APPLICATIONS.values())]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for (network, policy), rows in found.filter(pl.col("policy") != ON).group_by(
        "network", "policy", maintain_order=True
    ):
        known = _by_application(rows)
        cells = [_cell(known.get(name), ("time_change", "energy_change"), "+") for name in APPLICATIONS.values()]
        lines.append("| " + " | ".join([str(network), f"`{policy}`", *cells]) + " |")
    return "\n".join(lines)


def picture(found: pl.DataFrame) -> Figure:
    """Draw energy over run time: a panel per application that was run, a colour per network, a marker per policy."""
    ran = [name for name in APPLICATIONS.values() if name in found["application"]]
    policies = found["policy"].unique(maintain_order=True).to_list()
    colours = dict(zip(NETWORKS.values(), style.COLOURS, strict=False))
    markers = dict(zip(policies, style.MARKERS, strict=False))
    entries = [
        *(Line2D([], [], label=name, marker="o", color=colour, linestyle="") for name, colour in colours.items()),
        *(
            Line2D([], [], label=each, marker=marker, color=style.GREY, linestyle="")
            for each, marker in markers.items()
        ),
        Line2D([], [], label="none is better in both", color=style.GREY, linestyle="--", linewidth=1),
    ]
    drawing = style.canvas("Energy to solution at equal cost", entries, width=style.PAGE, height=5.0)
    for axes, name in zip(style.grid(drawing, len(ran), min(len(ran), 2)), ran, strict=True):
        rows = found.filter(application=name)
        for row in rows.to_dicts():
            look: dict[str, Any] = {"marker": markers[row["policy"]], "color": colours[row["network"]], "markersize": 4}
            axes.errorbar(
                row["time"], row["energy"], row["energy_error"], row["time_error"], linestyle="", linewidth=0.7, **look
            )
        best = [
            rows.row(by_predicate=(pl.col("network") == network) & (pl.col("policy") == policy), named=True)
            for network, policy in front(rows)
        ]
        axes.plot(
            [row["time"] for row in best],
            [row["energy"] for row in best],
            color=style.GREY,
            linestyle="--",
            linewidth=1,
            drawstyle="steps-post",
            zorder=1,
        )
        axes.set_title(name, loc="left")
        axes.set_xlabel("Time to solution [µs]")
        axes.set_ylabel("Energy to solution [mJ]")
        axes.set_xscale("log")
        axes.set_yscale("log")
        style.plain_log(axes.xaxis)
        style.plain_log(axes.yaxis)
    finish(drawing)
    return drawing


if __name__ == "__main__":
    FOUND = means(runs(sys.argv[1]))
    print(table(FOUND))
    print()
    print(changes(FOUND))
    for APPLICATION in APPLICATIONS.values():
        print(APPLICATION, front(FOUND.filter(application=APPLICATION)))
    if len(sys.argv) > 2:
        with sheet.applied(style.RC):
            save(picture(FOUND), Path(sys.argv[2]))
