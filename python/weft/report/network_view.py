"""Collects the drawings of networks in a report: positions of routers, links, and the traffic of channels at points."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from weft.errors import WeftError
from weft.report import films, pack
from weft.report.history import Histories
from weft.report.layout import lay_out
from weft.results import link_modes
from weft.results.router_places import placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from weft.results.result_set import ResultSet

    Ints = NDArray[np.int64]

# Maximum number of links in the drawing of a network, and maximum number of bytes for the channels of all points.
MOST_LINKS = 30_000
BYTES = 1_500_000


@dataclass
class Network:
    """A network in the form in which the scripts of the page draw it.

    Attributes
    ----------
    page : dict
        Data of the network for the page.
    order : array of int
        Indices of the channels in the order in which the page stores them: the channel in one direction of each link,
        then those in the opposite direction (-1 if a link has no such channel).
    """

    page: dict[str, Any]
    order: Ints


def build(network: Mapping[str, Any], channels: pl.DataFrame) -> Network:
    """Place the routers of a network, and collect its links.

    Parameters
    ----------
    network : mapping
        The network, as returned by `weft._engine.Point.network`.
    channels : polars.DataFrame
        Channels of a point. If the page cannot draw all links, it draws the links with the most flits.
    """
    names = network["names"]
    links = _links(placed(channels, names))
    left_out = max(0, links.height - MOST_LINKS)
    if left_out:
        links = links.sort("flits", descending=True).head(MOST_LINKS).sort("channel")
    routers = network["router_count"]
    ends = [links[name].to_numpy().astype(np.int64) for name in ("from_router", "to_router")]
    drawn = lay_out(network, routers, *ends)
    classes = links["link_class"].unique(maintain_order=True).to_list()
    page = {
        "topology": network["topology"],
        "kind": network["kind"],
        "routers": routers,
        "names": names,
        "coordinates": network["routers"],
        "x": pack.floats(drawn.x),
        "y": pack.floats(drawn.y),
        "bend": pack.floats(drawn.bend),
        "words": drawn.words,
        "links": links.height,
        "left_out": left_out,
        "from": pack.counts(ends[0]),
        "to": pack.counts(ends[1]),
        "from_port": pack.counts(links["from_port"]),
        "to_port": pack.counts(links["to_port"]),
        "class": pack.counts([classes.index(name) for name in links["link_class"]]),
        "classes": classes,
        # index + 1: 0 means no channel, because negative numbers can't be stored
        "forward": pack.counts(links["channel"] + 1),
        "backward": pack.counts(links["back"].fill_null(-1) + 1),
    }
    order = np.concatenate([links["channel"].to_numpy(), links["back"].fill_null(-1).to_numpy()]).astype(np.int64)
    return Network(page, order)


def _links(channels: pl.DataFrame) -> pl.DataFrame:
    """A row per link between routers, with its channel in each direction.

    The opposite channel is null if the link has only one direction.
    """
    between = channels.filter(pl.col("from_router").is_not_null() & pl.col("to_router").is_not_null())
    keys = ["from_router", "from_port", "to_router", "to_port"]
    back = between.select(
        pl.col("channel").alias("back"),
        pl.col("flits").alias("back_flits"),
        *(pl.col(key).alias(turned) for key, turned in zip(keys, [*keys[2:], *keys[:2]], strict=True)),
    )
    both = between.join(back, on=keys, how="left", maintain_order="left")
    once = both.filter(pl.col("back").is_null() | (pl.col("channel") <= pl.col("back")))
    return once.with_columns(pl.col("flits") + pl.col("back_flits").fill_null(0))


def of_point(network: Network, channels: pl.DataFrame, states: Sequence[str]) -> dict[str, Any]:
    """Flits and power states of the channels of a point in the measured window.

    Power states are left out if no channel was ever in them.
    """

    def take(name: str) -> Ints:
        values = np.append(channels[name].to_numpy(), 0)  # index -1 (no channel) reads this zero
        taken: Ints = values[network.order]
        return taken

    cycles = {state: take(f"cycles_{state}") for state in states}
    energy = (channels["energy_fj"] * 1e-15).to_numpy()
    kept_states = {state: pack.counts(values) for state, values in cycles.items() if values.any()}
    return {
        "flits": pack.counts(take("flits")),
        "bandwidth": pack.floats(take("bandwidth")),
        "transitions": pack.counts(take("transitions")),
        "energy_j": pack.floats(np.append(energy, 0.0)[network.order]),
        "cycles": kept_states,
        "terminals": _terminals(network, channels),
    }


def _terminals(network: Network, channels: pl.DataFrame) -> dict[str, str]:
    """Number of terminals of each router, and number of flits that these terminals sent and received."""
    routers = network.page["routers"]
    columns = {}
    channels = placed(channels, network.page["names"])
    for name, end in (("injected", "to_router"), ("ejected", "from_router")):
        side = channels.filter(pl.col("terminal").is_not_null() & pl.col(end).is_not_null())
        at = side[end].to_numpy()
        columns[name] = pack.counts(
            np.bincount(at, weights=side["flits"].to_numpy(), minlength=routers).astype(np.int64)
        )
        columns["count"] = pack.counts(np.bincount(at, minlength=routers))
    return columns


@dataclass
class Drawings:
    """Drawings of networks, and of the channels of as many points as fit.

    Attributes
    ----------
    networks : list of dict
        The different networks of the points.
    channels, frames, histories : dict
        Three mappings, all by the index of a point. `channels`: traffic and states of the point's channels in the
        window, and the index of its network. `frames`: the film of its channels. `histories`: curves of its link
        classes over time.
    unreadable : dict
        Reasons why points could not be drawn.
    crowded_out : int
        Number of points without a drawing, because the page would become too large.
    """

    networks: list[dict[str, Any]] = field(default_factory=list)
    channels: dict[int, dict[str, Any]] = field(default_factory=dict)
    frames: dict[int, dict[str, Any]] = field(default_factory=dict)
    histories: dict[int, dict[str, Any]] = field(default_factory=dict)
    unreadable: dict[int, str] = field(default_factory=dict)
    crowded_out: int = 0


class Gallery:
    """Collects the drawings of a report; points with the same topology share the drawing of the network."""

    def __init__(self, states: Sequence[str]) -> None:
        self.drawings = Drawings()
        self._built: list[Network] = []
        self._known: dict[str, int] = {}
        self._left = BYTES
        self._films = films.Budget(states)
        self._histories = Histories()

    def hang(self, number: int, results: ResultSet, row: int) -> None:
        """Add the channels of point `number` of the report, if enough bytes are left."""
        if self._left <= 0:
            self.drawings.crowded_out += 1
            return
        try:
            channels = results.channels(row)
            known = self._network(results, row, channels)
            film = self._films.film(self._built[known].order, results, row)
            history = self._histories.of(results, row, channels)
        except WeftError as problem:
            self.drawings.unreadable[number] = problem.what
            return
        page = {"network": known, **of_point(self._built[known], channels, link_modes.of(results.summaries[row]))}
        self._left -= len(json.dumps(page))
        self.drawings.channels[number] = page
        if film is not None:
            self.drawings.frames[number] = film
        if history is not None:
            self.drawings.histories[number] = history

    def _network(self, results: ResultSet, row: int, channels: pl.DataFrame) -> int:
        """Index of the network of a point. Each network is drawn for the first point that has it."""
        scenario = results.scenario(row)
        key = json.dumps([scenario["topology"], sorted(scenario["links"])])
        if key not in self._known:
            built = build(results.network(row), channels)
            self._known[key] = len(self._built)
            self._built.append(built)
            self.drawings.networks.append(built.page)
        return self._known[key]
