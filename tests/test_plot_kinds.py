"""Tests every kind of figure: its axes have units, and its numbers are those of the result files."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer
from matplotlib.transforms import Bbox

import weft
from conftest import made
from turns import in_turn
from weft.plot import style
from weft.plot.choice import Choice
from weft.plot.draw import figure, save
from weft.plot.kinds import KINDS, Takes
from weft.results import quantities as q

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    from weft.api.results import Results

# Choices of points of `recorded`: one point below saturation, one beyond it, and four with different routings and
# seeds.
ONE = "traffic.pattern=uniform,routing=ugal_p,load=0.1,seed=1"
SATURATED = "pattern=tornado,routing=dimension_order,load=0.4,seed=1"
FEW = "pattern=uniform,load=0.1"

BATCHES = {
    "topology": {"full_mesh": {"routers": 4, "terminals_per_router": 2}},
    "routing": "minimal",
    "traffic": {
        "pattern": "uniform",
        "jobs": [
            {"name": "a", "terminals": {"range": [0, 3]}, "batch": {"per_terminal": 5}, "load": 0.2},
            {"name": "b", "terminals": {"range": [4, 7]}, "batch": {"per_terminal": 9}, "load": 0.2},
        ],
    },
    "measure": {"stop": {"complete": {}}},
    "sweep": {"seed": [1, 2]},
}

PLAIN = {
    "topology": {"single_router": {"terminals": 4}},
    "routing": "minimal",
    "traffic": {"pattern": "uniform", "load": 0.1},
    "measure": {"warmup": "100cycles", "window": "100cycles"},
}


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run two points with two jobs that end, and return their results."""
    return weft.load(BATCHES).run(tmp_path_factory.mktemp("batches"))


def drawn(kind: str, results: Results, *point: str) -> Figure:
    """Draw a figure of a kind from chosen points."""
    return figure(kind, Choice.of([results], point))


def row(results: Results, point: str) -> int:
    """Return the index of a chosen point in its results."""
    return Choice.of([results], [point]).parts[0].points[0]


def named(axes: Axes, label: str) -> Line2D:
    """Return the line of a figure that has this label."""
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return line


def xy(line: Line2D) -> tuple[list[float], list[float]]:
    """Return the coordinates of the points of a line."""
    return list(np.asarray(line.get_xdata(), float)), list(np.asarray(line.get_ydata(), float))


def cells_of(axes: Axes) -> NDArray[np.float64]:
    """Return the cells of a map; missing cells are NaN."""
    cells = axes.images[0].get_array()
    assert cells is not None
    return np.ma.filled(cells, np.nan)


def suitable(kind: str) -> list[str]:
    """Return a choice of points of `recorded` that a kind of figure can show."""
    return {Takes.SWEEP: [], Takes.POINTS: [FEW], Takes.POINT: [ONE]}[KINDS[kind].takes]


UNITLESS = {"Share", "Terminals", "Routers", "To", "From", "Channel", "position", "router"}


@pytest.mark.parametrize(
    "kind",
    sorted(
        KINDS.keys()
        - {"bill", "jobs", "phases", "control_packets", "rank_states", "solution", "schedule", "utilisation"}
    ),
)
def test_every_axis_has_a_unit_and_every_figure_fits_a_paper(recorded: Results, kind: str, tmp_path: Path) -> None:
    """In `make test` one of four kinds is also saved. `test_figure_looks` lays out a figure of every kind."""
    drawing = drawn(kind, recorded, *suitable(kind))
    assert drawing.get_size_inches()[0] in (style.COLUMN, style.PAGE)
    assert drawing.axes
    for axes in drawing.axes:
        for label in (axes.get_xlabel(), axes.get_ylabel()):
            counted = UNITLESS & set(label.replace(",", "").split())
            assert "[" in label or counted or "colorbar" in str(axes.get_label()), label
    assert drawing.legends[0].get_title().get_text().replace("\n", " ").startswith("recorded")
    if in_turn(sorted(KINDS).index(kind), (True, False, False, False))[0]:
        assert save(drawing, tmp_path / "picture.svg").stat().st_size > 5000


