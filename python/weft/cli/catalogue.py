"""``weft list`` prints the models that a scenario can name, and the parameters of one model."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments
from weft.errors import ScenarioError
from weft.scenario import parameters
from weft.text.columns import columns
from weft.text.meant import meant

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "list",
        "list the models that a scenario can name, or the parameters of one model",
        "weft list routing ugal_p",
    )
    parser.add_argument("family", metavar="FAMILY", nargs="?", help="print only the models of this family")
    parser.add_argument("model", metavar="MODEL", nargs="?", help="show the parameters of this model")


def main(options: argparse.Namespace) -> int:
    """Print the models and return the exit status."""
    from weft import _engine

    every = families = _engine.models()
    if options.family is not None:
        families = {name: models for name, models in every.items() if options.family in (name, name.split(".")[-1])}
    if not families:
        remedy = meant(options.family, every, f"the families are {', '.join(every)}")
        raise ScenarioError.saying(f"there is no family {options.family!r}", remedy)
    if options.model is not None:
        (family,) = families
        print("\n".join(lines(_engine.schema(), every, family, options.model)))
        return DONE
    width = max(len(model["name"]) for models in every.values() for model in models)
    blocks = [
        "\n".join([family, *(f"  {model['name'].ljust(width)}  {model['summary']}".rstrip() for model in models)])
        for family, models in families.items()
    ]
    print("\n\n".join(blocks))
    return DONE


def lines(schema: dict[str, Any], every: dict[str, list[dict[str, Any]]], family: str, name: str) -> list[str]:
    """The summary of a model, and a line for each of its parameters."""
    summaries = {model["name"]: model["summary"] for model in every[family]}
    if name not in summaries:
        remedy = meant(name, summaries, f"its models are {', '.join(summaries)}")
        raise ScenarioError.saying(f"{family} has no model {name!r}", remedy)
    target = parameters.model(schema, family, name)
    head = [f"{family}: {name}", f"  {summaries[name]}"]
    if "items" in target:
        head += ["", "Its value is a list; each item has:"]
        target = parameters.target(schema, target["items"])
    families = [{model["name"] for model in models} for models in every.values()]
    rows = [row for parameter in parameters.keys(schema, target) for row in _rows(schema, parameter, families)]
    if not rows:
        return [*head, "", "It has no parameters."]
    return [*head, "", *columns(["parameter", "value", "default", "meaning"], _wrapped(rows), left=4)]


def _rows(schema: dict[str, Any], parameter: parameters.Parameter, families: list[set[str]]) -> list[list[str]]:
    """Rows for a parameter of a model, for its allowed words, and for the parameters that each of these words has.

    If the words are names of models, they get no rows, because models are listed separately.
    """

    def of_a_family(parameter: parameters.Parameter) -> bool:
        return {word for word, _ in parameter.choices} in families

    return [
        row
        for each in (parameter, *parameters.inner(schema, parameter, of_a_family))
        for row in (
            [each.key, each.kind, each.default, each.meaning],
            *(["", f"  {word}", "", meaning] for word, meaning in each.choices),
        )
    ]


def _wrapped(rows: list[list[str]]) -> list[list[str]]:
    """Rows of a table. If the last cell of a row is too wide for the screen, its text continues in further rows."""
    taken = sum(max(map(len, column)) + 2 for column in zip(*(row[:-1] for row in rows), strict=True))
    room = max(40, shutil.get_terminal_size((120, 24)).columns - taken)
    return [
        [*(cells if first else [""] * len(cells)), line]
        for *cells, text in rows
        for first, line in zip((True, *[False] * len(text)), textwrap.wrap(text, room) or [""], strict=False)
    ]
