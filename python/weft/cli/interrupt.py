"""Makes SIGTERM end a run in the same way as Ctrl-C. A batch system sends SIGTERM to a job at its time limit."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `KeyboardInterrupt` on SIGTERM inside the ``with`` block."""
    if current_thread() is not main_thread():  # only the main thread may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
