"""The plan of a reproduction of a paper: its sweeps, folders, files and command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.api.loading import load
from weft.errors import ResultsError, writing
from weft.results.choose import SEED
from weft.results.result_set import ResultSet
from weft_papers.common import knees
from weft_papers.common.reproduced import mode
from weft_papers.common.side_by_side import PlannedSweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weft.api.sweep import Sweep
    from weft_papers.common.paper import Experiment, Figure, Paper


# Scenario key with the list of the seeds of a sweep.
_SEEDS = f"sweep.{SEED}"
# Stems and endings of three files: the page for readers, the scoreboard as a table, and the scoreboard for programs.
FILES = (("report", ".html"), ("scoreboard", ".csv"), ("scoreboard", ".json"))


@dataclass(frozen=True)
class ReproductionPlan:
    """The figures, runs and folders of a reproduction of a paper.

    Attributes
    ----------
    paper : Paper
        The paper.
    quick : bool
        Whether the run is quick: fewer loads and shorter windows.
    only : sequence of str
        Names of the chosen figures; empty for all figures.
    out : path or None
        Folder for all files; ``None`` for the default folder.
    seeds : int or None
        Number of seeds that each sweep runs; ``None`` for all seeds.
    """

    paper: Paper
    quick: bool
    only: Sequence[str] = ()
    out: str | Path | None = None
    seeds: int | None = None

    @property
    def root(self) -> Path:
        """Folder of all files."""
        return default_root(self.paper.name, quick=self.quick) if self.out is None else Path(self.out)

    @property
    def figures(self) -> list[Figure]:
        """The chosen figures."""
        return list(self.paper.chosen(self.only))

    @property
    def part(self) -> str:
        """Suffix of the file names that lists the chosen figures; empty if all figures were chosen."""
        figures = self.figures
        return "".join(f"-{each.name}" for each in figures) if len(figures) < len(self.paper.figures) else ""

    @property
    def command(self) -> str:
        """The command that carries out this plan."""
        return command(self.paper.name, quick=self.quick, only=self.only, seeds=self.seeds, out=self.out)

    def needed(self) -> list[tuple[Experiment, str, Mapping[str, Any]]]:
        """List the sweeps of the experiments that the chosen figures need, each with its folder and its overrides."""
        needed = self.paper.needed(self.figures, quick=self.quick)
        return [(each, *sweep) for each in needed for sweep in each.sweeps(quick=self.quick)]

    def planned(self, label: str = "") -> list[PlannedSweep]:
        """Return the sweeps as `side_by_side.run` takes them.

        The progress display shows `label` before each sweep's name.
        """
        return [PlannedSweep(partial(self._rounds, *sweep), self.root / "runs", label) for sweep in self.needed()]

    def sweeps(self) -> Iterator[tuple[Path, Sweep]]:
        """List the sweeps with their results folders.

        Sweeps near knees are omitted if they depend on missing results.
        """
        for needed in self.needed():
            rounds: list[ResultSet] = []
            for stem, sweep in self._rounds(*needed, rounds):
                folder = self.root / "runs" / stem
                yield folder, sweep
                if not (folder / "sweep.json").is_file() or (found := ResultSet.open(folder)).missing:
                    break
                rounds.append(found)

    def check(self) -> None:
        """Check, before any point runs, that all files of the reproduction can be written."""
        check_folder(self.root, [f"{stem}{self.part}{ending}" for stem, ending in FILES], ("figures", "runs"))

    def _rounds(
        self, experiment: Experiment, name: str, sets: Mapping[str, Any], done: Sequence[ResultSet]
    ) -> Iterator[tuple[str, Sweep]]:
        """Yield a sweep, and then the sweeps of loads near the knees of its curves, each with its results folder.

        The caller adds the results of each sweep to `done` before it requests the next sweep.
        """
        yield name, self._with_seeds(experiment, sets)
        same = {path: value for path, value in sets.items() if not path.startswith(("sweep.", "zip."))}
        for number in range(1, (experiment.quick_knees if self.quick else experiment.knees) + 1):
            found = knees.around([self.paper.frame(results) for results in done], [results.points for results in done])
            if found is None:
                return
            yield f"{name}-knees-{number}", self._loaded(experiment, same | found)

    def _with_seeds(self, experiment: Experiment, sets: Mapping[str, Any]) -> Sweep:
        """Load a sweep of an experiment, with its first `self.seeds` seeds."""
        if self.seeds is None:
            return self._loaded(experiment, sets)
        if _SEEDS in sets:
            return self._loaded(experiment, dict(sets) | {_SEEDS: sets[_SEEDS][: self.seeds]})
        sweep = self._loaded(experiment, sets)
        found = list(dict.fromkeys(point.coordinates[SEED] for point in sweep.points if SEED in point.coordinates))
        few = self.seeds < len(found)
        return self._loaded(experiment, dict(sets) | {_SEEDS: found[: self.seeds]}) if few else sweep

    def _loaded(self, experiment: Experiment, sets: Mapping[str, Any]) -> Sweep:
        """Load a sweep.

        Its identity excludes the path of the scenario file, because Weft can later be in another folder.
        """
        sweep = load(self.paper.path(experiment.file), overrides=sets)
        sweep.named = replace(sweep.named, file=None)
        return sweep


def default_root(name: str, *, quick: bool) -> Path:
    """Return the default folder for all files of a paper, or of all papers."""
    return Path("results") / f"{name}-{mode(quick=quick)}"


def command(
    name: str, *, quick: bool, only: Iterable[str] = (), seeds: int | None = None, out: str | Path | None = None
) -> str:
    """Return the command line that reproduces a paper, or all papers, with these options."""
    only = list(only)
    words = ["weft", "reproduce", name, f"--{mode(quick=quick)}", *(["--only", *only] if only else [])]
    words += ["--seeds", str(seeds)] if seeds is not None else []
    words += ["--out", str(out)] if out is not None else []
    return shlex.join(words)


def check_folder(root: Path, names: Iterable[str], folders: Iterable[str] = ()) -> None:
    """Check, before any point runs, that all files of the reproduction can be written."""
    for place in (root, *root.parents):
        if place.is_file():
            what = f"{place} is a file, but the reproduction needs a folder of this name"
            raise ResultsError.saying(what, "name another folder with --out")
    if (root / "sweep.json").is_file():
        what = f"{root} contains the results of a sweep"
        raise ResultsError.saying(what, "name another folder with --out")
    for folder in (root, *(root / name for name in folders)):
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
    for place in (root / name for name in names):
        if place.is_dir():
            what = f"{place} is a folder, but the reproduction writes a file of this name"
            raise ResultsError.saying(what, "move the folder away, or name another folder with --out")
