"""Draws the wait-for cycle of a stalled network: queues on a circle, with arrows to the queues for which they wait.

Instead of a cycle there can be a chain, whose last queue waits for a link that the power policy has closed. No arrow
starts at this queue.
"""

from __future__ import annotations

from itertools import cycle
from math import cos, degrees, pi, sin
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from weft.errors import ResultsError
from weft.plot import style
from weft.results import quantities as q
from weft.text.engine_words import STALL_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.typing import LineStyleType

    from weft.plot.choice import Choice, Spot
    from weft.plot.style import Picture

# Colour and dashes of an arrow for each cause of a wait, in the order in which the engine lists the causes. If there
# are more causes than looks, the looks repeat.
_LOOKS: tuple[tuple[str, LineStyleType], ...] = (
    ("#D55E00", "-"),
    ("#0072B2", "--"),
    ("#009E73", ":"),
    ("#CC79A7", "-."),
    ("#56B4E9", (0, (3, 1, 1, 1))),
)
_CAUSES = {cause: (words, *look) for (cause, words), look in zip(STALL_MEANINGS.items(), cycle(_LOOKS), strict=False)}
# Maximum number of queues in the cycle for which labels are horizontal. With more queues, labels point outwards.
_UPRIGHT = 8
# Sizes [inches], for horizontal labels (``True``) and for labels that point outwards (``False``). `_AROUND` is the
# length along the circle for each queue. `_BESIDE` is the space for labels outside the circle, horizontally and
# vertically.
_AROUND = {True: 1.0, False: 0.42}
_BESIDE = {True: (1.45, 0.7), False: (2.9, 2.9)}


def figure(choice: Choice) -> Picture:
    """Draws the wait-for cycle of one stalled point."""
    spot = choice.spot()
    members: list[dict[str, Any]] = stalled(spot)
    upright = len(members) <= _UPRIGHT
    radius = max(0.8, len(members) * _AROUND[upright] / (2 * pi))
    width, height = (2 * (radius + beside) for beside in _BESIDE[upright])
    drawing = style.canvas(_title(choice, spot), _entries(members), width=width, height=height)
    axes = drawing.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-width / 2, width / 2)
    axes.set_ylim(-height / 2, height / 2)
    for number, member in enumerate(members):
        _member(axes, member, number, len(members), radius)
    drawing.numbers = _numbers(members)
    return drawing


def _numbers(members: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Numbers of the figure: a row per queue, in the order of the arrows."""
    return pl.DataFrame(
        [
            {
                **{name: member["at"][name] for name in ("router", "port", "vc")},
                **{name: (member["packet"] or {}).get(name) for name in ("seq", "src", "dst")},
                "reason": member["reason"],
                "output": member["output"],
                **{f"waits_for_{name}": (member["waits_for"] or {}).get(name) for name in ("router", "port", "vc")},
            }
            for member in members
        ],
        infer_schema_length=None,
    )


def stalled(spot: Spot) -> list[dict[str, Any]]:
    """The queues of the wait-for cycle, or of the chain of queues that ends at a closed link.

    Each queue in the list waits for the next one.

    Raises
    ------
    ResultsError
        If the network of the point did not stall.
    """
    members: list[dict[str, Any]] = spot.summary.get("stall_wait_for", [])
    if not members:
        ending = spot.summary[q.ENDING.column]
        what = f"{spot.name} of {spot.results.root} did not stall: it ended {ending}"
        raise ResultsError.saying(what, "choose a stalled point")
    return members


def _title(choice: Choice, spot: Spot) -> str:
    return f"{choice.title}: {spot.summary['stall_packets']} packets that can't move any more"


def _entries(members: Sequence[dict[str, Any]]) -> list[Artist]:
    present = [cause for cause in _CAUSES if any(member["reason"] == cause for member in members)]
    routers = Line2D([], [], marker="o", markerfacecolor="white", color=style.GREY, linestyle="", label="router")
    return [
        routers,
        *(
            Line2D([], [], color=colour, linestyle=dashes, label=f"waits: {words}")
            for words, colour, dashes in (_CAUSES[cause] for cause in present)
        ),
    ]


def _member(axes: Axes, member: dict[str, Any], number: int, count: int, radius: float) -> None:
    """Draw a queue with its label outside the circle, and the arrow to the next queue.

    The queues are drawn clockwise, starting at the top.
    """
    angle, following = (pi / 2 - 2 * pi * place / count for place in (number, number + 1))
    x, y = radius * cos(angle), radius * sin(angle)
    _, colour, dashes = _CAUSES[member["reason"]]
    # the arrow is bent like the circle. A single queue waits for itself, and has no arrow
    end = (radius * cos(following), radius * sin(following))
    bend = -0.5 * sin(min(pi / 2, 2 * pi / count))
    arrow: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 9,
        "shrinkA": 10,
        "shrinkB": 10,
        "linewidth": 1.3,
        "color": colour,
    }
    if count > 1 and member["waits_for"] is not None:
        path = FancyArrowPatch((x, y), end, connectionstyle=f"arc3,rad={bend}", linestyle=dashes, **arrow)
        path.set_gid(f"wait {number}")
        axes.add_patch(path)
    box = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": colour}
    axes.text(x, y, f"{member['at']['router']}", ha="center", va="center", fontsize=7, bbox=box, gid=f"router {number}")
    along = degrees(angle) % 360
    left = 90 < along < 270
    out = 1 + 0.24 / radius
    upright = count <= _UPRIGHT
    axes.text(
        x * out,
        y * out,
        _label(member, "\n" if upright else ", "),
        ha=("right" if left else "left") if not upright or abs(cos(angle)) > 0.1 else "center",
        va=("bottom" if sin(angle) > 0 else "top") if upright and abs(cos(angle)) <= 0.1 else "center",
        rotation=0 if upright else along - 180 * left,
        rotation_mode="anchor",
        fontsize=6,
        gid=f"packet {number}",
    )


def _label(member: dict[str, Any], comma: str) -> str:
    """Label of a queue: the waiting packet, the queue, and the reason why the packet waits."""
    packet = member["packet"]
    who = "body of a packet" if packet is None else f"packet {packet['seq']} of {packet['src']} to {packet['dst']}"
    why = f"no room behind port {member['output']}" if member["reason"] == "no_room" else _CAUSES[member["reason"]][0]
    return comma.join([who, f"port {member['at']['port']} VC {member['at']['vc']}", why])
