"""Finds sentences that a new reader has to read twice, and checks each page against its budget.

``python tests/prose.py`` counts the findings of all pages and of the comments of some crates. It fails if a page has
more findings than its line in ``tests/data/prose_budget.json``. A page without a line in that file may have no finding.
The budget only falls: ``--lower`` writes the present counts if they are lower. It also fails if more than 8 % of the
sentences in the comments of all Rust files have findings. The same limit applies to comments and docstrings in Python.
``--list FILE...`` prints the findings of files.

A finding is a sentence that a reader should check. Even if the sentence is clear, reword it: the rules are few and
mechanical.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
BUDGET = ROOT / "tests" / "data" / "prose_budget.json"
# Crates whose comments have a budget of findings: one number for each crate.
CRATES = ("crates/scenario", "crates/topology", "crates/traffic", "crates/units")
# Maximum share of sentences with findings, over all files of a language.
MOST_IN_CODE = {"*.rs": 0.08, "*.py": 0.08}
# Folders that the check skips: texts from other authors, and generated texts.
LEFT_OUT = ("python/weft/report/vendor/", "docs/_generated/")

MOST_WORDS = 26
MOST_RELATIVES = 2
FEWEST_WORDS = 4
RELATIVE = re.compile(r"\b(that|which|who|whose|what|where)\b")
RULES = {
    "old word: use the everyday word": r"\b(anew|beforehand|in vain|but for|unborn|besides|beside (which|it|them))\b",
    "vague verb: say what happens": r"\b(stands?|stood) (in|at|beside|behind|once|there|for|under|after|before)\b"
    r"|\blies (in|at|beside|under)\b|\bgoes (with|on)\b|\b(comes?|came) back\b|\bbrings? about\b",
    "code that talks: name the call or the data": r"\b(is|are|was|were|be) told\b|\b(hears?|heard)\b|\bwish(es)?\b"
    r"|\btells? (of|the|a|it|them|how|what|which)\b",
    "noun phrase with 'what': name the thing": r"(^|[,;:(] ?|\b(of|to|by|from|as|with|for|than|and) )[Ww]hat (?!if\b)",
    "quantity without a measure": r"\bso (many|much|long|often|far|large|short) (as |that )?(?=[a-z])",
    "', too': say what is added": r", too\b",
    "pronoun for a set: name the set": r"\b(nothing|none|all|any) of (it|them|this|that|these|those)\b",
    "pronoun as subject: repeat the noun": r"^(One|Others?|Both|Those|Such)\b",
    "'who' for code: name the code": r"\b(he|she) who\b|\bwho (is|are|asks?|takes?|reads?|gets?|has|have) ",
}


class Finding(NamedTuple):
    """A sentence of a file: line at which its passage begins, text, and the rules that it breaks."""

    line: int
    sentence: str
    rules: list[str]


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each passage: paragraphs of a page, comments and docstrings of code."""
    if path.suffix == ".py":
        yield from _python(path.read_text(encoding="utf-8"))
        return
    rust = path.suffix == ".rs"
    block: list[str] = []
    first, fenced = 0, False
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        text: str | None = line
        if rust:
            comment = re.match(r"\s*//[/!]?\s?(.*)", line)
            text = comment[1] if comment and not comment[1].startswith("#") else None
        elif line.lstrip().startswith("```"):
            fenced, text = not fenced, None
        elif fenced or not line.strip() or line.lstrip().startswith(("|", "#")):
            text = None
        if text is not None:
            first = first if block else number
            block.append(text)
        elif block:
            yield first, "\n".join(block)
            block = []


def _python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node)
            if doc:
                yield node.body[0].lineno, doc
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*#\s(.*)", line)
        if comment:
            yield number, comment[1]


def sentences(passage: str) -> Iterator[str]:
    """Split a passage into sentences. The end of a list item ends a sentence."""
    for part in re.split(r"\n\s*\n|\n\s*[-*] |\n\s*\d+\. ", passage):
        yield from re.split(r"(?<=[.!?])\s+(?=[A-Z`*])", part)


