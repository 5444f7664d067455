"""Reads a matplotlib style sheet and applies it to figures.

The settings of the sheet override the settings that all figures share.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties, findfont

from weft.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# The settings of the figure that is being drawn, from which the code reads colours and line widths.
_IN_FORCE: ContextVar[Mapping[str, Any]] = ContextVar("settings of figures", default=MappingProxyType({}))
# Settings of a style sheet that Weft ignores, because they do not change the look of a figure, or would override
# `--width`.
_NOT_OURS = ("backend", "backend_fallback", "interactive", "toolbar", "savefig.bbox", "savefig.format")


def settings(base: Mapping[str, Any], style: str | None) -> dict[str, Any]:
    """The settings of a style sheet for figures. Settings that the style sheet lacks come from `base`.

    Raises
    ------
    WeftError
        If the file cannot be read, has settings that matplotlib does not know, uses TeX, or names fonts that are not
        installed.
    """
    if style is None:
        return dict(base)
    read = {key: value for key, value in _read(style).items() if key not in _NOT_OURS}
    if read.get("text.usetex"):
        what = f"--style {style}: text.usetex is on, but names of models and units are not TeX"
        raise WeftError.saying(what, "remove that line; `font.family: serif` and `mathtext.fontset: cm` look similar")
    both = {**base, **read}
    with applied(both):
        try:
            findfont(FontProperties(family=mpl.rcParams["font.family"]), fallback_to_default=False)
        except ValueError:
            family = ", ".join(mpl.rcParams["font.family"])
            what = f"--style {style}: none of the fonts {family} is installed"
            raise WeftError.saying(what, "name an installed font (`fc-list : family` lists them), or `serif`") from None
    return both


@contextmanager
def applied(rc: Mapping[str, Any]) -> Iterator[None]:
    """Apply settings inside a ``with`` block.

    Warnings about missing fonts are suppressed, because `settings` has checked that one of the named fonts is
    installed.
    """
    fonts = logging.getLogger("matplotlib.font_manager")
    level = fonts.level
    fonts.setLevel(logging.ERROR)
    before = _IN_FORCE.set(rc)
    try:
        with mpl.rc_context(dict(rc)):  # type: ignore[arg-type] # the type accepts only literal keys
            yield
    finally:
        _IN_FORCE.reset(before)
        fonts.setLevel(level)


def cycle(what: str, default: Sequence[str]) -> Sequence[str]:
    """Colours (``color``) or markers (``marker``) of series: from the style sheet, or `default` if it has none."""
    found = _IN_FORCE.get().get("axes.prop_cycle")
    return found.by_key().get(what) or default if found is not None else default


def scale(what: str, default: float) -> float:
    """Value of a setting of the style sheet, such as ``lines.linewidth``, as a multiple of `default` [points]."""
    return float(_IN_FORCE.get().get(what, default)) / default


def _read(style: str) -> dict[str, Any]:
    """The keys and values of a style sheet. Problems for which matplotlib only writes to its log raise an error."""
    if not Path(style).is_file():
        what = f"--style {style}: there is no such file"
        raise WeftError.saying(what, "name a matplotlib style sheet: lines such as `font.family: serif`")
    shown = _Records()
    log = logging.getLogger("matplotlib")
    log.addHandler(shown)
    propagate, log.propagate = log.propagate, False
    try:
        read = {str(key): value for key, value in _parsed(style).items()}
    except (ValueError, OSError, UnicodeError) as problem:
        first = (str(problem).strip().splitlines() or ["the file can't be read"])[0]
        raise WeftError.saying(f"--style {style}: {first}", _HELP) from problem
    finally:
        log.removeHandler(shown)
        log.propagate = propagate
    if shown.lines or not read:
        first = shown.lines[0] if shown.lines else "the file has no settings"
        raise WeftError.saying(f"--style {style}: {first}", _HELP)
    return read


def _parsed(style: str) -> Mapping[Any, Any]:
    return mpl.rc_params_from_file(style, fail_on_error=True, use_default_template=False)


_HELP = "write lines such as `font.family: serif`, with the keys of matplotlib's rcParams"


class _Records(logging.Handler):
    """A log handler that stores the first line of each record."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Store the first line of a log record that is not empty."""
        self.lines.append(next((line for line in record.getMessage().splitlines() if line.strip()), ""))
