"""Judges claims under each interpretation ("reading") of OFAR's trigger and of OFAR-L, in the paper's network.

OFAR is adaptive at every router: the trigger is the condition under which a head takes a detour. OFAR-L is OFAR without
local detours.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import polars as pl

from weft_papers.common.measured import LackingError, Measured
from weft_papers.common.paper import Experiment
from weft_papers.common.rules import WORDS, Finding
from weft_papers.ofar.routings_run import OFAR, OFAR_L

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft_papers.common.rules import Rule

UNIFORM, ADVERSARIAL, FEW_VCS, CHANGE = "read_uniform", "read_adversarial", "read_scarce", "read_change"
EXPERIMENTS_READ = (UNIFORM, ADVERSARIAL, FEW_VCS, CHANGE)
# Conditions under which a head looks for a detour: for each value of `trigger`, a phrase for the report.
TRIGGERS = {"granted": "granted", "granted_or_full": "granted or full", "unavailable": "unavailable"}
# Values of `global_misrouting` for OFAR-L, each with a phrase for the report. They say how a head in a local queue of
# the source group misroutes, because OFAR-L has no local misroutes.
MIXED = "mixed"
MISROUTES = {
    MIXED: "local, then global",
    "current_router": "global at once",
    "source_router": "none",
}
# Experiments that rules read. `_as_read` replaces the points of OFAR in these experiments with the points of one
# reading.
_SATURATION, _TRANSIENTS, _SCARCE = "saturation", "transients", "scarce"
_PB = {"dragonfly_pb": {"sensor": "class_credits", "threshold": "0flits"}}
# The paper offers 1 phit/(node cycle) of uniform traffic. A flit here has 8 phits, so the load in flits is 0.125.
_ALL_UNIFORM = [0.125]
_SHORT = {"measure.warmup": "1500cycles", "measure.window": "1500cycles", "measure.drain_limit": "0cycles"}


def _ofar(trigger: str, misroutes: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the routing OFAR, or OFAR-L if `misroutes` is a value of its parameter `global_misrouting`."""
    without = {"local_misrouting": False, "global_misrouting": misroutes} if misroutes else {}
    return {"dragonfly_ofar": {"trigger": trigger} | without | more}


def _zipped(*routings: tuple[Any, int, int], **more: Any) -> dict[str, Any]:
    """Make overrides that run several routings.

    For each, `routings` has the number of VCs on local and on global links.
    """
    names = ("zip.routing", "zip.links.local.vcs", "zip.links.global.vcs")
    return dict(zip(names, map(list, zip(*routings, strict=True)), strict=True)) | more


def _uniform() -> dict[str, Any]:
    both = [(_ofar(trigger, misroutes), 3, 2) for trigger in TRIGGERS for misroutes in (None, MIXED)]
    return _zipped(("dragonfly_minimal", 2, 1), (_PB, 3, 2), *both) | _SHORT | {"sweep.traffic.load": _ALL_UNIFORM}


def _adversarial() -> dict[str, Any]:
    routings = [(_ofar(trigger, misroutes), 3, 2) for trigger in TRIGGERS for misroutes in (None, *MISROUTES)]
    farthest = [{"group_shift": {"shift": 6}}] * len(routings)
    return _zipped(*routings) | _SHORT | {"zip.traffic.pattern": farthest, "sweep.seed": [1]}


def _few_vcs() -> tuple[dict[str, Any], ...]:
    routings = {"sweep.routing": [_ofar(trigger, ring={"kind": "embedded"}) for trigger in TRIGGERS]}
    lasting = {"measure.warmup": "3000cycles", "measure.window": "2000cycles", "measure.drain_limit": "0cycles"}
    loads = (("uniform", [0.0625, 0.125]), ({"group_shift": {"shift": 6}}, [0.0375, 0.075]))
    return tuple(
        routings | lasting | {"sweep.traffic.pattern": [pattern], "sweep.traffic.load": some} for pattern, some in loads
    )


def _change(seeds: Sequence[int]) -> dict[str, Any]:
    """Make overrides of a scenario whose traffic changes from ADV+2 to ADV+6.

    They run PB, and OFAR with each trigger.
    """
    change = [{"from": "2500cycles", "pattern": {"group_shift": {"shift": 6}}}]
    return {
        "zip.traffic.pattern": [{"group_shift": {"shift": 2}}],
        "zip.traffic.phases": [change],
        "zip.traffic.load": [0.015],
        "measure.warmup": "1500cycles",
        "measure.window": "3500cycles",
        "sweep.routing": [_PB, *map(_ofar, TRIGGERS)],
        "sweep.seed": list(seeds),
    }


