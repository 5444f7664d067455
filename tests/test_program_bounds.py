"""Tests that no run of a program of messages is faster than the lower bounds that Weft computes for its run time.

Most programs are small and random, on networks with several interfaces per node and several planes.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import weft
from weft import _engine
from weft.cli import main
from weft.programs import bounds

if TYPE_CHECKING:
    from pathlib import Path

RANKS = 8
NETWORKS: dict[str, Any] = {
    "one router": {"single_router": {"terminals": 8}},
    "torus": {"torus": {"widths": [4, 4], "terminals_per_router": 1}},
    "planes of a torus": {"planes": {"count": 2, "of": {"torus": {"widths": [3, 3], "terminals_per_router": 1}}}},
}
# Cases: the name of a network, and keys of the workload.
WORKLOADS: list[tuple[str, dict[str, Any]]] = [
    ("one router", {"compute_scale": 0.5, "jitter": {"uniform": {"share": 0.3}}, "accepted": 1}),
    ("one router", {"rails": 2, "ranks_per_terminal": 2, "rail_choice": "local_rank", "overhead": "7ns"}),
    (
        "one router",
        {"rails": 2, "ranks_per_terminal": 2, "rail_choice": "hash", "jitter": {"normal": {"deviation": 0.2}}},
    ),
    ("torus", {"rails": 2, "rail_choice": "destination", "eager": "100B", "injection_latency": "30ns"}),
    ("torus", {"rails": 2, "rail_choice": "striping", "compute_scale": 2.0, "host_latency": "5ns"}),
    ("torus", {"ranks_per_terminal": 2, "accepted": 2, "jitter": {"exponential": {"mean": 0.3}}}),
    ("planes of a torus", {"rail_choice": "local_rank", "ranks_per_terminal": 2}),
    ("planes of a torus", {"rail_choice": "striping", "compute_scale": 0.0}),
    ("planes of a torus", {"rail_choice": "destination", "eager": "50B", "accepted": 1}),
]


def goal(seed: int) -> str:
    """Return a random program in the format GOAL.

    Each rank computes, sends to some ranks, and computes after each message that it receives.
    """
    draw = random.Random(seed)
    pairs = [
        (draw.randrange(RANKS), draw.randrange(RANKS), draw.randrange(1, 900)) for _ in range(draw.randrange(4, 40))
    ]
    lines: list[list[str]] = [[f"c0: calc {draw.randrange(0, 400)}"] for _ in range(RANKS)]
    for tag, (source, target, size) in enumerate(pairs):
        if source != target:
            lines[source] += [f"s{tag}: send {size}b to {target} tag {tag}", f"s{tag} requires c0"]
            lines[target] += [f"r{tag}: recv {size}b from {source} tag {tag}"]
            lines[target] += [f"c{tag + 1}: calc {draw.randrange(0, 300)}", f"c{tag + 1} requires r{tag}"]
    blocks = [f"rank {rank} {{\n" + "\n".join(own) + "\n}\n" for rank, own in enumerate(lines)]
    return f"num_ranks {RANKS}\n" + "".join(blocks)


def scenario(network: str, workload: dict[str, Any], file: str) -> dict[str, Any]:
    return {
        "topology": NETWORKS[network],
        "links": {"default": {"latency": "3cycles", "vcs": 4, "buffer": "32flits"}},
        "routing": "minimal" if network == "one router" else "dimension_order",
        "cycle": "1ns",
        "flit": "1B",
        "traffic": {"packet": "16flits", "workload": {"programs": {"file": file, **workload}}},
    }


@pytest.mark.parametrize(("place", "case"), list(enumerate(WORKLOADS)))
def test_no_run_is_below_its_bounds(place: int, case: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    network, workload = case
    for seed in (2 * place, 2 * place + 1):
        file = tmp_path / f"{seed}.goal"
        file.write_text(goal(seed), encoding="utf-8")
        sweep = weft.load(scenario(network, workload, str(file)))
        (bound,) = bounds.of_point(sweep.points[0])
        (summary,) = sweep.run(tmp_path / f"out{seed}", watch=False).summaries
        assert summary["solution_seconds"] >= bound.least_s > 0, (seed, bound)
        # if messages are divided among all interfaces of a node, Weft knows the loads of channels on planes, but not on
        # a single network
        rails_on_one = network != "planes of a torus" and workload.get("rail_choice") in ("striping", "hash")
        assert (bound.channels_s is None) == rails_on_one


def test_bounds_of_interfaces_are_those_of_the_formula() -> None:
    """In an all-to-all, each of 8 ranks sends 300 B to each other rank.

    Nodes have two ranks, so 2 * 6 messages of 300 B leave a node.
    """
    collective = {"operation": "all_to_all", "ranks": RANKS, "bytes": "300B"}
    program = {"program": {"collective": collective}, "ranks_per_terminal": 2}

    def of(**more: Any) -> bounds.Bounds:
        case = scenario("planes of a torus", {}, "")
        case["traffic"]["workload"] = {"programs": program | more}
        (bound,) = bounds.of_point(weft.load(case).points[0])
        return bound

    # with these two rules, the 3,600 B of a node are divided evenly between two interfaces of 1 B/ns
    assert of(rail_choice="local_rank").injection_s == pytest.approx(1800e-9)
    assert of(rail_choice="striping").injection_s == pytest.approx(1800e-9)
    # this rule chooses the interface by the receiving node, so all 3,600 B for a node arrive over one interface
    assert of(rail_choice="destination").injection_s == pytest.approx(3600e-9)
    computes = {"collective": collective | {"gap": "1us"}}
    assert of(program=computes).compute_s == pytest.approx(1000e-9)
    assert of(program=computes, compute_scale=0.25).compute_s == pytest.approx(250e-9)
    assert of(program=computes, jitter={"uniform": {"share": 0.2}}).compute_s == pytest.approx(800e-9)
    assert of(program=computes, jitter={"normal": {"deviation": 0.2}}).compute_s == 0


@pytest.mark.parametrize("in_job", [False, True])
def test_bounds_in_grains_are_those_in_flits(in_job: bool, tmp_path: Path) -> None:
    """Each of 16 ranks sends 15 messages of 4,096 B: 960 flits of 64 B at 1 flit per ns, or 15 coarse flits (grains) of
    64 ns each.

    The bounds with flits and with grains are equal.
    """
    case = {
        "link_speed": "512Gb/s",
        "flit": "64B",
        "topology": {"torus": {"widths": [4, 4], "terminals_per_router": 1}},
        "links": {"default": {"latency": "128ns", "vcs": 4, "buffer": "512flits"}},
        "routing": "dimension_order",
        "sweep": {"grain": [None, "4KiB"]},
    }
    program = {"program": {"collective": {"operation": "all_to_all", "ranks": 16, "bytes": "4KiB"}}}
    traffic: dict[str, Any] = {"workload": {"programs": program}}
    case["traffic"] = {"packet": "64flits"} | (
        {"jobs": [{"name": "a", "terminals": "rest", **traffic}]} if in_job else traffic
    )
    sweep = weft.load(case)
    fine, coarse = ([bound] for bound in bounds.of_sweep(sweep.points).values())
    for ((bound,),), summary in zip((fine, coarse), sweep.run(tmp_path / "out", watch=False).summaries, strict=True):
        assert bound.injection_s == pytest.approx(960e-9)
        assert summary["solution_seconds"] >= bound.least_s
    assert fine[0][0].channels_s == pytest.approx(coarse[0][0].channels_s)


@pytest.mark.parametrize("size", [96, 4000])
@pytest.mark.parametrize(
    "times",
    [
        {"eager": "100B"},
        {"eager": "100B", "host_latency": "40ns", "injection_latency": "70ns", "overhead": "25ns"},
        {"eager": "1MB", "host_latency": "40ns", "injection_latency": "70ns", "overhead": "25ns"},
    ],
    ids=["bare", "latencies", "eager"],
)
def test_the_estimate_of_a_ping_pong_is_its_run_time(size: int, times: dict[str, str], tmp_path: Path) -> None:
    """Five messages each way follow each other without contention, so estimate and run time differ only by rounding,
    some cycles per message.

    A message above the eager limit also has a request and a reply, which take two latencies.
    """
    lines: list[list[str]] = [[], []]
    for number in range(10):
        source, target = number % 2, 1 - number % 2
        lines[source].append(f"s{number}: send {size}b to {target} tag {number}")
        lines[target].append(f"r{number}: recv {size}b from {source} tag {number}")
        if number:
            lines[source].append(f"s{number} requires r{number - 1}")
    file = tmp_path / "ping_pong.goal"
    blocks = (f"rank {rank} {{\n" + "\n".join(own) + "\n}\n" for rank, own in enumerate(lines))
    file.write_text("num_ranks 2\n" + "".join(blocks), encoding="utf-8")
    sweep = weft.load(scenario("one router", times, str(file)))
    (bound,) = bounds.of_point(sweep.points[0])
    (summary,) = sweep.run(tmp_path / "out", watch=False).summaries
    assert bound.ideal_s is not None
    assert summary["solution_seconds"] == pytest.approx(bound.ideal_s, abs=10 * 4e-9), bound


@pytest.mark.parametrize(
    ("size", "least", "enough"), [(300, "2.1 µs", "100us"), (3000, "21 µs", "1ms"), (3_000_000, "21 ms", "1s")]
)
def test_a_window_that_is_too_short_for_a_program_is_a_warning_whose_remedy_works(
    size: int, least: str, enough: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collective = {"operation": "all_to_all", "ranks": RANKS, "bytes": f"{size}B"}
    case = scenario("torus", {}, "")
    case["traffic"]["workload"] = {"programs": {"program": {"collective": collective}}}
    window = "measure.stop.complete.max_window"
    file = tmp_path / "short.yaml"
    file.write_text(yaml.safe_dump(case | {"sweep": {window: ["1us", "2s"]}}), encoding="utf-8")
    assert main(["check", str(file)]) == 0
    shown = capsys.readouterr().out
    # least run time: a terminal sends 7 messages at 1 B/ns
    warning = f"warning: {window}: 1us is shorter than the least run time of job all, {least} (at 1 of 2 points)"
    assert warning in shown, shown
    (remedy,) = (line for line in shown.splitlines() if line.startswith("  = help: write ") and "or more" in line)
    longer = remedy.removeprefix("  = help: write ").partition(" or more")[0]
    assert longer == enough
    assert main(["check", str(file), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["warnings"]
    assert (found["path"], found["code"]) == (window, "not_complete")
    mended = weft.load(case, overrides={window: longer})
    (bound,) = bounds.of_point(mended.points[0])
    assert bounds.too_short(mended.points[0], [bound]) is None
    if size < 10_000:
        (summary,) = mended.run(tmp_path / "out", watch=False).summaries
        assert summary["ending"] == "drained"


def test_jobs_without_a_bound_are_named() -> None:
    programs = {"program": {"collective": {"operation": "all_reduce", "ranks": RANKS, "bytes": "1KiB"}}}
    case = scenario("torus", {}, "")
    case["traffic"] = {
        "packet": "16flits",
        "jobs": [
            {"name": "one", "terminals": {"range": [0, 7]}, "workload": {"programs": programs}},
            {
                "name": "set",
                "terminals": {"range": [8, 15]},
                "workload": {"scheduler": {"traces": [{"name": "a", "programs": programs}]}},
            },
        ],
    }
    (point,) = weft.load(case).points
    assert [bound.job for bound in bounds.of_point(point)] == ["one"]
    assert bounds.without(point) == ["set"]
    (line,) = bounds.lines_without(point)
    assert line.startswith("least run time of job set: none:")


def test_bounds_that_are_means_over_interfaces_say_so() -> None:
    by_name = {}
    for choice in ("striping", "hash", "destination", "local_rank"):
        case = scenario("torus", {}, "")
        collective = {"operation": "all_to_all", "ranks": RANKS, "bytes": "300B"}
        programs = {"program": {"collective": collective}, "rails": 2, "rail_choice": choice}
        case["traffic"]["workload"] = {"programs": programs}
        by_name[choice] = "\n".join(bounds.lines(bounds.of_point(weft.load(case).points[0])))
    assert {choice for choice, text in by_name.items() if "mean over its interfaces" in text} == {"striping", "hash"}
    assert {choice for choice, text in by_name.items() if "none: packets choose" in text} == {"striping", "hash"}


def test_programs_and_networks_in_other_folders_have_the_same_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs, cases = tmp_path / "inputs", tmp_path / "cases"
    inputs.mkdir()
    cases.mkdir()
    (inputs / "p.goal").write_text(
        "num_ranks 2\nrank 0 {\nsend 64000b to 1 tag 1\n}\nrank 1 {\nrecv 64000b from 0 tag 1\n}\n"
    )
    (inputs / "n.json").write_text(
        '{"directed": false, "nodes": [{"id": 0, "terminals": 1}, {"id": 1, "terminals": 1}],'
        ' "links": [{"source": 0, "target": 1}]}'
    )
    case = """\
