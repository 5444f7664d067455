"""Make the tables of recordings for the page of result files: the meaning of a row, and every column."""

from __future__ import annotations

from weft import _engine
from weft_docs import markdown


def pages() -> dict[str, str]:
    """Make the text that the page of result files includes. The key of the result is the name of this text."""
    return {"recordings": "\n\n".join(section for shown in _engine.recordings() for section in _sections(shown)) + "\n"}


def _sections(shown: dict[str, object]) -> list[str]:
    """Write the section of one recording, with the table of its columns."""
    name, columns = shown["name"], shown["columns"]
    assert isinstance(columns, list)
    rows = [[f"`{each['name']}`", each["unit"], markdown.comment(each["meaning"])] for each in columns]
    parameters = f"The key `measure.{name}` asks for it: [its parameters](/_generated/models/measure/{name}.md)."
    return [
        f"## `{name}.parquet`",
        f"{markdown.comment(str(shown['rows']))} {parameters}",
        markdown.table([f"column of {name}", "unit", "meaning"], rows),
    ]
