"""Finds out whether a module belongs to an installed package, or is a file that a user edits."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType


def is_installed(module: ModuleType) -> bool:
    """Whether a module is part of Python, of an installed package, or of Weft."""
    file = getattr(module, "__file__", None)
    return are_installed(module.__name__, [file] if file else getattr(module, "__path__", ()))


def are_installed(name: str, places: Iterable[str]) -> bool:
    """Whether a module is installed, given its name and the paths of its file or of its package's folders.

    The function does not import the module.
    """
    top = name.partition(".")[0]
    if top == "__main__":
        return False
    if top in sys.stdlib_module_names or top == "weft":
        return True
    return all(any(folder in Path(place).resolve().parents for folder in _folders()) for place in places)


@cache
def _folders() -> list[Path]:
    """Folders of Python and of installed packages. Users do not edit files in these folders."""
    paths = sysconfig.get_paths()
    named = {Path(paths[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    on_path = {Path(entry).resolve() for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    return sorted(named | on_path)
