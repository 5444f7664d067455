"""Compares the yearly energy bill of a network with sums computed by hand, and tests its output.

`test_bill_refused.py` tests bills that Weft refuses.
"""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import weft
from conftest import made
from small import PACKETS, steady_point
from weft.cli import main
from weft.errors import ScenarioError, WeftError
from weft.plot import draw
from weft.plot.choice import Choice
from weft.report.answer import sentences
from weft.report.sources import Sources
from weft.results.bill_baseline import REFERENCE
from weft.results.bill_keys import HOURS_PER_YEAR, Bill
from weft.results.bill_lines import lines

if TYPE_CHECKING:
    from weft.api.results import Results

EXAMPLE = Path(__file__).parent.parent / "examples" / "bill.yaml"
ASLEEP: dict[str, Any] = {"tcep": {}}
# Contents of a bill's file: half of the year at load 0.1 (night), and half at load 0.3 (day).
KEYS: dict[str, Any] = {
    "pue": 1.5,
    "price_per_kwh": "0.2EUR",
    "profile": [{"name": "night", "share": 0.5, "load": 0.1}, {"name": "day", "share": 0.5, "load": 0.3}],
}


def _point(policy: Any, load: float, power_w: float, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make a settled point of a policy. With always-on links, the network would draw 2 kW plus 1 kW times the load."""
    return steady_point(
        policy, load, **{"power_mean_w": power_w, "power_always_on_mean_w": 2000.0 + 1000 * load} | more
    )


def _results(root: Path, *points: tuple[dict[str, Any], dict[str, Any]]) -> Results:
    return made(root, list(points))


@pytest.fixture
def steady(tmp_path: Path) -> Results:
    """Make points with always-on and with sleeping links, at loads 0.1 and 0.3."""
    on = [_point("always_on", load, 2000 + 1000 * load) for load in (0.1, 0.3)]
    return _results(tmp_path / "steady", *on, _point(ASLEEP, 0.1, 1000.0), _point(ASLEEP, 0.3, 1800.0))


def test_the_bill_is_the_arithmetic_of_powers_shares_and_prices(steady: Results) -> None:
    on, asleep = steady.bill(KEYS).frame.iter_rows(named=True)
    # with sleeping links the network draws 1 kW at night and 1.8 kW by day, with always-on links 2.1 kW and 2.3 kW
    assert asleep["power_kw"] == pytest.approx((1.0 + 1.8) / 2)
    assert asleep["site_power_kw"] == pytest.approx(1.4 * 1.5)
    assert asleep["site_energy_kwh_per_year"] == pytest.approx(2.1 * HOURS_PER_YEAR)
    assert asleep["cost_eur_per_year"] == pytest.approx(2.1 * HOURS_PER_YEAR * 0.2)
    assert asleep["delivered_load"] == pytest.approx(0.2)
    assert asleep["saved_kwh_per_year"] == pytest.approx((2.2 - 1.4) * 1.5 * HOURS_PER_YEAR)
    assert asleep["saved_eur_per_year"] == pytest.approx((2.2 - 1.4) * 1.5 * HOURS_PER_YEAR * 0.2)
    assert asleep["saving_share"] == pytest.approx(1 - 1.4 / 2.2)
    assert (asleep["baseline"], asleep["note"]) == ("power.policy = always_on", None)
    assert on["power_kw"] == pytest.approx(2.2)
    assert (on["baseline"], on["saved_kwh_per_year"]) == (None, None)


def test_the_tables_show_units_prefixes_and_what_was_assumed(steady: Results) -> None:
    shown = lines(steady.bill(KEYS))
    # the costs are 3679.2 EUR and 5781.6 EUR, and the saving is 2102.4 EUR
    assert shown[:2] == ["tcep: a year costs 3,679 EUR instead of 5,782 EUR (36.4 % less)", ""]
    head, _, _, asleep = (re.split(r"  +", line.strip()) for line in shown[2:6])
    assert head == ["per year", "network", "site", "energy", "cost [EUR]", "saved energy", "saved [EUR]", "saved [%]"]
    # 1.4 kW * 1.5 * 8760 h = 18396 kWh, at 0.2 EUR; 0.8 kW * 1.5 * 8760 h = 10512 kWh are saved
    assert asleep == ["tcep", "1.4 kW", "2.1 kW", "18.4 MWh", "3,679", "10.51 MWh", "2,102", "36.4"]
    assert "PUE of 1.5; a year has 8760 h; 0.2 EUR/kWh" in "\n".join(shown)
    assert re.split(r"  +", shown[10]) == ["tcep", "1.5 kW", "2.7 kW"]


def test_the_parts_of_the_profile_add_up_to_the_year(steady: Results) -> None:
    yearly = steady.bill(KEYS)
    asleep = yearly.parts.filter(yearly.parts["power.policy"] == "tcep")
    assert asleep["part"].to_list() == ["night", "day"]
    assert asleep["site_energy_kwh_per_year"].sum() == pytest.approx(yearly.frame["site_energy_kwh_per_year"][1])
    assert asleep["baseline_site_power_kw"].to_list() == pytest.approx([2.1 * 1.5, 2.3 * 1.5])


def test_shares_of_thirds_count_as_the_whole_time(steady: Results) -> None:
    keys = KEYS | {"profile": [{"share": 0.333, "load": 0.1}] * 3}
    assert steady.bill(keys).frame["power_kw"][1] == pytest.approx(1.0)


def test_seeds_are_means_and_the_same_run_counts_once(tmp_path: Path) -> None:
    points = []
    for seed, power in ((1, 1000.0), (2, 1200.0)):
        coordinates, numbers = _point("always_on", 0.1, power)
        points.append(({**coordinates, "seed": seed}, numbers))
    results = _results(tmp_path / "seeds", *points)
    keys = KEYS | {"profile": [{"share": 1, "load": 0.1}]}
    assert results.bill(keys).frame["power_kw"].to_list() == pytest.approx([1.1])


def test_savings_are_at_equal_delivered_work(tmp_path: Path) -> None:
    on = [_point("always_on", load, 2000.0) for load in (0.1, 0.3)]
    idle = _point(ASLEEP, 0.1, 1000.0, accepted_load=0.05)
    row = _results(tmp_path / "work", *on, idle, _point(ASLEEP, 0.3, 1800.0)).bill(KEYS).frame.to_dicts()[1]
    assert row["saving_share"] is None
    assert row["note"] == (
        "no savings: at night it delivers 0.05 flits/terminal/cycle, 50 % less than the baseline (0.1)"
    )
    # a difference within random variation counts as equal work; its standard deviation is sqrt(2 / 100) for 100 packets
    few = [_point("always_on", load, 2000.0, packets=100) for load in (0.1, 0.3)]
    chance = _point(ASLEEP, 0.1, 1000.0, accepted_load=0.09, packets=100)
    more = _point(ASLEEP, 0.3, 1800.0, packets=100)
    assert _results(tmp_path / "few", *few, chance, more).bill(KEYS).frame["saving_share"][1] is not None


def test_without_a_measured_baseline_savings_are_against_the_same_flits_on_links_always_on(tmp_path: Path) -> None:
    results = _results(tmp_path / "alone", _point(ASLEEP, 0.1, 1000.0), _point(ASLEEP, 0.3, 1800.0))
    yearly = results.bill(KEYS)
    (row,) = yearly.frame.iter_rows(named=True)
    assert row["baseline"] == REFERENCE
    assert row["saving_share"] == pytest.approx(1 - 1.4 / 2.2)
    assert any(
        "from the same run, because no point differs from it only in power.policy = always_on" in line
        for line in lines(yearly)
    )


def test_the_baseline_has_the_other_coordinates_of_the_series(tmp_path: Path) -> None:
    points = []
    for pattern, factor in (("uniform", 1), ("tornado", 2)):
        for policy, power in (("always_on", 2000.0), (ASLEEP, 1000.0)):
            coordinates, numbers = _point(policy, 0.1, power * factor)
            points.append(({"traffic.pattern": pattern, **coordinates}, numbers))
    frame = _results(tmp_path / "patterns", *points).bill(KEYS | {"profile": [{"share": 1, "load": 0.1}]}).frame
    assert frame["power_kw"].to_list() == [2, 1, 4, 2]
    assert frame["saving_share"].to_list() == [None, 0.5, None, 0.5]


def test_a_baseline_may_have_a_routing_of_its_own(tmp_path: Path) -> None:
    on, asleep = _point("always_on", 0.1, 2000.0), _point(ASLEEP, 0.1, 1000.0)
    points = [({"routing": name, **point}, numbers) for name, (point, numbers) in (("minimal", on), ("pal", asleep))]
    results = _results(tmp_path / "zip", *points)
    keys = KEYS | {"profile": [{"share": 1, "load": 0.1}]}
    assert results.bill(keys).frame["baseline"].to_list() == [None, REFERENCE]
    row = results.bill(keys | {"baseline": "policy=always_on,routing=minimal"}).frame.to_dicts()[1]
    assert row["baseline"] == "power.policy = always_on, routing = minimal"
    assert row["saving_share"] == 0.5


def _with_phases(root: Path, *phases: dict[str, Any], **more: Any) -> Results:
    coordinates, numbers = _point(ASLEEP, 0.1, 1.0, **more)
    lines = [{"phase": 1 + number, "power_always_on_mean_w": 2000.0} | phase for number, phase in enumerate(phases)]
    return _results(root, (coordinates, {**numbers, "phases": lines}))


def test_a_profile_of_phases_weights_what_each_phase_drew(tmp_path: Path) -> None:
    keys = KEYS | {"profile": [{"share": 0.25, "phase": 1}, {"share": 0.75, "phase": 2}]}
    calm = {"power_mean_w": 1000.0, "accepted_load": 0.1, "saturated": False, "packets": PACKETS}
    busy = {"power_mean_w": 1800.0, "accepted_load": 0.3, "saturated": None, "packets": PACKETS}
    (row,) = _with_phases(tmp_path / "phases", calm, busy).bill(keys).frame.iter_rows(named=True)
    assert row["power_kw"] == pytest.approx(0.25 * 1.0 + 0.75 * 1.8)
    assert row["saving_share"] == pytest.approx(1 - 1.6 / 2.0)


DAY = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
links: {default: {latency: 2cycles, vcs: 4, buffer: 16flits}}
routing: minimal
traffic: {pattern: uniform, load: 0.05, phases: [{from: 3000cycles, load: 0.3}]}
power: {policy: {idle_timeout: {idle: 50cycles, transition: 10cycles}}, router_price: {static: 1W, per_port: 0.1W}}
measure: {warmup: 1000cycles, window: 4000cycles}
bill: {price_per_kwh: 0.2USD, profile: [{share: 0.5, phase: 1}, {share: 0.5, phase: 2}]}
"""


def test_phases_of_a_run_are_billed(tmp_path: Path) -> None:
    results = weft.load(DAY).run(tmp_path / "day")
    (row,) = results.bill().frame.iter_rows(named=True)
    phases = results.summaries[0]["phases"]
    # both phases have 2000 cycles in the window, so the mean power over the bill's profile equals the mean over the
    # window
    assert row["power_kw"] * 1e3 == pytest.approx(results.summaries[0]["power_mean_w"])
    assert phases[0]["power_mean_w"] < phases[1]["power_mean_w"]
    assert row["cost_usd_per_year"] > 0


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"profile": [{"share": 0.5, "load": 0.1}]}, "bill.profile"),
        ({"price_per_kwh": "0.2"}, "bill.price_per_kwh"),
        ({"pue": 0.5}, "bill.pue"),
        ({"colour": "blue"}, "bill.colour"),
        ({"baseline": 3}, "bill.baseline"),
    ],
)
def test_a_wrong_bill_says_where(keys: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=words):
        Bill.read(KEYS | keys)
    file = tmp_path / "bill.yaml"
    file.write_text(json.dumps(KEYS | keys))
    with pytest.raises(ScenarioError, match=words) as raised:
        Bill.read(file)
    assert "bill.yaml:1" in raised.value.text


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run the example of the documentation, and return its results."""
    return weft.load(EXAMPLE).run(tmp_path_factory.mktemp("bill") / "bill")


def test_the_example_is_settled_and_saves(example: Results) -> None:
    frame = example.bill().frame
    assert frame["note"].to_list() == [None, None]
    assert frame["saving_share"][1] > 0.1
    assert frame["baseline"][1] == "power.policy = always_on"


def test_the_command_prints_tables_and_gives_programs_rows(
    example: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", "bill", str(example.root)]) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[2].startswith("per year")
    assert "cost [EUR]" in output
    assert "night (9 h, load 0.01)" in output
    assert main(["analyse", "bill", str(example.root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["power.policy"] == "always_on"
    assert main(["analyse", "bill", str(example.root), "--csv", "--parts"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * 3
    other = tmp_path / "other.yaml"
    other.write_text("{price_per_kwh: 1CHF, profile: [{share: 1, load: 0.9}]}")
    assert main(["analyse", "bill", str(example.root), "--bill", str(other)]) == 2
    output = capsys.readouterr().err
    assert "error: nothing can be billed: always_on, tcep: load 0.9 is not measured: the nearest is 0.3" in output
    assert "= help: sweep `traffic.load: [0.01, 0.15, 0.3, 0.9]` (finished points stay), or name a measured" in output
    other.write_text("bill: {price_per_kwh: 1CHF, period: week, profile: [{share: 1, load: 0.3}]}")
    assert main(["analyse", "bill", str(example.root), "--bill", str(other)]) == 0
    assert "load 0.3 (168 h)" in capsys.readouterr().out


def test_a_bill_is_one_of_the_tables(example: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(example.root)
    assert main(["analyse", "bill", folder, "--csv"]) == 0
    rows = capsys.readouterr().out
    assert main(["export", folder, "--table", "bill"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == rows.splitlines()[0]
    assert main(["query", folder, 'select policy from (select "power.policy" as policy, * from bill)', "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "always_on"
    assert example.to_pandas("bill")["cost_eur_per_year"].min() > 0
    for ending in ("tex", "md"):
        out = tmp_path / f"bill.{ending}"
        assert main(["export", folder, "--table", "bill", "--out", str(out)]) == 0
        text = " ".join(out.read_text(encoding="utf-8").split())
        assert not re.search(r"\d[eE]\+", text), "no exponents"
    assert (
        "Policy | Power [kW] | Site energy [kWh/year] | Cost [EUR/year] | Saved [kWh/year] | Saved [EUR/year]" in text
    )
    assert main(["query", folder]) == 0
    assert "\nbill: a row per series" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["file", "scenario", "export"])
def test_without_a_bill_the_remedies_work(
    steady: Results, tmp_path: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["analyse", "bill", str(steady.root)]
    contract = tmp_path / "contract.yaml"
    if where == "scenario":  # a scenario instead of a bill
        contract.write_text("topology: {hyperx: {widths: [2]}}\n")
        assert main([*command, "--bill", str(contract)]) == 2
    else:
        assert main(command if where == "file" else ["export", str(steady.root), "--table", "bill"]) == 2
    text = " ".join(capsys.readouterr().err.split())
    assert ("has neither a section `bill:`" if where == "scenario" else " bill") in text
    (line,) = re.findall(r"the line `(bill: [^`]*)`", text)
    if where != "scenario":
        assert "--bill contract.yaml" in text
    contract.write_text(f"{contract.read_text() if contract.exists() else ''}{line}\n")
    assert main([*command, "--bill", str(contract)]) == 0
    assert "cost [EUR]" in capsys.readouterr().out


def test_the_line_that_is_reported_makes_a_scenario_one_with_a_bill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "day.yaml", str(tmp_path / "out")
    scenario = DAY.partition("\nbill:")[0] + "\n"
    file.write_text(scenario)
    assert main(["run", str(file), "--out", out, "--no-picture"]) == 0
    assert main(["analyse", "bill", out]) == 2
    (line,) = re.findall(r"the line `(bill: [^`]*)`", " ".join(capsys.readouterr().err.split()))
    file.write_text(f"{scenario}{line}\n")
    assert main(["run", str(file), "--out", out, "--no-picture"]) == 0
    assert "cost [EUR]" in capsys.readouterr().out


def test_run_ends_with_the_bill_and_another_bill_runs_nothing_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "day.yaml", tmp_path / "out"
    file.write_text(DAY)
    assert main(["run", str(file), "--out", str(out), "--no-picture"]) == 0
    assert "cost [USD]" in capsys.readouterr().out
    (point,) = (out / "points").iterdir()
    written = (point / "summary.json").stat().st_mtime_ns
    assert "bill" not in (point / "scenario.yaml").read_text()
    file.write_text(DAY.replace("0.2USD", "0.4USD"))
    assert main(["run", str(file), "--out", str(out), "--no-picture"]) == 0
    assert "0.4 USD/kWh" in capsys.readouterr().out
    assert (point / "summary.json").stat().st_mtime_ns == written


def test_the_report_shows_the_bill_with_a_picture(example: Results, tmp_path: Path) -> None:
    page = example.report(tmp_path / "bill.html").read_text(encoding="utf-8")
    section = page.split('<section id="bill">')[1].split("</section>")[0]
    assert "cost [EUR]" in section
    assert "<svg role=" in section
    assert "currentColor" in section
    assert "#010203" not in section
    assert "saved: compared with " in section
    assert '<a href="#bill">' in page


def test_the_figure_shows_power_over_the_day_and_a_bar_per_year(example: Results, tmp_path: Path) -> None:
    assert main(["plot", "bill", str(example.root), "--out", str(tmp_path / "bill.png")]) == 0
    numbers = pl.read_csv(tmp_path / "bill.png.csv")
    frame = example.bill().frame
    costs = numbers.group_by("series", maintain_order=True).agg(pl.col("cost_eur_per_year").sum())
    assert costs["cost_eur_per_year"].to_list() == pytest.approx(frame["cost_eur_per_year"].to_list())
    assert numbers["from_hour"].to_list()[:3] == [0, 9, 21]
    above, bars = example.plot.figure("bill").axes
    assert (above.get_xlabel(), above.get_ylabel()) == ("Time of the day [h]", "Site power [kW]")
    assert above.get_xlim() == (0, 24)
    assert bars.get_xlabel() == "Cost per year [EUR]"
    ends = [np.asarray(bar.get_path().transformed(bar.get_patch_transform()).vertices)[:, 0] for bar in bars.patches]
    *widths, saved = map(np.ptp, ends)
    assert widths == pytest.approx(frame["cost_eur_per_year"].to_list())
    # the figure shows the saving of a series as a bar from its cost to the cost of its baseline
    assert saved == pytest.approx(frame["saved_eur_per_year"][1])
    # the tolerance is needed, because the bill scales the baseline to the work of the series, whose random traffic
    # differs
    assert ends[2].max() == pytest.approx(frame["cost_eur_per_year"][0], rel=1e-4)
    assert any(f"{100 * frame['saving_share'][1]:.1f} % less" in text.get_text() for text in bars.texts)
    alone = example.plot.figure("bill", point="policy=tcep")
    assert [text.get_text() for text in alone.axes[1].get_yticklabels()] == ["tcep"]


def test_long_names_leave_a_figure_its_width_and_its_legend_covers_nothing(tmp_path: Path) -> None:
    rows = [{"classes": ["level2"], "from": f"{k}000cycles", "until": f"{k + 4}000cycles"} for k in range(6)]
    policies: list[Any] = ["always_on", *({"timetable": {"off": [row], "period": "90000cycles"}} for row in rows)]
    results = _results(tmp_path / "long", *(_point(policy, load, 2000.0) for policy in policies for load in (0.1, 0.3)))
    manifest = json.loads((results.root / "sweep.json").read_text())
    (results.root / "sweep.json").write_text(json.dumps(manifest | {"bill": KEYS}))
    drawing = weft.open_results(results.root).plot.figure("bill")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # warnings about a layout that does not fit become errors
        drawing.draw_without_rendering()
    above, bars = drawing.axes
    assert min(axes.get_position().width for axes in drawing.axes) > 0.55
    assert drawing.legends[0].get_window_extent().y0 > above.get_window_extent().y1
    names = bars.get_yticklabels()
    assert len(names) == len(policies)
    assert min(name.get_window_extent().x0 for name in names) >= 0
    assert all(len(name.get_text().splitlines()) <= 2 for name in names)
    assert [text.get_text().replace("\n", " ") for text in drawing.legends[0].get_texts()][1].endswith("90000cycles)")


def test_the_figure_says_why_a_series_has_no_bar_and_refuses_what_an_axis_can_not_show(tmp_path: Path) -> None:
    full = _point(ASLEEP, 0.3, 1.0, saturated=True, ending="saturated")
    results = []
    for number, price in enumerate(("0.2EUR", "0.2EUR", "0.2USD")):
        made_up = _results(
            tmp_path / f"made{number}",
            *(_point("always_on", load, 2000.0) for load in (0.1, 0.3)),
            *(_point(ASLEEP, 0.1, 1000.0), full),
        )
        manifest = json.loads((made_up.root / "sweep.json").read_text())
        (made_up.root / "sweep.json").write_text(json.dumps(manifest | {"bill": KEYS | {"price_per_kwh": price}}))
        results.append(made_up)
    drawing = draw.figure("bill", Choice.of(results[:2]))
    values = [text.get_text() for text in drawing.axes[1].texts]
    assert values == ["mean latency 20 cycles", " no bill"] * 2
    values = [" ".join(text.get_text().split()) for text in drawing.legends[0].get_texts()]
    assert sum(each.endswith("tcep: no bill, load 0.3 is saturated") for each in values) == 2, "whole, in the legend"
    with pytest.raises(WeftError, match="differ in their period or currency"):
        draw.figure("bill", Choice.of(results))
    with pytest.raises(WeftError, match="has no bill"):
        draw.figure("bill", Choice.of([_results(tmp_path / "none", _point(ASLEEP, 0.1, 1.0))]))


def test_a_report_without_a_bill_has_no_such_section(tmp_path: Path) -> None:
    results = weft.load(DAY.partition("bill:")[0]).run(tmp_path / "none")
    assert '"bill"' not in results.report(tmp_path / "none.html").read_text(encoding="utf-8")


def test_a_saving_stands_beside_the_latency_that_it_costs(tmp_path: Path) -> None:
    on = [_point("always_on", load, 2000.0, packet_latency_mean_cycles=100.0 + load) for load in (0.1, 0.3)]
    asleep = [
        _point(ASLEEP, load, 1000.0, packet_latency_mean_cycles=latency)
        for load, latency in ((0.1, 1001.7), (0.3, 140.2))
    ]
    yearly = _results(tmp_path / "slow", *on, *asleep).bill(KEYS)
    text = "\n".join(lines(yearly))
    # saving: (2 - 1) kW * 1.5 (PUE) * 8760 h * 0.2 EUR/kWh = 2,628 EUR
    assert "tcep saves 2,628 EUR a year; mean latency 1,001.7 instead of 100.1 cycles at night" in text
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    assert ["tcep", "1,001.7", "140.2"] in rows
    assert yearly.parts["packet_latency_mean_cycles"].to_list() == [100.1, 100.3, 1001.7, 140.2]
    assert yearly.parts["baseline_latency_mean_cycles"].to_list() == [None, None, 100.1, 100.3]
    assert str(yearly) == text
    # without points with always-on links, a line says that the cost in latency is unknown
    alone = _results(tmp_path / "alone", *asleep).bill(KEYS)
    assert "its cost in latency is unknown: no point differs from it only in power.policy = always_on" in str(alone)
    answer = sentences(Sources([_results(tmp_path / "answer", *on, *asleep)]))
    assert not [each for each in answer if "less power" in each and "mean latency" not in each]


def test_a_saving_that_chance_explains_is_reported_as_none(tmp_path: Path) -> None:
    """A saving smaller than random variation counts as none. The movement of flits takes 1 kW of the 2 kW.

    With 100,000 packets, the difference between the powers of two runs varies randomly by 1.5 * 1 kW * sqrt(2 /
    100,000) = 6.7 W.
    """
    drawn = {"energy_dynamic_j": 1000.0, "window_seconds": 1.0}
    on = [_point("always_on", load, 2000.0, **drawn) for load in (0.1, 0.3)]
    asleep = [_point(ASLEEP, load, 1995.0, **drawn) for load in (0.1, 0.3)]
    yearly = _results(tmp_path / "chance", *on, *asleep).bill(KEYS)
    assert yearly.frame["saved_kwh_per_year"].to_list() == [None, 0.0]
    assert "tcep saves nothing beyond chance; mean latency" in "\n".join(lines(yearly))
    asleep = [_point(ASLEEP, load, 1993.0, **drawn) for load in (0.1, 0.3)]
    assert _results(tmp_path / "more", *on, *asleep).bill(KEYS).frame["saved_kwh_per_year"][1] > 0


def test_parts_that_were_measured_well_are_shown_where_another_can_not_be_billed(tmp_path: Path) -> None:
    full = _point(ASLEEP, 0.3, 1800.0, saturated=True, ending="saturated")
    on = [_point("always_on", load, 2000.0) for load in (0.1, 0.3)]
    yearly = _results(tmp_path / "part", *on, _point(ASLEEP, 0.1, 1000.0), full).bill(KEYS)
    rows = [re.split(r"  +", line.strip()) for line in lines(yearly)]
    assert ["tcep", "1.5 kW", "-"] in rows, "1 kW times the PUE at night"
    assert yearly.frame["power_kw"].to_list()[1] is None, "and no bill of the year"


def test_a_remedy_of_several_parts_is_reported_once(tmp_path: Path) -> None:
    short = {"path": "measure.window", "what": "4.5 periods", "help": "write `measure.window: 5000cycles`"}
    late = [_point(ASLEEP, load, 1800.0, whole_periods=False, warnings=[short]) for load in (0.1, 0.3)]
    on = [_point("always_on", load, 2000.0) for load in (0.1, 0.3)]
    text = "\n".join(lines(_results(tmp_path / "periods", *on, *late).bill(KEYS)))
    assert text.count("is measured over a part of a period") == 2, "each part says why"
    assert text.count("write `measure.window: 5000cycles`") == 1
