"""Tests that diagnoses are data: each has a code that the site documents, numbers, and a remedy whose settings work."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import weft
from conftest import made
from weft import _engine
from weft.cli import main
from weft.report import answer
from weft.report.sources import Sources
from weft.results import codes, of_programs, savings, soundness

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
from weft_docs import diagnoses

ROW = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: minimal
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 1us, window: 10us}
"""
CODES = {code["code"]: code for code in _engine.codes()}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_each_code_says_what_it_means_how_it_is_computed_and_what_helps(code: dict[str, str]) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code["code"])
    assert code["severity"] in ("flaw", "warning", "hint")
    for key in ("means", "computed", "helps"):
        assert re.fullmatch(r"[A-Z0-9`a-z].*\.", code[key]), (key, code[key])
    (page,) = diagnoses.pages().values()
    assert page.count(f"({code['code']})=\n### `{code['code']}`\n") == 1


def test_flaws_of_points_have_the_severity_of_flaws() -> None:
    assert [flaw.code for flaw in soundness.FLAWS if CODES[flaw.code]["severity"] != "flaw"] == []
    assert {code for code, each in CODES.items() if each["severity"] == "flaw"} == {
        each.code for each in soundness.FLAWS
    }


def _warned(**overrides: Any) -> dict[str, dict[str, Any]]:
    point = weft.load(ROW, overrides=overrides).points[0]
    hints = point.imply()["hints"]
    return {each["code"]: each for each in (*point.warnings, *hints)}


