"""Runs every power policy with every traffic pattern and every kind of workload on small networks.

For each combination, either the counts of flits, cycles and energy are consistent, or Weft refuses the scenario.
Policies, routings, patterns, injections and keys of `traffic` come from the engine, so the tests include new models
automatically. Each policy runs with all compatible routings in turn. Sources stop before the window ends, so that all
packets are delivered inside the window and every flit can be counted.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import weft
from turns import in_turn
from weft import _engine
from weft.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

WINDOW, SILENT = 6000, 1000
NETWORKS: dict[str, dict[str, Any]] = {
    "1d": {"hyperx": {"widths": [4], "terminals_per_router": 4}},
    "2d": {"hyperx": {"widths": [4, 4], "terminals_per_router": 1}},
    "2d_unequal": {"hyperx": {"widths": [8, 2], "terminals_per_router": 1}},
    "3d_unequal": {"hyperx": {"widths": [4, 2, 2], "terminals_per_router": 1}},
    "dragonfly": {"dragonfly": {"routers_per_group": 4, "terminals_per_router": 1, "global_links_per_router": 1}},
    "tree": {"k_ary_n_tree": {"k": 4, "n": 2}},
    "flex": {"flex": {"widths": [3, 2], "layers": 3, "terminals_per_router": 1}},
    "flex_trunks": {"flex": {"widths": [4, 2], "layers": 2, "terminals_per_router": 1, "trunk_width": 2}},
}
TERMINALS = dict.fromkeys(NETWORKS, 16) | {"dragonfly": 20, "flex": 18}
LOADS = (0.1, 0.6)
# Examples of every policy, routing and injection, from the model's own file.
EXAMPLES = _engine.examples()
POLICIES = {
    f"{name}_{number}": {name: given[name]} for number, given in enumerate(EXAMPLES["power.policy"]) for name in given
}
# Parameters of patterns that have no defaults.
PATTERNS: dict[str, Any] = {
    "hot_spot": {"targets": [0], "share": 0.1},
    "group_shift": {"shift": 1},
    "layer_shift": {"dimension": 0, "shift": 1},
    "router_shift": {"shift": 1},
    "mix": [{"weight": 1, "pattern": "uniform"}, {"weight": 2, "pattern": "asymmetric"}],
    "within": {"terminals": 16, "pattern": "bit_reverse"},
}
# Keys of `traffic` that all runs of these tests set.
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
IN_GROUPS = {"group_shift", "router_shift"}
OF_BITS = {"bit_complement", "bit_reverse", "shuffle", "transpose"}


@cache
def names(family: str) -> tuple[str, ...]:
    """Return the names of the models of a family, without models that need a user's file."""
    return tuple(model["name"] for model in _engine.models()[family] if model["name"] != "python")


def suits(network: str, pattern: str) -> bool:
    """Return whether a pattern suits a network: patterns of bits, grids and groups suit only some networks."""
    if pattern in OF_BITS:
        return network not in {"dragonfly", "flex"}
    if pattern in ON_GRIDS:
        return network not in {"dragonfly", "tree"}
    return pattern not in IN_GROUPS or network in {"dragonfly", "flex", "flex_trunks"}


def traffics(network: str) -> dict[str, dict[str, Any]]:
    """Return the kinds of traffic on a network: by name, the keys of `traffic`."""
    needs = PATTERNS | {"matrix": {"file": f"matrix_{TERMINALS[network]}.csv"}}
    patterns = {name: {"pattern": {name: needs[name]} if name in needs else name} for name in names("traffic.pattern")}
    ways = {f"injection_{number}": {"injection": given} for number, given in enumerate(injections())}
    return patterns | ways | WORKLOADS


@cache
def injections() -> list[dict[str, Any]]:
    """Return the examples of injections that can create the loads of these tests."""
    return [given for given in EXAMPLES["traffic.injection"] if makes(given, max(LOADS))]


def makes(injection: dict[str, Any], load: float) -> bool:
    """Return whether an injection can create the load."""
    policy, routing = EXAMPLES["power.policy"][0], EXAMPLES["routing"][0]
    return taken(scenario("1d", policy, routing, load, {"injection": injection})) is not None


@cache
def fitting(network: str) -> list[dict[str, Any]]:
    """Return the routings that fit the network.

    This includes routings that Weft refuses for another reason, because they may run under another policy.
    """
    return [routing for routing in EXAMPLES["routing"] if not misfits(network, routing)]


