"""Tests the catalogue of hardware, from which runs, designs and bills of a network take power and prices, and name
them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import weft
from weft import _engine
from weft.cli import main
from weft.design.catalogue_hardware import Hardware
from weft.design.comparison_of_designs import compare
from weft.design.measured_design import Assumptions
from weft.results import bill_lines, notes, tables

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results

NAME = "catalogue of November 2026, 400 Gb/s, dr between routers, dac to terminals"
# A fat tree with 320 switches of 16 ports and 1,024 terminals. One flit of 400 bits per nanosecond is 400 Gb/s.
TREE = """
name: k16
cycle: 1ns
flit: 400b
topology: {fat_tree: {k: 16}}
links: {default: {latency: 2cycles, vcs: 2, buffer: 16flits}}
routing: up_down
traffic: {pattern: uniform, packet: 4flits, load: 0.1}
power: {catalogue: {speed: 400Gb/s, cables: dr}}
measure: {warmup: 200cycles, window: 300cycles}
bill: {price_per_kwh: 0.25EUR, profile: [{share: 1, load: 0.1}]}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder: Path = tmp_path_factory.mktemp("k16")
    (folder / "k16.yaml").write_text(TREE)
    return weft.load(folder / "k16.yaml").run(folder / "results")


def test_a_run_and_a_design_differ_by_the_traffic_alone(tree: Results) -> None:
    assumed = Assumptions(prices=None, hardware=Hardware.of("400Gb/s", "dr"))
    compared = compare({"k16": {"fat_tree": {"k": 16}}}, assumed)
    design, run = compared.designs[0].row["power_w"], tree.summaries[0]
    seconds = run["window_seconds"]
    traffic = run["energy_routers_dynamic_j"] / seconds
    assert run["power_mean_w"] == pytest.approx(design + traffic, rel=1e-9)
    # power of the traffic: 10 pJ/bit in each of about 5.4 routers of a path, for a tenth of 1,024 * 400 Gb/s
    assert 0.01 < traffic / design < 0.05
    power = _engine.catalogue_power("400Gb/s", "dr", "dac", "switches")
    ports = 2 * 2048 + 1024
    boxes = 320 * 16 * power["base_w_per_port"] + ports * power["port_w"]
    assert design == pytest.approx(boxes + 2 * 2048 * power["module_w"] + 2 * 1024 * power["terminal_module_w"])
    assert run["prices_from"] == NAME
    assert any(NAME in line for line in compared.remarks())


def test_every_text_with_watts_or_money_names_the_catalogue(tree: Results) -> None:
    assert f"energy and power are priced by: {NAME}" in notes.lines(tree)
    assert any(NAME in line for line in bill_lines.lines(tree.bill()))
    assert "prices_from" in tree.frame.columns
    assert tables.loads(tree)


@pytest.mark.parametrize("ending", [".tex", ".md"])
def test_a_table_for_a_document_ends_with_its_prices(tree: Results, tmp_path: Path, ending: str) -> None:
    def written(*words: str) -> str:
        out = tmp_path / f"t{ending}"
        assert main([*words, "--out", str(out)]) == 0
        # LaTeX does not break lines in a cell, so the export divides a long note into several rows
        return re.sub(r"} \\\\\n\\multicolumn.*footnotesize", "", out.read_text(encoding="utf-8"))

    prices, root = f"energy and power are priced by: {NAME}", str(tree.root)
    lines = [line for line in written("export", root).splitlines() if line.strip() and not line.startswith("\\end")]
    assert prices in lines[-1]
    assert NAME in written("compare", root, root)
    assert prices in written("export", root, "--columns", "point,power_mean_w")
    # a table without energy, power or money names no prices
    assert prices not in written("export", root, "--columns", "point,accepted_load")


