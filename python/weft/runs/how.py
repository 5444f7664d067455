"""Settings of runs, for runs in this process and for workers on other machines."""

from __future__ import annotations

from dataclasses import dataclass

from weft.runs.checkpoints import Every


@dataclass(frozen=True)
class How:
    """Settings of a run that do not change the results of a point.

    Attributes
    ----------
    threads, blocks : int
        As for `weft.Sweep.run`.
    force : bool
        Whether finished points are run again.
    force_memory : bool
        Whether a point is run even if it needs more memory than its machine has free.
    checkpoint_every : str, optional
        As for `weft.Sweep.run`.
    plain : bool
        As for `weft.Sweep.run`.

    Raises
    ------
    ScenarioError
        If `checkpoint_every` can't be read.
    """

    threads: int = 1
    blocks: int = 0
    force: bool = False
    force_memory: bool = False
    checkpoint_every: str | None = None
    plain: bool = False

    def __post_init__(self) -> None:
        if self.checkpoint_every is not None:
            Every.of(self.checkpoint_every)

    @property
    def every(self) -> Every | None:
        """Interval at which points write checkpoints; ``None`` if they write none."""
        return None if self.checkpoint_every is None else Every.of(self.checkpoint_every)
