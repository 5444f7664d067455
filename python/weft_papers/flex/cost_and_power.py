"""Computes cost and power (Table 6, Figs. 6 and 15) at the default prices of `weft design`, as in the paper.

The paper says that routers and terminals share racks, and that cables of terminals are 1 m long. Other cables are as
long as the Manhattan distance between their racks plus 2 m. The paper's row of the fat tree in Table 6 mixes the
numbers of two trees. Terminals, routers and links are those of the 10-ary 3-tree that the paper simulates. Cost and
power are those of a tree of pods with 16-port routers.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from weft.design import price_list
from weft.design.measured_design import Assumptions
from weft.design.packaging import Packaging
from weft_papers.common import line_figures
from weft_papers.common.line_figures import Series
from weft_papers.common.rules import ARITHMETIC, UNKNOWN, Part, approx, constructed, exact, trend, untestable
from weft_papers.flex.networks import (
    DRAGONFLY,
    FAT_TREE,
    FLEX,
    HYPERX,
    K_ARY_TREE,
    LARGER,
    NETWORKS,
    OF_SIZE,
    SIZES,
    SLIM_FLY,
    TABLE_6,
    flex,
    measured,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule
    from weft_papers.flex.networks import Topology

_LARGER = "FleX 8x8x3"
# Printed values of Table 6, and of section IV-B for FleX 8x8x3: terminals, routers, ports, links, cost [$], power [W].
_PRINTED = {
    FAT_TREE: (1000, 300, 20, 2000, 6.88e6, 14336),
    DRAGONFLY: (1056, 264, 15, 1452, 5.16e6, 11088),
    HYPERX: (1000, 100, 28, 900, 2.75e6, 7840),
    SLIM_FLY: (972, 162, 20, 1053, 3.48e6, 8618),
    FLEX: (1080, 108, 30, 1080, 3.05e6, 9072),
    _LARGER: (960, 192, 33, 2688, 5.49e6, 17740),
}
# Bandwidth of a cable in the default price list, which has prices of EDR [Gb/s].
_EDR_GBPS = 100
# Costs differ "slightly" if they differ by at most this share.
_SLIGHTLY = 0.25
_MEGA = 1e6
# Slope and intercept of two lines of the FDR10 price list: the price of a cable [$ per Gb/s] over its length [m], and
# the price of a router [$] over its number of ports. Source: M. Besta, T. Hoefler, "Slim Fly" (SC'14), optical
# cables and switches. The paper prints no line for FDR, but cites this slope of the routers.
_FDR10_CABLE, _FDR10_ROUTER = (0.0919, 7.2745), (350.4, -892.3)


def _network(name: str) -> Topology:
    return LARGER if name == _LARGER else TABLE_6[name]


def _simulated(name: str) -> Topology:
    """Return the network of a row of Table 6. For the fat tree, this is the tree that the paper simulates."""
    return _network(K_ARY_TREE if name == FAT_TREE else name)


def _cost(topology: Topology) -> float:
    return float(measured(topology).money["cost_usd"])


def _power(topology: Topology) -> float:
    return measured(topology).power_w


def _per_terminal(of: Callable[[Topology], float], topology: Topology) -> float:
    return of(topology) / int(measured(topology).facts["terminals"])


def _counts(name: str) -> Callable[[Measured], str]:
    """Make the function that returns text with the number of routers, ports and links of a network."""

    def answer(_: Measured) -> str:
        found = measured(_simulated(name))
        return f"{found.facts['routers']:,}; {found.facts['radix_ports']}; {len(found.links):,}"

    return answer


def _terminals(name: str) -> Callable[[Measured], float]:
    return lambda _: float(measured(_simulated(name)).facts["terminals"])


def _costs(name: str) -> Callable[[Measured], tuple[float, str]]:
    def answer(_: Measured) -> tuple[float, str]:
        money = measured(_simulated(name)).money
        words = f"{money['cost_usd'] - money['cost_terminal_cables_usd']:,.0f} $ without the cables to terminals"
        if name == FAT_TREE:
            words += f"; the tree of pods of 16 ports costs {_cost(TABLE_6[FAT_TREE]):,.0f} $"
        if name == SLIM_FLY:
            words += f"; with FleX's layout, 20 ports and without these cables {_in_a_row():,.0f} $"
        return money["cost_usd"] / _MEGA, words

    return answer


@cache
def _in_a_row() -> float:
    """Compute the cost of Slim Fly if its racks are laid out like FleX's racks [$].

    Each group of routers has a rack, the racks form a row, and the routers of a rack are one above the other.

    The length of a cable is the Manhattan distance between its routers plus 2 m. Routers have 20 ports, as printed.
    """
    network = measured(TABLE_6[SLIM_FLY])
    near, far = (network.links[:, end].astype(int) for end in (0, 1))
    high = 2 * TABLE_6[SLIM_FLY]["slim_fly"]["q"]
    metres = abs(near // high - far // high) + abs(near % high - far % high) + Packaging().overhead_m
    prices = price_list.default()
    routers = int(network.facts["routers"]) * prices.router.at(_PRINTED[SLIM_FLY][2])
    return float(routers + _EDR_GBPS * sum(prices.cable.at(length) for length in metres))


def _powers(name: str) -> Callable[[Measured], str]:
    return lambda _: f"{_power(_simulated(name)):,.0f} W"


def table_6(_: Measured) -> pl.DataFrame:
    """Make Table 6: printed and computed sizes, cost and power of all networks, among them the two fat trees."""
    rows = []
    for name in (FAT_TREE, K_ARY_TREE, DRAGONFLY, HYPERX, SLIM_FLY, FLEX, _LARGER):
        found, printed = measured(_network(name)), _PRINTED.get(name)
        facts, money = found.facts, found.money
        rows.append(
            {
                "network": "Fat tree (16-ary pods)" if name == FAT_TREE else name,
                "terminals": facts["terminals"],
                "routers": facts["routers"],
                "ports": facts["radix_ports"],
                "links": len(found.links),
                "cost, printed [M$]": printed and printed[4] / _MEGA,
                "cost [M$]": round(money["cost_usd"] / _MEGA, 3),
                "without cables of terminals [M$]": round(
                    (money["cost_usd"] - money["cost_terminal_cables_usd"]) / _MEGA, 3
                ),
                "power, printed [W]": printed and printed[5],
                "power [W]": round(found.power_w, 1),
            }
        )
    return pl.DataFrame(rows)


def _over_size(title: str, y: str, of: Callable[[Topology], float], unit: float) -> Callable[[Measured], Drawing]:
    def drawn(_: Measured) -> Drawing:
        series = [
            Series(
                name,
                [float(measured(OF_SIZE[name][size]).facts["terminals"]) for size in SIZES],
                [of(OF_SIZE[name][size]) / unit for size in SIZES],
            )
            for name in NETWORKS
        ]
        return line_figures.curves(title, "Terminals [count]", y, series, looks=NETWORKS)[0]

    return drawn


cost_figure = _over_size("Fig. 6c: cost over terminals", "Cost [M$]", _cost, _MEGA)
power_figure = _over_size("Fig. 6d: power of routers over terminals", "Power [kW]", _power, 1000)


def _on(line: tuple[float, float], size: float) -> float:
    """Return the price of a cable or router of a given size, from the slope and intercept of its price line."""
    slope, intercept = line
    return slope * size + intercept


def cable_figure(_: Measured) -> Drawing:
    """Draw Fig. 6a: the price of a cable over its length."""
    line, metres = price_list.default().cable, [0.0, 25.0, 50.0, 75.0, 100.0]
    series = [
        Series("EDR, 100 Gb/s", metres, [line.at(length) for length in metres]),
        Series("FDR10, 40 Gb/s", metres, [_on(_FDR10_CABLE, length) for length in metres]),
    ]
    return line_figures.curves("Fig. 6a: cost of cables", "Length [m]", "Cost [$ per Gb/s]", series)[0]


def router_figure(_: Measured) -> Drawing:
    """Draw Fig. 6b: the price of a router over its number of ports."""
    line, ports = price_list.default().router, [8.0, 18.0, 36.0, 72.0, 108.0]
    series = [
        Series("EDR", ports, [line.at(count) / 1000 for count in ports]),
        Series("FDR10", ports, [_on(_FDR10_ROUTER, count) / 1000 for count in ports]),
    ]
    return line_figures.curves("Fig. 6b: cost of routers", "Ports [count]", "Cost [1,000 $]", series)[0]


# Terminals per router of FleX, HyperX 6x6 and HyperX 6x6x6 in Fig. 15, in two interpretations. The paper gives no
# number for Fig. 15; for Fig. 16 it gives 1.
_EACH = {"1 terminal per router": (1, 1, 1), "full global bandwidth": (10, 5, 7)}


def _grown(each: tuple[int, int, int]) -> tuple[dict[str, Topology], list[Topology]]:
    """Return the networks of Fig. 15, all of width 6: HyperX of two and three dimensions, and FleX of 3 to 7 layers."""
    flexes, flat, cube = each
    rivals: dict[str, Topology] = {
        f"HyperX {len(widths)}D": {"hyperx": {"widths": widths, "terminals_per_router": terminals}}
        for widths, terminals in (([6, 6], flat), ([6, 6, 6], cube))
    }
    return rivals, [flex(6, layers, terminals=flexes) for layers in range(3, 8)]


def layers_figure(_: Measured) -> Drawing:
    """Draw Fig. 15: cost of FleX over its number of layers, compared with HyperX."""
    series, layers = [], [3.0, 4.0, 5.0, 6.0, 7.0]
    for words, each in _EACH.items():
        rivals, flexes = _grown(each)
        series.append(Series(f"FleX, {words}", layers, [_cost(topology) / _MEGA for topology in flexes]))
        series += [
            Series(f"{name}, {words}", [3.0, 7.0], [_cost(topology) / _MEGA] * 2) for name, topology in rivals.items()
        ]
    drawing, axes = line_figures.curves("Fig. 15: cost over layers", "Layers [count]", "Cost [M$]", series)
    axes.set_xlim(2.5, 7.5)
    return drawing


def _of_table_6() -> float:
    """Return the cost of a three-dimensional HyperX, with width and terminals per router as HyperX in Table 6 [M$]."""
    return _cost({"hyperx": {"widths": [10, 10, 10], "terminals_per_router": 10}}) / _MEGA


def wider(_: Measured) -> str:
    """Return the remark on Fig. 15: with a larger HyperX, the order of costs would be as the paper prints it."""
    return (
        f"HyperX 10x10x10 with 10 terminals per router, as wide as in Table 6, costs {_of_table_6():.1f} M$, more "
        "than all other networks of this figure. The figure omits it, because the other curves would be "
        "indistinguishable."
    )


def _size_decides(holds: bool) -> str:
    """Return the cause of a missed claim on Fig. 15, if a larger three-dimensional HyperX would meet the claim."""
    other = f"HyperX 10x10x10 with 10 terminals per router, as wide as in Table 6, costs {_of_table_6():.2f} M$"
    return (
        f"the size of the HyperX, which Fig. 15 does not give: {other}, and meets the claim; in Figs. 16 and 17 the "
        "HyperX has as many routers as FleX of 6 layers, so it is 6x6x6"
        if holds
        else ""
    )


def _between(_: Measured) -> list[Part]:
    """Judge if FleX with 4 to 7 layers costs more than FleX with 3 layers, and less than a three-dimensional HyperX."""
    parts = []
    for words, each in _EACH.items():
        rivals, flexes = _grown(each)
        costs, most = [_cost(topology) / _MEGA for topology in flexes], _cost(rivals["HyperX 3D"]) / _MEGA
        inside = all(costs[0] < cost < most for cost in costs[1:])
        text = ", ".join(f"{cost:.2f}" for cost in costs)
        cause = _size_decides(all(costs[0] < cost < _of_table_6() for cost in costs[1:]))
        parts.append(Part(inside, f"{words}: FleX of 3 to 7 layers {text} M$, HyperX 6x6x6 {most:.2f} M$", cause))
    return parts


def _dearer(_: Measured) -> list[Part]:
    dragonfly = _cost(TABLE_6[DRAGONFLY]) / _MEGA
    costs = {words: _cost(_grown(each)[0]["HyperX 3D"]) / _MEGA for words, each in _EACH.items()}
    return [
        Part(
            cost > dragonfly,
            f"HyperX 6x6x6, {words}: {cost:.2f} M$; dragonfly {dragonfly:.2f} M$",
            _size_decides(_of_table_6() > dragonfly),
        )
        for words, cost in costs.items()
    ]


def _ranked(of: Callable[[Topology], float], unit: str, *below: str) -> Callable[[Measured], list[Part]]:
    """Return the judge of a claim: per terminal, FleX's cost must be below that of each of `below`.

    It must also be slightly above that of Slim Fly.

    The networks have about equal numbers of terminals. `of` computes the cost, or the power if the claim is about
    power.
    """

    def parts(_: Measured) -> list[Part]:
        each = {name: [_per_terminal(of, OF_SIZE[name][size]) for size in SIZES] for name in NETWORKS}
        found = []
        for other in below:
            pairs = list(zip(each[FLEX], each[other], strict=True))
            text = ", ".join(f"{a / b - 1:+.0%}" for a, b in pairs)
            found.append(Part(all(a < b for a, b in pairs), f"FleX compared with {other}, {unit} per terminal: {text}"))
        pairs = list(zip(each[FLEX], each[SLIM_FLY], strict=True))
        text = ", ".join(f"{a / b - 1:+.0%}" for a, b in pairs)
        holds = all(0 < a / b - 1 <= _SLIGHTLY for a, b in pairs)
        found.append(Part(holds, f"FleX compared with {SLIM_FLY}, {unit} per terminal: {text}"))
        return found

    return parts


def _cable_line(_: Measured) -> str:
    line = price_list.default().cable
    return f"{line.slope:.4f}x+{line.intercept:.4f} $"


def _router_line(_: Measured) -> str:
    line = price_list.default().router
    return f"{line.slope:.0f}k+{line.intercept:.0f} $"


def _apart(_: Measured) -> float:
    """Return how much more FleX costs per terminal than HyperX, as a share of HyperX's cost."""
    return _per_terminal(_cost, TABLE_6[FLEX]) / _per_terminal(_cost, TABLE_6[HYPERX]) - 1


