"""Compares imported configurations with measurements of BookSim2."""

from __future__ import annotations

import csv
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from weft.results import quantities as q
from weft.runs.execute import execute
from weft_peers.booksim.convert import convert
from weft_peers.validate.case import Case, Numbers, number
from weft_peers.validate.judge import Ours, judge

if TYPE_CHECKING:
    from weft._engine import Finished
    from weft_peers.booksim.convert import Imported
    from weft_peers.validate.case import MustMatch

PEER = Path(__file__).parent / "data" / "booksim"
SEEDS = 3
# Phases of Weft's runs, which are much shorter than BookSim2's. The tolerance of `judge` allows for the random
# variation of short runs.
PHASES = [("measure.warmup", "500cycles"), ("measure.window", "1500cycles")]


def rows() -> list[dict[str, str]]:
    """Return the rows of the file with measurements of BookSim2: one row for each run."""
    with (PEER / "measured.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def imported(row: dict[str, str]) -> Imported:
    return convert([str(PEER / row["config"]), *row["settings"].split()], "x")


def title(row: dict[str, str]) -> str:
    kept = (word for word in row["settings"].split() if not word.startswith(("warmup_periods", "sample_period")))
    return " ".join([row["config"], *kept])


LOW = [row for row in rows() if row["zero_load"] == "yes"]
CURVES = [row for row in rows() if row["must_match"] != "info"]


@pytest.mark.parametrize("row", LOW, ids=title)
def test_the_zero_load_latency_is_that_of_booksim(row: dict[str, str]) -> None:
    """The measurements are at load 0.01, at which few packets meet.

    The tolerance allows for these packets, and for the random mean of packets whose latencies spread by at most 40 %.
    """
    found = imported(row)
    point = found.scenario.points()[0]
    settings = dict(word.split("=", 1) for word in row["settings"].split())
    cycles = 3 * int(settings["sample_period"])
    flits = int(str(point.resolved["traffic"]["packet"]).rstrip("flits"))
    packets = float(row["accepted_rate"]) / flits * cycles * point.imply()["terminals"]
    assert found.zero_load is not None
    apart = float(row["packet_latency_cycles"]) / found.zero_load - 1
    assert -3 * 0.4 / sqrt(packets) < apart < 0.01 + 3 * 0.4 / sqrt(packets)


@pytest.mark.parametrize("row", CURVES, ids=title)
def test_latency_hops_and_accepted_load_are_those_of_booksim(row: dict[str, str]) -> None:
    scenario = imported(row).scenario
    points = [scenario.points([*PHASES, ("seed", str(seed))])[0] for seed in range(1, SEEDS + 1)]
    runs: list[Numbers] = []

    def collect(_: int, finished: Finished, _run: dict[str, Any]) -> None:
        summary = finished.summary
        runs.append(Numbers(*(summary[one.column] for one in (q.LATENCY, q.HOPS, q.ACCEPTED))))

    execute(points, collect)
    theirs = Numbers(
        latency=number(row["packet_latency_cycles"]),
        hops=float(row["routers_visited"]) - 1,
        accepted=float(row["accepted_rate"]),
    )
    must_match: MustMatch = "accepted" if row["must_match"] == "accepted" else "latency"
    case = Case(1, "BookSim2", title(row), 0.0, theirs, must_match, "", float(row["band"]), {})
    verdict = judge(case, Ours(runs, bound=1.0))
    assert verdict.answer == "agrees", verdict.reasons
