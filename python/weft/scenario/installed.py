"""Whether a module belongs to an installed package, or is a file that a user edits."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def is_installed(module: ModuleType) -> bool:
    """Whether a module is part of Python, of an installed package, or of Weft."""
    name = module.__name__.partition(".")[0]
    if name in sys.stdlib_module_names or name == "weft":
        return name != "__main__"
    file = getattr(module, "__file__", None)
    if file is None:  # compiled into Python, or a package without code of its own
        return name != "__main__" and not hasattr(module, "__path__")
    return any(folder in Path(file).resolve().parents for folder in _folders())


@cache
def _folders() -> list[Path]:
    """Folders of packages that a user does not edit."""
    paths = sysconfig.get_paths()
    named = {Path(paths[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    on_path = {Path(entry).resolve() for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    return sorted(named | on_path)
