"""Writes tables and folded text as HTML for notebooks, without scripts, and with the styles of the notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """An HTML table whose first `left` columns are flush left, and whose other columns are flush right."""

    def line(cells: Sequence[str], tag: str) -> str:
        sides = ["left" if place < left else "right" for place in range(len(cells))]
        made = (
            f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f'<div style="overflow-x: auto"><table><thead>{line(heads, "th")}</thead><tbody>{body}</tbody></table></div>'


def head(title: str, words: str) -> str:
    """A heading line in HTML: a title in bold, followed by a string."""
    return f"<div><b>{escape(title)}</b>: {escape(words)}</div>"


def lines(texts: Sequence[str]) -> str:
    """Lines in HTML, one below the other; empty if there are no lines."""
    return f'<pre style="white-space: pre-wrap">{escape(chr(10).join(texts))}</pre>' if texts else ""


def folded(summary: str, text: str) -> str:
    """HTML with a text that the reader sees after a click on `summary`."""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>"
