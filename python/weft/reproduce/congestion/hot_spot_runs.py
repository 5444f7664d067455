"""The experiments of the paper, and the smaller networks of a quick run."""

from __future__ import annotations

from typing import Any

from weft.reproduce.common.paper import Experiment

TORUS, TREE, DRAGONFLY, FILL, READINGS, TERMINALS = "torus", "tree", "dragonfly", "fill", "readings", "terminals"
# The three networks, in the order of Figs. 1 to 3.
NETWORKS = (TORUS, TREE, DRAGONFLY)

# Networks of the same shape for a quick run: 240, 256 and 342 nodes.
SMALL: dict[str, dict[str, Any]] = {
    TORUS: {"torus": {"widths": [8, 6, 5], "terminals_per_router": 1}},
    TREE: {"k_ary_n_tree": {"k": 4, "n": 4}},
    DRAGONFLY: {"dragonfly": {"routers_per_group": 6, "terminals_per_router": 3, "global_links_per_router": 3}},
}
_SHORT: dict[str, Any] = {"measure.warmup": "200us", "measure.window": "400us", "sweep.seed": [1]}
_SCALED = "a smaller network of the same shape, one seed"


def _zipped(*networks: str) -> dict[str, Any]:
    """Small networks in place of those of a scenario that joins several."""
    return _SHORT | {"zip.topology": [SMALL[each] for each in networks]}


EXPERIMENTS = (
    *(Experiment(each, (_SHORT | {"topology": SMALL[each]},), scaled=_SCALED) for each in NETWORKS),
    Experiment(
        FILL,
        (
            {
                "topology": SMALL[DRAGONFLY],
                "sweep.measure.window": ["10us", "40us", "200us", "600us"],
                "sweep.seed": [1],
            },
        ),
        scaled=_SCALED,
    ),
    Experiment(READINGS, (_zipped(TORUS, TREE, TREE, TREE),), scaled=_SCALED),
    Experiment(TERMINALS, (_zipped(*(each for each in NETWORKS for _ in range(2))),), scaled=_SCALED),
)
