"""``weft list``: the models that a scenario can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.cli import DONE
from weft.errors import ScenarioError

if TYPE_CHECKING:
    import argparse


def main(options: argparse.Namespace) -> int:
    """Print; returns the exit status."""
    from weft import _engine

    families = _engine.models()
    if options.family is not None:
        families = {name: models for name, models in families.items() if options.family in (name, name.split(".")[-1])}
    if not families:
        known = ", ".join(_engine.models())
        raise ScenarioError.saying(f"there is no family {options.family!r}", f"the families are {known}")
    width = max(len(model["name"]) for models in _engine.models().values() for model in models)
    blocks = [
        "\n".join([family, *(f"  {model['name'].ljust(width)}  {model['summary']}".rstrip() for model in models)])
        for family, models in families.items()
    ]
    print("\n\n".join(blocks))
    return DONE
