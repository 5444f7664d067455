"""A load that is saturated although the network carries a higher one is named, with its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import made
from small import steady_point
from weft.results import mixed_verdicts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("verdicts", "is_named"), [((True, False), True), ((False, True), False)])
def test_a_saturated_load_below_a_carried_one_is_named(
    tmp_path: Path, verdicts: tuple[bool, bool], is_named: bool
) -> None:
    loads = (0.3, 0.4)
    points = [steady_point("always_on", load, saturated=each) for load, each in zip(loads, verdicts, strict=True)]
    told = mixed_verdicts.sentences(made(tmp_path / "mixed", points))
    assert len(told) == is_named
    for sentence in told:
        assert "not monotonic (power.policy = always_on): load 0.3 is saturated" in sentence
        assert "and 0.4 is not" in sentence
        assert "measure.warmup" in sentence, "a remedy with numbers"
