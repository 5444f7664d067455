"""Tests the JSON schema of scenarios, which editors use: it accepts scenarios that Weft accepts, and refuses others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import weft
from weft import _engine

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.yaml"))


def spelt(value: Any) -> Any:
    """Convert a tree that PyYAML (YAML 1.1) has read: the keys `on` and `off` become words, as in YAML 1.2, which
    scenarios use."""
    if isinstance(value, list):
        return [spelt(each) for each in value]
    if isinstance(value, dict):
        return {{True: "on", False: "off"}.get(key, key): spelt(each) for key, each in value.items()}
    return value


def wrong(scenario: Any) -> list[str]:
    """Return the faults of a scenario according to the schema."""
    found = Draft202012Validator(_engine.schema()).iter_errors(scenario)
    return [f"{problem.json_path}: {problem.message}" for problem in found]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(_engine.schema())


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_it_accepts_every_example_as_written_and_as_resolved(file: Path) -> None:
    assert wrong(spelt(yaml.safe_load(file.read_text(encoding="utf-8")))) == []
    resolved = weft.load(file).points
    assert [problem for point in (resolved[0], resolved[-1]) for problem in wrong(point.resolved)] == []


@pytest.mark.parametrize(
    ("scenario", "at"),
    [
        ({"links": {"default": {"latency": "10"}}}, "$.links.default.latency"),
        ({"routing": "ugal_q"}, "$.routing"),
        ({"lod": 1}, "$"),
    ],
    ids=["a time without a unit", "an unknown model", "an unknown key"],
)
def test_it_refuses_what_does_not_run(scenario: dict[str, Any], at: str) -> None:
    assert [place for place in wrong(scenario) if place.startswith(f"{at}:")]
