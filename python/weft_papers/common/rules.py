"""Rules that say when a claim is met. The tolerance depends only on the kind of the claim.

``exact``   the measured value, rounded to the printed digits, is the printed one
``approx``  the measured value lies within 10 % of the printed one, a latency within 5 %, a result of arithmetic within
            1 %. Of a loss the remaining share is compared, within 3 points. A change in per cent is also compared
            within 3 points. A change printed as 3 % or less has the printed sign, and is at most 10 % greater.
``trend``   an inequality over the measured curve holds, stated in words
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
# Cause of a miss for which nobody has looked for a cause.
UNKNOWN = f"{_TRIED} nothing yet"
WITHIN, WITHIN_LATENCY, ARITHMETIC = 0.10, 0.05, 0.01
# Tolerance of a remaining share, or of a change in per cent.
POINTS = 0.03


@dataclass(frozen=True)
class Finding:
    """The result of a rule.

    Attributes
    ----------
    answer : str
        One of `WORDS`.
    measured : str
        String with the measurement and its units; empty if nothing was measured.
    value : float or None
        The measurement as a number, if it is a number.
    because : str
        Reason why a claim is not met. For a miss it names the measurement, the load, and the required value.
    cause : str
        Cause of a miss, if the cause was checked.
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
        String with the measurement and its load.
    cause : str
        Cause of a failure, if the cause was checked.
    """

    holds: bool
    text: str
    cause: str = ""


@dataclass(frozen=True)
class Undecided:
    """A part of a trend that the runs do not decide.

    If another part of the trend fails, the trend is missed. Otherwise the trend has no verdict.

    Attributes
    ----------
    because : str
        The unknown quantity.
    """

    because: str


def or_undecided(part: Callable[P, Part]) -> Callable[P, Part | Undecided]:
    """Make a part undecided if it reads an unknown number."""

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
    """Whether a cause names a change and its number, or the attempts that had no success."""
    return any(letter.isdigit() for letter in cause) or _TRIED in cause


def stated(cause: str) -> str:
    """The cause of a rule, after a check that it is specific.

    Raises
    ------
    ValueError
        If the cause has no number, and does not name what was tried.
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
    """A rule for the same value.

    A number is rounded to `digits` decimal places, as in the paper, or is cut off there.
    """
    asked = printed if isinstance(printed, str) else _number(printed, unit)
    stated(cause)

    def judge(measured: Measured) -> Finding:
        found = of(measured)
        if isinstance(found, str) or isinstance(printed, str):
            holds, reported, value = found == printed, str(found), None
        else:
            # a value like 0.3 is not stored exactly: a tiny difference below the last digit is rounded up to the digit
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
    """A rule for a value within a share of the printed value. The measured value may have a remark."""
    low, high = sorted(((1 - within) * printed, (1 + within) * printed))
    stated(cause)

    def judge(measured: Measured) -> Finding:
        found, remark = each if isinstance(each := of(measured), tuple) else (each, "")
        text = "; ".join(filter(None, [_number(_finite(found), unit), remark]))
        off = f"{abs(found / printed - 1):.1%} off {_number(printed, unit)}, but only {within:.0%} is allowed"
        return _found(low <= found <= high, text, found, f"{text}, which is {off}", cause)

    return Rule(f"within {within:.0%} of {_number(printed, unit)}: {low:.4g} to {high:.4g}", needs, judge)


def remains(printed: float, of: Callable[[Measured], tuple[float, str]], *needs: str, cause: str = UNKNOWN) -> Rule:
    """A rule for a loss, judged by the remaining share.

    A tenth of a loss of 85 % would be more than half of the remaining share.
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
    """Whether a change agrees with the printed change.

    No change at all, and changes with the opposite sign, are within 3 points of a small change. So a small change is
    judged as the paper states it: it must not be greater than printed.
    """
    if abs(printed) > POINTS:
        return abs(found - printed) <= POINTS
    return 0 < found / printed <= 1 + WITHIN


def change_words(printed: float) -> str:
    """The condition of `change_holds` as a string."""
    if abs(printed) > POINTS:
        return f"within {100 * POINTS:g} points of {100 * printed:+g} %"
    return f"same sign as {100 * printed:+g} %, and at most {100 * WITHIN:g} % greater"


def trend(
    words: str,
    of: Callable[[Measured], tuple[bool, str] | Sequence[Part | Undecided]],
    *needs: str,
    cause: str = UNKNOWN,
) -> Rule:
    """A rule for an inequality.

    The function returns its parts: whether the inequality holds there, and the measurement.
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
    """A rule for a claim that is part of the model, so that no run can contradict it."""
    return Rule("part of the model", (), lambda _: Finding("by construction", words))


def constructed(rule: Rule) -> Rule:
    """A rule for a claim whose formula or parameter the model repeats. If the rule holds, nothing was tested."""
    return _met_as("by construction", rule)


def selected(rule: Rule) -> Rule:
    """A rule for a claim about networks of unknown size. Sizes were chosen that give the numbers of the paper."""
    return _met_as("by selection", rule)


def _met_as(answer: Answer, rule: Rule) -> Rule:
    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        return replace(found, answer=answer) if found.answer == "met" else found

    return replace(rule, judge=judge)


def generated(rule: Rule) -> Rule:
    """A rule with measurements of generated applications. Its finding begins with the word "generated"."""

    def judge(measured: Measured) -> Finding:
        found = rule.judge(measured)
        return replace(found, measured=f"generated: {found.measured}") if found.measured else found

    return replace(rule, judge=judge)


def untestable(because: str, of: Callable[[Measured], str] | None = None, *needs: str) -> Rule:
    """A rule for a claim that no run can decide. The function returns a related measurement."""

    def judge(measured: Measured) -> Finding:
        return Finding("untestable", _beside(of, needs, measured), because=because)

    return Rule("nothing to compare", (), judge)


def _beside(of: Callable[[Measured], str] | None, needs: tuple[str, ...], measured: Measured) -> str:
    """The measurement of a claim that is not judged; empty if it was not run."""
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
