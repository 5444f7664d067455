"""Waits for many futures at the same time. A wait takes no longer if there are many unfinished futures."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from concurrent.futures import Future

_T = TypeVar("_T")


def endings(futures: Collection[Future[_T]], waits: Iterator[float]) -> Iterator[list[Future[_T]]]:
    """Yield the futures that have ended since the last wait.

    Each list is yielded after a wait, whose length is the next number in `waits` [s]. It is empty if no future ended.

    Each wait must be short, so that Ctrl-C works.
    """
    ended: SimpleQueue[Future[_T]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(ended.put)
    left = len(futures)
    while left:
        found = []
        with suppress(Empty):
            found.append(ended.get(timeout=next(waits)))
            while True:
                found.append(ended.get_nowait())
        left -= len(found)
        yield found
