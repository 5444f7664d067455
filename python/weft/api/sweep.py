"""`weft.Sweep` has the points of a scenario: one simulation for each combination of the values that the scenario lists.

A sweep checks its points, runs the points without results, and searches for saturation.

Modules that only a run needs are imported when a run starts. `check` therefore takes half as long, because it imports
no modules for data frames and progress bars.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from weft.errors import ScenarioError
from weft.results import bill_plan
from weft.results.quantities import TOLERANCE
from weft.results.store import Store
from weft.runs import beacon, memory, overload, watch
from weft.runs.checkpoints import Checkpoints
from weft.runs.how import How
from weft.scenario.python_models import warn_if_slow
from weft.scenario.scenario import Scenario, written
from weft.text import given
from weft.text.labels import at
from weft.text.renamed import renamed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    import polars as pl

    from weft._engine import Point
    from weft.api.results import Results
    from weft.runs.execute import Status
    from weft.runs.on_slurm import Submission
    from weft.runs.slurm_jobs import SlurmJobs
    from weft.runs.slurm_search import SearchSubmission

# Length [cycles] of the short run in which `check` counts the flit-hops (hops of flits) that each thread simulates.
_COUNTED_CYCLES = 1000
# Keys of the resolved scenario whose values neither change the facts of `Implied` nor decide if the network can run.
# `power.policy` is not one of these keys, because some routings do not work with every policy, and because some
# policies start with links off.
_FREE = ("name", "seed", "measure", "power.prices", "traffic.load", "traffic.loads")
# Of these keys, those that change facts if terminals have different loads: the facts are weighted by the loads.
_LOADS = ("traffic.load", "traffic.loads")


@dataclass(frozen=True)
class Implied:
    """Facts about points that follow from the scenario without a run.

    Attributes
    ----------
    points : list of Point
        Points that have these facts in common.
    facts : dict
        The facts by name. Mean hops, zero-load latency and channel-load bound are ``None`` if no terminal sends packets
        in the first phase of the traffic. Some facts are:

        - ``terminals``, ``routers``, ``radix_ports``, and ``links`` by class.
        - ``diameter_hops``, ``mean_hops``, ``zero_load_latency_cycles``.
        - ``channel_load_bound`` [flits/terminal/cycle]: load of the terminals that send most, at which the fullest
          channel is full.
        - ``load``, ``load_bound``: the load by which results name the first point, and the value of this load at which
          the fullest channel is full, if all loads change in proportion.
        - ``accepted_load_bound``, ``mean_load``: the load that the destinations can accept at the loads of the first
          point, and the load that its terminals send, both as means over the terminals. ``None`` if the destinations do
          not limit the load; ``mean_load`` can also be unknown.
        - ``vc_classes``.
        - ``hints``: settings of buffers that limit what links carry, each with ``path``, ``what`` and ``help``.
        - ``memory_most_bytes``: memory with all buffers full.
        - ``memory_at_load_bytes``: memory of the first point at its load if its queues stay short.
        - ``sampled``: ``None`` if hops, latency and bound are computed from all paths. Otherwise a dict about the
          sample of paths: ``paths`` (the number of paths), ``mean_hops_standard_error``,
          ``zero_load_latency_standard_error_cycles``, ``channel_load_bound_interval`` (95 %).
        - Further facts that `weft check --json` prints.
    """

    points: list[Point]
    facts: dict[str, Any]


class Sweep:
    """The points of one scenario, in the order of the sweep.

    Attributes
    ----------
    scenario : Scenario
        Scenario from which the points come.
    points : list of Point
        At least one point. Each point has ``coordinates``, ``resolved`` and ``hash``.
    sets : list of tuple
        Overrides, as pairs of path and text.
    named : Named
        Name of the sweep, title of its table and picture, and name of its results folder; all are made from the
        scenario.
    """

    def __init__(self, scenario: Scenario, points: Sequence[Point], sets: Sequence[tuple[str, str]] = ()) -> None:
        self.scenario = scenario
        self.points = list(points)
        self.sets = list(sets)
        self.named = scenario.named(self.points[0], sets)
        self._root: Path | None = None  # folder of the last run

    @classmethod
    @renamed(set="overrides")
    def of(cls, scenario: Scenario, overrides: Mapping[str, Any] | None = None) -> Self:
        """Check a scenario and make the sweep of its points.

        Parameters
        ----------
        scenario : Scenario
            The scenario as the user wrote it.
        overrides : mapping of str to value, optional
            Values by dotted path that replace those of the scenario before Weft makes the points: ``{"power.policy":
            "always_on"}``. A value is a string as on the command line, or any value that JSON can represent.

        Raises
        ------
        ScenarioError
            If the scenario is not valid. The error has file, line, column, the fault and the remedy.
        """
        remedy = "create a sweep with weft.load, from a file, text or dict"
        given.instance(scenario, Scenario, "Sweep.of", "weft.Scenario", remedy, ScenarioError)
        keyed = given.keyed(overrides or {}, "overrides", "{'traffic.load': 0.3}")
        sets = [(path, written(value)) for path, value in keyed.items()]
        return cls(scenario, scenario.points(sets), sets)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<weft.Sweep {self.name!r}: {len(self)} points>"

    def _repr_html_(self) -> str:
        """HTML for notebooks, with the values that the sweep varies and the scenario."""
        from weft.api.notebook_views import of_sweep

        return of_sweep(self.title, self._root or self.folder, self.points, self.scenario.text)

    @property
    def name(self) -> str:
        """Name of the scenario. If there are overrides, the name ends with digits of a hash of these."""
        return self.named.name

    @property
    def title(self) -> str:
        """Title of the sweep's table and picture: the name and the overrides."""
        return self.named.title

    @property
    def folder(self) -> Path:
        """Default folder of the results, named after the file of the scenario."""
        return Path("results") / self.named.folder

    def check(
        self, *, jobs: int | None = None, force_memory: bool = False, threads: int | None = None
    ) -> list[Implied]:
        """Check every point, and return the facts of each combination of network, routing, power policy and pattern.

        Parameters
        ----------
        jobs : int, optional
            Number of points that run at the same time, as for `run`. The sum of their memory is compared with the free
            memory.
        force_memory : bool
            Accept points that need more memory than is free.
        threads : int, optional
            Also measure how evenly the work of a run is divided among this number of threads. The fact ``work`` holds
            ``threads``, ``blocks``, ``cycles`` of the measured run, its ``flit_hops``, and ``most_flit_hops``, the
            flit-hops of the busiest thread. ``imbalance`` is the excess of the busiest thread over the mean, as a share
            of the mean. ``imbalance_of_whole_units`` is the imbalance that results if each thread gets whole rows or
            groups of routers with equal work.

        Raises
        ------
        ScenarioError
            If a point cannot run, if the points need too much memory, or if the bill (yearly cost) of the scenario
            cannot be computed from the points. The error names the first point that cannot run.
        """
        bill_plan.check(self.points)
        if not force_memory:
            memory.refuse_too_much(self.points, jobs=jobs, threads=1, blocks=0)
        implied = [Implied(points, _facts(points[0])) for points in self._alike(by_load=True)]
        if threads is not None:
            for each in implied:
                each.facts["work"] = each.points[0].work(threads, _COUNTED_CYCLES)
        return implied

    def _alike(self, *, by_load: bool = False) -> list[list[Point]]:
        """Groups of points with the same network, routing, power policy and pattern.

        If `by_load`, terminals with different loads also keep the ratio of their loads within a group.
        """
        alike: dict[str, list[Point]] = {}
        for point in self.points:
            kept = _LOADS if by_load and overload.own_loads(point.resolved, at_start=True) else ()
            alike.setdefault(_essence(point.resolved, kept), []).append(point)
        return list(alike.values())

    def run(
        self,
        out: str | Path | None = None,
        *,
        jobs: int | None = None,
        threads: int = 1,
        blocks: int = 0,
        force: bool = False,
        force_memory: bool = False,
        checkpoint_every: str | None = None,
        pin: bool = False,
        plain: bool = False,
        watch: Callable[[Status], None] | Literal[False] | None = None,
        executor: Executor | None = None,
    ) -> Results:
        """Run every point that has no results yet.

        Parameters
        ----------
        out : path, optional
            Folder of the results, by default ``results/<name of the file>``; if the scenario has no file or has
            overrides, the name contains a mark that distinguishes it.
        jobs : int, optional
            Number of points that run at the same time; by default as many as the cores allow.
        threads, blocks : int
            Number of threads of a run, and number of blocks (groups of routers, each simulated by one thread). Results
            do not depend on these numbers. If `blocks` is 0, Weft chooses the number.
        force : bool
            Run all points again.
        force_memory : bool
            Run even if the points that run at the same time need more memory than is free.
        checkpoint_every : str, optional
            Interval at which each running point writes a checkpoint, such as ``"10min"`` (``s``, ``min``, ``h``, ``d``)
            or ``"1000000cycles"``. A point also writes a checkpoint when it is interrupted. A point that has a
            checkpoint continues from it, with or without this argument, and its results have the same bytes. By default
            no checkpoints are written.
        pin : bool
            Pin each thread of all running points to a separate core.
        plain : bool
            Disable the shortcuts of the engine, which only save time. Without shortcuts, results have the same bytes.
        watch : callable or False, optional
            Function that the run calls from time to time with the `Status`. By default a notebook shows a progress bar,
            and other environments show nothing. ``False`` shows no bar in notebooks either.
        executor : concurrent.futures.Executor, optional
            Executor that runs the points instead of this process, e.g. ``client.get_executor()`` of Dask or an
            ``MPIPoolExecutor``. The workers of the executor must have this version of Weft, must see the folder of the
            results under the same absolute path, and must be able to write there. The executor decides how many points
            run at the same time. The results equal those of a local run.

        Raises
        ------
        ScenarioError
            Before the first run, if a point cannot run, if points need too much memory, if the bill of the scenario
            cannot be computed from the points, or if `checkpoint_every` cannot be read.
        WeftError
            Before the first run, if threads cannot be pinned. During the runs, if the executor fails or its workers do
            not see the folder. Finished points are saved.
        KeyboardInterrupt
            After Ctrl-C; finished points are saved.

        Warns
        -----
        CheckpointWarning
            If a point cannot continue from its checkpoint and starts from the beginning, or if a checkpoint cannot be
            written.
        """
        from weft.api.results import Results
        from weft.runs import executors, in_process
        from weft.runs.notebook_bar import shown
        from weft.runs.pinning import Cores
        from weft.runs.workers import Workers

        given.execution(jobs, threads, blocks, watch)
        how = How(threads, blocks, force, force_memory, checkpoint_every, plain)
        often = () if checkpoint_every is None else ("--checkpoint-every", checkpoint_every)
        bill_plan.check(self.points)
        if executor is not None:
            executors.check(executor, jobs, pin=pin)
        elif not force_memory:
            memory.refuse_too_much(self.points, jobs=jobs, threads=threads, blocks=blocks)
        cores = Cores.of(jobs, threads, len(self)) if pin else None
        self._check_networks()
        store = self._prepared(out, often)
        missing = self._missing(store, force=force)
        reused = len({point.hash for point in self.points}) - len(missing)
        with shown(self.name, watch) as watching, beacon.Beacon(store, watching) as found:
            if executor is None or isinstance(executor, Workers):
                in_process.run(
                    store, missing, jobs=jobs, how=how, reused=reused, watch=found, pinned=cores, workers=executor
                )
            else:
                executors.run(
                    executor,
                    store,
                    self.scenario,
                    [self.sets],
                    missing,
                    client=found.name,
                    how=how,
                    reused=reused,
                    watch=found,
                )
        return Results(store)

    def _check_networks(self) -> None:
        """Refuse points of the sweep that cannot run.

        Also warn about points that call Python functions during their run.
        """
        for points in self._alike():
            points[0].check_network()
        warn_if_slow(self.points)

    def _prepared(self, out: str | Path | None, words: Sequence[str]) -> Store:
        """Prepare the folder of the results: write the list of points, and remove files that interrupted runs left.

        The list of points also stores the command that continues the sweep; `words` are further arguments of this
        command.
        """
        store = Store(self.folder if out is None else out)
        self._root = store.root
        store.write_manifest(self.named, self.points, self.scenario.command("run", self.sets, *words))
        beacon.clear(store.root)
        return store

    def _missing(self, store: Store, *, force: bool = False) -> list[Point]:
        """The points that `run` has to run, without repetitions. Removes the checkpoints of all other points."""
        distinct = {point.hash: point for point in self.points}
        missing = {hash: point for hash, point in distinct.items() if force or not store.sound(hash)}
        Checkpoints(store).forget(hash for hash in distinct if hash not in missing)
        return list(missing.values())

    def submit(
        self,
        slurm: SlurmJobs | None = None,
        out: str | Path | None = None,
        *,
        threads: int = 1,
        blocks: int = 0,
        force_memory: bool = False,
        checkpoint_every: str | None = None,
        command: Sequence[str] = (),
    ) -> Submission:
        """Submit the points without results to Slurm as an array of jobs.

        Points of jobs that were submitted before and have not ended are left out.

        The folder of the results is the same as for `run`. A job that ends early is queued again for its remaining
        points. ``weft status`` shows the progress of the jobs, and ``weft cancel`` ends them.

        Parameters
        ----------
        slurm : SlurmJobs, optional
            Parameters of the jobs.
        out : path, optional
            As for `run`. This machine and the nodes must see the folder under the same path.
        threads, blocks, force_memory, checkpoint_every
            As for `run`. With checkpoints, a point can take longer than the time limit of a job, because the next job
            continues the point.
        command : sequence of str
            Additional words of the command line of `run`. The list of points stores these words as part of the command
            that continues the sweep.

        Raises
        ------
        ScenarioError
            If a point can't run, or a job has less time or memory than a point needs.
        WeftError
            If Slurm is not installed, if Slurm refuses the jobs, or if jobs of another cluster may still run points of
            the folder.
        """
        from weft.runs import arrays, on_slurm, slurm_jobs

        given.execution(None, threads, blocks, None)
        wanted = slurm or slurm_jobs.SlurmJobs()
        how = How(threads, blocks, force_memory=force_memory, checkpoint_every=checkpoint_every)
        bill_plan.check(self.points)
        self._check_networks()
        on_slurm.check()
        store = Store(self.folder if out is None else out)
        store.check_owner(self.named, self.points)
        missing = self._missing(store)
        taken = arrays.under_way(store)
        points = [point for point in missing if point.hash not in taken]
        under_way = len(missing) - len(points)
        if not points:
            return on_slurm.Submission(None, None, 0, under_way)
        plan = slurm_jobs.plan(wanted, points, self.points, store, how)
        self._prepared(out, command)
        array = on_slurm.submit(
            store, self.scenario, self.sets, points, plan=plan, wanted=wanted, name=self.named.folder, how=how
        )
        return on_slurm.Submission(array, plan, len(points), under_way)

    def journeys(
        self, packets: Sequence[str], *, threads: int = 1, blocks: int = 0, force_memory: bool = False
    ) -> list[dict[str, Any]]:
        """Run the first point once more and return the histories of some packets, as described at `weft.journeys`."""
        return watch.journeys(self.points[0], packets, threads=threads, blocks=blocks, force_memory=force_memory)

    def saturation(
        self,
        out: str | Path | None = None,
        *,
        tolerance: float = TOLERANCE,
        lower: float | None = None,
        upper: float | None = None,
        seeds: int = 1,
        jobs: int | None = None,
        threads: int = 1,
        blocks: int = 0,
        force_memory: bool = False,
        checkpoint_every: str | None = None,
        watch: Callable[[Status], None] | Literal[False] | None = None,
        executor: Executor | None = None,
    ) -> pl.DataFrame:
        """Search for the saturation load of every curve (the points that differ only in load and seed).

        A load is too much for the network if a run with it is ``saturated``, drops more than 3 % of its packets, or
        gets stuck. The search first runs both ends of the range of loads. The search then halves the range until its
        ends are at most `tolerance` apart, and runs one more load on each side of the range. Results are stored in the
        same way as those of `run`, and no stored run is repeated.

        Parameters
        ----------
        out : path, optional
            Folder of the results, by default ``results/<name of the file>-saturation``.
        tolerance : float
            Accuracy of the saturation load [flits/terminal/cycle]. The search ends when a load that is too much and a
            load that is not too much differ by at most this value.
        lower, upper : float, optional
            Range of the search [flits/terminal/cycle], by default from `tolerance` to the highest load of a
            terminal: 1, or the bandwidth of its link.
        seeds : int
            Number of runs of each load: with the seed of the scenario and the seeds after it. A load is too much if it
            is too much in at least half of its runs.
        jobs, threads, blocks, force_memory, checkpoint_every, watch, executor
            As for `run`. The search passes points to the executor in rounds. The first round has the two ends of the
            range of all curves. Each later round has one load of each curve, with all seeds.

        Returns
        -------
        polars.DataFrame
            A row per curve, with its coordinates and these columns:

            - ``verdict``: ``found``; ``below_range`` (all loads are too much); ``above_range`` (no load is too much);
              ``not_monotonic`` (a load is too much and a higher one is not); ``not_judged`` (windows are too short for
              the bursts of the traffic to judge a decisive load).
            - ``steady_load``: the highest load below all loads that are too much, if most of its runs had settled (were
              measured in a steady state).
            - ``saturated_load``: the lowest load from which on all loads are too much.
            - ``accepted_load``: the accepted load at ``saturated_load``, a mean over seeds.
            - ``packet_latency_mean_cycles``: the mean packet latency at ``steady_load``, a mean over seeds.
            - ``stuck``: whether the network gets stuck at ``saturated_load``.
            - ``dropped_share``: share of the packets dropped at ``saturated_load``, if this makes the load too much.
            - ``runs``: number of runs.
            - ``wider_than_tolerance``: whether ``steady_load`` and ``saturated_load`` differ by more than the
              tolerance, because runs at loads between them had not settled.
            - ``flaw``: reason why the latency is not reliable (not settled, nothing measured), or null.
            - ``loads_run``: all loads that the search has run, as a string.
            - ``warned_of``: null, or the parameter of the power policy for which Weft warns that the network can also
              saturate at other loads.

        Raises
        ------
        ScenarioError
            If a point cannot run, or the range is not valid.
        KeyboardInterrupt
            After Ctrl-C. Finished points are saved.
        """
        from weft.runs.notebook_bar import shown
        from weft.runs.saturation_search import Asked, SaturationSearch, find

        given.execution(jobs, threads, blocks, watch)
        how = How(threads, blocks, force_memory=force_memory, checkpoint_every=checkpoint_every)
        search = SaturationSearch(self.scenario, self.sets, out, Asked(tolerance, lower, upper, seeds))
        with shown(f"{self.name} saturation", watch) as watching:
            return find(search, how, jobs=jobs, executor=executor, watch=watching)

    def submit_saturation(
        self,
        slurm: SlurmJobs | None = None,
        out: str | Path | None = None,
        *,
        tolerance: float = TOLERANCE,
        lower: float | None = None,
        upper: float | None = None,
        seeds: int = 1,
        threads: int = 1,
        blocks: int = 0,
        force_memory: bool = False,
        checkpoint_every: str | None = None,
    ) -> SearchSubmission:
        """Submit the search for saturation to Slurm as one job.

        The cores of the job limit the number of points that run at the same time.

        If the method is called again with the same arguments, the result says whether the job has ended. After the end
        of the search, `saturation` returns its table without further runs.

        Parameters
        ----------
        slurm : SlurmJobs, optional
            Parameters of the job. ``job_seconds`` and ``max_jobs`` have no effect, because the search is a single job.
        out, tolerance, lower, upper, seeds
            As for `saturation`. This machine and the nodes must see the folder under the same path.
        threads, blocks, force_memory, checkpoint_every
            As for `submit`.

        Raises
        ------
        ScenarioError
            As for `saturation`, or if the job has less time or memory than a point needs.
        WeftError
            As for `submit`.
        """
        from weft.runs import slurm_jobs, slurm_search
        from weft.runs.saturation_search import Asked, SaturationSearch

        given.execution(None, threads, blocks, None)
        how = How(threads, blocks, force_memory=force_memory, checkpoint_every=checkpoint_every)
        search = SaturationSearch(self.scenario, self.sets, out, Asked(tolerance, lower, upper, seeds))
        return slurm_search.submit(search, slurm or slurm_jobs.SlurmJobs(), how, ())


def _facts(point: Point) -> dict[str, Any]:
    """The facts of `Implied` of a point."""
    facts = point.imply()
    return facts | overload.compared(point, facts) | _memory(point)


def _memory(point: Point) -> dict[str, int]:
    """Memory that a run of the point needs, with the keys of the facts of `Implied`."""
    return {f"memory_{key}": size for key, size in point.memory(1, 0).items()}


def _essence(resolved: dict[str, Any], needed: Sequence[str] = ()) -> str:
    """The resolved scenario as a string, with only those keys in `_FREE` that are `needed`.

    Points with equal strings have the same facts of `Implied`, if `needed` has the loads of terminals that differ.
    """
    kept = json.loads(json.dumps(resolved))
    for path in (each for each in _FREE if each not in needed):
        *parents, last = path.split(".")
        place = at(kept, ".".join(parents)) if parents else kept
        if isinstance(place, dict):
            place.pop(last, None)
    return json.dumps(kept, sort_keys=True)
