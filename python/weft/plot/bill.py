"""Draws the yearly bill of a network: power of the site over the day or week, cost per year, and the saving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, MultipleLocator

from weft.errors import ResultsError
from weft.plot import numbers, style
from weft.results import bill_lines
from weft.results.bill_baseline import REFERENCE
from weft.results.yearly_bill import YearlyBill

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from weft.plot.choice import Choice
    from weft.plot.style import Look, Picture
    from weft.results.choose import Chosen
    from weft.results.yearly_bill import Billed

    Rows = dict[str, tuple[YearlyBill, Billed]]

# Heights of the panel over time, of a bar, and of the space around the bars [inches].
_POWER, _BAR, _AROUND = 1.7, 0.22, 0.65
# Upper end of the axis of power, as a multiple of the highest power.
_ROOM = 1.08
# Maximum number of series (points that differ only in load) that readers can distinguish in the figure.
_MOST = len(style.COLOURS) * 2
_REFERENCE: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 0.9}
# Look of the part of a bar that shows the saving of a series.
_SAVED: dict[str, Any] = {"facecolor": "none", "edgecolor": style.GREY, "hatch": "////", "linewidth": 0.6}


def figure(choice: Choice) -> Picture:
    """Draws the power of each series over time in the upper panel, and a bar with its yearly cost in the lower panel.

    If the cost of a series cannot be computed, the legend names the reason.

    Raises
    ------
    ResultsError
        If the results have no bill, if bills differ in period or currency, or if there are too many series.
    """
    rows: Rows = {}
    for part in choice.parts:
        yearly = YearlyBill(part.results)
        rows |= {_label(part, row): (yearly, row) for row in _chosen(part, yearly)}
    rows = dict(sorted(rows.items(), key=lambda each: choice.appearance.rank(each[0])))
    if len({(yearly.bill.period, yearly.bill.currency) for yearly, _ in rows.values()}) > 1:
        what = f"{choice.title}: the bills differ in their period or currency"
        remedy = "draw each bill separately, or use the same values in both scenarios and run them again"
        raise ResultsError.saying(what, remedy)
    if len(rows) > _MOST:
        what = f"this figure shows at most {_MOST} series, but {len(rows)} are chosen"
        raise ResultsError.saying(what, "choose some with --point, or point= in Python: point=policy=tcep")
    looks = style.looks(list(rows))
    handles: list[Artist] = [Line2D([], [], label=label, **look.line) for label, look in looks.items()]
    if any(row.baseline == REFERENCE for _, row in rows.values()):
        handles.append(Line2D([], [], color=style.GREY, label=REFERENCE, **_REFERENCE))
    if any((_money(yearly, row)[2] or 0) > 0 for yearly, row in rows.values() if not row.refused):
        handles.append(Patch(label="saved in a year", **_SAVED))
    refused = {label: row.refused for label, (_, row) in rows.items() if row.refused}
    handles += [Line2D([], [], linestyle="", label=f"{label}: no bill, {why}") for label, why in refused.items()]
    below = _AROUND + _BAR * len(rows)
    drawing = style.canvas(choice.title, handles, width=style.COLUMN, height=_POWER + below)
    above, bars = drawing.subplots(2, 1, height_ratios=[_POWER, below])
    _steps(above, rows, looks)
    _bars(bars, rows, looks)
    drawing.numbers = numbers.of_series((label, _numbers(*each)) for label, each in rows.items())
    return drawing


def _label(part: Chosen, row: Billed) -> str:
    return f"{part.name}: {row.label}" if part.name else row.label


def _chosen(part: Chosen, yearly: YearlyBill) -> list[Billed]:
    """The series of the bill that contain chosen points.

    The series with which the savings are computed (the baseline) can be one that is not chosen.
    """
    points = [part.results.points[point]["coordinates"] for point in part.points]
    return [row for row in yearly.rows if any(row.coordinates.items() <= point.items() for point in points)]


def _steps(axes: Axes, rows: Rows, looks: dict[str, Look]) -> None:
    period, hours = "day", [0.0, 24.0]
    powers: list[float] = []
    for label, (yearly, row) in rows.items():
        period, hours = yearly.bill.period, yearly.hours
        if row.readings:
            own = yearly.site_kw([each.power_w for each in row.readings])
            axes.stairs(own, hours, baseline=None, label=label, **looks[label].line)
            powers += own
        if row.baseline == REFERENCE:
            line = _REFERENCE | {"color": looks[label].line["color"], "label": f"_{REFERENCE} {label}"}
            axes.stairs(base := yearly.site_kw(row.baseline_powers_w), hours, baseline=None, **line)
            powers += base
    axes.set(xlim=(0, hours[-1]), xlabel=f"Time of the {period} [h]", ylabel="Site power [kW]")
    axes.set_ylim(0, _ROOM * max(powers, default=1.0))
    axes.xaxis.set_major_locator(MultipleLocator(3 if period == "day" else 24))


def _bars(axes: Axes, rows: Rows, looks: dict[str, Look]) -> None:
    for place, (label, (yearly, row)) in enumerate(rows.items()):
        if row.refused:
            axes.text(0, place, " no bill", va="center", fontsize=6.5)
        else:
            cost, saved, share = _money(yearly, row)
            axes.barh(place, cost, height=0.7, color=looks[label].line["color"], label=label)
            if share is not None and saved > 0:
                axes.barh(place, saved, left=cost, height=0.7, label=f"_saved {label}", **_SAVED)
            saving = "" if share is None else bill_lines.saving(share)
            short = "load not delivered" if yearly.shortfalls(row) else ""
            if shown := ", ".join(filter(None, [short, saving, _latency(row)])):
                box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
                axes.text(0, place, shown, va="center", fontsize=5.5, bbox=box)
    currency = next(iter(rows.values()))[0].bill.currency if rows else ""
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(f"Cost per year [{currency}]")
    axes.grid(visible=False, axis="y")


def _latency(row: Billed) -> str:
    """Range of the mean packet latencies in the parts of the profile, as a string; empty if no latency is known."""
    known = [each.latency_cycles for each in row.readings if each.latency_cycles is not None]
    ends = dict.fromkeys(f"{each:,.4g}" for each in (min(known), max(known))) if known else {}
    dropped = max((each.dropped_share for each in row.readings), default=0.0)
    lost = f", up to {100 * dropped:.3g} % dropped" if dropped else ""
    return f"mean latency {' to '.join(ends)} cycles{lost}" if ends else ""


def _money(yearly: YearlyBill, row: Billed) -> tuple[float, float, float | None]:
    """Cost of a series per year, its saving per year, and the saved share.

    Without a baseline, the saving is 0 and the saved share is ``None``.
    """
    (place,) = (number for number, each in enumerate(yearly.rows) if each is row)
    numbers = yearly.frame.row(place, named=True)
    cost, saved = (numbers[yearly.money(what)] for what in ("cost", "saved"))
    return cost, saved or 0.0, numbers["saving_share"]


def _numbers(yearly: YearlyBill, row: Billed) -> pl.DataFrame:
    """Numbers of the figure for a series: a row per part of the profile, or the reason why the series has no bill."""
    lines = [
        {"part": line["part"], "from_hour": begin, "to_hour": end}
        | {name: line[name] for name in line if name not in {"part", *row.coordinates}}
        for line, begin, end in zip(yearly.lines_of(row), yearly.hours, yearly.hours[1:], strict=False)
    ]
    return pl.DataFrame(lines or [{"note": row.refused}], infer_schema_length=None)
