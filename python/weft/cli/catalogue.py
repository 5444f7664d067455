"""``weft list``: the models that a scenario can name, and the parameters of one."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments
from weft.errors import ScenarioError
from weft.labels import label
from weft.text import columns

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from weft.cli.arguments import Commands

_KINDS = {"integer": "whole number", "boolean": "true or false", "array": "list", "object": "mapping", "string": "text"}


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "list",
        "list the models that a scenario can name, and the parameters of one",
        "weft list routing ugal_p",
    )
    parser.add_argument("family", metavar="FAMILY", nargs="?", help="only this family")
    parser.add_argument("model", metavar="MODEL", nargs="?", help="the parameters of this model")


def main(options: argparse.Namespace) -> int:
    """Print; returns the exit status."""
    from weft import _engine

    families = _engine.models()
    if options.family is not None:
        families = {name: models for name, models in families.items() if options.family in (name, name.split(".")[-1])}
    if not families:
        known = ", ".join(_engine.models())
        raise ScenarioError.saying(f"there is no family {options.family!r}", f"the families are {known}")
    if options.model is not None:
        ((family, models),) = families.items()
        summaries = {model["name"]: model["summary"] for model in models}
        print("\n".join(_model(_engine.schema(), family, options.model, summaries)))
        return DONE
    width = max(len(model["name"]) for models in _engine.models().values() for model in models)
    blocks = [
        "\n".join([family, *(f"  {model['name'].ljust(width)}  {model['summary']}".rstrip() for model in models)])
        for family, models in families.items()
    ]
    print("\n\n".join(blocks))
    return DONE


def _model(schema: dict[str, Any], family: str, name: str, summaries: dict[str, str]) -> list[str]:
    """What a model is, and a line for each of its parameters."""
    if name not in summaries:
        raise ScenarioError.saying(f"{family} has no model {name!r}", f"its models are {', '.join(summaries)}")
    place = schema
    for key in family.split("."):
        place = _target(schema, _target(schema, place)["properties"][key])
    model = next(choice["properties"][name] for choice in place["oneOf"] if name in choice.get("properties", {}))
    target = _target(schema, model)
    lines = [f"{family}: {name}", f"  {summaries[name]}"]
    if "items" in target:
        lines += ["", "It takes a list; for each item:"]
        target = _target(schema, target["items"])
    parameters = target.get("properties", {})
    if not parameters:
        return [*lines, "", "It takes no parameters."]
    required = target.get("required", [])
    rows = [
        row
        for key, parameter in parameters.items()
        for row in _parameter(schema, key, parameter, required=key in required)
    ]
    return [*lines, "", *columns(["parameter", "value", "default", "meaning"], _wrapped(rows), left=4)]


def _parameter(schema: dict[str, Any], key: str, parameter: dict[str, Any], *, required: bool) -> Iterator[list[str]]:
    """Rows of a parameter: itself, and the words that it may be."""
    target = _target(schema, parameter)
    default = parameter.get("default")
    shown = "required" if required else ("-" if default is None else label(default))
    yield [key, _kind(target), shown, _prose(parameter, target)]
    for choice in target.get("oneOf", []):
        for word in [choice["const"]] if "const" in choice else choice.get("properties", {}):
            yield ["", f"  {word}", "", _prose(choice, _target(schema, choice))]


def _wrapped(rows: list[list[str]]) -> list[list[str]]:
    """Rows whose last cell goes on in further rows where it is wider than the terminal leaves room for."""
    taken = sum(max(map(len, column)) + 2 for column in zip(*(row[:-1] for row in rows), strict=True))
    room = max(40, shutil.get_terminal_size((120, 24)).columns - taken)
    return [
        [*(cells if first else [""] * len(cells)), line]
        for *cells, text in rows
        for first, line in zip((True, *[False] * len(text)), textwrap.wrap(text, room) or [""], strict=False)
    ]


def _kind(target: dict[str, Any]) -> str:
    """What may be written, in words; quantities by example, for the unit."""
    if "oneOf" in target:
        return "one of"
    if examples := target.get("examples"):
        return f"e.g. {label(examples[-1])}"
    kinds = target.get("type", "text")
    kind: str = next(one for one in kinds if one != "null") if isinstance(kinds, list) else kinds
    return _KINDS.get(kind, kind)


def _prose(place: dict[str, Any], target: dict[str, Any]) -> str:
    text: str = place.get("description") or target.get("description") or ""
    return " ".join(text.split())


def _target(schema: dict[str, Any], place: dict[str, Any]) -> dict[str, Any]:
    """Follow references, and the "or null" of what may be left out."""
    while "$ref" in place or "anyOf" in place:
        if "$ref" in place:
            place = schema["$defs"][place["$ref"].rsplit("/", 1)[-1]]
        else:
            place = next(choice for choice in place["anyOf"] if choice.get("type") != "null")
    return place
