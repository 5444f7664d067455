"""Computes how many random links can fail before a network is disconnected.

Source: FleX (IEEE Access 2022), section III-B, Table 5. In a trial, links fail one after the other in a random order.
After each step, for example after every 5 % of the links, Weft checks whether the network is still connected. The
network tolerates the largest share of failed links at which more than half of the trials are still connected. The
random orders do not depend on the size of the steps. Confidence intervals of shares are those of E. B. Wilson,
"Probable Inference, the Law of Succession, and Statistical Inference", JASA 22(158), 1927.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.errors import WeftError

if TYPE_CHECKING:
    import numpy.typing as npt

    from weft._engine import Design


@dataclass(frozen=True)
class Failures:
    """Parameters of the trials of link failures.

    Attributes
    ----------
    step : float
        Additional share of all links that fails in each step.
    trials : int
        Number of trials (random orders of the links).
    confidence : float
        Confidence level of the intervals of the shares, from 0 to 1.
    seed : int
        Seed of the random orders.
    """

    step: float = 0.05
    trials: int = 100
    confidence: float = 0.95
    seed: int = 1

    def __post_init__(self) -> None:
        if not (0 < self.step <= 1 and self.trials >= 1 and 0 < self.confidence < 1):
            what = f"failures in steps of {self.step}, {self.trials} trials, confidence {self.confidence}: out of range"
            raise WeftError.saying(
                what, "write a step above 0 and up to 1, 1 trial or more, and a confidence between 0 and 1"
            )

    def shares(self) -> npt.NDArray[np.float64]:
        """The shares of failed links (above 0) at which Weft checks whether the network is still connected."""
        steps = np.arange(1, math.floor(1 / self.step + 1e-9) + 1, dtype=np.float64)
        return self.step * steps


def wilson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """The Wilson confidence interval of a share of successes."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = successes / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def curve(design: Design, links: int, failures: Failures) -> pl.DataFrame:
    """Share of the trials in which the network is still connected, for each share of failed links.

    Returns
    -------
    polars.DataFrame
        A row per step, with the columns ``failed_share``, ``failed_links``, ``connected_share`` (trials in which all
        routers are connected), ``connected_low_share`` and ``connected_high_share`` (its confidence interval), and
        ``terminals_connected_share`` (trials in which all routers with terminals are connected).
    """
    raw = np.frombuffer(design.survived_failures(failures.trials, failures.seed), dtype=np.uint32).reshape(-1, 2)
    rows = []
    for share in failures.shares():
        failed = min(links, math.floor(share * links + 0.5))
        connected, terminals = (int((raw[:, column] >= failed).sum()) for column in (0, 1))
        low, high = wilson(connected, failures.trials, failures.confidence)
        rows.append(
            {
                "failed_share": round(float(share), 9),
                "failed_links": failed,
                "connected_share": connected / failures.trials,
                "connected_low_share": low,
                "connected_high_share": high,
                "terminals_connected_share": terminals / failures.trials,
            }
        )
    return pl.DataFrame(rows)


def tolerated(found: pl.DataFrame, column: str = "connected_share") -> float:
    """The largest share of failed links up to which more than half of the trials stay connected; 0 if no share does."""
    held = 0.0
    for share, connected in found.select("failed_share", column).iter_rows():
        if connected <= 0.5:
            break
        held = share
    return held
