"""Collects an unfinished scenario: its values with their BookSim2 keys, and the keys that have no counterpart."""

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
    """A value of the scenario that the import makes.

    Attributes
    ----------
    path : tuple of str
        Path of the value in the scenario.
    value : object
        The value in the form of a scenario.
    keys : tuple of str
        BookSim2's keys from which the value comes.
    why : str
        A remark on these keys for the reader.
    """

    path: tuple[str, ...]
    value: Any
    keys: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Note:
    """A note on a key without an exact counterpart: the key has no effect, or its effect is approximated.

    Attributes
    ----------
    kind : str
        ``no effect`` or ``approximated``.
    key : str
        The key with its value.
    text : str
        The reason, or the consequence.
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
        Files next to the scenario.
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
        """Add a value of the scenario, with the BookSim2 keys from which it comes."""
        self.parts.append(Part(tuple(path.split(".")), value, keys, why))

    def approximate(self, key: str, text: str, band: str = "") -> None:
        """Add a note that a key has a slightly different effect in Weft.

        `band` names the measurement of the difference.
        """
        found = f"{text}; {bands.sentence(band)}" if band in bands.BANDS else text
        self.notes.append(Note("approximated", self.config.shown(key), found))

    def idle(self, key: str, text: str) -> None:
        """Add a note that a key has no effect in Weft."""
        self.notes.append(Note("no effect", self.config.shown(key), text))

    def refuse(self, key: str, what: str, help: str) -> None:
        """Record that Weft cannot express a key. All these records become one error."""
        self.refusals.append((key, what, help))

    def finish(self) -> None:
        """Add a note for each given key that the scenario does not express.

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
        """Add notes on list values, which only forks accept, and on keys of simulated devices."""
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
