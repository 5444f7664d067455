"""Tests the command line: output and exit status of several commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from weft import _engine
from weft.cli import catalogue, commands, main
from weft.scenario import parameters


def test_run_ends_with_the_path_of_the_picture(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(small), "--out", str(tmp_path / "out")]) == 0
    last = capsys.readouterr().out.rstrip().splitlines()[-1]
    picture = Path(last.split()[-1])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"plot.png", "points", "sweep.json", "table.csv"}


def test_a_point_is_a_folder_with_four_files(small: Path, tmp_path: Path) -> None:
    main(["run", str(small), "--out", str(tmp_path / "out")])
    folders = list((tmp_path / "out" / "points").iterdir())
    assert len(folders) == 12
    for folder in folders:
        files = {"channels.parquet", "run.json", "scenario.yaml", "summary.json"}
        assert {path.name for path in folder.iterdir()} == files
        assert json.loads((folder / "summary.json").read_text())["hash"] == folder.name


def test_saturation_is_a_result(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--set", "traffic.pattern=tornado", "--set", "traffic.load=0.9"]
    assert main(["run", str(small), "--out", str(tmp_path / "out"), *arguments]) == 0
    # under tornado and dimension order, the busiest channel carries the traffic of all 4 terminals of a router
    line = next(line for line in capsys.readouterr().out.splitlines() if "sat" in line and "0.9" in line)
    assert float(line.split()[2]) == pytest.approx(0.25, rel=0.02)


def test_a_stall_is_reported_and_the_others_are_saved(
    ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", str(ring), "--out", str(out)]) == 4
    errors = capsys.readouterr().err
    assert "can never move again" in errors
    assert "waits for room behind its link" in errors
    assert len(list((out / "points").glob("*/summary.json"))) == 2
    assert main(["run", str(ring), "--out", str(out)]) == 4, "a reused point is stuck too"


def test_the_replay_of_a_stall_can_be_pasted(ring: Path, tmp_path: Path) -> None:
    """The printed command that replays a stall works in a folder with a blank in its name, and runs the point each
    time."""
    out = tmp_path / "my results"
    weft = Path(sys.executable).parent / "weft"
    first = subprocess.run([weft, "run", ring, "--out", out], capture_output=True, text=True, check=False)
    assert first.returncode == 4
    pasted = first.stderr.split("replay: ")[1].strip()
    wait_for = [line for line in first.stderr.splitlines() if "waits for" in line]
    assert wait_for
    for _ in range(2):
        again = subprocess.run(pasted, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert again.returncode == 4, again.stderr
        assert [line for line in again.stderr.splitlines() if "waits for" in line] == wait_for
        assert "done before" not in again.stderr


def test_a_reader_that_leaves_does_not_change_the_exit_status(ring: Path, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "weft", "run", str(ring), "--out", str(tmp_path / "out")]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    shown = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, env=buffered, text=True, check=False)
    os.close(write)
    assert shown.returncode == 4, shown.stderr
    assert "Traceback" not in shown.stderr


def test_names_that_are_no_text_are_reported(small: Path, tmp_path: Path) -> None:
    named = os.fsencode(small.parent) + b"/\xff.yaml"
    Path(os.fsdecode(named)).write_bytes(small.read_bytes())
    weft = [sys.executable, "-m", "weft"]
    shown = subprocess.run([*weft, "check", os.fsdecode(named)], capture_output=True, text=True, check=False)
    assert shown.returncode == 2
    assert "is not UTF-8 text" in shown.stderr
    out = os.fsdecode(os.fsencode(tmp_path) + b"/\xfe")
    command = [*weft, "run", str(small), "--set", "traffic.load=0.1", "--out", out]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "\\udcfe" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "traffic.load=1.2"], ["traffic.load", "at most 1"]),
        (["--set", "rooting=minimal"], ["rooting", "did you mean `routing`"]),
        (["--set", "no equals sign"], ["this is not path=value", "--set traffic.load=0.3"]),
        (["--set", "links.default.vcs=0"], ["0 virtual channels"]),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    assert main(["run", str(small), "--out", str(tmp_path / "out"), *arguments]) == 2
    errors = capsys.readouterr().err
    assert all(word in errors for word in words), errors
    assert not (tmp_path / "out").exists()


def test_an_error_names_file_line_and_column(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small.write_text(small.read_text().replace("window: 500cycles", "window: 500parsecs"), encoding="utf-8")
    assert main(["check", str(small)]) == 2
    assert f"{small}:7:" in capsys.readouterr().err


def test_every_power_policy_of_a_sweep_is_checked_before_anything_runs(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The routing `ugal_p` is compatible with links that are always on, but not with links that tcep switches off.

    The first of the 16 points that combines `ugal_p` with tcep is the ninth, but the error comes before any point runs.
    """
    sweep = ["--set", "sweep.power.policy=[always_on, tcep]", "--set", "sweep.routing=[ugal_p]"]
    for command in (["run", "--out", str(tmp_path / "out")], ["check"]):
        assert main([command[0], str(small), *command[1:], *sweep]) == 2
        errors = capsys.readouterr().err
        assert "power.policy.tcep: ugal_p does not read link states" in errors
        assert "in the point where `traffic.pattern` is uniform" in errors
    assert not (tmp_path / "out").exists()


