"""Lists the papers that Weft can reproduce.

Each paper is a package next to this module, and defines ``PAPER``. An import of this module imports no paper.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.text.meant import meant

if TYPE_CHECKING:
    from weft_papers.common.paper import Paper

# The name on the command line that selects all papers.
ALL = "all"
# For each paper, its name on the command line and a description.
PAPERS = {
    "tcep": "Kim, Choi and Kim: TCEP, ISCA 2018",
    "ofar": "Garcia and others: OFAR, bubble flow control in dragonflies, 2012",
    "flex": "Jeon and others: FleX, IEEE Access 2022",
    "congestion": "Zahn and others: congestion management and energy saving, HiPINEB 2019",
    "torus": "Andujar and others: torus networks with on/off links, JPDC 2019",
}


def paper(name: str) -> Paper:
    """Return the paper with this name, such as ``tcep``.

    Raises
    ------
    WeftError
        If no paper has this name.
    """
    if name not in PAPERS:
        listed = "; ".join([*(f"{each} ({words})" for each, words in PAPERS.items()), f"{ALL} (each of them)"])
        raise WeftError.saying(
            f"there is no paper {name!r} to reproduce", meant(name, PAPERS, f"the papers are {listed}")
        )
    found: Paper = import_module(f"{__package__}.{name}").PAPER
    return found
