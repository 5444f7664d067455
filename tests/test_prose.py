"""Tests `prose.py`, the check of plain English: it finds sentences that break rules, and its budget only falls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import prose

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("sentence", "advice"),
    [
        ("The router draws its paths anew after each snapshot.", "old word"),
        ("Its settings stand in the table below.", "vague verb"),
        ("A source is told that a packet has left.", "code that talks"),
        ("The message gives what the routing needs.", ""),
        ("It depends on the load, and on what was offered.", ""),
        ("The report says how it came, and what was offered.", "noun phrase"),
        ("Agents hear of so many flits as have come.", "quantity"),
        ("The last window is measured, too.", "', too'"),
        ("A mesh has none of these.", "pronoun for a set"),
        ("One has two ports.", "pronoun as subject"),
        ("The block who has the channel sends.", "'who'"),
        (" ".join(["word"] * 26), ""),
        (" ".join(["word"] * 27), "27 words"),
        ("A link that sleeps wakes where a packet waits.", ""),
        ("A link that sleeps wakes where a packet waits that asked.", "three relative"),
        ("So it goes on.", "vague verb"),
        ("It goes on.", ""),  # the sentence is too short to be hard
        ("`what is told` and [goes with it](page.md) are code.", ""),
    ],
)
def test_rules(sentence: str, advice: str) -> None:
    found = prose.broken(sentence)
    if advice:
        assert any(advice in rule for rule in found), found
    else:
        assert not found


def test_pages_and_comments_are_read_without_code(tmp_path: Path) -> None:
    page, code = tmp_path / "page.md", tmp_path / "code.rs"
    bad = "This sentence goes on here."
    page.write_text(
        f"# {bad}\n\n{bad} Fine words are here.\n\n```sh\n{bad}\n```\n| {bad} |\n- {bad}\n", encoding="utf-8"
    )
    code.write_text(f'//! {bad}\nlet text = "{bad}";\n    /// Fine words are\n    /// here. {bad}\n', encoding="utf-8")
    assert [found.line for found in prose.findings(page)] == [3, 9]
    assert [found.line for found in prose.findings(code)] == [1, 3]


def test_docstrings_and_comments_of_python_are_read(tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    bad = "This sentence goes on here."
    code.write_text(
        f'"""{bad}"""\nTEXT = "{bad}"\n# {bad}\ndef f():\n    """Fine words are here."""\n', encoding="utf-8"
    )
    assert [found.line for found in prose.findings(code)] == [1, 3]


def test_the_comments_of_all_code_have_few_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prose.in_code() == []
    monkeypatch.setattr(prose, "MOST_IN_CODE", {"*.py": 0.0})
    (complaint,) = prose.in_code()
    assert complaint.startswith("*.py: ")


def test_a_budget_only_falls() -> None:
    found, budget = {"a.md": 3, "b.md": 1, "c.md": 0, "new.md": 2}, {"a.md": 2, "b.md": 4, "c.md": 1}
    assert prose.lowered(found, budget) == {"a.md": 2, "b.md": 1}
    over, new, high = prose.compared(found, budget)
    assert over.startswith("a.md: 3 sentence(s)")
    assert new.startswith("new.md: 2 sentence(s)")
    assert "b.md, c.md is higher" in high
    assert not prose.compared({"a.md": 2, "b.md": 1}, prose.lowered(found, budget))


def test_the_budget_names_files_and_the_remedies_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    budget = json.loads(prose.BUDGET.read_text(encoding="utf-8"))
    assert not [name for name in budget if not (prose.ROOT / name).exists()]
    own = tmp_path / "budget.json"
    monkeypatch.setattr(prose, "BUDGET", own)
    present = {name: number for name, number in prose.counts().items() if number}
    name = next(iter(present))
    own.write_text(json.dumps(present | {name: present[name] + 1}), encoding="utf-8")
    assert prose.main([]) == 1
    assert "--lower" in capsys.readouterr().out
    assert prose.main(["--lower"]) == 0
    assert prose.main([]) == 0
    own.write_text(json.dumps(present | {name: present[name] - 1}), encoding="utf-8")
    assert prose.main([]) == 1
    assert f"--list {name}" in capsys.readouterr().out
    assert prose.main(["--list", str(prose.ROOT / name)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == present[name]
