"""Reads the keys of a scenario from its JSON schema: parameters of models, and keys of sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weft.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Schema = dict[str, Any]

_KINDS = {"integer": "whole number", "boolean": "true or false", "array": "list", "object": "mapping", "string": "text"}


class Parameter(NamedTuple):
    """A key of a scenario: its kind of value, default and meaning."""

    key: str
    kind: str
    default: str
    meaning: str
    choices: list[tuple[str, str]]
    """Words that are allowed as its value, with their meanings."""
    target: Schema
    """JSON schema of the parameter's value."""


def model(schema: Schema, family: str, name: str) -> Schema:
    """The schema of the parameters of a model, such as `ugal_p` in the family `routing`."""
    place = schema
    for key in family.split("."):
        place = target(schema, target(schema, place)["properties"][key])
    # usually a scenario names one model of the family (`oneOf`); in other families, each model is a key of the section
    choices = place.get("oneOf", [place])
    return target(schema, next(each["properties"][name] for each in choices if name in each.get("properties", {})))


def keys(schema: Schema, place: Schema) -> Iterator[Parameter]:
    """Yields the keys of the mapping that the schema `place` describes."""
    required = place.get("required", [])
    for key, parameter in place.get("properties", {}).items():
        own = target(schema, parameter)
        default = parameter.get("default")
        shown = "required" if key in required else ("-" if default is None else label(default))
        words: dict[str, str] = {}
        for choice in own.get("oneOf", [own] if "enum" in own else []):
            meaning = _prose(choice, target(schema, choice)) if "enum" not in choice else ""
            # a word without parameters is listed once, although the schema also has it with parameters
            words |= {word: meaning for word in _words(choice) if word not in words}
        yield Parameter(key, _kind(own), shown, _prose(parameter, own), list(words.items()), own)


def inner(
    schema: Schema, parameter: Parameter, apart: Callable[[Parameter], bool] = lambda _: False
) -> Iterator[Parameter]:
    """Yields the keys inside the possible values of a parameter, at any depth, each with its path.

    For example, `spares.even.target` is a key of a word with parameters, and `off[].from` is a key of the items of a
    list. `a.b` is a key of a mapping, and `a.*.b` is a key inside a mapping with arbitrary keys. The keys inside a
    parameter for which `apart` returns true are left out. If a schema contains itself, the function enters it only
    once.
    """
    return _inner(schema, parameter, apart, ())


def _inner(
    schema: Schema, parameter: Parameter, apart: Callable[[Parameter], bool], around: tuple[Schema, ...]
) -> Iterator[Parameter]:
    if apart(parameter) or any(parameter.target is each for each in around):
        return
    around = (*around, parameter.target)
    for each in _direct(schema, parameter):
        yield each
        yield from _inner(schema, each, apart, around)
    if isinstance(values := parameter.target.get("additionalProperties"), dict):
        value = parameter._replace(key=f"{parameter.key}.*", target=target(schema, values))
        yield from _inner(schema, value, apart, around)


def _direct(schema: Schema, parameter: Parameter) -> Iterator[Parameter]:
    """The keys one level below a parameter."""
    places = {
        f"{parameter.key}.{word}": place
        for choice in parameter.target.get("oneOf", [])
        for word, place in choice.get("properties", {}).items()
    }
    if "items" in parameter.target:
        places[f"{parameter.key}[]"] = parameter.target["items"]
    if "properties" in parameter.target:
        places[parameter.key] = parameter.target
    for path, place in places.items():
        for each in keys(schema, target(schema, place)):
            yield each._replace(key=f"{path}.{each.key}")


def _words(choice: Schema) -> list[str]:
    """The words that are allowed by one of the alternatives (`oneOf`) of a value."""
    return [choice["const"]] if "const" in choice else [*choice.get("enum", []), *choice.get("properties", {})]


def target(schema: Schema, place: Schema) -> Schema:
    """The schema of a place, after following its references (`$ref`), and without the "or null" of an optional key."""
    while "$ref" in place or "anyOf" in place:
        if "$ref" in place:
            place = schema["$defs"][place["$ref"].rsplit("/", 1)[-1]]
        else:
            place = next(choice for choice in place["anyOf"] if choice.get("type") != "null")
    return place


def _kind(place: Schema) -> str:
    """Text that says which values a key can have. For a quantity, the text is an example with the unit."""
    if "oneOf" in place or "enum" in place:
        return "one of"
    if examples := place.get("examples"):
        return f"e.g. {label(examples[-1])}"
    kinds = place.get("type", "text")
    kind: str = next(one for one in kinds if one != "null") if isinstance(kinds, list) else kinds
    return _KINDS.get(kind, kind)


def _prose(place: Schema, own: Schema) -> str:
    text: str = place.get("description") or own.get("description") or ""
    return " ".join(text.split())
