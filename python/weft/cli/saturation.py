"""``weft saturation`` searches for the load at which each curve of a sweep saturates."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments, folders, overrides, slurm, stalls, warned
from weft.results.quantities import TOLERANCE
from weft.runs.bisection import Verdict
from weft.text.labels import label

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    import polars as pl

    from weft.api.results import Results
    from weft.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "saturation",
        "find the saturation load of a network, for each combination of the swept values other than load",
        "weft saturation examples/dragonfly.yaml --set routing=dragonfly_ugal --tolerance 0.01",
    )
    arguments.add_scenario(parser)
    distance = f"width of the interval with the saturation load, in flits/terminal/cycle (default: {TOLERANCE})"
    parser.add_argument("--tolerance", metavar="LOAD", type=float, default=TOLERANCE, help=distance)
    lower, upper = (
        "lowest load to try (default: the tolerance)",
        "highest load to try (default: the largest load that a terminal can send)",
    )
    parser.add_argument("--from", metavar="LOAD", type=float, dest="lower", help=lower)
    parser.add_argument("--to", metavar="LOAD", type=float, dest="upper", help=upper)
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=arguments.positive,
        default=1,
        help="runs per load, each with a different seed (default: 1)",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the results (default: results/<name of FILE>-saturation)"
    )
    arguments.add_execution(parser)
    parser.add_argument("--no-picture", action="store_true", help="draw no picture: table and CSV file only")
    slurm.add(parser, "submit the search as one job instead of running it here")


def main(options: argparse.Namespace) -> int:
    """Search for the saturation load of each curve, print it, and return the exit status."""
    from weft.api.results import Results
    from weft.cli.interrupt import interruptible
    from weft.results.of_sweep import FILE
    from weft.runs.how import How
    from weft.runs.progress import Bar
    from weft.runs.saturation_search import Asked, SaturationSearch, find

    slurm.check(options)
    scenario, sets = overrides.scenario(options)
    asked = Asked(options.tolerance, options.lower, options.upper, options.seeds)
    how = How(
        options.threads,
        options.blocks,
        force_memory=options.force_memory,
        checkpoint_every=options.checkpoint_every,
    )
    with interruptible():
        search = SaturationSearch(scenario, sets, options.out, asked)
        search.store.check_owner(search.named, search.ends)
        if lines := warned.lines(search.ends):
            print("\n".join(lines), file=sys.stderr)
        if options.on and slurm.search_submitted(search, how, options):
            return DONE
        folders.tell_of_others(search.store.root)
        with Bar("saturation") as bar:
            frame = find(search, how, jobs=options.jobs, watch=bar)
    results = Results(search.store)
    csv = results.root / FILE
    print("\n".join(_text(frame, results, options.tolerance, search.fixed_loads(frame))))
    print(f"\npoints   {results.root / 'points'}\ntable    {csv}")
    if not options.no_picture:
        print(f"picture  {results.plot()}")
    return stalls.report(results)


def _text(
    frame: pl.DataFrame, results: Results, tolerance: float, own: Mapping[str, list[float]] | None = None
) -> list[str]:
    """The lines of the table and its notes; `own` are loads that do not change with the load of the search."""
    from weft.results import codes, notes, of_sweep, soundness
    from weft.results import quantities as q
    from weft.text.columns import columns, number

    measured = [
        "verdict",
        "steady_load",
        "saturated_load",
        q.ACCEPTED.column,
        q.LATENCY.column,
        "stuck",
        "dropped_share",
        "runs",
        "unsettled_loads",
        "wider_than_tolerance",
        "flaw",
        "loads_run",
        "warned_of",
    ]
    apart = [column for column in frame.columns if column not in measured]
    head = [*apart, "saturates at", "accepted load", "latency below", "runs"]
    rows = [
        [
            *(label(row[column]) for column in apart),
            _where(row) + (", stuck" if row["stuck"] else "") + _dropped(row),
            number(row[q.ACCEPTED.column], q.ACCEPTED.digits),
            number(row[q.LATENCY.column], q.LATENCY.digits) + (soundness.UNSETTLED_MARK if row["flaw"] else ""),
            str(row["runs"]),
        ]
        for row in frame.iter_rows(named=True)
    ]
    lines = [
        results.title,
        f"loads [{q.OFFERED.unit}] within {tolerance:g}; mean packet latency [{q.LATENCY.unit}] at the lower load",
        "",
        *columns(head, rows, left=len(apart) + 1),
    ]
    verdicts = list(map(Verdict, frame["verdict"].unique(maintain_order=True)))
    # without curves on which faults drop packets, because the notes propose other loads or windows, which do not help
    # there
    of_load = frame.filter(frame["dropped_share"].is_null())["verdict"].unique(maintain_order=True)
    values = [_NOTES[verdict] for verdict in map(Verdict, of_load) if verdict not in (Verdict.FOUND, Verdict.ABOVE)]
    values += _of_own_loads(own or {}) if Verdict.BELOW in map(Verdict, of_load) else []
    values += [_DROPPED] if frame["dropped_share"].null_count() < frame.height else []
    values += [*notes.unjudged(results), *notes.behind(results)] if Verdict.OPEN in verdicts else []
    values += [*notes.to_settle(results)] if _is_late(frame) else []
    values += codes.legend(values)
    values += [of_sweep.WIDER] if frame["wider_than_tolerance"].any() else []
    values += _above(frame.filter(frame["verdict"] == Verdict.ABOVE))
    values += _warned(frame)
    for flaw in frame["flaw"].drop_nulls().unique(maintain_order=True):
        count = f"{(frame['flaw'] == flaw).sum()} of {frame.height} points whose latency is shown"
        values.append(f"{soundness.UNSETTLED_MARK}: {count} are {flaw}")
    return [*lines, "", *values] if values else lines


_NOTES = {
    Verdict.BELOW: "below: the network saturates at the lowest load of the search; start from a lower load with --from",
    Verdict.MIXED: "blurred: the network saturates at one load but not at a higher one; a longer measure.window or more"
    " --seeds show whether this is chance",
    Verdict.OPEN: "not judged: at decisive loads the run is too short to show whether the network carries them;"
    " required length:",
}


def _of_own_loads(own: Mapping[str, list[float]]) -> list[str]:
    """A note for curves that saturate at the lowest load: loads that the search does not change may be the reason."""
    from weft.runs import overload

    if not own:
        return []
    shown = (
        f"  the search does not change {overload.listed(own)}; if these loads saturate the network by themselves, no"
        " lower load helps: run the scenario with --set 'sweep.traffic.load=[0]', and if it is saturated, write lower"
        " loads there, or remove them"
    )
    return [shown]


def _is_late(frame: pl.DataFrame) -> bool:
    """Whether some curve has no verdict and no steady load, and at some of its loads runs had not settled."""
    late = (frame["verdict"] == Verdict.OPEN) & frame["steady_load"].is_null() & (frame["unsettled_loads"] > 0)
    return bool(late.any())


_DROPPED = (
    "dropped: share of the packets at that load that are lost at failed links and routers; the network does not carry a"
    " load if more than 3 % is lost, and lower loads may lose as much: remove `faults` and `fault_model.random` to"
    " search the intact network"
)


def _dropped(row: dict[str, Any]) -> str:
    share = row["dropped_share"]
    return "" if share is None else f", {100 * share:.3g} % dropped"


def _above(frame: pl.DataFrame) -> list[str]:
    """Notes that explain for which reason no load saturated a curve."""
    unsettled = frame["unsettled_loads"].to_list()
    values = []
    if not frame.filter((frame["unsettled_loads"] == 0) & frame["warned_of"].is_null()).is_empty():
        values.append(
            "not up to: the network carries the lowest and the highest load of the search; loads between were not run"
        )
    if any(unsettled):
        values.append(
            "not up to, but some loads were not settled: no load of the search is saturated, but latencies may still"
            " grow at these loads; a longer measure.warmup shows whether the network carries them"
        )
    return values


def _warned(frame: pl.DataFrame) -> list[str]:
    """Notes on curves whose power policy has a parameter about which the engine warns."""
    values = []
    for path, loads in (
        frame.drop_nulls("warned_of").select("warned_of", "loads_run").unique(maintain_order=True).rows()
    ):
        words = ", ".join(loads.split())
        values.append(
            f"warned of {path}: only the loads {words} were run; according to the warning, other loads, also lower ones"
            " or loads between them, may saturate the network: sweep traffic.load to check"
        )
    return values


def _where(row: dict[str, Any]) -> str:
    low, high = row["steady_load"], row["saturated_load"]
    match Verdict(row["verdict"]):
        case Verdict.FOUND:
            return f"{low:g} to {high:g}"
        case Verdict.BELOW:
            return f"below {high:g}" if row["dropped_share"] is None else f"carries no load: at {high:g}"
        case Verdict.ABOVE:
            late = row["unsettled_loads"]
            loads = f"{late} {'load was' if late == 1 else 'loads were'} not settled"
            where = (
                f"not up to {low:g}" if row["warned_of"] is None else f"not at {', '.join(row['loads_run'].split())}"
            )
            return where + (f", but {loads}" if late else "")
        case Verdict.OPEN:
            lines = [
                "not judged",
                *([] if low is None else [f"above {low:g}"]),
                *([] if high is None else [f"below {high:g}"]),
            ]
            return " ".join(lines)
        case Verdict.MIXED:
            ends = ("the start" if low is None else f"{low:g}", "the end" if high is None else f"{high:g}")
            return f"blurred from {ends[0]} to {ends[1]}"
