"""Replaces words of a figure by words of the user, and checks the requested order of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.ticker import FixedLocator

from weft.errors import WeftError
from weft.plot.appearance import mentions, pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from weft.plot.appearance import Appearance
    from weft.plot.style import Picture

# Maximum number of labels that an error message lists.
_LISTED = 20


def all_words(panels: Sequence[Axes], handles: Sequence[Artist]) -> list[str]:
    """All strings of the figure that users can rename or put into an order."""
    ticks = [word for axes in panels for _, words in named_axes(axes) for word in words]
    found = [*(str(handle.get_label()) for handle in handles), *(axes.get_title(loc="left") for axes in panels), *ticks]
    return [word for word in dict.fromkeys(found) if word]


def named_axes(axes: Axes) -> list[tuple[Axis, list[str]]]:
    """The axes of a panel that have names instead of numbers at their ticks, each with these names."""
    fixed = [axis for axis in (axes.xaxis, axes.yaxis) if isinstance(axis.get_major_locator(), FixedLocator)]
    return [(axis, [label.get_text() for label in axis.get_ticklabels()]) for axis in fixed]


def check_order(asked: Appearance, words: Sequence[str]) -> None:
    """Refuse a requested order with labels that the figure does not have."""
    for name in asked.order:
        if not any(asked.rank(word) < len(asked.order) and _is(asked, name, word) for word in words):
            raise WeftError.saying(f"--order: the figure has no label {name!r}", _known(words))


def _is(asked: Appearance, name: str, word: str) -> bool:
    return any(map(mentions(word), [name, *(old for old, new in asked.labels.items() if new == name)]))


def _known(words: Iterable[str]) -> str:
    listed = list(dict.fromkeys(words))
    more = f", and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return f"its labels are: {'; '.join(listed[:_LISTED]) or 'none'}{more}"


def rename(drawing: Picture, panels: Sequence[Axes], handles: Sequence[Artist], asked: Appearance) -> str:
    """Replace old words by new ones everywhere in the figure, and return the title of the figure.

    Raises
    ------
    WeftError
        If a label is not in the figure, or two legend entries would have the same name.
    """
    if not asked.labels:
        return drawing.plan.title
    of_axes = [word.replace("\n", " ") for axes in drawing.axes for word in (axes.get_xlabel(), axes.get_ylabel())]
    new = _directed(asked.labels, all_words(panels, handles), list(filter(None, of_axes)))
    replace = _replacer(new)
    _rename_entries(handles, replace)
    for axes in drawing.axes:
        axes.set_title(replace(axes.get_title(loc="left")), loc="left")
        for line in axes.lines:
            if not str(line.get_label()).startswith("_"):
                line.set_label(replace(str(line.get_label())))
        for side in (axes.xaxis, axes.yaxis):
            side.set_label_text(new.get(side.get_label_text().replace("\n", " "), side.get_label_text()))
        for axis, words in named_axes(axes):
            axis.set_ticks(axis.get_majorticklocs(), [replace(word) for word in words])
    if drawing.numbers is not None:
        texts = [name for name in ("pattern", "series", "job", "link_class") if name in drawing.numbers.columns]
        renamed = pl.col(texts).map_elements(replace, return_dtype=pl.String)
        drawing.numbers = drawing.numbers.with_columns(renamed) if texts else drawing.numbers
    return replace(drawing.plan.title)


def _directed(asked: Mapping[str, str], names: Sequence[str], of_axes: Sequence[str]) -> dict[str, str]:
    """The requested replacements, as new words by old words.

    The user writes ``old=new``. If only the right side of a pair is a label of the figure, the user probably wrote
    ``new=old``. The function then swaps the two sides.
    """
    new = {}
    for old, words in asked.items():
        found = [each for each in (old, words) if _stands(each, names, of_axes)]
        if not found:
            raise WeftError.saying(f"--labels: the figure has no label {old!r}", _known([*names, *of_axes]))
        new[found[0]] = words if found[0] == old else old
    return new


def _rename_entries(handles: Sequence[Artist], replace: Callable[[str], str]) -> None:
    """Replace words in the entries of the legend."""
    before = [str(handle.get_label()) for handle in handles]
    renamed = [replace(word) for word in before]
    if len(set(renamed)) < len(set(before)):
        double = next(word for word in renamed if renamed.count(word) > 1)
        what = f"--labels: two entries of the legend would have the same label {double!r}"
        raise WeftError.saying(what, "give each curve a different label")
    for handle, word in zip(handles, renamed, strict=True):
        handle.set_label(word)


def _stands(words: str, names: Iterable[str], axes_words: Iterable[str]) -> bool:
    """Whether the words occur in a label, or are the whole label of an axis."""
    return words in axes_words or any(mentions(name)(words) for name in names)


def _replacer(new: dict[str, str]) -> Callable[[str], str]:
    """Returns a function that replaces old words by new ones in a text.

    If a replacement exists for the whole text, replacements of its parts are not applied.
    """
    old = pattern(new)
    return lambda text: new[text] if text in new else old.sub(lambda found: new[found[0]], text)
