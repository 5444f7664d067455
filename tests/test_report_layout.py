"""Tests how reports lay out drawings of networks: positions of routers, and bends of links."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from weft.report import springs
from weft.report.layout import lay_out


def network(
    kind: str, routers: list[list[int]], widths: list[int] | None = None, levels: list[int] | None = None
) -> dict[str, Any]:
    return {"kind": kind, "routers": routers, "widths": widths or [], "levels": levels}


def grid(widths: list[int]) -> list[list[int]]:
    """Return the coordinates of all routers of a grid; dimension 0 changes fastest."""
    return [list(reversed(digits)) for digits in product(*(range(width) for width in reversed(widths)))]


def ends(links: list[tuple[int, int]]) -> tuple[Any, Any]:
    both = np.asarray(links, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def rows_of(digits: list[list[int]]) -> list[tuple[int, int]]:
    """Return the links of a HyperX, which connect routers that differ in one digit."""
    pairs = combinations(range(len(digits)), 2)
    return [(a, b) for a, b in pairs if sum(x != y for x, y in zip(digits[a], digits[b], strict=True)) == 1]


@pytest.mark.parametrize("widths", [[4, 3], [3, 3, 3], [2, 3, 2, 2], [2, 2, 2, 2, 2]])
def test_no_two_routers_of_a_grid_stand_in_one_place(widths: list[int]) -> None:
    digits = grid(widths)
    drawn = lay_out(network("grid", digits, widths), len(digits), *ends(rows_of(digits)))
    assert len({(round(x, 6), round(y, 6)) for x, y in zip(drawn.x, drawn.y, strict=True)}) == len(digits)


def test_a_butterfly_has_rows_and_columns() -> None:
    digits = grid([4, 3])
    drawn = lay_out(network("grid", digits, [4, 3]), 12, *ends(rows_of(digits)))
    for router, (column, row) in enumerate(digits):
        assert drawn.x[router] == pytest.approx(column * drawn.x[1])
        assert drawn.y[router] == pytest.approx(row * drawn.y[4])


def test_links_over_other_routers_bend_around_them_and_all_to_one_side() -> None:
    digits = grid([5, 2])
    links = rows_of(digits)
    for turned in (links, [(b, a) for a, b in links]):
        start, end = ends(turned)
        drawn = lay_out(network("grid", digits, [5, 2]), 10, start, end)
        far = np.abs(np.asarray(digits)[start] - np.asarray(digits)[end]).max(axis=1)
        assert ((drawn.bend != 0) == (far > 1)).all()
        level = drawn.y[start] == drawn.y[end]
        # a positive bend is to the left of the link's direction, which is up for a link that points right
        to_the_right = np.sign(drawn.x[end] - drawn.x[start])
        assert (drawn.bend * to_the_right >= 0)[level].all()
        assert np.abs(drawn.bend).max() < 1, "an arc would touch the next row"
        reach = {int(steps): abs(bend) for steps, bend in zip(far[level], drawn.bend[level], strict=True)}
        assert reach[2] < reach[3] < reach[4]


def test_a_ring_and_a_full_mesh_are_circles_but_a_line_is_a_line() -> None:
    ring = lay_out(network("grid", grid([6]), [6]), 6, *ends([(k, (k + 1) % 6) for k in range(6)]))
    assert np.hypot(ring.x, ring.y) == pytest.approx([1.0] * 6), "neighbours on a hexagon are as far as its middle"
    line = lay_out(network("grid", grid([6]), [6]), 6, *ends([(k, k + 1) for k in range(5)]))
    assert set(line.y) == {0.0}


def test_the_spines_of_a_group_stand_inside_its_leaves() -> None:
    leaves, spines = 4, 3
    places = [[group, index] for group in range(5) for index in range(leaves + spines)]
    levels = [int(index >= leaves) for _, index in places]
    drawn = lay_out(network("groups", places, levels=levels), len(places), *ends([(0, 4)]))
    at = np.stack([drawn.x, drawn.y], axis=1).reshape(5, leaves + spines, 2)
    middles = at[:, :leaves].mean(axis=1)
    from_middle = np.hypot(*np.moveaxis(at - middles[:, None], 2, 0))
    assert from_middle[:, leaves:].max() <= from_middle[:, :leaves].min() - 0.999
    apart = np.hypot(*(at.reshape(-1, 1, 2) - at.reshape(1, -1, 2)).transpose(2, 0, 1))
    assert apart[np.triu_indices(len(places), 1)].min() > 0.9


def test_groups_stand_on_a_circle_and_do_not_overlap() -> None:
    places = [[group, index] for group in range(9) for index in range(4)]
    drawn = lay_out(network("groups", places), 36, *ends([(0, 4)]))
    at = np.stack([drawn.x, drawn.y], axis=1).reshape(9, 4, 2)
    middles = at.mean(axis=1)
    assert np.hypot(*middles.T) == pytest.approx([np.hypot(*middles[0])] * 9)
    radius = max(np.hypot(*(at - middles[:, None]).reshape(-1, 2).T))
    apart = min(np.hypot(*(a - b)) for a, b in combinations(middles, 2))
    assert apart > 2 * radius


def test_levels_of_a_tree_are_rows_with_the_leaves_below() -> None:
    places = [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [2, 0]]
    drawn = lay_out(network("levels", places), 7, *ends([(0, 4)]))
    assert drawn.y[0] > drawn.y[4] > drawn.y[6]
    assert len(set(drawn.y[:4])) == 1
    assert drawn.x[6] == pytest.approx(np.mean(drawn.x[:4])), "the root stands above the middle"


def test_neighbours_in_a_graph_stand_closer_than_others() -> None:
    side = 8
    links = [(k, k + 1) for k in range(side**2) if (k + 1) % side] + [(k, k + side) for k in range(side * (side - 1))]
    drawn = lay_out(network("graph", []), side**2, *ends(links))
    at = np.stack([drawn.x, drawn.y], axis=1)
    distance = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    joined = np.mean([distance[a, b] for a, b in links])
    assert joined < 0.5 * distance[np.triu_indices(side**2, 1)].mean()
    again = lay_out(network("graph", []), side**2, *ends(links))
    assert (again.x == drawn.x).all()
    assert (again.y == drawn.y).all()


@pytest.mark.parametrize("routers", [1, 2, 3, 5000])
def test_any_number_of_routers_has_places(routers: int) -> None:
    links = [(k, k + 1) for k in range(routers - 1)]
    x, y = springs.place(routers, *ends(links))
    assert len({(round(a, 9), round(b, 9)) for a, b in zip(x, y, strict=True)}) == routers
    assert np.isfinite(x).all()
    assert np.isfinite(y).all()


def test_parts_that_are_not_joined_have_places() -> None:
    x, y = springs.place(6, *ends([(0, 1), (1, 2), (3, 4), (4, 5)]))
    assert np.isfinite(x).all()
    assert np.isfinite(y).all()
