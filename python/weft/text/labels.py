"""Reads values of a scenario by dotted path, and converts values to short labels."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# Maximum length of a list whose label shows all entries. The label of a longer list shows their number and a checksum.
_LISTED = 16


def at(tree: Any, path: str) -> Any:
    """The value at a dotted path of nested dicts; ``None`` if the path does not exist."""
    for key in path.split("."):
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree


def label(value: Any, path: str = "") -> str:
    """Short text for a value: ``{"ugal_p": {}}`` becomes ``ugal_p``. Options of a model follow its name in brackets.

    `path` is the path of the value in the scenario: only a list under the key ``widths`` is written as ``8x8``. The
    label of a long list has the number of its entries, and a checksum that distinguishes it from other lists of this
    length.

    Examples
    --------
    >>> label({"ugal_p": {"threshold": "2flits"}})
    'ugal_p(threshold 2flits)'
    >>> label([8, 8], "topology.torus.widths"), label([8, 8])
    ('8x8', '8, 8')
    >>> label({"links": [[0, router] for router in range(1, 32)]})
    'links (31 entries, 14a1)'
    >>> label([])
    'none'
    """
    if isinstance(value, dict) and len(value) == 1:
        (name, options), *_ = value.items()
        if isinstance(options, dict):
            return f"{name}({', '.join(f'{key} {label(o, key)}' for key, o in options.items())})" if options else name
    if isinstance(value, dict):
        return ", ".join(f"{key} {label(option, key)}" for key, option in value.items()) or "{}"
    if value is None:
        return "-"
    if isinstance(value, list):
        return _of_list(value, "x" if path.rpartition(".")[2] == "widths" else ", ")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _of_list(values: list[Any], between: str) -> str:
    if not values:
        return "none"
    if len(values) <= _LISTED:
        return between.join(map(label, values))
    return f"({len(values)} entries, {zlib.crc32(repr(values).encode()) & 0xFFFF:04x})"


def brief(labels: Sequence[str]) -> list[str]:
    """Shorter labels of models: without options, if the names alone distinguish the models.

    A label keeps its options if another label has the same name.

    Examples
    --------
    >>> brief(["ugal_p(threshold 2flits)", "minimal"]), brief(["ugal_p(threshold 2flits)", "ugal_p", "valiant(x 1)"])
    (['ugal_p', 'minimal'], ['ugal_p(threshold 2flits)', 'ugal_p', 'valiant'])
    """
    name = {each: each.partition("(")[0] for each in labels}
    met = Counter(name.values())
    return [name[each] if name[each] and met[name[each]] == 1 else each for each in labels]


def shortened(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first `most` names, and the number of the others.

    Examples
    --------
    >>> shortened(["a", "b", "c"], 2), shortened(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"


def setting(coordinates: Mapping[str, Any]) -> str:
    """The coordinates of a point (the values that the sweep varies), as a string.

    Examples
    --------
    >>> setting({"routing": {"valiant": {}}, "traffic.load": 0.3})
    'routing = valiant, traffic.load = 0.3'
    """
    return ", ".join(f"{path} = {label(value, path)}" for path, value in coordinates.items())
