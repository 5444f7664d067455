"""``results.plot``, which has every kind of figure as a method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypedDict, Unpack, overload

from weft.errors import ResultsError
from weft.plot import phases
from weft.plot.appearance import Appearance
from weft.plot.choice import MOST, Choice
from weft.plot.draw import figure, save, save_numbers
from weft.plot.kinds import DEFAULT, JOBS, KINDS, PROGRAMS, check_jobs, check_queues
from weft.results import batch_table, of_programs
from weft.results.result_set import ResultSet
from weft.text import given
from weft.text.file_names import as_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.plot.appearance import AskedLimits
    from weft.plot.kinds import KindName
    from weft.plot.style import Picture
    from weft.results.choose import Wanted


class Looks(TypedDict, total=False):
    """Keyword arguments for the appearance of a figure, which `weft.plot.appearance.Appearance.of` reads."""

    width: str | float | None
    height: str | float | None
    labels: Mapping[str, str] | Iterable[str] | None
    title: str | bool | None
    legend: str | None
    order: str | Iterable[str] | None
    xlim: AskedLimits | None
    ylim: AskedLimits | Mapping[str, AskedLimits] | Iterable[str] | None
    style: str | Path | None
    panels: str | Iterable[str] | None
    units: str | None


class Asked(TypedDict, total=False):
    """Keyword arguments for the content of a figure, as described at `Plots.draw`."""

    point: Wanted | Iterable[Wanted] | None
    job: str | Iterable[str]
    at: int | None
    full: float | None
    others: Sequence[ResultSet]


class Options(Asked, Looks, total=False):
    """All keyword arguments for a figure that is written to a file."""

    csv: bool


class OneKind:
    """A method of ``results.plot`` for one kind of figure.

    A call draws the figure into a file, and `figure` returns it as a matplotlib figure.
    """

    def __init__(self, plots: Plots, kind: KindName) -> None:
        self._plots, self._kind = plots, kind
        self.__doc__ = f"Draws {KINDS[kind].summary}. The parameters are those of `Plots.draw` after `kind`."

    def __call__(self, path: str | Path | None = None, **options: Unpack[Options]) -> Path:
        """Draw the figure into a file, write its numbers next to it, and return the path of the figure."""
        return self._plots.draw(self._kind, path, **options)

    def figure(self, **options: Unpack[Shown]) -> Picture:
        """Make a matplotlib figure, which the caller can show or change."""
        return self._plots.figure(self._kind, **options)


class Shown(Asked, Looks, total=False):
    """All keyword arguments for a figure that is returned and not written to a file."""


class Drawn:
    """Descriptor for an attribute of `Plots` that draws one kind of figure. The attribute has the name of the kind."""

    def __set_name__(self, owner: type[Plots], name: KindName) -> None:
        self._kind: KindName = name

    @overload
    def __get__(self, plots: None, owner: type[Plots]) -> Drawn: ...

    @overload
    def __get__(self, plots: Plots, owner: type[Plots]) -> OneKind: ...

    def __get__(self, plots: Plots | None, owner: type[Plots]) -> OneKind | Drawn:
        return self if plots is None else OneKind(plots, self._kind)


class Plots:
    """Figures of results: ``results.plot()`` draws the default kind, ``results.plot.KIND(path)`` a chosen kind.

    Every kind takes the parameters of `draw` that follow `kind`. ``results.plot.KIND.figure()`` and
    ``results.plot.figure(kind)`` return the matplotlib figure itself, which a notebook shows. The attribute ``numbers``
    of the figure is a frame with the plotted numbers.

    Examples
    --------
    ``results.plot.load("fig3.pdf", width="column", title=False, labels={"ugal_p": "UGAL"}, legend="below")``
    """

    load = Drawn()
    latency_accepted = Drawn()
    overlay = Drawn()
    percentiles = Drawn()
    latency_cdf = Drawn()
    latency_ccdf = Drawn()
    latency_pdf = Drawn()
    hops = Drawn()
    mean_hops = Drawn()
    minimal_share = Drawn()
    channel_heatmap = Drawn()
    dimension_heatmap = Drawn()
    channel_curve = Drawn()
    fairness = Drawn()
    power = Drawn()
    energy = Drawn()
    energy_delay = Drawn()
    residency = Drawn()
    transitions = Drawn()
    link_states = Drawn()
    rank_states = Drawn()
    control_packets = Drawn()
    series = Drawn()
    router_sleep = Drawn()
    transient = Drawn()
    congestion_tree = Drawn()
    phases = Drawn()
    bill = Drawn()
    solution = Drawn()
    jobs = Drawn()
    schedule = Drawn()
    utilisation = Drawn()

    def __init__(self, results: ResultSet) -> None:
        self._results = results

    def __call__(self, path: str | Path | None = None, **options: Unpack[Options]) -> Path:
        """Draw the kind of figure that suits the results: of programs, of batches, of phases, or over load.

        The options of this call are those of `draw`. By default the file is ``plot.png`` in the folder of the results.
        """
        changes = all(phases.reached(summary) for summary in self._results.summaries)
        kind: KindName = phases.KIND if changes and 0 < len(self._results) <= MOST else DEFAULT
        kind = PROGRAMS if of_programs.answer(self._results) else kind
        kind = JOBS if self._results.summaries and batch_table.have_no_load(self._results.summaries) else kind
        return self.draw(kind, self._results.root / "plot.png" if path is None else path, **options)

    if not TYPE_CHECKING:  # type checkers know all kinds

        def __getattr__(self, kind: str) -> NoReturn:
            raise AttributeError(f"there is no kind of figure {kind!r}; the kinds are {', '.join(KINDS)}")

    def draw(
        self,
        kind: KindName,
        path: str | Path | None = None,
        *,
        point: Wanted | Iterable[Wanted] | None = None,
        job: str | Iterable[str] = (),
        at: int | None = None,
        full: float | None = None,
        others: Sequence[ResultSet] = (),
        csv: bool = True,
        **appearance: Unpack[Looks],
    ) -> Path:
        """Draw a figure into a file, write its numbers next to it, and return the path of the figure.

        Parameters
        ----------
        kind : str
            One of `weft.plot.kinds.KINDS`.
        path : path, optional
            File to write; the ending (pdf, svg, png) chooses the format. By default ``KIND.png`` in the folder of the
            results.
        point : int, str, dict or a list of them, optional
            Points to draw, by number or by coordinates such as ``"routing=ugal_p,load=0.3"`` or ``{"load": 0.3}``; by
            default all points. A negative number counts from the last point.
        job : str or list of str, optional
            Names of jobs to draw separately. In figures of latencies, each of these jobs has a separate curve.
            ``"all"`` means every job.
        at : int, optional
            In figures of queues, the cycle for which the map is drawn. The default is the cycle in which the most ports
            are full.
        full : float, optional
            In figures of queues, the share of a buffer from which its queue counts as full: above 0 and at most 1. The
            default is 0.5.
        others : sequence of ResultSet, optional
            Further results, drawn in the same figure.
        csv : bool
            Whether to write the numbers of the figure to a file with the same name plus ``.csv``.
        appearance
            Appearance of the figure, as `weft.plot.appearance.Appearance.of` describes it: ``width`` and ``height``
            [inches], ``labels``, ``title``, ``legend``, ``order``, ``xlim``, ``ylim``, ``style``, ``panels``,
            ``units``.

        Raises
        ------
        WeftError
            If the kind or the format of the file is unknown, or if the points or the appearance do not suit the kind.
        """
        path = self._results.root / f"{kind}.png" if path is None else as_path(path, "a figure")
        drawing = self.figure(kind, point=point, job=job, at=at, full=full, others=others, **appearance)
        save(drawing, path)
        if csv:
            save_numbers(drawing, path)
        return path

    def figure(
        self,
        kind: KindName,
        *,
        point: Wanted | Iterable[Wanted] | None = None,
        job: str | Iterable[str] = (),
        at: int | None = None,
        full: float | None = None,
        others: Sequence[ResultSet] = (),
        **appearance: Unpack[Looks],
    ) -> Picture:
        """Make a matplotlib figure, which the caller can show or change. The parameters are those of `draw`."""
        jobs = [job] if isinstance(job, str) else list(job)
        check_jobs(kind, jobs)
        check_queues(kind, at, full)
        choice = self._choice(point, others, Appearance.of(**appearance))
        return figure(kind, replace(choice, jobs=tuple(jobs), at=at, full=full))

    def _choice(
        self, point: Wanted | Iterable[Wanted] | None, others: Sequence[ResultSet], appearance: Appearance
    ) -> Choice:
        for other in given.listed(others, "others", 'weft.open_results("results/my")'):
            remedy = 'write e.g. others=[weft.open_results("results/my")]'
            given.instance(other, ResultSet, "others", "set of results", remedy, ResultsError)
        several = isinstance(point, Iterable) and not isinstance(point, str | Mapping)
        wanted: list[Wanted] = [] if point is None else list(point) if several else [point]  # type: ignore[arg-type,list-item] # by `several`
        if not (wanted or point is None or isinstance(point, tuple)):
            raise ResultsError.saying("the list of points is empty", "omit the list to draw all points")
        return Choice.of([self._results, *others], wanted, appearance)
