"""Reads graph files of other programs with NetworkX, and converts them to node-link JSON, which the engine reads."""

from __future__ import annotations

import hashlib
import json
import re
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError
from weft.scenario import attach

if TYPE_CHECKING:
    from collections.abc import Callable

# Lines of an edge list that begin with `#` or `%` are comments. A comment after an edge, on the same line, begins with
# `#`.
_COMMENT, _COMMENTS = "#", ("#", "%")
# Pattern of an edge and its attributes, up to a comment. The pattern matches quoted strings as a whole.
_UP_TO_COMMENT = re.compile(r"""(?:[^#'"]|'[^']*'|"[^"]*")*""")


def converted(name: str, format: str, content: bytes) -> tuple[str, bytes]:
    """Converts a graph file of another format to node-link JSON; returns the name of the new file, and its bytes.

    The new file is stored with the results of the scenario. The key `graph` of the new file names the original file and
    its digest.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    format : str
        `gml`, `edge_list` or `adjacency`.
    content : bytes
        Content of the file.

    Raises
    ------
    ScenarioError
        If NetworkX is not installed, or can't read the file.
    """
    words, read = _FORMATS[format]
    try:
        networkx = import_module("networkx")
    except ImportError as problem:
        what = f"{name} is {words}, which needs NetworkX, but NetworkX is not installed"
        help = "pip install 'weft-sim[networkx]'; or convert the file with networkx.write_graphml on another machine"
        raise ScenarioError.saying(what, help) from problem
    try:
        network = read(networkx, content.decode("utf-8-sig"))
    except Exception as problem:  # damaged files can cause any exception in NetworkX
        what = f"{name} can't be read as {words}: {_why(problem)}"
        raise ScenarioError.saying(what, "correct the file, or write it with networkx.write_graphml") from problem
    source = {"file": PurePath(name).name, "sha256": hashlib.sha256(content).hexdigest(), "format": format}
    return f"{PurePath(name).name}.json", attach.node_link(network, {"converted_from": source})


def _why(problem: Exception) -> str:
    lines = str(problem).splitlines()
    return lines[0][:200] if lines and lines[0] else type(problem).__name__


def _gml(networkx: Any, text: str) -> Any:
    """Read GML. The nodes are named by their numbers, because several nodes can have the same label."""
    try:
        return networkx.parse_gml(text, label="id")
    except networkx.NetworkXError as problem:
        # some files, for example of the Topology Zoo, have repeated edges although they do not declare a multigraph
        if "is duplicated" not in str(problem) or "multigraph" in text:
            raise
        return networkx.parse_gml(text.replace("graph [", "graph [\n  multigraph 1", 1), label="id")


def _edge_list(networkx: Any, text: str) -> Any:
    """Read an edge list: each line has two names, and possibly a weight or a dict of attributes.

    Every line is a separate link, even if two lines have the same names.
    """
    lines = [line for line in map(_without_comment, text.splitlines()) if line]
    if not lines:
        raise ValueError("no line with two names")
    comma = "," if "," in lines[0].partition("{")[0] else None
    edges = [_with_a_dict(number, line, comma) for number, line in enumerate(lines, 1)]
    graph = networkx.MultiGraph()
    reads = {"comments": None, "delimiter": comma, "create_using": graph, "nodetype": str.strip, "data": True}
    return networkx.parse_edgelist(edges, **reads)


def _without_comment(line: str) -> str:
    """A line of a file without its comment.

    A `#` inside the text of an attribute, such as a colour, does not start a comment.
    """
    if line.lstrip().startswith(_COMMENTS):
        return ""
    names, brace, attributes = line.partition("{")
    if _COMMENT in names or not brace:
        return names.partition(_COMMENT)[0].strip()
    known = _UP_TO_COMMENT.match(attributes)
    return f"{names}{brace}{known[0] if known else ''}".strip()


def _with_a_dict(number: int, line: str, comma: str | None) -> str:
    """The line, with its weight converted to a dict of attributes, because NetworkX expects a dict in every line."""
    names, brace, attributes = line.partition("{")
    words = [word.strip() for word in names.split(comma) if word.strip()]
    if not 2 <= len(words) <= (2 if brace else 3):
        raise ValueError(f"edge {number} is {line[:40]!r}, but must be two names and an optional weight")
    if not brace and len(words) > 2:
        try:
            words[2] = str({"weight": float(words[2])})
        except ValueError:
            raise ValueError(f"edge {number} is {line[:40]!r}, whose weight {words[2]!r} is not a number") from None
    return (comma or " ").join([*words, f"{brace}{attributes}"] if brace else words)


def _adjacency(networkx: Any, text: str) -> Any:
    return networkx.adjacency_graph(json.loads(text), multigraph=False)


_FORMATS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "gml": ("GML", _gml),
    "edge_list": ("a list of edges", _edge_list),
    "adjacency": ("adjacency JSON", _adjacency),
}
