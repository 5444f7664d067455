"""Make the page of diagnoses: a section for each code that the engine declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import _engine
from weft_docs import markdown

if TYPE_CHECKING:
    from collections.abc import Collection

INTRODUCTION = """\
# Diagnoses

Weft judges every point and says why. Each kind of judgement has a code, which stays the same in every version.
Scripts use the code and the numbers, and never the sentence:

- `weft check SCENARIO --json` lists the warnings and hints of a scenario before it runs.
- `weft run SCENARIO --json` and `Results.diagnoses` list the flaws and warnings of finished points. Each has `code`,
  `severity`, `what`, `numbers` and `remedy`. A flaw of a phase of the load also has `phase`, its number.
- `diagnoses` of that document and `Results.sweep_diagnoses` list the warnings about several points of a sweep, such as
  a load that is saturated below one that is carried, or pairs that cannot be compared. Each also has `points`, their
  row numbers.
- A remedy has `text` and `settings`, which are values for `--set`. `settings` is empty where the text says more than
  settings can, or where the scenario may refuse them. It is also empty in the warnings that `summary.json` has.
- `warnings` in `summary.json` are the warnings of that point, with `code`, `severity`, `path`, `what`, `numbers` and
  `help`.
- The notes of `weft run`, `weft saturation`, `weft compare` and of a report have the code of a note in brackets.
- `weft explain code CODE` prints the section of this page.

Results of earlier versions are judged in the same way. Their warnings may lack a code and numbers.
"""

_SEVERITIES = {
    "flaw": "Flaws of finished points, worst first. Weft never ranks a point with a flaw, and marks its numbers.",
    "warning": "Warnings. The point can run, or has run, but its numbers may mislead.",
    "hint": "Hints of `weft check`. A setting limits the network, or has no effect. The numbers are right.",
}


def pages() -> dict[str, str]:
    """Make the page. The key of the result is the name of the page."""
    codes = {each["code"]: each for each in _engine.codes()}
    flaws = {each["code"]: codes[each["code"]] for each in _engine.flaw_kinds()}
    parts = [INTRODUCTION]
    for severity, about in _SEVERITIES.items():
        of_severity = [each for each in (flaws | codes).values() if each["severity"] == severity]
        parts += [f"## {severity.capitalize()}s", about, *(_section(each, codes) for each in of_severity)]
    return {"reference/diagnoses": "\n\n".join(parts) + "\n"}


def _section(code: dict[str, str], known: Collection[str]) -> str:
    name = code["code"]
    rows = {"Meaning": code["means"], "Computed": code["computed"], "Remedy": code["helps"]}
    lines = [f"**{head}.** {_linked(markdown.comment(text), known)}" for head, text in rows.items()]
    return "\n\n".join([f"({name})=\n### `{name}`", *lines])


def _linked(text: str, known: Collection[str]) -> str:
    """Replace codes in a text by links to their sections."""
    plain, *quoted = text.split("`")
    for name, rest in zip(quoted[::2], quoted[1::2], strict=True):
        plain += f"[`{name}`](#{name}){rest}" if name in known else f"`{name}`{rest}"
    return plain
