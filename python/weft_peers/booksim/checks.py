"""Checks the keys of a BookSim2 configuration and the types of their values. One error lists all faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.errors import PeerError
from weft.text.meant import same
from weft_peers.booksim import forks
from weft_peers.booksim.grammar import file_of
from weft_peers.booksim.keys import FLOATS, INTS, KEYS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weft_peers.booksim.grammar import Assignment, Kind

_TABLES: dict[Kind, Mapping[str, object]] = {"int": INTS, "float": FLOATS, "text": TEXTS}
_WORDS = {"int": "a whole number", "float": "a number with a decimal point", "text": "a word or a list"}


def check(assignments: Iterable[Assignment]) -> None:
    """Check the key and the type of the value in all assignments.

    Raises
    ------
    PeerError
        If BookSim2 does not know a key, or a value does not have the type that BookSim2 needs for its key. The error
        names the place of the first fault, and lists all faults.
    """
    wrong: dict[str, Assignment] = {}
    for one in assignments:
        if not _is_known(one):
            wrong.setdefault(one.key, one)
    unknown = [one for one in wrong.values() if one.key not in KEYS]
    mistyped = [one for one in wrong.values() if one.key in KEYS]
    if not wrong:
        return
    what = [_no_key(unknown)] if unknown else []
    remedies = _meant(unknown)
    for one in mistyped:
        kinds = [kind for kind, table in _TABLES.items() if one.key in table]
        takes = f"{one.key} takes {' or '.join(_WORDS[kind] for kind in kinds)}"
        found = "a list, which only forks of BookSim2 accept" if _is_list(one) else _WORDS[one.kind]
        what.append(f"{takes}, but {one.value} is {found}")
        remedies.append(_retype(one, kinds))
    first = next(iter(wrong.values()))
    raise PeerError.saying("; ".join(what), "; ".join(remedies).replace(";;", ";"), first.place)


def near(word: str, known: Iterable[str]) -> list[str]:
    """Return the names in `known` of which `word` is probably a misspelling."""
    return [name for name in known if same(word, name)]


def did_you_mean(near: Sequence[str], otherwise: str) -> str:
    """Return a question that suggests the first name in `near`; the text `otherwise` if there is none."""
    return f"did you mean {near[0]}?" if near else otherwise


def _is_known(one: Assignment) -> bool:
    if one.key in forks.IDLE:
        return True
    return one.key in _TABLES[one.kind] or (one.key in forks.LISTS and _is_list(one))


def _is_list(one: Assignment) -> bool:
    return one.kind == "text" and str(one.value).startswith("{")


def _no_key(unknown: Sequence[Assignment]) -> str:
    if len(unknown) == 1:
        return f"BookSim2 has no key {unknown[0].key}"
    text = ", ".join(f"{one.key}{_line(one)}" for one in unknown)
    return f"BookSim2 has none of the {len(unknown)} keys {text}"


def _line(one: Assignment) -> str:
    return f" (line {one.place.rpartition(':')[2]})" if file_of(one) else ""


def _meant(unknown: Sequence[Assignment]) -> list[str]:
    """Return remedies for unknown keys. A key that resembles no known key can belong to a fork of BookSim2."""
    shown, others = [], []
    for one in unknown:
        found = near(one.key, KEYS)
        if found:
            named = "" if len(unknown) == 1 else f" for {one.key}"
            shown.append(did_you_mean(found, "").replace("?", f"{named}?"))
        else:
            others.append(one.key)
    if others:
        word = "it" if len(unknown) == 1 else "the others" if shown else "them"
        whose = "if a fork has it" if word == "it" else "if a fork has them"
        shown.append(f"remove {word}: BookSim2 also stops here; {whose}, Weft has no model of its function")
    return shown


def _retype(one: Assignment, kinds: Sequence[Kind]) -> str:
    if one.kind == "int" and "float" in kinds:
        return f"write {one.key} = {one.value}.0;"
    if one.kind == "float" and "int" in kinds and float(one.value).is_integer():
        return f"write {one.key} = {int(one.value)};"
    if _is_list(one):
        return f"write one equivalent value for {one.key}: only the fork defines the meaning of a list"
    if kinds == ["text"] and not TEXTS[one.key]:
        return f"write {one.key} = {{{one.value}}};"
    return (
        f"write {one.key} = {INTS.get(one.key, FLOATS.get(one.key, TEXTS.get(one.key)))}; or another value of this type"
    )
