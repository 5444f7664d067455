"""A row of peer results, and the scenario that should give the same results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from weft.results.response import Response

MustMatch = Literal["latency", "accepted", "order", "info"]


@dataclass(frozen=True)
class Numbers:
    """Numbers of a run; ``None`` if it did not measure.

    Attributes
    ----------
    latency : float or None
        Mean packet latency, creation to delivery of the tail [cycles].
    hops : float or None
        Mean number of router-to-router links, whatever the peer counts.
    accepted : float or None
        Accepted load [flits/terminal/cycle].
    """

    latency: float | None
    hops: float | None
    accepted: float | None


@dataclass(frozen=True)
class Change:
    """A change of the pattern of traffic, and the peer's numbers around it.

    Attributes
    ----------
    of : str
        Network and traffic in words: rows in which they are the same differ in the routing only, and are compared with
        each other.
    cycle : int
        When the pattern changes, counted from the beginning of the run.
    bin : int
        Width of the bins of the time of sending [cycles].
    theirs : Response
        The peer's latency by the time of sending, merged over its seeds.
    """

    of: str
    cycle: int
    bin: int
    theirs: Response


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes
    ----------
    line : int
        Line in the file, from 1.
    peer, name : str
        The simulator and what it ran.
    load : float
        Offered load [flits/terminal/cycle].
    theirs : Numbers
        What the peer measured.
    must_match, why, band
        What must hold, and why; see `weft_peers.validate.judge`. The band is a share of the peer's number.
    scenario : dict or None
        The same network for Weft; ``None`` if it can't be expressed, and `refusal` says why.
    oblivious : bool
        Whether accepted load can't exceed the channel-load bound (it may where an adaptive routing takes detours).
    change : Change or None
        What is compared where the pattern changes, in place of `theirs`.
    """

    line: int
    peer: str
    name: str
    load: float
    theirs: Numbers
    must_match: MustMatch
    why: str
    band: float
    scenario: dict[str, Any] | None
    refusal: str = ""
    oblivious: bool = True
    change: Change | None = None

    @property
    def title(self) -> str:
        """What ``--filter`` searches."""
        return f"{self.peer} {self.name} {self.load:g}"


def number(text: str) -> float | None:
    """A number of the file, ``None`` if the field is empty."""
    return float(text) if text else None
