"""Compares, for ten networks, the memory and time that Weft estimates before a run with those that the run uses.

.venv/bin/python tests/bench_estimates.py [NAME ...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# Program that runs the first point of a scenario, and prints estimated and used bytes and seconds.
MEASURE = """
import json, sys, time
from pathlib import Path
import weft
from weft._engine import Control
from weft.results.store import Store
from weft.runs import durations

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

point = weft.load(sys.argv[1]).points[0]
if sys.argv[3] == "time":
    print(json.dumps(durations.expected([point], Store(Path(sys.argv[2])), threads=1, blocks=0)[0]))
else:
    # the first run and the first files of a process take 2 MB more: the code of the engine and of the writers of files
    small = weft.load(json.loads(sys.argv[4])).points[0]
    small.run(1, 0, Control()).save(sys.argv[2] + "-small")
    estimated, before, begun = point.memory(1, 0), peak(), time.monotonic()
    finished = point.run(1, 0, Control())
    finished.save(sys.argv[2])
    print(json.dumps({"bytes": peak() - before, "seconds": time.monotonic() - begun, **estimated}))
"""


def _dragonfly(routers: int, **more: int) -> dict[str, Any]:
    shape = {
        "routers_per_group": routers,
        "terminals_per_router": routers // 2,
        "global_links_per_router": routers // 2,
    }
    return {"dragonfly": shape | more}


def _grid(kind: str, *widths: int, terminals: int = 1) -> dict[str, Any]:
    return {kind: {"widths": widths, "terminals_per_router": terminals}}


# for each network: topology, routing, VCs, flits of a packet, load, cycles of warm-up and of the window
NETWORKS: dict[str, tuple[dict[str, Any], Any, int, int, float, int, int]] = {
    "torus-512": (_grid("torus", 8, 8, 8), "dimension_order", 4, 1, 0.2, 1000, 20000),
    "butterfly-512": (_grid("hyperx", 8, 8, terminals=8), "minimal", 6, 8, 0.3, 1000, 10000),
    "dragonfly-1056": (_dragonfly(8), "dragonfly_minimal", 3, 1, 0.3, 1000, 5000),
    "torus-2048": (_grid("torus", 16, 16, 8), "dimension_order", 2, 16, 0.15, 1000, 5000),
    "butterfly-4096": (_grid("hyperx", 16, 16, terminals=16), "minimal", 8, 4, 0.3, 500, 2000),
    "tree-4096": ({"k_ary_n_tree": {"k": 8, "n": 4}}, "up_down", 8, 1, 0.3, 500, 2000),
    "torus-4000-ecmp": (_grid("torus", 20, 20, 10), {"ecmp": {"classes": "one"}}, 4, 1, 0.1, 500, 2000),
    "dragonfly-5256": (_dragonfly(12), "dragonfly_valiant", 4, 8, 0.2, 500, 1000),
    "dragonfly-16512": (_dragonfly(16), "dragonfly_minimal", 3, 1, 0.3, 300, 600),
    "dragonfly-92672": (_dragonfly(32, groups=181), "dragonfly_minimal", 3, 1, 0.1, 200, 300),
}


def scenario(name: str) -> dict[str, Any]:
    """Return the scenario of a network in `NETWORKS`."""
    topology, routing, vcs, flits, load, warmup, window = NETWORKS[name]
    links: dict[str, Any] = {"default": {"latency": "10cycles", "vcs": vcs, "buffer": "64flits"}}
    if "dragonfly" in topology:
        links["global"] = {"latency": "100cycles", "buffer": "256flits"}
    return {
        "topology": topology,
        "routing": routing,
        "links": links,
        "traffic": {"pattern": "uniform", "load": load, "packet": f"{flits}flits"},
        "measure": {"warmup": f"{warmup}cycles", "window": f"{window}cycles", "drain_limit": "2000cycles"},
        "allow_dependency_cycle": True,
    }


# A network that needs very little memory, with models of the same families.
SMALL = {
    "topology": {"hyperx": {"widths": [2, 2], "terminals_per_router": 2}},
    "routing": "minimal",
    "links": {"default": {"latency": "10cycles", "vcs": 4, "buffer": "64flits"}},
    "traffic": {"pattern": "uniform", "load": 0.1},
    "measure": {"warmup": "100cycles", "window": "100cycles"},
}


def measured(name: str, folder: Path, what: str) -> Any:
    """Run MEASURE in a separate process.

    If `what` is ``time``, the process only estimates the time of the run; otherwise it runs the point.
    """
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(scenario(name)), encoding="utf-8")
    command = [sys.executable, "-c", MEASURE, str(file), str(folder / "point"), what, json.dumps(SMALL)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main() -> None:
    """Print the table of estimated and used memory and time."""
    print(f"{'network':16} {'estimated':>11} {'took':>11} {'ratio':>6} {'estimated':>10} {'took':>8} {'ratio':>6}")
    for name in sys.argv[1:] or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            expected = measured(name, Path(folder), "time")
            took = measured(name, Path(folder), "run")
        memory, known = took["at_load_bytes"], float("nan") if expected is None else expected
        print(
            f"{name:16} {memory / 1e6:>8.1f} MB {took['bytes'] / 1e6:>8.1f} MB {memory / took['bytes']:>6.2f} "
            f"{known:>8.2f} s {took['seconds']:>6.2f} s {known / took['seconds']:>6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
