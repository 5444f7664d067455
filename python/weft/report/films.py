"""Makes films for the drawing of a network. Each picture of a film has the flits and power state of every channel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._engine import LINK_STATES
from weft.report import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from weft.results.result_set import ResultSet

    Ints = NDArray[np.int64]

# Maximum sizes: bytes of all films of a report together, bytes of one film, and number of pictures (time intervals) of
# one film.
BYTES = 1_100_000
_OF_ONE = 1_000_000
_PICTURES = 240
# State that a film stores if states were not recorded. If all channels always have this state, the page shows no
# states.
_ON = LINK_STATES.index("on")


class Budget:
    """Makes films until the bytes that a report reserves for films are used up.

    `states` is the list of power states of the report. Films store the index of a state in this list.
    """

    def __init__(self, states: Sequence[str]) -> None:
        self._states = states
        self._left = BYTES

    def film(self, order: Ints, results: ResultSet, row: int) -> dict[str, Any] | None:
        """The film of a point; ``None`` if nothing was recorded per channel, or if no bytes are left for films."""
        # in each picture a channel takes at most two bytes for flits and one for its state; base64 turns three bytes
        # into four
        pictures = min(_PICTURES, min(_OF_ONE, self._left) // (4 * max(1, len(order))))
        if pictures < 2:
            return None
        folder, states = results.folder(row), self._states
        if (folder / "series.parquet").is_file():
            series = results.series(row)
            made = of_series(series, order, pictures, states) if "channel" in series.columns else None
        else:
            made = None
        if made is None and (folder / "link_states.parquet").is_file():
            made = of_spans(results.link_states(row), order, pictures, states)
        if made is not None:
            self._left -= len(json.dumps(made))
        return made


def of_series(series: pl.DataFrame, order: Ints, pictures: int, states: Sequence[str]) -> dict[str, Any]:
    """A film with one picture per sample.

    If there are too many samples, neighbouring ones are merged: flits are added, and the last state is shown.
    """
    channels = int(series["channel"].n_unique())
    samples = series.height // channels
    merged = -(-samples // pictures)
    begin = np.arange(0, samples, merged)

    def table(values: Any) -> Ints:
        return np.asarray(values, dtype=np.int64).reshape(samples, channels)

    def taken(values: Ints) -> Ints:
        padded = np.concatenate([values, np.zeros((len(values), 1), dtype=np.int64)], axis=1)
        return padded[:, order]

    flits = np.add.reduceat(table(series["flits"]), begin, axis=0)
    length = np.add.reduceat(table(series["interval_cycles"])[:, 0], begin)
    state = np.full((samples, channels), _ON)
    for number, name in enumerate(states):
        if f"channels_{name}" in series.columns:  # other points may have other power states
            state[table(series[f"channels_{name}"]) > 0] = number
    last = np.append(begin[1:], samples) - 1
    return _film(table(series["from_cycle"])[begin, 0], length, merged, taken(flits), taken(state[last]))


def of_spans(spans: pl.DataFrame, order: Ints, pictures: int, states: Sequence[str]) -> dict[str, Any] | None:
    """A film with one picture per interval; all intervals have equal lengths.

    A picture shows the states at the end of its interval.
    """
    if spans.is_empty():
        return None
    end = int(spans["to_cycle"].to_numpy().max())
    edges = np.linspace(0, end, min(pictures, end) + 1).astype(np.int64)
    spans = spans.sort("channel", "to_cycle")
    channel, begin, stop = (spans[name].to_numpy().astype(np.int64) for name in ("channel", "from_cycle", "to_cycle"))
    numbers = spans["state"].replace_strict(list(states), range(len(states))).to_numpy().astype(np.int64)
    # spans are times in which a channel is in one state. The picture shows the state in the last cycle of its interval:
    # the state of the first span that ends after this cycle.
    asked = order[None, :] * (end + 1) + edges[1:, None] - 1
    span = np.minimum(np.searchsorted(channel * (end + 1) + stop, asked, side="right"), len(channel) - 1)
    inside = (channel[span] == order[None, :]) & (begin[span] < edges[1:, None])
    return _film(edges[:-1], np.diff(edges), 1, None, np.where(inside, numbers[span], _ON))


def _film(begin: Ints, length: Ints, merged: int, flits: Ints | None, state: Ints) -> dict[str, Any]:
    return {
        "pictures": len(begin),
        "merged": merged,
        "from_cycle": pack.counts(begin),
        "cycles": pack.counts(length),
        "flits": None if flits is None else pack.counts(flits.ravel()),
        "state": pack.counts(state.ravel()) if (state != _ON).any() else None,
    }
