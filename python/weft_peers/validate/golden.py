"""Reads a file with results of another simulator (the peer).

The columns in the header of the file show the simulator.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import PeerError
from weft_peers.validate import booksim_rows, caminos_rows, fogsim_rows

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from weft_peers.validate.case import Case

_READERS = {"case_id": booksim_rows.case, "simulator": caminos_rows.case, "case": fogsim_rows.case}
_COMMON = {"must_match", "why", "band"}


def read(path: str | Path) -> list[Case]:
    """Return the rows of a file with peer results as cases.

    The file must have the columns of ``booksim.csv``, ``caminos.csv`` or ``fogsim.csv`` in ``tests/data/golden``.

    Raises
    ------
    PeerError
        If the file can't be read, or a row has an invalid field.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8") as lines:
            rows = csv.DictReader(lines)
            reader = next((_READERS[name] for name in rows.fieldnames or [] if name in _READERS), None)
            if reader is None or not set(rows.fieldnames or []) >= _COMMON:
                raise PeerError.saying(
                    f"{path} does not have the columns of results of BookSim2, CAMINOS or FOGSim",
                    (
                        "compare its first line with the first lines of booksim.csv, caminos.csv and fogsim.csv "
                        "in tests/data/golden"
                    ),
                )
            cases = []
            for row in rows:
                try:
                    cases.append(reader(row, rows.line_num))
                except (ValueError, TypeError, KeyError) as problem:
                    raise PeerError.saying(
                        f"{path}:{rows.line_num}: {problem}", "correct or remove this row"
                    ) from problem
    except (OSError, UnicodeDecodeError) as problem:
        raise PeerError.saying(f"{path} can't be read: {problem}", "name a CSV file of peer results") from problem
    return cases


def chosen(cases: Sequence[Case], wanted: re.Pattern[str]) -> list[Case]:
    """Select the cases whose title matches a regular expression.

    Cases with the same change of traffic as a selected case are added, because the order in which they settle is
    compared.
    """
    changes = {(case.peer, case.change.of) for case in cases if case.change and wanted.search(case.title)}

    def is_beside(case: Case) -> bool:
        return case.change is not None and (case.peer, case.change.of) in changes

    return [case for case in cases if wanted.search(case.title) or is_beside(case)]
