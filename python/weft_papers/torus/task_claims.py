"""Makes the rules of the paper's 68 claims. Run times that differ by less than 3 % do not differ significantly.

A claim that compares networks is judged without the policy. A claim that names the policy, or all networks of a figure,
is judged also with the policy.

W_net and E_net are the power and the energy of the network, relative to the reference: the network without trunks that
has the same number of nodes, with all links on. E_cluster is the energy of the whole machine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import ceil, log2
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.design.comparison_of_designs import compare
from weft_papers.common.rules import (
    UNKNOWN,
    WITHIN,
    Finding,
    Part,
    approx,
    change_holds,
    change_words,
    constructed,
    exact,
    generated,
    given,
    stated,
    trend,
    untestable,
)
from weft_papers.torus.applications import APPLICATIONS, FOUR, GRAPH500, LINPACK, MPIRA, NAMD
from weft_papers.torus.applications import GROMACS as GROMACS_
from weft_papers.torus.causes import CAUSES_OF
from weft_papers.torus.network_runs import (
    ALLOCATOR,
    LOADS,
    REFERENCE,
    SETS_64,
    SETS_256,
    SHARES,
    SINGLE_64,
    SINGLE_256,
    fabric,
    label,
    scales,
    tasks,
    topology,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from weft.analysis.machine_power import Task
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule
    from weft_papers.torus.network_runs import Tasks

# Run times that differ by less than this share do not differ significantly.
SAME = 0.03
# Idle shares (power of an idle node, as a share of its maximum power) at which rules compare machine energies.
IDLE = (0.0, 0.5, 1.0)
# Latency of a hop without the latency of the allocator [cycles], and length of a cycle [ns].
FIXED, CYCLE_NS = 28, 1.6
# Number of flits in a packet of 128 bytes.
PACKET = 8
# Pairs: a network with trunks, and the reference network (without trunks) with the same number of nodes.
_PAIRS = (("2D-4X", "3D-1X"), ("3D-4X", "4D-1X"))

Judged = tuple[bool, str]


@cache
def _facts(network: str) -> dict[str, Any]:
    return compare({"one": topology(network)}).designs[0].facts


def _row_of_table_2(network: str) -> str:
    """Return a row of Table 2: ports of a switch, allocator latency, switches, all ports, ratio of ports (cut off)."""
    facts = _facts(network)
    ports, switches = facts["radix_ports"], facts["routers"]
    of = fabric(REFERENCE[facts["terminals"]])
    ratio = "1 (ref)" if network in REFERENCE.values() else f"{int(1000 * ports * switches / of.ports) / 1000:g}"
    return f"{ports}; {ceil(log2(ports))}; {switches}; {ports * switches}; {ratio}"


def _structure(network: str) -> str:
    """Return text with the number of channels between switches, the mean distance of switches, and the bisection.

    The mean distance includes the distance 0 of each switch from itself.
    """
    facts = _facts(network)
    pairs = facts["router_pairs_by_hops"]
    mean = sum(hops * count for hops, count in enumerate(pairs)) / facts["routers"] ** 2
    return f"{facts['degree_mean_links'] * facts['routers']:g}; {mean:g}; {facts['bisection_links']} bidirectional"


def _hop(_: Measured) -> tuple[float, str]:
    least, most = (CYCLE_NS * (FIXED + ceil(log2(_facts(name)["radix_ports"]))) for name in ("3D-1X", "1D-16X"))
    return (least + most) / 2, f"{least:.1f} to {most:.1f} ns over the radix"


def _caused(rule: Rule, cause: str) -> Rule:
    """Extend a rule with a cause: if the claim is missed, its finding gets this cause."""
    stated(cause)

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        return replace(found, cause=cause) if found.answer == "missed" else found

    return replace(rule, judge=judge)


def _each(words: str, experiments: Iterable[str], works: Iterable[str], of: Callable[[Tasks], Judged]) -> Rule:
    """Make a rule for a trend that must hold for each application or set in `works`.

    The trend must hold with our gaps (computing times), and with gaps of half and twice their length.
    """
    experiments, works = tuple(experiments), tuple(works)

    def judge(measured: Measured) -> list[Part]:
        parts = []
        for experiment in experiments:
            for scale in scales(measured, experiment):
                for work in works:
                    holds, shown = of(tasks(measured, experiment, work, scale))
                    parts.append(Part(holds, f"{work} at gaps x {scale:g}: {shown}"))
        return parts

    return generated(trend(f"{words}, at gaps x 0.5, 1 and 2", judge, *experiments))


def _within(value: float, printed: float, share: float = WITHIN) -> bool:
    return abs(value / printed - 1) <= share


def _tolerance(*, saves: bool) -> float:
    """Return the tolerance for the network energy E_net [share].

    Without the policy it is smaller, because E_net is then simply the ratio of ports times the relative run time.
    """
    return WITHIN if saves else SAME


def _e_net(network: str, saves: bool, printed: float) -> Callable[[Tasks], Judged]:
    def of(found: Tasks) -> Judged:
        task = found[network, saves]
        return _within(task.e_net, printed, _tolerance(saves=saves)), f"{100 * task.e_net:.1f} % of the reference"

    return of


def _energies(work: str, first: int) -> dict[str, Rule]:
    """Make the rules of the four claims on the network energy E_net of an application on 64 nodes."""
    printed = {("2D-4X", False): 0.715, ("2D-4X", True): 0.50, ("1D-16X", False): 0.43, ("1D-16X", True): 0.32}
    return {
        f"R-{first + nth:03}": _each(
            f"E_net of {label(network, saves=saves)} within {_tolerance(saves=saves):.0%} of {100 * share:g} %",
            [SINGLE_64],
            [work],
            _e_net(network, saves, share),
        )
        for nth, ((network, saves), share) in enumerate(printed.items())
    }


def _penalty(network: str, holds: Callable[[float], bool], *, saves: bool | None = False) -> Callable[[Tasks], Judged]:
    """Return the judge of a claim: the increase of run time on `network` must meet the condition `holds`.

    The condition must hold with the policy (`saves` is true), without the policy (false), or in both cases (``None``).
    """

    def of(found: Tasks) -> Judged:
        times = {
            label(name, saves=on): task.runtime - 1
            for (name, on), task in found.items()
            if name == network and saves in (None, on)
        }
        return all(map(holds, times.values())), ", ".join(f"{each} {100 * t:+.1f} %" for each, t in times.items())

    return of


def _near(printed: float) -> Callable[[float], bool]:
    """Return the condition that a change agrees with the printed change (see `rules.change_holds`)."""
    return lambda value: change_holds(value, printed)


def _little(value: float) -> bool:
    return abs(value) < SAME


def _alike(found: Tasks) -> Judged:
    """Judge if run times without the policy differ by less than 3 % from that on the reference network."""
    times = {name: task.runtime - 1 for (name, on), task in found.items() if not on}
    return all(map(_little, times.values())), ", ".join(f"{name} {100 * t:+.1f} %" for name, t in times.items())


def _mostly_idle(found: Tasks) -> Judged:
    """Judge if cores compute for less than half of the time on every network."""
    busy = {label(name, saves=on): task.busy for (name, on), task in found.items()}
    return max(busy.values()) < 0.5, ", ".join(f"{name} {share:.3f}" for name, share in busy.items())


def _less_energy(network: str) -> Callable[[Tasks], Judged]:
    """Return the judge of a claim: `network` must use less energy than the reference, with and without the policy."""

    def of(found: Tasks) -> Judged:
        shares = {label(network, saves=on): found[network, on].e_net for on in (False, True)}
        return max(shares.values()) < 1, ", ".join(f"{name} {100 * each:.1f} %" for name, each in shares.items())

    return of


def _faster_at_low_load(measured: Measured) -> list[Part]:
    """Judge if networks with trunks have a lower latency than the reference networks, at the lowest load."""
    rows = measured[LOADS].sort("load")
    parts = []
    for trunked, plain in _PAIRS:
        found = [rows.filter(pl.col("mechanism") == name).row(0, named=True) for name in (trunked, plain)]
        one, other = (each["packet_latency_mean_cycles"] for each in found)
        text = f"{trunked} {one:.1f} cycles, {plain} {other:.1f}, at load {found[0]['load']:g}"
        parts.append(Part(one < other, text))
    return parts


def _carries_more(measured: Measured) -> list[Part]:
    """Judge if reference networks accept over 3 % more at full load than networks with trunks (8-flit packets)."""
    rows = measured[ALLOCATOR].filter(pl.col("packet_flits") == PACKET)
    parts = []
    for trunked, plain in _PAIRS:
        one, other = (
            rows.filter(pl.col("mechanism") == name).row(0, named=True)["accepted_load"] for name in (trunked, plain)
        )
        text = f"{plain} {other:.3f} flits/node/cycle, {trunked} {one:.3f}"
        parts.append(Part(other > (1 + SAME) * one, text))
    return parts


def _policy_is_free(found: Tasks) -> Judged:
    """Judge if the policy changes run times by less than 3 % on every network."""
    changes = {name: found[name, True].runtime / found[name, False].runtime - 1 for name, on in found if on}
    text = ", ".join(f"{name} {100 * change:+.1f} %" for name, change in changes.items())
    return all(map(_little, changes.values())), text


def _saves_below(network: str, printed: dict[bool, float]) -> Callable[[Tasks], Judged]:
    """Return the judge of a claim: a network must save machine energy if idle nodes need less than a share of power.

    The share is relative to a busy node, and must be within 10 % of the printed share. `printed` has the share without
    the policy (false) and with it (true).
    """

    def of(found: Tasks) -> Judged:
        (reference, *_) = found.values()
        holds, shown = [], []
        for saves, share in printed.items():
            task = found[network, saves]
            crossing = task.equal_idle_share(reference, SHARES)
            saves_at_0 = task.e_cluster(SHARES, 0.0) < reference.e_cluster(SHARES, 0.0)
            holds.append(crossing is not None and saves_at_0 and _within(crossing, share))
            shown.append(f"{label(network, saves=saves)} saves {task.saves(reference, SHARES)}")
        return all(holds), ", ".join(shown)

    return of


def _ratio(task: Task, reference: Task, idle: float) -> float:
    return task.e_cluster(SHARES, idle) / reference.e_cluster(SHARES, idle)


def _ranked(found: Tasks, idle: float) -> list[str]:
    """Return the names of the networks without the policy, sorted by machine energy, lowest first."""
    plain = {name: task for (name, saves), task in found.items() if not saves}
    return sorted(plain, key=lambda name: plain[name].e_cluster(SHARES, idle))


def _one_then_two(found: Tasks) -> Judged:
    orders = {idle: _ranked(found, idle) for idle in IDLE}
    text = "; ".join(f"idle share {idle:g}: {', '.join(order)}" for idle, order in orders.items())
    return all(order[:2] == ["1D-16X", "2D-4X"] for order in orders.values()), text


def _greatly_increased(found: Tasks) -> Judged:
    (reference, *_) = found.values()
    ratios = [_ratio(found["1D-16X", saves], reference, idle) for saves in (False, True) for idle in (0.5, 1.0)]
    return min(ratios) > 1.5, f"{min(ratios):.2f} to {max(ratios):.2f} times at idle shares of 0.5 and 1"


def _always(network: str) -> Callable[[Tasks], Judged]:
    def of(found: Tasks) -> Judged:
        (reference, *_) = found.values()
        by_name = {label(network, saves=on): found[network, on].saves(reference, SHARES) for on in (False, True)}
        return set(by_name.values()) == {"always"}, ", ".join(
            f"{name} saves {words}" for name, words in by_name.items()
        )

    return of


def _reference_is_best(found: Tasks) -> Judged:
    """Judge if the reference network uses the least machine energy, at idle shares of power of 0.5 and 1."""
    (reference, *others) = found.values()
    least = {idle: min(_ratio(each, reference, idle) for each in others) for idle in (0.5, 1.0)}
    text = ", ".join(f"best other network {value:.3f} times at idle share {idle:g}" for idle, value in least.items())
    return min(least.values()) > 1, text


def _idle_tasks_save(measured: Measured) -> list[Part]:
    """Judge if applications whose cores wait longer save more machine energy on 2D-4X, if idle nodes draw no power."""
    parts = []
    for scale in scales(measured, SINGLE_64):
        every = {work: tasks(measured, SINGLE_64, work, scale) for work in FOUR}
        by_busy = sorted(every, key=lambda work: -every[work]["3D-1X", False].busy)
        saved = {work: 1 - _ratio(found["2D-4X", False], found["3D-1X", False], 0.0) for work, found in every.items()}
        text = ", ".join(
            f"{work} runs {every[work]['3D-1X', False].busy:.3f}, saves {100 * saved[work]:.2f} %" for work in by_busy
        )
        parts.append(Part(by_busy == sorted(saved, key=lambda work: saved[work]), f"gaps x {scale:g}: {text}"))
    return parts


def _most_saved(measured: Measured) -> list[Part]:
    """Judge if the greatest saving of network energy on 256 nodes, with the policy, is 50 % (within 3 points)."""
    parts = []
    for scale in scales(measured, SINGLE_256):
        saved = max(1 - tasks(measured, SINGLE_256, work, scale)["3D-4X", True].e_net for work in APPLICATIONS)
        parts.append(Part(change_holds(saved, 0.5), f"gaps x {scale:g}: up to {100 * saved:.1f} %"))
    return parts


def _system_saved(measured: Measured) -> list[Part]:
    """Judge whether the savings of machine energy on 256 nodes are 5 to 40 %, within 3 points at both ends.

    The range is over applications, with an idle share of 0 or 1.
    """
    parts = []
    for scale in scales(measured, SINGLE_256):
        saved = []
        for work in APPLICATIONS:
            found = tasks(measured, SINGLE_256, work, scale)
            saved += [1 - _ratio(found["3D-4X", True], found["4D-1X", False], idle) for idle in (0.0, 1.0)]
        holds = change_holds(min(saved), 0.05) and change_holds(max(saved), 0.40)
        parts.append(Part(holds, f"gaps x {scale:g}: {100 * min(saved):.1f} % to {100 * max(saved):.1f} %"))
    return parts


def _net_between(least: float, most: float) -> Callable[[Tasks], Judged]:
    def of(found: Tasks) -> Judged:
        value = found["2D-4X", True].e_net
        holds = (1 - WITHIN) * least <= value <= (1 + WITHIN) * most
        return holds, f"2D-4X-PS {100 * value:.1f} % of the reference"

    return of


def _net_saves_30(found: Tasks) -> Judged:
    saved = {label("3D-4X", saves=on): 1 - found["3D-4X", on].e_net for on in (False, True)}
    text = ", ".join(f"{name} {100 * each:.1f} %" for name, each in saved.items())
    return saved["3D-4X-PS"] > 0.30, text


def _graph500_saves(found: Tasks) -> Judged:
    saved = [1 - found["2D-4X", on].e_net for on in (False, True)]
    holds = change_holds(saved[0], 0.14) and change_holds(saved[1], 0.31)
    return holds, f"2D-4X {100 * saved[0]:.1f} %, 2D-4X-PS {100 * saved[1]:.1f} %"


def _policy_always_saves(found: Tasks) -> Judged:
    """Judge if the policy reduces the energy of every network, without a significant increase of run time."""
    free, shown = _policy_is_free(found)
    less = all(found[name, True].e_net < found[name, False].e_net for name, on in found if on)
    energies = ", ".join(f"{name} {found[name, True].e_net / found[name, False].e_net:.3f}" for name, on in found if on)
    return less and free, f"ratio of E_net with and without the policy: {energies}; run time {shown}"


def _twice(found: Tasks) -> Judged:
    times = {label("1D-16X", saves=on): found["1D-16X", on].runtime for on in (False, True)}
    text = ", ".join(f"{name} {100 * value:.0f} %" for name, value in times.items())
    return all(0.9 * 2.08 <= value <= 1.1 * 2.18 for value in times.values()), text


def _times(network: str, printed: float) -> Callable[[Tasks], Judged]:
    def of(found: Tasks) -> Judged:
        value = found[network, False].runtime
        return _within(value, printed), f"{100 * value:.0f} %"

    return of


def _saves_at_most(network: str, most: float) -> Callable[[Tasks], Judged]:
    """Return the judge of a claim: `network` must save machine energy only up to an idle share that is below `most`."""

    def of(found: Tasks) -> Judged:
        (reference, *_) = found.values()
        shares = {on: found[network, on].equal_idle_share(reference, SHARES) or 0.0 for on in (False, True)}
        text = ", ".join(f"{label(network, saves=on)} below {share:.3f}" for on, share in shares.items())
        never = all(found[network, on].saves(reference, SHARES) != "always" for on in (False, True))
        return never and max(shares.values()) < most, text

    return of


_TWO, _ALL_SETS = ("B", "C"), ("A", "B", "C")
_MEASURED_ELSEWHERE = "other papers measured this number, on machines for which Weft has no model"

_JUDGED: dict[str, Rule] = {
    "R-001": given("1.6 ns, 16 B, 8 flits, 10 GB/s: `cycle`, `flit` and `packet` of every scenario"),
    "R-002": given("4 VCs of 256 flits, two of them are escape VCs: the preset torus_2019"),
    "R-003": constructed(approx(50.0, _hop, unit="ns")),
    "R-004": given("4.16 us and 2.88 us: 2,600 and 1,800 cycles, the default of the policy"),
    "R-005": given("0.1, 0.65, 0.15: the defaults of `weft analyse machine`"),
    "R-006": constructed(exact("7; 3; 64; 448; 1 (ref)", lambda _: _row_of_table_2("3D-1X"))),
    "R-007": constructed(exact("20; 5; 16; 320; 0.714", lambda _: _row_of_table_2("2D-4X"))),
    "R-008": constructed(exact("48; 6; 4; 192; 0.428", lambda _: _row_of_table_2("1D-16X"))),
    "R-009": constructed(exact("9; 4; 256; 2304; 1 (ref)", lambda _: _row_of_table_2("4D-1X"))),
    "R-010": constructed(exact("28; 5; 64; 1792; 0.777", lambda _: _row_of_table_2("3D-4X"))),
    "R-011": untestable(_MEASURED_ELSEWHERE),
    "R-012": untestable(_MEASURED_ELSEWHERE),
    "R-013": exact("384; 3; 32 bidirectional", lambda _: _structure("3D-1X")),
    "R-014": exact("256; 2; 32 bidirectional", lambda _: _structure("2D-4X")),
    "R-015": constructed(exact("0.714", lambda _: _row_of_table_2("2D-4X").rpartition("; ")[2])),
    **_energies(NAMD, 16),
    **_energies(GROMACS_, 20),
    **_energies(LINPACK, 24),
    **_energies(MPIRA, 28),
    "R-032": _each("run time penalty below 1 %", [SINGLE_64], [MPIRA], _penalty("2D-4X", lambda t: t < 0.01)),
    "R-033": _each("run time penalty below 3 %", [SINGLE_64], [MPIRA], _penalty("1D-16X", lambda t: t < 0.03)),
    "R-034": _each("run times differ by less than 3 %", [SINGLE_64], FOUR[:3], _alike),
    "R-035": _each("the policy changes run times by less than 3 %", [SINGLE_64], FOUR, _policy_is_free),
    "R-036": _each("within 10 % of 208 to 218 %", [SINGLE_64], [GRAPH500], _twice),
    "R-037": _each("within 3 points of 19 %", [SINGLE_64], [GRAPH500], _penalty("2D-4X", _near(0.19))),
    "R-038": _each("within 3 points of 14 % and 31 %", [SINGLE_64], [GRAPH500], _graph500_saves),
    "R-039": _each(
        "within 10 % of 0.2 without the policy and of 0.4 with the policy",
        [SINGLE_64],
        [GRAPH500],
        _saves_below("2D-4X", {False: 0.2, True: 0.4}),
    ),
    "R-040": _each("more than 1.5 times", [SINGLE_64], [GRAPH500], _greatly_increased),
    "R-041": generated(
        trend(
            "savings in the order of Run_task, at gaps x 0.5, 1 and 2 (2D-4X, idle share 0)",
            _idle_tasks_save,
            SINGLE_64,
        )
    ),
    "R-042": _each("1D-16X uses least energy, then 2D-4X", [SINGLE_64], FOUR[:3], _one_then_two),
    "R-043": _each(change_words(0.015), [SINGLE_256], [GRAPH500], _penalty("3D-4X", _near(0.015))),
    "R-044": _each("run time differs by less than 3 %", [SINGLE_256], FOUR, _penalty("3D-4X", _little, saves=None)),
    "R-045": generated(trend("within 3 points of 50 %, at gaps x 0.5, 1 and 2", _most_saved, SINGLE_256)),
    "R-046": generated(trend("within 3 points of 5 % and of 40 %, at gaps x 0.5, 1 and 2", _system_saved, SINGLE_256)),
    "R-047": _each("saves energy at every idle share", [SINGLE_256], [GRAPH500], _always("3D-4X")),
    "R-048": _each("within 3 points of 4.5 %", [SETS_64], ["A"], _penalty("1D-16X", _near(0.045))),
    "R-049": _each("less than 3 %", [SETS_64], ["A"], _penalty("2D-4X", _little, saves=None)),
    "R-050": _each("within 10 % of 150 %", [SETS_64], ["B"], _times("1D-16X", 1.5)),
    "R-051": _each("within 10 % of 170 %", [SETS_64], ["C"], _times("1D-16X", 1.7)),
    "R-052": _each("within 3 points of 10 %", [SETS_64], ["B"], _penalty("2D-4X", _near(0.10))),
    "R-053": _each("within 3 points of 15 %", [SETS_64], ["C"], _penalty("2D-4X", _near(0.15))),
    "R-054": _each("within 10 % of 60 to 64 %", [SETS_64], _TWO, _net_between(0.60, 0.64)),
    "R-055": _each("within 10 % of 0.7", [SETS_64], ["B"], _saves_below("2D-4X", {True: 0.7})),
    "R-056": _each("within 10 % of 0.45", [SETS_64], ["C"], _saves_below("2D-4X", {True: 0.45})),
    "R-057": _each("below 0 to 0.15", [SETS_64], _TWO, _saves_at_most("1D-16X", 0.15)),
    "R-058": _each("less than 3 %", [SETS_256], ["A"], _penalty("3D-4X", _little, saves=None)),
    "R-059": _each("more than 30 % with the policy", [SETS_256], _TWO, _net_saves_30),
    "R-060": _each("within 10 % of 0.45", [SETS_256], _TWO, _saves_below("3D-4X", {True: 0.45})),
    "R-061": _each("3 % or more", [SETS_256], _TWO, _penalty("3D-4X", lambda t: t >= SAME)),
    "R-062": _each(
        "less energy of the network, and run time changed by less than 3 %",
        [SINGLE_64, SINGLE_256],
        APPLICATIONS,
        _policy_always_saves,
    ),
    "R-063": _each(
        "the reference uses least energy at idle shares of 0.5 and 1", [SINGLE_64], [GRAPH500], _reference_is_best
    ),
    "R-064": trend("lower latency at the lowest load", _faster_at_low_load, LOADS),
    "R-065": trend("accepts over 3 % more at full load, with packets of 8 flits", _carries_more, ALLOCATOR),
    "R-066": _each("the policy changes run times by less than 3 %", [SINGLE_256], FOUR, _policy_is_free),
    "R-067": _each("Run_task below 0.5 on each network", [SINGLE_64], [GRAPH500], _mostly_idle),
    "R-068": _each("E_net below that of the reference", [SINGLE_64], [GRAPH500], _less_energy("1D-16X")),
}
RULES = {claim: _caused(rule, CAUSES_OF.get(claim, UNKNOWN)) for claim, rule in _JUDGED.items()}
