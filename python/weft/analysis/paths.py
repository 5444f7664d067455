"""Counts the paths over the active links of a fully connected subnetwork in which some links are off.

Source: TCEP (ISCA 2018), section III-C, Figs. 3 and 4. A pair of routers can use its direct link, and every two-hop
path over another router. The root network, which consists of all links of a hub, is always active. The other active
links are either concentrated or drawn at random. Concentrated links are added in the order of router numbers: first all
links of the lowest router, then all links of the next one.

Adjacency matrices are boolean, symmetric, with a false diagonal; shape (..., R, R) for R routers.
"""

from __future__ import annotations

import math
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Active = npt.NDArray[np.bool_]

# Kinds of counts. Each count is a sum over all pairs of routers. Weft computes all these counts, because the paper does
# not say which one its figures show.
COUNTS = {
    "all": "direct and two-hop paths",
    "two_hop": "two-hop paths",
    "two_hop_unlinked": "two-hop paths of pairs without an active link",
    "at_most_two": "direct and two-hop paths, at most two per pair",
}
# Maximum number of routers in a subnetwork, because each placement of links needs a matrix of routers x routers.
MOST_ROUTERS = 256
# Maximum number of entries of adjacency matrices that are in memory at the same time.
_CHUNK = 1 << 22
# Maximum number of placements of links that are examined if every placement is requested.
_PLACEMENTS = 200_000


def optional_links(routers: int, hub: int = 0) -> npt.NDArray[np.int64]:
    """Links that do not belong to the star of the hub, in the order in which concentration adds them; shape (links, 2).

    Raises
    ------
    WeftError
        If there are fewer than three routers, or no router `hub`.
    """
    if routers < 3 or not 0 <= hub < routers:
        what = f"{routers} routers with router {hub} as the hub: there are no links to choose in addition to the star"
        raise WeftError.saying(what, "write 3 or more routers, and a hub from 0 to the last router")
    others = [router for router in range(routers) if router != hub]
    return np.array(list(combinations(others, 2)), dtype=np.int64)


def star(routers: int, hub: int = 0) -> Active:
    """Adjacency matrix of the root network, which is the star of all links of the hub."""
    active = np.zeros((routers, routers), dtype=bool)
    active[hub, :] = active[:, hub] = True
    active[hub, hub] = False
    return active


def with_links(routers: int, links: npt.ArrayLike, hub: int = 0) -> Active:
    """Adjacency matrices of the star and the further links `links`.

    If `links` has shape (..., x, 2), the result has shape (..., R, R).
    """
    pairs = np.asarray(links, dtype=np.int64)
    leading = pairs.shape[:-2]
    flat = pairs.reshape(math.prod(leading), *pairs.shape[-2:])
    active = np.broadcast_to(star(routers, hub), (len(flat), routers, routers)).copy()
    sample = np.arange(len(flat))[:, None]
    active[sample, flat[..., 0], flat[..., 1]] = True
    active[sample, flat[..., 1], flat[..., 0]] = True
    return active.reshape(*leading, routers, routers)


def concentrated(routers: int, more: int, hub: int = 0) -> Active:
    """Adjacency matrix of the star and `more` further links, starting with the links of the lowest routers."""
    return with_links(routers, optional_links(routers, hub)[: _checked(routers, more)], hub)


def at_random(routers: int, more: int, samples: int, seed: int = 1, hub: int = 0) -> Active:
    """Adjacency matrices of the star and `more` random links; each sample draws its links separately.

    The result has the shape (samples, R, R).
    """
    optional, more = optional_links(routers, hub), _checked(routers, more)
    draws = np.random.default_rng([seed, more]).random((samples, len(optional)))
    if more < len(optional):
        chosen = np.argpartition(draws, more, axis=1)[:, :more]
    else:
        chosen = np.broadcast_to(np.arange(more), (samples, more))
    return with_links(routers, optional[chosen], hub)


def _checked(routers: int, more: int) -> int:
    most = (routers - 1) * (routers - 2) // 2
    if not 0 <= more <= most:
        what = f"{more} links in addition to the star: {routers} routers have {routers * (routers - 1) // 2} links, "
        raise WeftError.saying(f"{what}{most} of them not in the star", f"write 0 to {most}")
    return more


def whole_hubs(routers: int) -> list[int]:
    """Numbers of links (in addition to the star) at which 0, 1, 2, ... further routers have all their links."""
    return list(accumulate(range(routers - 2, 0, -1), initial=0))


