"""Writes Markdown: tables, lists of pages, and the text of doc comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table; its cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def contents(names: Sequence[str]) -> str:
    """Write the list of the pages in a folder, for the side bar."""
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])


def code(text: str) -> str:
    """Mark a value as code, except values that are no code (empty, `-`, `required`)."""
    return f"`{text}`" if text not in ("", "-", "required") else text


def comment(text: str) -> str:
    """Convert a Rust doc comment to Markdown: links to Rust items become plain text, formulas keep asterisks."""
    text = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", text)
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"(?<!\\)([*<$])", r"\\\1", part) for part in parts)
