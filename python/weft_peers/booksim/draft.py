"""Collects the parts of a scenario during an import: values with BookSim2's keys, and keys without counterpart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from weft.errors import PeerError
from weft_peers.booksim import bands, forks
from weft_peers.booksim.config import where
from weft_peers.booksim.keys import IDLE

if TYPE_CHECKING:
    from weft_peers.booksim.config import Config
    from weft_peers.booksim.grammar import Assignment


@dataclass(frozen=True)
class Part:
    """A value of the imported scenario.

    Attributes
    ----------
    path : tuple of str
        Names of the nested scenario keys that lead to the value.
    value : object
        The value as scenarios write it.
    keys : tuple of str
        BookSim2's keys from which the value comes.
    why : str
        A remark on these keys, for the comment in the scenario file.
    """

    path: tuple[str, ...]
    value: Any
    keys: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Note:
    """A note on a key of BookSim2 without an exact counterpart: it has no effect in Weft, or an approximate one.

    Attributes
    ----------
    kind : str
        ``no effect`` or ``approximated``.
    key : str
        The key with its value.
    text : str
        The reason why the key has no effect, or the consequence of the approximation.
    """

    kind: Literal["no effect", "approximated"]
    key: str
    text: str


@dataclass
class Draft:
    """The state of an import: values, notes and refusals until the scenario is complete.

    Attributes
    ----------
    config : Config
        The configuration that is imported.
    name : str
        Name of the scenario, and prefix of the names of the files next to it.
    parts, notes : list
        The values that the scenario file will contain, and the notes that the command will print.
    files : dict of str to str
        Contents of the files that are written next to the scenario, by name.
    refusals : list of (str, str, str)
        All keys that Weft cannot express, each with the fault and the remedy.
    """

    config: Config
    name: str
    parts: list[Part] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    refusals: list[tuple[str, str, str]] = field(default_factory=list)

    def put(self, path: str, value: Any, *keys: str, why: str = "") -> None:
        """Add a value to the scenario at a dotted path, with the BookSim2 keys from which the value comes."""
        self.parts.append(Part(tuple(path.split(".")), value, keys, why))

    def approximate(self, key: str, text: str, band: str = "") -> None:
        """Add a note that a key has a slightly different effect in Weft.

        `band` names the entry of `bands.BANDS` with measurements of the difference.
        """
        found = f"{text}; {bands.sentence(band)}" if band in bands.BANDS else text
        self.notes.append(Note("approximated", self.config.shown(key), found))

    def idle(self, key: str, text: str) -> None:
        """Add a note that a key has no effect in Weft."""
        self.notes.append(Note("no effect", self.config.shown(key), text))

    def refuse(self, key: str, what: str, help: str) -> None:
        """Record that Weft cannot express a key. At the end, one error lists all recorded keys."""
        self.refusals.append((key, what, help))

    def finish(self) -> None:
        """Add a note for each given key that no converter has read, so that it has no effect.

        Raises
        ------
        PeerError
            If an importer has refused a key. The error lists all refused keys.
        """
        if self.refusals:
            self.refusals = list(dict.fromkeys(self.refusals))
            what = "; ".join(f"{self.config.shown(key)}: {missing}" for key, missing, _ in self.refusals)
            remedy = "; ".join(dict.fromkeys(remedy for *_, remedy in self.refusals)).replace(";;", ";")
            place = self.config.place(self.refusals[0][0])
            raise PeerError.saying(what, remedy, place)
        self._tell_forks()
        found = {note.key.partition(" = ")[0] for note in self.notes}
        for key in self.config.given:
            if key not in self.config.read and key not in found:
                why = forks.remark(key) if key in forks.IDLE else IDLE.get(key)
                self.idle(key, why or "Weft does not read it with these settings")
        for one in self.config.replaced:
            text = f"the later {self.config.shown(one.key)} counts"
            self._outdone(one, text)
        for one in self.config.outranked:
            text = (
                f"{self.config.shown(one.key)} counts: text has priority over a number, and a number over an empty list"
            )
            self._outdone(one, text)

    def _tell_forks(self) -> None:
        """Add notes on lists for keys that accept lists only in forks of BookSim2, and on keys of simulated devices."""
        for key in forks.LISTS:
            if key in self.config.given and self.config.shown(key).endswith("}"):
                self.approximate(
                    key, "only a fork accepts lists, BookSim2 takes one number: the routers of each dimension"
                )
        devices = [key for key in self.config.given if key in forks.OF_DEVICES]
        if devices:
            text = (
                f"{devices[0]} belongs to a simulated device, which creates the packets in BookSim2; in Weft the "
                "pattern creates them"
            )
            self.approximate("traffic", text)

    def _outdone(self, one: Assignment, text: str) -> None:
        self.notes.append(Note("no effect", f"{one.key} = {one.value} ({where(one)})", text))
