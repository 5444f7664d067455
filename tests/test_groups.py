"""Tests routers that sleep, and the table of power groups (such as cabinets), in Python, SQL, reports and bills."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.cli import main
from weft.errors import ResultsError
from weft.report import columns_shown
from weft.report.data import collect
from weft.report.sources import Sources

if TYPE_CHECKING:
    from weft.api.results import Results

EXAMPLE = Path(__file__).parent.parent / "examples" / "cabinets.yaml"
# A tree: four leaf routers with two terminals each, and above them two levels of four routers without terminals.
TREE: dict[str, Any] = {
    "topology": {"k_ary_n_tree": {"k": 2, "n": 3}},
    "routing": "up_down",
    "traffic": {"pattern": "uniform"},
    "power": {
        "policy": {"idle_timeout": {"idle": "20cycles", "transition": "10cycles"}},
        "router_price": {"static": "20W", "asleep": "2W", "per_port": "1W", "per_bit": "2pJ/bit"},
        "groups": {"by": "cabinet", "cabinets": {"leaves": [[0, 3]], "spines": [[4, 11]]}},
    },
    "measure": {"warmup": "2us", "window": "10us"},
    "sweep": {"traffic.load": [0.004, 0.2]},
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(TREE).run(tmp_path_factory.mktemp("tree") / "tree")


def test_the_rows_of_groups_add_up_to_the_summary(tree: Results) -> None:
    for point, summary in enumerate(tree.summaries):
        groups = tree.groups(point)
        assert groups["group"].to_list() == ["leaves", "spines"]
        for column, key in (
            ("energy_fj", "energy_total_fj"),
            ("energy_routers_fj", "energy_routers_fj"),
            ("energy_static_fj", "energy_static_fj"),
            ("energy_dynamic_fj", "energy_dynamic_fj"),
        ):
            assert groups[column].sum() == int(summary[key]), key
        assert groups["power_mean_w"].sum() == pytest.approx(summary["power_mean_w"])
        assert groups["routers_asleep_cycles"].sum() == pytest.approx(
            summary["routers_asleep_share"] * 12 * summary["window_cycles"]
        )


def test_spines_sleep_at_a_low_load_and_pay_less(tree: Results) -> None:
    low, high = (row["routers_asleep_share"] for row in tree.summaries)
    assert 0 < high < low < 8 / 12, "leaves have terminals, so they never sleep"
    awake = weft.load(TREE, overrides={"power.router_price.asleep": "20W", "sweep.traffic.load": [0.004]})
    (other,) = awake.run(tree.root.parent / "awake").summaries
    saved = other["power_mean_w"] - tree.summaries[0]["power_mean_w"]
    # each of 12 routers draws 18 W less for the share of time in which it sleeps
    assert saved == pytest.approx(18 * 12 * low)
    assert other["power_always_on_mean_w"] == tree.summaries[0]["power_always_on_mean_w"]
    for summary in tree.summaries:
        assert summary["power_ideal_mean_w"] < summary["power_mean_w"] < summary["power_always_on_mean_w"]


def test_a_bill_includes_the_sleep_of_routers(tree: Results) -> None:
    keys = {"price_per_kwh": "0.2EUR", "profile": [{"share": 1, "load": 0.004}]}
    (row,) = tree.bill(keys).frame.iter_rows(named=True)
    assert row["power_kw"] * 1e3 == pytest.approx(tree.summaries[0]["power_mean_w"])
    # in the always-on reference, links keep routers awake, so the saving includes links and routers
    asleep = 18 * 12 * tree.summaries[0]["routers_asleep_share"]
    assert row["saving_share"] * tree.summaries[0]["power_always_on_mean_w"] > asleep > 0


def test_the_table_is_asked_in_sql_and_exported(tree: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(tree.root)]) == 0
    assert re.search(r"^groups: a row per point and group", capsys.readouterr().out, re.MULTILINE)
    assert main(["query", str(tree.root), 'select point, "group", asleep_share from groups', "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    out = tree.root.parent / "groups.md"
    assert main(["export", str(tree.root), "--table", "groups", "--out", str(out)]) == 0
    head = out.read_text(encoding="utf-8").splitlines()[0]
    assert "Asleep [cycles]" in head
    assert "Energy [fJ]" in head


def test_a_report_shows_groups_and_the_sleep_of_routers(tree: Results) -> None:
    held = collect(Sources([tree]))
    (groups,) = [listing for listing in held["listings"] if listing["name"] == "groups"]
    assert [sorted(row["group"] for row in rows) for rows in groups["rows"]] == [["leaves", "spines"]] * 2
    assert [each["unit"] for each in groups["columns"] if each["column"] in ("power_mean_w", "energy_j")] == ["W", "J"]
    for rows, summary in zip(groups["rows"], held["points"]["columns"]["power_mean_w"], strict=True):
        assert rows[0]["energy_j"] >= rows[1]["energy_j"]
        assert sum(row["power_mean_w"] for row in rows) == pytest.approx(summary, rel=1e-4)
    assert "routers_asleep_share" in {each["column"] for each in held["columns"]}
    assert "routers_asleep_share" in held["points"]["columns"]


def test_a_report_shows_few_groups_of_many(tree: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_shown, "MOST_GROUPS", 1)
    (groups,) = [each for each in collect(Sources([tree]))["listings"] if each["name"] == "groups"]
    most = [tree.groups(point).sort("energy_fj")["group"][-1] for point in range(2)]
    assert [[row["group"] for row in rows] for rows in groups["rows"]] == [[name] for name in most]


def test_a_point_without_groups_says_how_to_have_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plain.yaml"
    file.write_text(
        "topology: {single_router: {terminals: 4}}\nrouting: minimal\ntraffic: {pattern: uniform, load: 0.1}\n"
        "measure: {warmup: 100cycles, window: 500cycles}\n",
        encoding="utf-8",
    )
    assert main(["run", str(file), "--out", str(tmp_path / "plain"), "--no-picture"]) == 0
    plain = weft.open_results(tmp_path / "plain")
    with pytest.raises(ResultsError, match=r"power\.groups=\{by: router\}"):
        plain.groups(0)
    capsys.readouterr()
    assert main(["query", str(plain.root), "select * from groups"]) == 2
    errors = capsys.readouterr().err
    assert "no point recorded groups" in errors
    # the remedy works exactly as the error prints it
    remedy = "power.groups={by: router}"
    assert remedy in errors
    assert main(["run", str(file), "--set", remedy, "--out", str(tmp_path / "again"), "--no-picture"]) == 0
    assert weft.open_results(tmp_path / "again").groups(0)["group"].to_list() == ["0"]


def test_the_example_has_cabinets_that_sleep(tmp_path: Path) -> None:
    sweep = weft.load(EXAMPLE, overrides={"sweep.traffic.load": [0.001], "measure.window": "5us"})
    results = sweep.run(tmp_path / "cabinets")
    assert results.groups(0)["group"].to_list() == ["leaves", "spines A", "spines B"]
    asleep = results.groups(0)["routers_asleep_cycles"].to_list()
    assert asleep[0] == 0
    assert min(asleep[1:]) > 0
    assert not results.summaries[0]["warnings"]
