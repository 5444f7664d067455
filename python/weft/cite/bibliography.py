"""Makes BibTeX entries from the sources of models.

The header of each model's Rust file has a section `Source`. The engine stores these sections in `MODEL_SOURCES`.

A source names papers as ``Authors, "Title", Venue Year``. Each of these papers becomes a BibTeX entry. If a source has
no title between quotes, it is not a publication, and becomes a BibTeX comment.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from weft import _engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Pattern of a paper in a source: authors, title, and venue up to the year.
_PAPER = re.compile(r'(?P<authors>[^";:()]+?), "(?P<title>[^"]+)"(?:,? (?P<venue>[^;:"]*?(?:\d{4}|\'\d{2})))?')
# Pattern of the text that introduces a paper, up to its first author. The text ends with a full stop or a word like
# "of".
_LEAD = re.compile(r"^.*(?:[a-z)]\.|\bof|\bby|\bon|\bas|\bin) (?=[A-Z])", re.DOTALL)
_YEAR = re.compile(r"(\d{4})|'(\d{2})")
# Family of the recordings. They are not cited, because they are not part of the simulated network.
_RECORDINGS = "measure"
# Prices are not models, but they are cited like models. The sources of prices are in the header of
# `crates/scenario/src/prices.rs`, and in the catalogue.
_PRICES = "power.prices"
_PRICE_SOURCES = {
    "default": (
        'Kim et al., "TCEP: Traffic Consolidation for Energy-Proportional High-Radix Networks", ISCA 2018: links at '
        'full rate. Abts, Marty, Wells, Klausler, Liu, "Energy Proportional Datacenter Networks", ISCA 2010: links at '
        "lower rates."
    ),
    "catalogue": "The catalogue of hardware. `weft catalogue` prints each number with its source.",
}


@dataclass(frozen=True)
class Entry:
    """A publication, as a BibTeX entry.

    Attributes
    ----------
    key : str
        The BibTeX key of the publication.
    fields : dict
        BibTeX fields such as author, title and year.
    models : tuple of str
        The models that are based on the publication, as ``family name``.
    """

    key: str
    fields: Mapping[str, str]
    models: tuple[str, ...] = ()

    def bibtex(self) -> str:
        """The entry as text in the BibTeX format."""
        fields = dict(self.fields)
        if self.models:
            text = f"Models of Weft: {', '.join(self.models)}"
            fields["note"] = f"{fields['note']} {text}" if "note" in fields else text
        lines = [f"  {name} = {{{_escaped(value)}}}," for name, value in fields.items()]
        return "\n".join([f"@misc{{{self.key},", *lines, "}"])


@cache
def sources() -> dict[str, dict[str, str]]:
    """The `Source` of each model, by family and name."""
    found: dict[str, dict[str, str]] = json.loads(_engine.MODEL_SOURCES)
    return found


def _source(family: str, name: str) -> str:
    """The `Source` of a model, or of prices."""
    if family == _PRICES:
        return _PRICE_SOURCES[name]
    return sources()[family].get(name, "The package that adds this model.")


def weft(version: str, commit: str) -> Entry:
    """The BibTeX entry of Weft."""
    built = f", commit {commit}" if commit else ""
    fields = {
        "author": "{The Weft developers}",
        "title": "{Weft}: a flit-level simulator of interconnection networks",
        "note": f"Version {version}{built}.",
    }
    return Entry("weft", fields)


def entries(used: Sequence[tuple[str, str]]) -> list[Entry]:
    """The publications on which the models in `used` are based, each once, in the order of the models.

    Parameters
    ----------
    used : sequence of tuple of str
        Families and names of the models.
    """
    found: dict[str, Entry] = {}
    for family, name in used:
        source = _source(family, name)
        model = f"{family.rpartition('.')[2]} {name}"
        for entry in _papers(source):
            known = found.get(entry.key, entry)
            # keep the longest title, because another model may name the paper only by the first word of its title
            fields = max(known.fields, entry.fields, key=lambda each: len(each["title"]))
            models = known.models if entry.key in found else ()
            found[entry.key] = Entry(entry.key, fields, (*models, model))
    return list(found.values())


def unpublished(used: Sequence[tuple[str, str]]) -> str:
    """A BibTeX comment with the sources of models that name no publication; empty if all models name one."""
    others = {f"{family.rpartition('.')[2]} {name}": _source(family, name) for family, name in used}
    lines = [
        f"% - {model}: {' '.join(source.split())}".replace("@", "(at)")
        for model, source in others.items()
        if not _papers(source)
    ]
    return "\n".join(["% Other models of Weft; their sources name no title of a publication:", *lines]) if lines else ""


def models_of(resolved: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The models that a resolved scenario uses, each once, as pairs of family and name.

    `names` are the names of all models, by family. Models inside another model, such as the parts of a mix of patterns,
    are included.
    """
    known: dict[tuple[str, str], None] = {}
    for family, models in names.items():
        if family != _RECORDINGS:
            section, _, key = family.partition(".")
            for node in _below(resolved.get(section), key):
                known |= {(family, name): None for name in _named(node, models)}
    yield from known