def test_warnings_before_a_run_have_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (warning,) = _warned(**{"traffic.load": 0.0001}).values()
    assert (warning["code"], warning["severity"], warning["path"]) == ("few_packets", "warning", "measure.window")
    enough = warning["numbers"]["enough_cycles"]
    assert f"write {enough:.0f}cycles or more" in warning["help"]
    assert _warned(**{"traffic.load": 0.0001, "measure.window": f"{enough:.0f}cycles"}) == {}
    file = tmp_path / "row.yaml"
    file.write_text(ROW, encoding="utf-8")
    assert main(["check", str(file), "--set", "traffic.load=0.0001", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == [warning]


SLEEPY = {"power.policy": {"idle_timeout": {"idle": "1us", "transition": "2us"}}, "measure.warmup": "2us"}


def test_every_warning_and_hint_has_a_code_of_the_page() -> None:
    faults = {"fault_model": {"random": {"of": "links", "mtbf": "1s", "mttr": "1us"}}, "routing": "shortest_path"}
    silent = {"traffic.load": 0}
    late = {"traffic.phases": [{"from": "20us", "load": 0.2}]}
    long = {"power.policy": {"idle_timeout": {"idle": "1ms", "transition": "100ns"}}, "measure.warmup": "auto"}
    found = [_warned(**overrides) for overrides in (SLEEPY, faults, silent, late, long)]
    codes = [sorted(each) for each in found]
    assert codes[0] == ["sleeps_too_soon", "warmup_of_policy"]
    assert [each[0] for each in codes[1:]] == ["no_random_fault", "nothing_sent", "after_window", "long_warmup"]
    for each in found:
        for code, shown in each.items():
            assert shown["severity"] == CODES[code]["severity"]
            assert all(isinstance(value, int | float) for value in shown["numbers"].values())


def test_results_have_diagnoses_whose_settings_end_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "row.yaml"
    file.write_text(ROW, encoding="utf-8")
    run = ["run", str(file), "--set", "traffic.load=0.002", "--out", str(tmp_path / "few"), "--json"]
    assert main([*run, "--set", "measure.window=1us"]) == 0
    document = json.loads(capsys.readouterr().out)
    (point,) = document["points"]
    assert document["diagnoses"] == [], "of several points"
    assert point["diagnoses"] == weft.open_results(tmp_path / "few").diagnoses[0]
    flaw = point["diagnoses"][0]
    assert (flaw["code"], flaw["severity"], flaw["what"]) == ("too_few_packets", "flaw", "with fewer than 30 packets")
    assert 0 < flaw["numbers"]["packets"] < flaw["numbers"]["fewest_packets"] == 30
    window = flaw["remedy"]["settings"]["measure.window"]
    assert flaw["remedy"]["text"] == f"write `measure.window: {window}` or more"
    assert {each["code"] for each in point["diagnoses"][1:]} == {"few_packets"}
    longer = weft.load(file, overrides={"traffic.load": 0.002, **flaw["remedy"]["settings"]}).run(tmp_path / "longer")
    assert longer.diagnoses == [[]]


def test_results_of_earlier_versions_have_diagnoses_too() -> None:
    warning = {"path": "measure.warmup_limit", "what": "not settled after 9000 cycles", "help": "write a longer limit"}
    old = {"ending": "drained", "saturated": False, "packets": 999, "warmup_settled": False, "warmup_cycles": 9000}
    flaw, shown = soundness.diagnoses(old | {"warmup_limit_cycles": 9000, "warnings": [warning]}, "results", None)
    assert (flaw["code"], flaw["remedy"]["settings"]) == (
        "latencies_unsettled",
        {"measure.warmup_limit": "36000cycles"},
    )
    assert (shown["severity"], shown["remedy"]["text"], shown.get("code")) == ("warning", "write a longer limit", None)


AUTO = ROW.replace("warmup: 1us", "warmup: auto, warmup_limit: 50us")
BATCHES = ROW.replace("load: 0.1", "batch: {per_terminal: 20}").replace("warmup: 1us, window: 10us", "stop: complete")
CONFIDENCE = ROW.replace("window: 10us", "window: 10us, stop: {confidence: {half_width: 0.05, max_window: 20us}}")
# Summary of a settled point. The tests change its numbers, and each change causes a flaw or a warning.
SETTLED: dict[str, Any] = {
    "ending": "drained",
    "saturated": False,
    "packets": 999,
    "load": 0.1,
    "offered_load": 0.1,
    "accepted_load": 0.1,
    "terminals": 8,
    "packet_flits": 4,
    "warmup_cycles": 1000,
    "window_cycles": 10000,
}
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "fixed": (ROW, {}),
    "auto": (AUTO, {"warmup_settled": True, "power_settled": True, "warmup_limit_cycles": 50000}),
    "batches": (BATCHES, {"jobs": [{"job": "job", "packets": 20, "batch_packets": 160}], "warmup_cycles": 0}),
    "confidence": (CONFIDENCE, {"confidence_reached": False}),
}
FLAWED: list[dict[str, Any]] = [
    {"saturated": True},
    {"packets": 0, "offered_load": 0, "accepted_load": 0},
    {"packets": 20},
    {"below_path_bound": False, "path_bound_share": 1.0, "path_bound_load": 0.1},
    {"queues_settled": False},
    {"queues_settled": False, "path_bound_share": 0.96},
    {"queues_settled": False, "accepted_load": 0.05},
    {"backlog_before_packets": 500, "queues_settled": True, "accepted_load": 0.2},
    {"packet_latency_mean_cycles": 20000},
    {"whole_periods": False},
]
AT_LIMIT: list[dict[str, Any]] = [{"warmup_settled": False}, {"power_settled": False}]


@pytest.mark.parametrize("rule", RULES)
def test_a_scenario_accepts_the_settings_of_its_flaws(rule: str) -> None:
    text, kept = RULES[rule]
    found = set()
    for change in FLAWED + (AT_LIMIT if rule == "auto" else []):
        for each in soundness.diagnoses(SETTLED | kept | change, "results", None):
            if settings := each["remedy"]["settings"]:
                weft.load(text, overrides=settings)
                found.add(each["code"])
    sets = {
        "fixed": ["queues_unsettled", "began_with_backlog", "may_be_saturated", "filling"],
        "auto": ["latencies_unsettled", "power_unsettled"],
        "batches": [],
        "confidence": ["began_with_backlog", "filling"],
    }
    of_window = ["no_packet", "too_few_packets", "window_below_latency"] if rule in ("fixed", "auto") else []
    assert found == {*sets[rule], *of_window}


@pytest.mark.parametrize("ending", ["stalled", "interrupted"])
def test_remedies_name_the_folder_and_the_command(ending: str) -> None:
    summary = {"ending": ending, "saturated": False, "packets": 999}
    (flaw,) = soundness.diagnoses(summary, "results/my ring", "weft run ring.yaml")
    assert ("'results/my ring'" if ending == "stalled" else "weft run ring.yaml --force") in flaw["remedy"]["text"]
    (unknown,) = soundness.diagnoses(summary, "results", None)
    assert "{" not in unknown["remedy"]["text"]


ON: dict[str, Any] = {"links_on_mean": 1.0, "links_stay_on": True, "power_mean_w": 2000.0, "energy_total_fj": "9"}
SLEEP = ON | {"links_on_mean": 0.5, "links_stay_on": False, "power_mean_w": 900.0, "power_settled": True}
LATER = {"warmup_cycles": 9000, "window_cycles": 2000, "offered_load": 0.105}
# Codes of diagnoses on a pair of points, each with the numbers in which the two points differ from `SETTLED`.
PAIRS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("unequal_work", {}, {"accepted_load": 0.3}),
    ("other_faults", LATER | {"dropped_packets": 1, "packets": 999}, {"warmup_cycles": 1000, "window_cycles": 2000}),
    ("other_windows", LATER, {"warmup_cycles": 1000, "window_cycles": 2000}),
]


