"""Draws networks of a paper: routers are circles, links are lines, and the look of a line shows the kind of link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from weft.plot import style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Place = tuple[float, float]

PLAIN: dict[str, Any] = {"color": style.GREY, "linewidth": 0.9, "linestyle": "-"}
STRONG: dict[str, Any] = {"color": style.COLOURS[0], "linewidth": 1.8, "linestyle": "-"}
OTHER: dict[str, Any] = {"color": style.COLOURS[1], "linewidth": 1.5, "linestyle": "-"}
THIRD: dict[str, Any] = {"color": style.COLOURS[2], "linewidth": 1.5, "linestyle": "-"}
OFF: dict[str, Any] = {"color": style.GREY, "linewidth": 0.9, "linestyle": ":"}


@dataclass(frozen=True)
class Wire:
    """A link between two routers, or an arrow from one to the other.

    Attributes
    ----------
    ends : tuple of str
        Names of the two routers; an arrow points at the second router.
    kind : str
        Kind of link or arrow, as named in the legend.
    bend : float
        Distance of the curve's control point from the straight line, as a share of the line's length; 0 is straight.
    arrow : bool
        Whether the wire is drawn as an arrow, not as a line.
    """

    ends: tuple[str, str]
    kind: str
    bend: float = 0.0
    arrow: bool = False


def network(
    axes: Axes,
    places: Mapping[str, Place],
    wires: Iterable[Wire],
    looks: Mapping[str, Mapping[str, Any]],
    *,
    size: float = 190,
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw the routers and links of a network into a panel that has no axes.

    Parameters
    ----------
    axes : Axes
        The panel.
    places : mapping of str to (float, float)
        Position of each router.
    wires : iterable of Wire
        Links and arrows in drawing order; later ones cover earlier ones.
    looks : mapping of str to mapping
        For each kind of wire, the matplotlib arguments that set the look of its line.
    size : float
        Area of a circle [square points].
    names : mapping of str to str, optional
        Strings inside the circles; by default the names of the routers.
    """
    for wire in wires:
        ends = [places[end] for end in wire.ends]
        look = dict(looks[wire.kind])
        head = "-|>,head_length=4,head_width=2" if wire.arrow else "-"
        away = size**0.5 / 2 if wire.arrow else 0.0
        bent = f"arc3,rad={wire.bend}"
        axes.add_patch(
            FancyArrowPatch(
                *ends,
                arrowstyle=head,
                connectionstyle=bent,
                shrinkA=away,
                shrinkB=away,
                zorder=1,
                fill=wire.arrow,
                **look,
            )
        )
    across, up = zip(*places.values(), strict=True)
    axes.scatter(across, up, s=size, color="white", edgecolor="black", linewidth=0.8, zorder=2)
    for name, (x, y) in places.items():
        axes.text(x, y, name if names is None else names.get(name, ""), ha="center", va="center", fontsize=6, zorder=3)
    bare(axes)


def bare(axes: Axes) -> None:
    """Remove the axes of a panel, and scale its horizontal and vertical directions equally."""
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.set_axis_off()


def legend(looks: Mapping[str, Mapping[str, Any]]) -> list[Artist]:
    """Make the legend entries of a drawing of a network: one for each kind of link or arrow."""
    return [Line2D([], [], label=kind, **look) for kind, look in looks.items()]


def numbers(panels: Mapping[str, Sequence[Wire]]) -> pl.DataFrame:
    """Make the table of a figure of networks: a row for each link and each arrow of each panel."""
    rows = [
        {"panel": panel, "from": wire.ends[0], "to": wire.ends[1], "kind": wire.kind}
        for panel, wires in panels.items()
        for wire in wires
    ]
    return pl.DataFrame(rows)
