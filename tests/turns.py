"""Selects the cases of a test: some by turns in `make test`, all in `make test-all`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def in_turn(turn: int, cases: Sequence[T]) -> Sequence[T]:
    """One of the cases, by turns; all cases in `make test-all`."""
    return cases if "WEFT_TEST_ROUNDS" in os.environ or not cases else (cases[turn % len(cases)],)