def broken(sentence: str) -> list[str]:
    """Return the rules that a sentence breaks. Code and links count as one word."""
    plain = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|https?://\S+", "x", " ".join(sentence.split()))
    words = len(plain.split())
    if words < FEWEST_WORDS:
        return []
    found = [advice for advice, rule in RULES.items() if re.search(rule, plain)]
    if words > MOST_WORDS:
        found.append(f"{words} words: split it")
    if len(RELATIVE.findall(plain)) > MOST_RELATIVES:
        found.append("three relative clauses: split it")
    return found


@cache
def judged(path: Path) -> list[tuple[Finding, int]]:
    """Return each sentence of a file with the rules that it breaks, and its number of words.

    The result is cached, because several checks use the sentences of a file.
    """
    return [
        (Finding(line, " ".join(sentence.split()), broken(sentence)), len(sentence.split()))
        for line, passage in passages(path)
        for sentence in sentences(passage)
    ]


def findings(path: Path) -> list[Finding]:
    """Return all findings of a file."""
    return [sentence for sentence, _ in judged(path) if sentence.rules]


def in_code() -> list[str]:
    """Return a complaint for each language (Rust, Python) whose comments have too many findings."""
    complaints = []
    for pattern, most in MOST_IN_CODE.items():
        listed = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=True)
        files = [ROOT / name for name in listed.stdout.split() if not name.startswith(LEFT_OUT)]
        read = [sentence for path in files if path.is_file() for sentence in judged(path)]
        flawed = sum(bool(sentence.rules) for sentence, _ in read)
        whole = sum(words >= FEWEST_WORDS for _, words in read)
        if flawed > most * whole:
            share = f"{flawed} of {whole} sentences to rewrite are more than {100 * most:g} %"
            complaints.append(f"{pattern}: {share}: see `python tests/prose.py --list FILE`")
    return complaints


def counts() -> dict[str, int]:
    """Count the findings of each page, and of each crate in `CRATES`."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md", *(f"{crate}/*.rs" for crate in CRATES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, int] = {}
    for name in listed.stdout.split():
        # a symbolic link to a folder is not a file; git also lists the files of its target
        if not name.startswith(LEFT_OUT) and (ROOT / name).is_file():
            of = name if name.endswith(".md") else "/".join(name.split("/")[:2])
            found[of] = found.get(of, 0) + len(findings(ROOT / name))
    return found


def compared(found: dict[str, int], budget: dict[str, int]) -> list[str]:
    """Return a complaint for each count of findings that is over its budget or under it."""
    complaints = [
        f"{name}: {number} sentence(s) to rewrite, and its budget is {budget.get(name, 0)}: "
        f"see `python tests/prose.py --list {name}`"
        for name, number in found.items()
        if number > budget.get(name, 0)
    ]
    high = [name for name, number in budget.items() if found.get(name, 0) < number]
    if high:
        complaints.append(f"the budget of {', '.join(high)} is higher than needed: `python tests/prose.py --lower`")
    return complaints


def lowered(found: dict[str, int], budget: dict[str, int]) -> dict[str, int]:
    """Return the budget with each number lowered to the present count of findings. Zeros are omitted."""
    least = {name: min(number, found.get(name, 0)) for name, number in budget.items()}
    return {name: number for name, number in sorted(least.items()) if number}


def main(words: list[str] | None = None) -> int:
    """Run the command, and return the exit status: 1 if a count of findings is over or under its budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--list", nargs="+", metavar="FILE", type=Path, help="files or folders whose findings are shown"
    )
    parser.add_argument("--lower", action="store_true", help="write the present counts where they are lower")
    asked = parser.parse_args(words)
    if asked.list:
        files = [file for path in asked.list for file in (sorted(path.rglob("*.rs")) if path.is_dir() else [path])]
        for file in files:
            for line, sentence, rules in findings(file):
                print(f"{file}:{line}: {'; '.join(rules)}: {sentence}")
        return 0
    budget = json.loads(BUDGET.read_text(encoding="utf-8"))
    found = counts()
    if asked.lower:
        BUDGET.write_text(json.dumps(lowered(found, budget), indent=2) + "\n", encoding="utf-8")
        return 0
    complaints = compared(found, budget) + in_code()
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
