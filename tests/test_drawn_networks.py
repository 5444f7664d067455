"""Tests those figures of papers that are drawings of networks: they must show the networks and rules that Weft
simulates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import polars as pl
import pytest

import weft
from weft.analysis import examples
from weft_papers.common.measured import Measured
from weft_papers.flex import flex_drawings as flex
from weft_papers.ofar import closed_forms
from weft_papers.ofar import ofar_drawings as ofar
from weft_papers.registry import PAPERS, paper
from weft_papers.tcep import tcep_drawings as tcep
from weft_papers.torus import drawings as torus

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = Measured({})


def test_every_figure_and_table_of_the_papers_is_there() -> None:
    """Each numbered figure and table of the papers is reproduced. Letters of parts, as in 9a, are ignored."""
    wanted = {
        "tcep": ({*range(1, 16)}, 2),
        "ofar": ({*range(1, 8)}, 0),
        "flex": ({*range(1, 18)}, 6),
        "congestion": ({1, 2, 3}, 1),
        "torus": ({*range(1, 8)}, 2),
    }
    assert set(wanted) == set(PAPERS)
    for name, (figures, tables) in wanted.items():
        named = {each.name for each in paper(name).figures}
        assert figures <= {int(each.rstrip("abcdef")) for each in named if each[0].isdigit()}, name
        assert {f"table{number}" for number in range(1, tables + 1)} <= named, name


def test_the_root_network_is_the_one_that_the_policy_keeps_on(tmp_path: Path) -> None:
    """The root network has 24 of the 48 links of 4x4 routers: a star of 3 links in each of 8 rows and columns."""
    drawn = tcep.fig2(NOTHING).numbers
    assert drawn is not None
    square = drawn.filter(pl.col("panel").str.starts_with("2D"))
    root = square.filter(pl.col("kind").str.starts_with("root"))
    assert (root.height, square.height) == (24, 48)
    assert nx.is_connected(nx.Graph(root.select("from", "to").rows()))
    scenario = {
        "topology": {"hyperx": {"widths": [tcep.SIDE, tcep.SIDE], "terminals_per_router": 1}},
        "links": {"default": {"latency": "1cycle", "vcs": 2, "buffer": "4flits"}},
        "routing": "pal",
        "traffic": {"pattern": "uniform", "packet": "1flit", "load": 0.01},
        "power": {"policy": {"static": {"on": "root"}}},
        "measure": {"warmup": "10cycles", "window": "100cycles"},
    }
    (summary,) = weft.load(scenario).run(out=tmp_path / "root").summaries
    assert summary["links_on_mean"] == pytest.approx(root.height / square.height)


def test_a_router_asks_the_lowest_one_over_which_it_has_no_path() -> None:
    active = examples.indirect_links()
    assert examples.indirect_request(active, 6, 7) == 1
    more = active.copy()
    more[1, 7] = more[7, 1] = True
    assert examples.indirect_request(more, 6, 7) == 2
    with pytest.raises(ValueError, match="all paths"):
        examples.indirect_request(~np.eye(8, dtype=bool), 6, 7)


def test_the_path_over_the_root_network_takes_four_hops() -> None:
    assert tcep.root_path(*tcep.FIG8) in ([5, 1, 0, 2, 10], [5, 4, 0, 8, 10], [5, 1, 0, 8, 10], [5, 4, 0, 2, 10])


@pytest.mark.parametrize("h", [2, 3, 6])
def test_under_adv_h_all_that_enters_a_router_goes_to_one_other(h: int) -> None:
    """In the palm-tree arrangement of global links, a group has 2 h routers.

    Under ADV+h, the traffic that enters an intermediate group over the h global links of a router leaves over the
    global links of a neighbouring router. Therefore each local link between neighbours carries this traffic, except at
    both ends of the group.
    """
    pairs = closed_forms.transit_links(h, shift=h)
    assert all(abs(into - on) == 1 for into, on in pairs[: 2 * h - 1])
    assert closed_forms.valiant_bound(h, h).over_transit == pytest.approx((2 * h * h - 1) / (2 * h * h) / h)


def test_the_dragonfly_has_the_links_of_the_formula() -> None:
    """The dragonfly of Fig. 1 has 9 groups with 6 local links each, and a link between any two groups."""
    drawn = ofar.fig1(NOTHING).numbers
    assert drawn is not None
    assert dict(drawn.group_by("kind").len().rows()) == {"local link": 9 * 6, "global link": 9 * 8 // 2}


def test_the_routers_of_the_tori_have_the_ports_of_table_2() -> None:
    drawn = torus.fig1(NOTHING).numbers
    assert drawn is not None
    assert dict(drawn.group_by("panel").len().rows()) == {"3D-1X": 7, "2D-4X": 20, "1D-16X": 48}


def test_flex_has_its_links_and_its_cables() -> None:
    """The network has Nx Ny Nz (Nx + Ny - 2) links (equation 7).

    A router of three layers of 3x3 has 2 (2 + 2) links.
    """
    drawn = flex.fig2(NOTHING).numbers
    assert drawn is not None
    assert drawn.height == 3 * 3 * 3 * (3 + 3 - 2)
    assert drawn.filter(pl.col("kind") != "other links").height == 8
    assert flex.cables()["cables"].sum() == 6 * 6 * 3 * (6 + 6 - 2)
