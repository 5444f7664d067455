"""``weft validate``: rows of peer results beside our own runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from weft.cli import DONE, FAILED
from weft.errors import PeerError

if TYPE_CHECKING:
    import argparse


def main(options: argparse.Namespace) -> int:
    """Run, compare, print; returns the exit status."""
    from weft.progress import Bar
    from weft.validate import report
    from weft.validate.read import read
    from weft.validate.run import validate

    try:
        wanted = re.compile(options.filter)
    except re.error as problem:
        raise PeerError.saying(f"--filter {options.filter}: {problem}", "write a regular expression") from problem
    cases = [case for file in options.files for case in read(file) if wanted.search(case.title)]
    if not cases:
        raise PeerError.saying("there is no row to compare", "name files with rows, or a --filter that some match")
    with Bar("validate") as bar:
        verdicts = validate(cases, seeds=options.seeds, jobs=options.jobs, watch=bar)
    print(json.dumps(report.document(verdicts), indent=1) if options.json else report.text(verdicts))
    return FAILED if any(verdict.answer == "fails" for verdict in verdicts) else DONE