@pytest.mark.parametrize(("code", "on", "sleep"), PAIRS, ids=[code for code, _, _ in PAIRS])
def test_diagnoses_of_pairs_are_data_and_lines_have_their_codes(
    tmp_path: Path, code: str, on: dict[str, Any], sleep: dict[str, Any]
) -> None:
    policies: list[dict[str, Any]] = [{"power.policy": "always_on"}]
    policies.append({"power.policy": {"idle_timeout": {"idle": "9cycles"}}})
    sides = [(policies[0], ON | on | {"hash": 0}), (policies[1], SLEEP | sleep | {"hash": 1})]
    carried = {"traffic.load": 0.1}, {"traffic.load": 0.2}
    runs = [(policy | carried[0], numbers) for policy, numbers in sides]
    runs += [(policies[0] | carried[1], ON | {"hash": 2}), (policies[1] | carried[1], SLEEP | {"hash": 3})]
    results = made(tmp_path / "made", runs)
    (found,) = results.sweep_diagnoses
    assert (found["code"], found["severity"], found["points"][:2]) == (code, "warning", [0, 1])
    assert found["numbers"]["pairs"] == 1
    assert found["remedy"]["text"]
    text = " ".join(savings.lines(results, width=1000))
    assert f"[{code}]" in text
    assert codes.legend([text]) == [f"to explain a name in brackets: weft explain code {code}"]
    lines = [line for line in answer.sentences(Sources([results])) if f"[{code}]" in line]
    assert lines, "the report"


def test_other_programs_under_another_policy_are_a_diagnosis(tmp_path: Path) -> None:
    """Two points that should differ only in the policy run different programs.

    Lines, report and data name these points.
    """
    ended = {"solution_seconds": 2e-6, "energy_total_j": 3e-6, "energy_delay_js": 6e-12}
    job = {"job": "ring", "run_time_cycles": 2000, "messages": 8, "message_bytes": 4096}

    def point(grain: str, policy: Any, numbers: dict[str, Any], messages: int) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"grain": grain, "power.policy": policy}, numbers | ended | {"jobs": [job | {"messages": messages}]}

    sleeping = {"idle_timeout": {"idle": "9cycles"}}
    same = [point("1KiB", "always_on", ON, 8), point("1KiB", sleeping, SLEEP, 8)]
    results = made(tmp_path / "other", [*same, point("4KiB", "always_on", ON, 8), point("4KiB", sleeping, SLEEP, 9)])
    (found,) = results.sweep_diagnoses
    assert (found["code"], found["severity"], found["points"]) == ("unequal_programs", "warning", [2, 3])
    assert found["numbers"] == {"pairs": 1, "of_pairs": 2}
    sentence = f"idle_timeout: {found['what']}; {found['remedy']['text']} [unequal_programs]"
    assert of_programs.lines(results)[-1] == sentence
    assert f"{sentence}." in answer.sentences(Sources([results]))
    assert made(tmp_path / "same", same).sweep_diagnoses == []


