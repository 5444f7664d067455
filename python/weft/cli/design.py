"""``weft design`` computes properties, cost and failures of networks without a simulation, and finds the best one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import DONE, arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from weft.cli.arguments import Commands
    from weft.design.catalogue_hardware import Hardware
    from weft.design.measured_design import Assumptions

# Names of the tables of a comparison that `--table` accepts.
_TABLES = ("designs", "failures", "diversity", "distances")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "design",
        "compare designs of networks by structure, bisection, failures, cost and power, or search for the best",
        "weft design search --terminals 1000 --radix 36 --budget 4e6",
    )
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    _add_compare(kinds)
    _add_search(kinds)
    _add_prices(kinds)


def main(options: argparse.Namespace) -> int:
    """Run the chosen analysis of designs, print its result, and return the exit status."""
    analyse: Callable[[argparse.Namespace], int] = options.analyse
    return analyse(options)


def _add_compare(kinds: Commands) -> None:
    about = "compare designs from files, or topologies from scenarios"
    parser = arguments.command(
        kinds, "compare", about, "weft design compare examples/designs/thousand.yaml --out designs.html"
    )
    what = "files with a section `designs:`, a topology by name; or scenarios, each with the topologies of its sweep"
    parser.add_argument("files", metavar="FILE", nargs="+", help=what)
    table = f"which table: {', '.join(_TABLES)} (default: designs)"
    parser.add_argument("--table", metavar="TABLE", choices=_TABLES, default="designs", help=table)
    _add_common(parser)
    parser.set_defaults(analyse=_compare)


def _compare(options: argparse.Namespace) -> int:
    from weft.design.comparison_of_designs import Comparison, common, read

    designs, named = read(options.files)
    is_given = options.catalogue is not None or options.port_power is not None
    comparison = Comparison(designs, _assumed(options, None if is_given else common(named)))
    if options.out is not None:
        from weft.design import design_page

        design_page.write(comparison, options.out, "Designs compared")
    frame = comparison.frame if options.table == "designs" else getattr(comparison, options.table)
    if options.table == "designs" and options.form is None:
        print("\n".join(_side_by_side(frame)))
    else:
        _show(frame, options.form)
    _close(options, comparison.remarks())
    return DONE


def _add_search(kinds: Commands) -> None:
    about = "the best designs for a number of terminals: the Pareto front over cost, power, diameter and bisection"
    parser = arguments.command(kinds, "search", about, "weft design search --terminals 1000 --radix 36 --budget 4e6")
    number = arguments.positive
    parser.add_argument("--terminals", metavar="N", type=number, required=True, help="minimum number of terminals")
    parser.add_argument(
        "--most-terminals", metavar="N", type=number, help="maximum number of terminals (default: no limit)"
    )
    parser.add_argument("--radix", metavar="PORTS", type=number, required=True, help="maximum ports of a router")
    parser.add_argument("--budget", metavar="$", type=_amount, help="maximum cost of routers and cables [$]")
    parser.add_argument("--power", metavar="W", type=_amount, help="maximum power of all routers [W]")
    parser.add_argument("--diameter", metavar="HOPS", type=number, help="maximum links on the longest shortest path")
    parser.add_argument("--bisection", metavar="LINKS", type=number, help="minimum number of links between two halves")
    families = "only these topologies, e.g. flex,hyperx (default: all topologies with formulas)"
    parser.add_argument("--topologies", metavar="NAME,...", help=families)
    shown = "number of designs of the front that the page shows in full, the cheapest first (default: 8)"
    parser.add_argument("--shown", metavar="N", type=arguments.positive, default=8, help=shown)
    _add_common(parser)
    parser.set_defaults(analyse=_search)


def _search(options: argparse.Namespace) -> int:
    from weft.design.design_search import search
    from weft.design.wanted import Wanted

    families = tuple(each.strip() for each in options.topologies.split(",")) if options.topologies is not None else ()
    wanted = Wanted(
        terminals=options.terminals,
        radix_ports=options.radix,
        most_terminals=options.most_terminals,
        budget_usd=options.budget,
        power_w=options.power,
        diameter_hops=options.diameter,
        bisection_links=options.bisection,
        families=families,
    )
    found = search(wanted, _assumed(options))
    if options.out is not None:
        from weft.design import design_page

        title = f"Designs for {options.terminals:,} terminals with {options.radix} ports per router"
        design_page.write(found.measured(options.shown), options.out, title, found)
    front = found.front.drop("within_limits", "on_front")
    _show(front.drop("links", "racks", "cost_is") if options.form is None else front, options.form)
    _close(options, found.remarks())
    return DONE


def _add_prices(kinds: Commands) -> None:
    about = "lines fitted to a price list"
    parser = arguments.command(kinds, "prices", about, "weft design prices")
    parser.add_argument("file", metavar="FILE", nargs="?", help="price list (CSV; default: the list in Weft)")
    parser.add_argument("--list", action="store_true", help="print the price list in Weft, as a template")
    parser.set_defaults(analyse=_prices)


def _prices(options: argparse.Namespace) -> int:
    from importlib.resources import files

    from weft.design import price_list
    from weft.errors import WeftError

    if options.list:
        if options.file is not None:
            what = f"--list prints the list in Weft, but the command also names {options.file}"
            raise WeftError.saying(what, "remove one of the two")
        print(files("weft.design").joinpath("assets", "edr.csv").read_text(encoding="utf-8"), end="")
        return DONE
    found = price_list.read(options.file)
    router, cable = found.router, found.cable
    print(f"{found.name}")
    print(
        f"router of k ports:  {router.slope:.6g} k + {router.intercept:.6g} $  "
        f"(R2 {router.determination:.4f}, {router.least:g} to {router.most:g} ports)"
    )
    print(
        f"cable of x metres:  ({cable.slope:.6g} x + {cable.intercept:.6g}) $/Gbps at {found.bandwidth_gbps:g} Gbps  "
        f"(R2 {cable.determination:.4f}, {cable.least:g} to {cable.most:g} m)"
    )
    return DONE


def _add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options for the assumptions about all designs, and for the output."""
    parser.add_argument("--prices", metavar="FILE", help="price list (CSV; `weft design prices --list` shows one)")
    lengths = {
        "--pitch": (
            "1",
            "distance between neighbouring racks [m] (default: 1); on a grid without rack sizes: between routers",
        ),
        "--overhead": ("2", "extra length of a cable between racks, in addition to their distance [m] (default: 2)"),
        "--inside": ("1", "length of a cable inside a rack [m] (default: 1)"),
        "--terminal-cable": ("1", "length of the cable of a terminal [m] (default: 1)"),
    }
    for name, (default, words) in lengths.items():
        parser.add_argument(name, metavar="M", type=_from_zero, default=float(default), help=words)
    for what in ("routers", "terminals"):
        most = f"maximum {what} of a rack (default: routers that belong together share a rack of any size)"
        parser.add_argument(f"--{what}-per-rack", metavar="N", type=arguments.positive, help=most)
    power = "power of a wired port [W] (default: 2.8)"
    parser.add_argument("--port-power", metavar="W", type=_from_zero, help=power)
    speed = (
        "power and prices of hardware of this speed, such as 400Gb/s, from the catalogue (`weft catalogue`; default: "
        "`power.catalogue` of the scenarios, if they name one)"
    )
    parser.add_argument("--catalogue", metavar="SPEED", help=speed)
    cables = "kind of the cables between routers with --catalogue: sr, dr, fr, dac, acc or aoc"
    parser.add_argument("--cables", metavar="KIND", help=cables)
    parser.add_argument(
        "--terminal-cables", metavar="KIND", help="with --catalogue: cables of terminals (default: dac)"
    )
    nodes = "with --catalogue: routers are parts of nodes, as in a torus of nodes, and have no price as switches"
    parser.add_argument("--routers-are-nodes", action="store_true", help=nodes)
    seeds = "number of seeds of the partitioner (default: 20)"
    parser.add_argument("--seeds", metavar="N", type=arguments.positive, default=20, help=seeds)
    step = "share of links that fail in each step (default: 0.05)"
    parser.add_argument("--step", metavar="SHARE", type=_share, default=0.05, help=step)
    trials = "number of random orders in which links fail (default: 100)"
    parser.add_argument("--trials", metavar="N", type=arguments.positive, default=100, help=trials)
    confidence = "confidence level of the intervals of failures (default: 0.95)"
    parser.add_argument("--confidence", metavar="SHARE", type=_share, default=0.95, help=confidence)
    parser.add_argument("--seed", metavar="N", type=arguments.seed, default=1, help="seed of the failures (default: 1)")
    parser.add_argument("--out", metavar="FILE", type=arguments.page, help="page to write (HTML)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_const", const="json", dest="form", help="print a JSON list of rows")
    form.add_argument("--csv", action="store_const", const="csv", dest="form", help="print comma-separated values")


