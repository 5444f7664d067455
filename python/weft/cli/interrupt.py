"""Makes SIGTERM end a run as Ctrl-C does. A batch system sends SIGTERM at its time limit."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `KeyboardInterrupt` also on SIGTERM."""
    if current_thread() is not main_thread():  # only the main thread may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
