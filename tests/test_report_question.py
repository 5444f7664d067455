"""Tests how a report compares the user's values with the engine's defaults (the report's "question")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.report import question
from weft.report.question import chosen

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.yaml"))

PLAIN: dict[str, Any] = {
    "topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 2}},
    "routing": "ugal_p",
    "traffic": {"pattern": "uniform", "load": 0.1},
}


def rows(tmp_path: Path, **sections: Any) -> dict[str, tuple[str, str]]:
    point = weft.load(PLAIN | sections).points[0]
    return {path: (value, usual) for path, value, usual in chosen(point.resolved, tmp_path / "scenario.yaml")}


def test_a_scenario_of_defaults_has_only_what_has_none(tmp_path: Path) -> None:
    assert rows(tmp_path) == {
        "topology": ("hyperx(widths 4x4, terminals_per_router 2)", ""),
        "routing": ("ugal_p", ""),
        "traffic.pattern": ("uniform", ""),
        "traffic.load": ("0.1", ""),
    }


def test_what_differs_stands_beside_its_default(tmp_path: Path) -> None:
    shown = rows(
        tmp_path,
        routing={"ugal_p": {"threshold": "9flits"}},
        links={"default": {"latency": "7cycles"}, "dim1": {"vcs": 3}},
        power={"policy": {"idle_timeout": {"idle": "20cycles", "transition": "10cycles"}}},
        measure={"window": "5000cycles"},
    )
    assert shown["routing.ugal_p.threshold"] == ("9flits", "2flits")
    assert shown["links.default.latency"] == ("7cycles", "10cycles")
    assert shown["links.dim1.vcs"] == ("3", "6")
    assert shown["power.policy"] == ("idle_timeout(idle 20cycles, transition 10cycles)", "always_on")
    assert shown["measure.window"] == ("5000cycles", "20000cycles")


def test_what_follows_from_a_choice_is_not_one(tmp_path: Path) -> None:
    shown = rows(tmp_path, links={"default": {"latency": "7cycles"}}, measure={"window": "5000cycles"})
    assert "links.dim0.latency" not in shown, "it is that of links.default"
    assert "links.default.credit_latency" not in shown, "it is the latency"
    assert "measure.drain_limit" not in shown, "it is ten windows"


def test_a_routing_that_needs_more_than_the_defaults_still_has_a_question(tmp_path: Path) -> None:
    """A routing with two legs on a long ring needs more VCs than the default.

    The comparison therefore keeps the user's values of `links`.
    """
    graph = {
        "nodes": [{"id": k} for k in range(24)],
        "links": [{"source": k, "target": (k + 1) % 24} for k in range(24)],
    }
    (tmp_path / "ring.json").write_text(json.dumps(graph), encoding="utf-8")
    scenario = PLAIN | {
        "topology": {"graph": {"file": str(tmp_path / "ring.json"), "terminals_per_router": 1}},
        "routing": "shortest_path",
        "links": {"default": {"vcs": 12}},
    }
    point = weft.load(scenario).points[0]
    by_name = {path: (value, usual) for path, value, usual in chosen(point.resolved, tmp_path / "scenario.yaml")}
    assert "terminals_per_router 1" in by_name["topology"][0]
    assert by_name["traffic.load"] == ("0.1", "")


PROGRAM: dict[str, Any] = {
    "topology": {"torus": {"widths": [4, 4], "terminals_per_router": 1}},
    "routing": "dimension_order",
    "links": {"default": {"vcs": 4}},
    "traffic": {
        "workload": {
            "programs": {
                "program": {"collective": {"operation": "all_reduce", "ranks": 16, "bytes": "1KiB", "gap": "20us"}},
                "overhead": "200ns",
            }
        }
    },
}


def _of(scenario: dict[str, Any], tmp_path: Path) -> dict[str, tuple[str, str]]:
    point = weft.load(scenario).points[0]
    return {path: (value, usual) for path, value, usual in chosen(point.resolved, tmp_path / "scenario.yaml")}


def test_a_program_has_no_default_among_what_was_chosen(tmp_path: Path) -> None:
    workload = "programs(program collective(operation all_reduce, ranks 16, bytes 1KiB, gap 20us), overhead 200ns)"
    assert _of(PROGRAM, tmp_path) == {
        "topology": ("torus(widths 4x4, terminals_per_router 1)", ""),
        "routing": ("dimension_order", ""),
        "traffic.workload": (workload, ""),
        "links.default.vcs": ("4", "6"),
    }
    job = {"name": "one", "terminals": {"random": {"count": 16}}, **PROGRAM["traffic"]}
    jobs = _of(PROGRAM | {"traffic": {"jobs": [job]}}, tmp_path)
    assert list(jobs) == ["topology", "routing", "traffic.jobs", "links.default.vcs"]
    assert "repeat" not in jobs["traffic.jobs"][0]


def test_what_is_not_told_apart_from_defaults_is_not_called_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question, "_NEEDED_TOGETHER", ())
    shown = _of(PLAIN | {"links": {"default": {"vcs": 12}}}, tmp_path)
    assert list(shown) == ["topology", "routing", "traffic.pattern", "traffic.load", "all other keys"]
    assert shown["all other keys"][0].startswith("not separable from defaults")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_has_chosen_values(file: Path) -> None:
    point = weft.load(file).points[0]
    assert "all other keys" not in [path for path, _, _ in chosen(point.resolved, file)]
