"""``weft cite``: BibTeX of Weft, and of the papers on which the models and prices of a scenario are based."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "cite",
        "print BibTeX of Weft and of the papers whose models and prices a scenario uses",
        "weft cite examples/dragonfly.yaml > models.bib",
    )
    which = "scenarios, or folders of results; without any, only Weft itself is cited"
    parser.add_argument("sources", metavar="FILE|DIR", nargs="*", type=Path, help=which)


def main(options: argparse.Namespace) -> int:
    """Print the BibTeX entries and return the exit status."""
    from weft import _engine
    from weft.cite import bibliography
    from weft.cli import folders
    from weft.scenario.scenario import Scenario

    names = {family: [model["name"] for model in models] for family, models in _engine.models().items()}
    resolved = []
    for source in options.sources:
        if source.is_dir():
            results = folders.opened(source)
            resolved += [results.scenario(point) for point in range(len(results))]
        else:
            resolved += [point.resolved for point in Scenario.from_file(source).points()]
    used = dict.fromkeys(
        model for each in resolved for model in (*bibliography.models_of(each, names), *bibliography.prices_of(each))
    )
    cited = [bibliography.weft(_engine.VERSION, _engine.COMMIT), *bibliography.entries(list(used))]
    comment = bibliography.unpublished(list(used))
    print("\n\n".join([*(entry.bibtex() for entry in cited), *([comment] if comment else [])]))
    return DONE
