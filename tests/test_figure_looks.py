"""Tests the appearance of figures (size, texts, legend, order, limits, style sheet) and the tables of their numbers."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import weft
from test_job_queue import QUEUE
from test_phases import DAY
from test_plot_kinds import BATCHES, FEW, ONE, row, suitable
from test_rank_states import SLEEPY
from turns import in_turn
from weft.cli import main
from weft.plot import limits
from weft.plot.appearance import LEGENDS, WIDTHS
from weft.plot.draw import save_numbers
from weft.plot.kinds import KINDS, Takes

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from weft.api.results import Results
    from weft.plot.kinds import KindName
    from weft.plot.style import Picture

# Kinds of figures without curves, such as bars, areas, maps and spans of time.
NO_CURVES = {
    "bill",
    "channel_heatmap",
    "congestion_tree",
    "dimension_heatmap",
    "hops",
    "jobs",
    "link_states",
    "residency",
    "schedule",
}
DRAWN = sorted(KINDS.keys() - {"control_packets"})
SIZED = {"width": 4.5, "height": 5, "title": "What it shows"}


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run two points, each with two jobs that end, and return their results."""
    return weft.load(BATCHES).run(tmp_path_factory.mktemp("batches"))


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a point whose load changes in phases, with a bill for two of the phases."""
    bill = {"price_per_kwh": "0.2EUR", "profile": [{"share": 0.4, "phase": 2}, {"share": 0.6, "phase": 2}]}
    return weft.load(DAY, overrides={"bill": bill}).run(tmp_path_factory.mktemp("day") / "day")


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run programs of messages under two policies, and return their results."""
    return weft.load(SLEEPY).run(tmp_path_factory.mktemp("ring") / "ring")


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a job queue with the programs of two traces, and return its results."""
    return weft.load(QUEUE).run(tmp_path_factory.mktemp("queue") / "queue")


@pytest.fixture
def of_kind(recorded: Results, batches: Results, day: Results, ring: Results, queue: Results) -> Any:
    """Return a function that draws a figure of a given kind, with options for its appearance."""
    others = {
        "bill": day,
        "jobs": batches,
        "phases": day,
        "rank_states": ring,
        "solution": ring,
        "schedule": queue,
        "utilisation": queue,
    }

    def draw(kind: KindName, **asked: Any) -> Figure:
        one = 0 if kind in ("rank_states", "schedule", "utilisation") else None
        results, point = (others[kind], one) if kind in others else (recorded, suitable(kind) or None)
        return results.plot.figure(kind, **{"point": point} | asked)

    return draw


def laid_out(drawing: Figure) -> Figure:
    """Lay a figure out, so that the positions of its parts are known, and return the figure."""
    drawing.draw_without_rendering()
    return drawing


def words(drawing: Figure) -> list[str]:
    """Return the entries of all legends of a figure."""
    return [text.get_text() for legend in drawing.legends for text in legend.get_texts()]


def numbers_of(drawing: Picture) -> pl.DataFrame:
    """Return the numbers of a figure. The file with these numbers must exist."""
    assert drawing.numbers is not None
    return drawing.numbers


def panel_words(axes: Axes) -> list[str]:
    """Return the texts inside a panel of a figure."""
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("kind", DRAWN)
def test_in_a_column_nothing_is_clipped_and_the_legend_is_small(of_kind: Any, kind: str) -> None:
    drawing = laid_out(of_kind(kind, width="column"))
    assert drawing.get_size_inches()[0] == 3.5
    whole = drawing.bbox.padded(2)
    for axes in drawing.axes:
        texts = [axes.xaxis.label, axes.yaxis.label, axes.title, *axes.texts, axes._left_title]  # type: ignore[attr-defined] # no other access
        ticks = [*axes.xaxis.get_ticklabels(), *axes.yaxis.get_ticklabels()]
        for text in [*texts, *ticks]:
            box = text.get_window_extent()
            if text.get_text() and text.get_visible() and box.height:
                inside = whole.contains(box.x0, box.y0) and whole.contains(box.x1, box.y1)
                assert inside or text in ticks, f"{text.get_text()!r} is clipped"
    for legend in drawing.legends:
        box = legend.get_window_extent()
        assert whole.contains(box.x0, box.y0)
        assert whole.contains(box.x1, box.y1)
        assert box.height < drawing.bbox.height / 2.5, "with the title"


@pytest.mark.parametrize("kind", DRAWN)
def test_every_kind_obeys_size_title_and_legend(of_kind: Any, kind: str) -> None:
    """In `make test` each kind of figure is drawn with only one of the positions of the legend, in turn.

    Another test covers labels at curves instead of a legend.
    """
    for legend in in_turn(DRAWN.index(kind), [each for each in LEGENDS if each != "direct"]):
        drawing = of_kind(kind, **SIZED, legend=legend)
        assert list(drawing.get_size_inches()) == [4.5, 5]
        assert drawing.legends[0].get_title().get_text() == "What it shows"
        assert (legend == "none") <= (words(drawing) == [])


@pytest.mark.parametrize("kind", DRAWN)
def test_labels_stand_at_curves_and_a_kind_without_curves_says_so(of_kind: Any, kind: str) -> None:
    if kind in NO_CURVES:
        with pytest.raises(weft.WeftError, match="no curves for direct labels") as caught:
            of_kind(kind, **SIZED, legend="direct")
        assert caught.value.help == "choose above, inside, right, below, none"
        return
    drawing = of_kind(kind, **SIZED, legend="direct")
    assert list(drawing.get_size_inches()) == [4.5, 5]
    assert drawing.legends[0].get_title().get_text() == "What it shows"


@pytest.mark.parametrize(
    ("width", "inches"),
    [("column", 3.5), ("page", 7.16), ("3.3", 3.3), (5, 5), ("240pt", 240 / 72.27), ("8.4cm", 8.4 / 2.54)],
)
def test_widths_are_names_or_lengths(made_up: Results, width: str | float, inches: float) -> None:
    assert made_up.plot.figure("load", width=width).get_size_inches()[0] == pytest.approx(inches)
    assert set(WIDTHS) == {"column", "page"}


def test_panels_stand_below_each_other_where_they_do_not_fit_beside(made_up: Results) -> None:
    for width, columns in (("column", 1), (5, 2), ("page", 3)):
        axes = made_up.plot.figure("load", width=width).axes[0]
        place = axes.get_subplotspec()
        assert place is not None
        assert place.get_gridspec().ncols == columns


def test_a_paper_has_no_title_and_no_room_for_one(made_up: Results) -> None:
    plain, bare = (made_up.plot.figure("latency_accepted", title=title) for title in (None, False))
    assert bare.legends[0].get_title().get_text() == ""
    assert bare.get_size_inches()[1] < plain.get_size_inches()[1]
    nothing = made_up.plot.figure("latency_accepted", title=False, legend="none")
    assert nothing.legends == []


@pytest.mark.parametrize(
    "labels",
    [
        {"always_on": "On", "tornado": "Worst case"},
        ["always_on=On", "tornado=Worst case"],
        ["On=always_on", "Worst case=tornado"],
    ],
)
def test_labels_get_other_words_everywhere(made_up: Results, labels: Any) -> None:
    drawing = made_up.plot.figure("load", labels=labels)
    assert words(drawing) == ["On", "idle_timeout", "saturated"]
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["uniform"] * 3 + ["Worst case"] * 3
    assert {line.get_label() for line in drawing.axes[0].lines} >= {"On", "idle_timeout"}
    numbers = numbers_of(drawing)
    assert set(numbers["series"]) == {"On", "idle_timeout"}
    assert set(numbers["pattern"]) == {"uniform", "Worst case"}


def test_a_label_is_found_within_a_longer_one(recorded: Results) -> None:
    drawing = recorded.plot.figure("fairness", point=FEW, labels={"ugal_p": "UGAL", "seed": "run"})
    assert all(re.match(r"(dimension_order|UGAL), run \d: Jain index", word) for word in words(drawing))
    swapped = recorded.plot.figure("mean_hops", labels={"ugal_p": "dimension_order", "dimension_order": "ugal_p"})
    assert words(swapped)[:2] == ["ugal_p", "dimension_order"]


def test_an_axis_is_renamed_by_its_whole_label(made_up: Results) -> None:
    drawing = made_up.plot.figure("latency_accepted", labels={"Mean packet latency [cycles]": "Latency (cycles)"})
    assert {axes.get_ylabel() for axes in drawing.axes} == {"Latency (cycles)"}


def test_order_rules_legend_colours_and_panels(made_up: Results) -> None:
    plain = made_up.plot.figure("mean_hops")
    drawing = made_up.plot.figure("mean_hops", order="tornado, Sleeping", labels={"idle_timeout": "Sleeping"})
    assert words(drawing)[:2] == ["Sleeping", "always_on"]
    assert drawing.axes[0].get_title(loc="left") == "tornado"
    colours = [
        to_hex(next(line.get_color() for line in each.axes[0].lines if line.get_label() == label))
        for each, label in ((plain, "always_on"), (drawing, "Sleeping"))
    ]
    assert colours[0] == colours[1], "the first colour"
    points = made_up.plot.figure("hops", point="pattern=uniform,policy=always_on", order=["load 0.3", "load 0.1"])
    assert words(points) == ["load 0.3", "load 0.1", "load 0.2", "load 0.4"]


def test_limits_hold_and_saturated_points_stay_on_the_edge(made_up: Results) -> None:
    drawing = made_up.plot.figure(
        "load", point="pattern=tornado", xlim=(0, 0.35), ylim={"latency": (15, 90), "accepted": ",0.5"}
    )
    latency, accepted, energy = drawing.axes
    assert {axes.get_xlim() for axes in drawing.axes} == {(0, 0.35)}
    assert (latency.get_ylim(), accepted.get_ylim()) == ((15, 90), (0, 0.5))
    assert energy.get_ylim() == made_up.plot.figure("load", point="pattern=tornado").axes[2].get_ylim()
    edge = [line for line in latency.lines if line.get_label() == "_saturated"]
    assert [list(np.asarray(line.get_xdata())) for line in edge] == [[0.3], [0.3]], "0.4 lies beyond the panel"
    assert {float(np.asarray(line.get_ydata())[0]) for line in edge} == {90}


def test_labels_at_the_ends_of_curves_do_not_overlap(recorded: Results) -> None:
    drawing = laid_out(recorded.plot.figure("channel_curve", point=FEW, legend="direct", width="column"))
    (axes,) = drawing.axes
    assert len(axes.texts) == 12
    assert words(drawing) == []
    boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.y0)
    # the boxes of labels include their arrows and overlap, so the test compares the positions of the texts, which must
    # be one line apart
    heights = sorted(float(text.get_position()[1]) for text in axes.texts)
    line = 7 / 72 * 100 / axes.bbox.height
    assert all(low + 0.9 * line <= high for low, high in pairwise(heights))
    assert boxes[-1].x1 <= drawing.bbox.width + 1


def test_a_label_stands_where_its_curve_ends(made_up: Results) -> None:
    drawing = made_up.plot.figure("latency_accepted", point="pattern=uniform", legend="direct")
    (axes,) = drawing.axes
    assert panel_words(axes) == ["always_on", "idle_timeout"]
    low, high = axes.get_ylim()
    assert [note.xy[1] for note in axes.texts] == pytest.approx([(24 - low) / (high - low), (29 - low) / (high - low)])  # type: ignore[attr-defined] # annotations
    half = made_up.plot.figure("latency_accepted", point="pattern=uniform", legend="direct", xlim=(0, 0.25)).axes[0]
    low, high = half.get_ylim()
    expected = [(1, (22.5 - low) / (high - low)), (1, (27.5 - low) / (high - low))]
    assert [tuple(note.xy) for note in half.texts] == [pytest.approx(place) for place in expected]  # type: ignore[attr-defined]


SHEET = """\
font.family: serif
font.size: 9
axes.prop_cycle: cycler('color', ['112233', '445566'])
lines.linewidth: 3.1
figure.figsize: 4, 3
savefig.bbox: tight
backend: TkAgg
"""


def test_a_style_sheet_goes_over_our_settings(made_up: Results, tmp_path: Path) -> None:
    sheet = tmp_path / "paper.mplstyle"
    sheet.write_text(SHEET, encoding="utf-8")
    plain, styled = (made_up.plot.figure("mean_hops", style=style) for style in (None, sheet))
    assert list(styled.get_size_inches()) == [4, 3]
    for figure, colour in ((styled, "#112233"), (plain, "#0072B2")):
        line = next(line for line in figure.axes[0].lines if line.get_label() == "always_on")
        assert line.get_color() == colour
    widths = [
        next(line for line in each.axes[0].lines if line.get_label() == "always_on").get_linewidth()
        for each in (plain, styled)
    ]
    assert widths[1] == pytest.approx(2 * widths[0])
    assert styled.axes[0].xaxis.label.get_fontfamily() == ["serif"]
    wide = made_up.plot.figure("mean_hops", style=sheet, width="column")
    assert list(wide.get_size_inches()) == [3.5, 3]


WRONG_SHEETS = {
    "font.famly: serif\n": "font.famly",
    "lines.linewidth: thick\n": "thick",
    "text.usetex: True\n": "text.usetex is on(.|\n)*remove that line",
    "font.family: No Such Font\n": "none of the fonts No Such Font is installed(.|\n)*serif",
    "\n": "the file has no settings",
    "\xff\xfe\0": "(.|\n)*",
}


@pytest.mark.parametrize("text", WRONG_SHEETS)
def test_a_wrong_style_sheet_is_one_error(
    made_up: Results, tmp_path: Path, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "wrong.mplstyle"
    sheet.write_bytes(text.encode("latin-1"))
    assert main(["plot", "load", str(made_up.root), "--style", str(sheet)]) == 2
    errors = capfd.readouterr().err
    assert errors.startswith(f"error: --style {sheet}: ")
    assert re.search(WRONG_SHEETS[text], errors)
    assert errors.count("\n") == 2, "one error, and nothing that matplotlib says"


REFUSED = {
    "--width poster": "'poster' is not a length(.|\n)*column, page, or a length",
    "--width 0.2": "0.2 inches does not fit on a page(.|\n)*from 1 to 60 inches",
    "--width nan": "'nan' is not a length",
    "--height 3feet": "'3feet' is not a length",
    "--labels ugal_p": "'ugal_p' is not OLD=NEW",
    "--labels nothing=X": "no label 'nothing'(.|\n)*always_on; idle_timeout; saturated",
    "--labels always_on=A idle_timeout=A": "two entries of the legend would have the same label 'A'",
    "--labels always_on=A {root}": "is not OLD=NEW(.|\n)*after the folders of results",
    "--order ugal_p": "no label 'ugal_p'(.|\n)*always_on; idle_timeout",
    "--legend left": "no place 'left'(.|\n)*above, inside, right, below, direct, none",
    "--xlim 0": "'0' is not the lower and upper end(.|\n)*--xlim 0,0.5",
    "--xlim 0.5,0": "the upper end of the axis, 0, is not above its lower end 0.5(.|\n)*--xlim=0,0.5",
    "--xlim 2,3": "has no data between 2.0 and 3.0(.|\n)*goes from 0 to",
    "--xlim a,b": "'a,b' is not the lower and upper end of an axis",
    "--ylim 0,9": "different vertical axes: Mean packet latency(.|\n)*--ylim 'Mean packet latency=0,9'",
    "--ylim speed=0,9": "there is no vertical axis 'speed'(.|\n)*Mean packet latency",
    "--ylim energy=0,900": "is logarithmic, so its lower end can't be 0(.|\n)*--ylim ,900",
    "--style nowhere.mplstyle": "there is no such file",
    "--width 1 --height 1": "has no room for its panels(.|\n)*--width or --height",
}


@pytest.mark.parametrize("asked", REFUSED)
def test_bad_values_are_one_error_with_a_remedy(
    made_up: Results, asked: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.png"
    command = ["plot", "load", str(made_up.root), "--out", str(out), *asked.format(root=made_up.root).split()]
    assert main(command) == 2
    errors = capfd.readouterr().err
    assert re.search(REFUSED[asked], errors), errors
    assert errors.count("error: ") == errors.count("= help: ") == 1
    assert list(tmp_path.glob("out*")) == []


@pytest.mark.parametrize(
    "remedy", ["--ylim|Mean packet latency=0,9", "--ylim|energy=,900|--xlim|,0.5", "--labels|always_on=A"]
)
def test_remedies_work(made_up: Results, remedy: str, tmp_path: Path) -> None:
    assert main(["plot", "load", str(made_up.root), "--out", str(tmp_path / "x.png"), *remedy.split("|")]) == 0


def test_folders_that_labels_have_swallowed_are_reported(made_up: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "load", "--labels", "always_on=On", str(made_up.root)]) == 2
    assert f"--labels: '{made_up.root}' is not OLD=NEW" in capsys.readouterr().err


def test_the_command_and_python_draw_the_same(made_up: Results, tmp_path: Path) -> None:
    """``weft plot`` and the Python interface draw the same figure, even if options precede the folders on the command
    line."""
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    sheet = tmp_path / "paper.mplstyle"
    sheet.write_text(SHEET, encoding="utf-8")
    asked = ["--width", "column", "--height", "3in", "--no-title", "--legend", "below", "--order", "idle_timeout"]
    limits = ["--xlim", "0,0.5", "--ylim", "10,70", "--style", str(sheet)]
    end = [str(made_up.root), "--out", str(first), "--labels", "always_on=On", "tornado=Tornado"]
    assert main(["plot", "latency_accepted", *asked, *limits, *end]) == 0
    made_up.plot.latency_accepted(
        second,
        width=3.5,
        height=3,
        title=False,
        legend="below",
        order=["idle_timeout"],
        xlim=(0, 0.5),
        ylim=(10, 70),
        style=sheet,
        labels={"always_on": "On", "tornado": "Tornado"},
    )
    assert first.read_bytes() == second.read_bytes()
    assert (tmp_path / f"{first.name}.csv").read_bytes() == (tmp_path / f"{second.name}.csv").read_bytes()


@pytest.mark.parametrize("kind", DRAWN)
def test_the_numbers_of_every_figure_lie_beside_it(of_kind: Any, kind: str, tmp_path: Path) -> None:
    """The file with the numbers of a figure has every value that a curve of the figure shows."""
    drawing = of_kind(kind)
    written = pl.read_csv(save_numbers(drawing, tmp_path / "x.png"), infer_schema_length=None)
    assert (written.height, written.columns) == (drawing.numbers.height, drawing.numbers.columns)
    assert written.height > 0
    table = drawing.numbers
    numbers = table.select(pl.selectors.numeric().cast(pl.Float64)).to_numpy()
    known = np.unique(np.concatenate([numbers.ravel(), 100 * numbers.ravel()]))
    known = known[np.isfinite(known)]
    for axes in drawing.axes:
        for line in axes.lines:
            values = np.asarray(line.get_ydata(), dtype=float)
            values = values[np.isfinite(values)]
            if str(line.get_label()).startswith("_") or kind in ("series", "transient"):
                continue
            near = known[np.clip(np.searchsorted(known, values), 0, len(known) - 1)]
            below = known[np.clip(np.searchsorted(known, values) - 1, 0, len(known) - 1)]
            off = np.minimum(abs(near - values), abs(below - values))
            assert (off <= 1e-9 * np.maximum(1, abs(values))).all(), line.get_label()


def test_a_saturated_point_has_no_latency_in_the_numbers(made_up: Results) -> None:
    table = numbers_of(made_up.plot.figure("load"))
    over = table.filter("saturated")
    assert over.height == 4
    assert over["packet_latency_mean_cycles"].null_count() == 4
    assert over["accepted_load"].null_count() == 0
    assert table.filter(~pl.col("saturated"))["packet_latency_mean_cycles"].null_count() == 0


def test_bands_are_in_the_numbers(recorded: Results) -> None:
    table = numbers_of(recorded.plot.figure("overlay"))
    assert {"packet_latency_mean_cycles_ci95_half_width", "accepted_load_ci95_half_width"} <= set(table.columns)


def test_the_numbers_can_be_left_out(made_up: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.png"
    assert main(["plot", "load", str(made_up.root), "--out", str(out), "--no-csv"]) == 0
    assert capsys.readouterr().out == f"picture  {out}\n"
    assert sorted(path.name for path in tmp_path.glob("x*")) == ["x.png"]


def test_routers_that_sleep_are_those_of_the_file(recorded: Results) -> None:
    drawing = recorded.plot.figure("router_sleep", point=ONE)
    kept = recorded.recorded(row(recorded, ONE), "router_sleep")
    (line,) = drawing.axes[0].lines
    expected = sorted((100 * share for share in kept["asleep_share"]), reverse=True)
    assert list(np.asarray(line.get_ydata()))[:-1] == pytest.approx(expected)
    assert line.get_label() == f"mean {sum(expected) / len(expected):.3g} %"
    assert KINDS["router_sleep"].takes is Takes.POINTS


def test_numbers_of_an_axis_of_time_do_not_touch() -> None:
    drawing = Figure(figsize=(3.5, 2.5), dpi=100)
    axes = drawing.subplots()
    axes.set_xlim(260_000, 330_000)
    axes.tick_params(labelsize=7)

    def gaps() -> list[float]:
        """Return the distance between each two neighbouring numbers on the horizontal axis [pixels]."""
        drawing.canvas.draw()
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        return [right.x0 - left.x1 for left, right in pairwise(boxes)]

    assert min(gaps()) < 4
    limits.thin_out(axes, 3.5)
    assert min(gaps()) > 5
