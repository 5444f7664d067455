"""Judges if Weft agrees with another simulator (the peer), by the criterion in the column ``must_match`` of a row.

latency   latency, hops and accepted load within the band or within 3 sigma, whichever is wider
accepted  accepted load within the band
order     accepted load no higher than the load, and not below the peer's by more than the band or 3 sigma, whichever
          is wider; under an oblivious routing the terminal that injects least injects no more than the channel-load
          bound. The mean over all terminals can exceed the bound: sources whose packets do not cross the fullest
          channel continue (under transpose the terminals on the diagonal, which send to themselves)
info      nothing; printed only

If the traffic pattern changes during the run, latencies by time of sending are compared instead. If such a row has a
band, the mean latencies before and after the change are compared. `weft_peers.validate.settling_order` compares the
order in which rows with the same change settle.

The standard deviation s of a single run is estimated from Weft's n seeds. The peer has one run of the same length, so
the standard error of the peer's number is s. The standard error of Weft's mean over n seeds is s / sqrt(n). Therefore 3
sigma of the difference is 3 s sqrt(1 + 1/n). Below saturation, s of an accepted load is at least `chance_of_draws`,
because the results of a few seeds can be close together by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.results.response import Response
    from weft_peers.validate.case import Case, Numbers

Answer = Literal["agrees", "fails", "info"]


@dataclass(frozen=True)
class Ours:
    """Results of Weft's runs of one case.

    Attributes
    ----------
    runs : sequence of Numbers
        Measured values of the runs, one `Numbers` per seed.
    bound : float or None
        Highest load that the channels on the paths can carry (channel-load bound) [flits/terminal/cycle]; ``None`` if
        no terminal sends. If Weft followed only a sample of the paths, this is the upper end of the confidence interval
        of the bound.
    least : sequence of float
        Load of the terminal that injected least, one value per seed [flits/terminal/cycle].
    stalled : int
        Number of runs that stalled.
    chance : float
        Standard deviation of the accepted load of one run, as far as the random creation of packets causes it; 0 if
        packets are not created at random.
    response : Response or None
        Latency by time of sending, over the packets of all seeds; only if the pattern changes and all packets arrived.
    """

    runs: Sequence[Numbers]
    bound: float | None
    least: Sequence[float] = ()
    stalled: int = 0
    chance: float = 0.0
    response: Response | None = None


@dataclass(frozen=True)
class Comparison:
    """A number that the peer measured, and the number that Weft measured.

    Attributes
    ----------
    peer, ours : float or None
        The number of the peer's run, and the mean of Weft's runs.
    sigma : float
        Standard deviation of a single run of Weft.
    tolerance : float
        Maximum allowed difference.
    """

    peer: float | None
    ours: float | None
    sigma: float
    tolerance: float

    @property
    def comparable(self) -> bool:
        """Return whether both simulators measured the number."""
        return self.peer is not None and self.ours is not None

    @property
    def agrees(self) -> bool:
        """Return whether the two numbers differ by at most the tolerance; false if one of them was not measured."""
        if self.peer is None or self.ours is None:
            return False
        return abs(self.ours - self.peer) <= self.tolerance


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case, with reasons if it fails.

    If the traffic pattern changes, `response` is Weft's latency before and after the change.
    """

    case: Case
    answer: Answer
    latency: Comparison
    hops: Comparison
    accepted: Comparison
    reasons: tuple[str, ...]
    response: Response | None = None


