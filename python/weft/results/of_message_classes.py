"""Whether the numbers of one message class of a point hold: they do if those of all its jobs do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.results import of_jobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Summary = Mapping[str, Any]


def of(summary: Summary) -> Sequence[Mapping[str, Any]]:
    """The message classes of a point; none where packets are of one kind, and in results of an older Weft."""
    return summary.get("message_classes") or []


def sign(summary: Summary, message_class: Mapping[str, Any]) -> str:
    """Word in place of a latency without a limit, or mark behind the numbers of a class; empty for a sound class."""
    signs = [of_jobs.sign(summary, job) for job in of_jobs.of(summary) if job["job"] in message_class["jobs"]]
    return next(filter(None, signs), "")


def reason(summary: Summary, message_class: Mapping[str, Any]) -> str | None:
    """Why a class is no example of anything good, in words; ``None`` for a sound one."""
    reasons = [of_jobs.reason(summary, job) for job in of_jobs.of(summary) if job["job"] in message_class["jobs"]]
    return next(filter(None, reasons), None)
