"""Finds the reference for the savings in a bill: points with the coordinates of `bill.baseline`, or always-on links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._engine import ALL_ON_POLICIES
from weft.errors import ResultsError
from weft.results.bill_points import UnbillableError
from weft.results.choose import LOAD, NAMED, POLICY, SEED, parsed, same
from weft.results.set_times import FAULT_MODEL, FAULTS
from weft.text.labels import label, setting
from weft.text.meant import meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weft.results.bill_keys import Bill
    from weft.results.bill_points import Series

# The default baseline of a bill (yearly cost): points with this power policy. If no such points were measured, the
# reference is the cost that the flits of the same run would have on links that are always on.
USUAL = {POLICY: "always_on"}
_PATH = "bill.baseline"
# Name of the reference if the bill names no baseline, and no points with always-on links were measured.
REFERENCE = "same flits, links always on"


class Baseline:
    """The baseline of a bill: series of points with which the other series of a sweep are compared.

    Attributes
    ----------
    wanted : dict
        Coordinates of the baseline: values by dotted path.
    is_named : bool
        Whether the bill names the baseline. The points of a named baseline must exist.

    Raises
    ------
    ResultsError
        If the text of the baseline is no list of coordinates, or if no series has these coordinates. The error suggests
        the coordinates that the user probably meant.
    """

    def __init__(self, bill: Bill, all_series: Sequence[Series]) -> None:
        self.is_named = bill.baseline is not None
        self.wanted = USUAL if bill.baseline is None else _read(bill.baseline, all_series, by_phase=bill.by_phase)
        self._all = all_series
        self._series = _matching(all_series, self.wanted)
        if not self.is_named and not self._series and (awake := _awake(all_series)) is not None:
            # some routings cannot work with the default policy; then another policy that keeps all links on is the
            # baseline
            self.wanted = {POLICY: awake}
            self._series = _matching(all_series, self.wanted)
        if self.is_named and not self._series:
            raise _nobody(all_series, self.wanted)

    @property
    def name(self) -> str:
        """The coordinates of the baseline as a string."""
        return setting(self.wanted)

    def is_itself(self, series: Series) -> bool:
        """Whether a series is the baseline. The baseline has no saving."""
        return series in self._series

    def of(self, series: Series) -> Series | None:
        """The baseline for a series: it has the same values of all coordinates that `wanted` does not name.

        ``None`` means that the reference is the cost of the series' flits on links that are always on.

        Raises
        ------
        UnbillableError
            If no series or more than one has these values, or if other parts fail in the baseline than in the series.
        """
        rest = {path: value for path, value in series.coordinates.items() if path not in self.wanted}
        found = [each for each in self._series if all(each.coordinates.get(path) == rest[path] for path in rest)]
        if len(found) > 1:
            apart = [path for path in self.wanted if len({label(each.value(path)) for each in found}) > 1]
            which = " or ".join(f"{path}={label(each.value(path))}" for path in apart for each in found)
            what = f"the baseline ({self.name}) is ambiguous: {len(found)} series match"
            raise UnbillableError(what, f"write {_PATH}: {which}")
        if not found and self.is_named:
            what = f"no point at the baseline ({self.name}) has {setting(rest)}, as this series does"
            raise UnbillableError(what, f"add to {_PATH} the value that the baseline has instead, or remove {_PATH}")
        if (found[0].faults if found else "") != series.faults:
            raise self._other_faults(found)
        return found[0] if found else None

    def _other_faults(self, found: Sequence[Series]) -> UnbillableError:
        """The error for a series that cannot be compared with its baseline, because they do not have the same faults.

        Failed parts draw no power, which lowers the energy. This difference of energy is no saving of the power policy.
        """
        if found:
            what = f"the baseline ({self.name}) has different faults: {found[0].faults or 'none'}"
        else:
            what = "failed links draw no power, which is not a saving, but no baseline was measured with these faults"
        awake = [each for each in self._all if each.never_sleeps and not each.faults and POLICY in each.coordinates]
        usual = {
            path: value for path, value in self.wanted.items() if path.partition(".")[0] not in (FAULTS, FAULT_MODEL)
        }
        if not found and awake:
            usual = {POLICY: awake[0].coordinates[POLICY]}
        elif not found or not usual:
            named = ", or, if the routing refuses that, ".join(f"`{policy}`" for policy in ALL_ON_POLICIES)
            remedy = f"with the same faults, measure a power policy that keeps all links on: add it to `sweep.{POLICY}`"
            return UnbillableError(what, f"{remedy}, such as {named}")
        named = ",".join(f"{path}={label(value)}" for path, value in usual.items())
        return UnbillableError(what, f"write {_PATH}: {named} (each series is compared at its own faults)")


def _awake(all_series: Sequence[Series]) -> Any:
    """The power policy (with its parameters) that keeps all links on; ``None`` if there is not exactly one."""
    found = [each.coordinates[POLICY] for each in all_series if each.stays_on and POLICY in each.coordinates]
    different = {label(policy): policy for policy in found}
    return next(iter(different.values())) if len(different) == 1 else None


def _read(text: str, all_series: Sequence[Series], *, by_phase: bool) -> dict[str, Any]:
    """Reads the coordinates of a baseline (values by dotted path) from a string."""
    known = list(dict.fromkeys(path for each in all_series for path in each.coordinates))
    try:
        wanted = parsed(text, known)
    except ResultsError as problem:
        path = text.partition("=")[0].strip()
        paths = [*known, *NAMED]
        ends = {each.rpartition(".")[2] for each in paths}
        raise ResultsError.saying(problem.what, meant(path, [*paths, *ends], problem.help), _PATH) from problem
    if isinstance(wanted, int):
        what = f"{text!r} is the number of a point"
        raise ResultsError.saying(what, "write coordinates, such as power.policy=always_on", _PATH)
    for path in wanted.keys() & {SEED, *(() if by_phase else (LOAD,))}:
        what = f"{text!r} names {path}, which does not distinguish series: each part is compared at its own load"
        raise ResultsError.saying(what, "remove this coordinate", _PATH)
    return wanted


def _matching(all_series: Iterable[Series], wanted: Mapping[str, Any]) -> list[Series]:
    """The series at the wanted coordinates.

    For each path, series that match exactly are preferred to series that match only by the name of a model.
    """
    found = [each for each in all_series if all(same(each.value(path), asked) for path, asked in wanted.items())]
    for path, asked in wanted.items():
        found = [each for each in found if same(each.value(path), asked, exactly=True)] or found
    return found


def _nobody(all_series: Sequence[Series], wanted: Mapping[str, Any]) -> ResultsError:
    """The error for a baseline whose coordinates no series has.

    The error suggests a known value for each unknown one.
    """
    lines = []
    for path, asked in wanted.items():
        if not _matching(all_series, {path: asked}):
            values = list(dict.fromkeys(label(each.value(path)) for each in all_series))
            listed = f"{path} is {' or '.join(values)} in this sweep"
            lines.append(meant(label(asked), [*values, *(each.partition("(")[0] for each in values)], listed))
    absent = "; ".join(lines) or "no series has all these values together: name fewer"
    comma = "" if absent.endswith("?") else ","
    out = f"or remove `{_PATH}`: the reference is then the same flits on links that are always on"
    return ResultsError.saying(f"no point is at {setting(wanted)}", f"{absent}{comma} {out}", _PATH)
