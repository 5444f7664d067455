"""Tests tables for documents, which `weft export` and `weft compare` write as LaTeX and Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import made
from weft.cli import main
from weft.results.headings import headings
from weft.text.typeset import Section, escaped_markdown, escaped_tex, markdown, tex

if TYPE_CHECKING:
    from pathlib import Path

    from weft.api.results import Results


def cells(line: str) -> list[str]:
    """Return the cells of a row of a Markdown table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_no_letter_is_a_command() -> None:
    assert escaped_tex(r"a_b & 5 % $x$ #1 {c} ~ \d < >") == (
        r"a\_b \& 5 \% \$x\$ \#1 \{c\} \textasciitilde{} \textbackslash{}d \textless{} \textgreater{}"
    )
    assert escaped_markdown("a_b | *c* <b> `d` $x$ [e](f) & g") == (r"a\_b \| \*c\* &lt;b> \`d\` \$x\$ [e\](f) &amp; g")
    assert escaped_tex("two\nlines") == escaped_markdown("two\nlines") == "two lines"


def test_a_table_of_latex_has_the_rules_of_booktabs() -> None:
    text = tex(
        ["Load [1]", "A_b"], [Section("", [["-1.5", "x"], ["-", "[y]"]]), Section("c %", [["3", "*"]])], left=[1]
    )
    assert text.splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{@{}rl@{}}",
        r"\toprule",
        r"Load & A\_b \\",
        r"(1) &  \\",
        r"\midrule",
        r"$-$1.5 & x \\",
        r"-- & {[y]} \\",
        r"\addlinespace",
        r"\multicolumn{2}{@{}l@{}}{\textit{c \%}} \\",
        r"3 & {*} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_the_head_of_a_table_of_latex_is_narrow_and_has_as_many_cells_in_each_row() -> None:
    names = ["traffic.load", "accepted_load", "packet_latency_p99_cycles", "energy_per_bit_pj", "routing", "a_b%_share"]
    rows = tex(headings(names), [Section("", [["1"] * len(names)])], left=[4]).splitlines()
    begin, end = rows.index(r"\toprule"), rows.index(r"\midrule")
    cells_of = [
        [cell.strip() for cell in re.split(r"(?<!\\)&", row.removesuffix(r"\\"))] for row in rows[begin + 1 : end]
    ]
    assert {len(row) for row in cells_of} == {len(names)} == {len(rows[1].split("@{}")[1])}
    stacked = [" ".join(filter(None, column)) for column in zip(*cells_of, strict=True)]
    assert stacked == [
        "Load (flits/ terminal/ cycle)",
        "Accepted load (flits/ terminal/ cycle)",
        r"99 \% quantile of packet latency (cycles)",
        "Energy per delivered bit (pJ/bit)",
        "Routing",
        r"A b\% share",
    ]
    assert max(len(cell) for row in cells_of for cell in row) <= 13
    # in the heading of several rows, the units of all columns begin in the same row
    assert {
        next(place for place, row in enumerate(cells_of) if row[column].startswith("(")) for column in range(4)
    } == {4}


def test_a_table_of_markdown_has_as_many_cells_in_each_line() -> None:
    text = markdown(["a|b", "c"], [Section("first", [["1", "x|y"]]), Section("second", [["2", "z"]])], left=[1])
    first, second = text.split("**second**")
    assert first.startswith("**first**\n\n| a\\|b | c |\n| ---: | --- |\n| 1 | x\\|y |")
    assert {len(cells(line)) for line in (first + second).splitlines() if line.startswith("|")} == {2}


def test_headings_have_units() -> None:
    assert headings(["traffic.load", "packet_latency_p99_cycles", "energy_per_bit_pj", "window_cycles"]) == [
        "Load [flits/terminal/cycle]",
        "99 % quantile of packet latency [cycles]",
        "Energy per delivered bit [pJ/bit]",
        "Window [cycles]",
    ]
    assert headings(["links.a.vcs", "links.b.vcs", "routing"]) == ["Links.a.vcs", "Links.b.vcs", "Routing"]
    assert headings(["flits", "asleep_cycles"], "router_sleep") == ["Flits [flits]", "Asleep [cycles]"]


