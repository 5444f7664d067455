"""Tests result folders.

They have safe names, by default that of the scenario file, and never the results of two scenarios.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import weft
from conftest import SMALL
from weft.cli import main
from weft.text.file_names import slug

ONE = {"sweep.traffic.load": [0.1], "sweep.traffic.pattern": ["uniform"]}
WORDS = ["--no-picture", "--set", "sweep.traffic.load=[0.1]", "--set", "sweep.routing=[ugal_p]"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current folder of the test, and return it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def text(loads: str = "[0.1]", name: str | None = None) -> str:
    head = "" if name is None else f"name: {name}\n"
    return head + SMALL.replace("[0.05, 0.1, 0.4]", loads)


def test_the_folder_has_the_name_of_the_file(here: Path) -> None:
    """The results of my.yaml are in results/my, even if the file contains `name: my-dragonfly`."""
    Path("my.yaml").write_text(text(name="my-dragonfly"), encoding="utf-8")
    assert main(["run", "my.yaml", "--no-picture"]) == 0
    assert main(["status", "results/my"]) == 0
    assert main(["report", "results/my"]) == 0
    assert weft.open_results("results/my").name == "my-dragonfly"
    assert {path.name for path in here.iterdir()} == {"my.yaml", "results"}
    assert [path.name for path in (here / "results").iterdir()] == ["my"]


@pytest.mark.parametrize("name", ["../../escape", "/tmp/weft-escape", r'"a\nb"', "x" * 400, "..", "ü ö", r'"\u202e\t"'])
def test_no_name_leads_out_of_results(here: Path, name: str) -> None:
    """A scenario that is not in a file gives its name to the folder, which is always a subfolder of `results`.

    Otherwise Weft refuses the name.
    """
    try:
        sweep = weft.load(text(name=name), overrides=ONE)
    except weft.ScenarioError:
        return
    assert sweep.folder.parent == Path("results")
    assert re.fullmatch(r"[\w+][\w.+-]*", sweep.folder.name)
    assert len(sweep.folder.name.encode()) <= 120
    assert sweep.title.isprintable()
    assert "\n" not in sweep.name
    assert sweep.run().root == sweep.folder
    assert [path.name for path in here.iterdir()] == ["results"]
    assert [path.name for path in (here / "results").iterdir()] == [sweep.folder.name]


def test_slugs_are_safe_and_long_ones_differ() -> None:
    assert slug("my scenario (2)") == "my-scenario-2"
    assert slug("../../a/b\0c\n") == "a-b-c"
    assert slug("...") == slug("") == "scenario"
    assert slug("torus8x8.v2") == "torus8x8.v2"
    long = slug("x" * 400)
    assert len(long) <= 80
    assert long != slug("x" * 401)


@pytest.mark.parametrize("command", [["run", "--no-picture"], ["saturation", "--tolerance", "0.5"]])
def test_two_files_of_one_name_are_reported_before_anything_is_replaced(
    here: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, load in (("a", "[0.1]"), ("b", "[0.2]")):
        Path(folder).mkdir()
        Path(folder, "net.yaml").write_text(text(load, name="same"), encoding="utf-8")
    assert main([*command, "a/net.yaml"]) == 0
    (root,) = (here / "results").iterdir()
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    Path("b", "net.yaml").write_text(text("[0.2]", name="same") + "seed: 7\n", encoding="utf-8")
    capsys.readouterr()
    assert main([*command, "b/net.yaml"]) == 2
    errors = capsys.readouterr().err
    assert "results/net" in errors
    assert "holds the results of another sweep" in errors
    assert "would be lost" in errors
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    # the remedy works for the second scenario, and the first scenario continues in its own folder
    out = re.search(r"such as (\S+),", errors)
    assert out
    assert main([*command, "b/net.yaml", "--out", out[1]]) == 0
    assert main([*command, "a/net.yaml"]) == 0
    assert weft.open_results(root).missing == 0


def test_a_file_that_was_changed_or_moved_with_its_results_goes_on(here: Path, tmp_path: Path) -> None:
    Path("net.yaml").write_text(text("[0.1, 0.2]"), encoding="utf-8")
    assert len(weft.load("net.yaml").run()) == 8
    Path("net.yaml").write_text(text("[0.2]", name="new"), encoding="utf-8")
    assert len(weft.load("net.yaml").run()) == 4
    there = tmp_path / "there"
    shutil.move(here, there)
    (there / "net.yaml").write_text(text("[0.3]"), encoding="utf-8")
    assert len(weft.load(there / "net.yaml").run(there / "results" / "net")) == 4


def test_points_that_a_shorter_sweep_leaves_out_are_kept_and_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("net.yaml").write_text(text("[0.05, 0.1]"), encoding="utf-8")
    before = weft.load("net.yaml").run()
    assert before.unlisted == 0
    Path("net.yaml").write_text(text("[0.05]"), encoding="utf-8")
    assert main(["run", "net.yaml", "--no-picture"]) == 0
    assert "4 other points are stored in results/net/points: the scenario had other" in capsys.readouterr().out
    assert main(["status", "results/net"]) == 0
    assert "4 of 4 done\n" in (output := capsys.readouterr().out)
    assert "4 in the folder are no longer in the sweep" in output
    # if the file is changed back, the points of the earlier sweep do not run again
    Path("net.yaml").write_text(text("[0.05, 0.1]"), encoding="utf-8")
    run = before.folder(1) / "run.json"
    again = weft.load("net.yaml").run()
    assert (len(again), again.unlisted) == (8, 0)
    assert run.stat().st_mtime < Path("net.yaml").stat().st_mtime
    assert here.is_dir()


def test_another_file_may_go_on_if_no_point_is_lost(here: Path) -> None:
    Path("net.yaml").write_text(text("[0.1]"), encoding="utf-8")
    weft.load("net.yaml").run()
    Path("net.yaml").rename("renamed.yaml")
    assert len(weft.load("renamed.yaml").run("results/net")) == 4
    Path("more.yaml").write_text(text("[0.1, 0.2]"), encoding="utf-8")
    assert len(weft.load("more.yaml").run("results/net")) == 8
    with pytest.raises(weft.ResultsError, match="4 of its points would be lost"):
        weft.load("renamed.yaml").run("results/net")
    assert len(weft.open_results("results/net")) == 8
    assert here.is_dir()


def test_other_overrides_do_not_drop_points_of_the_same_file(here: Path) -> None:
    Path("net.yaml").write_text(text(), encoding="utf-8")
    weft.load("net.yaml", overrides={"sweep.traffic.load": [0.1, 0.2]}).run("out")
    with pytest.raises(weft.ResultsError, match="would be lost"):
        weft.load("net.yaml", overrides={"sweep.traffic.load": [0.2, 0.3]}).run("out")
    assert len(weft.load("net.yaml", overrides={"sweep.traffic.load": [0.1, 0.2, 0.3]}).run("out")) == 12
    assert here.is_dir()


def test_scenarios_in_memory_have_folders_of_their_own(here: Path) -> None:
    first, second = (weft.load(text(load)) for load in ("[0.1]", "[0.2]"))
    assert first.folder != second.folder
    assert weft.load(text("[0.1]")).folder == first.folder, "the same text goes on"
    for sweep in (first, second):
        assert len(sweep.run()) == 4
    assert weft.open_results(first.folder).missing == 0
    with pytest.raises(weft.ResultsError, match=r"in Python out="):
        second.run(first.folder)
    assert here.is_dir()


def test_the_replays_of_two_points_do_not_meet(ring: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(ring), "--no-picture", "--set", "sweep.traffic.load=[0.9, 1.0]"]) == 4
    replays = re.findall(r"replay: .*? run (.*)", capsys.readouterr().err)
    assert replays
    root = next((here / "results").iterdir())
    for point in weft.open_results(root).points:
        scenario = root / "points" / point["hash"] / "scenario.yaml"
        assert main(["run", str(scenario), "--no-picture", "--out", str(root / f"replay-{point['hash']}")]) == 4
