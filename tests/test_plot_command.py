"""Tests ``weft plot``, ``weft explain stall`` and ``results.plot``: the files that they write, and errors on bad input,
which name a remedy.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest
from matplotlib.patches import FancyArrowPatch

import weft
from weft.cli import main
from weft.plot import stall
from weft.plot.choice import Choice
from weft.plot.draw import drawn
from weft.plot.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from matplotlib.text import Text

    from weft.api.results import Results

MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.parametrize("ending", MAGIC)
def test_a_figure_is_written_in_the_format_that_is_asked_for(
    made_up: Results, tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(made_up.root)
    assert main(["plot", "latency_accepted", root, "--format", ending]) == 0
    default = made_up.root / f"latency_accepted.{ending}"
    numbers = made_up.root / f"latency_accepted.{ending}.csv"
    assert capsys.readouterr().out == f"picture  {default}\nnumbers  {numbers}\n"
    assert main(["plot", "latency_accepted", root, "--out", str(tmp_path / f"deep/my.{ending}")]) == 0
    for file in (default, tmp_path / f"deep/my.{ending}"):
        assert file.read_bytes().startswith(MAGIC[ending])
    assert default.read_bytes() == (tmp_path / f"deep/my.{ending}").read_bytes()


def test_fonts_are_in_the_file(made_up: Results, tmp_path: Path) -> None:
    """PDF files contain TrueType fonts, because printers refuse matplotlib's default Type 3.

    SVG files contain outlines.
    """
    pdf = made_up.plot(tmp_path / "picture.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert "<text" not in made_up.plot(tmp_path / "picture.svg").read_text(encoding="utf-8")


def test_the_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot"]) == 0
    listed = capsys.readouterr().out
    for kind in KINDS.values():
        assert f"  {kind.name.ljust(max(map(len, KINDS)))}  {kind.summary}\n" in listed
        assert kind.needs in listed
    with pytest.raises(SystemExit):
        main(["plot", "--help"])
    assert listed.strip() in capsys.readouterr().out


def test_every_kind_is_a_method(made_up: Results, tmp_path: Path) -> None:
    assert set(dir(made_up.plot)) >= KINDS.keys()
    assert made_up.plot.mean_hops() == made_up.root / "mean_hops.png"
    assert made_up.plot.mean_hops(tmp_path / "hops.pdf", point={"load": 0.1}).is_file()
    assert made_up.plot() == made_up.root / "plot.png"
    with pytest.raises(AttributeError, match="no kind of figure 'pie'"):
        made_up.plot.pie()  # type: ignore[attr-defined]


def test_endings_may_be_in_capitals(made_up: Results, tmp_path: Path) -> None:
    assert main(["plot", "load", str(made_up.root), "--out", str(tmp_path / "x.PNG"), "--format", "png"]) == 0


def test_a_notebook_shows_a_figure(made_up: Results) -> None:
    picture = made_up.plot.figure("mean_hops")
    assert picture._repr_png_().startswith(MAGIC["png"])


REFUSED = {
    "plot pie {root}": "there is no kind of figure 'pie'(.|\n)*the kinds are load, latency_accepted",
    "plot {root}": "but the first argument is the kind of figure(.|\n)*weft plot load ",
    "plot load": "no results are named(.|\n)*weft plot load results/",
    "plot load nowhere": "nowhere has no results of a sweep(.|\n)*`weft run`",
    "plot load {root} --out x.pdf --format png": "--out x.pdf and --format png disagree",
    "plot load {root} --out x.gif": "there is no figure format 'gif'(.|\n)*end it with .pdf, .svg, .png",
    "plot load {root} --out picture": "the name has no ending",
    "plot latency_cdf {root}": "at most 14 points, but 16 are chosen(.|\n)*--point",
    "plot latency_cdf {root} --point 0": "no latencies: no packet of the window was delivered",
    "plot series {root} --point 0": "measure.series=",
    "plot link_states {root} --point 0": "measure.link_states=",
    "plot power {root}": "no point has power_mean_w",
    "explain stall {root} --set seed=2": "explain stall has no --set(.|\n)*explain topology and routing",
    "explain routing x.yaml --from 0 --to 1 --out x.png": "explain routing has no --out",
    "explain stall {root}": "no chosen point got stuck \\(0 of 16 points did\\)",
}


@pytest.mark.parametrize("command", REFUSED)
def test_bad_input_is_reported_with_its_remedy(
    made_up: Results, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(root=made_up.root) for word in command.split()]) == 2
    errors = capsys.readouterr().err
    assert re.search(REFUSED[command], errors), errors
    assert "= help:" in errors


def test_a_damaged_point_is_named_and_the_others_are_drawn(
    made_up: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (made_up.folder(0) / "summary.json").write_text('{"half', encoding="utf-8")
    assert main(["plot", "load", str(made_up.root), "--out", str(tmp_path / "load.png")]) == 0
    printed = capsys.readouterr()
    assert (tmp_path / "load.png").is_file()
    assert made_up.points[0]["hash"] in printed.err


def test_listing_kinds_loads_nothing_heavy() -> None:
    code = "import sys; from weft.cli import main; main(['plot']); print([m for m in sys.modules if m in HEAVY])"
    code = f"HEAVY = {{'matplotlib', 'numpy', 'polars', 'weft._engine'}}; {code}"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "[]"


def labelled(texts: Iterable[Text], kind: str) -> list[str]:
    """Return the texts of the labels of a kind, in the order of the packets that wait for each other in a cycle."""
    chosen = [text for text in texts if str(text.get_gid()).startswith(kind)]
    return [text.get_text() for text in sorted(chosen, key=lambda text: int(str(text.get_gid()).split()[1]))]


@pytest.mark.parametrize("routers", [8, 24])
def test_a_stall_is_drawn_as_the_cycle_that_it_is(
    ring: Path, tmp_path: Path, routers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    ring.write_text(ring.read_text().replace("[8]", f"[{routers}]"), encoding="utf-8")
    out = tmp_path / "out"
    assert main(["run", str(ring), "--out", str(out)]) == 4
    capsys.readouterr()
    assert main(["explain", "stall", str(out)]) == 0
    shown = capsys.readouterr().out
    results = weft.open_results(out)
    (row, words), *_ = results.stalls
    members = results.summaries[row]["stall_wait_for"]
    assert words in shown
    assert shown.endswith(f"picture  {out / 'stall.png'}\nnumbers  {out / 'stall.png.csv'}\n")
    assert (out / "stall.png").stat().st_size > 5000
    numbers = pl.read_csv(out / "stall.png.csv")
    assert numbers["router"].to_list() == [member["at"]["router"] for member in members]
    assert numbers["waits_for_router"].to_list() == [member["waits_for"]["router"] for member in members]
    axes = drawn(stall, Choice.of([results], [row])).axes[0]
    assert sum(isinstance(patch, FancyArrowPatch) for patch in axes.patches) == len(members)
    assert labelled(axes.texts, "router") == [str(member["at"]["router"]) for member in members]
    for label, member in zip(labelled(axes.texts, "packet"), members, strict=True):
        packet = member["packet"]
        assert label.startswith(f"packet {packet['seq']} of {packet['src']} to {packet['dst']}")
        assert f"VC {member['at']['vc']}" in label
        assert label.endswith(f"no room behind port {member['output']}")
    boxes = [text.get_window_extent() for text in axes.texts]
    assert (
        not any(first.overlaps(other) for number, first in enumerate(boxes) for other in boxes[:number]) or routers > 8
    )
    assert main(["explain", "stall", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == members
    assert main(["explain", "stall", str(out), "--point", "0"]) == 2
    assert "choose one of 1 with --point" in capsys.readouterr().err
