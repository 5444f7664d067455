"""Lists the paper's experiments and our additional experiments, with the smaller networks of a quick run."""

from __future__ import annotations

from typing import Any

from weft_papers.common.paper import Experiment
from weft_papers.congestion import application_runs, one_factor
from weft_papers.congestion.hot_spot_networks import DRAGONFLY, NETWORKS, SMALL, TORUS, TREE

FILL, READINGS, TERMINALS = "fill", "readings", "terminals"
COMBINATIONS, BUFFERS, OWN = "combinations", "buffers", "own"

_SHORT: dict[str, Any] = {"measure.warmup": "200us", "measure.window": "400us", "sweep.seed": [1]}
_SCALED = "a smaller network of the same shape, one seed"


def _zipped(*networks: str) -> dict[str, Any]:
    """Return the overrides for a quick run of a scenario with several networks: smaller networks and shorter runs."""
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
    *one_factor.EXPERIMENTS,
    *(Experiment(each) for each in (COMBINATIONS, BUFFERS, OWN)),
    application_runs.EXPERIMENT,
)
