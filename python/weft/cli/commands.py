"""The commands of ``weft``: the core commands, which are part of Weft, and the commands of other installed packages.

Each command is a module with two functions: `add` adds its parser, and `main` runs it and returns the exit status. A
package adds a command by an entry point of the group ``weft.commands``. The name of the entry point is the command, and
its value is the module.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from weft.errors import WeftError

if TYPE_CHECKING:
    from types import ModuleType

GROUP = "weft.commands"

# Commands of the core in the order of the help, and their modules.
CORE = {
    "run": "weft.cli.run",
    "saturation": "weft.cli.saturation",
    "report": "weft.cli.report",
    "status": "weft.cli.status",
    "cancel": "weft.cli.cancel",
    "query": "weft.cli.query",
    "export": "weft.cli.export",
    "compare": "weft.cli.compare",
    "analyse": "weft.cli.analyse",
    "design": "weft.cli.design",
    "timeline": "weft.cli.timeline",
    "trace": "weft.cli.trace",
    "check": "weft.cli.check",
    "explain": "weft.cli.explain",
    "list": "weft.cli.catalogue",
    "catalogue": "weft.cli.hardware",
    "schema": "weft.cli.schema",
    "plot": "weft.cli.plot",
    "cite": "weft.cli.cite",
}


def names() -> list[str]:
    """Names of all commands: first those of the core in the order of the help, then those of other packages by name."""
    return [*CORE, *sorted(_added())]


def module(name: str) -> ModuleType:
    """Import and return the module of a command.

    Raises
    ------
    WeftError
        If the package that adds the command cannot be imported.
    """
    if name in CORE:
        return import_module(CORE[name])
    point = _added()[name]
    try:
        return import_module(point.module)
    except ImportError as problem:
        package = point.dist.name if point.dist else point.module
        what = f"the command {name!r} of the package {package} can't be loaded: {problem}"
        raise WeftError.saying(what, f"install the package again, or remove it: `pip uninstall {package}`") from problem


@cache
def _added() -> dict[str, EntryPoint]:
    """The entry points of commands of other packages, by name.

    Commands of the core are left out, because other packages cannot replace them.
    """
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in CORE}
