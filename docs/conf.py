"""The site: Sphinx with MyST; pages of models, keys and commands are made from the code when it is built."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Weft"
author = "the authors of Weft"
version = release = version_of("weft-sim")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "weft_docs"]
# _generated/live holds what the commands of the pages wrote
exclude_patterns = ["_generated/live", "_generated/not_modelled.md", "_generated/recordings.md", "weft_docs"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
myst_links_external_new_tab = True

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

smartquotes = False  # options begin with two hyphens
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