def _assumed(options: argparse.Namespace, named: Hardware | None = None) -> Assumptions:
    """Assumptions about all designs, from the options.

    `named` is the hardware that the scenarios name. If an option names other hardware, Weft uses that of the option.
    """
    from weft.design import price_list
    from weft.design.measured_design import Assumptions
    from weft.design.packaging import Packaging
    from weft.design.resilience import Failures

    hardware = _hardware(options) or named
    prices = price_list.read(options.prices)
    return Assumptions(
        prices=hardware.prices() if hardware is not None and options.prices is None else prices,
        packaging=Packaging(
            pitch_m=options.pitch,
            overhead_m=options.overhead,
            inside_m=options.inside,
            terminal_m=options.terminal_cable,
            routers_per_rack=options.routers_per_rack,
            terminals_per_rack=options.terminals_per_rack,
        ),
        port_w=2.8 if options.port_power is None else options.port_power,
        hardware=hardware,
        failures=Failures(options.step, options.trials, options.confidence, options.seed),
        seeds=options.seeds,
    )


def _hardware(options: argparse.Namespace) -> Hardware | None:
    """The hardware of the catalogue that the options name; ``None`` if they name no speed."""
    from weft.design.catalogue_hardware import Hardware
    from weft.errors import WeftError

    if options.catalogue is None:
        if options.cables is not None or options.terminal_cables is not None or options.routers_are_nodes:
            raise WeftError.saying("cables are named, but no catalogue", "add `--catalogue 400Gb/s`")
        return None
    if options.cables is None:
        raise WeftError.saying("no cables between routers are named", "add `--cables dr`; `weft catalogue` lists them")
    if options.port_power is not None:
        raise WeftError.saying("--port-power and --catalogue both set the power", "remove one of the two")
    routers = "nodes" if options.routers_are_nodes else "switches"
    return Hardware.of(options.catalogue, options.cables, options.terminal_cables or "dac", routers)


