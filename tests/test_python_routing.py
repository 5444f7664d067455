"""Tests routings that are Python functions, which become routing tables or are called during the simulation, and
refusals."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft._engine import Control
from weft.cli import main
from weft.scenario import python_network, python_routes

if TYPE_CHECKING:
    from pathlib import Path

FILE = """\
def in_order(router, packet):
    stride = 1
    for width, own, to in zip(router.network.widths, router.coordinates, packet.destination.coordinates):
        if own != to:
            return router.port_to(router + (to - own) * stride)
        stride *= width

def minimal(router, packet):
    return router.minimal_ports(packet.destination)

def hop_index(router, packet):
    vc = 0 if packet.vc is None else packet.vc + 1
    return [(port, vc) for port in router.minimal_ports(packet.destination)]

def adaptive(router, packet, queues, factor=1):
    vc = 0 if packet.vc is None else packet.vc + 1
    return {(port, vc): factor * queues[port] for port in router.minimal_ports(packet.destination)}

def dateline(router, packet, network):
    width = len(network.routers)
    up = (packet.destination - router) % width * 2 <= width
    to = (router + (1 if up else -1)) % width
    return router.port_to(to), int(packet.destination > router if up else packet.destination < router)

def wrong_port(router, packet):
    port = 9
    return port if router == 3 else router.minimal_ports(packet.destination)

def to_terminal(router, packet):
    return [0]

def wrong_class(router, packet):
    return (router.minimal_ports(packet.destination)[0], 16)

def raises(router, packet):
    return {}["nothing"]

def nothing(router, packet):
    return None

def back_and_forth(router, packet):
    return router.port_to(router ^ 1)

def costs(router, packet):
    return {port: 1 for port in router.ports}

def one_of(router, packet, queues):
    ports = router.minimal_ports(packet.destination)
    return min(ports, key=lambda port: queues[port])

def raises_later(router, packet, queues):
    if max(queues) > 2:
        raise RuntimeError("too full")
    return in_order(router, packet)

calls = []

def counting(router, packet):
    calls.append(router)
    ports = router.minimal_ports(packet.destination)
    return ports[len(calls) % len(ports)]

def endless(router, packet):
    while True:
        pass

def sources(router, packet, source):
    return 0

def generated(router, packet):
    for port in router.minimal_ports(packet.destination):
        yield port, 0 if packet.vc is None else packet.vc + 1

def generated_wrong(router, packet):
    yield {}["nothing"]

def generated_endless(router, packet):
    while True:
        pass
    yield 0

def many(router, packet):
    while True:
        yield router.ports[0]

def huge(router, packet):
    return 10 ** 5000

def huge_cost(router, packet, queues):
    return {port: 10 ** 400 for port in router.ports}

def changes(router, packet, queues):
    queues[router.ports[0]] += 5
    return adaptive(router, packet, queues)

def exits(router, packet):
    exit(3)

def no_packet(router):
    return 0
"""
HYPERX = "{hyperx: {widths: [4, 4], terminals_per_router: 2}}"
RING = "{torus: {widths: [6], terminals_per_router: 1}}"
# Keys of a summary that identify the scenario.
NAMES = {"routing", "hash", "name", "scenario"}


@pytest.fixture
def ideas(tmp_path: Path) -> Path:
    (tmp_path / "ideas.py").write_text(FILE)
    return tmp_path


def scenario(
    folder: Path, function: str, topology: str = HYPERX, pattern: str = "uniform", load: float = 0.3, **more: Any
) -> Path:
    path = folder / f"{function}.yaml"
    keys = ", ".join(f"{key}: {value}" for key, value in {"function": f"ideas.py:{function}", **more}.items())
    path.write_text(f"""\
