"""Reads the claims of a paper from ``claims.csv`` in the paper's folder."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.errors import WeftError

if TYPE_CHECKING:
    from pathlib import Path

_COLUMNS = ("id", "paper", "section", "scenario", "metric", "value_printed", "kind", "check")
KINDS = ("exact", "approx", "trend")


@dataclass(frozen=True)
class Claim:
    """A number or a statement that a paper prints.

    Attributes
    ----------
    id : str
        Identifier of the claim, such as ``T-033``.
    section, scenario, metric : str
        Section of the paper, the runs that the claim describes, and the quantity that the claim states.
    printed : str
        The value as printed in the paper.
    kind : str
        ``exact``, ``approx`` or ``trend``.
    """

    id: str
    section: str
    scenario: str
    metric: str
    printed: str
    kind: str


def read(path: Path) -> list[Claim]:
    """Read all claims of a paper from its CSV file.

    Raises
    ------
    WeftError
        If a line of the file has wrong columns, or an unknown kind of claim.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for line, row in enumerate(rows, 2):
        if tuple(row) != _COLUMNS or None in row.values() or row["kind"] not in KINDS:
            what = f"{path}, line {line}: the line is not a claim"
            raise WeftError.saying(what, f"the columns are {', '.join(_COLUMNS)}; a kind is {', '.join(KINDS)}")
    return [
        Claim(row["id"], row["section"], row["scenario"], row["metric"], row["value_printed"], row["kind"])
        for row in rows
    ]