def experiments() -> tuple[Experiment, ...]:
    """Make the experiments that run all readings. Quick runs also use the paper's network. All runs have few loads."""
    uniform, adversarial, few = (_uniform(),), (_adversarial(),), _few_vcs()
    return (
        Experiment(UNIFORM, uniform, uniform, scenario="uniform"),
        Experiment(ADVERSARIAL, adversarial, adversarial, scenario="saturation"),
        Experiment(FEW_VCS, few, few, scenario="scarce"),
        Experiment(CHANGE, (_change([1]),), (_change([1, 2, 3]),), scenario="transients"),
    )


@lru_cache(maxsize=16)
def _as_read(measured: Measured, trigger: str, misroutes: str) -> Measured:
    """Return measurements in which the experiments that rules read have only the points of one reading.

    Routings without a trigger have the same points in each reading.
    """
    local = pl.col("global_misroutes").is_null() | (pl.col("mechanism") != OFAR_L)
    is_read = (pl.col("trigger").fill_null(trigger) == trigger) & (local | (pl.col("global_misroutes") == misroutes))
    found = {name: measured[name].filter(is_read) for name in EXPERIMENTS_READ}
    others = measured[_SATURATION].filter(~pl.col("mechanism").is_in([OFAR, OFAR_L]))
    found[_SATURATION] = pl.concat([others, found[ADVERSARIAL]])
    found |= {_TRANSIENTS: found[CHANGE], _SCARCE: found[FEW_VCS]}
    return Measured(dict(measured.frames) | found, measured.quick)


def granted(rule: Rule) -> Rule:
    """Change a rule so that it judges the runs of this module that have the trigger of the figures (``granted``)."""
    return replace(rule, judge=lambda measured: rule.judge(_as_read(measured, "granted", MIXED)))


def _judged(rule: Rule, measured: Measured, trigger: str, misroutes: str) -> Finding:
    try:
        return rule.judge(_as_read(measured, trigger, misroutes))
    except LackingError as problem:
        return Finding("not run", because=str(problem))


def table(rules: Mapping[str, tuple[Rule, bool]], measured: Measured) -> pl.DataFrame:
    """Make the table of readings: verdicts by claim (rows) and trigger (columns).

    `rules` has for each claim its rule, and whether the claim depends on the reading of OFAR-L. If so, the claim has a
    row for each reading of OFAR-L.
    """
    rows = []
    for claim, (rule, decides) in rules.items():
        for misroutes, words in MISROUTES.items() if decides else ((MIXED, "-"),):
            cells = {}
            for trigger, shown in TRIGGERS.items():
                found = _judged(rule, measured, trigger, misroutes)
                cells[shown] = f"{WORDS[found.answer]}: {found.measured or found.because}"
            rows.append(
                {"claim": claim, "OFAR-L in a local queue of the source group": words, "asked": rule.words} | cells
            )
    return pl.DataFrame(rows)


def read(rule: Rule, shown: Rule | None = None) -> Rule:
    """Extend the rule `shown` (by default `rule`): its finding also has the verdict of `rule` under each trigger."""
    shown = shown or rule

    def judge(measured: Measured) -> Finding:
        found = shown.judge(measured)
        if not measured.has((*EXPERIMENTS_READ, _SATURATION)):
            return found
        answers = {reported: _judged(rule, measured, name, MIXED).answer for name, reported in TRIGGERS.items()}
        words = ", ".join(f"{WORDS[answer]} with the trigger {reported}" for reported, answer in answers.items())
        return replace(found, measured="; ".join(filter(None, [found.measured, words])))

    return replace(shown, judge=judge)


def on_ring(measured: Measured) -> str:
    """Return text on OFAR-L with each trigger: load that it accepts under ADV+h, and hops over the ring per packet."""
    rows = measured[ADVERSARIAL].filter((pl.col("mechanism") == OFAR_L) & (pl.col("global_misroutes") == MIXED))
    lines = [
        f"{accepted:.3f} with the trigger {TRIGGERS[trigger]} and {hops:.3f} ring hops per packet"
        for trigger, accepted, hops in rows.select("trigger", "accepted_load", "ring_hops").drop_nulls().rows()
    ]
    if not lines:
        raise LackingError(f"{OFAR_L} was not run under the other triggers")
    return f"{OFAR_L} accepts: {'; '.join(lines)}"


def figure_rows(rules: Mapping[str, tuple[Rule, bool]]) -> partial[pl.DataFrame]:
    """Return the function that makes the table of readings with these rules from measurements."""
    return partial(table, rules)