UNIFORM = ["sweep.traffic.pattern=[uniform]"]
DRAGONFLY = "{dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}"


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (
            [f"topology={DRAGONFLY}", *UNIFORM, "sweep.routing=[pal]", "sweep.power.policy=[always_on, tcep]"],
            ["power.manages: tcep can't switch global links", "write manages: [local]"],
        ),
        (
            ["topology.hyperx.widths=[8]", "sweep.routing=[minimal]", "sweep.power.policy=[always_on, slac]"],
            ["power.policy.slac: slac switches rows and columns", "a grid of 1 dimensions"],
        ),
        (
            ["sweep.routing=[pal]", "sweep.power.policy=[always_on, {static: {hub: 77}}]"],
            ["power.policy.static.hub: 77, but a subnetwork has only 4 routers", "write 0 to 3"],
        ),
        (
            ["sweep.routing=[pal]", "sweep.power.policy=[{tcep: {hub: 1}}, {tcep: {hub: 50}}]"],
            ["power.policy.tcep.hub: 50, but a subnetwork has only 4 routers", "write 0 to 3"],
        ),
        (
            ["sweep.routing=[pal]", "power.policy=tcep", "sweep.power.policy.tcep.activation_epoch=[1us, 100ns]"],
            ["power.policy.tcep.activation_epoch: 100 cycles are shorter than the wake-up delay"],
        ),
    ],
)
def test_every_combination_of_a_sweep_is_checked_before_anything_runs(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], sets: list[str], words: list[str]
) -> None:
    """Two points differ only in the policy. The first point could run, but the second is refused."""
    arguments = [word for path in sets for word in ("--set", path)]
    for command in (["check", str(small)], ["run", str(small), "--out", str(tmp_path / "out")]):
        assert main([*command, *arguments]) == 2
        printed = capsys.readouterr()
        assert all(word in printed.err for word in words), printed.err
        assert "without errors" not in printed.out
    assert not (tmp_path / "out").exists()


UNSETTLED = ["--set", "sweep.routing=[minimal]", "--set", "power.policy={idle_timeout: {idle: 5us, transition: 3us}}"]


def test_check_and_run_warn_of_a_warm_up_in_which_links_can_not_settle(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "warning: measure.warmup: a warm-up of 500 cycles (500ns)",
        "11000 cycles (11us)",
        "= help: write `measure",
    ]
    assert main(["check", str(small), *UNSETTLED]) == 0
    output = capsys.readouterr().out
    assert all(word in output for word in words), output
    assert "(at 6 of 6 points)" in output
    one = ["--set", "sweep.traffic.load=[0.05]", "--set", "sweep.traffic.pattern=[uniform]"]
    assert main(["run", str(small), "--no-picture", "--out", str(tmp_path / "out"), *UNSETTLED, *one]) == 0
    output = capsys.readouterr().err
    assert all(word in output for word in words), output
    (summary,) = (tmp_path / "out" / "points").glob("*/summary.json")
    assert json.loads(summary.read_text())["warnings"][0]["path"] == "measure.warmup"
    settled = ["--set", "measure.warmup=auto"]
    assert main(["check", str(small), *UNSETTLED, *settled]) == 0
    assert "warning" not in capsys.readouterr().out