@pytest.mark.parametrize(("kind", "ending"), [("overlay", "svg"), ("hops", "pdf"), ("channel_heatmap", "png")])
def test_the_same_results_give_the_same_file(recorded: Results, kind: str, ending: str, tmp_path: Path) -> None:
    files = [getattr(recorded.plot, kind)(tmp_path / f"{n}.{ending}", point=suitable(kind) or None) for n in range(2)]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].stat().st_size > 5000


@pytest.mark.parametrize(
    ("kind", "quantity"), [("latency_accepted", q.LATENCY), ("mean_hops", q.HOPS), ("minimal_share", q.MINIMAL)]
)
def test_curves_hold_means_over_seeds(recorded: Results, kind: str, quantity: q.Quantity) -> None:
    uniform, tornado = drawn(kind, recorded).axes
    for axes, pattern in ((uniform, "uniform"), (tornado, "tornado")):
        assert axes.get_title(loc="left") == pattern
        rows = recorded.frame.filter(pl.col("traffic.pattern") == pattern, pl.col("routing") == "ugal_p")
        x = "accepted_load" if kind == "latency_accepted" else "offered_load"
        expected = rows.group_by("traffic.load").agg(pl.col(x, quantity.column).mean()).sort("traffic.load")
        across, up = xy(named(axes, "ugal_p"))
        assert across == pytest.approx(expected[x].to_list())
        assert up == pytest.approx(expected[quantity.column].to_list())


def test_latency_over_accepted_load_ends_at_saturation(recorded: Results) -> None:
    """Under tornado, dimension-order routing accepts at most a load of 0.25.

    The marker of a point beyond this load is hollow, at the upper edge of the figure, above the accepted load of the
    point.
    """
    tornado = drawn("latency_accepted", recorded).axes[1]
    assert len(xy(named(tornado, "dimension_order"))[0]) == 2
    hollow, _ = [line for line in tornado.get_lines() if line.get_label() == "_saturated"]
    rows = recorded.frame.filter("saturated")
    (across,), (up,) = xy(hollow)
    assert across == pytest.approx(rows["accepted_load"].mean())
    assert up == tornado.get_ylim()[1]
    assert hollow.get_markerfacecolor() == "white"


def test_bands_of_an_overlay_are_confidence_over_seeds(recorded: Results) -> None:
    """Two seeds have one degree of freedom.

    Student's t then follows Cauchy's distribution, with the quantile tan(0.475 pi).

    The half-width of the band is t * s / sqrt(2).
    """
    latency = drawn("overlay", recorded).axes[0]
    (band,) = [each for each in latency.collections if each.get_label() == "_band ugal_p"]
    rows = recorded.frame.filter(
        pl.col("traffic.pattern") == "uniform", pl.col("routing") == "ugal_p", pl.col("traffic.load") == 0.1
    )
    values = rows[q.LATENCY.column].to_numpy()
    half = np.tan(0.475 * np.pi) * values.std(ddof=1) / 2**0.5
    (path,) = band.get_paths()
    offered = rows["offered_load"].mean()
    at_load = [y for x, y in np.asarray(path.vertices) if x == pytest.approx(offered)]
    assert min(at_load) == pytest.approx(values.mean() - half)
    assert max(at_load) == pytest.approx(values.mean() + half)


def test_the_band_of_one_seed_is_that_of_its_batches(recorded: Results) -> None:
    latency = drawn("overlay", recorded, "seed=1").axes[0]
    (band,) = [each for each in latency.collections if each.get_label() == "_band ugal_p"]
    summary = recorded.summaries[row(recorded, ONE)]
    vertices = np.asarray(band.get_paths()[0].vertices)
    at_load = [y for x, y in vertices if x == pytest.approx(summary["offered_load"])]
    assert max(at_load) - min(at_load) == pytest.approx(2 * summary["packet_latency_ci95_cycles"])


def test_results_lie_over_each_other_under_their_names(recorded: Results, tmp_path: Path) -> None:
    other = weft.load(
        recorded.root / "points" / recorded.points[0]["hash"] / "scenario.yaml", overrides={"name": "other"}
    )
    drawing = figure("overlay", Choice.of([recorded, other.run(tmp_path / "other")], ["load=0.05"]))
    labels = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert labels[:2] == ["recorded, dimension_order", "recorded, ugal_p"]
    assert labels[3:] == ["95 % confidence of the mean"]
    assert labels[2].startswith("other")
    assert labels[2].endswith("dimension_order")


