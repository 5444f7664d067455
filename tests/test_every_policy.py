"""Every power policy with every pattern and every kind of workload on small networks: the account closes, or a refusal.

Policies, patterns, injections and keys of `traffic` come from the schema: a new one is here by itself. Sources fall
silent before the window ends, so that all that was made is delivered inside of it and every flit can be counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import weft
from weft import _engine
from weft.cli import main

if TYPE_CHECKING:
    from pathlib import Path

WINDOW, SILENT = 6000, 1000
NETWORKS: dict[str, dict[str, Any]] = {
    "1d": {"hyperx": {"widths": [4], "terminals_per_router": 4}},
    "2d": {"hyperx": {"widths": [4, 4], "terminals_per_router": 1}},
    "2d_unequal": {"hyperx": {"widths": [8, 2], "terminals_per_router": 1}},
    "3d_unequal": {"hyperx": {"widths": [4, 2, 2], "terminals_per_router": 1}},
    "dragonfly": {"dragonfly": {"routers_per_group": 4, "terminals_per_router": 1, "global_links_per_router": 1}},
}
TERMINALS = {name: 20 if name == "dragonfly" else 16 for name in NETWORKS}
LOADS = (0.1, 0.6)
EPOCHS = {"activation_epoch": "150cycles", "deactivation_epoch": "300cycles", "wake": "40cycles"}
# What a policy needs, and the routings on a HyperX and on a dragonfly that go with it.
POLICIES: dict[str, tuple[Any, str, str]] = {
    "idle_timeout": ({"idle": "20cycles", "transition": "10cycles"}, "ugal_p", "dragonfly_ugal"),
    "slac": ({"low": 0.001, "high": 0.002, "wake_per_link": "2cycles", "averaging": "20cycles"}, "slac", "slac"),
    "static": ({}, "pal", "pal"),
    "tcep": (EPOCHS | {"initial": "all_on"}, "pal", "pal"),
    "timetable": (
        {"off": [{"from": "20cycles", "until": "60cycles"}], "period": "100cycles", "transition": "10cycles"},
        "ugal_p",
        "dragonfly_ugal",
    ),
}
STILL = {"always_on", "static"}
# What a pattern needs.
PATTERNS: dict[str, Any] = {
    "hot_spot": {"targets": [0], "share": 0.1},
    "group_shift": {"shift": 1},
    "layer_shift": {"dimension": 0, "shift": 1},
    "mix": [{"weight": 1, "pattern": "uniform"}, {"weight": 2, "pattern": "asymmetric"}],
    "within": {"terminals": 16, "pattern": "bit_reverse"},
}
# Injections other than the usual one, and all keys of `traffic` but those of every run.
INJECTIONS: dict[str, Any] = {"on_off": {"mean_on": "50cycles"}}
USUAL = {"pattern", "load", "phases"}
WORKLOADS: dict[str, dict[str, Any]] = {
    "loads": {"loads": [{"terminals": [0, 3], "load": 0.4}]},
    "packet": {"packet": "4flits"},
    "batch": {"batch": {"per_terminal": 20}},
    "reply": {"reply": {"packet": "2flits", "outstanding": 4}},
    "jobs": {
        "jobs": [
            {"name": "a", "terminals": {"range": [0, 7]}, "pattern": "bit_reverse"},
            {"name": "b", "terminals": {"rest": {}}, "load": 0.2},
        ]
    },
}
ON_GRIDS = {"tornado", "neighbor", "layer_shift"}
OF_BITS = {"bit_complement", "bit_reverse", "shuffle", "transpose"}


def names(family: str) -> list[str]:
    """Models of a family."""
    return [model["name"] for model in _engine.models()[family]]


def suits(network: str, policy: str, pattern: str) -> bool:
    """Whether they make sense together."""
    grid = network != "dragonfly"
    if policy == "slac" and not network.startswith("2d"):
        return False
    if pattern in ON_GRIDS | OF_BITS:
        return grid
    return pattern != "group_shift" or not grid


def traffics(network: str) -> dict[str, dict[str, Any]]:
    """Keys of `traffic` by the name of what is tried."""
    needs = PATTERNS | {"matrix": {"file": f"matrix_{TERMINALS[network]}.csv"}}
    patterns = {name: {"pattern": {name: needs[name]} if name in needs else name} for name in names("traffic.pattern")}
    ways = {
        f"injection_{name}": {"injection": {name: INJECTIONS[name]}}
        for name in names("traffic.injection")
        if name in INJECTIONS
    }
    return patterns | ways | WORKLOADS


def scenario(network: str, policy: str, load: float, traffic: dict[str, Any]) -> dict[str, Any]:
    """A run in which all links are managed that can be."""
    needs, on_grid, on_dragonfly = POLICIES.get(policy, ({}, "ugal_p", "dragonfly_ugal"))
    dragonfly = network == "dragonfly"
    silent = {} if "batch" in traffic else {"phases": [{"from": f"{SILENT}cycles", "load": 0}]}
    return {
        "topology": NETWORKS[network],
        "links": {"default": {"latency": "4cycles", "vcs": 6, "buffer": "16flits"}},
        "routing": on_dragonfly if dragonfly else on_grid,
        "traffic": {"pattern": "uniform", "load": load, **silent, **traffic},
        "power": {"policy": {policy: needs}} | ({"manages": ["local"]} if dragonfly else {}),
        "measure": {"warmup": "0cycles", "window": f"{WINDOW}cycles", "batches": 2},
    }


@pytest.fixture(autouse=True)
def matrices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of a traffic matrix: every terminal to the third after it."""
    monkeypatch.chdir(tmp_path)
    for count in set(TERMINALS.values()):
        rows = [",".join("1" if to == (row + 3) % count else "0" for to in range(count)) for row in range(count)]
        (tmp_path / f"matrix_{count}.csv").write_text("\n".join(rows), encoding="utf-8")


