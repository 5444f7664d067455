"""Finds the question that a sweep answers: the values in its scenario that differ from the default, or have none."""

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

# Name of the row that `chosen` returns if it cannot find the defaults of some keys. The row replaces the rows of these
# keys.
_OTHERS = "all other keys"
# Sections that every scenario has, because they have no default. Then the keys of `traffic` that have no default. Each
# scenario has some of these keys, which together define the senders, their destinations and their load.
_SECTIONS = ("topology", "routing")
_TRAFFIC = ("pattern", "load", "loads", "jobs", "phases", "batch", "workload")
# Keys for which `_bare` keeps the required parts and all parts that differ from their defaults. For example, the schema
# of a program requires neither a file nor a generator, but one of them is necessary.
_WITH_CHANGES = ("jobs", "workload")
# Combinations of sections that keep their values, tried one after the other: without them, the engine could refuse the
# rest of the scenario. Examples: the topology if a graph file does not mention terminals, or the links if the routing
# needs more VCs than the default.
_NEEDED_TOGETHER = (
    (),
    ("classes",),
    ("topology",),
    ("topology", "links"),
    ("topology", "links", "router"),
    ("topology", "links", "router", "classes"),
)


def chosen(scenario: dict[str, Any], file: Path) -> list[tuple[str, str, str]]:
    """The values of a resolved scenario that differ from the defaults: dotted path, value, default ("" if none).

    To find the defaults, the function removes all keys that have a default, and the engine resolves the rest again.

    Parameters
    ----------
    scenario : dict
        The resolved scenario.
    file : Path
        The file of the scenario. Files that the scenario names are looked up in the folder of `file`.
    """
    bare = _bare(scenario)
    usual, kept = _defaults(scenario, bare, file)
    if usual is None:  # the defaults are unknown
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
    whole = [f"{path}." for path in named if path.startswith("traffic.")]  # shown as a whole
    return rows + [row for row in found if not row[0].startswith(tuple(whole))] + unknown


def _words(value: Any) -> str:
    """A value as a string: a label, or a list of jobs or phases as written in the scenario."""
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return str(yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1 << 20)).strip()
    return label(value)


def _inherited(path: str, scenario: dict[str, Any]) -> bool:
    """Whether a property of a link class has its default: that of `links.default`, or one derived from the latency."""
    section, _, rest = path.partition(".")
    link_class, _, key = rest.rpartition(".")
    if section != "links" or not link_class:
        return False
    here = at(scenario, path)
    if key == "credit_latency" and here == at(scenario, f"links.{link_class}.latency"):
        return True
    return link_class != "default" and here == at(scenario, f"links.default.{key}")


def _differences(path: str, value: Any, usual: Any) -> Iterator[tuple[str, str, str]]:
    """Yields the values below a path that differ from the defaults.

    A model that has another name than the default model counts as one value.
    """
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
    """The scenario in which the engine has replaced values by defaults, and the sections that had to keep their values.

    The scenario is `None` if the engine accepts no combination of `_NEEDED_TOGETHER`.
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
    """The value of a key without its parts that have a default. A model keeps its name and its required parameters.

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
