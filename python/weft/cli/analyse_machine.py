"""``weft analyse machine`` computes the energy of the whole machine (switches and nodes) for finished runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from weft.cli import arguments
from weft.errors import ResultsError, WeftError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from weft.analysis.machine_energy import References
    from weft.analysis.machine_watts import Hardware
    from weft.results.result_set import ResultSet

ABOUT = "power and energy of the whole machine, switches and nodes, of finished runs, relative to a reference network"
EXAMPLE = "results/quickstart --reference 0"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this analysis."""
    parser.add_argument("results", metavar="DIR", help="folder of results")
    reference = (
        "reference of all ratios: number or coordinates of a point, or PORTSxSWITCHES such as 7x64 (default: the "
        "network and policy of the first point)"
    )
    parser.add_argument("--reference", metavar="WHICH", help=reference)
    parser.add_argument("--reference-results", metavar="DIR", help="folder of results that contains the reference")
    idle = "power of an idle node as a share of the power of a busy node (default: 0,0.25,0.5,0.75,1)"
    parser.add_argument("--node-idle", metavar="S,...", type=_numbers, help=idle)
    asleep = "power of a sleeping port as a share of the power of a port that is on {}"
    default = "(default: the prices of the run or the catalogue, else {})"
    parser.add_argument("--port-asleep", metavar="S", type=float, help=asleep.format(default.format(0.1)))
    ports = "share of all ports in the power of a switch {}"
    parser.add_argument("--ports", metavar="S", type=float, help=ports.format(default.format(0.65)))
    network = parser.add_mutually_exclusive_group()
    share = "share of the reference network in the power of the machine (default: 0.15)"
    network.add_argument("--network", metavar="S", type=float, default=0.15, help=share)
    network.add_argument(
        "--node-power", metavar="WATTS", type=float, help="power of a busy node [W], instead of --network"
    )
    cores = "cores of a node (default: the largest number of ranks of a node)"
    parser.add_argument("--cores-per-terminal", metavar="N", type=arguments.positive, help=cores)
    state = "power of a port in a state such as half, as a share of the power of a port that is on (repeatable)"
    parser.add_argument("--state", metavar="NAME=S", action="append", default=[], type=_state, help=state)
    catalogue = (
        "speed of the switches in the catalogue, such as 100Gb/s: adds watts, kilowatt-hours and cost (default: "
        "prices of the run, or `power.catalogue` of the scenario, if all points have the same)"
    )
    parser.add_argument("--catalogue", metavar="SPEED", help=catalogue)
    cables = "cables {} (default: the cables of `power.catalogue`, else dac)"
    parser.add_argument("--cables", metavar="KIND", help=cables.format("between switches"))
    parser.add_argument("--terminal-cables", metavar="KIND", help=cables.format("of terminals"))
    price = "price of electricity per kilowatt-hour, in any currency"
    parser.add_argument("--price-per-kwh", metavar="PRICE", type=float, help=price)


def answer(options: argparse.Namespace) -> tuple[pl.DataFrame, Sequence[str]]:
    """The frame of the analysis, and the notes below it."""
    from weft.analysis import machine_energy
    from weft.analysis.machine_power import Shares
    from weft.cli import folders

    others = None if options.reference_results is None else folders.opened(options.reference_results)
    results = folders.opened(options.results)
    given = {name: getattr(options, name) for name in ("port_asleep", "ports") if getattr(options, name) is not None}
    machine = machine_energy.Machine(
        Shares(network=options.network, **given),
        options.node_idle or machine_energy.IDLE_SHARES,
        options.cores_per_terminal,
        dict(options.state),
        _hardware(options, _catalogue(results)),
        set(given),
    )
    frame = results.machine(machine, options.reference, others=others)
    references = machine_energy.References(results, options.reference, machine, others)
    return frame, [*notes(frame, references.is_size), *_sources(references)]


