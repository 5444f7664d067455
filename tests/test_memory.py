"""Tests memory: estimates compared with measured runs, refusals, and the end of a process that gets no more memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import bench_estimates
import weft
from weft.cli import main
from weft.errors import ScenarioError
from weft.runs import memory

if TYPE_CHECKING:
    from pathlib import Path

# Program that runs the first point of a scenario, and prints by how much the peak memory of its process grew [bytes].
_MEASURE = """
import sys
import weft
from weft._engine import Control

def peak():  # what getrusage says may be the peak of the parent
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

point = weft.load(sys.argv[1]).points[0]
before = peak()
finished = point.run(1, 0, Control())
finished.save(sys.argv[2])
print(peak() - before)
"""
_NETWORKS = {
    "torus": ({"torus": {"widths": [16, 16, 8], "terminals_per_router": 1}}, "dimension_order"),
    "butterfly": ({"hyperx": {"widths": [16, 16], "terminals_per_router": 16}}, "minimal"),
    "tree": ({"k_ary_n_tree": {"k": 8, "n": 4}}, "up_down"),
    "dragonfly": (
        {"dragonfly": {"routers_per_group": 12, "terminals_per_router": 6, "global_links_per_router": 6}},
        "dragonfly_minimal",
    ),
    "any_graph": ({"torus": {"widths": [16, 16, 8], "terminals_per_router": 1}}, {"ecmp": {"classes": "one"}}),
}


def scenario(topology: Any, routing: Any, **more: Any) -> dict[str, Any]:
    links: dict[str, Any] = {"default": {"latency": "10cycles", "vcs": 8, "buffer": "64flits"}}
    measure = {"warmup": "100cycles", "window": "300cycles", "drain_limit": "1000cycles"}
    given = {"topology": topology, "routing": routing, "links": links, "measure": measure}
    return given | {"traffic": {"pattern": "uniform", "load": 0.3}, "allow_dependency_cycle": True} | more


def written(folder: Path, given: dict[str, Any]) -> Path:
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(given), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", list(_NETWORKS))
def test_a_run_takes_about_as_much_as_was_estimated(name: str, tmp_path: Path) -> None:
    file = written(tmp_path, scenario(*_NETWORKS[name]))
    command = [sys.executable, "-c", _MEASURE, str(file), str(tmp_path / "point")]
    measured = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    estimated = weft.load(file).points[0].memory(1, 0)
    shown = f"measured {measured:,}, estimated {estimated}"
    # when we wrote this test, estimates were 1.27 to 1.46 times the measured memory
    assert 0.9 * measured < estimated["at_load_bytes"] < 1.8 * measured, shown
    assert estimated["most_bytes"] > 0.9 * measured, shown


@pytest.mark.long
@pytest.mark.parametrize("name", list(bench_estimates.NETWORKS))
def test_ten_networks_take_what_was_estimated_within_a_quarter(name: str, tmp_path: Path) -> None:
    took = bench_estimates.measured(name, tmp_path, "run")
    assert took["at_load_bytes"] == pytest.approx(took["bytes"], rel=0.25), took


def test_tables_of_routings_and_recordings_count() -> None:
    topology = {"torus": {"widths": [40, 40], "terminals_per_router": 1}}

    def most(**more: Any) -> int:
        (needs,) = memory.estimates(weft.load(scenario(topology, "dimension_order") | more).points)
        return needs

    own = most()
    assert most(routing={"ecmp": {"classes": "one"}}) - own == 1600 * 1600
    measure = {"series": {"every": "100cycles", "of": "channel"}}
    assert most(measure=measure) > own + 1e8


def test_the_least_limit_counts(tmp_path: Path) -> None:
    def write(name: str, content: str) -> None:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    assert memory.left(tmp_path) is None or "ulimit" in memory.left(tmp_path).of  # type: ignore[union-attr]
    write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n")
    assert memory.left(tmp_path) == memory.Left(5_120_000, "the machine")
    write("proc/self/cgroup", "0::/user/job\n")
    write("sys/fs/cgroup/user/memory.max", "4000000\n")
    write("sys/fs/cgroup/user/memory.current", "3000000\n")
    write("sys/fs/cgroup/user/memory.stat", "anon 7\ninactive_file 500000\n")
    write("sys/fs/cgroup/user/job/memory.max", "max\n")
    write("sys/fs/cgroup/user/job/memory.current", "10\n")
    group = memory.left(tmp_path)
    assert group is not None
    assert (group.bytes, "cgroup" in group.of) == (1_500_000, True), "the parent of the group has a limit"
    write("proc/self/cgroup", "4:cpu,memory:/job\n0::/\n")
    write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000\n")
    write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1999000\n")
    old = memory.left(tmp_path)
    assert old is not None
    assert old.bytes == 1000


@pytest.fixture
def one_fits(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a sweep whose points fit into memory one at a time, but not two at the same time."""
    needs = [memory.expected(point) for point in weft.load(small).points]
    monkeypatch.setattr(memory, "left", lambda: memory.Left(int(1.2 * max(needs)), "the machine"))
    return small


