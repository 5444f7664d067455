"""When jobs were complete: a bar per job that sends a batch, and per point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.patches import Patch

from weft.errors import ResultsError
from weft.plot import numbers, style
from weft.plot.kinds import KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice

_MOST = len(style.HATCHES)


def figure(choice: Choice) -> Figure:
    """A bar per job and point. A job that was not complete when the run ended has a note of its progress instead."""
    spots = choice.spots(_MOST)
    jobs = [{job["job"]: job for job in spot.summary["jobs"] if job["batch_packets"] is not None} for spot in spots]
    names = sorted(dict.fromkeys(name for each in jobs for name in each), key=choice.appearance.rank)
    if not names:
        what = f"{choice.title}: no job sends a batch"
        raise ResultsError.saying(what, f"set {KINDS['jobs'].needs} and run the point again")
    handles = [Patch(label=spot.label, **style.fill(number)) for number, spot in enumerate(spots) if spot.label]
    height = 0.6 + 0.22 * len(names) * max(1.5, len(spots))
    drawing = style.canvas(choice.title, handles, width=style.COLUMN, height=height)
    axes = drawing.add_subplot()
    thick = 0.8 / len(spots)
    for number, (spot, each) in enumerate(zip(spots, jobs, strict=True)):
        shift = (number - (len(spots) - 1) / 2) * thick
        done = {name: job for name, job in each.items() if job["completion_cycles"] is not None}
        places = [names.index(name) + shift for name in done]
        cycles = [job["completion_cycles"] for job in done.values()]
        axes.barh(places, cycles, height=thick, label=spot.label, **style.fill(number))
        for place, job in zip(places, done.values(), strict=True):
            if dropped := job.get("batch_dropped_packets"):
                axes.text(0, place, f" {dropped} of {job['batch_packets']} packets dropped", va="center", fontsize=6.5)
        for name in each.keys() - done.keys():
            job = each[name]
            words = f" {job['batch_delivered_packets']} of {job['batch_packets']} packets delivered"
            axes.text(0, names.index(name) + shift, words, va="center", fontsize=6.5)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("Completion [cycles]")
    axes.grid(visible=False, axis="y")
    kept = ("job", "completion_cycles", "batch_packets", "batch_delivered_packets")
    drawing.numbers = numbers.of_series(
        (spot.label, pl.DataFrame([{key: job[key] for key in kept} for job in each.values()]))
        for spot, each in zip(spots, jobs, strict=True)
    )
    return drawing
