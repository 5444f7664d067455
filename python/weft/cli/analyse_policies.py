"""``weft analyse policies`` finds the power policy with the least energy that lengthens runs only a little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.cli import arguments
from weft.errors import WeftError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import polars as pl

ABOUT = "the policy with the least energy to solution that adds little run time, and its distance from a floor"
EXAMPLE = "results/trunk_fabrics --slower 0.01"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this analysis."""
    parser.add_argument("results", metavar="DIR", help="folder of results of a sweep over power policies")
    slower = "extra run time allowed for a policy, as a share of the run time with links always on (default: 0.01)"
    parser.add_argument("--slower", metavar="S", type=float, default=0.01, help=slower)
    for name, does in (("wake", "wake"), ("sleep", "turn off")):
        about = f"time of a link of a trunk to {does}, for the reference that pays for changes, such as 4160ns"
        parser.add_argument(f"--{name}", metavar="TIME", type=arguments.short_time, help=about)


def answer(options: argparse.Namespace) -> tuple[pl.DataFrame, Sequence[str]]:
    """The frame of the analysis, and the notes below it."""
    from weft.analysis import least_energy
    from weft.cli import folders

    if (options.wake is None) != (options.sleep is None):
        raise WeftError.saying("--wake and --sleep are only valid together", "write both, or neither")
    changes = None if options.wake is None else (options.wake, options.sleep)
    frame = least_energy.table(folders.opened(options.results), options.slower, changes)
    notes = [
        f"policy: least energy to solution among the policies with at most {100 * options.slower:g} % more run time",
        "time, energy: relative to links always on, means over seeds; +-: half of the 95 % confidence interval",
        "floor: energy, relative to links always on, if all links of a trunk except one need no static energy",
        "above: energy / floor - 1; less than 0 for a policy that also turns off the last link of a trunk",
    ]
    if frame["flawed"].sum():
        notes.append("flawed: policies that are left out, because `weft run` marks a point of theirs")
    if changes is None:
        return frame, notes
    oracle = "oracle: knows the traffic of each sample, keeps the links that carry it, and pays for each change"
    return frame, [*notes, oracle]
