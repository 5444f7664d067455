"""Judges claims about the network: sizes, VCs, parameters, rules and cost of the ring, and bounds of MIN.

MIN is minimal routing. The ring is the escape ring of the routing OFAR.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.api.loading import load
from weft.text.labels import at
from weft_papers.common.questions import greatest, of
from weft_papers.common.rules import constructed, exact, given, trend
from weft_papers.ofar.closed_forms import minimal_bound, neighbour_bound, ring_cost
from weft_papers.ofar.routings_run import MIN, PHITS
from weft_papers.ofar.scale import PAPER_H
from weft_papers.ofar.steady import UNIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft._engine import Point
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

FOLDER = "2012-garcia-ofar"
MINIMAL, NEIGHBOURS = "minimal", "neighbours"
_PATH = Path(str(files("weft_papers"))) / "experiments" / FOLDER
_HOP = {"l": "local", "g": "global"}
# Hops (l: local, g: global) of the longest path, which has a local misroute in each of its groups.
_LONGEST = "l l g l l g l l"


@cache
def _points(name: str) -> Sequence[Point]:
    return load(_PATH / f"{name}.yaml").points


@cache
def _network(h: int, name: str = "minimal") -> dict[str, Any]:
    """Return facts about the network that the engine builds for a scenario of this paper, with size `h`."""
    sizes = {"routers_per_group": 2 * h, "terminals_per_router": h, "global_links_per_router": h}
    sets = {f"topology.dragonfly.{key}": value for key, value in sizes.items()}
    return dict(load(_PATH / f"{name}.yaml", overrides=sets).points[0].imply())


def _count(h: int) -> Callable[[Measured], str]:
    def answer(_: Measured) -> str:
        found = _network(h)
        return f"{found['routers']} / {found['terminals']}"

    return answer


def _balanced(_: Measured) -> str:
    a, p, h = (
        at(_points("uniform")[0].resolved, f"topology.dragonfly.{name}")
        for name in ("routers_per_group", "terminals_per_router", "global_links_per_router")
    )
    relation = "a=2p=2h" if a == 2 * p == 2 * h else f"a={a}, p={p}, h={h}"
    return f"{relation}; {_network(2)['diameter_hops']}"


def _classes(_: Measured) -> str:
    """Return text with the number of VC classes of Valiant routing.

    Without local misroutes, its paths are the longest.
    """
    found = _network(PAPER_H, "offsets")["vc_classes"]
    return f"{found['local']} / {found['global']}"


def _resolved(path: str) -> Any:
    return at(_points("uniform")[-1].resolved, path)


def _flits(path: str) -> int:
    return PHITS * int(_resolved(path).removesuffix("flits"))


def _parameters(_: Measured) -> str:
    latencies = "/".join(_resolved(f"links.{name}.latency").removesuffix("cycles") for name in ("local", "global"))
    buffers = "/".join(str(_flits(f"links.{name}.buffer")) for name in ("local", "global"))
    vcs = "/".join(str(_resolved(f"links.{name}.vcs")) for name in ("local", "global"))
    h = _resolved("topology.dragonfly.global_links_per_router")
    rate = _resolved("links.local.bandwidth")
    phits = round(1 / float(rate.removesuffix("flits/cycle")))
    return f"h={h}, packets {phits} phits, latency {latencies}, FIFO {buffers}, VCs {vcs}"


def _thresholds(_: Measured) -> str:
    routing = _resolved("routing.dragonfly_ofar")
    return f"Th_min {routing['least_occupancy']:.0%}, Th_nonmin {routing['most_occupancy']['relative']:g}*Qmin"


def _simulated(experiment: str) -> Callable[[Measured], float]:
    """Make the function that returns the highest load that MIN accepts in an experiment with loads beyond its bound."""
    return lambda measured: greatest(of(measured[experiment], MIN), "accepted_load")


def _mixes(_: Measured) -> str:
    """Return text with the weights of uniform traffic, ADV+1 and ADV+6 in each mix of the scenario ``bursts``."""
    found: dict[str, None] = {}
    for point in _points("bursts"):
        pattern = point.resolved["traffic"]["pattern"]
        if "mix" in pattern:
            found["-".join(f"{each['weight']:g}" for each in pattern["mix"])] = None
    return " / ".join(found)


def _local_hops(_: Measured) -> float:
    return float(sum(_HOP[letter] == "local" for letter in _LONGEST.split()))


def _long_wires(_: Measured) -> tuple[bool, str]:
    """Compare the printed formula for the number of global links with the count in networks that have a ring."""
    shown = []
    for h in (2, 3, PAPER_H):
        links = _network(h, "uniform")["links"]
        shown.append((h, links["ring_global"], links["global"]))
    holds = all(ring == 2 * h**2 + 1 and links == 2 * h**4 + h**2 for h, ring, links in shown)
    return holds, ", ".join(f"{ring} / {links} for h = {h}" for h, ring, links in shown)


def _ring_ports(_: Measured) -> float:
    with_ring, without = (_network(2, name)["radix_ports"] for name in ("uniform", "minimal"))
    return float(with_ring - without)


RULES: dict[str, Rule] = {
    "O-001": exact("36 / 72", _count(2)),
    "O-002": exact("a=2p=2h; 3", _balanced),
    "O-003": constructed(exact("3 / 2", _classes)),
    "O-004": constructed(exact(6.0, _local_hops, unit="local VCs")),
    "O-005": exact(minimal_bound(PAPER_H), _simulated(MINIMAL), MINIMAL, digits=4, unit=UNIT),
    "O-006": exact(neighbour_bound(PAPER_H), _simulated(NEIGHBOURS), NEIGHBOURS, digits=3, unit=UNIT),
    "O-010": constructed(exact("h=6, packets 8 phits, latency 10/100, FIFO 32/256, VCs 3/2", _parameters)),
    "O-011": constructed(exact("Th_min 0%, Th_nonmin 0.9*Qmin", _thresholds)),
    "O-031": constructed(exact("80-10-10 / 60-20-20 / 20-40-40", _mixes)),
    "O-032": exact(4.0, lambda _: 100 * ring_cost(16).wires, digits=0, unit="% more wires"),
    "O-033": trend("the ring has 2h^2+1 global links, in addition to 2h^4+h^2 other global links", _long_wires),
    # 513 / 131,328 = 0.39 %; the paper prints it without the last digit
    "O-034": exact(
        0.3, lambda _: 100 * ring_cost(16).global_wires, digits=1, truncated=True, unit="% more global wires"
    ),
    "O-035": exact(2.0, _ring_ports, unit="ports"),
    "O-039": given(
        "2 packets to enter and 1 to continue; unit tests check both numbers, and Weft refuses buffers of one packet "
        "on the ring"
    ),
    "O-040": given(
        "1 and 1: a unit test follows packets through all allowed steps (`a_packet_misroutes_once_globally_...`)"
    ),
}