def test_percentiles_rise_and_are_those_of_the_summary(recorded: Results) -> None:
    drawing = drawn("percentiles", recorded, "seed=1,pattern=uniform,routing=ugal_p")
    (axes,) = drawing.axes
    curves = [xy(named(axes, f"{name} %")) for name in q.PERCENTILES]
    for (loads, values), quantity in zip(curves, q.PERCENTILES.values(), strict=True):
        rows = recorded.frame.filter(pl.col("offered_load").is_in(loads), pl.col("seed") == 1)
        rows = rows.filter(pl.col("traffic.pattern") == "uniform", pl.col("routing") == "ugal_p")
        assert values == rows[quantity.column].to_list()
    for lower, higher in pairwise(curves):
        assert all(low <= high for low, high in zip(lower[1], higher[1], strict=True))


def test_percentiles_leave_saturated_points_out(recorded: Results) -> None:
    (axes,) = drawn("percentiles", recorded, "pattern=tornado,routing=dimension_order").axes
    rows = recorded.frame.filter(
        pl.col("traffic.pattern") == "tornado", pl.col("routing") == "dimension_order"
    ).group_by("traffic.load", maintain_order=True)
    offered = rows.agg(pl.col("offered_load").mean())["offered_load"].to_list()
    assert xy(named(axes, "99 %"))[0] == pytest.approx(offered[:2])
    assert xy(named(axes, "_saturated"))[0] == pytest.approx(offered[2:])


def test_the_distributions_agree_with_the_summary(recorded: Results) -> None:
    summary = recorded.summaries[row(recorded, ONE)]
    (below,), (above,), (density,) = (
        drawn(f"latency_{kind}", recorded, ONE).axes[0].get_lines() for kind in ("cdf", "ccdf", "pdf")
    )
    latency, shares = (np.asarray(each) for each in xy(below))
    assert latency[-1] == summary["packet_latency_max_cycles"]
    assert shares[-1] == pytest.approx(100)
    for name, quantity in q.PERCENTILES.items():
        # a percentile is the smallest latency that the given share of the packets does not exceed
        first = latency[np.argmax(shares >= float(name) - 1e-9)]
        assert first == summary[quantity.column]
    slow, tail = xy(above)
    assert tail[0] == 1
    assert tail[-1] == pytest.approx(summary["latency_histogram"][-1][1] / summary["packets"])
    assert slow == [value for value, _ in summary["latency_histogram"]]
    ends, heights = xy(density)
    area = sum(width * height for width, height in zip(np.diff(ends), heights[1:], strict=True))
    assert area == pytest.approx(100), "all packets"


def test_a_curve_of_a_million_latencies_is_thinned_without_being_changed() -> None:
    """If a curve has very many steps, the figure draws only some of them.

    The omitted steps are too small to be seen.
    """
    from weft.plot.distribution import thin

    values = np.arange(20, 1_000_020, dtype=float)
    shares = 100 * np.arange(1, 1_000_001) / 1_000_000
    shown = thin(values, shares)
    assert len(shown) < 10_000
    assert shown[-1] == len(values) - 1
    assert np.diff(shares[shown]).max() < 0.1


def test_hops_are_those_of_the_histogram(recorded: Results) -> None:
    axes = drawn("hops", recorded, FEW).axes[0]
    sets = [each for each in axes.containers if isinstance(each, BarContainer)]
    assert [str(bars.get_label()) for bars in sets] == ["dimension_order", "ugal_p"]
    assert len({bar.get_hatch() for bars in sets for bar in bars}) == 2, "told apart without colour"
    kept = [
        recorded.summaries[row(recorded, ONE.replace("seed=1", f"seed={seed}"))]["hop_histogram"] for seed in (1, 2)
    ]
    one, other = (np.asarray([*each, *[0] * (max(map(len, kept)) - len(each))]) for each in kept)
    together = 100 * (one + other) / (one.sum() + other.sum())
    assert [bar.get_height() for bar in sets[1]] == pytest.approx(list(together))
    drawing: Any = drawn("hops", recorded, FEW)
    numbers = drawing.numbers.filter(pl.col("series") == "ugal_p")
    shares = np.array([100 * one / one.sum(), 100 * other / other.sum()])
    assert numbers["packets_percent_least_seed"].to_list() == pytest.approx(list(shares.min(axis=0)))
    assert numbers["packets_percent_most_seed"].to_list() == pytest.approx(list(shares.max(axis=0)))