def test_every_key_of_traffic_is_tried() -> None:
    keys = set(_engine.schema()["$defs"]["Traffic"]["properties"])
    assert keys - USUAL - {"injection"} == set(WORKLOADS)
    assert set(names("traffic.injection")) - {"bernoulli"} == set(INJECTIONS)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("policy", names("power.policy"))
def test_the_account_of_every_traffic_closes_or_it_is_refused(
    network: str, policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transitions = 0
    for name, traffic in traffics(network).items():
        if not suits(network, policy, name):
            check_refusal(scenario(network, policy, LOADS[0], traffic), tmp_path, capsys)
            continue
        for load in LOADS:
            (point,) = weft.load(scenario(network, policy, load, traffic)).points
            finished = point.run(1, 0, _engine.Control())
            finished.save(folder := tmp_path / f"{name}-{load}")
            what = f"{policy}, {network}, {name}, load {load}"
            check_account(finished.summary, pl.read_parquet(folder / "channels.parquet"), traffic, what)
            transitions += finished.summary["link_transitions"]
    runs = suits(network, policy, "uniform")
    assert (transitions > 0) == (runs and policy not in STILL), "what was tried is what the policy does"


def check_refusal(refused: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with status 2, a reason and a remedy."""
    path = folder / "refused.yaml"
    path.write_text(yaml.safe_dump(refused), encoding="utf-8")
    assert main(["run", str(path), "--no-picture", "--out", str(folder / "refused")]) == 2
    told = capsys.readouterr().err
    assert "error: " in told
    assert "= help: " in told
    assert not list((folder / "refused").rglob("summary.json"))


def check_account(summary: dict[str, Any], channels: pl.DataFrame, traffic: dict[str, Any], what: str) -> None:
    """Everything made is delivered, every flit counted where it crossed, every cycle and joule is there."""
    assert (summary["ending"], summary["missing_packets"]) == ("drained", 0), what
    assert summary["packets"] > 0, what
    slots = summary["window_cycles"] * sum(job["terminals"] for job in summary["jobs"])
    made, delivered = (round(summary[f"{kind}_load"] * slots) for kind in ("offered", "accepted"))
    assert made == delivered, what
    injected, ejected, between = (
        channels.filter(where)["flits"].sum()
        for where in (
            pl.col("from_router").is_null(),
            pl.col("to_router").is_null(),
            pl.col("from_router").is_not_null() & pl.col("to_router").is_not_null(),
        )
    )
    assert (injected, ejected) == (made, made), what
    if "reply" not in traffic:  # their lengths differ
        flits = summary["packet_flits"]
        hops = sum(hops * packets for hops, packets in enumerate(summary["hop_histogram"]))
        assert summary["packets"] * flits == made, what
        assert between == hops * flits + (summary["control_flit_hops"] or 0), what
    cycles = channels.select(pl.sum_horizontal("^cycles_.*$"))["cycles_on"]
    assert (cycles == summary["window_cycles"]).all(), what
    assert (channels.select(pl.sum_horizontal("^flits_.*$"))["flits_on"] == channels["flits"]).all(), what
    assert channels.select("flits_off", "flits_waking").sum().row(0) == (0, 0), what
    assert (channels["energy_static_fj"] + channels["energy_dynamic_fj"] == channels["energy_fj"]).all(), what
    sums = {part: channels[f"energy_{part}fj"].sum() for part in ("", "static_", "dynamic_")}
    told = {part: int(summary[f"energy_{part or 'total_'}fj"]) for part in sums}
    assert told == sums, what
    assert summary["energy_terminal_j"] + summary["energy_network_j"] == pytest.approx(summary["energy_total_j"]), what
