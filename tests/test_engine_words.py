"""Tests that Python takes lists of words, such as the names of link states, from the engine.

Plots and tables then also show words that a later version of the engine adds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import weft
from conftest import made
from small import ROW_UNDER_TCEP
from weft import _engine
from weft._engine import CONTROL_PACKETS, ENDINGS, LINK_STATES, RECORDS, STALL_CAUSES, WAITING_REASONS
from weft.errors import ResultsError
from weft.plot import control_packets, stall, style
from weft.plot.choice import Choice
from weft.plot.draw import figure
from weft.report.columns_shown import charted
from weft.report.data import collect
from weft.report.sources import Sources
from weft.results import control_messages, link_modes
from weft.results import quantities as q
from weft.results.database import TABLES
from weft.results.result_set import ResultSet
from weft.scenario import parameters
from weft.text import engine_words

if TYPE_CHECKING:
    from weft.api.results import Results

DOCS = Path(__file__).parents[1] / "docs"
# A state that only a later version of the engine has.
LATER = (*LINK_STATES, "dozing")
ALL_RECORDS = {
    "topology": {"hyperx": {"widths": [2, 2], "terminals_per_router": 1}},
    "routing": "dimension_order",
    "traffic": {"pattern": "uniform", "load": 0.1},
    "measure": {"warmup": "100cycles", "window": "100cycles"}
    | {each["name"]: yaml.safe_load(each["example"]) for each in _engine.recordings()},
}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plots see one more link state than the engine has."""
    monkeypatch.setattr(link_modes, "LINK_STATES", LATER)


def legend(kind: str, results: Results, point: str = "0") -> set[str]:
    """Return the names in the legend of a figure."""
    drawing = figure(kind, Choice.of([results], [point] if point else []))
    return {text.get_text() for each in drawing.legends for text in each.get_texts()}


def drawn(kind: str, results: Results, point: str = "0") -> set[str]:
    """Return the labels of the curves and areas of a figure."""
    drawing = figure(kind, Choice.of([results], [point] if point else []))
    areas = [each for axes in drawing.axes for each in axes.collections]
    bars = [each for axes in drawing.axes for each in axes.containers]
    return {str(each.get_label()) for each in areas} | {str(each.get_label()) for each in bars}


def test_every_power_state_has_a_look_of_its_own() -> None:
    for states in (LINK_STATES, LATER):
        looks = style.state_looks(states)
        assert len(set(looks.values())) == len(states) == len(looks)
        assert list(looks)[-1] == "off"


def test_every_power_state_has_a_price_and_its_columns(recorded: Results) -> None:
    assert recorded.scenario(0)["power"]["prices"].keys() == set(LINK_STATES)
    summary, channels, series = recorded.summaries[0], recorded.channels(0), recorded.series(0)
    page = (DOCS / "reference" / "results.md").read_text(encoding="utf-8")
    page += "".join(f"`{column['name']}`" for shown in _engine.recordings() for column in shown["columns"])
    for state in LINK_STATES:
        assert f"links_{state}_share" in summary
        assert {f"cycles_{state}", f"flits_{state}"} <= set(channels.columns)
        assert f"channels_{state}" in series.columns
        for column in (f"links_{state}_share", f"cycles_{state}", f"flits_{state}", f"channels_{state}"):
            assert f"`{column}`" in page, f"results.md lacks {column}"