def test_the_latencies_of_all_seeds_are_one_curve_with_their_range(tmp_path: Path) -> None:
    """The figure shows the share of packets that take longer than a latency.

    Of the 4 + 4 packets of two seeds, 5 take more than 20 cycles (1 of the first seed, 4 of the second), and 1 takes
    more than 30 cycles.
    """
    seen = ([[20, 3], [30, 1]], [[30, 3], [50, 1]])
    runs = [({"seed": seed}, {"latency_histogram": each}) for seed, each in enumerate(seen)]
    results = made(tmp_path / "seeds", runs)
    drawing: Any = drawn("latency_ccdf", results)
    (line,) = drawing.axes[0].get_lines()
    assert xy(line) == ([20, 30, 50], [1, 5 / 8, 1 / 8])
    numbers = drawing.numbers
    assert numbers["packets_share_least_seed"].to_list() == [1, 1 / 4, 0]
    assert numbers["packets_share_most_seed"].to_list() == [1, 1, 1 / 4]
    (band,) = drawing.axes[0].collections
    assert str(band.get_label()).startswith("_range")
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == ["2 seeds combined, and their range"]
    # 3 of 8 packets take up to 20 cycles, and 7 of 8 up to 30 cycles
    (line,) = drawn("latency_cdf", results).axes[0].get_lines()
    assert xy(line) == ([20, 20, 30, 50], [0, 100 * 3 / 8, 100 * 7 / 8, 100])
    # the curve of the second seed alone has only the packets of this seed
    (line,) = drawn("latency_ccdf", results, "seed=1").axes[0].get_lines()
    assert xy(line) == ([30, 50], [1, 1 / 4])


def test_a_curve_says_that_only_some_of_its_seeds_saturated(tmp_path: Path) -> None:
    ends = [{"ending": "saturated", "saturated": True}, {}]
    runs = [
        ({"traffic.load": load, "seed": seed}, {"latency_histogram": [[20, 5]]} | end)
        for load in (0.1, 0.9)
        for seed, end in enumerate(ends if load > 0.5 else [{}, {}])
    ]
    lines = drawn("latency_ccdf", made(tmp_path / "some", runs)).axes[0].get_lines()
    assert [str(line.get_label()) for line in lines] == ["load 0.1", "load 0.9 (saturated, some seeds)"]


def test_a_heat_map_holds_the_utilisation_of_each_channel(recorded: Results) -> None:
    axes, _ = drawn("channel_heatmap", recorded, ONE).axes
    cells = cells_of(axes)
    channels = recorded.channels(row(recorded, ONE)).drop_nulls(["from_router", "to_router"])
    assert cells.shape == (16, 16)
    assert np.isfinite(cells).sum() == channels.height == 16 * 6
    for channel in channels.iter_rows(named=True):
        assert cells[channel["from_router"], channel["to_router"]] == channel["utilisation"]


