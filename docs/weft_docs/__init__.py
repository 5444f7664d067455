"""Sphinx extension of the site: makes pages from the code of Weft, and runs the commands on pages during the build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft_docs import commands, diagnoses, gallery, live, models, recordings, scenario, speed

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent.parent


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", _generate)
    live.setup(app)
    gallery.setup(app)
    speed.setup(app)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


def _generate(app: Sphinx) -> None:
    """Write the pages that are made from the code. An unchanged page keeps its date, so Sphinx does not rebuild it."""
    folder = Path(app.srcdir) / "_generated"
    pages = models.pages(ROOT) | scenario.pages() | recordings.pages() | commands.pages() | diagnoses.pages()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("**/*.md"):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name not in pages and not name.startswith("live/"):
            path.unlink()
