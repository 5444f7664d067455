"""Rules that say when a claim of a paper is met. The tolerance of a rule depends only on the kind of the claim.

``exact``   the measured value, rounded to the printed digits, is the printed one
``approx``  the measured value is within 10 % of the printed one, a latency within 5 %, a result of arithmetic within
            1 %. For a loss, the share that remains is compared, within 3 percentage points. A change in per cent is
            also compared within 3 percentage points. A change printed as 3 % or less must have the printed sign, and
            must be at most 10 % greater than printed.
``trend``   an inequality over the measured curve holds; the rule states it in words
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from math import floor, isfinite
from typing import TYPE_CHECKING, Literal, ParamSpec

from weft_papers.common.measured import LackingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft_papers.common.measured import Measured

P = ParamSpec("P")
Answer = Literal["met", "by construction", "by selection", "missed", "untestable", "not run"]
WORDS: dict[Answer, str] = {
    "met": "met",
    "by construction": "by construction",
    "by selection": "by selection",
    "missed": "missed",
    "untestable": "not testable",
    "not run": "not run",
}
_TRIED = "not isolated: tried"
# Text in place of a cause, for a missed claim that nobody has examined.
UNKNOWN = f"{_TRIED} nothing yet"
WITHIN, WITHIN_LATENCY, ARITHMETIC = 0.10, 0.05, 0.01
# Tolerance of the share that remains after a loss, and of a relative change: a difference of 0.03 (3 percentage
# points).
POINTS = 0.03


@dataclass(frozen=True)
class Finding:
    """The result of a rule: its answer about a claim, with the measured value.

    Attributes
    ----------
    answer : str
        One of `WORDS`.
    measured : str
        Text with the measured value and its unit; empty if nothing was measured.
    value : float or None
        The measured value, if it is a number.
    because : str
        Reason why a claim is not met. For a missed claim, the reason names the measured value, the load, and the
        required value.
    cause : str
        Cause of a missed claim, if the cause was checked with runs or computations.
    """

    answer: Answer
    measured: str = ""
    value: float | None = None
    because: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Part:
    """A part of a trend, such as one pattern or one mechanism.

    Attributes
    ----------
    holds : bool
        Whether the inequality holds for this part.
    text : str
        Text with the measured value and its load.
    cause : str
        Cause if this part does not hold, if the cause was checked with runs or computations.
    """

    holds: bool
    text: str
    cause: str = ""


@dataclass(frozen=True)
class Undecided:
    """A part of a trend that cannot be judged, because the runs leave a quantity unknown.

    If another part of the trend fails, the claim is missed. Otherwise the claim has no verdict.

    Attributes
    ----------
    because : str
        Text that names the unknown quantity.
    """

    because: str


def or_undecided(part: Callable[P, Part]) -> Callable[P, Part | Undecided]:
    """Decorate a function that judges a part of a trend.

    If the function raises `LackingError`, because a number is unknown, the part is undecided.
    """

    @wraps(part)
    def judge(*args: P.args, **kwargs: P.kwargs) -> Part | Undecided:
        try:
            return part(*args, **kwargs)
        except LackingError as problem:
            return Undecided(str(problem))

    return judge


@dataclass(frozen=True)
class Rule:
    """A rule that says when a claim is met.

    Attributes
    ----------
    words : str
        Condition of the rule, as a string.
    needs : tuple of str
        Experiments that the rule uses.
    judge : callable
        Function that judges the measurements.
    """

    words: str
    needs: tuple[str, ...]
    judge: Callable[[Measured], Finding]


def tells(cause: str) -> bool:
    """Return whether the text of a cause is specific: it has a number, or lists the attempts to find the cause."""
    return any(letter.isdigit() for letter in cause) or _TRIED in cause


def stated(cause: str) -> str:
    """Return the cause of a missed claim, after a check that the cause is specific.

    Raises
    ------
    ValueError
        If the text contains no number, and does not list the attempts to find the cause.
    """
    if not tells(cause):
        raise ValueError(f"a cause must name a change and its number, or begin with {_TRIED!r}: {cause!r}")
    return cause


def exact(
    printed: float | str,
    of: Callable[[Measured], float | str],
    *needs: str,
    digits: int = 6,
    truncated: bool = False,
    unit: str = "",
    cause: str = UNKNOWN,
) -> Rule:
    """Make a rule that requires the printed value exactly.

    The measured number is rounded to `digits` decimal places. If the paper cut off digits (`truncated`), it is cut off
    there.
    """
    asked = printed if isinstance(printed, str) else _number(printed, unit)
    stated(cause)

    def judge(measured: Measured) -> Finding:
        found = of(measured)
        if isinstance(found, str) or isinstance(printed, str):
            holds, reported, value = found == printed, str(found), None
        else:
            # the binary value of 0.3 is slightly less than 0.3; without 1e-9, `floor` would give 0.2
            cut = floor(_finite(found) * 10**digits + 1e-9) / 10**digits
            shown = cut if truncated else round(found, digits)
            holds, reported, value = shown == round(printed, digits), _number(found, unit), found
        return _found(holds, reported, value, f"{reported} is not {asked}", cause)

    where = ", cut off after the last printed digit" if truncated else ""
    return Rule(f"equal to {asked}{where}", needs, judge)


def approx(
    printed: float,
    of: Callable[[Measured], float | tuple[float, str]],
    *needs: str,
    within: float = WITHIN,
    unit: str = "",
    cause: str = UNKNOWN,
) -> Rule:
    """Make a rule: the measured value must differ from the printed one by at most the share `within`.

    `of` can also return a remark on the value.
    """
    low, high = sorted(((1 - within) * printed, (1 + within) * printed))
    stated(cause)

    def judge(measured: Measured) -> Finding:
        found, remark = each if isinstance(each := of(measured), tuple) else (each, "")
        text = "; ".join(filter(None, [_number(_finite(found), unit), remark]))
        off = f"{abs(found / printed - 1):.1%} off {_number(printed, unit)}, but only {within:.0%} is allowed"
        return _found(low <= found <= high, text, found, f"{text}, which is {off}", cause)

    return Rule(f"within {within:.0%} of {_number(printed, unit)}: {low:.4g} to {high:.4g}", needs, judge)


def remains(printed: float, of: Callable[[Measured], tuple[float, str]], *needs: str, cause: str = UNKNOWN) -> Rule:
    """Make a rule for a loss. The rule compares the share that remains after the loss.

    A tolerance of 10 % of the loss would be too large: for a loss of 85 % it would be 8.5 points, although only 15 %
    remain.
    """
    asked = f"within {100 * POINTS:g} points of {100 * printed:g} %"
    stated(cause)

    def judge(measured: Measured) -> Finding:
        found, remark = of(measured)
        text = f"{100 * _finite(found):.1f} %; {remark}"
        because = f"{text}, but it must be {asked}"
        return _found(abs(found - printed) <= POINTS, text, found, because, cause)

    return Rule(f"the remaining share is {asked}", needs, judge)


def change_holds(found: float, printed: float) -> bool:
    """Return whether a measured change agrees with the printed change.

    If the printed change is 3 % or less, a tolerance of 3 points would accept a change of 0 or of the opposite sign.
    The measured change must then have the printed sign, and be at most 10 % greater than the printed change.
    """
    if abs(printed) > POINTS:
        return abs(found - printed) <= POINTS
    return 0 < found / printed <= 1 + WITHIN


def change_words(printed: float) -> str:
    """Return the condition of `change_holds` as a string."""
    if abs(printed) > POINTS:
        return f"within {100 * POINTS:g} points of {100 * printed:+g} %"
    return f"same sign as {100 * printed:+g} %, and at most {100 * WITHIN:g} % greater"


def trend(
    words: str,
    of: Callable[[Measured], tuple[bool, str] | Sequence[Part | Undecided]],
    *needs: str,
    cause: str = UNKNOWN,
) -> Rule:
    """Make a rule for a trend: an inequality that must hold in all its parts.

    `of` returns the parts of the trend. Each part says whether the inequality holds in it, and names the measurement.
    """
    stated(cause)

    def judge(measured: Measured) -> Finding:
        found = of(measured)
        every = [Part(*found)] if isinstance(found, tuple) else found
        parts = [each for each in every if isinstance(each, Part)]
        failed = [part for part in parts if not part.holds]
        open_ = [each.because for each in every if isinstance(each, Undecided)]
        if open_ and not failed:
            raise LackingError("; ".join(dict.fromkeys(open_)))
        shown, off = ("; ".join(part.text for part in some) for some in (parts, failed))
        causes = "; ".join(dict.fromkeys(part.cause or cause for part in failed))
        return _found(not failed, shown, None, f"{off}; required: {words}", causes)

    return Rule(words, needs, judge)


def given(words: str) -> Rule:
    """Make a rule for a claim that is a part of Weft's model, so that no run can contradict the claim."""
    return Rule("part of the model", (), lambda _: Finding("by construction", words))


