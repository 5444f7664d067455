"""Converts numbers to the form in which a page stores them: rounded decimals, or arrays as base64 text."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Number of significant digits of measured numbers on a page; whole numbers are never rounded.
DIGITS = 7


def rounded(value: Any) -> Any:
    """A value for JSON in which floats are rounded to `DIGITS` digits, and ``None`` replaces infinity and NaN."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def column(values: list[Any]) -> Any:
    """The values of a column, as a list, or as ``{"all": value}`` if all values are equal."""
    kept = [rounded(value) for value in values]
    same = len(kept) > 1 and all(value == kept[0] and type(value) is type(kept[0]) for value in kept)
    return {"all": kept[0]} if same else kept


def counts(values: ArrayLike) -> str:
    """Text such as ``u8:BASE64`` that stores non-negative integers exactly.

    Each number takes as many bytes as the largest one needs.
    """
    array = np.asarray(values)
    largest = int(array.max()) if array.size else 0
    for name, limit, kind in (("u8", 1 << 8, "<u1"), ("u16", 1 << 16, "<u2"), ("u32", 1 << 32, "<u4")):
        if largest < limit:
            return _text(name, array.astype(kind))
    return _text("f64", array.astype("<f8"))


def floats(values: ArrayLike) -> str:
    """Text ``f32:BASE64`` that stores numbers with seven significant digits, in four bytes each."""
    return _text("f32", np.asarray(values).astype("<f4"))


def _text(name: str, array: np.ndarray[Any, Any]) -> str:
    return f"{name}:{base64.b64encode(array.tobytes()).decode('ascii')}"
