"""Configuration of the site: Sphinx with MyST. The build makes the pages of models, keys and commands from the code."""

from __future__ import annotations

import sys
from functools import partial
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

project = "Weft"
author = "the authors of Weft"
version = release = version_of("weft-sim")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "weft_docs"]
# _generated/live has the files that the commands on the pages wrote
exclude_patterns = ["_generated/live", "_generated/not_modelled.md", "_generated/recordings.md", "weft_docs"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
myst_links_external_new_tab = True

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

smartquotes = False  # keep the two hyphens of command-line options
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"Weft {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_last_updated_fmt = None
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5394", "color-brand-content": "#0b5394"},
    "dark_css_variables": {"color-brand-primary": "#7ab8f5", "color-brand-content": "#7ab8f5"},
}


def setup(app: Sphinx) -> None:
    """Shorten the sidebar, at priority 400: the theme makes the sidebar afterwards, at priority 500."""
    app.connect("html-page-context", _shorten, priority=400)


def _shorten(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """Leave lower levels of pages out of the sidebar: all 150 pages on each page took a quarter of the build time."""
    if "toctree" in context:
        context["toctree"] = partial(_collapsed, context["toctree"])


def _collapsed(whole: Any, **options: Any) -> str:
    return str(whole(**options | {"collapse": True}))
