"""Prints on standard error which part of a command takes long, and the time since its start."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from weft.text.columns import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

# Time before the first line [s], ratio of each interval between lines to the one before, and longest interval [s].
_FIRST, _LONGER, _LONGEST = 5.0, 1.5, 60.0


@contextmanager
def slowly(part: str) -> Iterator[None]:
    """Print a line from time to time while a part of a command runs."""
    is_over, begun = threading.Event(), perf_counter()

    def tell() -> None:
        pause = _FIRST
        while not is_over.wait(pause):
            print(f"{part}: {clock(perf_counter() - begun)} so far", file=sys.stderr, flush=True)
            pause = min(pause * _LONGER, _LONGEST)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
