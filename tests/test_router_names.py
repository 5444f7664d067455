"""Tests that routers of a graph file have the ids of the file in tables, packet histories, drawings, figures and
timelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import polars as pl
import pytest

import weft
from weft._engine import LINK_STATES
from weft.report import network_view
from weft.results.control_messages import Wanted
from weft.results.router_places import placed, places

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = {
    "links": {"default": {"latency": "2cycles", "vcs": 4, "buffer": "32flits"}},
    "routing": "shortest_path",
    "traffic": {"pattern": "uniform", "load": 0.1, "packet": "1flit"},
    "measure": {"warmup": "100cycles", "window": "1000cycles"},
}
ROW: dict[str, list[Any]] = {"texts": ["leaf-a", "spine", "leaf-b"], "numbers": [30, 10, 20]}


def results(names: list[Any], folder: Path) -> weft.Results:
    scenario = SCENARIO | {"topology": {"single_router": {"terminals": 2}}}
    return weft.load(scenario, topology=nx.path_graph(names), terminals_per_router=1).run(folder)


@pytest.mark.parametrize("kind", ROW)
def test_tables_and_drawings_have_the_ids(kind: str, tmp_path: Path) -> None:
    names = ROW[kind]
    found = results(names, tmp_path)
    channels = found.channels(0)
    a, b, c = names
    # order of the channels: for each router, the channel to its terminal and those to its neighbours; after all these,
    # the channels from terminals
    assert channels["from_router"].to_list() == [a, a, b, b, b, c, c, None, None, None]
    assert channels["to_router"].to_list() == [None, b, None, a, c, None, b, a, b, c]
    drawn = network_view.build(found.network(0), channels)
    assert (drawn.page["routers"], drawn.page["names"]) == (3, [str(name) for name in names])
    ends = placed(channels, drawn.page["names"])
    assert ends["from_router"].to_list() == [0, 0, 1, 1, 1, 2, 2, None, None, None]
    assert places(channels["to_router"].drop_nulls(), drawn.page["names"]).tolist() == [1, 0, 2, 1, 0, 1, 2]
    kept = network_view.of_point(drawn, channels, LINK_STATES)["terminals"]
    assert set(kept) == {"injected", "ejected", "count"}


def test_a_network_without_ids_keeps_its_numbers() -> None:
    assert places(pl.Series([2, 0]), None).tolist() == [2, 0]
    frame = pl.DataFrame({"from_router": [1, None], "to_router": [0, 2]})
    assert placed(frame, None) is frame


@pytest.mark.parametrize("kind", ROW)
def test_a_timeline_takes_ids(kind: str) -> None:
    names = ROW[kind]
    network = {"router_count": 3, "names": [str(name) for name in names]}
    frame = pl.DataFrame({"from_router": names, "to_router": [names[1], names[2], names[1]]})
    wanted = Wanted(routers=[str(names[0])])
    wanted.check(network)
    assert wanted.channels(frame)["from_router"].to_list() == [names[0]]
    with pytest.raises(weft.ScenarioError, match="no router 0: the network has 3"):
        Wanted(routers=["0"]).check(network)
    with pytest.raises(weft.ScenarioError, match="write a number from 0 to 2"):
        Wanted(routers=["3"]).check({"router_count": 3, "names": None})


def test_the_heat_map_has_the_ids(tmp_path: Path) -> None:
    found = results(ROW["texts"], tmp_path)
    figure = found.plot.figure("channel_heatmap")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ROW["texts"]
    numbers = figure.numbers
    assert numbers is not None
    assert set(zip(numbers["from_router"], numbers["to_router"], strict=True)) == {
        ("leaf-a", "spine"), ("spine", "leaf-a"), ("spine", "leaf-b"), ("leaf-b", "spine")
    }  # fmt: skip
    assert np.isfinite(numbers["utilisation"].to_numpy()).all()