def _of_the_tree(_: Measured) -> tuple[float, str]:
    ours = _cost(TABLE_6[FLEX])
    share = ours / _cost(TABLE_6[FAT_TREE])
    return ours / _cost(TABLE_6[K_ARY_TREE]), f"{share:.3f} of the cost of the tree of pods of 16 ports"


_SIZES_WORDS = "at all sizes of Table 5"
_NO_PORT = "the paper prints 20 ports, but 6 terminals and 13 links need 19, and its own power is that of 19 ports"
_OTHER_TREE = (
    "the printed cost and power are those of a tree of pods of 16 ports, which has 1,024 terminals and 320 routers"
)
_COSTS = {
    FAT_TREE: _OTHER_TREE,
    DRAGONFLY: "the cables to terminals: without them the cost is 5.15 M$",
    SLIM_FLY: "the placement of routers in racks: with one router above the other in 9 racks in a row (as in FleX's "
    "layout), with 20 ports and without the cables to terminals the cost is 3.445 M$, 1.0 % below",
}
_UNSAID = "not isolated: tried 1 terminal per router, full global bandwidth, and HyperX 10x10x10 with 10 terminals"


def _table_6_rules() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for first, name in zip((78, 82, 86, 90, 94), NETWORKS, strict=True):
        terminals, routers, ports, links, cost, power = _PRINTED[name]
        counts = f"{routers}; {ports}; {links:,}"
        cause = _NO_PORT if name == SLIM_FLY else UNKNOWN
        rules |= {
            f"F-{first:03}": constructed(exact(float(terminals), _terminals(name), unit="terminals")),
            f"F-{first + 1:03}": exact(counts, _counts(name), cause=cause),
            f"F-{first + 2:03}": approx(
                cost / _MEGA, _costs(name), within=ARITHMETIC, unit="M$", cause=_COSTS.get(name, UNKNOWN)
            ),
            f"F-{first + 3:03}": exact(
                f"{power:,} W", _powers(name), cause=_OTHER_TREE if name == FAT_TREE else UNKNOWN
            ),
        }
    return rules


