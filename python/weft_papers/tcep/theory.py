"""Judges claims that need no simulation: path counts, worked examples, the bound of active links, a router's cost."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from weft.analysis import bound, examples, paths
from weft.analysis.overhead import overhead
from weft_papers.common.measured import LackingError
from weft_papers.common.questions import greatest
from weft_papers.common.rules import ARITHMETIC, approx, constructed, exact, trend, untestable
from weft_papers.tcep.example_figures import utilisations
from weft_papers.tcep.links import ROUTERS, TERMINALS
from weft_papers.tcep.path_figures import FIG3_COUNT, FIG3B, FIG4_COUNT, SAMPLES, placements, ratios

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# Printed lower bound of active links in Fig. 12: for each claim, the load, and text with the share and the number of
# links.
_BOUNDS = {
    "T-049": (0.05, "0.0952 (48 of 496)"),
    "T-050": (0.1, "0.1818 (91 of 496)"),
    "T-051": (0.2, "0.3333 (166 of 496)"),
    "T-052": (0.3, "0.4615 (229 of 496)"),
    "T-053": (0.4, "0.5714 (284 of 496)"),
    "T-054": (0.41, "0.5816 (289 of 496)"),
    "T-055": (0.5, "0.6667 (331 of 496)"),
    "T-056": (0.6, "0.75 (372 of 496)"),
    "T-057": (0.7, "0.8235 (409 of 496)"),
    "T-058": (0.8, "0.8889 (441 of 496)"),
    "T-059": (0.9, "0.9474 (470 of 496)"),
}
# The curve of Fig. 4 counts as falling if no value exceeds the previous value by more than this random variation.
_NOISE = 0.01


def _concentrated(_: Measured) -> tuple[bool, str]:
    counts = paths.count(placements().concentrated)
    text = f"{int(counts[FIG3_COUNT])} with at most two paths per pair, {int(counts['all'])} with all"
    return int(counts[FIG3_COUNT]) == 56, text


def _distributed(_: Measured) -> tuple[bool, str]:
    found = placements()
    text = f"{FIG3B} in {found.fits} placements with at most two paths per pair; all: {found.least} to {found.most}"
    return found.fits > 0, text


def _fewest(_: Measured) -> tuple[bool, str]:
    least = paths.least(placements().concentrated)
    unlinked, any_pair = int(least["two_hop_unlinked"]), int(least["paths"])
    text = f"{unlinked} two-hop paths of a pair without a link; {any_pair} paths of any pair, including its direct link"
    return unlinked >= 2 and any_pair >= 2, text


def _fig4(measured: Measured, count: str = FIG4_COUNT) -> pl.DataFrame:
    frame = ratios(SAMPLES[measured.quick]).filter(pl.col("count") == count).sort("active_share")
    if frame.is_empty():
        raise LackingError(f"there are no counts of {count}")
    return frame.drop_nulls("ratio")


def _peak(measured: Measured) -> float:
    return greatest(_fig4(measured), "ratio")


def _shrinks(measured: Measured) -> tuple[bool, str]:
    values = _fig4(measured)["ratio"].to_list()
    tail = values[values.index(max(values)) :]
    falls = all(after <= before + _NOISE for before, after in pairwise(tail))
    return falls and abs(tail[-1] - 1) < _NOISE, f"from {tail[0]:.2f} at its peak to {tail[-1]:.2f} with all links on"


def _dropped(_: Measured) -> str:
    sums = utilisations()
    return f"{sums['before']:.3g} -> {sums['naive']:.3g} (naive) vs {sums['type_aware']:.3g} (type-aware)"


def _parted(_: Measured) -> str:
    parted = examples.partition(examples.FIG6)
    return f"{parted.inner_budget:.2g} vs {parted.outer_utilisation:.2g}"


def _inequality(_: Measured) -> tuple[bool, str]:
    """Judge if both sides of the paper's inequality are equal at the bound, which must be R - 1 links at load 0."""
    loads = [load for load, _ in _BOUNDS.values()]
    left, right = [], []
    for load in loads:
        share = bound.active_share(load, ROUTERS, TERMINALS)
        left.append(TERMINALS * load / 2 * (share + 2 * (1 - share)))
        right.append(ROUTERS**2 / 2 * share)
    apart = max(abs(a / b - 1) for a, b in zip(left, right, strict=True))
    floor = bound.active_links(0.0, ROUTERS, TERMINALS)
    text = f"both sides agree to {apart:.0e} at {len(loads)} loads; {floor} links at load 0"
    return apart < 1e-9 and floor == ROUTERS - 1, text


def _bound(load: float) -> Callable[[Measured], str]:
    def answer(_: Measured) -> str:
        share = round(bound.active_share(load, ROUTERS, TERMINALS), 4)
        return f"{share:g} ({bound.active_links(load, ROUTERS, TERMINALS)} of {ROUTERS * (ROUTERS - 1) // 2})"

    return answer


def _updates(_: Measured) -> tuple[bool, str]:
    cases = [(dimensions, routers) for dimensions in (1, 2, 3) for routers in (4, 8, 16)]
    updates = [overhead(64, routers, dimensions=d).table_updates_per_epoch for d, routers in cases]
    return updates == [d * k / 2 for d, k in cases], "N_d * k / 2 in 9 networks"


def _control(_: Measured) -> tuple[bool, str]:
    cases = (4, 8, 22)
    packets = [overhead(64, routers).control_packets_per_epoch for routers in cases]
    text = ", ".join(f"{each} for k = {k}" for each, k in zip(packets, cases, strict=True))
    return packets == [1 + 1 + k - 1 for k in cases], text


_OF_PATHS = (
    "the ratio depends on the counted paths: 1.76 with the direct path and paths of two hops, 1.85 with paths of two "
    "hops, 2.03 with paths of two hops between routers without a link"
)
RULES: dict[str, Rule] = {
    "T-015": constructed(trend("56 paths, with at most two per pair", _concentrated)),
    "T-016": constructed(trend("a distributed placement has 40 paths, with at most two per pair", _distributed)),
    "T-017": trend("2 paths or more for every pair", _fewest),
    "T-018": approx(1.93, _peak, within=ARITHMETIC, unit="times the paths", cause=_OF_PATHS),
    "T-019": constructed(exact(1.0, lambda measured: float(_fig4(measured)["ratio"][0]), digits=3)),
    "T-020": trend("after its peak the ratio falls, to 1 with all links on", _shrinks),
    "T-021": constructed(exact("0.55 -> 0.7 (naive) vs 0.55 (type-aware)", _dropped)),
    "T-022": constructed(exact("1.9 vs 1.2", _parted)),
    "T-026": constructed(trend("N_d * k / 2 updates", _updates)),
    "T-048": constructed(trend("the bound solves the printed inequality, with R - 1 links at least", _inequality)),
    **{name: constructed(exact(words, _bound(load))) for name, (load, words) in _BOUNDS.items()},
    "T-083": constructed(exact(144.0, lambda _: float(overhead(64).counter_bits_per_link), unit="bits")),
    "T-084": constructed(exact(1.2, lambda _: overhead(64).router_bytes / 1000, digits=1, unit="KB")),
    "T-085": untestable("the paper does not print the storage of YARC; only its share implies this number: 177 KB"),
    "T-086": constructed(exact(11.0, lambda _: float(overhead(64).request_bits), unit="bits")),
    "T-087": constructed(exact(10648.0, lambda _: float(overhead(64).largest_network_terminals), unit="terminals")),
    "T-088": constructed(trend("1 request, 1 response and k - 1 broadcasts", _control)),
}