flit: 64B
link_speed: 512Gb/s
topology: {{graph: {{file: {0}n.json}}}}
links: {{default: {{latency: 128ns, vcs: 2, buffer: 512flits}}}}
routing: shortest_path
traffic: {{packet: 64flits, workload: {{programs: {{file: {0}p.goal}}}}}}
sweep: {{grain: [null, 4KiB]}}
"""
    values = []
    for folder, files in ((cases, "../inputs/"), (cases, f"{inputs}/"), (inputs, "")):
        (folder / "case.yaml").write_text(case.format(files))
        assert main(["check", str(folder / "case.yaml")]) == 0
        values.append(capsys.readouterr().out.replace(str(folder), ""))
    # in all cases the bound is 1 us: 1,000 flits of 64 B at one flit per ns
    assert "1 µs" in values[0]
    assert values[0].count("fullest channel") == values[2].count("fullest channel") == 2  # without and with a grain
    assert [line for line in values[0].splitlines() if "µs" in line] == [
        line for line in values[2].splitlines() if "µs" in line
    ]


def test_a_large_program_gets_no_estimate_unasked_and_the_named_option_makes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.goal").write_text(goal(3), encoding="utf-8")
    file = tmp_path / "a.yaml"
    file.write_text(json.dumps(scenario("torus", {}, "a.goal")), encoding="utf-8")

    def checked(*options: str) -> list[str]:
        assert main(["check", str(file), *options]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if "estimate:" in line]

    (small,) = checked()
    monkeypatch.setattr(bounds, "MOST_OPERATIONS", 10)
    (none,) = checked()
    assert "not computed: " in none
    assert "`weft check FILE --estimate` computes it" in none
    assert checked("--estimate") == [small]
    (bound,) = bounds.of_point(weft.load(file).points[0])
    assert (bound.ideal_s, bound.least_s > 0) == (None, True), "bounds need no executor"
    assert main(["run", str(file), "--out", str(tmp_path / "out"), "--no-picture"]) == 0
    assert "estimate of job all not computed: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("workload", "ranks"),
    [
        ({"overhead": "3ns"}, 16),
        ({"ranks_per_terminal": 4, "local_latency": "20ns", "local_bandwidth": "64Gb/s"}, 16),
        ({"ranks_per_terminal": 2, "rails": 2, "rail_choice": "local_rank", "injection_latency": "50ns"}, 8),
    ],
)
def test_ranks_that_send_while_they_receive_are_not_faster_than_the_estimate(
    workload: dict[str, Any], ranks: int
) -> None:
    """No run is faster than the estimate of `weft check`.

    Inner ranks of a double tree send and receive at the same time, and some send to ranks on their own node.
    """
    programs = workload | {
        "program": {"collective": {"operation": "all_reduce", "ranks": ranks, "bytes": "16KiB"}},
        "collectives": {"algorithms": {"all_reduce": {"double_tree": {"segment": "1KiB"}}}},
        "eager": "1MB",
    }
    point = {
        "cycle": "1ns",
        "flit": "8B",
        "topology": {"single_router": {"terminals": 16}},
        "routing": "dimension_order",
        "links": {"default": {"buffer": "64flits"}},
        "traffic": {"packet": "8flits", "workload": {"programs": programs}},
    }
    sweep = weft.load(point)
    (bound,) = bounds.of_point(sweep.points[0])
    (summary,) = sweep.run(watch=False).summaries
    assert bound.ideal_s is not None
    assert bound.least_s <= bound.ideal_s <= summary["solution_seconds"]


@pytest.mark.parametrize("program", ["dense_70b", "collective"])
def test_the_work_of_a_program_is_what_the_executor_executes(program: str) -> None:
    text = {
        "dense_70b": """\