def _sources(references: References) -> list[str]:
    """Notes on the source of the power of networks and of watts: the runs, or shares of power and the catalogue.

    The prices behind the watts of the machine and behind the energies of the run can have different sources.
    """
    from weft.results import price_source

    machine, hardware = references.machine, references.machine.hardware
    own = price_source.lines(results.summaries[row] for results, row in references.used)
    if not references.why_modelled:
        said = "power of networks: as in the runs, flits included; --port-asleep and --ports set shares instead"
        watts = [] if hardware is None else ["watts: at the prices of the runs"]
        if hardware is not None and hardware.speed is not None:
            watts.append(f"price of switches: catalogue, {hardware.speed}")
        return [said, *(f"  {line}" for line in own), *watts]
    lines = [f"power of networks: shares for all points, because {references.why_modelled}"]
    from_catalogue = "" if hardware is None else f"from the catalogue, {hardware.speed}, {hardware.cables}"
    for name, value in (("port_asleep", machine.shares.port_asleep), ("ports", machine.shares.ports)):
        source = "as set" if name in machine.fixed else from_catalogue or "default, Andujar et al. (2019)"
        shown = source if source == from_catalogue else f"{value:g} ({source})"
        lines.append(f"--{name.replace('_', '-')}: {shown}")
    if hardware is not None:
        cables = f"{hardware.cables} between switches, {hardware.terminal_cables} to terminals"
        lines.append(f"watts: catalogue, {hardware.speed}, {cables} (`--cables`, `--terminal-cables`)")
        lines += [f"in the results of the run, {line}" for line in own]
    return lines


def notes(frame: pl.DataFrame, is_size: bool) -> list[str]:
    """Notes on the meaning of the columns of a frame."""
    lines = [
        f"reference: {frame['reference'].unique(maintain_order=True).to_list()[0]}"
        if frame["reference"].n_unique() == 1
        else "reference: the point with the same other coordinates",
        "w_ports, w_sw: power of ports and of a switch, as shares of their maximum power",
        "w_net: power of the network, as a share of the reference with all ports on; e_net: w_net times the run time",
        "run_task: share of the run time in which a core does not wait for messages, mean over all cores",
        "idle: power of an idle node / power of a busy node; w_nodes, w_cluster: power of nodes and of the machine",
        "e_cluster: w_cluster times the run time; ratio: e_cluster to that of the reference",
        "saves: the idle shares at which this machine needs less energy than the reference",
    ]
    if is_size:
        lines.append("the reference is only a size: w_net is w_sw times the number of ports / ports of the reference")
    if frame["e_net"].null_count():
        lines.append("-: no run time: the point runs no programs and no batches, or the reference is only a size")
    return lines


def _catalogue(results: ResultSet) -> dict[str, str]:
    """The `power.catalogue` that all points have in common; empty if the points have none or different ones."""
    found = []
    for point in range(len(results)):
        try:
            found.append(results.scenario(point).get("power", {}).get("catalogue") or {})
        except ResultsError:
            return {}
    return found[0] if found and all(each == found[0] for each in found) else {}


def _hardware(options: argparse.Namespace, of_scenario: Mapping[str, str]) -> Hardware:
    """The hardware that the user names, completed with the catalogue of the scenario."""
    from weft.analysis.machine_watts import Hardware

    speed = options.catalogue or of_scenario.get("speed")
    named = any((options.catalogue, options.cables, options.terminal_cables))
    if speed is None and named:
        what = "--cables or --terminal-cables without the speed of the switches"
        raise WeftError.saying(what, "also name the speed, such as --catalogue 100Gb/s")
    cables = options.cables or of_scenario.get("cables", "dac")
    terminal_cables = options.terminal_cables or of_scenario.get("terminal_cables", "dac")
    return Hardware(speed, cables, terminal_cables, options.node_power, options.price_per_kwh, named)


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write shares such as 0,0.5,1") from None


def _state(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    try:
        return (name, float(value)) if equals else _state("=")
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write a state and its share, such as half=0.69") from None
