"""Stores the measurements of a paper: for each experiment, a frame with one row for each finished point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class LackingError(Exception):
    """A run that a figure or a claim needs is missing. The text of the error names the run."""


def unsettled() -> pl.Expr:
    """Make the condition for a point that is not saturated, but whose latencies or power states had not settled.

    If the length of the warm-up is fixed, a point counts as unsettled if its latencies grow during the window.
    """
    late = pl.any_horizontal(~pl.col("warmup_settled"), ~pl.col("power_settled"), pl.col("unsettled"))
    late = late.fill_null(value=False)
    return ~pl.col("saturated") & late


@dataclass(frozen=True, eq=False)
class Measured:
    """The measurements of a reproduction: a frame for each experiment that was run.

    Objects are compared by identity, not by contents. Therefore functions can use an object as the key of a cache.

    Attributes
    ----------
    frames : mapping of str to polars.DataFrame
        Frame of each experiment, by its name. Experiments that were not run are missing. Each frame has the columns
        ``saturated``, ``warmup_settled``, ``power_settled`` and ``derived`` (whether a row was computed from another
        row, not run).
    quick : bool
        Whether the run was quick: fewer loads and shorter windows. Analyses without simulation should then also use
        fewer samples.
    """

    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    quick: bool = True

    def __getitem__(self, experiment: str) -> pl.DataFrame:
        """Return the frame of an experiment, with one row for each finished point.

        Raises
        ------
        LackingError
            If the experiment was not run.
        """
        if experiment not in self.frames:
            raise LackingError(f"the experiment {experiment} was not run")
        return self.frames[experiment]

    def unsettled(self, experiments: Iterable[str]) -> str:
        """Return a string that counts the unsettled points of each experiment; empty if all points had settled."""
        ran = {name: self[name].filter(~pl.col("derived")) for name in experiments}
        found = {name: (frame.filter(unsettled()).height, frame.height) for name, frame in ran.items()}
        texts = (f"{name}: {late} of {all_} points had not settled" for name, (late, all_) in found.items() if late)
        return ", ".join(texts)

    def has(self, experiments: Iterable[str]) -> bool:
        """Return whether all experiments with these names were run."""
        return all(name in self.frames for name in experiments)