def count(active: Active) -> dict[str, npt.NDArray[np.int64]]:
    """Number of paths summed over all pairs of routers, for each kind of path in `COUNTS`.

    Each array has the shape of `active` without its last two axes.
    """
    routers = active.shape[-1]
    flat = active.reshape(-1, routers, routers)
    step = max(1, _CHUNK // routers**2)
    parts = [_count(flat[first : first + step]) for first in range(0, len(flat), step)]
    leading = active.shape[:-2]
    return {name: np.concatenate([part[name] for part in parts]).reshape(leading) for name in COUNTS}


def _count(active: Active) -> dict[str, npt.NDArray[np.int64]]:
    direct, two = _of_pairs(active)

    def total(paths: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        sums: npt.NDArray[np.int64] = paths.sum(axis=-1, dtype=np.float64).astype(np.int64)
        return sums

    return {
        "all": total(direct + two),
        "two_hop": total(two),
        "two_hop_unlinked": total(two * (1 - direct)),
        "at_most_two": total(np.minimum(direct + two, 2)),
    }


def _of_pairs(active: Active) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Number of direct and of two-hop paths of each pair of routers; both of shape (samples, pairs)."""
    row, column = np.triu_indices(active.shape[-1], 1)
    # floats count up to 2^24 paths per pair exactly, and are several times as fast as integers
    links = active.astype(np.float32)
    return links[..., row, column], (links @ links)[..., row, column]


def least(active: Active) -> dict[str, npt.NDArray[np.int64]]:
    """Fewest paths of any pair (``paths``), and fewest two-hop paths of a pair without a link (``two_hop_unlinked``).

    If all pairs have an active link, ``two_hop_unlinked`` is R - 2, the maximum.
    """
    routers = active.shape[-1]
    direct, two = _of_pairs(active.reshape(-1, routers, routers))
    unlinked = np.where(direct > 0, routers - 2, two)
    leading = active.shape[:-2]
    return {
        "paths": (direct + two).min(axis=-1).astype(np.int64).reshape(leading),
        "two_hop_unlinked": unlinked.min(axis=-1).astype(np.int64).reshape(leading),
    }


def every_placement(routers: int, more: int, hub: int = 0) -> npt.NDArray[np.int64]:
    """All ways to place `more` links beyond the star; shape (placements, more, 2).

    Raises
    ------
    WeftError
        If there are too many placements.
    """
    optional = optional_links(routers, hub)
    number = math.comb(len(optional), _checked(routers, more))
    if number > _PLACEMENTS:
        what = f"there are {number} placements of {more} of {len(optional)} links, more than {_PLACEMENTS}"
        raise WeftError.saying(what, "use random samples")
    chosen = np.array(list(combinations(range(len(optional)), more)), dtype=np.int64)
    placements: npt.NDArray[np.int64] = optional[chosen.reshape(number, more)]
    return placements


def most_even(placements: npt.NDArray[np.int64], routers: int) -> npt.NDArray[np.int64]:
    """Chooses the placement that is spread most evenly over the routers; shape (more, 2).

    The placement minimises the largest number of added links at a router. Among placements with the same largest
    number, the chosen one gives an added link to the most routers.
    """
    degrees = np.zeros((len(placements), routers), dtype=np.int64)
    for end in (0, 1):
        np.add.at(degrees, (np.arange(len(placements))[:, None], placements[..., end]), 1)
    best: npt.NDArray[np.int64] = placements[np.lexsort((-(degrees > 0).sum(axis=1), degrees.max(axis=1)))[0]]
    return best


def over_fraction(
    routers: int, samples: int | None, seed: int = 1, *, hub: int = 0, more: Sequence[int] | None = None
) -> pl.DataFrame:
    """Compares path counts of concentrated and random links, from the star alone to the full network.

    Parameters
    ----------
    routers : int
        Routers of the subnetwork.
    samples : int or None
        Number of random placements for each number of links; ``None`` examines every placement once.
    seed : int
        Seed of the random placements.
    hub : int
        Router whose links form the star.
    more : sequence of int, optional
        Numbers of active links in addition to the star; by default the numbers at which 0, 1, 2, ... further routers
        have all their links.

    Returns
    -------
    polars.DataFrame
        A row per number of links and kind of path, with these columns:

        - ``active_links``, ``active_share``: number of active links, and their share of all links.
        - ``count``: the kind of path, as in `COUNTS`.
        - ``concentrated``: number of paths with concentrated links.
        - ``random_mean``, ``random_min``, ``random_max``: number of paths with random links.
        - ``ratio``, ``ratio_to_min``, ``ratio_to_max``: ``concentrated`` divided by the mean, minimum and maximum of
          the random links; null if this number is 0.

    Raises
    ------
    WeftError
        If there are too few routers or more than `MOST_ROUTERS`, if there is no router `hub`, or if `more` contains a
        number above the number of links outside the star.
    """
    if routers > MOST_ROUTERS:
        what = f"paths of {routers} routers: {routers * (routers - 1) // 2:,} links do not fit into memory"
        raise WeftError.saying(what, f"write {MOST_ROUTERS} routers or fewer")
    optional = len(optional_links(routers, hub))
    rows = []
    for links in whole_hubs(routers) if more is None else more:
        if samples is None:
            others = with_links(routers, every_placement(routers, links, hub), hub)
        else:
            others = at_random(routers, links, samples, seed, hub)
        dense, drawn = count(concentrated(routers, links, hub)), count(others)
        active = routers - 1 + links
        place: dict[str, Any] = {"active_links": active, "active_share": active / (routers - 1 + optional)}
        rows += [place | {"count": name} | _against(int(dense[name]), drawn[name]) for name in COUNTS]
    return pl.DataFrame(rows, infer_schema_length=None)


def _against(dense: int, drawn: npt.NDArray[np.int64]) -> dict[str, float | int | None]:
    mean, low, high = float(drawn.mean()), int(drawn.min()), int(drawn.max())
    ratios = {"ratio": mean, "ratio_to_min": low, "ratio_to_max": high}
    values = {"concentrated": dense, "random_mean": mean, "random_min": low, "random_max": high}
    return values | {name: dense / of if of else None for name, of in ratios.items()}
