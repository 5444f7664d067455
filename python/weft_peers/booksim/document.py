"""Writes the draft of a scenario as YAML. Comments name the BookSim2 keys from which each value comes."""

from __future__ import annotations

import json
import re
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_peers.booksim.draft import Draft, Part

_WIDTH = 118
_UNBROKEN = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*|[0-9]+[a-z]+")
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_ORDER = (
    "topology",
    "links",
    "router",
    "routing",
    "classes",
    "interface",
    "traffic",
    "flit",
    "measure",
    "seed",
    "allow_dependency_cycle",
    "sweep",
)

COUNTING = (
    (
        "Latencies run from creation to delivery of the tail in both. BookSim2 counts routers as hops, Weft the "
        "links between them (one less). Both report loads in flits per terminal and cycle; BookSim2's "
        "injection_rate is in packets unless injection_rate_uses_flits is 1."
    ),
    "Without contention: T0 = routers x router.delay + link latencies + 1 + flits - 1 cycles, in both.",
)


def document(draft: Draft, source: str) -> str:
    """Return the YAML text of the scenario."""
    lines = _comment(f"From {source}, a configuration of BookSim2.")
    for paragraph in COUNTING:
        lines += ["#", *_comment(paragraph)]
    approximated = [note for note in draft.notes if note.kind == "approximated"]
    if approximated:
        lines += ["#", "# Differences from BookSim2:"]
        for note in approximated:
            lines += _comment(f"{note.key}: {note.text}", hanging="  ")
    lines += [f"name: {scalar(draft.name)}"]
    ordered = sorted(draft.parts, key=lambda part: _ORDER.index(part.path[0]))
    for section, parts in groupby(ordered, key=lambda part: part.path[0]):
        lines += ["", *_section(section, list(parts))]
    return "\n".join(lines) + "\n"


def _section(name: str, parts: Sequence[Part]) -> list[str]:
    if len(parts) == 1 and len(parts[0].path) == 1:
        return [*_comment(_origins(parts[0])), *_entry(name, parts[0].value, "")]
    lines = [f"{name}:"]
    for part in parts:
        lines += [f"  {line}" for line in _comment(_origins(part))]
        lines += _entry(part.path[1], part.value, "  ")
    return lines


def _entry(name: str, value: Any, indent: str) -> list[str]:
    """Return the YAML lines of an entry.

    If the entry does not fit into one line, each part of its mapping or list has its own line.
    """
    line = f"{indent}{name}: {flow(value)}"
    if isinstance(value, dict) and value and len(line) > _WIDTH:
        return [f"{indent}{name}:", *(f"{indent}  {key}: {flow(inner)}" for key, inner in value.items())]
    if isinstance(value, list) and value and len(line) > _WIDTH:
        return [f"{indent}{name}:", *(f"{indent}  - {flow(inner)}" for inner in value)]
    return [line]


def _origins(part: Part) -> str:
    return "; ".join(filter(None, [", ".join(part.keys), part.why]))


def _comment(text: str, hanging: str = "") -> list[str]:
    """Return the lines of a YAML comment. Assignments such as ``k = 8`` are never broken across lines."""
    kept = text.replace(" = ", _UNBROKEN)
    lines = wrap(kept, _WIDTH, subsequent_indent=hanging, break_on_hyphens=False)
    return [f"# {line.replace(_UNBROKEN, ' = ')}" for line in lines]


def flow(value: Any) -> str:
    """Return a value as YAML in one line.

    Examples
    --------
    >>> flow({"torus": {"widths": [8, 8]}}), flow(True), flow("a: b")
    ('{torus: {widths: [8, 8]}}', 'true', '"a: b"')
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value) if isinstance(value, str) else json.dumps(value)


def scalar(text: str) -> str:
    """Return a string as YAML. It has quotes only if YAML would otherwise read a value of another type."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED else json.dumps(text)