def test_check_hints_at_buffers_below_the_round_trip(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(small)]) == 0
    assert "hint" not in capsys.readouterr().out
    assert main(["check", str(small), "--set", "links.dim0.latency=50cycles"]) == 0
    output = capsys.readouterr().out
    what = "a buffer of 32 flits is too small: the link carries 102 flits in the round trip of a credit"
    assert f"hint: links.dim0.buffer: {what}" in output
    assert main(["check", str(small), "--set", "links.dim0={latency: 50cycles, buffer: 102flits}"]) == 0
    assert "hint: links.dim0" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ['"a\\0b"', "../../escape", "/tmp/x", '"two\\nlines"', "x" * 101, '" "', ".hidden"])
def test_a_name_that_is_no_line_of_text_is_refused(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    small.write_text(f"name: {name}\n{small.read_text()}", encoding="utf-8")
    for command in (["check", str(small)], ["run", str(small), "--out", str(tmp_path / "out")]):
        assert main(command) == 2
        errors = capsys.readouterr().err
        assert f"{small}:1:7" in errors
        assert "error: name: " in errors
    assert not (tmp_path / "out").exists()


def test_check_shows_on_which_coordinates_the_facts_depend(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policies = "sweep.power.policy=[always_on, {idle_timeout: {idle: 20cycles, transition: 10cycles}}]"
    assert main(["check", str(small), "--set", policies]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith(("uniform ", "tornado ")) for line in lines) == 4, "policies imply the same"
    row = ["topology.hyperx.widths=[4]", "sweep.routing=[pal]", "sweep.traffic.pattern=[uniform]"]
    row.append("sweep.power.policy=[always_on, {static: {on: root}}]")
    assert main(["check", str(small), *(word for path in row for word in ("--set", path))]) == 0
    (always_on, star) = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith(("always_on ", "static"))
    ]
    # mean hops: 3 of the other 15 terminals are at the same router, hence 12/15 = 0.8; over the star, 6 of the 12
    # ordered pairs of routers are 2 hops apart, hence 1.2
    assert "0.8" in always_on.split()
    assert "1.2" in star.split()


def test_a_file_that_can_not_be_written_is_bad_input(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file" / "below"
    (tmp_path / "file").touch()
    assert main(["run", str(small), "--out", str(blocked)]) == 2
    assert main(["analyse", "oracle", str(small), "--set", "sweep.traffic.load=[0.1]", "--out", str(blocked)]) == 2
    assert capsys.readouterr().err.count("error: ") == 2


def test_a_missing_file_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "absent.yaml")]) == 2
    assert "absent.yaml" in capsys.readouterr().err


def test_check_says_each_thing_once(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(small)]) == 0
    output = capsys.readouterr().out
    assert output.count("topology:") == 1
    assert "12 points" in output
    # the table has 2 patterns x 2 routings, because all loads imply the same facts
    assert sum(line.startswith(("uniform ", "tornado ")) for line in output.splitlines()) == 4
    # radix 10: a router has 4 terminals, and 3 + 3 links to the other routers of its row and its column
    assert next(line for line in output.splitlines() if "radix" in line).split()[-1] == "10"


def test_list_knows_the_families(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    everything = capsys.readouterr().out
    assert main(["list", "routing"]) == 0
    routings = capsys.readouterr().out
    assert "ugal_p" in routings
    assert routings.strip() in everything
    assert main(["list", "rooting"]) == 2


def test_list_shows_the_parameters_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "routing", "ugal_p"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "routing: ugal_p",
        "  UGAL_p: UGAL with a separate decision in each dimension of a HyperX, in a fixed order of dimensions.",
    ]
    assert next(line for line in lines if line.startswith("threshold")).split()[1:4] == ["e.g.", "32flits", "2flits"]
    assert any(line.split()[:1] == ["history_window"] for line in lines), "the words that a parameter may be"
    assert main(["list", "routing", "ugal_q"]) == 2
    assert "ugal_p" in capsys.readouterr().err


