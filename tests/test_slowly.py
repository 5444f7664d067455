"""Tests that a slow check of a scenario prints the part of the check that takes long."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from weft.api.sweep import Sweep
from weft.cli import main, slowly

if TYPE_CHECKING:
    import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "quickstart.yaml"


def test_a_check_that_takes_long_says_which_part_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual, said = Sweep.check, Event()

    def tell(*words: object, **how: Any) -> None:
        print(*words, **how)
        if "following their paths" in str(words):
            said.set()

    def slow(sweep: Sweep, **options: Any) -> Any:
        assert said.wait(60)
        return usual(sweep, **options)

    monkeypatch.setattr(slowly, "_FIRST", 3600.0)
    assert main(["check", str(EXAMPLE)]) == 0
    plain = capsys.readouterr()
    assert "so far" not in plain.err, "a fast check prints nothing more"
    monkeypatch.setattr(Sweep, "check", slow)
    monkeypatch.setattr(slowly, "print", tell, raising=False)
    monkeypatch.setattr(slowly, "_FIRST", 0.1)
    assert main(["check", str(EXAMPLE)]) == 0
    shown = capsys.readouterr()
    assert "following their paths: " in shown.err
    assert " so far" in shown.err
    assert shown.out == plain.out
