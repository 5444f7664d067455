"""Command lines that a message suggests: whoever pastes one into a shell gets what it says."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """A command of Weft as one line: words that a shell would read otherwise are quoted.

    Examples
    --------
    >>> command("status", "results/my sweep")
    "weft status 'results/my sweep'"
    """
    return shlex.join(["weft", *map(str, words)])


def word(text: object) -> str:
    """A word of a command line, quoted where it has to be.

    Examples
    --------
    >>> word("load=0.2"), word("my dir:routing=ugal_p(threshold 2flits)")
    ('load=0.2', "'my dir:routing=ugal_p(threshold 2flits)'")
    """
    return shlex.quote(str(text))
