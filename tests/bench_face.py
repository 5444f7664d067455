"""Measures the speed of Weft's Python commands: `python tests/bench_face.py` prints wall and CPU seconds.

The times include the start of Python. The commands read the results of one small run, copied to 500 points. For the
plot of latency distributions, a result has a million packets.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import weft

REPEATS = 3
POINTS = 500
SCENARIO = {
    "topology": {"hyperx": {"widths": [8, 8], "terminals_per_router": 8}},
    "routing": "ugal_p",
    "traffic": {"pattern": "uniform", "load": 0.3},
    "power": {"policy": {"idle_timeout": {"idle": "20cycles", "transition": "10cycles"}}},
    "measure": {"warmup": "200cycles", "window": "500cycles", "series": {"every": "50cycles", "of": "channel"}},
}


def main() -> None:
    """Make the results, measure the time of each command, and print a table."""
    with TemporaryDirectory() as folder:
        many, long = results(Path(folder))
        query = "select point, sum(flits) from channels group by point"
        page = many / "report.html"
        for words in (
            ["--help"],
            ["plot", "latency_cdf", str(long), "--out", str(long / "cdf.pdf")],
            ["query", str(many), query, "--csv"],
            ["report", str(many), "--out", str(page)],
        ):
            wall, cpu = timed(words)
            print(f"{wall:6.2f} s  {cpu:6.2f} s CPU  weft {words[0]}")
        print(f"report of {POINTS} points: {page.stat().st_size / 1e6:.2f} MB")


def results(folder: Path) -> tuple[Path, Path]:
    """Make results, and return two folders: of a sweep of many points, and of a point with a long latency histogram."""
    one = weft.load(SCENARIO).run(out=folder / "one")
    summary, many = one.summaries[0], folder / "many"
    listed = []
    for number in range(POINTS):
        key, load = f"{number:016x}", round(0.01 + 0.001 * (number // 5), 4)
        shutil.copytree(one.folder(0), many / "points" / key, ignore=shutil.ignore_patterns("run.json"))
        own = summary | {"hash": key, "load": load, "offered_load": load}
        (many / "points" / key / "summary.json").write_text(json.dumps(own), encoding="utf-8")
        listed.append({"hash": key, "coordinates": {"seed": number % 5, "traffic.load": load}})
    (many / "sweep.json").write_text(json.dumps({"name": "many", "points": listed}), encoding="utf-8")
    histogram = [[latency, 10] for latency in range(20, 100_020)]
    (one.folder(0) / "run.json").unlink()
    (one.folder(0) / "summary.json").write_text(
        json.dumps(summary | {"latency_histogram": histogram}), encoding="utf-8"
    )
    return many, one.root


def timed(words: list[str]) -> tuple[float, float]:
    """Return the medians of wall and CPU seconds of several runs of a command."""
    walls, cpus = [], []
    for _ in range(REPEATS):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, "-m", "weft", *words], check=True, capture_output=True)
        walls.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(walls), median(cpus)


if __name__ == "__main__":
    main()