def test_flaws_of_points_are_no_diagnoses_of_pairs(tmp_path: Path) -> None:
    runs = [({"power.policy": "always_on"}, ON), ({"power.policy": "tcep"}, SLEEP | {"saturated": True})]
    results = made(tmp_path / "made", runs)
    assert results.sweep_diagnoses == []
    assert "1 saturated." in " ".join(savings.lines(results))
    assert codes.legend(["no code [at all]"]) == []


def test_a_run_as_json_writes_its_tables_and_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ends = {"a": [0, 3], "b": [4, 7]}
    job = {"pattern": "uniform", "load": 0.1}
    jobs = [{"name": name, "terminals": {"range": of}} | job for name, of in ends.items()]
    file = tmp_path / "row.yaml"
    file.write_text(ROW.replace("{pattern: uniform, load: 0.1}", json.dumps({"jobs": jobs})), encoding="utf-8")
    page = tmp_path / "rep.html"
    run = ["run", str(file), "--out", str(tmp_path / "out"), "--json"]
    assert main([*run, "--report", str(page)]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(page)
    assert page.exists()
    assert {"table.csv", "jobs.csv"} <= {each.name for each in (tmp_path / "out").iterdir()}
    assert main([*run, "--watch", "0:0"]) == 2
    assert "--json can't be combined with --watch" in capsys.readouterr().err


def test_a_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "code", "saturated"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("saturated: a flaw\nmeaning   The network does not carry the load.")
    assert main(["explain", "code", "saturated", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == CODES["saturated"]
    assert main(["explain", "code", "satured"]) == 2
    assert "did you mean `saturated`?" in capsys.readouterr().err
    assert main(["explain", "code", "saturated", "--set", "a=1"]) == 2
    assert "explain code has no --set" in capsys.readouterr().err


# Files that use regular expressions, with the texts that the expressions read. No expression reads the text of a
# diagnosis.
PATTERNS = {
    "analysis/machine_energy.py": "an option, such as 300x200",
    "cite/bibliography.py": "the source in the header of a model",
    "cli/arguments.py": "an option with a unit",
    "plot/appearance.py": "an option, and the words of a figure that are replaced by the user's",
    "programs/program_files.py": "a file that is a scenario",
    "results/bill_keys.py": "a price of the scenario",
    "results/choose.py": "an option that chooses points",
    "results/database.py": "the user's SQL, and messages of DuckDB",
    "results/headings.py": "the name of a column, and its unit",
    "results/pandas_frame.py": "the name of a column",
    "results/unfinished.py": "the name of a file",
    "runs/checkpoints.py": "an option with a unit",
    "scenario/networkx_graphs.py": "a comment in YAML",
    "text/columns.py": "the heading of a column that is too wide",
    "text/file_names.py": "a name that becomes that of a file",
    "text/meant.py": "a word that a user wrote wrong",
    "text/si.py": "a quantity of the scenario",
    "text/typeset.py": "the heading of a column, and cells of a table",
}


def test_no_code_reads_the_sentences_of_the_engine() -> None:
    """Python code must not match or compare the texts of diagnoses (`what`, `help` and `words`), because these can
    change."""
    package = Path(weft.__file__).parent
    files = {str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    uses = re.compile(r"^\s*(import|from) re\b", re.MULTILINE)
    assert sorted(name for name, text in files.items() if uses.search(text)) == sorted(PATTERNS)
