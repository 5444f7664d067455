"""Converts the phases of a BookSim2 run (warm-up, samples, drain), batches, and repeated runs."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING

from weft_peers.expressible import amount

if TYPE_CHECKING:
    from weft_peers.booksim.draft import Draft

# BookSim2 ends its measurement when this number of consecutive samples have similar results.
_AGREEING = 3
# Minimum length of a window [cycles]: Weft divides a window into batches to compute a confidence interval.
_LEAST = 10


def measure(draft: Draft) -> None:
    """Add the warm-up, window and drain of a run to the draft of the scenario."""
    config = draft.config
    if "sim_type" in config.of_device:
        return
    if config.choose("sim_type", ("latency", "throughput", "batch")) == "batch":
        draft.put("measure", {"warmup": "0cycles", "stop": "complete"}, "sim_type")
        _repeat(draft, "sim_count", "batch_count")
    else:
        _phases(draft)
        _repeat(draft, "sim_count")
    if config.whole("include_queuing") != 1:
        text = "the packet latency includes the time in the source queue; the network latency does not"
        draft.approximate("include_queuing", text)
    if "channel_width" in config.given:
        draft.put("flit", f"{config.at_least('channel_width', 1)}b", "channel_width")
    if config.whole("sim_power"):
        draft.approximate("sim_power", "energy covers the links, by power state; routers have no price")


def _phases(draft: Draft) -> None:
    config = draft.config
    period, warmups = config.at_least("sample_period", 1), config.whole("warmup_periods")
    most = config.whole("max_samples")
    if max(warmups, 1) >= most:
        what = f"{warmups} periods of warm-up leave no samples to measure, because max_samples = {most}"
        config.fail("warmup_periods", what, f"write max_samples = {max(warmups, 1) + _AGREEING};")
    samples = min(_AGREEING, most - max(warmups, 1))
    if samples * period < _LEAST:
        what = f"{samples} samples are {samples * period} cycles, too few for a confidence interval"
        config.fail("sample_period", what, f"write sample_period = {ceil(_LEAST / samples)}; or more")
    phases = {
        "warmup": amount(warmups * period, "cycle") if warmups > 0 else "auto",
        "window": amount(samples * period, "cycle"),
    }
    why = f"the window has {samples} samples, the minimum of BookSim2"
    draft.put("measure", phases, "warmup_periods", "sample_period", "max_samples", why=why)
    if warmups <= 0:
        draft.approximate("warmup_periods", "the warm-up ends when the latencies have settled by the MSER rule")


def _repeat(draft: Draft, *keys: str) -> None:
    """Set the seed or seeds.

    BookSim2 repeats a run with other random numbers; the product of these keys is the number of runs.
    """
    config = draft.config
    count = prod(config.at_least(key, 1) for key in keys)
    if config.text("seed"):
        draft.approximate("seed", "the seed is 1, so runs are repeatable")
        first = 1
    else:
        first = config.whole("seed")
        if first < 0:
            first = -first
            draft.approximate("seed", f"seeds must be 0 or more: it is {first}")
    draft.put(
        "seed", first, "seed", why="the random numbers are different: runs agree as well as runs with different seeds"
    )
    if count > 1000:
        most = max(keys, key=config.whole)
        config.fail(
            most, f"{count} runs are too many cycles", f"write {most} = {1000 * config.whole(most) // count}; or less"
        )
    if count > 1:
        draft.put(
            "sweep",
            {"seed": list(range(first, first + count))},
            *keys,
            why="Weft makes a point for each run, without averages",
        )