@pytest.mark.parametrize("command", ["run", "check"])
def test_too_much_is_refused_and_each_way_out_works(
    command: str, one_fits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out")] if command == "run" else []
    assert main([command, str(one_fits), "--jobs", "4", *out]) == 2
    errors = capsys.readouterr().err
    assert "4 points at a time need about" in errors
    assert "with all buffers full, but the machine has" in errors
    assert not (tmp_path / "out").exists()
    assert "--jobs 1" in errors
    assert main([command, str(one_fits), "--jobs", "1", *out]) == 0
    assert "--force-memory" in errors
    assert main([command, str(one_fits), "--jobs", "4", "--force-memory", *out]) == 0


# Deep buffers reserve much memory, but while queues are short, the run writes to almost no page of this memory.
DEEP = {"default": {"latency": "10cycles", "vcs": 8, "buffer": "2000flits"}}
TORNADO = {"pattern": "tornado", "load": 0.9}  # dimension order carries only 0.25 here


def deep(routing: str, **traffic: Any) -> weft.Sweep:
    """Load a sweep over a network with deep buffers, which needs far more memory if the network saturates."""
    given = scenario({"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}, routing, links=DEEP)
    return weft.load(given | {"traffic": given["traffic"] | traffic})


@pytest.fixture
def short_queues_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the machine has enough memory for the deep network with short queues, but not with full buffers."""
    needs = deep("minimal").points[0].memory(1, 0)
    assert needs["most_bytes"] > 1.5 * needs["at_load_bytes"]
    between = (needs["most_bytes"] + needs["at_load_bytes"]) // 2
    monkeypatch.setattr(memory, "left", lambda: memory.Left(between, "the machine"))


@pytest.mark.usefixtures("short_queues_fit")
def test_what_full_buffers_would_take_is_a_warning_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = deep("minimal")
    with pytest.warns(weft.MemoryWarning, match="a point may need up to .* if all buffers fill"):
        assert len(sweep.run(tmp_path / "out", jobs=1).frame) == 1
    file = written(tmp_path, sweep.points[0].resolved)
    assert main(["check", str(file), "--jobs", "1"]) == 0
    errors = capsys.readouterr().err
    assert errors.startswith("warning: a point may need up to"), errors
    assert "the expected need is about" in errors


@pytest.mark.usefixtures("short_queues_fit")
def test_a_point_that_is_sure_to_saturate_counts_with_full_buffers() -> None:
    with pytest.raises(ScenarioError, match="a point needs about"):
        deep("minimal", **TORNADO).check(jobs=1)
    with pytest.warns(weft.MemoryWarning, match="all buffers fill"):  # an adaptive routing may find other paths
        deep("ugal_p", **TORNADO).check(jobs=1)


def test_a_limit_of_the_address_space_counts_what_is_reserved() -> None:
    points = deep("minimal").points
    needs = points[0].memory(1, 0)
    limit = memory.Left(needs["most_bytes"] - 1, "the limit of this process", counts_reserved=True)
    with pytest.raises(ScenarioError, match="the limit of this process has"):
        memory.refuse_too_much(points, jobs=1, threads=1, blocks=0, limit=limit)


GOLDEN = "tests/data/golden/booksim.csv"


@pytest.mark.parametrize(
    "command",
    [
        ["timeline", "{small}", "--out", "{out}/trace.json"],
        ["run", "{small}", "--jobs", "1", "--watch", "0:0", "--out", "{out}/out"],
        ["validate", GOLDEN, "--filter", "torus8x8_uniform_1f 0.1$", "--jobs", "1"],
        ["reproduce", "tcep", "--quick", "--only", "15", "--jobs", "1", "--out", "{out}/out"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_runs_points_refuses_too_much(
    command: list[str],
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(memory, "left", lambda: memory.Left(1000, "the machine"))
    words = [word.format(small=small, out=tmp_path) for word in command]
    assert main(words) == 2
    assert "a point needs about" in capsys.readouterr().err
    if words[0] in {"timeline", "run"}:
        assert main([*words, "--force-memory"]) == 0


def test_a_search_for_saturation_is_refused_alike(one_fits: Path, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="4 points at a time need about"):
        weft.load(one_fits).saturation(out=tmp_path / "out", jobs=4, seeds=2)


def test_where_not_even_one_fits_a_smaller_network_is_the_remedy(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "left", lambda: memory.Left(1000, "the machine"))
    assert main(["check", str(small), "--jobs", "1"]) == 2
    errors = capsys.readouterr().err
    assert "a point needs about" in errors
    assert "the machine has 1 kB left" in errors
    assert "choose a smaller network, or run anyway with --force-memory" in errors


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the address space is that of Linux")
def test_a_process_that_gets_no_more_memory_ends_with_one_line(tmp_path: Path) -> None:
    """A process under `ulimit -v` ends with one line if it gets no more memory.

    Without --force-memory Weft would refuse the run before it begins.
    """
    topology = {"dragonfly": {"routers_per_group": 16, "terminals_per_router": 8, "global_links_per_router": 8}}
    file = written(tmp_path, scenario(topology, "dragonfly_minimal"))
    limited = (
        "import resource, sys; from weft.cli import main; import weft.api.sweep, weft.results.tables;"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + (96 << 20);"
        "resource.setrlimit(resource.RLIMIT_AS, (size, size)); sys.exit(main(sys.argv[1:]))"
    )
    run = ["run", str(file), "--out", str(tmp_path / "out"), "--no-picture", "--jobs", "1"]
    refused = subprocess.run([sys.executable, "-c", limited, *run], capture_output=True, text=True, check=False)
    assert (refused.returncode, "ulimit -v" in refused.stderr) == (2, True), refused.stderr
    run.append("--force-memory")
    ended = subprocess.run([sys.executable, "-c", limited, *run], capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if "out of memory" in line]
    assert line.startswith("error: out of memory: the system refused another"), ended.stderr
    assert "panicked" not in ended.stderr
    assert "backtrace" not in ended.stderr