def _number(text: str) -> float:
    """Reads a number, or NaN for other text.

    Callers refuse NaN, because a comparison of NaN with a limit is always false.
    """
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _amount(text: str) -> float:
    """The value of an option as an amount above 0, such as 4e6."""
    if not 0 < (value := _number(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount above 0: write a number such as 4e6")
    return value


def _from_zero(text: str) -> float:
    """The value of an option as a number from 0 on, such as 0.5."""
    if not 0 <= (value := _number(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more: write a number such as 0.5")
    return value


def _share(text: str) -> float:
    """The value of an option as a number between 0 and 1."""
    if not 0 < (value := _number(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 1: write a share such as 0.05")
    return value


def _side_by_side(frame: pl.DataFrame) -> list[str]:
    """Lines of a table with a column per design and a row per quantity."""
    from weft.design.quantities_of_designs import ROWS, cell
    from weft.text.columns import columns

    head = ["", *frame["design"]]
    rows = [
        [
            f"{row.words} [{row.unit}]" if row.unit else row.words,
            *(cell(value, row.column) for value in frame[row.column]),
        ]
        for row in ROWS
        if row.column not in ("topology", "packaging")
    ]
    lines = [
        f"{name}: {topology}; {rule}" for name, topology, rule in frame.select("design", "topology", "packaging").rows()
    ]
    return [*columns(head, rows), "", *lines]


def _show(frame: pl.DataFrame, form: str | None) -> None:
    from weft.design.quantities_of_designs import cell
    from weft.text.columns import columns

    if form == "json":
        print(json.dumps(frame.to_dicts(), indent=1))
    elif form == "csv":
        print(frame.write_csv(), end="")
    else:
        words = [place for place, kind in enumerate(frame.dtypes) if not kind.is_numeric()]
        heads = [column.removesuffix("_share").replace("tolerated_", "") for column in frame.columns]
        rows = [
            [cell(value, column) for value, column in zip(row, frame.columns, strict=True)] for row in frame.iter_rows()
        ]
        print("\n".join(columns(heads, rows, left=words)))


def _close(options: argparse.Namespace, notes: list[str]) -> None:
    """Print the notes below a table, and the path of the written page."""
    if options.form is None:
        print("\n".join(["", *notes, *([f"page {Path(options.out)}"] if options.out is not None else [])]))
