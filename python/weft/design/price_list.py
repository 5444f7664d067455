"""Reads price lists of routers and cables, and fits straight lines to the prices.

Source: FleX (IEEE Access 2022), section IV-A: the price of a router is a linear function of its ports. The price of a
cable per Gb/s is a linear function of its length. The list that comes with Weft is `assets/edr.csv`. The paper prints
no prices of single parts, but two such lines for InfiniBand EDR (Fig. 6). The list has points on these lines.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from weft.errors import WeftError, reason

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = ("part", "ports", "length_m", "bandwidth_gbps", "price_usd", "source")
# Columns that the price list must have for each part, in addition to the price.
_NEEDS = {"router": ("ports",), "cable": ("length_m", "bandwidth_gbps")}
_HELP = f"a price list has the columns {', '.join(COLUMNS)}, and at least two sizes each of routers and cables"


@dataclass(frozen=True)
class Line:
    """A straight line fitted to the prices of a kind of part by size, and the range of sizes in the price list.

    Attributes
    ----------
    slope, intercept : float
        Price = slope * size + intercept.
    least, most : float
        Smallest and largest size in the list.
    determination : float
        Coefficient of determination R^2 of the fit.
    """

    slope: float
    intercept: float
    least: float
    most: float
    determination: float

    def at(self, size: float) -> float:
        """Price of a part of this size, according to the line."""
        return self.slope * size + self.intercept


@dataclass(frozen=True)
class Prices:
    """Straight lines that give the price of a router by its ports, and of a cable by its length.

    Attributes
    ----------
    router : Line
        Price of a router [$] over its ports.
    cable : Line
        Price of a cable [$ per Gb/s] over its length [m].
    bandwidth_gbps : float
        Bandwidth of every cable [Gb/s].
    name : str
        Name of the file with the prices, or of the catalogue and the speed of its hardware.
    terminal_cable : Line or None
        Price of a terminal's cable [$ per Gb/s] over its length [m]; ``None``: the same as `cable`.
    """

    router: Line
    cable: Line
    bandwidth_gbps: float
    name: str
    terminal_cable: Line | None = None

    def terminal_cables(self, number: float, metres: float) -> float:
        """Cost of `number` cables of terminals with this total length [$]."""
        line = self.terminal_cable or self.cable
        return self.bandwidth_gbps * (line.intercept * number + line.slope * metres)

    def cables(self, number: float, metres: float) -> float:
        """Cost of `number` cables between routers with this total length [$]."""
        return self.bandwidth_gbps * (self.cable.intercept * number + self.cable.slope * metres)

    def remarks(self, radix: int, longest_m: float) -> list[str]:
        """Notes on parts whose price is extrapolated, because the price list has only smaller or only larger parts."""
        values = []
        for what, size, line, unit in (
            ("routers", radix, self.router, " ports"),
            ("cables", longest_m, self.cable, " m"),
        ):
            if not line.least <= size <= line.most:
                span = f"{line.least:g} to {line.most:g}{unit}"
                values.append(f"{what} of {size:g}{unit} are priced by extrapolation from a list of {span}")
        return values


@cache
def default() -> Prices:
    """The built-in prices."""
    text = files("weft.design").joinpath("assets", "edr.csv").read_text(encoding="utf-8")
    return _fitted(text.splitlines(), "edr.csv")


def read(path: str | Path | None) -> Prices:
    """Read a price list and fit a line to each part; ``None`` reads the list that comes with Weft.

    Raises
    ------
    WeftError
        If the list cannot be read, if a part lacks a size or a price, or if a part has too few sizes for a line.
    """
    if path is None:
        return default()
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # spreadsheets begin files with a byte-order mark
    except UnicodeDecodeError as problem:
        raise WeftError.saying(f"{path} is not UTF-8 text", "save the price list as UTF-8") from problem
    except OSError as problem:
        raise WeftError.saying(
            f"{path} can't be read: {reason(path, problem)[0]}", "name a price list (CSV)"
        ) from problem
    return _fitted(text.splitlines(), str(path))


def _fitted(lines: Sequence[str], name: str) -> Prices:
    reader = csv.DictReader(lines)
    if absent := [column for column in COLUMNS[:-1] if column not in (reader.fieldnames or [])]:
        found = ", ".join(repr(each) for each in reader.fieldnames or []) or "none: it is empty"
        _refuse(f"{name} has no column {absent[0]!r} (its columns, separated by commas: {found})")
    sizes: dict[str, list[tuple[float, float]]] = {part: [] for part in _NEEDS}
    bandwidths: set[float] = set()
    for row in reader:
        place = f"{name}:{reader.line_num}"
        if row.get(None) is not None:
            _refuse(f"{place}: there are more commas than columns; write a price without them, such as 19637.50")
        if not any((cell or "").strip() for cell in row.values()):
            continue  # spreadsheets write such empty rows
        part = row["part"] = (row["part"] or "").strip().lower()
        if part not in _NEEDS:
            _refuse(f"{place}: {part!r} is not a part: a list prices {' and '.join(f'{each}s' for each in _NEEDS)}")
        size, *bandwidth = (_number(row, column, place) for column in _NEEDS[part])
        bandwidths.update(bandwidth)
        sizes[part].append((size, _number(row, "price_usd", place) / (bandwidth[0] if bandwidth else 1)))
    if len(bandwidths) > 1:
        several = ", ".join(f"{each:g}" for each in sorted(bandwidths))
        _refuse(f"{name} prices cables of {several} Gb/s: write a list for each bandwidth")
    router, cable = (_line(part, sizes[part], name) for part in _NEEDS)
    return Prices(router, cable, bandwidths.pop(), name)


def _number(row: dict[str, str | None], column: str, place: str) -> float:
    text = (row[column] or "").strip()
    if not text:
        _refuse(f"{place}: the {row['part']} has no {column}")
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        _refuse(f"{place}: {column} is {text!r}, but must be a number above 0, such as 19637.50")
    return value


def _line(part: str, points: Sequence[tuple[float, float]], name: str) -> Line:
    """Fits a line to the sizes and prices of a part by least squares."""
    sizes, prices = (np.array(each, dtype=float) for each in (zip(*points, strict=True) if points else ((), ())))
    if len(set(sizes)) < 2:
        number = "no" if not len(sizes) else "one"
        _refuse(f"{name} has {number} size of {part}s, but a line needs two")
    slope, intercept = np.polyfit(sizes, prices, 1)
    spread = float(((prices - prices.mean()) ** 2).sum())
    missed = float(((prices - slope * sizes - intercept) ** 2).sum())
    line = Line(
        float(slope), float(intercept), float(sizes.min()), float(sizes.max()), 1 - missed / spread if spread else 1.0
    )
    text = f"{name}: the line through the {part}s, {slope:.4g} * size + {intercept:.4g},"
    if min(line.at(line.least), line.at(line.most)) <= 0:
        _refuse(f"{text} gives prices below 0")
    if slope < 0:
        _refuse(f"{text} falls: prices are negative above a size of {-intercept / slope:.4g}")
    return line


def _refuse(what: str) -> NoReturn:
    raise WeftError.saying(what, _HELP)
