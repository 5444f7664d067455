"""The results of a sweep: a frame with one row per point, and the channels of each point."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ResultsError
from weft.labels import label
from weft.quantities import ENDING, STALLED
from weft.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from weft.plot.accessor import Plots


class Results:
    """Finished points of a sweep.

    Parameters
    ----------
    store : Store
        Folder of the sweep.

    Attributes
    ----------
    name : str
        Name of the sweep.
    title : str
        Head of tables and pictures: the name, and the overrides if there are any.
    points : list of dict
        ``hash`` and ``coordinates`` of each finished point, in the order of the sweep.
    missing : int
        Points without results.
    """

    def __init__(self, store: Store) -> None:
        manifest = store.manifest()
        listed: list[dict[str, Any]] = manifest["points"]
        self._store = store
        self.name: str = manifest["name"]
        self.title: str = manifest.get("title", self.name)
        self.points = [point for point in listed if store.complete(point["hash"])]
        self.missing = len(listed) - len(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        missing = f", {self.missing} missing" if self.missing else ""
        return f"<weft.Results {self.name!r}: {len(self)} points{missing}>"

    @property
    def root(self) -> Path:
        """Folder of the sweep."""
        return self._store.root

    @cached_property
    def summaries(self) -> list[dict[str, Any]]:
        """Contents of ``summary.json`` of each point."""
        return [self._store.summary(point["hash"]) for point in self.points]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per point: coordinates by dotted path, then the scalars of the summary.

        Numbers stay numbers; a model (``{"ugal_p": {}}``) becomes its label (``ugal_p``).
        """
        rows = [
            dict(point["coordinates"])
            | {name: value for name, value in summary.items() if not isinstance(value, dict | list)}
            for point, summary in zip(self.points, self.summaries, strict=True)
        ]
        return frame_of(rows)

    @property
    def coordinates(self) -> list[str]:
        """Columns of the frame that the sweep set."""
        return list(self.points[0]["coordinates"]) if self.points else []

    def folder(self, point: int) -> Path:
        """Folder of the files of a point (its row number in `frame`)."""
        return self._store.folder(self.points[point]["hash"])

    def channels(self, point: int) -> pl.DataFrame:
        """One row per channel of a point: flits [flits] and cycles [cycles] per power state in the window.

        Parameters
        ----------
        point : int
            Row number in `frame`.
        """
        return pl.read_parquet(self.folder(point) / "channels.parquet")

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """One row per point and job: coordinates by dotted path, then the numbers of the job."""
        return frame_of(
            [
                point["coordinates"]
                | {name: value for name, value in job.items() if not isinstance(value, dict | list)}
                for point, summary in zip(self.points, self.summaries, strict=True)
                for job in summary.get("jobs", [])
            ]
        )

    def series(self, point: int) -> pl.DataFrame:
        """Flits and link states of a point over time, if `measure.series` asked for them."""
        return self._recorded(point, "series")

    def transient(self, point: int) -> pl.DataFrame:
        """Latency of a point by time of creation, if `measure.transient` asked for it."""
        return self._recorded(point, "transient")

    def _recorded(self, point: int, name: str) -> pl.DataFrame:
        path = self.folder(point) / f"{name}.parquet"
        if not path.is_file():
            what = f"{path.parent} holds no {path.name}: {self.describe(point)} recorded none"
            raise ResultsError.saying(what, f"set measure.{name} and run the point")
        return pl.read_parquet(path)

    @property
    def stalls(self) -> list[tuple[int, str]]:
        """Points that got stuck: row number in `frame`, and the packets that wait for each other, in words."""
        return [
            (row, self._store.stall(point["hash"]))
            for row, (point, summary) in enumerate(zip(self.points, self.summaries, strict=True))
            if summary[ENDING.column] == STALLED
        ]

    def describe(self, point: int) -> str:
        """Coordinates of a point as words; the name of the sweep if it has only one point."""
        coordinates = self.points[point]["coordinates"].items()
        return ", ".join(f"{path} = {label(value)}" for path, value in coordinates) or self.name

    def scenario(self, point: int) -> dict[str, Any]:
        """The resolved scenario of a point."""
        import yaml

        read: dict[str, Any] = yaml.safe_load((self.folder(point) / "scenario.yaml").read_text(encoding="utf-8"))
        return read

    def link_states(self, point: int) -> pl.DataFrame:
        """Spans of the power states of a point's managed channels, if `measure.link_states` asked for them."""
        return self._recorded(point, "link_states")

    @cached_property
    def plot(self) -> Plots:
        """Figures: ``results.plot()`` draws the usual one, ``results.plot.latency_cdf("cdf.pdf")`` one of a kind."""
        from weft.plot.accessor import Plots

        return Plots(self)


def open(folder: str | Path) -> Results:
    """Open the folder of a sweep.

    Raises
    ------
    ResultsError
        If the folder was not written by a sweep.
    """
    return Results(Store(folder))


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Build a frame by column; models become labels, and a column of mixed types becomes text."""
    columns: dict[str, None] = {}
    for row in rows:
        columns |= dict.fromkeys(row)
    return pl.DataFrame([_series(column, [_cell(row.get(column)) for row in rows]) for column in columns])


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else label(value)


def _series(column: str, values: list[Any]) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pl.Series(column, [None if value is None else float(value) for value in values])
    if len(kinds) > 1:
        return pl.Series(column, [None if value is None else label(value) for value in values])
    return pl.Series(column, values)
