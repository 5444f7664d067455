"""What the experiments of a paper measured: one frame each, with a row per finished point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl


class LackingError(Exception):
    """What a figure or a claim looks at was not run; the text says what."""


@dataclass(frozen=True)
class Measured:
    """Frames of experiments.

    Attributes
    ----------
    frames : mapping of str to polars.DataFrame
        By the name of the experiment; one that was not run is missing.
    quick : bool
        Whether fewer loads and shorter windows were run, so that analyses should take fewer samples, too.
    """

    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    quick: bool = True

    def __getitem__(self, experiment: str) -> pl.DataFrame:
        """The frame of an experiment.

        Raises
        ------
        LackingError
            If it was not run.
        """
        if experiment not in self.frames:
            raise LackingError(f"the experiment {experiment} was not run")
        return self.frames[experiment]

    def has(self, experiments: Iterable[str]) -> bool:
        """Whether all of these were run."""
        return all(name in self.frames for name in experiments)
