"""Replaces Weft's engine by the engine of another package, which has additional models.

A package that is built from the folder `template` declares its engine by an entry point of the group ``weft.engine``.
If such a package is installed, ``weft._engine`` is the engine of this package.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from weft.errors import WeftError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "weft.engine"
NAME = "weft._engine"


class _Unusable(ModuleType):
    """A placeholder for `weft._engine` if the engine of the package cannot be used, for example because of its version.

    Every access to the placeholder raises the error.
    """

    def __init__(self, problem: WeftError) -> None:
        super().__init__(NAME)
        self.__dict__["_problem"] = problem

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # Python's import system reads these attributes
            raise AttributeError(name)
        raise self.__dict__["_problem"]


def use() -> None:
    """Use the engine of another package, if a package with an engine is installed."""
    if NAME in sys.modules or not (offered := sorted(entry_points(group=GROUP), key=lambda point: point.name)):
        return
    engine = _engine(offered)
    sys.modules[NAME] = engine
    vars(sys.modules["weft"])["_engine"] = engine


def _engine(offered: list[EntryPoint]) -> ModuleType:
    names = [point.dist.name if point.dist else point.name for point in offered]
    if len(offered) > 1:
        what = f"{' and '.join(names)} both provide an engine with their own models"
        help = f"put the models into one package, or remove one: pip uninstall {names[-1]}"
        return _Unusable(WeftError.saying(what, help))
    try:
        engine = import_module(offered[0].value)
        if wrong := _other_version(engine):
            raise ImportError(wrong)
        return engine
    except ImportError as problem:
        what = f"the engine of the package {names[0]} can't be loaded: {problem}"
        help = f"build it again with this version of Weft, or remove it: pip uninstall {names[0]}"
        return _Unusable(WeftError.saying(what, help))


def _other_version(engine: ModuleType) -> str:
    """Text on the wrong version of an engine; empty if the version is right."""
    own = getattr(engine, "VERSION", "unknown")
    try:
        wanted = version("weft-sim")
    except PackageNotFoundError:  # Weft runs from its source folder
        return ""
    return "" if own == wanted else f"it was built for Weft {own}, but Weft {wanted} is installed"
