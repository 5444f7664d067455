"""Converts a configuration of BookSim2 to a scenario that Weft can run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import PeerError, ScenarioError, writing
from weft.results import unfinished
from weft.scenario.scenario import Scenario
from weft.text import shell
from weft_peers.booksim.config import read
from weft_peers.booksim.document import document
from weft_peers.booksim.draft import Draft
from weft_peers.booksim.measure import measure
from weft_peers.booksim.packets import packet_flits, reply_flits
from weft_peers.booksim.router import buffers, router
from weft_peers.booksim.topology import links, network
from weft_peers.booksim.traffic import traffic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft_peers.booksim.config import Config
    from weft_peers.booksim.draft import Note

_PIPELINE = ("routing_delay", "vc_alloc_delay", "sw_alloc_delay", "st_prepare_delay", "st_final_delay")
# Maximum number of characters in the name of a scenario.
_LONGEST_NAME = 100
# For some entries of a scenario value: the BookSim2 keys from which the entry comes. With this table, an error about
# the entry names only these keys, not all keys of the whole value.
_NARROW = {
    "widths": ("k",),
    "terminals_per_router": ("c", "k"),
    "vcs": ("num_vcs",),
    "buffer": ("vc_buf_size", "buf_size"),
    "delay": _PIPELINE,
    "routing_delay": ("routing_delay",),
    "speedup": ("internal_speedup",),
    "credit_delay": ("credit_delay",),
    "allocator": ("sw_allocator",),
    "priority": ("priority",),
}


@dataclass(frozen=True)
class Imported:
    """An imported scenario, with the files that are written next to it.

    Attributes
    ----------
    scenario : Scenario
        The scenario with its files. The engine has checked all its points.
    notes : list of Note
        Notes on keys that have no effect, and on approximations.
    zero_load : float or None
        Mean packet latency without contention, for the first point of the scenario [cycles]; ``None`` if no terminal
        sends.
    zero_load_error : float
        Standard error of `zero_load` [cycles]; 0 unless Weft computed `zero_load` from only a sample of the possible
        paths.
    """

    scenario: Scenario
    notes: list[Note]
    zero_load: float | None
    zero_load_error: float

    def save(self, path: Path) -> list[Path]:
        """Write the scenario and its files, either all or none, and return the paths of the written files.

        Raises
        ------
        PeerError
            If this would overwrite a file that no import wrote.
        WriteError
            If files can't be written into the folder.
        """
        contents = {path: self.scenario.text.encode()}
        contents |= {path.parent / name: content for name, content in self.scenario.files.items()}
        with writing(path):
            if path.is_dir():
                raise PeerError.saying(
                    "it is a folder", f"name a file: --out {shell.word(path / self.scenario.source)}", str(path)
                )
            for file, content in contents.items():
                if file.exists() and file.read_bytes() != content:
                    raise PeerError.saying(
                        "the file exists, with different content", "choose another --out, or delete the file", str(file)
                    )
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(contents)
        return list(contents)


def _write(contents: Mapping[Path, bytes]) -> None:
    """Write all files under temporary names first, and then rename them, so that a failure leaves no partial import."""
    beside = {file: unfinished.beside(file) for file in contents}
    try:
        for file in contents:
            unfinished.clear(file.parent, file.name)
        for file, content in contents.items():
            beside[file].write_bytes(content)
        for file, partial in beside.items():
            partial.replace(file)
    finally:
        for partial in beside.values():
            partial.unlink(missing_ok=True)


def convert(words: Sequence[str], name: str) -> Imported:
    """Read a configuration, convert it to a scenario, and check the scenario.

    Parameters
    ----------
    words : sequence of str
        Files and words ``key=value``, as on the command line of BookSim2.
    name : str
        Name of the scenario, and prefix of the names of the files next to it.

    Raises
    ------
    PeerError
        If BookSim2 would refuse the configuration, or Weft cannot express it.
    """
    draft = Draft(read(words), name)
    _devices(draft)
    classes = _classes(draft)
    sizes = [packet_flits(draft, classes, place) for place in range(classes)]
    built = network(draft)
    lengths = {*chain(*sizes), reply_flits(draft, classes) or max(sizes[0])}
    buffer, flow_control = buffers(draft, lengths)
    asked = links(draft, built, buffer)
    model = router(draft, max(lengths)) | flow_control | asked
    draft.put("router", model, *_PIPELINE, "internal_speedup", "credit_delay", "sw_allocator", "priority")
    measure(draft)
    traffic(draft, built, sizes)
    draft.finish()
    return _checked(draft, words)


def _devices(draft: Draft) -> None:
    """Refuse a configuration in which a simulated GPU creates the packets. No traffic pattern can replace the GPU."""
    keys = draft.config.of_device
    if keys:
        others = f" (as {' and '.join(keys[1:])})" if keys[1:] else ""
        what = f"the packets come from a GPU that GPGPU-Sim simulates together with the network{others}"
        simple = {"sim_type": "latency", "traffic": "uniform", "injection_process": "bernoulli"}
        wanted = " ".join(f"{key} = {simple[key]};" for key in keys)
        draft.refuse(keys[0], what, f"to import only the network, with a traffic of BookSim2, write {wanted}")


def _classes(draft: Draft) -> int:
    """Return the number of traffic classes.

    The scenario will have a message class and a job for each traffic class. Several classes are refused if they have
    replies, or if some of them are not measured.
    """
    config = draft.config
    classes = config.at_least("classes", 1)
    if classes > 64:
        config.fail("classes", "these are too many classes", "write classes = 64; or less")
    measured = config.wholes("measure_stats", classes)
    if not any(measured):
        draft.refuse("measure_stats", "with this value BookSim2 measures nothing", "write measure_stats = 1;")
    elif "measure_stats" in config.given:
        draft.idle("measure_stats", "Weft measures all packets of the window")
    if classes == 1:
        return 1
    if any(config.wholes("use_read_write", classes)):
        what = (
            "several classes have requests and replies: in BookSim2 each class has one queue for packets on two "
            "sets of VCs"
        )
        draft.refuse("use_read_write", what, "import one class at a time: classes = 1; or write use_read_write = 0;")
    if _differs(config, "measure_stats", classes):
        what = "BookSim2 does not measure some classes; Weft measures all classes, each with its own results"
        draft.refuse("measure_stats", what, "write measure_stats = 1; and use the results of the classes that you want")
    return classes


def _differs(config: Config, key: str, classes: int) -> bool:
    """Return whether a key has a list with different values for the classes."""
    return len(set(config.listed(key)[:classes])) > 1


def _checked(draft: Draft, words: Sequence[str]) -> Imported:
    """Make the scenario from a draft, and check it with the engine.

    Comments in the scenario name the BookSim2 keys of each value. Errors also name these keys instead of scenario keys.
    """
    files = {name: text.encode() for name, text in draft.files.items()}
    behind = {part.path: part.keys for part in draft.parts}
    draft.parts = [
        replace(part, keys=tuple(draft.config.origin(key) for key in dict.fromkeys(part.keys))) for part in draft.parts
    ]
    source = " ".join(words)

    def scenario() -> Scenario:
        return Scenario(document(draft, source), draft.name, f"{draft.name}.yaml", files)

    found = scenario()
    try:
        try:
            zero_load = _check(found)
        except ScenarioError as problem:
            if "allow_dependency_cycle" not in problem.help + problem.path:
                raise
            why = "the paths form a cycle, on which BookSim2 can also deadlock"
            draft.put("allow_dependency_cycle", True, why=why)
            draft.approximate(
                "routing_function", "in Weft a deadlock ends the run; BookSim2 warns of the deadlock and continues"
            )
            found = scenario()
            zero_load = _check(found)
    except ScenarioError as problem:
        raise _refused(draft.config, behind, problem, source) from problem
    return Imported(found, draft.notes, *zero_load)


def _refused(
    config: Config, behind: Mapping[tuple[str, ...], tuple[str, ...]], problem: ScenarioError, source: str
) -> PeerError:
    """Rephrase an error of the engine: instead of the scenario key, it names the BookSim2 keys of the refused value."""
    place = tuple(problem.path.split("."))
    parts = [path for path in behind if path == place[: len(path)]]
    keys = behind[max(parts, key=len)] if parts else ()
    narrow = {key for word in place for key in _NARROW.get(word, ())}
    keys = tuple(key for key in keys if key in narrow) or keys
    keys = tuple(key for key in keys if key in config.given) or keys
    if not keys:
        return PeerError.saying(f"Weft refuses the resulting scenario: {problem.what}", problem.help, source)
    shown, remedy = ", ".join(map(config.shown, keys)), f"change {' or '.join(keys)}: in {problem.path} of the scenario"
    return PeerError.saying(f"{shown}: {problem.what}", f"{remedy}, {problem.help}", config.place(keys[0]))


def _check(scenario: Scenario) -> tuple[float | None, float]:
    """Check the first point of a scenario, and return its zero-load latency and the standard error of it [cycles]."""
    facts = scenario.points()[0].imply()
    sampled = facts["sampled"] or {}
    return facts["zero_load_latency_cycles"], sampled.get("zero_load_latency_standard_error_cycles", 0.0)


def name_of(word: str) -> str:
    """Make the name of a scenario from the name of a configuration file."""
    kept = "".join(sign if (sign.isalnum() and sign.isascii()) or sign in "-_" else "-" for sign in Path(word).stem)
    return kept.strip("-")[:_LONGEST_NAME] or "booksim"
