"""Selects cases for a test: one case in `make test`, all cases in `make test-all`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def in_turn(turn: int, cases: Sequence[T]) -> Sequence[T]:
    """Return the case with the index `turn` (modulo the number of cases); in `make test-all` return all cases."""
    return cases if "WEFT_TEST_ROUNDS" in os.environ or not cases else (cases[turn % len(cases)],)