def judge(case: Case, ours: Ours | None) -> Verdict:
    """Compare a case with Weft's runs. `ours` is ``None`` if Weft cannot run the case."""
    runs = ours.runs if ours else ()
    latency, hops, accepted = (
        _compare(getattr(case.theirs, name), [getattr(run, name) for run in runs], case.band, least_sigma)
        for name, least_sigma in (("latency", 0.0), ("hops", 0.0), ("accepted", ours.chance if ours else 0.0))
    )
    if ours is None:
        reasons = [f"not expressible: {case.refusal}"]
    elif ours.stalled:
        reasons = [f"{ours.stalled} of {len(runs)} runs stalled"]
    elif case.change:
        reasons = _levels(case, case.change.theirs, ours.response)
    elif case.must_match == "latency":
        reasons = [
            _apart(name, compared)
            for name, compared in (("latency", latency), ("hops", hops), ("accepted load", accepted))
            if not compared.agrees
        ]
    elif case.must_match == "accepted":
        within = Comparison(accepted.peer, accepted.ours, 0.0, case.band * abs(accepted.peer or 0.0))
        reasons = [] if within.agrees else [_apart("accepted load", within)]
    elif case.must_match == "order":
        reasons = _order(case, accepted, ours, len(runs))
    else:
        reasons = []
    response = ours.response if ours else None
    return Verdict(case, answer(case, reasons), latency, hops, accepted, tuple(reasons), response)


def answer(case: Case, reasons: Sequence[str]) -> Answer:
    """Return the answer for a case. The case fails if there are reasons, unless its row is only printed (``info``)."""
    return "info" if case.must_match == "info" else "fails" if reasons else "agrees"


def chance_of_draws(accepted: float, packets: float, probability: float) -> float:
    """Return the standard deviation of an accepted load below saturation that random creation of packets causes.

    Each terminal creates a packet in each cycle with the same probability. Therefore the number n of packets in a
    window is binomial, with the standard deviation sqrt(n (1 - probability)).

    Parameters
    ----------
    accepted : float
        Accepted load [flits/terminal/cycle].
    packets : float
        Number of packets in the window.
    probability : float
        Probability with which a terminal creates a packet in a cycle.
    """
    return accepted * sqrt((1 - probability) / packets) if packets else 0.0


def _compare(peer: float | None, ours: Sequence[float | None], band: float, least_sigma: float = 0.0) -> Comparison:
    values = [value for value in ours if value is not None]
    if len(values) < len(ours) or not values:
        return Comparison(peer, None, 0.0, 0.0)
    sigma = max(least_sigma, stdev(values) if len(values) > 1 else 0.0)
    tolerance = max(band * abs(peer or 0.0), 3 * sigma * sqrt(1 + 1 / len(values)))
    return Comparison(peer, fmean(values), sigma, tolerance)


def _order(case: Case, accepted: Comparison, ours: Ours, runs: int) -> list[str]:
    if accepted.peer is None or accepted.ours is None:
        return ["no accepted load to compare"]
    reasons = []
    if accepted.ours > case.load + 3 * accepted.sigma / sqrt(runs):
        reasons.append(f"accepted load {accepted.ours:.4f} is above the load {case.load:g}")
    if case.oblivious and ours.bound is not None and ours.least:
        least = _compare(None, ours.least, 0.0)
        if least.ours is not None and least.ours > ours.bound + 3 * least.sigma / sqrt(runs):
            reasons.append(f"every terminal sends at least {least.ours:.4f}, above the bound {ours.bound:.4f}")
    if accepted.ours < accepted.peer - accepted.tolerance:
        reasons.append(
            f"accepted load {accepted.ours:.4f} is more than {accepted.tolerance:.2g} below {accepted.peer:.4f}"
        )
    return reasons


def _levels(case: Case, theirs: Response, ours: Response | None) -> list[str]:
    if ours is None:
        return ["no latency by sending time to compare, because packets are missing"]
    if not case.band:
        return []
    pairs = (("before the change", theirs.before, ours.before), ("after the change", theirs.final, ours.final))
    levels = [(f"latency {when}", Comparison(peer, weft, 0.0, case.band * peer)) for when, peer, weft in pairs]
    return [_apart(name, compared) for name, compared in levels if not compared.agrees]


def _apart(name: str, compared: Comparison) -> str:
    if compared.peer is None or compared.ours is None:
        return f"no {name} to compare"
    apart = compared.ours - compared.peer
    return f"{name} differs by {apart:+.4g} ({apart / compared.peer:+.1%}); {compared.tolerance:.4g} is allowed"
