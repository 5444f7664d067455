"""Code for several figures of channels: selects the channels between routers, and draws heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.errors import ResultsError
from weft.plot import style
from weft.results import quantities as q

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

    from weft.plot.choice import Spot


def between_routers(spot: Spot) -> pl.DataFrame:
    """Channels of a point that lead from router to router.

    Raises
    ------
    ResultsError
        If the network has no channels between routers.
    """
    frame = spot.results.channels(spot.point).drop_nulls(["from_router", "to_router"])
    if frame.is_empty():
        what = f"{spot.name} of {spot.results.root} has no channels between routers"
        raise ResultsError.saying(what, "draw channel_curve, which shows the channels of terminals")
    return frame


def mean_map(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Mean of the values in each cell of a heat map; NaN in a cell without values."""
    shape = (int(max(rows.max(), columns.max())) + 1,) * 2
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (rows, columns), values)
    np.add.at(counts, (rows, columns), 1)
    means = np.full(shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def numbers(cells: npt.NDArray[np.float64], names: tuple[str, str], together: int = 1) -> pl.DataFrame:
    """Numbers of a heat map: a row per cell with a channel, with the mean utilisation.

    `names` are the column names for row and column of the cell.

    If a cell represents several routers (their number is `together`), the row has the number of the first of them.
    """
    rows, columns = np.nonzero(~np.isnan(cells))
    places = {name: each * together for name, each in zip(names, (rows, columns), strict=True)}
    return pl.DataFrame(places | {q.UTILISATION.column: cells[rows, columns]})


def show(axes: Axes, cells: npt.NDArray[np.float64], high: float) -> AxesImage:
    """Draw a heat map. Cells of the heat map without a channel are white."""
    axes.grid(visible=False)
    return axes.imshow(cells, cmap=style.HEAT, vmin=0, vmax=high or 1, interpolation="nearest", aspect="equal")


def bar(drawing: Figure, image: AxesImage, axes: list[Axes]) -> None:
    """Draw the colour scale of utilisation next to the heat maps."""
    drawing.colorbar(image, ax=axes, label=q.UTILISATION.axis, shrink=0.9, pad=0.02)
