"""Tests control packets between routers: the page on them shows every kind, and figures have the files' values."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from matplotlib.text import Annotation

import weft
from weft._engine import CONTROL_PACKETS
from weft.cli import main
from weft.plot.choice import Choice
from weft.plot.draw import figure

if TYPE_CHECKING:
    from weft.api.results import Results

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "messages.md"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Run the commands of the page, and return the results by name of the folder."""
    folder = tmp_path_factory.mktemp("messages")
    text = PAGE.read_text(encoding="utf-8")
    (scenario,) = re.findall(r"```\{file\} talk\.yaml\n(.*?)```", text, re.DOTALL)
    (folder / "talk.yaml").write_text(scenario, encoding="utf-8")
    runs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in re.findall(r"^weft (run talk\.yaml .*?)$", text.replace("\\\n", " "), re.MULTILINE):
            words = shlex.split(command)
            assert main(words) == 0
            out = words[words.index("--out") + 1]
            runs[Path(out).name] = weft.open_results(folder / out)
    return runs


def test_the_page_shows_every_kind_in_small_networks(shown: dict[str, Results]) -> None:
    said = {name: set(results.control_packets(0)["kind"]) for name, results in shown.items()}
    wanted = {
        "activate": {"activate", "ack", "state"},
        "yours": {"activate_yours"},
        "one": {"withdraw", "nack"},
        "shadow": {"deactivate", "reactivate"},
        "off": {"deactivate", "ack", "state"},
        "hub": {"hub"},
        "fault": {"fault"},
    }
    assert all(kinds <= said[name] for name, kinds in wanted.items()), said
    # the page shows exactly the listed kinds; other policies have further kinds
    assert set.union(*said.values()) == set.union(*wanted.values()) <= set(CONTROL_PACKETS)
    for results in shown.values():
        assert results.channels(0)["from_router"].max() <= 3  # type: ignore[operator] # a number
        (summary,) = results.summaries
        assert summary["control_packets_complete"]


def test_a_figure_has_an_arrow_for_every_packet_that_came(shown: dict[str, Results]) -> None:
    for results in shown.values():
        above, below = figure("control_packets", Choice.of([results], ["0"])).axes
        assert "[cycles]" in below.get_xlabel()
        packets = results.control_packets(0).drop_nulls("arrived_cycle")
        rows = sorted({*results.control_packets(0)["from_router"], *results.control_packets(0)["to_router"]})
        arrows = [each for each in above.texts if isinstance(each, Annotation)]
        drawn = Counter((*each.xyann, *each.xy) for each in arrows)
        ends = packets.select("sent_cycle", "from_router", "arrived_cycle", "to_router").iter_rows()
        assert drawn == Counter((sent, rows.index(a), came, rows.index(b)) for sent, a, came, b in ends)
        assert [label.get_text() for label in below.get_yticklabels()][:2] == ["0 to 1", "0 to 2"]


def test_no_control_packets_are_reported(tmp_path: Path, shown: dict[str, Results]) -> None:
    scenario = shown["off"].file(0, "scenario.yaml")
    quiet = weft.load(scenario, overrides={"power.policy": "always_on"}).run(tmp_path / "quiet")
    assert quiet.control_packets(0).is_empty()
    with pytest.raises(weft.ResultsError, match="routers send no control packets under always_on"):
        figure("control_packets", Choice.of([quiet], ["0"]))
    silent = weft.load(scenario, overrides={"measure.window": "10cycles"}).run(tmp_path / "silent")
    with pytest.raises(weft.ResultsError, match="no router sent a control packet"):
        figure("control_packets", Choice.of([silent], ["0"]))


def test_a_record_of_control_packets_that_ended_is_reported(tmp_path: Path, shown: dict[str, Results]) -> None:
    scenario = shown["off"].file(0, "scenario.yaml")
    whole = shown["off"].control_packets(0).height
    assert whole > 1
    for most in (1, whole - 1):
        asked = {"measure.control_packets": {"max_packets": most}}
        cut = weft.load(scenario, overrides=asked).run(tmp_path / f"cut{most}")
        assert cut.summaries[0]["control_packets_complete"] is False
        if cut.control_packets(0).is_empty():
            with pytest.raises(weft.ResultsError, match=f"has no packet, because max_packets is {most}\n") as caught:
                figure("control_packets", Choice.of([cut], ["0"]))
            assert "increase measure.control_packets.max_packets" in caught.value.help
        else:
            (legend,) = figure("control_packets", Choice.of([cut], ["0"])).legends
            assert "cut off at measure.control_packets.max_packets" in " ".join(legend.get_title().get_text().split())