def test_a_report_holds_every_power_state(recorded: Results) -> None:
    held = collect(Sources([recorded]))
    assert held["states"].keys() == held["state_patterns"].keys() == set(LINK_STATES)
    assert tuple(held["state_order"]) == LINK_STATES
    assert {f"links_{state}_share" for state in LINK_STATES} <= {each.column for each in charted("cycles", LINK_STATES)}


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("kind", ["link_states", "control_packets"])
def test_spans_in_every_power_state_are_drawn(recorded: Results, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    spans = pl.DataFrame(
        [{"channel": 0, "state": state, "from_cycle": at, "to_cycle": at + 1} for at, state in enumerate(LATER)]
    )
    said = {"sent_cycle": 1, "arrived_cycle": 3, "kind": "ack", "from_router": 0, "to_router": 1}
    monkeypatch.setattr(ResultSet, "link_states", lambda *_: spans)
    monkeypatch.setattr(control_packets, "_packets", lambda _: (pl.DataFrame([said]), ""))
    assert set(LATER) <= legend(kind, recorded)
    assert set(LATER) <= drawn(kind, recorded)


@pytest.mark.usefixtures("later")
def test_samples_of_every_power_state_are_drawn(recorded: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    sample: dict[str, Any] = {"from_cycle": 0, "interval_cycles": 10, "link_class": "default", "utilisation": 0.1}
    samples = pl.DataFrame([sample | {f"channels_{state}": 1 for state in LATER}])
    monkeypatch.setattr(ResultSet, "series", lambda *_: samples)
    assert set(LATER) <= legend("series", recorded)
    assert set(LATER) <= drawn("series", recorded)


@pytest.mark.usefixtures("later")
def test_shares_of_every_power_state_are_drawn(tmp_path: Path) -> None:
    shares = {f"links_{state}_share": 1 / len(LATER) for state in LATER}
    results = made(tmp_path / "shares", [({"traffic.load": load}, {"load": load} | shares) for load in (0.1, 0.2)])
    assert set(LATER) <= legend("residency", results, "")
    assert set(LATER) <= drawn("residency", results, "")


def test_every_kind_of_control_packet_has_a_look_of_its_own() -> None:
    looks = [control_packets._look(kind) for kind in CONTROL_PACKETS]
    seen = {(each["color"], each["marker"], each["linestyle"]) for each in looks}
    assert len(seen) == len(CONTROL_PACKETS)


def test_what_control_packets_say_is_said_of_kinds_that_there_are() -> None:
    assert control_messages._SAYS.keys() <= set(CONTROL_PACKETS)
    packet = {"from_router": 1, "to_router": 2, "about_router": 3}
    for kind in CONTROL_PACKETS:
        shown = {control_messages.words(packet | {"kind": kind, "flag": flag}) for flag in (0, 1)}
        assert len(shown) == len(set(control_messages._SAYS.get(kind, [kind])))
        assert not any("{" in words for words in shown)


def test_the_rank_of_a_link_of_a_star_is_that_of_the_engine(tmp_path: Path) -> None:
    """Under TCEP, requests for links of the next hub's star contain a rank instead of a count of flits.

    A link carries at most one flit per cycle, so a count of flits is always smaller than such a rank.
    """
    set = {"power.policy.tcep.rotate_hub": 1, "measure": {"window": "6000cycles", "control_packets": {}}}
    values = (
        weft.load(ROW_UNDER_TCEP, overrides=set).run(tmp_path / "tcep").control_packets(0)["value_flits"].drop_nulls()
    )
    ranks = values.filter(values > 100_000)
    assert ranks.to_list() == [control_messages.FIRST_RANK] * len(ranks) != []
    message = str(_engine.recordings())
    assert f"{control_messages.FIRST_RANK} means that the link" in message
    assert f"{control_messages.FIRST_RANK + 1} means that, since a fault, packets" in message


def test_every_cause_of_a_stall_has_words_and_an_arrow_of_its_own() -> None:
    assert tuple(stall._CAUSES) == STALL_CAUSES
    assert len({look[1:] for look in stall._CAUSES.values()}) == len(STALL_CAUSES)


def test_every_word_has_a_meaning() -> None:
    for words, meanings in (
        (WAITING_REASONS, engine_words.WAITING_MEANINGS),
        (STALL_CAUSES, engine_words.STALL_MEANINGS),
        (RECORDS, engine_words.RECORD_MEANINGS),
    ):
        assert tuple(meanings) == words
    assert engine_words.explained(("vc_held", "too_hot"), {"vc_held": "held", "gone": ""}) == {
        "vc_held": "held",
        "too_hot": "too hot",
    }


def test_the_endings_are_those_of_the_engine() -> None:
    assert {q.DRAINED, q.SATURATED, q.STALLED} <= set(ENDINGS)


def test_a_point_that_keeps_all_records_has_a_table_of_each(tmp_path: Path) -> None:
    results = weft.load(ALL_RECORDS).run(tmp_path / "all")
    kept = {path.stem for path in results.folder(0).glob("*.parquet")}
    assert kept == {"channels", *RECORDS}
    assert kept <= TABLES.keys()
    for shown in _engine.recordings():
        columns = results.recorded(0, shown["name"]).columns
        assert columns == [column["name"] for column in shown["columns"] if column["name"] in columns]


def test_the_mappings_under_measure_are_the_recordings() -> None:
    schema = _engine.schema()
    keys = schema["$defs"]["Measure"]["properties"]
    mappings = {key for key, place in keys.items() if parameters.target(schema, place).get("type") == "object"}
    assert mappings == set(RECORDS)


def test_a_table_that_nobody_knows_is_refused(recorded: Results) -> None:
    with pytest.raises(ResultsError, match="the recordings are transient"):
        recorded.recorded(0, "tomorrow")
