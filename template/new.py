"""Makes a new crate of models from this template: `python template/new.py my_models ../my_models`."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Files of the template that are not copied into a new crate.
OWN = {"new.py", "cargo-generate.toml"}


def main() -> int:
    """Make the crate that the command line names, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="name of the crate and of its Python package, such as my_models")
    parser.add_argument("folder", type=Path, help="the folder to create; it must not exist")
    parser.add_argument("--git", metavar="URL", help="depend on a Git repository of Weft in place of this folder")
    parser.add_argument("--rev", metavar="COMMIT", help="the commit of that repository")
    options = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", options.name) or options.name.startswith("weft"):
        return refuse(
            f"{options.name!r} is not a valid name for a crate",
            "use lowercase letters, digits and _, and do not begin with weft",
        )
    if options.folder.exists():
        return refuse(f"{options.folder} exists", "name a folder that does not exist")
    if (options.git is None) != (options.rev is None):
        return refuse("--git and --rev must be given together", "give both options, or neither")
    make(options.name, options.folder, (options.git, options.rev) if options.git else None)
    print(f"{options.folder} is ready: its README.md explains how to test the crate and how to build its wheel")
    return 0


def make(name: str, folder: Path, git: tuple[str, str] | None = None) -> None:
    """Copy the template into a folder, with this crate name.

    If `git` has a URL and a commit of Weft, they replace the paths to Weft.
    """
    for path in sorted(HERE.rglob("*")):
        place = path.relative_to(HERE)
        if path.is_dir() or place.parts[0] in OWN or "target" in place.parts or "__pycache__" in place.parts:
            continue
        text = path.read_text(encoding="utf-8").replace("{{crate_name}}", name)
        if git is not None:
            source = f'git = "{git[0]}", rev = "{git[1]}"'
            text = re.sub(r'path = "\{\{weft\}\}/crates/\w+"', source, text)
        text = text.replace("{{weft}}", HERE.parent.as_posix())
        target = folder / str(place).replace("{{crate_name}}", name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def refuse(what: str, help: str) -> int:
    """Print an error, and return the exit status of a failure."""
    print(f"error: {what}\n  = help: {help}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