def misfits(network: str, routing: dict[str, Any]) -> bool:
    """Return whether the network itself rules out the routing, whatever the policy."""
    refused = refusal(scenario(network, {"always_on": {}}, routing, LOADS[0], {}))
    return refused is not None and refused.path.startswith("routing")


@cache
def goes(network: str, policy: str, number: int) -> bool:
    """Return whether the engine accepts the policy on the network with routing number `number` of `fitting`."""
    return taken(scenario(network, POLICIES[policy], fitting(network)[number], LOADS[0], {})) is not None


@cache
def refused_there(network: str, name: str) -> bool:
    """Return whether a policy cannot be combined with any routing on the network.

    Only the first example of the policy is tried.
    """
    policy = next(each for each, given in POLICIES.items() if name in given)
    return not any(goes(network, policy, number) for number in range(len(fitting(network))))


def going(network: str, policy: str, begin: int = 0) -> Iterator[dict[str, Any]]:
    """Yield each routing that can run with the policy on the network once, in turn from index `begin`."""
    (name,) = POLICIES[policy]
    fits = [] if refused_there(network, name) else fitting(network)
    turn = [(begin + number) % len(fits) for number in range(len(fits))]
    return (fits[number] for number in turn if goes(network, policy, number))


def first(network: str, policy: str) -> dict[str, Any] | None:
    """Return the first routing that can run with the policy on the network; ``None`` if there is none."""
    return next(going(network, policy), None)


def runs(network: str, policy: str, name: str) -> bool:
    """Return whether a kind of traffic should run on the network under the policy. If not, the engine refuses it."""
    return suits(network, name) and first(network, policy) is not None


@cache
def paired() -> set[tuple[str, str, str]]:
    """Select the combinations of network, policy and traffic for `make test`.

    Each pair (of a network and a policy, a network and a traffic, a policy and a traffic) that can run is in at least
    one of the combinations. A pair of policy and traffic runs on one of the networks that permit both, in turn. If a
    network permits no run with a policy or a traffic, one combination tests the refusal.
    """
    names = list(traffics(next(iter(NETWORKS))))
    policies = list(POLICIES)
    chosen: set[tuple[str, str, str]] = set()
    for turn, policy in enumerate(policies):
        for number, name in enumerate(names):
            able = [network for network in NETWORKS if runs(network, policy, name)]
            chosen |= {(able[(turn + number) % len(able)], policy, name)} if able else set()
    for place, network in enumerate(NETWORKS):
        refused = [policy for policy in policies if first(network, policy) is None]
        unsuited = [name for name in names if not suits(network, name)]
        chosen |= {(network, policy, names[(place + turn) % len(names)]) for turn, policy in enumerate(refused)}
        chosen |= {(network, policies[(place + turn) % len(policies)], name) for turn, name in enumerate(unsuited)}
    return chosen


def taken(tried: dict[str, Any]) -> _engine.Point | None:
    """Return the point of a scenario; ``None`` if the engine refuses the scenario."""
    found = checked(tried)
    return None if isinstance(found, weft.ScenarioError) else found


def refusal(tried: dict[str, Any]) -> weft.ScenarioError | None:
    """Return the refusal of a scenario; ``None`` if the scenario can run."""
    found = checked(tried)
    return found if isinstance(found, weft.ScenarioError) else None


def checked(tried: dict[str, Any]) -> _engine.Point | weft.ScenarioError:
    """Return the point of a scenario, or its refusal."""
    try:
        (point,) = weft.load(tried).points
        point.check_network()
    except weft.ScenarioError as error:
        return error
    return point


def scenario(
    network: str, policy: dict[str, Any], routing: dict[str, Any], load: float, traffic: dict[str, Any]
) -> dict[str, Any]:
    """Make the scenario of a run in which the policy manages all links that it can manage."""
    dragonfly = network == "dragonfly"
    silent = {} if "batch" in traffic else {"phases": [{"from": f"{SILENT}cycles", "load": 0}]}
    return {
        "topology": NETWORKS[network],
        "links": {"default": {"latency": "4cycles", "vcs": 6, "buffer": "16flits"}},
        "routing": routing,
        "traffic": {"pattern": "uniform", "load": load, **silent, **traffic},
        "power": {"policy": policy} | ({"manages": ["local"]} if dragonfly else {}),
        "measure": {"warmup": "0cycles", "window": f"{WINDOW}cycles", "batches": 2},
    }


