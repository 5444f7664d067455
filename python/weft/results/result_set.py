"""Reads the finished points of a sweep: a frame with one row per point, and further tables of each point."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import polars as pl
import polars.selectors as cs
import yaml

from weft import _engine
from weft.errors import ResultsError
from weft.results import of_flows, of_jobs, soundness
from weft.results import of_message_classes as of_classes
from weft.results.quantities import ENDING, STALLED
from weft.results.rows import frame_of, scalars
from weft.results.store import Store
from weft.scenario.scenario import Scenario
from weft.text import given, shell
from weft.text.labels import setting
from weft.text.meant import meant

# Tables that are stored only if the scenario requests them, each with a setting that requests it, in the form of
# ``--set``.
ASKING = {each["name"]: f"measure.{each['name']}={each['example']}" for each in _engine.recordings()} | {
    "groups": "power.groups={by: router}"
}

# Keys that every resolved scenario has.
_SECTIONS = ("topology", "links", "routing", "traffic", "measure")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Damaged(NamedTuple):
    """A point whose files can't be used.

    Attributes
    ----------
    hash : str
        Name of the folder of the point.
    coordinates : dict
        Coordinates of the point: the values that the sweep varies.
    reason : str
        Description of the damage.
    """

    hash: str
    coordinates: dict[str, Any]
    reason: str


class ResultSet:
    """Finished points of a sweep, as stored on disk.

    Parameters
    ----------
    store : Store
        Folder of the sweep.
    thorough : bool
        Whether to check the checksums of all files when the results are opened, as a run does. Otherwise the checksum
        of a table is checked when the table is read.

    Attributes
    ----------
    name : str
        Name of the sweep.
    title : str
        Title of tables and pictures: the name, and the overrides if there are any.
    points : list of dict
        ``hash`` and ``coordinates`` of each finished point, in the order of the sweep.
    summaries : list of dict
        Contents of ``summary.json`` of each of these points.
    absent : list of dict
        ``hash`` and ``coordinates`` of each point without results.
    missing : int
        Number of points without results.
    damaged : list of Damaged
        Points whose results are incomplete, or were written by another version of Weft. The other attributes do not
        contain these points.
    """

    def __init__(self, store: Store, *, thorough: bool = False) -> None:
        manifest = store.manifest()
        listed: list[dict[str, Any]] = manifest["points"]
        self._store = store
        self.name: str = manifest["name"]
        self.title: str = manifest.get("title", self.name)
        self.points: list[dict[str, Any]] = []
        self.summaries: list[dict[str, Any]] = []
        self.damaged: list[Damaged] = []
        self.absent: list[dict[str, Any]] = []
        for point in listed:
            if not store.complete(point["hash"]):
                self.absent.append(point)
                continue
            try:
                summary = (store.check if thorough else store.summary)(point["hash"])
            except ResultsError as problem:
                self.damaged.append(Damaged(point["hash"], point["coordinates"], problem.what))
                continue
            self.points.append(point)
            self.summaries.append(summary)
        self.missing = len(self.absent)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a folder of results. Damaged points are left out, and `damaged` names them.

        Raises
        ------
        ResultsError
            If the folder was not written by a sweep, or if all its points are damaged or from another version of Weft.
        """
        results = cls(Store(folder))
        if results.damaged and not results.points:
            what = f"none of the {len(results.damaged)} points in {folder} can be used; the first: "
            remedy = f"run them again: {results.command}" if results.command else "run the sweep again"
            raise ResultsError.saying(what + results.damaged[0].reason, remedy)
        return results

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        missing = f", {self.missing} missing" if self.missing else ""
        damaged = f", {len(self.damaged)} damaged" if self.damaged else ""
        return f"<weft.{type(self).__name__} {self.name!r}: {len(self)} points{missing}{damaged}>"

    @property
    def root(self) -> Path:
        """Folder of the sweep."""
        return self._store.root

    @property
    def command(self) -> str | None:
        """The command that runs missing or damaged points; ``None`` if the scenario was only in memory."""
        words = self._store.manifest().get("command")
        return shell.command(*words, "--out", self.root) if words else None

    def recording(self, *settings: str) -> str:
        """Text on how to run the sweep again with further settings.

        The proposed command writes to another folder, so that these results are kept.
        """
        words = self._store.manifest().get("command")
        if not words:
            return f"set {' and '.join(settings)} in the scenario, and run it with results in another folder"
        out = self._store.free()
        again = shell.command(*words, *(each for setting in settings for each in ("--set", setting)), "--out", out)
        return f"run the sweep again, with results in another folder, {out}:\n  {again}"

    def with_another(self, point: int, path: str, value: str, along: str, *others: str) -> str:
        """Text on how to run a point in another folder, with another value of a key and the settings `others`.

        If the sweep varies that key, the text proposes to run only the scenario of the point, at all values of `along`.
        The reasons: `zip` possibly varies other keys together with the key, so that their values do not fit its new
        value. Or the sweep already has the new value.
        """
        coordinates = self.points[point]["coordinates"]
        if path not in coordinates:
            return self.recording(f"{path}={value}", *others)
        settings = [f"{path}={value}", *others]
        if along in coordinates:
            listed = [each["coordinates"] for each in self.points]
            values = [each[along] for each in listed if each | {along: None} == coordinates | {along: None}]
            settings.append(f"sweep.{along}={values}")
        out, file = self._store.free(), self.folder(point) / "scenario.yaml"
        again = shell.command("run", file, *(each for word in settings for each in ("--set", word)), "--out", out)
        return f"run the point again, with results in another folder, {out}:\n  {again}"

    @cached_property
    def unlisted(self) -> int:
        """Number of points in the folder that were removed from the sweep.

        These points are in no table, but stay on disk.
        """
        return self._store.unlisted()

    @property
    def bill_keys(self) -> dict[str, Any] | None:
        """The section ``bill`` of the scenario that was last run, with defaults.

        The result is ``None`` if that scenario had no bill.
        """
        keys = self._store.manifest().get("bill")
        return keys if isinstance(keys, dict) else None

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Table with a row per point: coordinates by dotted path, then the scalars of the summary, then `flaws`.

        Numbers are unchanged; a model (``{"ugal_p": {}}``) is replaced by its label (``ugal_p``).
        """
        return frame_of([row for _, row in self.rows])

    @property
    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """Index of each point, and its row in `frame`. Models in these rows are not yet replaced by their labels."""
        return [
            (number, point["coordinates"] | scalars(summary, point["coordinates"]) | {"flaw": flaw})
            for number, (point, summary, flaw) in enumerate(zip(self.points, self.summaries, self.flaws, strict=True))
        ]

    @property
    def job_rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The rows of `jobs`, each with the index of its point."""
        return [
            (number, point["coordinates"] | scalars(job, point["coordinates"]) | {"flaw": flaw})
            for number, (point, summary) in enumerate(zip(self.points, self.summaries, strict=True))
            for job, flaw in zip(of_jobs.of(summary), of_jobs.reasons(summary), strict=True)
        ]

    @property
    def message_class_rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The rows of `message_classes`, each with the index of its point."""
        return [
            (number, point["coordinates"] | scalars(one, point["coordinates"]) | {"flaw": flaw})
            for number, (point, summary) in enumerate(zip(self.points, self.summaries, strict=True))
            for one, flaw in zip(of_classes.of(summary), of_classes.reasons(summary), strict=True)
        ]

    @property
    def phase_rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The rows of `phases`, each with the index of its point."""
        return [
            (number, point["coordinates"] | scalars(phase, {}) | {"flaw": soundness.reason(judged)})
            for number, (point, summary) in enumerate(zip(self.points, self.summaries, strict=True))
            for phase, judged in zip(summary.get("phases", []), soundness.in_phases(summary), strict=True)
        ]

    @property
    def flow_rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The rows of `flows`, each with the index of its point."""
        return [
            (number, point["coordinates"] | scalars(flow, point["coordinates"]) | {"flaw": flaw})
            for number, (point, summary, flaw) in enumerate(zip(self.points, self.summaries, self.flaws, strict=True))
            for flow in of_flows.of(summary)
        ]

    @property
    def episode_rows(self) -> list[tuple[int, dict[str, Any]]]:
        """A row per episode of faults (time from a first failure until all parts work again), with its point index."""
        return [
            (number, point["coordinates"] | scalars(episode, point["coordinates"]) | {"flaw": flaw})
            for number, (point, summary, flaw) in enumerate(zip(self.points, self.summaries, self.flaws, strict=True))
            for episode in summary.get("fault_episodes", [])
        ]

    @property
    def flaws(self) -> list[str | None]:
        """For each point, the reason why it is never called best, such as saturated or not settled.

        An entry is ``None`` if the point is sound.
        """
        return [soundness.reason(summary) for summary in self.summaries]

    @property
    def diagnoses(self) -> list[list[dict[str, Any]]]:
        """The diagnoses of each point: its flaws, the worst first, then the flaws of each phase, then the warnings.

        Each diagnosis has ``code`` (`weft explain code` explains it), ``severity``, ``what``, ``numbers`` and
        ``remedy``; a diagnosis of a phase also has ``phase``. A remedy has ``text`` and ``settings``: values by dotted
        path, in the form of ``--set``. The settings are empty if settings alone are no remedy.
        """
        again = self.command
        return [soundness.diagnoses(summary, self.root, again) for summary in self.summaries]

    @property
    def coordinates(self) -> list[str]:
        """Paths of the coordinates, which are the columns of the frame that the sweep varies."""
        return list(self.points[0]["coordinates"]) if self.points else []

    def folder(self, point: int) -> Path:
        """Folder with the files of a point; `point` is its row number in `frame`.

        Raises
        ------
        ResultsError
            If no point has this number.
        """
        return self._store.folder(self._at(point)["hash"])

    def _at(self, point: int) -> dict[str, Any]:
        number = abs(point) if isinstance(point, int) else point  # negative: from the last point
        given.whole(number, "point", least=0)
        if not self.points:
            what = f"{self.root} has no point {point}: no point is finished"
            raise ResultsError.saying(what, f"`{shell.command('status', self.root)}` shows the progress of the sweep")
        if not -len(self) <= point < len(self):
            known = f"its {len(self)} finished points have the numbers 0 to {len(self) - 1}"
            what = f"{self.root} has no point {point}: {known}"
            raise ResultsError.saying(what, "choose one of them: they are the rows of `frame`")
        return self.points[point]

    def scenario(self, point: int) -> dict[str, Any]:
        """The resolved scenario of a point: all keys, including those with defaults."""
        path = self.file(point, "scenario.yaml")
        try:
            read = yaml.load(path.read_bytes(), _Loader)
        except (OSError, ValueError, yaml.YAMLError) as problem:
            raise _unreadable(path, problem) from problem
        if absent := [key for key in _SECTIONS if not isinstance(read, dict) or key not in read]:
            raise _unreadable(path, f"the file has no {', '.join(absent)}")
        return dict(read)

    def network(self, point: int) -> dict[str, Any]:
        """The network of a point as data, in the same form as `Point.network`."""
        return Scenario.from_file(self.file(point, "scenario.yaml")).points()[0].network()

    def run_info(self, point: int) -> dict[str, Any]:
        """Machine, date and duration of a point's run (``run.json``); empty for a folder without this file."""
        return self._store.run_info(self._at(point)["hash"])

    def channels(self, point: int) -> pl.DataFrame:
        """Table with a row per channel of a point: flits, cycles per power state, and energy [fJ] in the window.

        Energies are exact decimals; ``cast(pl.Float64)`` converts them to floats.

        Parameters
        ----------
        point : int
            Row number in `frame`.
        """
        return _parquet(self.file(point, "channels.parquet"))

    def latencies(self, point: int) -> pl.DataFrame:
        """Number of packets of the window by latency: columns ``latency_cycles`` [cycles] and ``packets``."""
        self._at(point)
        pairs = self.summaries[point].get("latency_histogram", [])
        return pl.DataFrame(pairs, schema={"latency_cycles": pl.Int64, "packets": pl.Int64}, orient="row")

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """Table with a row per point and job: coordinates by dotted path, the numbers of the job, and its flaw."""
        return frame_of([row for _, row in self.job_rows])

    @cached_property
    def flows(self) -> pl.DataFrame:
        """Table with a row per point and class of flows, if `measure.flows` requested them.

        Columns: coordinates by dotted path, the columns of the table ``flows``, and ``flaw``, the flaw of the point, if
        it has one. Energies are exact decimals, stored as text [fJ].
        """
        return frame_of([row for _, row in self.flow_rows])

    @cached_property
    def message_classes(self) -> pl.DataFrame:
        """Table with a row per point and message class: coordinates by dotted path, numbers of the class, its flaw."""
        return frame_of([row for _, row in self.message_class_rows])

    @cached_property
    def phases(self) -> pl.DataFrame:
        """Table with a row per point and phase of a changing load: coordinates by dotted path, numbers of the phase.

        For phases outside the window the numbers are null. The columns are:

        - ``phase``: number of the phase, from 1 on.
        - ``start_cycle``: cycle in which the phase begins.
        - ``from_cycle``, ``to_cycle``: the part of the phase that is in the window [cycles].
        - ``load``: load that the scenario sets, a mean over the terminals [flits/terminal/cycle].
        - ``offered_load``, ``accepted_load`` [flits/terminal/cycle]; ``offered_load`` is null if packets were not
          delivered.
        - ``saturated``: whether the phase is saturated; null if Weft can't judge it.
        - Latencies of the packets created in the phase [cycles].
        - ``energy_per_bit_pj``, ``power_mean_w``, ``power_always_on_mean_w`` [W], ``links_off_share``.
        - ``flaw``: the flaw of the phase, if it has one.
        """
        return frame_of([row for _, row in self.phase_rows])

    def series(self, point: int) -> pl.DataFrame:
        """Flits and link states of a point over time; they were recorded if `measure.series` requested them."""
        return self.recorded(point, "series")

    def transient(self, point: int) -> pl.DataFrame:
        """Latency of a point over the creation time of packets; it was recorded if `measure.transient` requested it."""
        return self.recorded(point, "transient")

    def link_states(self, point: int) -> pl.DataFrame:
        """Time spans in which each managed channel had a power state, if `measure.link_states` requested them.

        Columns: ``channel`` (row number in `channels`), ``state``, ``from_cycle``, ``to_cycle`` [cycles], over the
        whole run.
        """
        return self.recorded(point, "link_states")

    def control_packets(self, point: int) -> pl.DataFrame:
        """Control packets of the power policy, if `measure.control_packets` requested them.

        Columns: ``sent_cycle``, ``arrived_cycle`` [cycles], ``kind``, ``from_router``, ``to_router``, ``link_class``,
        ``about_router``, ``flag``, ``value_flits`` [flits], ``hops`` [links], over the whole run. Values of
        ``value_flits`` from `weft.results.control_messages.FIRST_RANK` on are ranks, not numbers of flits.
        """
        return self.recorded(point, "control_packets")

    def groups(self, point: int) -> pl.DataFrame:
        """Energy [fJ] and time asleep [cycles] of the groups of links of a point, if `power.groups` defined groups."""
        return self.recorded(point, "groups")

    def schedule(self, point: int) -> pl.DataFrame:
        """Run time and terminals of each program of a queue (workload `scheduler`).

        The table has a row per program: ``trace``, ``number``, submission, start, end, wait and run time [cycles],
        ``slowdown``, ``bounded_slowdown``, ``ranks``, ``terminals``, ``allocated_terminals`` and the share of the
        energy that the program used [fJ]. Programs that never started are the last rows.
        """
        return self._of_queue(point, "schedule")

    def utilisation(self, point: int) -> pl.DataFrame:
        """Numbers of busy terminals, running programs and waiting programs over time.

        The table has a row per cycle in which one of these numbers changed.

        Columns: ``job``, ``cycle``, ``busy_terminals``, ``utilisation`` (share of the terminals of the job),
        ``running``, ``waiting`` [programs].
        """
        return self._of_queue(point, "utilisation")

    def _of_queue(self, point: int, name: str) -> pl.DataFrame:
        path = self.folder(point) / f"{name}.parquet"
        if not path.is_file():
            what = f"{path.parent} has no {path.name}: no job of {self.describe(point)} runs a queue of programs"
            raise ResultsError.saying(what, "give a job the workload `scheduler`, and run the point")
        return _parquet(self.file(point, path.name)).with_columns(cs.float().fill_nan(None))

    def recorded(self, point: int, name: str) -> pl.DataFrame:
        """The table of the recording `name`, if the scenario requested the recording.

        Raises
        ------
        ResultsError
            If no recording has this name, or if the scenario did not request it.
        """
        if not isinstance(name, str) or name not in ASKING:
            remedy = meant(name, ASKING, f"the recordings are {', '.join(ASKING)}")
            raise ResultsError.saying(f"there is no recording {name!r}", remedy)
        path = self.folder(point) / f"{name}.parquet"
        if not path.is_file():
            what = f"{path.parent} has no {path.name}: {self.describe(point)} did not record it"
            raise ResultsError.saying(what, self.recording(ASKING[name]))
        return _parquet(self.file(point, path.name))

    def file(self, point: int, name: str) -> Path:
        """The path of a file of a point, by name, after a check of its checksum.

        Raises
        ------
        ResultsError
            If the checksum of the file differs from the stored one.
        """
        folder = self._at(point)["hash"]
        if not isinstance(name, str) or not name or Path(name).name != name or name == ".." or "\0" in name:
            what = "name of a file of a point"
            raise given.refused(name, "file", what, "write e.g. 'summary.json'", ResultsError)
        return self._store.file(folder, name)

    @property
    def stalls(self) -> list[tuple[int, str]]:
        """Points that got stuck: row number in `frame`, and text on the packets (or ranks) that wait for each other."""
        return [
            (row, self._store.stall(point["hash"]))
            for row, (point, summary) in enumerate(zip(self.points, self.summaries, strict=True))
            if summary[ENDING.column] == STALLED
        ]

    def describe(self, point: int) -> str:
        """Coordinates of a point as a string; the name of the sweep if it has only one point."""
        return setting(self._at(point)["coordinates"]) or self.name


def _parquet(path: Path) -> pl.DataFrame:
    """Read a table of a point, and turn any problem with its file into a `ResultsError`."""
    try:
        with path.open("rb") as file:  # polars opens no path that is not valid UTF-8
            return pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        raise _unreadable(path, problem) from problem


def _unreadable(path: Path, problem: object) -> ResultsError:
    first = (str(problem).splitlines() or ["the file is damaged"])[0]
    return ResultsError.saying(f"{path} can't be read: {first}", f"remove {path.parent} and run the sweep again")
