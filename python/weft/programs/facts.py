"""Writes the properties of programs of messages as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.text.columns import columns
from weft.text.si import si

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def totals(matrix: Iterable[tuple[int, int, int, int]]) -> dict[str, int]:
    """Number of messages, bytes, and pairs of different ranks in a communication matrix (`Program.matrix`)."""
    messages = total = pairs = 0
    for source, target, size, count in matrix:
        messages += count
        total += size
        pairs += source != target
    return {"messages": messages, "bytes": total, "pairs": pairs}


def lines(facts: Mapping[str, Any]) -> list[str]:
    """The properties that `Program.info` returns, as lines of text."""
    counts = ", ".join(f"{count} {kind}" for kind, count in facts["kinds"].items())
    own = f", {facts['to_itself']} of them from a rank to itself" if facts["to_itself"] else ""
    whole = facts.get("collectives_as_messages")
    alone = ", without those of collectives" if whole else ""
    words = [
        f"{facts['ranks']} ranks, {facts['operations']} operations ({counts}), {facts['edges']} dependencies",
        (
            f"{facts['messages']} messages of {si(facts['bytes'], 'B')} between {facts['pairs']} pairs of ranks"
            f"{own}{alone}"
        ),
        f"{si(facts['compute_ns'] * 1e-9, 's')} of computation, sum over all ranks",
    ]
    if facts["cpus"] > 1 or facts["nics"] > 1:
        words.append(f"up to {facts['cpus']} processors and {facts['nics']} interfaces per rank")
    if facts["collectives"]:
        words.append("collectives: " + ", ".join(f"{count} {kind}" for kind, count in facts["collectives"].items()))
    if whole:
        words.append(
            f"with collectives as messages: {whole['messages']} messages of {si(whole['bytes'], 'B')} between "
            f"{whole['pairs']} pairs of ranks"
        )
    if facts["sizes"]:
        rows = [[f"{size} B and more" if size else "0 B", str(count)] for size, count in facts["sizes"]]
        words += ["", *columns(["message size", "messages"], rows)]
    return [*words, *_unmatched(facts["unmatched"])]


def _unmatched(channels: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warnings about sent messages that no rank receives, and about receives without a message."""
    if not channels:
        return []
    lines = [
        f"  rank {each['from']} to {each['to']}, tag {'any' if each['tag'] is None else each['tag']}: "
        f"{each['sends']} sends, {each['receives']} receives"
        for each in channels
    ]
    remedy = "  = help: the program can't finish: add a send with the same ranks and tag for every receive"
    return ["", "warning: sends and receives differ in number", *lines, remedy]


def arithmetic(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines that explain a generated program: one for each of its numbers, with the computation of the number."""
    rows = [[each["name"], _value(each), each["how"]] for each in steps]
    return columns(["number", "value", "derivation"], rows, left=[0, 2])


def _value(step: Mapping[str, Any]) -> str:
    value, unit = step["value"], step["unit"]
    if not unit:
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    return si(value, unit, 4)
