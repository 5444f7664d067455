"""``weft analyse`` runs analyses that need either no simulation or a finished one."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, analyse_machine, analyse_policies, arguments
from weft.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from weft.cli.arguments import Commands

    Answered = tuple[pl.DataFrame, Sequence[str]]

# Default loads [flits/terminal/cycle] at which `weft analyse bound` computes the bound.
_LOADS = [round(0.05 * step, 2) for step in range(1, 19)]


# Short headings for the columns of wide tables on the screen. A column with an empty heading is only in JSON and CSV.
_HEADS = {
    "random_mean": "mean",
    "random_min": "min",
    "random_max": "max",
    "ratio_to_min": "to min",
    "ratio_to_max": "to max",
    "energy_network_j": "",
    "energy_network_scaled_j": "",
    "energy_per_flit_pj": "pJ/flit",
    "energy_scaled_per_flit_pj": "scaled",
    "normalised_energy": "ratio",
    "before_cycles": "before",
    "during_cycles": "during",
    "after_cycles": "after",
    "recovery_cycles": "recovery",
    "recovery_low_cycles": "earliest",
    "recovery_high_cycles": "latest",
    "return_cycles": "return",
    "return_low_cycles": "earliest",
    "return_high_cycles": "latest",
    "delivered_share": "delivered",
    "dropped_packets": "dropped",
    "from_cycle": "from",
    "to_cycle": "to",
    "note": "",
    "reference": "",
    "switches": "",
    "runtime_s": "run time [s]",
    "runtime": "times",
    "ports_on_share": "on",
    "w_sw": "",
    "run_task_of_tasks": "",
    "idle_share": "idle",
    "e_cluster_ratio": "ratio",
    "power_network_w": "network [W]",
    "power_nodes_w": "nodes [W]",
    "power_machine_w": "machine [W]",
    "energy_machine_kwh": "[kWh]",
    "energy_cost": "energy cost",
    "switches_usd": "switches [$]",
    "fast_enough": "fast enough",
    "time_change": "time",
    "time_ci95": "+-",
    "energy_change": "energy",
    "energy_ci95": "+- ",
    "floor_change": "floor",
    "above_floor": "above",
    "oracle_change": "oracle",
    "above_oracle": "above ",
}


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "analyse",
        "compute counts, bounds and estimates, without a simulation or from a finished run",
        "weft analyse bound --routers 32 --terminals 1024",
    )
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    _add_paths(kinds)
    _add_bound(kinds)
    _add_overhead(kinds)
    _add_examples(kinds)
    _add_dvfs(kinds)
    _add_oracle(kinds)
    _add_recovery(kinds)
    _add_bill(kinds)
    for name, kind in (("machine", analyse_machine), ("policies", analyse_policies)):
        kind.add_options(_kind(kinds, name, kind.ABOUT, kind.EXAMPLE, kind.answer))


def main(options: argparse.Namespace) -> int:
    """Run the chosen analysis, print its table, and return the exit status."""
    analyse: Callable[[argparse.Namespace], Answered] = options.analyse
    frame, notes = analyse(options)
    if options.json:
        print(json.dumps(frame.to_dicts(), indent=1))
    elif options.csv:
        print(frame.write_csv(), end="")
    else:
        print("\n".join([*options.table(frame), *notes]))
    return DONE


def _kind(
    kinds: Commands, name: str, help: str, example: str, analyse: Callable[[argparse.Namespace], Answered]
) -> argparse.ArgumentParser:
    parser = arguments.command(kinds, name, help, f"weft analyse {name} {example}".rstrip())
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print comma-separated values")
    parser.set_defaults(analyse=analyse, table=_table)
    return parser


def _add_paths(kinds: Commands) -> None:
    about = "paths between all pairs of a subnetwork, for concentrated links and for random links (TCEP, Figs. 3, 4)"
    parser = _kind(kinds, "paths", about, "--routers 8 --more 6 --exact", _paths)
    number = arguments.positive
    parser.add_argument("--routers", metavar="R", type=number, default=32, help="number of routers (default: 32)")
    parser.add_argument("--hub", metavar="ROUTER", type=int, default=0, help="centre of the star (default: 0)")
    more = "links in addition to the star, e.g. 6,12 (default: the number of links of 0, 1, 2, ... more hubs)"
    parser.add_argument("--more", metavar="N,...", type=_wholes, help=more)
    samples = parser.add_mutually_exclusive_group()
    samples.add_argument(
        "--samples", metavar="N", type=number, default=1000, help="number of random placements (default: 1000)"
    )
    samples.add_argument("--exact", action="store_true", help="count all placements")
    parser.add_argument(
        "--seed", metavar="N", type=arguments.seed, default=1, help="seed of the placements (default: 1)"
    )


def _paths(options: argparse.Namespace) -> Answered:
    from weft.analysis import paths

    samples = None if options.exact else options.samples
    frame = paths.over_fraction(options.routers, samples, options.seed, hub=options.hub, more=options.more)
    notes = ["mean, min, max: paths with random placements; ratios: concentrated placement to each of these"]
    return frame, [*notes, *(f"{name}: {words}" for name, words in paths.COUNTS.items())]


def _add_bound(kinds: Commands) -> None:
    about = "fewest active links of a 1D flattened butterfly that carry a load (TCEP, Fig. 12)"
    parser = _kind(kinds, "bound", about, "--routers 32 --terminals 1024 --load 0.1,0.41", _bound)
    parser.add_argument(
        "--routers", metavar="R", type=arguments.positive, default=32, help="number of routers (default: 32)"
    )
    terminals = "terminals of the whole network (default: 1024)"
    parser.add_argument("--terminals", metavar="N", type=arguments.positive, default=1024, help=terminals)
    load = "loads in flits/terminal/cycle (default: 0.05 to 0.9)"
    parser.add_argument("--load", metavar="L,...", type=_numbers, default=_LOADS, help=load)


def _bound(options: argparse.Namespace) -> Answered:
    from weft.analysis import bound

    notes = [
        "active: for uniform traffic; non_minimal: for traffic that takes two hops whichever links are active",
        "-: all links together do not suffice",
    ]
    return bound.over_load(options.load, options.routers, options.terminals), notes


def _add_overhead(kinds: Commands) -> None:
    about = "storage and control packets that TCEP needs per router (TCEP, section VI-D)"
    parser = _kind(kinds, "overhead", about, "--radix 48 --counter-bits 24", _overhead)
    number = arguments.positive
    parser.add_argument("--radix", metavar="PORTS", type=number, default=64, help="ports of a router (default: 64)")
    routers = "routers of a subnetwork (default: those of the largest balanced butterfly of this radix)"
    parser.add_argument("--routers", metavar="K", type=number, help=routers)
    parser.add_argument(
        "--dimensions", metavar="N", type=number, default=2, help="dimensions of the network (default: 2)"
    )
    parser.add_argument("--counter-bits", metavar="N", type=number, default=16, help="bits of a counter (default: 16)")
    parser.add_argument("--id-bits", metavar="N", type=number, default=8, help="bits of a router's number (default: 8)")
    storage = "storage of the router [B] (default: the value for YARC that the paper's 0.7 %% implies)"
    parser.add_argument("--router-storage", metavar="BYTES", type=number, help=storage)


def _overhead(options: argparse.Namespace) -> Answered:
    from dataclasses import asdict

    import polars as pl

    from weft.analysis.overhead import IMPLIED_YARC_BYTES, overhead

    cost = overhead(
        options.radix,
        options.routers,
        dimensions=options.dimensions,
        counter_bits=options.counter_bits,
        id_bits=options.id_bits,
        router_storage_bytes=options.router_storage or IMPLIED_YARC_BYTES,
    )
    notes = [f"router_share: of {options.router_storage or IMPLIED_YARC_BYTES:.0f} B"]
    if options.router_storage is None:
        notes[0] += ", the value for YARC that the paper's 0.7 % implies; for another router, use --router-storage"
    rows = [{"quantity": name, "value": float(value)} for name, value in asdict(cost).items()]
    return pl.DataFrame(rows), notes


def _add_examples(kinds: Commands) -> None:
    about = "the worked examples of the TCEP paper (Figs. 5 and 6)"
    _kind(kinds, "examples", about, "", _examples)


def _examples(_: argparse.Namespace) -> Answered:
    import polars as pl

    from weft.analysis import examples

    rows = [
        {"figure": "5", "case": name, "quantity": "utilisation of all links", "value": float(loads.sum())}
        for name, loads in examples.dropped_link().items()
    ]
    parted = examples.partition(examples.FIG6)
    values = {"inner links": parted.boundary, "inner budget": parted.inner_budget}
    values["outer utilisation"] = parted.outer_utilisation
    rows += [{"figure": "6", "case": "R3", "quantity": name, "value": float(of)} for name, of in values.items()]
    notes = [
        "5: R0 turns off its least used link (naive), or the link with the least minimal traffic (type_aware)",
        "6: links from the hub on are inner until their budget equals that of the outer links; high-water mark 1",
    ]
    return pl.DataFrame(rows), notes


def _add_dvfs(kinds: Commands) -> None:
    about = "energy of a finished run if each channel had used the lowest rate that carries its traffic"
    parser = _kind(kinds, "dvfs", about, "results/quickstart", _dvfs)
    parser.add_argument("results", metavar="DIR", help="folder of results, usually of links that are always on")
    rates = "shares of the full rate (default: 0.25,0.5,1)"
    parser.add_argument("--rates", metavar="R,...", type=_numbers, default=[0.25, 0.5, 1.0], help=rates)
    powers = "power at each rate, as a share of the power at the full rate (default: 0.54,0.69,1)"
    parser.add_argument("--powers", metavar="P,...", type=_numbers, default=[0.54, 0.69, 1.0], help=powers)
    over_time = "choose rates again in each sample of measure.series, instead of once for the window"
    parser.add_argument("--over-time", action="store_true", help=over_time)


def _dvfs(options: argparse.Namespace) -> Answered:
    from weft.analysis.dvfs import Rates
    from weft.cli import folders
    from weft.results import price_source

    rates = Rates(tuple(options.rates), tuple(options.powers))
    opened = folders.opened(options.results)
    frame = opened.rate_scaled(rates, over_time=options.over_time)
    notes = [
        *price_source.lines(opened.summaries),
        "energies: of the links between routers per delivered flit, as measured and scaled; ratio: scaled to measured",
        "baseline: hash of the measured point; rate: share of the powered cycles at each rate",
    ]
    return frame, notes


def _add_oracle(kinds: Commands) -> None:
    about = "links of a HyperX or full mesh that suffice for the traffic of a scenario, by a fluid model"
    parser = _kind(kinds, "oracle", about, "examples/quickstart.yaml --target 0.75 --out oracle.yaml", _oracle)
    arguments.add_scenario(parser)
    target = "highest load of a channel, as a share of its bandwidth (default: 0.75)"
    parser.add_argument("--target", metavar="LOAD", type=float, default=0.75, help=target)
    hub = "coordinate of the routers whose star stays on (default: 0)"
    parser.add_argument("--hub", metavar="N", type=int, default=0, help=hub)
    parser.add_argument("--out", metavar="FILE", help="write a scenario in which only these links are on")


def _oracle(options: argparse.Namespace) -> Answered:
    from weft.analysis import static
    from weft.cli import overrides
    from weft.results.rows import frame_of

    points = overrides.sweep(options).points
    answers = static.answers(points, options.target, options.hub)
    frame = frame_of([answer.row for answer in answers])
    notes = [
        "busiest_channel: between routers, busiest_terminal: to or from a terminal, as shares of their bandwidth",
        "carried: none of these channels is above the target",
    ]
    if any(point.phases() > 1 for point in points):
        notes.append("phases: each job counts at its phase of most load")
    if options.out is None:
        return frame, [*notes, "to write a scenario in which only these links are on, name a file with --out"]
    return frame, [*notes, f"scenario {static.write(answers, options.out)}"]


def _add_recovery(kinds: Commands) -> None:
    about = "recovery of a finished run from faults, named or random"
    parser = _kind(kinds, "recovery", about, "results/faults", _recovery)
    parser.add_argument("results", metavar="DIR", help="folder of results with failures of links or routers")


def _recovery(options: argparse.Namespace) -> Answered:
    from weft.analysis import recovery
    from weft.cli import folders

    frame = recovery.table(folders.opened(options.results))
    notes = [
        "one row per period from the first failure until the last repair [cycles]",
        "before, during, after: mean latency [cycles] of the packets delivered before the first fault of the point, in",
        "  this one, and after the last repair",
        "delivered: delivered packets / (delivered + dropped packets) in this period; dropped: packets",
        "recovery: cycles from the failure until latency and deliveries are as before and no packet is lost, although",
        "  the failure lasts",
        "return: the same, from the end of the fault; earliest, latest: range of these times due to chance",
        "-: unknown, for these reasons:",
    ]
    why = list(dict.fromkeys(frame["note"].drop_nulls()))
    return frame, [*notes[: None if why else -1], *why]


def _add_bill(kinds: Commands) -> None:
    about = "power [kW], energy [kWh] and cost per year of a finished run, over a profile of loads or phases"
    parser = _kind(kinds, "bill", about, "results/bill", _bill)
    parser.add_argument("results", metavar="DIR", help="folder of results")
    bill = "file with the keys of `bill`, or with a section `bill:` (default: the `bill` of the scenario)"
    parser.add_argument("--bill", metavar="FILE", help=bill)
    parser.add_argument("--parts", action="store_true", help="with --json or --csv: one row per part of the profile")
    parser.set_defaults(table=lambda _: [])


def _bill(options: argparse.Namespace) -> Answered:
    from weft.cli import folders
    from weft.results import program_table
    from weft.results.bill_lines import lines
    from weft.text import shell

    results = folders.opened(options.results)
    if program_table.are_some(results):
        what = f"{results.root}: a bill needs loads, but a program has no load"
        remedy = f"`{shell.command('query', results.root)}` shows the energy of each run; bill a scenario with loads"
        raise ResultsError.saying(what, remedy)
    yearly = results.bill(options.bill)
    return (yearly.parts if options.parts else yearly.frame), lines(yearly)


def _table(frame: pl.DataFrame) -> list[str]:
    from weft.text.columns import columns

    shown = frame.select(column for column in frame.columns if _HEADS.get(column, column))
    words = [place for place, kind in enumerate(shown.dtypes) if not kind.is_numeric()]
    heads = [_HEADS.get(column, column) for column in shown.columns]
    return [*columns(heads, [[_cell(value) for value in row] for row in shown.iter_rows()], left=words), ""]


def _cell(value: Any) -> str:
    from weft.text.labels import label

    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e4 else label(value)


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write numbers such as 0.1,0.2") from None


def _wholes(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write whole numbers such as 6,12") from None
