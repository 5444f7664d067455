"""Suggests known words that are similar to an unknown word ("did you mean ...?")."""

from __future__ import annotations

from re import split
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Two words such as "saturate" and "saturation" differ only in their endings. They must share at least this number of
# letters at the beginning, and have at most this number of letters after these.
_STEM = 5
_ENDING = 4
# Minimum lengths of words in which a missing letter, or a wrong letter, counts as a typing error. Shorter words with
# different meanings often differ in only one letter.
_SHORT = 3
_LONG = 4


def meant(word: object, known: Iterable[str], otherwise: str) -> str:
    """A question that proposes similar known words, such as "did you mean `vcs`?"; `otherwise` if there are none."""
    alike = [
        each for each in dict.fromkeys(known) if _is_slip(_plain(str(word)), _plain(each)) or same(str(word), each)
    ]
    return f"did you mean {' or '.join(f'`{each}`' for each in alike[:2])}?" if alike else otherwise


def same(word: str, known: str) -> bool:
    """Whether two names of parameters mean the same.

    The names must have the same parts in the same order; a part can differ by a typing error or in its ending.

    Examples
    --------
    >>> same("vc_buff_size", "vc_buf_size"), same("num_vc", "num_vcs"), same("inject_rate", "injection_rate")
    (True, True, True)
    >>> same("flit_size", "buf_size"), same("input_delay", "output_delay"), same("num_vns", "num_vcs")
    (False, False, False)
    """
    word, known = _plain(word), _plain(known)
    parts, others = split(r"[_. ]+", word), split(r"[_. ]+", known)
    if word.replace("_", "") == known.replace("_", ""):
        return True
    alike = (a == b or _is_slip(a, b) or _is_ending(a, b) for a, b in zip(parts, others, strict=False))
    return len(parts) == len(others) and all(alike)


def _plain(word: str) -> str:
    return word.lower().replace("-", "_").strip("_")


def _is_slip(word: str, known: str) -> bool:
    """Whether one letter is missing, extra or wrong in a word, or two neighbouring letters are swapped.

    The digits of the two words must be equal.
    """
    start = _shared(word, known)
    a, b = word[start:], known[start:]
    end = _shared(a[::-1], b[::-1])
    a, b = a[: len(a) - end], b[: len(b) - end]
    if min(len(word), len(known)) < _SHORT or not (a + b).replace("_", "").isalpha():
        return False
    is_other = len(a) == len(b) == 1 and len(word) >= _LONG
    return len(a + b) == 1 or is_other or (len(a) == 2 and a == b[::-1])


def _is_ending(word: str, known: str) -> bool:
    """Whether two words differ only in their endings, such as a plural and a singular, or saturate and saturation."""
    stem = _shared(word, known)
    endings = word[stem:], known[stem:]
    is_plural = stem > 1 and sorted(endings) == ["", "s"]
    return is_plural or (stem >= _STEM and max(map(len, endings)) <= _ENDING and "".join(endings).isalpha())


def _shared(word: str, other: str) -> int:
    """Number of letters at the beginning that two words share."""
    places = (place for place, (a, b) in enumerate(zip(word, other, strict=False)) if a != b)
    return next(places, min(len(word), len(other)))
