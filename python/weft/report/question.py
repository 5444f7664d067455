"""Finds the question that a sweep answers: the values of its scenario that have no default or differ from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from weft._engine import schema
from weft.errors import ScenarioError
from weft.scenario.scenario import Scenario
from weft.text.labels import at, label

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Name of the row that `chosen` returns instead of the rows of all other keys, if it cannot find their defaults.
_OTHERS = "all other keys"
# Sections without a default, which every scenario has; and keys of `traffic` without a default. A scenario has some of
# these keys of `traffic`, which together define the senders, their destinations and their load.
_SECTIONS = ("topology", "routing")
_TRAFFIC = ("pattern", "load", "loads", "jobs", "phases", "batch", "workload")
# For these keys, the parts that differ from their defaults are also needed. The schema of a program, for example,
# requires none of its parts, because a file or a generator is enough.
_WITH_CHANGES = ("jobs", "workload")
# Sections that may have to keep their values together, because the engine would refuse the rest without them. Examples:
# the topology if a graph file does not mention terminals, or the links if the routing needs more VCs than the default.
_NEEDED_TOGETHER = (
    (),
    ("classes",),
    ("topology",),
    ("topology", "links"),
    ("topology", "links", "router"),
    ("topology", "links", "router", "classes"),
)


def chosen(scenario: dict[str, Any], file: Path) -> list[tuple[str, str, str]]:
    """The values of a resolved scenario that differ from the defaults: path, value, and default ("" if none).

    The defaults come from the engine, which resolves the scenario again without all keys that have a default.

    Parameters
    ----------
    scenario : dict
        The resolved scenario.
    file : Path
        The file of the scenario. Files that the scenario names are looked up in the folder of `file`.
    """
    bare = _bare(scenario)
    usual, kept = _defaults(scenario, bare, file)
    if usual is None:  # nothing distinguishes chosen values from defaults
        usual, rest_of = {}, {}
        unknown = [(_OTHERS, "not separable from defaults, because the scenario does not run without them", "")]
    else:
        unknown, rest_of = [], scenario
    rows = [(section, label((scenario if section in kept else bare)[section]), "") for section in _SECTIONS]
    rows += [
        (section, _words(scenario[section]), "") for section in kept if section in scenario and section not in _SECTIONS
    ]
    rows += [(f"traffic.{key}", _words(value), "") for key, value in bare["traffic"].items()]
    named = {path for path, _, _ in rows}
    rest = {key: value for key, value in rest_of.items() if key != "name"}
    differences = _differences("", rest, usual)
    found = [row for row in differences if row[0] not in named and not _inherited(row[0], scenario)]
    whole = [f"{path}." for path in named if path.startswith("traffic.")]  # these keys are shown with all their content
    return rows + [row for row in found if not row[0].startswith(tuple(whole))] + unknown


def _words(value: Any) -> str:
    """A value as a string: a label, or a list of jobs or phases as written in the scenario."""
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return str(yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1 << 20)).strip()
    return label(value)


def _inherited(path: str, scenario: dict[str, Any]) -> bool:
    """Whether a property of a link class equals that of `links.default`, or a default derived from the latency."""
    section, _, rest = path.partition(".")
    link_class, _, key = rest.rpartition(".")
    if section != "links" or not link_class:
        return False
    here = at(scenario, path)
    if key == "credit_latency" and here == at(scenario, f"links.{link_class}.latency"):
        return True
    return link_class != "default" and here == at(scenario, f"links.default.{key}")


def _differences(path: str, value: Any, usual: Any) -> Iterator[tuple[str, str, str]]:
    """Yields the values below a path that differ from the defaults; a model with another name counts as one value."""
    if value == usual:
        return
    if isinstance(value, dict) and isinstance(usual, dict) and not _other_model(value, usual):
        for key in [*value, *(key for key in usual if key not in value)]:
            yield from _differences(f"{path}.{key}" if path else key, value.get(key), usual.get(key))
    else:
        yield path, label(value, path), "" if usual is None else label(usual, path)


def _other_model(value: dict[str, Any], usual: dict[str, Any]) -> bool:
    return len(value) == len(usual) == 1 and set(value) != set(usual)


def _defaults(
    scenario: dict[str, Any], bare: dict[str, Any], file: Path
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The scenario with the defaults of the engine, and the sections that had to keep their values.

    The scenario is `None` if the engine accepts no variant.
    """
    window = {"measure": {"window": scenario["measure"]["window"]}}  # some defaults are multiples of the window
    for sections in _NEEDED_TOGETHER:
        text = json.dumps(bare | window | {name: scenario[name] for name in sections if name in scenario})
        try:
            usual = Scenario(text, file.stem, str(file)).points()[0].resolved
        except ScenarioError:
            continue
        usual["measure"]["window"] = schema()["properties"]["measure"]["default"]["window"]
        return usual, sections
    return None, ()


def _bare(scenario: dict[str, Any]) -> dict[str, Any]:
    """A copy of a scenario without the keys that have a default."""
    whole = schema()
    properties, definitions = whole["properties"], whole["$defs"]
    traffic = {
        key: _required(value, properties["traffic"], definitions, key, changes=key in _WITH_CHANGES)
        for key, value in scenario["traffic"].items()
        if key in _TRAFFIC
    }
    models = {section: _required(scenario[section], whole, definitions, section) for section in _SECTIONS}
    return models | {"traffic": traffic}


def _required(
    value: Any, outer: dict[str, Any], definitions: dict[str, Any], key: str, *, changes: bool = False
) -> Any:
    """The value of a key without the parts that have a default; a model keeps its name and its required parameters.

    If `changes` is set, parts that differ from their default are also kept.
    """
    own = _property(_resolved(outer, definitions), key, definitions)
    if isinstance(value, list) and changes:
        item = {"properties": {key: own.get("items", {})}}
        return [_required(each, item, definitions, key, changes=True) for each in value]
    if not isinstance(value, dict):
        return value
    for branch in (own, *_branches(own, definitions)):
        properties = branch.get("properties", {})
        if set(value) <= set(properties):
            needed = branch.get("required", ())
            kept = [
                name
                for name, inner in value.items()
                if name in needed or (changes and inner != properties[name].get("default"))
            ]
            return {name: _required(value[name], branch, definitions, name, changes=changes) for name in kept}
    return value


def _property(schema: dict[str, Any], key: str, definitions: dict[str, Any]) -> dict[str, Any]:
    for branch in (schema, *_branches(schema, definitions)):
        if key in branch.get("properties", ()):
            return _resolved(branch["properties"][key], definitions)
    return {}


def _branches(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        branch = _resolved(each, definitions)
        yield branch
        yield from _branches(branch, definitions)


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    return schema
