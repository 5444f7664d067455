"""Judges the paper's claims about parameters. The rules read resolved scenarios, which contain all defaults."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.analysis.dvfs import Rates
from weft.analysis.prices import Prices
from weft.api.loading import load
from weft.text.labels import at
from weft.text.si import TIME, number
from weft_papers.common.rules import approx, constructed, exact, given

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft._engine import Point
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

_FOLDER = Path(str(files("weft_papers"))) / "experiments" / "2018-kim-tcep"


@cache
def _points() -> dict[str, Point]:
    """Return one point of each mechanism of Figs. 9 and 10, by the name of its power policy."""
    points = load(_FOLDER / "uniform.yaml").points
    return {next(iter(at(point.resolved, "power.policy"))): point for point in points}


def _at(path: str, policy: str = "tcep") -> Any:
    """Return a value of the resolved scenario with this power policy, by dotted path of the key."""
    return at(_points()[policy].resolved, path)


def _cycle_fs() -> float:
    return number(_at("cycle"), TIME)


def _cycles(path: str, policy: str = "tcep") -> float:
    """Return a time in the resolved scenario with this power policy [cycles]."""
    return number(
        _at(path, policy), {"cycle": 1.0, "cycles": 1.0, **{unit: fs / _cycle_fs() for unit, fs in TIME.items()}}
    )


def _flits(path: str) -> float:
    return number(_at(path), {"flit": 1.0, "flits": 1.0})


def _prices_of() -> Prices:
    return Prices.of(_points()["tcep"].resolved)


def _of_a_cycle() -> tuple[float, float]:
    """Return the energy of an active channel in a cycle without a flit, and in a cycle with a flit [fJ]."""
    idle = _prices_of().static.fj["on"]
    return idle, idle + _prices_of().flit_fj


def _words(of: Callable[[], str]) -> Callable[[Measured], str]:
    return lambda _: of()


def _network() -> str:
    widths, terminals = _at("topology.hyperx.widths"), _at("topology.hyperx.terminals_per_router")
    routers = "x".join(map(str, widths))
    count = terminals
    for width in widths:
        count *= width
    return f"{routers} routers x {terminals} nodes ({count})"


def _buffers() -> str:
    link = "links.dim0"
    return f"{_at(f'{link}.vcs')} / {_flits(f'{link}.buffer'):g} / {_cycles(f'{link}.latency'):g} cycles"


def _times() -> str:
    spans = [_cycle_fs() * _cycles(f"power.policy.tcep.{name}") for name in ("wake", "activation_epoch")]
    return "; ".join(f"{span / TIME['us']:g} us" for span in spans)


def _prices() -> str:
    idle, busy = (fj * 1e-3 / _prices_of().flit_bits for fj in _of_a_cycle())
    return f"{busy:.2f} pJ/bit, {idle:.2f} pJ/bit"


def _peak_w() -> float:
    """Return the power of a router with 64 ports that all send in every cycle [W]."""
    # the energy is in femtojoules and the time in femtoseconds, so the quotient is in watts
    return 64 * _of_a_cycle()[1] / _cycle_fs()


def _thresholds() -> str:
    return " / ".join(f"{_at(f'power.policy.slac.{name}', 'slac'):.0%}" for name in ("low", "high"))


def _stage() -> str:
    columns, rows = _at("topology.hyperx.widths")
    links = [columns * (columns - 1) // 2 + columns * (rows - stage) for stage in range(1, rows + 1)]
    wake = _cycles("power.policy.slac.wake_per_link", "slac")
    return f"{wake:g} cycles x links in stage; {','.join(map(str, links))}"


def _classes() -> float:
    """Return the number of VC classes that PAL uses on the links between routers."""
    implied = _points()["tcep"].imply()["vc_classes"]
    return float(max(count for name, count in implied.items() if name != "terminal"))


RULES: dict[str, Rule] = {
    "T-001": constructed(exact("8x8 routers x 8 nodes (512)", _words(_network))),
    "T-002": constructed(exact("6 / 32 / 10 cycles", _words(_buffers))),
    "T-003": given("1: in the power policy tcep, control packets have their own VC"),
    "T-004": constructed(exact(0.75, lambda _: float(_at("power.policy.tcep.high_water")))),
    "T-005": constructed(exact("1 us; 1 us", _words(_times))),
    "T-006": constructed(
        exact(
            10.0,
            lambda _: _cycles("power.policy.tcep.deactivation_epoch") / _cycles("power.policy.tcep.activation_epoch"),
        )
    ),
    "T-007": constructed(exact("31.25 pJ/bit, 23.44 pJ/bit", _words(_prices))),
    "T-008": constructed(approx(100.0, lambda _: _peak_w(), unit="W")),
    "T-009": constructed(exact("25% / 75%", _words(_thresholds))),
    "T-010": constructed(exact("100 cycles x links in stage; 84,76,68,60,52,44,36,28", _words(_stage))),
    "T-011": constructed(
        exact("1x, 2x, 4x", lambda _: ", ".join(f"{1 / rate:g}x" for rate in reversed(Rates().rates)))
    ),
    "T-023": constructed(exact(2.0, lambda _: _classes(), unit="VC classes")),
    "T-024": given("as printed, row by row: a unit test of PAL checks each row (`table_1_row_by_row`)"),
}