def test_list_shows_words_without_a_comment_and_what_words_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "power.policy", "tcep"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    first = [row[0] for row in rows if row]
    assert {"all_on", "activation_epoch", "deactivation_epoch", "outer", "even"} <= set(first)
    assert first.count("root") == first.count("even") == 1
    assert first.count("deactivation_epoch") == 2, "a parameter, and a word of another"
    assert next(row for row in rows if row[:1] == ["shadow"])[1:4] == ["one", "of", "deactivation_epoch"]
    assert next(row for row in rows if row[:1] == ["spares.even.from"])[1:3] == ["number", "0.3"]
    assert next(row for row in rows if row[:1] == ["spares.even.target"])[1:3] == ["number", "0.92"]
    assert main(["list", "pattern", "mix"]) == 0
    assert "pattern.hot_spot" not in capsys.readouterr().out, "models of a family are listed apart"


def test_the_parameters_of_a_list_are_those_of_its_items(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "pattern", "mix"]) == 0
    output = capsys.readouterr().out
    assert "each item has" in output
    assert {"weight", "pattern"} <= {line.split()[0] for line in output.splitlines() if line.strip()}


def test_the_keys_inside_a_parameter_that_is_a_list_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "power.policy", "timetable"]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert rows["off"][:2] == ["list", "required"]
    assert rows["off[].from"][:3] == ["e.g.", "4cycles", "required"]
    assert {"off[].until", "off[].classes"} <= set(rows)


def test_every_model_can_be_listed_with_every_key_that_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    """The list of a model has a row for each key that a scenario can have below it: also keys in lists, mappings and
    choices.

    The test also runs the command itself, for the first model of each family.
    """
    schema, every = _engine.schema(), _engine.models()
    families = {frozenset(model["name"] for model in models) for models in every.values()}

    def named(place: dict[str, Any]) -> set[str]:
        place = parameters.target(schema, place)
        parts = [place, *place.get("oneOf", [])]
        if frozenset(word for part in parts for word in part.get("properties", {})) & set().union(*families):
            return set()  # a model of a family, which is listed separately
        below = [each for part in parts for each in part.get("properties", {}).values()]
        own = {word for part in parts for word in part.get("properties", {})}
        return own.union(*map(named, [*below, *([place["items"]] if "items" in place else [])]))

    for family, models in every.items():
        for model in models:
            output = "\n".join(catalogue.lines(schema, every, family, model["name"]))
            assert output.startswith(f"{family}: {model['name']}")
            shown = re.findall(r"[\w]+", output)
            assert named(parameters.model(schema, family, model["name"])) <= set(shown), model["name"]
        first = models[0]["name"]
        assert main(["list", family, first]) == 0
        assert capsys.readouterr().out == "\n".join(catalogue.lines(schema, every, family, first)) + "\n"


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert "topology" in json.loads(capsys.readouterr().out)["properties"]


@pytest.mark.parametrize("command", sorted(commands.names()))
def test_every_command_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert f"Example: weft {command} " in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("weft 0.")


def test_help_starts_at_once() -> None:
    """``weft --help`` imports no slow libraries such as polars or matplotlib, so that help appears at once."""
    code = "import sys, weft.cli\ntry: weft.cli.main(['--help'])\nexcept SystemExit: pass\nprint(sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert not any(f"'{slow}'" in shown for slow in ("polars", "matplotlib", "rich", "duckdb", "yaml", "weft._engine"))


def test_the_last_of_two_sets_counts_and_stands_where_it_was_written(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A later `--set` of a key replaces an earlier sweep over it, even if an earlier `--set` gave the key a value."""
    sets = ["--set", "seed=1", "--set", "sweep.seed=[2, 3]", "--set", "seed=4", "--set", "sweep.routing=[ugal_p]"]
    sets += ["--set", "sweep.traffic.pattern=[uniform]", "--set", "sweep.traffic.load=[0.1]"]
    assert main(["check", str(small), *sets]) == 0
    output = capsys.readouterr().out
    assert "seed: 4" in output
    assert "1 points, all without errors" in output


@pytest.mark.parametrize("order", [1, -1])
def test_a_set_below_a_sweep_is_never_lost(small: Path, order: int, capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["routing.dimension_order.dateline=none", "sweep.routing=[ugal_p, dimension_order]"][::order]
    assert main(["check", str(small), *(word for each in sets for word in ("--set", each))]) == 2
    errors = capsys.readouterr().err
    assert "`routing` is swept, and the values of the sweep replace everything below this path" in errors
    assert "--set routing=..." in errors
