"""Tests the content of the picture that `weft run` draws (latency and accepted load), not its appearance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from weft.plot.choice import Choice
from weft.plot.draw import figure as figure_of
from weft.plot.style import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from weft.api.results import Results


def figure(results: Results) -> Figure:
    """Return the figure that `weft run` draws."""
    return figure_of("load", Choice.of([results]))


def loads(line: Line2D) -> list[float]:
    """Return the loads of the points of a line: their horizontal positions."""
    return [float(x) for x in np.atleast_1d(np.asarray(line.get_xdata()))]


def lines(axes: Axes, label: str) -> list[list[float]]:
    """Return the loads of each line with this label."""
    return [loads(line) for line in axes.get_lines() if line.get_label() == label]


def test_a_row_per_pattern_and_a_column_per_quantity(made_up: Results) -> None:
    axes = figure(made_up).axes
    assert [each.get_title(loc="left") for each in axes] == ["uniform"] * 3 + ["tornado"] * 3
    assert {each.get_xlabel() for each in axes} == {"Offered load\n[flits/terminal/cycle]"}
    assert [each.get_ylabel() for each in axes[:3]] == [
        "Mean packet latency\n[cycles]",
        "Accepted load\n[flits/terminal/cycle]",
        "Energy per delivered bit\n[pJ/bit]",
    ]


def test_every_series_is_in_every_panel_and_in_the_legend(made_up: Results) -> None:
    drawing = figure(made_up)
    labels = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert labels == ["always_on", "idle_timeout", "saturated"]
    for axes in drawing.axes:
        assert [len(lines(axes, label)) for label in labels[:2]] == [1, 1]


def test_latency_lines_end_where_saturation_begins(made_up: Results) -> None:
    latency, accepted, _ = figure(made_up).axes[3:]
    assert lines(latency, "always_on") == [[0.1, 0.2]]
    assert lines(accepted, "always_on") == [[0.1, 0.2, 0.3, 0.4]]


def test_saturated_points_are_hollow(made_up: Results) -> None:
    for axes in figure(made_up).axes[3:]:
        hollow = [line for line in axes.get_lines() if line.get_label() == "_saturated"]
        assert [loads(line) for line in hollow] == [[0.3, 0.4]] * 2
        assert {line.get_markerfacecolor() for line in hollow} == {"white"}
    uniform = figure(made_up).axes[0]
    assert [drawn for drawn in lines(uniform, "_saturated") if drawn] == []


def test_the_latency_axis_serves_the_steady_points(made_up: Results) -> None:
    assert figure(made_up).axes[3].get_ylim()[1] < 50, "and not the 5000 cycles beyond saturation"


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_ending_chooses_the_format(made_up: Results, ending: str) -> None:
    path = made_up.plot(made_up.root / f"picture.{ending}")
    assert path.stat().st_size > 5000


def test_looks_of_many_series_differ() -> None:
    looks = [str(look(series, 28)) for series in range(28)]
    assert len(set(looks)) == 28
