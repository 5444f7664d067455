"""Defines the networks of Figs. 1 to 3 of the paper, and smaller and larger networks of the same shapes."""

from __future__ import annotations

from typing import Any

TORUS, TREE, DRAGONFLY = "torus", "tree", "dragonfly"
# The paper's three networks, in the order of Figs. 1 to 3.
NETWORKS = (TORUS, TREE, DRAGONFLY)
NAMES = {TORUS: "3D torus", TREE: "k-ary n-tree", DRAGONFLY: "dragonfly"}

# Networks for a quick run: 240, 256 and 342 nodes, about a quarter as many as in the paper.
SMALL: dict[str, dict[str, Any]] = {
    TORUS: {"torus": {"widths": [8, 6, 5], "terminals_per_router": 1}},
    TREE: {"k_ary_n_tree": {"k": 4, "n": 4}},
    DRAGONFLY: {"dragonfly": {"routers_per_group": 6, "terminals_per_router": 3, "global_links_per_router": 3}},
}
# Networks of 4,224, 4,096 and 4,128 nodes, four times as many as in the paper.
LARGE: dict[str, dict[str, Any]] = {
    TORUS: {"torus": {"widths": [24, 22, 8], "terminals_per_router": 1}},
    TREE: {"k_ary_n_tree": {"k": 4, "n": 6}},
    DRAGONFLY: {
        "dragonfly": {
            "groups": 129,
            "routers_per_group": 8,
            "terminals_per_router": 4,
            "global_links_per_router": 16,
        }
    },
}
# Networks of 120, 64 and 72 nodes, for experiments with many runs in parallel.
SMALLEST: dict[str, dict[str, Any]] = {
    TORUS: {"torus": {"widths": [6, 5, 4], "terminals_per_router": 1}},
    TREE: {"k_ary_n_tree": {"k": 4, "n": 3}},
    DRAGONFLY: {"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}},
}
