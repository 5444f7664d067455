"""Command ``weft import``: converts configurations of other simulators to scenarios."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments
from weft.errors import PeerError
from weft.text import shell
from weft.text.columns import WIDTH

if TYPE_CHECKING:
    import argparse

    from weft.cli.arguments import Commands
    from weft_peers.booksim.draft import Note


def add(commands: Commands) -> None:
    """Add ``weft import`` and its options to the command line."""
    parser = arguments.command(
        commands,
        "import",
        "convert a configuration of another simulator into a scenario",
        "weft import booksim tests/data/booksim/torus88.cfg injection_rate=0.3 --out torus.yaml",
    )
    parser.add_argument("peer", metavar="booksim", choices=["booksim"], help="the simulator: booksim (BookSim2)")
    parser.add_argument(
        "words",
        metavar="FILE|key=value",
        nargs="+",
        help="its configuration, and settings that override the configuration",
    )
    parser.add_argument("--out", metavar="FILE.yaml", help="file to write (default: the name of FILE, in this folder)")
    _intermix(parser)


def _intermix(parser: argparse.ArgumentParser) -> None:
    """Let a parser accept settings (``key=value``) also after options.

    argparse calls `parse_known_args` for subcommands, which does not allow this order.
    """
    plain, mixed = parser.parse_known_args, parser.parse_known_intermixed_args

    def parse(args: Any = None, namespace: Any = None) -> Any:
        parser.parse_known_args = plain  # type: ignore[method-assign]  # `mixed` calls it
        return mixed(args, namespace)

    parser.parse_known_args = parse  # type: ignore[method-assign]


def main(options: argparse.Namespace) -> int:
    """Convert the configuration, write the scenario, print notes on differences, and return the exit status."""
    from weft_peers.booksim.convert import convert, name_of
    from weft_peers.booksim.document import COUNTING

    source = next((word for word in options.words if "=" not in word), None)
    if source is None:
        raise PeerError.saying("no file is given", "name a configuration of BookSim2: weft import booksim torus88")
    out = Path(options.out) if options.out else Path(f"{name_of(source)}.yaml")
    imported = convert(options.words, name_of(out.name))
    for file in imported.save(out):
        print(f"wrote {file}")
    for title, kind in (("Differences from BookSim2", "approximated"), ("Without effect in Weft", "no effect")):
        _print(title, [note for note in imported.notes if note.kind == kind])
    for paragraph in COUNTING:
        print("\n" + fill(paragraph, WIDTH))
    error = f" +- {imported.zero_load_error:.1g}" if imported.zero_load_error else ""
    known = imported.zero_load is not None
    zero_load = f"{imported.zero_load:.2f}{error} cycles" if known else "is unknown: no terminal sends"
    print(f"\nzero-load latency {zero_load}\nnext: {shell.command('run', out)}")
    return DONE


def _print(title: str, notes: list[Note]) -> None:
    """Print the notes of an import. Keys with the same note share a line."""
    together: dict[str, list[str]] = {}
    for note in notes:
        together.setdefault(note.text, []).append(note.key)
    if notes:
        print(f"\n{title}:")
    for text, keys in together.items():
        print(fill(f"{', '.join(keys)}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    "))
