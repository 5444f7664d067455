"""The measurements of a paper's experiments: for each experiment, a frame with a row per finished point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class LackingError(Exception):
    """A run that a figure or a claim needs is missing. The text names it."""


def unsettled() -> pl.Expr:
    """Whether a point is not saturated, and was measured before its latencies or its power states had settled.

    If the warm-up had a fixed length, latencies that grow over the window are the sign of it.
    """
    late = pl.any_horizontal(~pl.col("warmup_settled"), ~pl.col("power_settled"), pl.col("unsettled"))
    late = late.fill_null(value=False)
    return ~pl.col("saturated") & late


@dataclass(frozen=True)
class Measured:
    """Frames of experiments.

    Attributes
    ----------
    frames : mapping of str to polars.DataFrame
        Frames by the name of the experiment. Experiments that were not run are missing. Each has the columns
        ``saturated``, ``warmup_settled``, ``power_settled`` and ``derived`` (whether a row was computed from another
        row, not run).
    quick : bool
        Whether fewer loads and shorter windows were run. Then analyses should also use fewer samples.
    """

    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    quick: bool = True

    def __getitem__(self, experiment: str) -> pl.DataFrame:
        """The frame of an experiment.

        Raises
        ------
        LackingError
            If the experiment was not run.
        """
        if experiment not in self.frames:
            raise LackingError(f"the experiment {experiment} was not run")
        return self.frames[experiment]

    def unsettled(self, experiments: Iterable[str]) -> str:
        """String with the number of points of these experiments that had not settled; empty if all had."""
        ran = {name: self[name].filter(~pl.col("derived")) for name in experiments}
        found = {name: (frame.filter(unsettled()).height, frame.height) for name, frame in ran.items()}
        texts = (f"{name}: {late} of {all_} points had not settled" for name, (late, all_) in found.items() if late)
        return ", ".join(texts)

    def has(self, experiments: Iterable[str]) -> bool:
        """Whether all these experiments were run."""
        return all(name in self.frames for name in experiments)
