"""Families of topologies whose cost, links, diameter and other numbers are computed by formula.

Each family has one file, and one line in this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.design.families import dragonflies, fat_trees, flex_layers, hamming, k_ary_trees, slim_flies, tori

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.design.plan import Family

# The module of each family, by the name of its topology in a scenario.
FAMILIES: Mapping[str, Family] = {
    "dragonfly": dragonflies,
    "fat_tree": fat_trees,
    "flex": flex_layers,
    "hyperx": hamming,
    "k_ary_n_tree": k_ary_trees,
    "slim_fly": slim_flies,
    "torus": tori,
}
