"""Explains points that collapse: they carry next to nothing while the power policy keeps links dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.results import link_modes, soundness
from weft.results import quantities as q
from weft.text import shell
from weft.text.labels import at, label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.results.result_set import ResultSet

_POLICY = "power.policy"
# An overloaded network in which no channel is busier than this [share of bandwidth] is not limited by its bandwidth.
_IDLE = 0.5
# Links were dark for long if they were not on for this share of their cycles.
_DARK = 0.2
# A network that accepts less than this share of the offered load has collapsed.
_COLLAPSED = 0.5
# Parameter of a policy by which a link goes to sleep because no flit comes.
_IDLE_TIME = "idle"
# What that does. Only links that go off for want of flits are known here to come back for a packet that waits for them.
_WAITING = (
    "packets wait for links that are not on, and block those behind them, and so the links further on get no flits and "
    "go to sleep, too."
)
_CLOSED = "links that are not on take no new packets."
# The kind of figure that shows it.
FIGURE = "residency"


def sentences(results: ResultSet) -> list[str]:
    """The points that collapsed: a sentence for the first of each policy, with the number of others."""
    found: dict[str, list[int]] = {}
    for row in range(len(results)):
        if _has_collapsed(results, row):
            found.setdefault(_policy(results, row), []).append(row)
    return [_sentence(results, policy, rows) for policy, rows in found.items()]


def _has_collapsed(results: ResultSet, row: int) -> bool:
    """Whether a point is overloaded although no channel is busy, because links were off or switching.

    They are to blame if the same load is carried where no link is switched, and not if it is not; where no such point
    was run, if they were dark for long.
    """
    summary = results.summaries[row]
    dark = _dark(summary)
    busiest = max((each.get("utilisation_max") or 0 for each in summary.get("link_classes") or []), default=1)
    if not dark or busiest >= _IDLE or not soundness.is_over(summary):
        return False
    beside = _always_on(results, row)
    return dark >= _DARK if beside is None else soundness.is_sound(results.summaries[beside])


def _dark(summary: Mapping[str, Any]) -> float:
    """The share of their cycles in which the managed links carried nothing; 0 if no link was ever switched."""
    on = summary.get("links_on_share")
    if on is None or not summary.get("link_transitions"):
        return 0.0
    carrying = ("shadow", *link_modes.slower(summary))
    return float(1 - on - sum(summary.get(f"links_{mode}_share") or 0 for mode in carrying))


def _sentence(results: ResultSet, policy: str, rows: list[int]) -> str:
    row = rows[0]
    summary = results.summaries[row]
    busiest = max(each["utilisation_max"] for each in summary["link_classes"])
    on, off = (summary[f"links_{state}_share"] for state in ("on", "off"))
    switching = _dark(summary) - off
    others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    text = (
        f"{_carried(summary, results.describe(row) + others)} although no channel is busy for more than "
        f"{100 * busiest:.2g} % of the window. Under {policy} the links were on for {100 * on:.2g} % of their cycles, "
        f"off for {100 * off:.2g} % and switching for {100 * switching:.2g} %: "
    )
    sleepy = _goes_off_idle(results, row)
    text += _WAITING if sleepy else _CLOSED
    if sleepy and switching > on:
        text += (
            " Links spend more time switching than on, as if they went off after less idle time than a switch takes."
        )
    beside = _always_on(results, row)
    if beside is not None:
        text += f" The same load is carried under {_policy(results, beside)}, which switches no link."
    return f"{text} `{shell.command('plot', FIGURE, results.root)}` shows the states of the links."


def _carried(summary: Mapping[str, Any], where: str) -> str:
    """How much of the load is carried, where it is too much: in the whole window, or in the worst phase of the load."""
    over = [phase for phase in summary.get("phases") or [] if phase.get("saturated")]
    if summary["saturated"] is not True and over:
        worst = min(over, key=lambda phase: phase[q.ACCEPTED.column] / phase[q.SET_LOAD.column])
        accepted, of = worst[q.ACCEPTED.column], worst[q.SET_LOAD.column]
        where += f", phase {worst['phase']} of the load"
    else:
        accepted, of = (summary[each.column] for each in (q.ACCEPTED, q.OFFERED))
    much = f"{accepted:.4g} of {of:.4g} {q.ACCEPTED.unit} are accepted"
    if accepted >= of:
        much = "packets of the window are not delivered within `measure.drain_limit`"
    return f"{'Collapse' if accepted < _COLLAPSED * of else 'Too much while links are dark'} at {where}: {much}"


def _goes_off_idle(results: ResultSet, row: int) -> bool:
    """Whether links go off for want of flits, as far as the parameters of the policy tell."""
    policy = results.points[row]["coordinates"].get(_POLICY)
    if policy is None:
        try:
            policy = at(results.scenario(row), _POLICY)
        except ResultsError:
            return False
    models = policy.values() if isinstance(policy, dict) else []
    return any(isinstance(parameters, dict) and _IDLE_TIME in parameters for parameters in models)


def _policy(results: ResultSet, row: int) -> str:
    """The power policy of a point with its parameters."""
    coordinates = results.points[row]["coordinates"]
    if _POLICY in coordinates:
        return label(coordinates[_POLICY], _POLICY)
    try:
        return label(at(results.scenario(row), _POLICY), _POLICY)
    except ResultsError:
        return str(results.summaries[row].get("policy"))


def _always_on(results: ResultSet, row: int) -> int | None:
    """The point that differs in nothing but the power policy, and in which no link was switched."""

    def rest(of: int) -> dict[str, Any]:
        coordinates = results.points[of]["coordinates"]
        return {path: value for path, value in coordinates.items() if not path.startswith("power.")}

    for other, summary in enumerate(results.summaries):
        if other != row and not summary.get("link_transitions") and rest(other) == rest(row):
            return other
    return None