training_step:
  model: {layers: 4, hidden: 1024, heads: 8, kv_heads: 8, feed_forward: 2048, vocabulary: 1024}
  accelerator: {rate: 719TFLOP/s, memory: 80GB, memory_bandwidth: 3.2TB/s}
  ranks: 8
  degrees: {tensor: 2, pipeline: 2, data: 2}
  batch: 16
  sequence: 512
""",
        "collective": "collective: {operation: all_reduce, ranks: 8, bytes: 64KiB, repeat: 3, gap: 2us}\n",
    }[program]
    made = _engine.make_program("programs", json.dumps({"program": yaml.safe_load(text)}))
    answer = made.loggops(json.dumps(dict.fromkeys(("L", "o", "g", "G", "O"), "0ns") | {"S": "0B"}))
    operations, compute = zip(*made.work(), strict=True)
    assert sum(operations) == answer["operations"]
    assert list(compute) == [each["compute_ns"] for each in answer["ranks"]]


def test_bounds_that_differ_name_their_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the output of `weft check`, points with equal bounds share a table.

    If there are several tables, each names its points.
    """
    scenario = tmp_path / "sizes.yaml"
    scenario.write_text(
        "topology: {torus: {widths: [2, 2], terminals_per_router: 1}}\nrouting: dimension_order\n"
        "links: {default: {buffer: 64flits}}\n"
        "traffic: {packet: 4flits, workload: {programs: "
        "{program: {collective: {operation: all_reduce, ranks: 4, bytes: 1KiB}}}}}\n"
        "sweep: {traffic.workload.programs.program.collective.bytes: [1KiB, 64KiB], seed: [1, 2]}\n"
    )
    key = "traffic.workload.programs.program.collective.bytes"
    assert main(["check", str(scenario)]) == 0
    shown = capsys.readouterr().out.splitlines()
    heads = [shown[at - 1] for at, line in enumerate(shown) if line.startswith("least run time of job")]
    assert heads == [f"{key} = 1KiB", f"{key} = 64KiB"]
    assert main(["check", str(scenario), "--set", f"sweep.{key}=[1KiB]"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [shown[at - 1] for at, line in enumerate(shown) if line.startswith("least run time of job")] == [""]


@pytest.mark.parametrize("size", ["1KiB", "3KiB", "20KiB"])
def test_the_energy_of_a_program_covers_at_most_32_cycles_more_than_its_run_time(size: str, tmp_path: Path) -> None:
    """The energy of a program includes at most 32 cycles after the end of its run time.

    Each of the 8 channels of the 4 terminals is always on and draws 2.8 W.
    """
    scenario = {
        "topology": {"single_router": {"terminals": 4}},
        "routing": "dimension_order",
        "links": {"default": {"buffer": "64flits"}},
        "power": {"prices": {"on": {"static": "2.8W", "per_bit": "0fJ/bit"}}},
        "traffic": {
            "packet": "4flits",
            "workload": {
                "programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 4, "bytes": size}}}
            },
        },
    }
    (summary,) = weft.load(scenario).run(tmp_path / "out", jobs=1).summaries
    more = summary["window_cycles"] - summary["completion_cycles"]
    assert 0 < more <= 32
    assert summary["energy_total_j"] == pytest.approx(8 * 2.8 * (summary["solution_seconds"] + more * 1e-9))
