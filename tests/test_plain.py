"""Tests ``weft run --plain``, which runs without the engine's shortcuts: the result files have the same bytes."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from weft.cli import main
from weft.runs.checkpoints import Checkpoints

if TYPE_CHECKING:
    from pathlib import Path

    from weft._engine import Finished

# two scenarios in which the engine uses its shortcuts: long packets in streams and steady flows, with links that sleep;
# and uncontended short packets that choose a path at every hop
SCENARIOS = {
    "sleeping": """
topology: {torus: {widths: [4, 4], terminals_per_router: 2}}
routing: dimension_order
links: {default: {buffer: 128flits}}
traffic: {pattern: uniform, load: 0.1, packet: 40flits}
power: {policy: {idle_timeout: {idle: 40ns, transition: 25ns}}}
measure: {warmup: 300cycles, window: 2000cycles, series: {every: 50cycles}}
""",
    "adaptive": """
topology: {torus: {widths: [4, 4], terminals_per_router: 2}}
routing: minimal_adaptive
traffic: {pattern: uniform, load: 0.3, packet: 1flit}
sweep: {traffic.load: [0.05, 0.4]}
measure: {warmup: 300cycles, window: 2000cycles}
""",
}


def _digests(folder: Path) -> dict[str, str]:
    """Return digests of all files of the points, except the files with run times."""
    files = [file for file in sorted((folder / "points").rglob("*")) if file.is_file() and file.name != "run.json"]
    return {str(file.relative_to(folder)): sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.parametrize("name", SCENARIOS)
def test_plain_runs_have_the_same_results(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain: list[bool] = []
    run = Checkpoints.run

    def noted(*args: Any) -> Finished:
        plain.append(args[-1].plain)
        return run(*args)

    monkeypatch.setattr(Checkpoints, "run", noted)
    scenario = tmp_path / f"{name}.yaml"
    scenario.write_text(SCENARIOS[name], encoding="utf-8")
    for folder, options in {"fast": [], "plain": ["--plain"]}.items():
        assert main(["run", str(scenario), "--out", str(tmp_path / folder), "--no-picture", *options]) == 0
    fast, slow = _digests(tmp_path / "fast"), _digests(tmp_path / "plain")
    assert fast == slow
    assert any(file.endswith("summary.json") for file in fast)
    assert plain == [False] * (len(plain) // 2) + [True] * (len(plain) // 2)


def test_plain_is_for_developers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "--plain" not in capsys.readouterr().out