@pytest.fixture(autouse=True)
def matrices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the file of a traffic matrix in which every terminal sends to the third terminal after it."""
    monkeypatch.chdir(tmp_path)
    for count in set(TERMINALS.values()):
        rows = [",".join("1" if to == (row + 3) % count else "0" for to in range(count)) for row in range(count)]
        (tmp_path / f"matrix_{count}.csv").write_text("\n".join(rows), encoding="utf-8")


def test_every_key_of_traffic_is_tried() -> None:
    keys = set(_engine.schema()["$defs"]["Traffic"]["properties"])
    # `workload` is the long form of `reply` and other keys, or a program of messages (test_programs_run.py tests those)
    # `class` names a message class, and these runs have no message classes
    assert keys - USUAL - {"injection", "workload", "class"} == set(WORKLOADS)
    assert names("traffic.workload") == ("open_loop", "request_reply", "programs", "scheduler")
    assert {name for given in injections() for name in given} == set(names("traffic.injection"))


@pytest.mark.parametrize("family", EXAMPLES)
def test_every_model_gives_examples(family: str) -> None:
    # the routing `table` has no example, because it needs a file
    assert {name for example in EXAMPLES[family] for name in example} | {"table"} >= set(names(family))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_goes_with_a_routing_somewhere(policy: str) -> None:
    assert any(first(network, policy) for network in NETWORKS)


@pytest.mark.long
@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_that_refuses_an_example_of_a_policy_refuses_all(network: str) -> None:
    for policy, given in POLICIES.items():
        (name,) = given
        found = any(goes(network, policy, number) for number in range(len(fitting(network))))
        assert found != refused_there(network, name), policy


@pytest.mark.parametrize("policy", ["always_on", "idle_timeout", "rate_ladder", "timetable"])
@pytest.mark.parametrize("network", ["flex", "flex_trunks"])
def test_policies_that_need_no_subnetworks_go_with_flex(network: str, policy: str) -> None:
    for example in (name for name, given in POLICIES.items() if policy in given):
        layered = [routing for routing in going(network, example) if "flex_minimal" in routing]
        assert {routing["flex_minimal"]["detours"] for routing in layered} == {0, 1}


@pytest.mark.parametrize("policy", [{"idle_timeout": {"idle": "40ns", "transition": "25ns"}}, "always_on"])
def test_flex_with_trunks_goes_round_links_that_fail_under_a_policy(policy: Any) -> None:
    """Both links of a trunk between two neighbours in different layers fail together.

    Packets take a detour over the third layer.
    """
    tried = scenario("flex", {}, {"flex_minimal": {"detours": 1}}, 0.2, {}) | {
        "topology": {
            "flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 1, "trunk_width": 2},
        },
        "power": {"policy": policy},
        "faults": [{"link": [0, 10], "at": "200cycles", "until": "800cycles"}],
    }
    (point,) = weft.load(tried).points
    summary = point.run(1, 0, _engine.Control()).summary
    assert (summary["ending"], summary["missing_packets"], summary["dropped_packets"]) == ("drained", 0, 0)
    assert summary["hop_histogram"][3] > 0


def pairs(combinations: Iterable[tuple[str, str, str]]) -> set[tuple[str, str]]:
    """Return all pairs of a network, a policy or a traffic that are together in one of these combinations."""
    return {pair for each in combinations if runs(*each) for pair in itertools.combinations(each, 2)}


def test_every_pair_that_can_run_is_run() -> None:
    every = itertools.product(NETWORKS, POLICIES, traffics(next(iter(NETWORKS))))
    assert pairs(paired()) == pairs(every)


@pytest.mark.parametrize("wanted", ["pairs", pytest.param("all", marks=pytest.mark.long)])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("policy", POLICIES)
def test_the_account_of_every_traffic_closes_or_it_is_refused(
    network: str, policy: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make test` covers every pair of a policy, a network and a traffic; `make test-all` covers all combinations of
    the three."""
    transitions = elsewhere = 0
    turn_of_network = list(NETWORKS).index(network)
    for number, (name, traffic) in enumerate(traffics(network).items()):
        if wanted == "pairs" and (network, policy, name) not in paired():
            continue
        if not runs(network, policy, name):
            routing = first(network, policy) or EXAMPLES["routing"][0]
            check_refusal(scenario(network, POLICIES[policy], routing, LOADS[0], traffic), tmp_path, capsys)
            continue
        # each traffic is tried with routings in turn, from a different one for each traffic, until one accepts it; a
        # ring with bubbles accepts only packets of one length
        begin = number * len(fitting(network)) // len(traffics(network))
        for load in in_turn(number // 2 + turn_of_network, LOADS):
            shown = (scenario(network, POLICIES[policy], each, load, traffic) for each in going(network, policy, begin))
            routing, point = next((each["routing"], point) for each in shown if (point := taken(each)))
            finished = point.run(1, 0, _engine.Control())
            finished.save(folder := tmp_path / f"{name}-{load}")
            what = f"{policy}, {routing}, {network}, {name}, load {load}"
            of = sums(pl.read_parquet(folder / "channels.parquet"))
            check_account(finished.summary, of, traffic, what)
            transitions += finished.summary["link_transitions"]
            elsewhere += of["elsewhere"]
    assert (transitions > 0) == (elsewhere > 0), "links that were switched are seen on their way, or at a lower rate"


def check_refusal(refused: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that `weft run` refuses the scenario with status 2, a reason and a remedy."""
    path = folder / "refused.yaml"
    path.write_text(yaml.safe_dump(refused), encoding="utf-8")
    assert main(["run", str(path), "--no-picture", "--out", str(folder / "refused")]) == 2
    errors = capsys.readouterr().err
    assert "error: " in errors
    assert "= help: " in errors
    assert not list((folder / "refused").rglob("summary.json"))


def check_account(summary: dict[str, Any], of: dict[str, Any], traffic: dict[str, Any], what: str) -> None:
    """Check that all packets are delivered, that every flit is counted on its channels, and that cycles and energy add
    up.
    """
    assert (summary["ending"], summary["missing_packets"]) == ("drained", 0), what
    assert summary["packets"] > 0, what
    slots = summary["window_cycles"] * sum(job["terminals"] for job in summary["jobs"])
    made, delivered = (round(summary[f"{kind}_load"] * slots) for kind in ("offered", "accepted"))
    assert made == delivered, what
    assert (of["injected"], of["ejected"]) == (made, made), what
    if "reply" not in traffic:  # the lengths of requests and replies differ
        flits = summary["packet_flits"]
        hops = sum(hops * packets for hops, packets in enumerate(summary["hop_histogram"]))
        assert summary["packets"] * flits == made, what
        assert of["between"] == hops * flits + (summary["control_flit_hops"] or 0), what
    assert (of["least_cycles"], of["most_cycles"]) == (summary["window_cycles"], summary["window_cycles"]), what
    assert of["same_flits"], what
    assert of["while_dark"] == 0, what
    assert of["same_energy"], what
    for part in ("", "static_", "dynamic_"):
        assert Decimal(summary[f"energy_{part or 'total_'}fj"]) == of[f"energy_{part}fj"], what
    assert summary["energy_terminal_j"] + summary["energy_network_j"] == pytest.approx(summary["energy_total_j"]), what


def sums(channels: pl.DataFrame) -> dict[str, Any]:
    """Return the sums over channels: flits by the kind of channel, cycles, and energies."""
    flits, source, sink = (pl.col(name) for name in ("flits", "from_router", "to_router"))
    cycles = pl.sum_horizontal("^cycles_.*$")
    energies = [pl.col(f"energy_{part}fj").sum() for part in ("", "static_", "dynamic_")]
    return channels.select(
        *energies,
        injected=flits.filter(source.is_null()).sum(),
        ejected=flits.filter(sink.is_null()).sum(),
        between=flits.filter(source.is_not_null() & sink.is_not_null()).sum(),
        least_cycles=cycles.min(),
        most_cycles=cycles.max(),
        same_flits=(pl.sum_horizontal("^flits_.*$") == flits).all(),
        elsewhere=pl.sum_horizontal("cycles_draining", "cycles_waking", "cycles_half", "cycles_quarter").sum(),
        while_dark=pl.sum_horizontal("flits_off", "flits_waking").sum(),
        same_energy=(pl.col("energy_static_fj") + pl.col("energy_dynamic_fj") == pl.col("energy_fj")).all(),
    ).row(0, named=True)
