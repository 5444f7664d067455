"""Markdown: tables, lists of pages, and the text of doc comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that hold Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def contents(names: Sequence[str]) -> str:
    """The pages of a folder, for the side bar."""
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])


def code(text: str) -> str:
    """Text as it is written in a file or on a command line."""
    return f"`{text}`" if text not in ("", "-", "required") else text


def comment(text: str) -> str:
    """Markdown of the text of a Rust doc comment: links into Rust become plain text, formulas keep their stars."""
    text = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", text)
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"(?<!\\)([*<$])", r"\\\1", part) for part in parts)
