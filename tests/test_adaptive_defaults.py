"""Tests that adaptive routings with default settings take minimal paths if no packets wait.

Other settings cause a hint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import weft
from weft import _engine
from weft.cli import main
from weft.errors import ScenarioError
from weft.scenario import parameters

if TYPE_CHECKING:
    from pathlib import Path

# A dragonfly of 9 groups whose global links are ten times as long as its local links: a credit takes 2 x 100 + 2
# cycles.
DRAGONFLY = """\
topology: {dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}
links:
  default: {latency: 10cycles, vcs: 12, buffer: 256flits}
  global: {latency: 100cycles}
routing: dragonfly_minimal
traffic: {pattern: uniform, packet: 1flit, load: 0.1}
measure: {warmup: 1500cycles, window: 1500cycles}
"""
# A network in which each line of routers is fully connected, by links of the same length.
GRID = """\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 2}}
links:
  default: {latency: 100cycles, vcs: 12, buffer: 256flits}
routing: minimal
traffic: {pattern: uniform, packet: 1flit, load: 0.1}
measure: {warmup: 1000cycles, window: 1500cycles}
"""


def _sensing() -> dict[str, list[str]]:
    """Return the routings that can take detours and have a parameter `sensor`, with the values of the parameter.

    `up_down` takes only minimal paths, and `python` takes the user's paths.
    """
    schema = _engine.schema()
    found = {}
    for name in (model["name"] for model in _engine.models()["routing"] if model["name"] not in {"up_down", "python"}):
        keys = {key.key: key for key in parameters.keys(schema, parameters.model(schema, "routing", name))}
        if "sensor" in keys:
            found[name] = [word for word, _ in keys["sensor"].choices]
    return found


SENSING = _sensing()


def _network(routing: str) -> str:
    """Return the text of a scenario whose network the routing supports."""
    for text in (GRID, DRAGONFLY):
        try:
            weft.load(text, overrides={"routing": routing}).points[0].imply()
        except ScenarioError:
            continue
        return text
    raise AssertionError(f"no network for {routing}")


def test_all_adaptive_routings_with_a_sensor_are_tested_here() -> None:
    assert {"ugal", "ugal_p", "pal", "dal", "dragonfly_ugal", "dragonfly_par", "dragonfly_pb"} <= set(SENSING)


@pytest.mark.parametrize("routing", SENSING)
def test_with_its_defaults_a_routing_is_minimal_where_nothing_waits(routing: str, tmp_path: Path) -> None:
    """At load 0.1 a link carries 0.1 flits per cycle.

    Two flits for the same link arrive in only 1 of 200 cycles, and only then the second flit waits.
    """
    frame = weft.load(_network(routing), overrides={"routing": routing}).run(tmp_path / "out").frame
    assert frame["minimal_share"].item() > 0.99


@pytest.mark.parametrize("routing", SENSING)
def test_credits_under_way_are_a_hint_whose_remedy_ends_it(routing: str) -> None:
    """A sensor that counts used credits causes detours even without queues.

    In a credit round trip of 202 cycles, a link at load 0.1 carries about 20 flits, which is more than any threshold
    that favours the minimal path.
    """
    text = _network(routing)
    (sensor,) = (word for word in SENSING[routing] if word.endswith("_credits"))
    path = f"routing.{routing}.sensor"

    def hints(**options: str) -> list[dict[str, object]]:
        implied = weft.load(text, overrides={"routing": {routing: options}}).points[0].imply()
        return [hint for hint in implied["hints"] if hint.get("code") == "credits_under_way"]

    assert hints() == []
    (hint,) = hints(sensor=sensor)
    numbers = hint["numbers"]
    assert hint["path"] == path
    assert isinstance(numbers, dict)
    assert numbers["round_trip_cycles"] == 202
    assert numbers["under_way_flits"] == pytest.approx(numbers["carried_flits_per_cycle"] * 202)
    assert numbers["under_way_flits"] > numbers["threshold_flits"]
    assert "`sensor: history_window`" in str(hint["help"])
    assert hints(sensor="history_window") == []


def test_the_table_of_a_run_shows_the_minimal_share_if_packets_took_detours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dragonfly.yaml"
    file.write_text(DRAGONFLY)

    def table(routings: str) -> str:
        command = ["run", str(file), "--no-picture", "--set", f"sweep.routing={routings}"]
        assert main([*command, "--out", str(tmp_path / routings[1:9])]) == 0
        return capsys.readouterr().out

    assert "minimal share" not in table("[dragonfly_minimal]")
    shown = table("[dragonfly_valiant, dragonfly_minimal]")
    assert "minimal share against the configured load" in shown
    assert "  1.00" in shown
