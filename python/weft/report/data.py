"""Collects all data of a report's page in one value that can be written as JSON."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import polars.selectors as cs
from matplotlib import colormaps
from matplotlib.colors import to_hex

from weft.errors import ResultsError
from weft.plot.style import HEAT, looks, state_looks
from weft.report import answer, columns_shown, pack, question, rank_picture
from weft.report.network_view import Gallery
from weft.results import link_modes, notes, of_flows, of_jobs, program_table, si_units, soundness
from weft.results import quantities as q
from weft.results.router_places import places
from weft.text.labels import brief, label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.report.columns_shown import Listing
    from weft.report.sources import Line, Sources
    from weft.results.quantities import Quantity
    from weft.results.result_set import ResultSet

# Maximum size of the latency histograms of all points together [bytes].
HISTOGRAM_BYTES = 700_000
_SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "*": "star",
}
_DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}


def collect(sources: Sources) -> dict[str, Any]:
    """The data of a page."""
    drawings = _drawings(sources)
    states = link_modes.of_all(sources.summaries)
    looks_of_states = state_looks(states)
    return {
        "title": ", ".join(sources.names),
        "digits": pack.DIGITS,
        "points": _points(sources),
        "columns": [columns_shown.described(each) for each in _table(sources)],
        "listings": [*(_listing(sources, each) for each in columns_shown.LISTINGS), _groups(sources)],
        "shown": columns_shown.shown(sources.units),
        "percentiles": [[name, si_units.in_units(each, sources.units).column] for name, each in q.PERCENTILES.items()],
        "marks": soundness.MARKS
        | {soundness.OVERLOADED_MARK: soundness.OVERLOADED_MEANING, of_jobs.NEXT_TO_MARK: of_jobs.NEXT_TO}
        | {of_flows.DELIVERED_MARK: of_flows.DELIVERED},
        "states": {state: colour for state, (colour, _) in looks_of_states.items()},
        # matplotlib repeats a letter for a denser hatching, but Plotly accepts each letter only once
        "state_patterns": {state: hatch[:1] for state, (_, hatch) in looks_of_states.items()},
        "state_order": states,
        "heat": _heat(),
        "billed": columns_shown.billed(),
        "curves": _curves(sources),
        "curve_table": [_rounded(row) for row in answer.curves(sources)],
        "histograms": _histograms(sources),
        "stalls": _stalls(sources),
        "waiting": _waiting(sources),
        "programs": all(map(program_table.are_all, sources.results)),
        "ranks": rank_picture.collect(sources),
        **drawings,
    }


def _table(sources: Sources) -> list[Quantity]:
    """The columns of the table of points; the share of delivered packets is a column only if packets were dropped."""
    dropping = any(map(soundness.is_dropping, sources.summaries))
    shown = si_units.beside(columns_shown.TABLE, sources.units)
    return [each for each in shown if dropping or each is not q.DELIVERED]


def _heat() -> list[str]:
    """Colours of the scale of utilisation, from pale to dark, which differ only in lightness."""
    return [to_hex(colour) for colour in colormaps[HEAT](np.linspace(0, 1, 24))]


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {name: pack.rounded(value) for name, value in row.items() if not isinstance(value, dict | list)}


def _points(sources: Sources) -> dict[str, Any]:
    """The table of points, with each scalar of the summaries as a column.

    In the columns of coordinates, a model with its parameters is replaced by its label.
    """
    frame = sources.frame
    # energies in femtojoules are left out, because the table also has them in joules, as shorter numbers
    scalars = [name for name in frame.columns if not name.endswith("_fj") and name not in {"hash", "name"}]
    columns = {name: pack.column(frame[name].to_list()) for name in scalars}
    columns |= {"mark": pack.column([columns_shown.point_mark(summary) for summary in sources.summaries])}
    columns |= {"hop_histogram": pack.column([summary.get("hop_histogram") for summary in sources.summaries])}
    return {
        "words": sources.described,
        "hash": [results.points[row]["hash"] for results, row in sources.places],
        "results": pack.column([sources.names[sources.results.index(results)] for results, _ in sources.places]),
        "varied": sources.varied,
        "brief": _brief(sources),
        "columns": columns,
    }


def _brief(sources: Sources) -> dict[str, Any]:
    """Short strings for the values of coordinates: names of models without their options."""
    by_name = {}
    for path in sources.varied:
        words = [value for value in sources.frame[path].to_list() if isinstance(value, str)]
        if len(words) == len(sources) and (short := brief(words)) != words:
            by_name[path] = pack.column(short)
    return by_name


def _curves(sources: Sources) -> list[dict[str, Any]]:
    styles = looks([line.label for line in sources.lines])
    with_intervals = [si_units.in_units(each, sources.units) for each in (q.LATENCY, q.ACCEPTED, q.ENERGY)]
    curves, states = [], link_modes.of_all(sources.summaries)
    for line in sources.lines:
        style = styles[line.label]
        curves.append(
            {
                "panel": line.panel,
                "label": line.label,
                "load": [pack.rounded(load) for load in line.load],
                "over": line.over,
                "flaw": line.flaw,
                "points": line.points,
                "means": {
                    each.column: [pack.rounded(mean and mean.value) for mean in sources.means(line, each)]
                    for each in columns_shown.charted(sources.units, states)
                },
                "half": {each.column: _half_widths(sources, line, each) for each in with_intervals},
                "colour": style.line["color"],
                "dash": _DASHES[style.line["linestyle"]],
                "symbol": _SYMBOLS[style.full["marker"]],
            }
        )
    return curves


def _half_widths(sources: Sources, line: Line, quantity: Quantity) -> list[float | None]:
    """Half widths of the 95 % confidence intervals at the loads of a curve; ``None`` where unknown."""
    means = sources.means(line, quantity)
    return [None if mean is None or mean.half_width is None else pack.rounded(mean.half_width) for mean in means]


def _histograms(sources: Sources) -> list[dict[str, Any]]:
    """Number of packets by latency, for each point.

    If there are too many different latencies, neighbouring ones form one bin; the page gets the exact edges of each
    bin.
    """
    most = max(20, HISTOGRAM_BYTES // (11 * len(sources)))  # two numbers of up to four bytes each, in base64
    made = []
    for summary in sources.summaries:
        pairs = np.asarray(summary.get("latency_histogram") or [], dtype=np.int64).reshape(-1, 2)
        joined = -(-len(pairs) // most)
        if joined > 1:
            begin = np.arange(0, len(pairs), joined)
            last = np.append(begin[1:], len(pairs)) - 1
            pairs = np.stack([pairs[last, 0], np.add.reduceat(pairs[:, 1], begin)], axis=1)
        made.append(
            {"latency": pack.counts(pairs[:, 0]), "packets": pack.counts(pairs[:, 1]), "joined": max(joined, 1)}
        )
    return made


def _listing(sources: Sources, listing: Listing) -> dict[str, Any]:
    """The table of a list for each point. A table has no rows if it would only repeat the numbers of the point."""
    rows = [listing.entries(summary) for summary in sources.summaries]
    if sources.units == si_units.SI:
        listing = replace(listing, quantities=tuple(si_units.beside(listing.quantities, sources.units)))
        both = zip(rows, sources.summaries, strict=True)
        rows = [[_in_si(entry, summary) for entry in entries] for entries, summary in both]
    return _listed(listing, rows)


def _in_si(entry: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    """An entry of a list with added columns in SI units.

    If a word replaces a number, both columns have the word.
    """
    numbers = {name: None if isinstance(value, str) else value for name, value in entry.items()}
    twins = si_units.of_part(numbers, summary)
    words = {
        twin.column: entry[own.column] for own, twin in si_units.TWINS.items() if isinstance(entry.get(own.column), str)
    }
    return entry | twins | words


def _groups(sources: Sources) -> dict[str, Any]:
    """For each point, the groups of links with the most energy; empty if the table of groups is missing or damaged."""
    lists: list[list[dict[str, Any]]] = []
    for results, row in sources.places:
        lists.append([])
        if (results.folder(row) / "groups.parquet").is_file():
            with suppress(ResultsError):
                most = (
                    results.groups(row)
                    .top_k(columns_shown.MOST_GROUPS, by="energy_fj")
                    .sort("energy_fj", descending=True)
                )
                numbers = most.with_columns(cs.decimal().cast(pl.Float64))  # JSON has no decimal type
                lists[-1] = numbers.with_columns(energy_j=pl.col("energy_fj") * 1e-15).to_dicts()
    return _listed(columns_shown.GROUP_LISTING, lists)


def _listed(listing: Listing, lists: list[list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "name": listing.name,
        "caption": listing.caption,
        "key": listing.key,
        "head": listing.head,
        "columns": [columns_shown.described(each) for each in listing.quantities],
        "rows": [[_rounded(entry) for entry in entries] for entries in lists],
    }


def _stalls(sources: Sources) -> dict[int, str]:
    begin = 0
    texts: dict[int, str] = {}
    for results in sources.results:
        texts |= {begin + row: text for row, text in results.stalls}
        begin += len(results)
    return texts


def _waiting(sources: Sources) -> dict[int, list[list[int]]]:
    """Router and input port of each queue in the cycle of waiting packets, for each stuck point."""
    begin = 0
    found: dict[int, list[list[int]]] = {}
    for results in sources.results:
        for row, summary in enumerate(results.summaries):
            if stuck := summary.get("stall_wait_for"):
                routers = pl.Series([each["at"]["router"] for each in stuck])
                at = places(routers, results.network(row)["names"]).tolist()
                ports = [each["at"]["port"] for each in stuck]
                found[begin + row] = [list(queue) for queue in zip(at, ports, strict=True)]
        begin += len(results)
    return found


def _drawings(sources: Sources) -> dict[str, Any]:
    """Drawings of networks with their channels.

    If they do not fit for all points, the most interesting points come first.
    """
    gallery = Gallery(link_modes.of_all(sources.summaries))
    telling = _telling(sources)
    for number in telling:
        gallery.hang(number, *sources.places[number])
    kept = gallery.drawings
    return {
        "first": next((number for number in telling if number in kept.channels), 0),
        "networks": kept.networks,
        "channels": kept.channels,
        "frames": kept.frames,
        "histories": kept.histories,
        "unreadable": kept.unreadable,
        "crowded_out": kept.crowded_out,
    }


def _telling(sources: Sources) -> list[int]:
    """Indices of points in order of interest.

    The first points are those at the highest load below saturation of each curve. Then come the points at both ends and
    in the middle of each curve, and then all others.
    """
    ranks: dict[int, tuple[int, int]] = {}
    for line in sources.lines:
        steady = [place for place, over in enumerate(line.over) if not over]
        first = [steady[-1] if steady else 0, 0, len(line.load) - 1, len(line.load) // 2]
        order = list(dict.fromkeys([*first, *range(len(line.load))]))
        for rank, place in enumerate(order):
            for seed, point in enumerate(line.points[place]):
                ranks[point] = (seed, rank)
    return sorted(range(len(sources)), key=lambda point: (*ranks.get(point, (0, 0)), point))


def facts(sources: Sources) -> dict[str, Any]:
    """The strings of the page about all results together, such as its title and the number of points."""
    return {
        "title": ", ".join(sources.names),
        "points": len(sources),
        "questions": [_question(sources, each) for each, results in enumerate(sources.results) if len(results)],
        "sentences": answer.sentences(sources),
        "notes": [line for each in sources.results if len(each) for line in notes.lines(each)],
        "provenance": _provenance(sources),
    }


def _question(sources: Sources, each: int) -> dict[str, Any]:
    """The question that one set of results answers: the values that its scenario sets and its sweep varies."""
    results = sources.results[each]
    row, scenario = _first_scenario(results)
    places = [point["coordinates"] for point in results.points]
    paths = [path for path in results.coordinates if len({label(place[path], path) for place in places}) > 1]
    file = results.folder(row) / "scenario.yaml"
    return {
        "name": sources.names[each],
        "points": len(results),
        "chosen": [row for row in question.chosen(scenario, file) if row[0] not in paths],
        "swept": {path: _values([place[path] for place in places], path) for path in paths},
        "scenario": file.read_text(encoding="utf-8"),
    }


def _first_scenario(results: ResultSet) -> tuple[int, dict[str, Any]]:
    """Row number and scenario of the first point whose scenario can be read."""
    for row in range(len(results) - 1):
        with suppress(ResultsError):
            return row, results.scenario(row)
    return len(results) - 1, results.scenario(len(results) - 1)


def _provenance(sources: Sources) -> list[tuple[str, str]]:
    """Lines on when, how and on which machine the points were run."""
    summaries = sources.summaries
    runs = [run for results, row in sources.places if (run := results.run_info(row))]
    lines = [
        ("Weft", _each(summary.get("weft_version") for summary in summaries)),
        ("commit", _each(run.get("commit") for run in runs)),
        ("result model", _each(summary.get("result_model") for summary in summaries)),
        ("seed", _each(summary.get("seed") for summary in summaries)),
    ]
    for results, name in zip(sources.results, sources.names, strict=True):
        if results.command:
            lines.append((f"command of {name}" if len(sources.results) > 1 else "command", results.command))
    machines = [run.get("machine") or {} for run in runs]
    times = sorted(f"{run['started_utc'][:19]} UTC".replace("T", " ", 1) for run in runs if run.get("started_utc"))
    seconds = [run["seconds"] for run in runs if run.get("seconds") is not None]
    rates = sorted(run["flit_hops_per_second"] for run in runs if run.get("flit_hops_per_second"))
    lines += [
        ("machine", _each(_filled(each, cpu="{}", cores="{} cores", memory_gib="{:g} GiB") for each in machines)),
        ("system", _each(_filled(each, system="{}", python="Python {}") for each in machines)),
        ("threads", _each(run.get("threads") for run in runs)),
        ("started", " to ".join(dict.fromkeys(times[:1] + times[-1:]))),
    ]
    if seconds:
        lines.append(("computed in", f"{sum(seconds):.4g} s in total, the longest point {max(seconds):.4g} s"))
    if rates:
        lines.append(("speed", f"{rates[len(rates) // 2] / 1e6:.3g} million flit-hops/s (median)"))
    return [(name, words) for name, words in lines if words]


def _each(values: Any) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))


def _filled(values: dict[str, Any], **forms: str) -> str | None:
    """The known values as one string; ``None`` if no value is known."""
    return ", ".join(form.format(values[key]) for key, form in forms.items() if values.get(key) is not None) or None


def _values(swept: Sequence[Any], path: str) -> list[str]:
    """The labels of the values of a coordinate, each once.

    Numbers are in ascending order, other values in the order of the sweep.
    """
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in swept):
        swept = sorted(swept)
    return list(dict.fromkeys(label(value, path) for value in swept))