topology: {topology}
routing: {{python: {{{keys}}}}}
traffic: {{pattern: {pattern}, load: {load}}}
measure: {{warmup: 200cycles, window: 1000cycles}}
""")
    return path


def refused(path: Path, *, run: bool = False) -> weft.ScenarioError:
    sweep = weft.load(path)
    with pytest.raises(weft.ScenarioError) as caught:
        sweep.run(path.parent / "refused") if run else sweep.check()
    return caught.value


def numbers(path: Path, out: str, **how: Any) -> dict[str, Any]:
    summary = weft.load(path).run(path.parent / out, **how).summaries[0]
    return {key: value for key, value in summary.items() if key not in NAMES}


def test_dimension_order_as_a_function_has_the_results_of_dimension_order(ideas: Path) -> None:
    ours = numbers(scenario(ideas, "in_order"), "ours")
    known = ideas / "known.yaml"
    known.write_text(
        scenario(ideas, "in_order").read_text().replace("{python: {function: ideas.py:in_order}}", "dimension_order")
    )
    theirs = numbers(known, "theirs")
    assert {key for key in ours if ours[key] != theirs[key]} == set()


def test_deadlock_is_found(ideas: Path) -> None:
    problem = refused(scenario(ideas, "minimal", RING))
    assert "cycle" in problem.what
    facts = weft.load(scenario(ideas, "dateline", RING)).check()[0].facts
    assert facts["vc_classes"]["ring"] == 2 if "ring" in facts["vc_classes"] else max(facts["vc_classes"].values()) == 2
    summary = numbers(scenario(ideas, "dateline", RING), "ring")
    assert summary["ending"] == "drained"


@pytest.mark.filterwarnings("ignore::weft.WeftWarning")
@pytest.mark.parametrize("function", ["hop_index", "adaptive"])
def test_threads_and_blocks_change_nothing(ideas: Path, function: str) -> None:
    path = scenario(ideas, function, pattern="bit_complement", load=0.6)
    one = numbers(path, "one")
    assert one == numbers(path, "two", threads=2, blocks=4)
    assert one == numbers(path, "plain", plain=True)


def test_a_run_goes_on_from_a_checkpoint(ideas: Path) -> None:
    point, kept = weft.load(scenario(ideas, "adaptive")).points[0], list[bytes]()
    whole = point.run(1, 2, Control(kept.append, 300)).summary
    assert kept
    assert point.resume(2, Control(), lambda: kept[0]).summary == whole


@pytest.mark.filterwarnings("ignore::weft.WeftWarning")
def test_queues_decide(ideas: Path) -> None:
    """A routing function can read queues.

    Packets between opposite corners of a square of routers take the path with the shorter queue, and arrive earlier
    than with random paths.
    """
    pattern = "{matrix: {file: m.csv}}"
    rows = [[0] * 32 for _ in range(32)]
    for source in (0, 1):
        rows[source][10 + source] = 1  # router 0 sends to router 5 over two minimal paths
    (ideas / "m.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    drawn = numbers(scenario(ideas, "hop_index", pattern=pattern, load=0.8), "drawn")
    chosen = numbers(scenario(ideas, "adaptive", pattern=pattern, load=0.8), "chosen")
    latency = "packet_latency_mean_cycles"
    assert chosen[latency] < drawn[latency]


def test_a_slow_routing_says_so(ideas: Path) -> None:
    with pytest.warns(weft.WeftWarning, match="`adaptive` of ideas.py reads queues.*slow"):
        weft.load(scenario(ideas, "adaptive")).run(ideas / "out")


@pytest.mark.parametrize(
    ("function", "what", "help"),
    [
        (
            "wrong_port",
            "just injected, at router 3 returned 9: no link to a router at port 9 (ideas.py, line 27: `return port if",
            "ports to routers: 2 (to router ",
        ),
        ("to_terminal", "returned [0]: no link to a router at port 0 (ideas.py, line 30", "ports to routers: 2 "),
        ("wrong_class", "VC class 16 (ideas.py, line 33", "classes from 0 to 15"),
        (
            "raises",
            "for a packet to router 0, just injected, at router 1 raised KeyError: 'nothing' (ideas.py, line 36: `r",
            "correct the function",
        ),
        ("nothing", "returned None: no hop (ideas.py, line 39", "at least one hop"),
        (
            "back_and_forth",
            (
                "for a packet to router 0, on VC class 0, at router 3 can lead back to this state: 3 -> 2 -> 3 "
                "(ideas.py, line 42"
            ),
            "lead nearer",
        ),
        ("costs", "costs without queues (ideas.py, line 45", "take `queues`"),
        ("counting", "`counting` of ideas.py returns a different result when it is called again", "only the arguments"),
        (
            "sources",
            "has the parameter `source`, but no value is given",
            "Weft itself passes packet, queues, router, network",
        ),
        ("generated_wrong", "at router 1 raised KeyError: 'nothing' (ideas.py, line ", "correct the function"),
        ("many", "at router 1 raised ValueError: more than 100000 values in one result", "correct the function"),
        ("huge", "at router 1 returned a int that can't be written: no link to a router", "ports to routers: 2 "),
        ("huge_cost", "a cost of 1000", "return numbers as costs"),
        ("exits", "at router 1 raised SystemExit: 3 (ideas.py, line ", "correct the function"),
        ("no_packet", "`no_packet` of ideas.py has no parameter `packet`", "def no_packet(router, packet)"),
    ],
)
def test_bad_functions(ideas: Path, function: str, what: str, help: str) -> None:
    problem = refused(scenario(ideas, function))
    assert what in problem.what
    assert help in problem.help
    assert problem.path == "routing.python.function"


@pytest.mark.parametrize(
    ("function", "what", "help"),
    [
        ("one_of", "which it does not return if all queues are empty", "in a dict with their costs"),
        (
            "raises_later",
            "raised RuntimeError: too full (ideas.py, line 53: `raise RuntimeError",
            "correct the function",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::weft.WeftWarning")
def test_a_call_that_fails_in_a_run_ends_it(ideas: Path, function: str, what: str, help: str) -> None:
    problem = refused(scenario(ideas, function, load=0.9, pattern="bit_complement"), run=True)
    assert what in problem.what
    assert help in problem.help
    assert f"`{function}` for packet " in problem.what
    assert " of terminal " in problem.what
    assert "at router " in problem.what


def test_the_command_line(ideas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for function, command in [
        ("wrong_port", "check"),
        ("raises", "run"),
        ("back_and_forth", "run"),
        ("raises_later", "run"),
    ]:
        path = scenario(ideas, function, load=0.9, pattern="bit_complement")
        more = ["--out", str(ideas / function)] if command == "run" else []
        assert main([command, str(path), *more]) == 2
        errors = capsys.readouterr().err
        assert "ideas.py, line" in errors
        assert "Traceback" not in errors
        assert errors.count("error:") == 1


def test_a_call_that_never_returns_is_ended(ideas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.scenario.python_calls.MOST_SECONDS", 0.2)
    problem = refused(scenario(ideas, "endless"))
    assert "did not return within 0.2 s (ideas.py, line 6" in problem.what
    problem = refused(scenario(ideas, "generated_endless"))
    assert "at router 1 did not return within 0.2 s (ideas.py, line " in problem.what


def square() -> dict[str, Any]:
    """Return the description of 2 x 2 routers with a terminal at port 0, in the form of the engine."""
    peers = [[None, 1, 2], [None, 0, 3], [None, 3, 0], [None, 2, 1]]
    return {"peers": peers, "hosts": [0, 1, 2, 3], "names": [], "widths": [2, 2]}


def test_two_shortest_ports_are_two_hops(ideas: Path) -> None:
    """In a 2 x 2 grid, two shortest paths lead from router 0 to router 3.

    A function that returns `router.minimal_ports(...)` then returns two ports. They must not be read as a port and a VC
    class.
    """
    text = (ideas / "ideas.py").read_bytes()
    rows, _ = python_routes.routes(text, "ideas.py", "minimal", {}, square())
    hops = {(router, destination): hops for router, destination, lane, hops in rows if lane == 0}
    assert hops[0, 3] == [(1, 0, 0), (2, 0, 0)]
    router = python_network.Network(**square()).routers[0]
    assert (router.minimal_ports(3), router.ports, router.neighbors) == ([1, 2], [1, 2], [1, 2])


def test_a_table_that_takes_too_much_memory_is_refused(ideas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.scenario.python_routes.MOST_BYTES", 1000)
    with pytest.raises(weft.ScenarioError) as caught:
        python_routes.routes((ideas / "ideas.py").read_bytes(), "ideas.py", "minimal", {}, square())
    assert "`minimal` needs more than 1e-06 GB of memory for the hops of its first " in caught.value.what
    assert "choose a smaller network" in caught.value.help


def test_a_generator_is_a_list_of_hops(ideas: Path) -> None:
    listed = numbers(scenario(ideas, "hop_index"), "listed")
    assert numbers(scenario(ideas, "generated"), "yielded") == listed


@pytest.mark.filterwarnings("ignore::weft.WeftWarning")
def test_a_function_may_change_its_queues(ideas: Path) -> None:
    """A routing function can change the list of queues that it gets.

    Each call gets a copy, so the change has no effect on other calls.
    """
    assert numbers(scenario(ideas, "changes"), "out", threads=2, blocks=4)["ending"] == "drained"


@pytest.mark.filterwarnings("ignore::weft.WeftWarning")
def test_routings_leave_no_threads(ideas: Path) -> None:
    """Runs with Python routings leave no threads behind, except one thread that monitors all calls of Python in the
    process."""
    threads = []
    for factor in range(3):
        weft.load(scenario(ideas, "adaptive", parameters=f"{{factor: {factor + 1}}}")).check()
        threads.append(threading.active_count())
    assert len(set(threads)) == 1


@weft.routing
def by_number(router: Any, packet: Any, step: int = 1) -> list[int]:
    return [router.port_to(packet.destination)] if step else []


def test_an_object_is_a_routing(tmp_path: Path) -> None:
    scenario = {
        "topology": {"hyperx": {"widths": [5], "terminals_per_router": 1}},
        "routing": weft.routing(by_number, step=2),
        "traffic": {"pattern": "uniform", "load": 0.2},
        "measure": {"warmup": "100cycles", "window": "500cycles"},
    }
    results = weft.load(scenario).run(tmp_path / "out")
    assert results.summaries[0]["hops_mean"] == 1
    kept = tmp_path / "out" / "points" / results.frame["hash"][0] / "scenario.yaml"
    assert weft.load(kept).points[0].hash == results.frame["hash"][0]


@pytest.mark.filterwarnings("ignore::weft.WeftWarning")
def test_packets_turn_away_from_a_broken_link(ideas: Path) -> None:
    path = scenario(ideas, "adaptive")
    faults = {"faults": [{"link": [0, 1], "at": "300cycles"}]}
    summary = weft.load(path, overrides=faults).run(ideas / "faults").summaries[0]
    assert summary["ending"] == "drained"