def _larger(_: Measured) -> str:
    found = measured(LARGER)
    facts = found.facts
    return f"{facts['terminals']}; {facts['routers']}; {facts['radix_ports']}; {len(found.links):,}"


RULES: dict[str, Rule] = {
    "F-074": constructed(exact("0.1167x+4.3410 $", _cable_line)),
    "F-075": constructed(exact("128k+15029 $", _router_line)),
    "F-076": untestable("a price of another paper, which no figure or claim of this paper uses"),
    "F-077": constructed(exact(2.8, lambda _: Assumptions().port_w, unit="W per port")),
    **_table_6_rules(),
    "F-098": exact(0.03, _apart, digits=2, unit="%"),
    "F-099": trend(
        f"per terminal and {_SIZES_WORDS} FleX costs less than HyperX and dragonfly, and up to 25 % more than Slim Fly",
        _ranked(_cost, "cost", HYPERX, DRAGONFLY),
        cause="Table 6 also contradicts the claim: FleX costs less than Slim Fly there, and more than HyperX",
    ),
    "F-100": trend(
        f"per terminal and {_SIZES_WORDS} FleX draws less than fat tree and dragonfly, up to 25 % more than Slim Fly",
        _ranked(_power, "power", FAT_TREE, DRAGONFLY),
        cause="in Table 6 FleX has more power in total than Slim Fly, 9,072 W instead of 8,618 W, but for 1,080 "
        "terminals instead of 972",
    ),
    "F-119": approx(
        0.5,
        _of_the_tree,
        within=ARITHMETIC,
        unit="of the cost of the fat tree",
        cause="the printed costs also give 0.443: 3.05 of 6.88",
    ),
    "F-122": exact("960; 192; 33; 2,688", _larger),
    "F-123": approx(5.49, _costs(_LARGER), within=ARITHMETIC, unit="M$"),
    "F-124": exact(17740.0, lambda _: _power(LARGER), digits=0, truncated=True, unit="W"),
    "F-137": trend("4 to 7 layers cost more than 3, and less than HyperX 6x6x6", _between, cause=_UNSAID),
    "F-138": trend("HyperX 6x6x6 costs more than the dragonfly of Table 6", _dearer, cause=_UNSAID),
}