def constructed(rule: Rule) -> Rule:
    """Change the rule of a claim whose formula or parameter is also in Weft's model.

    If the claim is met, the answer is "by construction", because a comparison of the model with itself tests nothing.
    """
    return _met_as("by construction", rule)


def selected(rule: Rule) -> Rule:
    """Change the rule of a claim about networks whose sizes the paper omits.

    If the claim is met, the answer is "by selection", because we chose sizes that give the paper's numbers.
    """
    return _met_as("by selection", rule)


def _met_as(answer: Answer, rule: Rule) -> Rule:
    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        return replace(found, answer=answer) if found.answer == "met" else found

    return replace(rule, judge=judge)


def generated(rule: Rule) -> Rule:
    """Change a rule whose measurements come from generated applications, not from traces of real ones.

    The text of the measurement then begins with the word "generated".
    """

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        return replace(found, measured=f"generated: {found.measured}") if found.measured else found

    return replace(rule, judge=judge)


def untestable(because: str, of: Callable[[Measured], str] | None = None, *needs: str) -> Rule:
    """Make a rule for a claim that no run can decide. `of` returns a related measurement for the scoreboard."""

    def judge(measured: Measured) -> Finding:
        return Finding("untestable", _beside(of, needs, measured), because=because)

    return Rule("nothing to compare", (), judge)


def _beside(of: Callable[[Measured], str] | None, needs: tuple[str, ...], measured: Measured) -> str:
    """Return the related measurement of a claim that no run can decide; empty if its experiments were not run."""
    with suppress(LackingError):
        return of(measured) if of and measured.has(needs) else ""
    return ""


def _finite(value: float) -> float:
    if not isfinite(value):
        raise LackingError("the measured value is not a number")
    return value


def _found(holds: bool, message: str, value: float | None, because: str, cause: str) -> Finding:
    return Finding("met", message, value) if holds else Finding("missed", message, value, because, cause)


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:+.1f} %"
    digits = f"{value:,.1f}" if abs(value) >= 10_000 else f"{value:.4g}"
    words = f"{value:,.0f}" if value == round(value) else digits
    return f"{words} {unit}".rstrip()
