"""Converts networks and traffic matrices that exist only in memory to files of a scenario.

Equal networks with equal attributes have the same hash, whatever the order in which their links were added.
"""

from __future__ import annotations

import io
import json
from importlib import import_module
from numbers import Integral, Number
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GRAPH, MATRIX = "topology.json", "matrix.npy"

# Types of attributes that a file can store. `Number` includes the numbers of NumPy.
_SCALARS = (str, bool, Number)


def graph(network: Any) -> bytes:
    """Converts a NetworkX graph to node-link JSON: nodes in their order, and links by the indices of their ends.

    Only attributes of nodes and edges that are strings or numbers are included.

    Raises
    ------
    ScenarioError
        If the network is not a NetworkX graph, or NetworkX is not installed.
    """
    try:
        networkx = import_module("networkx")
    except ImportError as problem:
        what = "a topology is given as a NetworkX graph, but NetworkX is not installed"
        help = "pip install networkx; or name a file in the scenario: topology: {graph: {file: my.json}}"
        raise ScenarioError.saying(what, help) from problem
    if not isinstance(network, networkx.Graph):
        what = f"a topology is given as a {type(network).__name__}, which is not a NetworkX graph"
        raise ScenarioError.saying(what, "give a networkx.Graph; for a model, use overrides={'topology': {...}}")
    return node_link(network, {})


def node_link(network: Any, about: dict[str, Any]) -> bytes:
    """Converts a NetworkX graph to the bytes of node-link JSON. `about` are notes in it that readers can ignore."""
    place = {node: number for number, node in enumerate(network)}
    links = list(network.edges(data=True))
    if not network.is_directed():
        links = [(a, b, given) if place[a] <= place[b] else (b, a, given) for a, b, given in links]
    links.sort(key=lambda link: (place[link[0]], place[link[1]]))
    document = {
        "directed": network.is_directed(),
        "multigraph": network.is_multigraph(),
        "graph": about,
        "nodes": [_kept(network.nodes[node], ("id",)) | {"id": _id(node)} for node in network],
        "links": [_kept(given, ("source", "target")) | {"source": _id(a), "target": _id(b)} for a, b, given in links],
    }
    return json.dumps(document, indent=1, default=_plain).encode()


def matrix(numbers: ArrayLike) -> bytes:
    """Converts a traffic matrix to the bytes of a ``.npy`` file of 64-bit floats.

    Raises
    ------
    ScenarioError
        If the argument does not consist of numbers in rows of equal length.
    """
    import numpy as np

    try:
        given = np.asarray(numbers)
        if np.iscomplexobj(given):
            raise TypeError("complex numbers have no order")
        array = np.ascontiguousarray(given, dtype="<f8")
    except (TypeError, ValueError, OverflowError) as problem:
        what = f"a traffic matrix must have numbers, in rows of equal length: {problem}"
        raise ScenarioError.saying(what, "give a square array with one row and one column per terminal") from problem
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    return file.getvalue()


def _id(node: Any) -> int | str:
    """Name of a node in the file: numbers and strings are unchanged, and other names, such as pairs, become strings."""
    if isinstance(node, Integral):
        return int(node)
    return str(node)


def _kept(attributes: dict[Any, Any], ends: tuple[str, ...]) -> dict[str, Any]:
    """Attributes that are strings or numbers. An attribute must not replace one of `ends`, keys of the file format."""
    plain = {str(name): _plain(value) for name, value in attributes.items() if isinstance(value, _SCALARS)}
    return {name: value for name, value in sorted(plain.items()) if name not in ends}


def _plain(value: Any) -> Any:
    """A NumPy number as a Python number.

    Any other value becomes a string, so that the reader of the file reports an error.
    """
    if isinstance(value, bool | int | float | str):
        return value
    return value.item() if hasattr(value, "item") and not getattr(value, "shape", ()) else str(value)
