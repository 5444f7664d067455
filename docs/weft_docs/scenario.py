"""Make the page of the keys of a scenario, from the JSON Schema of scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import _engine
from weft.scenario import parameters
from weft_docs import markdown
from weft_docs.models import FAMILY_OF, key_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = ["key", "value", "default", "meaning"]

INTRODUCTION = """\
# Keys of a scenario

A scenario is one YAML file. Quantities are text with a unit (`10cycles`, `1.6ns`, `48b`, `32flits`, `23.44pJ/bit`); a
bare number is refused where a unit is needed, and so is every key that is not on this page. A model without parameters
is written as its name, one with parameters as a mapping from its name. `weft check FILE` prints a scenario with all its
defaults, and `weft schema` prints what this page is made from as a JSON schema for editors.

`topology`, `routing` and `traffic` are needed, in the file itself or in its `sweep`. All else has defaults.

A `PATH` of `--set PATH=VALUE`, and of `sweep` and `zip`, is the dotted key: `measure.window`, `routing.ugal.threshold`,
`links.default.latency`.
"""


def pages() -> dict[str, str]:
    """Make the page. The key of the result is the name of the page."""
    schema = _engine.schema()
    keys = list(parameters.keys(schema, schema))
    parts = [INTRODUCTION, "## The whole file", markdown.table(HEAD, key_rows(keys))]
    for key in keys:
        if not key.choices:
            parts += _sections(schema, key.key, key.target, depth=2)
    return {"reference/scenario": "\n\n".join(parts) + "\n"}


def _sections(schema: parameters.Schema, path: str, place: parameters.Schema, depth: int) -> Iterator[str]:
    """Write a section for a mapping that has keys, and below it the sections of its keys."""
    place, path = _inner(schema, place, path)
    keys = list(parameters.keys(schema, place))
    if not keys:
        return
    yield f"{'#' * depth} `{path}`"
    if text := place.get("description"):
        yield " ".join(text.split())
    yield markdown.table(HEAD, key_rows(keys))
    for key in keys:
        yield from _sections(schema, f"{path}.{key.key}", key.target, depth=3)
        if frozenset(word for word, _ in key.choices) not in FAMILY_OF:
            for choice in key.target.get("oneOf", []):
                for word, own in choice.get("properties", {}).items():
                    yield from _sections(schema, f"{path}.{key.key}.{word}", parameters.target(schema, own), depth=3)


def _inner(schema: parameters.Schema, place: parameters.Schema, path: str) -> tuple[parameters.Schema, str]:
    """Schema and path of the elements of a list, or of the values in a mapping with arbitrary names."""
    if "items" in place:
        return parameters.target(schema, place["items"]), f"{path}[]"
    while isinstance(under_any := place.get("additionalProperties"), dict) and "$ref" in under_any:
        path = f"{path}.{place.get('x-name', 'CLASS')}"
        place = parameters.target(schema, under_any)
    return place, path
