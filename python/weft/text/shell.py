"""Writes the command lines that messages suggest to the user.

Users can paste such a command line into a shell unchanged.
"""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """A command of Weft in one line, in which words that a shell would interpret are quoted.

    Examples
    --------
    >>> command("status", "results/my sweep")
    "weft status 'results/my sweep'"
    """
    return shlex.join(["weft", *map(str, words)])


def word(text: object) -> str:
    """A word of a command line, in quotes if a shell would interpret it.

    Examples
    --------
    >>> word("load=0.2"), word("my dir:routing=ugal_p(threshold 2flits)")
    ('load=0.2', "'my dir:routing=ugal_p(threshold 2flits)'")
    """
    return shlex.quote(str(text))