def test_designs_of_a_scenario_have_the_hardware_that_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def output(*words: str, status: int = 0) -> str:
        assert main(["design", "compare", *words, "--trials", "2", "--seeds", "1"]) == status
        captured = capsys.readouterr()
        return captured.out + captured.err

    file, other, bare = (tmp_path / name for name in ("k4.yaml", "faster.yaml", "bare.yaml"))
    small = TREE.replace("name: k16", "").replace("k: 16", "k: 4")
    file.write_text(small)
    other.write_text(small.replace("speed: 400Gb/s", "speed: 800Gb/s"))
    bare.write_text(re.sub(r"power: .*\n", "", small))
    # the network has 20 switches of 4 ports, 32 links and 16 terminals
    watts = Hardware.of("400Gb/s", "dr").power_w(20, 4, 32, 16)
    (row,) = json.loads(output(str(file), "--json"))
    assert row["power_w"] == pytest.approx(watts)
    assert compare(file).designs[0].row["power_w"] == pytest.approx(watts)
    assert f"power: {NAME}" in output(str(file))
    # an option of the command line overrides the scenario's prices
    (row,) = json.loads(output(str(file), "--json", "--port-power", "1"))
    assert row["power_w"] == pytest.approx(2 * 32 + 16)
    (row,) = json.loads(output(str(file), "--json", "--catalogue", "800Gb/s", "--cables", "dr"))
    assert row["power_w"] == pytest.approx(Hardware.of("800Gb/s", "dr").power_w(20, 4, 32, 16))
    # compared designs must use the same hardware, which the remedy names
    for second in (other, bare):
        refused = output(str(file), str(second), status=2)
        assert "--catalogue 400Gb/s --cables dr --terminal-cables dac" in refused
        remedy = ("--catalogue", "400Gb/s", "--cables", "dr", "--terminal-cables", "dac")
        assert NAME in output(str(file), str(second), *remedy)


def test_prices_of_a_design_are_those_of_the_catalogue() -> None:
    hardware = Hardware.of("800Gb/s", "dr")
    prices = hardware.prices()
    assert prices is not None
    figures = {each["figure"]: each["median"] for each in _engine.catalogue()["figures"] if each["speed_gbps"] == 800}
    assert prices.router.at(64) == pytest.approx(64 * figures["switch per port"])
    # an optical cable costs two modules, a fibre and a price per metre for 30 m; a passive copper cable has one price
    # for any length
    link = 2 * figures["dr price"] + figures["dr fibre"] + 30 * figures["dr fibre per metre"]
    assert prices.cables(1, 30) == pytest.approx(link)
    assert prices.terminal_cables(10, 20) == pytest.approx(10 * figures["dac price"])
    nodes = Hardware.of("800Gb/s", "dac", routers="nodes").prices()
    assert nodes is not None
    assert nodes.router.at(64) == 0


def test_a_price_that_no_source_names_is_left_open_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k4.yaml"
    file.write_text("designs: {tree: {fat_tree: {k: 4}}}\n")
    words = ["design", "compare", str(file), "--catalogue", "400Gb/s", "--cables", "dr", "--trials", "2"]
    assert main(words) == 0
    output = capsys.readouterr().out
    assert "cost: unknown, because the catalogue has no price in dollars for: dac price" in output
    assert main([*words, "--terminal-cables", "dr", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    # 20 switches of 4 ports
    switch = next(
        e for e in _engine.catalogue()["figures"] if (e["figure"], e["speed_gbps"]) == ("switch per port", 400)
    )
    assert row["cost_routers_usd"] == pytest.approx(80 * switch["median"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--catalogue", "400Gb/s"], "add `--cables dr`"),
        (["--cables", "dr"], "add `--catalogue 400Gb/s`"),
        (["--catalogue", "100Gb/s", "--cables", "dr"], "write sr, fr, dac, aoc"),
        (["--catalogue", "300Gb/s", "--cables", "dr"], "300Gb/s"),
        (["--catalogue", "400Gb/s", "--cables", "dr", "--port-power", "3"], "remove one of the two"),
    ],
)
def test_hardware_that_is_not_known_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    file = tmp_path / "k4.yaml"
    file.write_text("designs: {tree: {fat_tree: {k: 4}}}\n")
    assert main(["design", "compare", str(file), *words]) == 2
    assert message in capsys.readouterr().err


def test_the_command_prints_figures_and_their_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalogue", "--speed", "400Gb/s", "--sources"]) == 0
    output = capsys.readouterr().out
    assert "box per port" in output
    assert "nsg-ethz/NetPowerBench" in output
    assert main(["catalogue", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 136
    assert main(["catalogue", "--speed", "300Gb/s"]) == 2
    assert "write 100Gb/s, 200Gb/s, 400Gb/s, 800Gb/s" in capsys.readouterr().err