def test_points_as_tables_of_a_document(made_up: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An exported table of points has their coordinates and chosen columns.

    A saturated point has a word instead of its latency.
    """
    for ending in ("md", "tex"):
        assert main(["export", str(made_up.root), "--out", str(tmp_path / f"deep/t.{ending}")]) == 0
        assert capsys.readouterr().out == f"{tmp_path}/deep/t.{ending}\n"
    head, _, *rows = (tmp_path / "deep/t.md").read_text(encoding="utf-8").splitlines()
    assert cells(head)[:4] == [
        "Pattern",
        "Policy",
        "Load [flits/terminal/cycle]",
        "Offered load [flits/terminal/cycle]",
    ]
    latency = cells(head).index("Mean packet latency [cycles]")
    *rows, empty, note, between, over = rows
    assert (len(rows), empty, between) == (16, "", "")
    assert note == "sat: saturated, the latency has no limit"
    assert over == "!: per accepted bit, with an accepted load below the offered load"
    energy = cells(head).index("Energy per delivered bit [pJ/bit]")
    assert [cells(row)[energy].endswith("!") for row in rows] == [bool(each["saturated"]) for each in made_up.summaries]
    for row, summary in zip(rows, made_up.summaries, strict=True):
        mean = f"{summary['packet_latency_mean_cycles']:.1f}"
        assert cells(row)[latency] == ("sat" if summary["saturated"] else mean)
        assert cells(row)[latency + 1] == ("sat" if summary["saturated"] else "60")
    text = (tmp_path / "deep/t.tex").read_text(encoding="utf-8")
    assert r"tornado & always\_on & 0.4 & 0.400 & 0.250 & sat & sat" in text
    assert "5000" not in text
    assert r"{\footnotesize sat: saturated, the latency has no limit} \\" in text


def test_columns_are_chosen_in_every_format(made_up: Results, tmp_path: Path) -> None:
    for ending in ("csv", "md", "json", "tex"):
        out = tmp_path / f"t.{ending}"
        assert main(["export", str(made_up.root), "--columns", "hops_mean,traffic.load", "--out", str(out)]) == 0
        assert len(out.read_text(encoding="utf-8")) > 100
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").startswith("hops_mean,traffic.load\n1.5,0.1\n")
    assert (
        (tmp_path / "t.md")
        .read_text(encoding="utf-8")
        .startswith("| Hops per packet [links] | Load [flits/terminal/cycle] |")
    )


def test_energies_of_an_unsettled_point_have_its_mark(tmp_path: Path) -> None:
    energies = {"energy_total_j": 0.5, "energy_network_j": 0.25, "power_settled": False}
    results = made(tmp_path / "made", [({"traffic.load": 0.1}, energies)])
    out = tmp_path / "energies.md"
    chosen = "energy_total_j,energy_network_j,hops_mean"
    assert main(["export", str(results.root), "--out", str(out), "--columns", chosen]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert cells(lines[2])[:2] == [r"0.5\~", r"0.25\~"]
    assert any(line.startswith(r"\~: measured before the network had settled") for line in lines)


def test_a_recording_is_a_table_of_a_document(recorded: Results, tmp_path: Path) -> None:
    out = tmp_path / "sleep.md"
    assert main(["export", str(recorded.root), "--table", "router_sleep", "--out", str(out)]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert cells(lines[0]) == ["Point", "Router", "Managed [channels]", "Asleep [cycles]", "Asleep share"]
    assert len(lines) == 2 + 16 * len(recorded)


def test_a_comparison_is_a_table_of_a_document(made_up: Results, tmp_path: Path) -> None:
    sides = [f"{made_up.root}:policy={policy}" for policy in ("always_on", "idle_timeout")]
    for ending in ("md", "tex", "csv", "json"):
        assert main(["compare", *sides, "--out", str(tmp_path / f"c.{ending}")]) == 0
    text = (tmp_path / "c.md").read_text(encoding="utf-8")
    head = cells(next(line for line in text.splitlines() if line.startswith("|")))
    assert head == ["Pattern", "Load [flits/terminal/cycle]", "A", "B", "B \N{MINUS SIGN} A", "± (95 %)", "Change", ""]
    assert re.findall(r"\*\*(.*)\*\*", text) == [
        "Accepted load [flits/terminal/cycle]",
        "Mean packet latency [cycles]",
        "99 % quantile of packet latency [cycles]",
        "Energy per delivered bit [pJ/bit]",
    ]
    assert "| uniform | 0.1 | 21.00 | 26.00 | +5.00 | - | +23.8 % | ? |" in text
    assert "| tornado | 0.4 | sat | sat | - | - | - | saturated |" in text
    table = (tmp_path / "c.tex").read_text(encoding="utf-8")
    assert r"uniform & 0.1 & 21.00 & 26.00 & $+$5.00 & -- & $+$23.8 \% & ? \\" in table
    assert all(line.startswith("%") or line.count("&") in (0, 7) for line in table.splitlines())
    # the table explains the marks of points below its last rule, in lines that fit a page
    below = [re.search(r"footnotesize (.*)}", line) for line in table.partition("\\bottomrule")[2].splitlines()]
    notes = [found[1] for found in below if found]
    assert all(len(line) <= 110 for line in notes)
    shown = " ".join(notes)
    assert r"policy=always\_on; B: " in shown
    assert (
        r"$\pm$: half width of the 95 \% confidence interval of the difference; *: the difference is larger." in shown
    )
    expected = "a single run, which has no confidence interval for this quantity; sweep the seed (seed: [1, 2, 3])"
    assert f"?: A or B is {expected}" in shown
    assert "±: half width" in text


def test_names_are_escaped(tmp_path: Path) -> None:
    results = made(tmp_path / "odd", [({"note": note}, {}) for note in ("a_b|c", "50 % & $x$")])
    for ending, expected in (("md", r"a\_b\|c"), ("tex", r"50 \% \& \$x\$")):
        out = tmp_path / f"t.{ending}"
        assert main(["export", str(results.root), "--out", str(out)]) == 0
        assert expected in out.read_text(encoding="utf-8")


REFUSED = {
    "export {root} --out t.doc": "no format has the ending '.doc'(.|\n)*.csv, .json, .parquet, .tex, .md",
    "export {root} --columns speed": "points has no column 'speed'(.|\n)*accepted_load",
    "export {root} --columns ,": "names no column",
    "compare {root}:policy=always_on {root}:policy=idle_timeout --out t.xlsx": "'.xlsx'(.|\n)*.csv, .json, .tex, .md",
}


@pytest.mark.parametrize("command", REFUSED)
def test_bad_input_is_reported_with_its_remedy(
    made_up: Results, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(root=made_up.root) for word in command.split()]) == 2
    errors = capsys.readouterr().err
    assert re.search(REFUSED[command], errors), errors
    assert "= help:" in errors


def test_seeds_are_one_row_with_means_and_intervals(tmp_path: Path) -> None:
    def point(load: float, seed: int, latency: float, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"traffic.load": load, "seed": seed}, {"packet_latency_mean_cycles": latency} | more

    late = {"warmup_settled": False}
    results = made(
        tmp_path / "seeds",
        [point(0.1, 1, 20.0), point(0.1, 2, 22.0), point(0.2, 1, 30.0, **late), point(0.2, 2, 30.0)],
    )
    out = tmp_path / "seeds.md"
    assert main(["export", str(results.root), "--out", str(out)]) == 0
    head, _, *rows = (cells(line) for line in out.read_text(encoding="utf-8").splitlines() if line.startswith("|"))
    column = head.index("Mean packet latency [cycles]")
    assert "Seed" not in head
    # the half-width of the confidence interval of two values is half of their difference times 12.706, Student's t with
    # one degree of freedom
    assert [row[column] for row in rows] == ["21.0 ± 12.7", "30.0\\~"]
    assert "means over 2 seeds" in out.read_text(encoding="utf-8")
    csv = tmp_path / "seeds.csv"
    assert main(["export", str(results.root), "--out", str(csv)]) == 0
    frame = pl.read_csv(csv)
    assert frame["runs"].to_list() == [2, 2]
    assert frame["packet_latency_mean_cycles"].to_list() == [21.0, 30.0]
    assert frame["packet_latency_mean_cycles_ci95_half_width"].to_list() == pytest.approx([12.706, 0.0], rel=1e-3)
    assert "seed" not in frame.columns
    assert main(["export", str(results.root), "--out", str(csv), "--each-seed"]) == 0
    assert pl.read_csv(csv)["seed"].to_list() == [1, 2, 1, 2]
    tex_file = tmp_path / "seeds.tex"
    assert main(["export", str(results.root), "--out", str(tex_file)]) == 0
    assert r"21.0 $\pm$ 12.7" in tex_file.read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", [".md", ".tex"])
def test_means_of_points_that_drop_packets_have_the_legend_of_their_mark(tmp_path: Path, ending: str) -> None:
    """In a table of means over seeds, each mean is followed by a half-width, even a mean with the mark of dropped
    packets."""
    results = made(
        tmp_path / "dropping",
        [
            (
                {"seed": seed},
                {"dropped_packets": 5, "packets": 100, "accepted_load": 0.1 * seed}
                | {"packet_latency_mean_cycles": 20.0 + seed, "packet_latency_p99_cycles": 30 + seed}
                | {"energy_per_bit_pj": 10.0 + seed},
            )
            for seed in (1, 2)
        ],
    )
    out = tmp_path / f"table{ending}"
    assert main(["export", str(results.root), "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    mark, around = {".md": ("#", "±"), ".tex": (r"\#", r"$\pm$")}[ending]
    assert f"21.5{mark} {around} " in text
    assert f"{mark}: packets were dropped, so the number covers only the delivered packets" in text
