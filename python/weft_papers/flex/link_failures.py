"""Computes Table 5: links that can fail before a network is disconnected, and the gain of FleX over HyperX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.design import resilience
from weft_papers.common.rules import Finding, Rule, approx
from weft_papers.flex.networks import DRAGONFLY, FAT_TREE, FLEX, HYPERX, NETWORKS, OF_SIZE, SIZES, SLIM_FLY, measured

if TYPE_CHECKING:
    from weft_papers.common.measured import Measured

# Printed percentages of links that can fail, in the order of `SIZES`. The paper has no entry for a Slim Fly of about
# 1,000 terminals.
_PRINTED: dict[str, tuple[int | None, ...]] = {
    FAT_TREE: (45, 45, 55, 60, 65),
    DRAGONFLY: (50, 55, 60, 65, 65),
    HYPERX: (70, 75, 80, 80, 80),
    SLIM_FLY: (60, None, 70, 70, 75),
    FLEX: (70, 75, 80, 80, 85),
}
_HALF = 0.5
# Half of the step between two shares of failed links that are tested: a step is 5 % of all links [% of all links].
_HALF_STEP = 2.5


def _tolerated(name: str, size: int) -> int:
    """Return the percentage of links that can fail before a network of about `size` terminals is disconnected."""
    return round(100 * resilience.tolerated(measured(OF_SIZE[name][size]).failures))


def table_5(_: Measured) -> pl.DataFrame:
    """Make Table 5: the printed and the computed percentage of links that can fail."""
    return pl.DataFrame(
        [
            {"terminals, about": size}
            | {
                f"{name}{word} [%]": value
                for name in NETWORKS
                for word, value in ((", printed", _PRINTED[name][place]), ("", _tolerated(name, size)))
            }
            for place, size in enumerate(SIZES)
        ]
    )


def _near_half(name: str, size: int, found: int, printed: int) -> str:
    """Return text that says if random variation explains that the printed and the computed share differ by one step.

    Random variation explains the difference if about half of the trials stay connected at the higher of the two shares.
    """
    step = max(found, printed) / 100
    row = measured(OF_SIZE[name][size]).failures.filter((pl.col("failed_share") - step).abs() < 1e-6).row(0, named=True)
    low, high = row["connected_low_share"], row["connected_high_share"]
    text = f"at {step:.0%} {row['connected_share']:.0%} of the trials are connected ({low:.0%} to {high:.0%} at 95 %)"
    return (
        f"{text}: the difference of one step is chance"
        if low <= _HALF <= high
        else f"{text}: not isolated: tried the interval of the trials"
    )


def _rule(name: str, size: int, printed: int) -> Rule:
    def judge(_: Measured) -> Finding:
        found = _tolerated(name, size)
        text = f"{found} %"
        if found != printed:
            text += f"; {_near_half(name, size, found, printed)}"
        if abs(found - printed) <= _HALF_STEP:
            return Finding("met", text, float(found))
        off = f"{found} % is {abs(found - printed)} points off {printed} %, but only half a step is allowed"
        return Finding("missed", text, float(found), off, _near_half(name, size, found, printed))

    return Rule(f"within half a step, {_HALF_STEP:g} points, of {printed} %", (), judge)


def _gain(_: Measured) -> tuple[float, str]:
    """Return FleX's tolerated failures minus HyperX's [% of the links], as a mean over sizes, and text on each size."""
    found = [_tolerated(FLEX, size) - _tolerated(HYPERX, size) for size in SIZES]
    text = ", ".join(f"{gain:+d} at {size:,}" for gain, size in zip(found, SIZES, strict=True))
    return sum(found) / len(found), f"by number of terminals: {text}"


def _rows() -> dict[str, Rule]:
    """Make the rules for the claims of Table 5, row by row."""
    cells = [(name, size, _PRINTED[name][place]) for place, size in enumerate(SIZES) for name in NETWORKS]
    known = [(name, size, printed) for name, size, printed in cells if printed is not None]
    return {f"F-{number:03}": _rule(*cell) for number, cell in enumerate(known, 45)}


RULES: dict[str, Rule] = {
    **_rows(),
    "F-139": approx(
        5.0,
        _gain,
        unit="points more than HyperX",
        cause="in the paper's Table 5 FleX also tolerates more only at 10,000 terminals",
    ),
}