def prices_of(resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Family and name of the energy prices that a scenario uses; empty if the scenario states its own prices."""
    power = resolved["power"]
    if "catalogue" in power:
        yield _PRICES, "catalogue"
    elif power["prices"] == _engine.schema()["$defs"]["PowerConfig"]["properties"]["prices"]["default"]:
        yield _PRICES, "default"


def _below(node: Any, key: str) -> Iterator[Any]:
    """All values of a key at any depth of a section; the section itself if ``key`` is empty."""
    if not key:
        yield node
        return
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _below(each, key)
    if isinstance(node, dict) and key in node:
        yield node[key]


def _named(node: Any, models: Sequence[str]) -> Iterator[str]:
    """All names of models at any depth of a value."""
    if isinstance(node, str) and node in models:
        yield node
    elif isinstance(node, list):
        for each in node:
            yield from _named(each, models)
    elif isinstance(node, dict):
        for name, value in node.items():
            if name in models and len(node) == 1:
                yield name
            yield from _named(value, models)


def _papers(source: str) -> list[Entry]:
    papers = []
    for found in _PAPER.finditer(source):
        authors = _LEAD.sub("", found["authors"]).strip()
        venue = re.sub(r"^\([^)]*\),? +", "", found["venue"] or "").strip("( ")
        venue += ")" * (venue.count("(") - venue.count(")"))
        year = _YEAR.search(venue)
        fields = {
            "author": _joined(authors),
            "title": f"{{{found['title']}}}",
            **({"howpublished": venue} if venue else {}),
            **({"year": _full(year)} if year else {}),
        }
        papers.append(Entry(_key(authors, found["title"], fields.get("year", "")), fields))
    return papers


def _joined(authors: str) -> str:
    """The authors in BibTeX form, joined by "and"."""
    people = [
        each for each in re.split(r", | and ", authors.replace(" et al.", ", others")) if re.fullmatch(r"\D+", each)
    ]
    return " and ".join(people)


def _full(year: re.Match[str]) -> str:
    """The year of a venue in four digits: '08 is 2008, '95 is 1995."""
    if year[1]:
        return year[1]
    return f"{'19' if int(year[2]) > 50 else '20'}{year[2]}"


def _key(authors: str, title: str, year: str) -> str:
    """BibTeX key: the family name of the first author, the year, and the first long word of the title."""
    first = re.split(r", | and | et al", authors)[0].split()[-1]
    word = next((each for each in re.findall(r"\w+", title) if len(each) > 3), "")
    return re.sub(r"\W", "", f"{first}{year}{word}".lower())


def _escaped(text: str) -> str:
    """The text with the special characters of BibTeX escaped.

    Braces are not escaped, because they preserve capitals.
    """
    return re.sub(r"([&%$#_])", r"\\\1", " ".join(text.split()).replace("`", "'").replace("^", ""))
