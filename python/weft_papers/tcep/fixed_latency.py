"""Draws Fig. 1: run times of two applications on a network of fixed latency, computed by the LogGOPS executor.

This network delays each message by a fixed latency. Messages do not compete for links. A network interface sends and
receives at 15 GB/s, as Section V of the paper says. Messages take no processor time, and are eager (senders do not wait
for receivers).
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from weft import _engine
from weft_papers.common import bar_figures
from weft_papers.common.rules import WITHIN, Part, change_holds, change_words, generated, trend
from weft_papers.common.shared_programs import SCALES
from weft_papers.tcep.application_programs import (
    BIG_FFT,
    FULL_ITERATIONS,
    NEKBONE,
    QUICK_ITERATIONS,
    program,
)

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# Latencies of the network in Fig. 1 [us]; for each application, its name in the figure; transfer time of a byte at 15
# GB/s.
_LATENCIES_US = (1, 2, 4)
_WORKS = {NEKBONE: "Nekbone", BIG_FFT: "BigFFT"}
_BYTE = "66667fs"
# Printed increases of run times [share]: the minimum and the maximum if the latency rises from 1 to 2 us, and the
# increase of each application if the latency rises from 1 to 4 us.
_DOUBLED, _FOUR = (0.01, 0.03), {NEKBONE: 0.02, BIG_FFT: 0.11}
# Causes of missed claims. They name increases of run time with longer gaps (computing times), computed with `increase`
# for one iteration.
_CAUSES = {
    NEKBONE: "our gaps are short compared with the 27 latencies of an iteration: with gaps x 6 the increase is +2.0 %",
    BIG_FFT: "our gaps are short compared with the 32 latencies of an iteration: with gaps x 10 the increase is +10.5 "
    "%",
}
_CAUSE_DOUBLED = (
    "our gaps are short compared with the latencies: with gaps x 4 Nekbone has +1.0 %, with gaps x 12 BigFFT +3.0 %"
)


@cache
def _finish_ns(work: str, scale: float, latency_us: int, iterations: int) -> float:
    """Return the run time of an application on a network with a given latency [ns]."""
    made = _engine.make_program(work, json.dumps({"program": program(work, scale, iterations)}))
    zero = dict.fromkeys(("o", "g", "O"), "0ns")
    answer = made.loggops(json.dumps({**zero, "L": f"{latency_us}us", "G": _BYTE, "S": "1GB"}))
    return float(answer["finish_ns"])


def increase(work: str, scale: float, latency_us: int, *, quick: bool) -> float:
    """Return the increase of the run time if the latency rises from 1 us to `latency_us`, as a share."""
    iterations = QUICK_ITERATIONS if quick else FULL_ITERATIONS
    return _finish_ns(work, scale, latency_us, iterations) / _finish_ns(work, scale, 1, iterations) - 1


def figure(measured: Measured) -> Drawing:
    """Draw Fig. 1: run times relative to the run time at a latency of 1 us, with gaps of unchanged length."""
    bars = {
        f"{latency} µs": [1 + increase(work, 1.0, latency, quick=measured.quick) for work in _WORKS]
        for latency in _LATENCIES_US
    }
    title = "Fig. 1: run time by network latency, generated applications"
    return bar_figures.grouped(title, [*_WORKS.values()], bars, "Run time [that at 1 µs]")[0]


def remark(measured: Measured) -> str:
    """Return text on the increase of run times if the latency rises from 1 to 4 us, with each length of gaps."""
    lines = [
        f"{name} at gaps x {scale:g} {100 * increase(work, scale, 4, quick=measured.quick):+.1f} %"
        for work, name in _WORKS.items()
        for scale in SCALES
    ]
    return f"From 1 to 4 µs: {', '.join(lines)}."


def _doubled(measured: Measured) -> list[Part]:
    least, most = _DOUBLED
    parts = []
    for scale in SCALES:
        for work, name in _WORKS.items():
            found = increase(work, scale, 2, quick=measured.quick)
            holds = (1 - WITHIN) * least <= found <= (1 + WITHIN) * most
            parts.append(Part(holds, f"{name} at gaps x {scale:g}: {100 * found:+.1f} %"))
    return parts


def _quadrupled(work: str) -> Rule:
    printed = _FOUR[work]

    def judge(measured: Measured) -> list[Part]:
        found = {scale: increase(work, scale, 4, quick=measured.quick) for scale in SCALES}
        return [
            Part(change_holds(value, printed), f"gaps x {scale:g}: {100 * value:+.1f} %")
            for scale, value in found.items()
        ]

    return generated(trend(f"{change_words(printed)}, at gaps x 0.5, 1 and 2", judge, cause=_CAUSES[work]))


RULES: dict[str, Rule] = {
    "T-012": generated(trend("within 10 % of 1 to 3 %, at gaps x 0.5, 1 and 2", _doubled, cause=_CAUSE_DOUBLED)),
    "T-013": _quadrupled(NEKBONE),
    "T-014": _quadrupled(BIG_FFT),
}