def test_a_heat_map_by_dimension_holds_means_over_lines(recorded: Results) -> None:
    first, second, _ = drawn("dimension_heatmap", recorded, ONE).axes
    channels = recorded.channels(row(recorded, ONE)).drop_nulls(["from_router", "to_router"])
    for number, axes in enumerate((first, second)):
        cells = cells_of(axes)
        along = [
            channel["utilisation"]
            for channel in channels.iter_rows(named=True)
            if channel["link_class"] == f"dim{number}"
            and [channel[end] // 4**number % 4 for end in ("from_router", "to_router")] == [1, 3]
        ]
        assert len(along) == 4
        assert cells[1, 3] == pytest.approx(sum(along) / 4)
        assert np.isnan(np.diag(cells)).all()


def test_a_sorted_curve_falls_and_has_every_channel(recorded: Results) -> None:
    axes = drawn("channel_curve", recorded, ONE).axes[0]
    channels = recorded.channels(row(recorded, ONE))
    for link_class in ("terminal", "dim0", "dim1"):
        shares, values = xy(named(axes, link_class))
        expected = channels.filter(pl.col("link_class") == link_class)["utilisation"].sort(descending=True).to_list()
        assert values[:-1] == expected
        assert shares[-1] == 100


def test_fairness_shows_the_index_of_the_summary(recorded: Results) -> None:
    axes = drawn("fairness", recorded, ONE).axes[0]
    summary = recorded.summaries[row(recorded, ONE)]
    (line,) = axes.get_lines()
    assert line.get_label() == f"Jain index {summary['source_fairness_jain']:.4f}"
    _, loads = xy(line)
    assert (loads[0], loads[-1]) == (summary["source_load_max"], summary["source_load_min"])
    assert len(loads) == summary["terminals"]


@pytest.mark.parametrize(("kind", "costs"), [("power", q.POWERS), ("energy", q.ENERGIES)])
def test_costs_lie_between_their_references(recorded: Results, kind: str, costs: tuple[q.Billed, ...]) -> None:
    panels = drawn(kind, recorded, "seed=1,pattern=uniform").axes
    rows = recorded.frame.filter(pl.col("traffic.pattern") == "uniform", pl.col("seed") == 1)
    rows = rows.filter(pl.col("routing") == "ugal_p")
    for axes, cost in zip(panels, costs, strict=True):
        assert axes.get_title(loc="left") == cost.links
        ideal, actual, always_on = (
            xy(named(axes, label))[1]
            for label in (f"_{cost.ideal.column} ugal_p", "ugal_p", f"_{cost.always_on.column} ugal_p")
        )
        assert actual == rows[cost.actual.column].to_list()
        assert always_on == rows[cost.always_on.column].to_list()
        assert ideal == rows[cost.ideal.column].to_list()
        assert all(low < middle < high for low, middle, high in zip(ideal, actual, always_on, strict=True))


def test_rings_are_around_what_nothing_beats(made_up: Results) -> None:
    """Sleeping links cost 5 cycles and save energy.

    Therefore, at each load, either policy is best in one of the two quantities, and both points have rings.
    """
    axes = drawn("energy_delay", made_up, "pattern=uniform").axes[0]
    assert len(xy(named(axes, "_best"))[0]) == 8
    tornado = drawn("energy_delay", made_up, "pattern=tornado").axes[0]
    assert len(xy(named(tornado, "always_on"))[0]) == 2, "saturated points have no latency"


def test_states_of_a_stack_are_the_shares_of_the_summary(recorded: Results) -> None:
    drawing = drawn("residency", recorded, "seed=1,pattern=uniform")
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["dimension_order", "ugal_p"]
    summary = recorded.summaries[row(recorded, ONE)]
    for bars in drawing.axes[1].containers:
        share = summary[f"links_{bars.get_label()}_share"]
        assert bars[1].get_height() == pytest.approx(100 * share)
    tops = [bar.get_y() + bar.get_height() for bar in drawing.axes[1].containers[-1]]
    assert tops == pytest.approx([100, 100, 100])


def test_transitions_are_per_second(recorded: Results) -> None:
    axes = drawn("transitions", recorded, "seed=1,pattern=uniform").axes[0]
    summary = recorded.summaries[row(recorded, ONE)]
    expected = summary["link_transitions"] / summary["window_cycles"] / summary["cycle_seconds"]
    assert xy(named(axes, "ugal_p"))[1][1] == pytest.approx(expected)


def boxes_of(bars: PathCollection) -> list[Bbox]:
    """Return the bars of a state of links. The figure draws them as one path."""
    (whole,) = bars.get_paths()
    return [Bbox([corners[0], corners[2]]) for corners in np.asarray(whole.vertices).reshape(-1, 5, 2)]


def test_bars_of_a_gantt_chart_are_the_spans_of_the_file(recorded: Results) -> None:
    point = row(recorded, ONE)
    axes = drawn("link_states", recorded, ONE).axes[0]
    spans = recorded.link_states(point)
    channels = sorted(spans["channel"].unique())
    bars = {each.get_label(): each for each in axes.collections if isinstance(each, PathCollection)}
    assert bars.keys() == set(spans["state"].unique())
    for state, collection in bars.items():
        of_state = spans.filter(pl.col("state") == state)
        boxes = boxes_of(collection)
        assert [(box.x0, box.x1) for box in boxes] == list(
            zip(of_state["from_cycle"], of_state["to_cycle"], strict=True)
        )
        assert [round((box.y0 + box.y1) / 2) for box in boxes] == [channels.index(each) for each in of_state["channel"]]
    summary = recorded.summaries[point]
    begin, end = (xy(line)[0][0] for line in axes.get_lines())
    assert (begin, end) == (summary["warmup_cycles"], summary["warmup_cycles"] + summary["window_cycles"])


def test_samples_of_channels_make_a_gantt_chart_too(tmp_path: Path, recorded: Results) -> None:
    text = (recorded.folder(row(recorded, ONE)) / "scenario.yaml").read_text(encoding="utf-8")
    scenario = tmp_path / "sampled.yaml"
    scenario.write_text(
        "".join(line for line in text.splitlines(True) if "max_spans" not in line and "link_states" not in line)
    )
    results = weft.load(scenario).run(tmp_path / "out")
    axes = drawn("link_states", results).axes[0]
    series = results.series(0)
    links = results.channels(0).filter(pl.col("terminal").is_null())["channel"]
    assert axes.get_ylim()[0] == len(links) - 0.5, "a row per managed channel, whether it slept or not"
    assert axes.collections
    for collection in axes.collections:
        assert isinstance(collection, PathCollection)
        cycles = sum(box.width for box in boxes_of(collection))
        there = series.filter(pl.col("channel").is_in(links.implode())).filter(
            pl.col(f"channels_{collection.get_label()}") > 0
        )
        assert cycles == there["interval_cycles"].sum()


def test_series_hold_the_means_of_the_file(recorded: Results) -> None:
    upper, lower = drawn("series", recorded, ONE).axes
    point = row(recorded, ONE)
    series = recorded.series(point).join(recorded.channels(point).select("channel", "link_class"), on="channel")
    means = series.filter(pl.col("link_class") == "dim0").group_by("from_cycle").agg(pl.col("utilisation").mean())
    times, values = xy(named(upper, "dim0"))
    assert times[:-1] == sorted(means["from_cycle"])
    assert values[:-1] == pytest.approx(means.sort("from_cycle")["utilisation"].to_list())
    tops = max(y for band in lower.collections for _, y in np.asarray(band.get_paths()[0].vertices))
    assert tops == pytest.approx(100)


def test_transients_hold_the_means_of_the_file(recorded: Results) -> None:
    axes = drawn("transient", recorded, ONE).axes[0]
    frame = recorded.transient(row(recorded, ONE)).filter(pl.col("packets") > 0)
    line, dots, *_ = axes.get_lines()
    assert [y for y in xy(line)[1] if not np.isnan(y)] == frame["packet_latency_mean_cycles"].to_list()
    assert [y for y in xy(dots)[1] if not np.isnan(y)] == frame["packet_latency_max_cycles"].to_list()


def test_jobs_have_a_bar_each(batches: Results) -> None:
    axes = drawn("jobs", batches).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    bars: list[Any] = list(axes.patches)
    widths = [bar.get_width() for bar in bars]
    times = [[job["completion_cycles"] for job in summary["jobs"]] for summary in batches.summaries]
    assert widths == [sum(each) / 2 for each in zip(*times, strict=True)]
    # the half-width of the confidence interval of two values is half of their difference times Student's t with one
    # degree of freedom
    halves = [12.706 * abs(a - b) / 2 for a, b in zip(*times, strict=True)]
    numbers = figure("jobs", Choice.of([batches])).numbers
    assert numbers is not None
    assert numbers["completion_cycles_ci95_half_width"].to_list() == pytest.approx(halves, rel=1e-3)


def test_saturated_points_are_called_so(recorded: Results) -> None:
    drawing = drawn("latency_cdf", recorded, SATURATED, ONE)
    labels = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert sum(label.endswith("(saturated)") for label in labels) == 1


KEPT = {kind: f"measure.{kind}" for kind in ("series", "link_states", "transient", "control_packets")}


@pytest.mark.parametrize("kind", KEPT)
def test_what_was_not_kept_is_asked_for_by_its_key(tmp_path: Path, kind: str) -> None:
    results = weft.load(PLAIN).run(tmp_path / "out")
    with pytest.raises(weft.ResultsError, match=KEPT[kind].replace(".", r"\.")) as caught:
        drawn(kind, results)
    # the remedy names only the setting, and no command, because in Python the scenario file is unknown
    assert caught.value.help.startswith("set measure.")
    assert "in another folder" in caught.value.help


def test_other_things_that_are_missing_are_named(recorded: Results, tmp_path: Path) -> None:
    with pytest.raises(weft.ResultsError, match=r"no job sends a batch(.|\n)*batch: \{per_terminal"):
        drawn("jobs", recorded, ONE)
    alone = weft.load(PLAIN).run(tmp_path / "alone")
    with pytest.raises(weft.ResultsError, match="no channels between routers"):
        drawn("channel_heatmap", alone)
    with pytest.raises(weft.ResultsError, match=r"do not form a grid(.|\n)*channel_heatmap"):
        drawn("dimension_heatmap", alone)


def test_one_run_says_nothing_of_accepted_load(recorded: Results) -> None:
    """In an overlay, a single run has a confidence interval only for the latency, so its accepted load has no band.

    With two seeds, the accepted load has a band.
    """
    for point, known in (("seed=1", False), ("load=0.1", True)):
        accepted = drawn("overlay", recorded, point, "seed=1,load=0.05").axes[1] if known else None
        accepted = accepted or drawn("overlay", recorded, point).axes[1]
        bands = [band for band in accepted.collections if band.get_label() == "_band ugal_p"]
        assert any(len(band.get_paths()) for band in bands) == known


def test_seeds_that_measured_nothing_do_not_count(tmp_path: Path) -> None:
    """At load 0.1, only two of three seeds have a latency.

    The confidence interval therefore has one degree of freedom, for which Student's t is tan(0.475 pi).
    """
    seen = {1: 20.0, 2: 24.0, 3: None, 4: None}
    runs = [
        ({"traffic.load": 0.1, "seed": seed}, {q.LATENCY.column: value}) for seed, value in seen.items() if seed < 4
    ]
    runs += [({"traffic.load": 0.2, "seed": 4}, {q.LATENCY.column: None})]
    ((curve,),) = (panel.curves for panel in Choice.of([made(tmp_path / "few", runs)]).panels())
    half = np.tan(0.475 * np.pi) * 2 * 2**0.5 / 2**0.5
    assert curve.half_width(q.LATENCY).to_list() == [pytest.approx(half, rel=1e-4), None]
    assert curve.frame[q.LATENCY.column].to_list() == [22.0, None]


def test_a_point_that_is_listed_twice_is_one_run(tmp_path: Path) -> None:
    runs = [({"traffic.load": 0.1, "seed": 1}, {"hash": 7, "packet_latency_ci95_cycles": 3.0})] * 2
    ((curve,),) = (panel.curves for panel in Choice.of([made(tmp_path / "twice", runs)]).panels())
    assert curve.frame["points"].to_list() == [[0]]
    assert curve.half_width(q.LATENCY).to_list() == [3.0], "what the one run knows"


def test_curves_stand_at_the_load_that_was_offered(tmp_path: Path) -> None:
    """If phases or jobs offer another load than `traffic.load`, curves show the offered load on the horizontal axis."""
    runs = [({"traffic.load": load}, {"offered_load": 4 * load, "accepted_load": 4 * load}) for load in (0.05, 0.1)]
    results = made(tmp_path / "phases", runs)
    axes = drawn("load", results).axes[1]
    assert xy(named(axes, "_steady")) == ([0.2, 0.4], [0.2, 0.4]), "on the diagonal"
    assert xy(named(axes, "_accepted = offered")) == ([0, 0.4], [0, 0.4])


def test_points_without_packets_are_named_and_the_others_drawn(tmp_path: Path) -> None:
    histograms: tuple[list[list[int]], ...] = ([[20, 5], [22, 5]], [])
    runs = [
        ({"traffic.load": load}, {"latency_histogram": seen, "hop_histogram": [0, len(seen)]})
        for load, seen in zip((0.1, 0.2), histograms, strict=True)
    ]
    results = made(tmp_path / "some", runs)
    for kind in ("latency_cdf", "latency_ccdf", "latency_pdf", "hops"):
        drawing = drawn(kind, results)
        words = [text.get_text() for text in drawing.legends[0].get_texts()]
        assert words == ["load 0.1", "load 0.2: no packet delivered"]
        with pytest.raises(weft.ResultsError, match="no packet of the window was delivered"):
            drawn(kind, results, "load=0.2")


def test_a_dollar_in_a_name_is_a_dollar(tmp_path: Path) -> None:
    seen = {"latency_histogram": [[20, 5], [700, 5]]}
    runs = [({"note": note}, seen) for note in ("a $1^$ b", "$x$")]
    results = made(tmp_path / "$1^$", runs)
    for kind in ("load", "latency_ccdf", "energy_delay"):
        path = save(drawn(kind, results), tmp_path / f"{kind}.png")
        assert path.stat().st_size > 5000
    drawing = drawn("latency_ccdf", results)
    save(drawing, tmp_path / "tail.png")
    ticks = [
        text for axis in (drawing.axes[0].xaxis, drawing.axes[0].yaxis) for text in axis.get_ticklabels(which="both")
    ]
    assert ticks
    assert not any("$" in text.get_text() for text in ticks), "powers of ten are no formulas"


def test_a_full_mesh_is_a_grid_of_one_dimension(tmp_path: Path) -> None:
    full = PLAIN | {"topology": {"full_mesh": {"routers": 4, "terminals_per_router": 1}}, "routing": "minimal"}
    first, _ = drawn("dimension_heatmap", weft.load(full).run(tmp_path)).axes
    assert cells_of(first).shape == (4, 4)


def test_a_dimension_of_one_position_has_no_panel(tmp_path: Path) -> None:
    flat = PLAIN | {"topology": {"hyperx": {"widths": [1, 4], "terminals_per_router": 1}}, "routing": "dimension_order"}
    titles = [axes.get_title(loc="left") for axes in drawn("dimension_heatmap", weft.load(flat).run(tmp_path)).axes]
    assert titles == ["dimension 1", ""], "and the scale"


def test_what_a_log_axis_can_not_show_has_no_panel(tmp_path: Path) -> None:
    drawing = drawn("energy", weft.load(PLAIN).run(tmp_path / "alone"))
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["all links and routers"], (
        "there are none between routers"
    )


def test_the_legend_of_percentiles_says_if_they_are_means(recorded: Results) -> None:
    for point, said in (("seed=1", False), ("pattern=uniform", True)):
        words = [text.get_text() for text in drawn("percentiles", recorded, point).legends[0].get_texts()]
        assert ("means of the percentiles of 2 runs" in words) == said


def test_saturated_stacks_are_marked(recorded: Results) -> None:
    drawing = drawn("residency", recorded, "pattern=tornado,routing=dimension_order")
    assert [text.get_text() for text in drawing.legends[0].get_texts()][-1] == "saturated"
    across, up = xy(named(drawing.axes[0], "_saturated"))
    assert (across, up) == ([2], [100]), "over the third load"


CHANGING = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: minimal
traffic: {pattern: uniform, load: 0.1, phases: [{from: 700cycles, load: 0.3}]}
measure: {warmup: 200cycles, window: 1000cycles, transient: {bin: 50cycles}, series: {every: 50cycles}}
faults: [{link: [0, 1], at: 400cycles, until: 500cycles}]
"""


def test_figures_over_time_mark_the_cycles_in_which_something_changes(tmp_path: Path) -> None:
    results = weft.load(CHANGING).run(out=tmp_path / "out")
    for kind in ("transient", "series"):
        drawing = figure(kind, Choice.of([results]))
        lines: list[Any] = [line for line in drawing.axes[0].lines if line.get_label() == "_change"]
        assert [list(map(float, line.get_xdata())) for line in lines] == [[400.0] * 2, [500.0] * 2, [700.0] * 2]
        named: Any
        (named,) = [handle for handle in drawing.plan.handles if "change of load" in str(handle.get_label())]
        assert named.get_linestyle() == lines[0].get_linestyle()


def test_no_series_has_the_mark_of_what_is_not_settled() -> None:
    crosses = {"x", "X", "+"}
    assert not crosses & set(style.MARKERS)
