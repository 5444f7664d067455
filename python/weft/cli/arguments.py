"""Adds commands to the parser, and the options that several commands share."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Mapping

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


_SCENARIOS = (".yaml", ".yml")
# Maximum of a number in an option, because the engine counts in 32 bits.
_MOST = (1 << 32) - 1


def command(commands: Commands, name: str, help: str, example: str) -> argparse.ArgumentParser:
    """Add a command. Its own help begins with the same text that describes it in the list of commands."""
    description = f"{help[0].upper()}{help[1:]}."
    listed = help.replace("%", "%%")  # argparse expands % in the list of commands, but not in a description
    return commands.add_parser(name, help=listed, description=description, epilog=f"Example: {example}")


def in_any_order(parser: argparse.ArgumentParser) -> None:
    """Also allow positional arguments after options, as in ``plot load --width column results/my``."""
    plain = parser.parse_known_args

    def mixed(args: Any = None, namespace: Any = None) -> Any:
        parser.parse_known_args = plain  # type: ignore[method-assign] # or the next line calls `mixed`
        try:
            return parser.parse_known_intermixed_args(args, namespace)
        finally:
            parser.parse_known_args = mixed  # type: ignore[method-assign]

    parser.parse_known_args = mixed  # type: ignore[method-assign]


def add_scenario(parser: argparse.ArgumentParser, help: str = "scenario (YAML)") -> None:
    """Add the options for the file of a scenario and its overrides, in the form that `weft.cli.overrides` reads."""
    parser.add_argument("file", metavar="FILE", help=help)
    parser.add_argument(
        "--set",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        dest="sets",
        help="override a value before the sweep expands, e.g. --set traffic.load=0.3 (repeatable; null removes it)",
    )


def add_execution(parser: argparse.ArgumentParser) -> None:
    """Add the options for threads and blocks, for the number of concurrent points, for memory and for checkpoints."""
    parser.add_argument(
        "--jobs", metavar="N", type=positive, help="points that run at the same time (default: number of cores)"
    )
    parser.add_argument(
        "--threads", metavar="N", type=positive, default=1, help="threads that work on one point (default: 1)"
    )
    parser.add_argument(
        "--blocks",
        metavar="N",
        type=positive,
        default=0,
        help="blocks of routers into which a point is divided (default: Weft chooses)",
    )
    add_force_memory(parser)
    parser.add_argument(
        "--checkpoint-every",
        metavar="TIME",
        type=interval,
        help="interval of the checkpoints of each running point, such as 10min or 1000000cycles (s, min, h, d, "
        "cycles); if the run is killed, the same command continues from the last one (default: no checkpoints)",
    )


def add_force_memory(parser: argparse.ArgumentParser) -> None:
    """Add the option that runs points even if they need more memory than is free."""
    parser.add_argument(
        "--force-memory", action="store_true", help="run even if the points need more memory than is left"
    )


def add_points(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses points of results, in the form that `weft.plot.choice` reads."""
    parser.add_argument(
        "--point",
        metavar="N|PATH=VALUE,...",
        action="append",
        default=[],
        dest="points",
        help="only this point, by number or by coordinates such as routing=ugal_p,load=0.3 (repeatable; default: all)",
    )


def add_units(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option for the units of latencies and loads, in the form that `weft.results.si_units` reads."""
    units = (
        "units of latencies and loads: cycles and flits, or us and Gb/s, from `cycle` and `flit` "
        "(default: cycles; si if the points differ in the length of a cycle)"
    )
    parser.add_argument("--units", choices=("cycles", "si"), help=units)


def page(text: str) -> Path:
    """The value of an option as the path of the HTML page to write."""
    from weft.report.html_page import checked

    try:
        return checked(Path(_no_scenario(text)))
    except WeftError as problem:
        raise argparse.ArgumentTypeError(f"{problem.what}: {problem.help}") from problem


def packet(text: str) -> str:
    """A packet name in the form that `weft.runs.watch.packets` reads."""
    return _no_scenario(text)


def word(text: str) -> str:
    """A name; the file of a scenario is refused."""
    return _no_scenario(text)


def _no_scenario(text: str) -> str:
    """Refuse a scenario file as the value of an option.

    An option with several values takes all words after it, so that it can take the scenario by mistake.
    """
    if Path(text).suffix in _SCENARIOS:
        raise argparse.ArgumentTypeError(f"{text!r} is a scenario: write it before this option")
    return text


def natural(text: str) -> int:
    """The value of an option as a whole number of 0 or more."""
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {_MOST}")
    return int(text)


def seed(text: str) -> int:
    """The value of an option as a seed of random numbers: a whole number of 0 or more."""
    if not text.isdecimal() or int(text) > _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a seed: write a whole number from 0 to {_MOST}")
    return int(text)


def cycle(text: str) -> int:
    """The value of an option as a cycle: a whole number of 0 or more."""
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise argparse.ArgumentTypeError(f"{text!r} is not a cycle: write a whole number of 0 or more")
    return int(text)


def duration(text: str) -> float:
    """A time in s, min, h or d, converted to seconds."""
    return _quantity(text, {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}, "time", "90min or 4h")


def short_time(text: str) -> float:
    """A short time in ns, us or ms, such as a latency of the network, converted to seconds."""
    return _quantity(text, {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}, "time", "500ns or 4.16us")


def size(text: str) -> int:
    """A size in MB, GB or TB, converted to bytes."""
    return round(_quantity(text, {"MB": 1e6, "GB": 1e9, "TB": 1e12}, "size", "500MB or 8GB"))


def _quantity(text: str, units: Mapping[str, float], what: str, example: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)", text)
    if found is None or found[2] not in units or not 0 < float(found[1]) * units[found[2]] < _MOST * 1e6:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a {what}: write a number above 0 with {', '.join(units)}, such as {example}"
        )
    return float(found[1]) * units[found[2]]


def interval(text: str) -> str:
    """Interval between checkpoints of a run, in the form that `weft.runs.checkpoints` reads."""
    from weft.runs.checkpoints import Every

    try:
        Every.of(text)
    except WeftError as problem:
        raise argparse.ArgumentTypeError(f"{problem.what}: {problem.help}") from problem
    return text


def positive(text: str) -> int:
    """The value of an option as a whole number of 1 or more."""
    if not text.isdecimal() or not 0 < int(text) <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {_MOST}")
    return int(text)
