"""Tests traffic patterns that are Python functions, given by a file or as an object, and refusals."""

from __future__ import annotations

import functools
import math
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import weft
from weft.cli import main
from weft.scenario import python_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SCENARIO: dict[str, Any] = {
    "topology": {"hyperx": {"widths": [4, 4], "terminals_per_router": 2}},
    "routing": "dimension_order",
    "traffic": {"pattern": "uniform", "load": 0.2},
    "measure": {"warmup": "100cycles", "window": "500cycles"},
}
FILE = """\
import random, weft

OFFSET = 5

def neighbour(source, terminals, step=OFFSET):
    return (source + step) % terminals

def drawn(source, rng, terminals):
    return rng.integers(terminals)

def weighted(source, terminals):
    return {0: 3, (source + 1) % terminals: 1}

def few(source):
    return 0 if source in (1, 2) else None

def half(source, rng):
    return 0 if rng.random() < 0.5 else None

def wrong(source, terminals):
    other = source + 1
    return other

def raises(source):
    return 0 * (1 // (source - 3))

def text(source):
    return "3"

def negative(source):
    return {1: -1}

def silent(source):
    return None

def endless(source):
    while True:
        pass

calls = []

def counting(source, terminals):
    calls.append(source)
    return len(calls) % terminals

def overflows(source):
    return {2: 10 ** 400}

def exits(source):
    import sys
    sys.exit("enough")

@weft.pattern(step=4)
def decorated(source, terminals, step=1):
    return (source + step) % terminals

@weft.routing
def hops(router, packet):
    return router.ports

def wants(source, destinations):
    return source

def no_source(rng):
    return 0

def drawn_wrong(source, rng):
    draw = rng.integers(100)
    return draw
"""


@pytest.fixture
def ideas(tmp_path: Path) -> Path:
    (tmp_path / "ideas.py").write_text(FILE)
    return tmp_path


def scenario(folder: Path, function: str, **more: Any) -> Path:
    path = folder / "s.yaml"
    keys = ", ".join(f"{key}: {value}" for key, value in {"function": f"ideas.py:{function}", **more}.items())
    path.write_text(f"""\
topology: {{hyperx: {{widths: [4, 4], terminals_per_router: 2}}}}
routing: dimension_order
traffic: {{pattern: {{python: {{{keys}}}}}, load: 0.2}}
measure: {{warmup: 100cycles, window: 500cycles}}
""")
    return path


def matrix(path: Path) -> list[list[float]]:
    return weft.load(path).points[0].traffic_matrix()


def refused(path: Path) -> weft.ScenarioError:
    with pytest.raises(weft.ScenarioError) as caught:
        weft.load(path).check()
    return caught.value


def test_a_function_gives_the_numbers_of_the_pattern_that_it_describes(ideas: Path) -> None:
    """A pattern gives the same results as a function and as a matrix. In both runs, terminal s sends to s + 5."""
    rows = [[float(d == (s + 5) % 32) for d in range(32)] for s in range(32)]
    known = weft.load(SCENARIO, matrix=rows).run(ideas / "known").summaries[0]
    ours = weft.load(scenario(ideas, "neighbour")).run(ideas / "ours").summaries[0]
    names = {"pattern", "hash", "scenario", "name"}
    assert {key for key in known if known[key] != ours.get(key)} <= names | {key for key in known if "hash" in key}
    assert ours["pattern"] == "python"


def test_draws_are_a_table_that_the_seed_decides(ideas: Path) -> None:
    path = scenario(ideas, "drawn", draws=4000)
    row = weft.load(path).points[0].traffic_matrix()[3]
    # a router of 2 terminals sends 0.4 flits per cycle, and each of 16 routers receives 1/16 of them; the test permits
    # 5 standard deviations of a binomial count of 8,000 draws
    expected, deviation = 0.4 / 16, 0.4 * math.sqrt(1 / 16 * 15 / 16 / 8000)
    assert all(abs(value - expected) < 5 * deviation for value in row)
    assert weft.load(path).points[0].traffic_matrix()[3] == row
    assert weft.load(path, overrides={"seed": 2}).points[0].traffic_matrix()[3] != row


def test_weights_and_silence(ideas: Path) -> None:
    weights = matrix(scenario(ideas, "weighted"))
    # terminals 10 and 11 of router 5 send 3/4 to terminal 0, and 1/4 to terminals 11 and 12
    assert weights[5][0] == pytest.approx(2 * 0.2 * 3 / 4)
    assert weights[5][5] == pytest.approx(0.2 / 4)
    few = matrix(scenario(ideas, "few"))
    assert [sum(row) for row in few[:3]] == pytest.approx([0.2, 0.2, 0])
    half = matrix(scenario(ideas, "half", draws=10000))
    assert sum(half[4]) == pytest.approx(2 * 0.1, abs=5 * 0.4 * math.sqrt(0.25 / 20000))


def test_parameters_are_swept(ideas: Path) -> None:
    overrides = {"sweep": {"traffic.pattern.python.parameters.step": [1, 9]}}
    results = weft.load(scenario(ideas, "neighbour"), overrides=overrides).run(ideas / "out")
    assert results.frame["traffic.pattern.python.parameters.step"].to_list() == [1, 9]
    assert len(set(results.frame["hops_mean"])) == 2


def test_an_edited_function_is_run_again(ideas: Path) -> None:
    path, out = scenario(ideas, "neighbour"), ideas / "out"
    first = weft.load(path).run(out)
    assert weft.load(path).run(out).frame.equals(first.frame)
    (ideas / "ideas.py").write_text(FILE.replace("OFFSET = 5", "OFFSET = 6"))
    point = weft.load(path).points[0]
    assert point.hash != weft.load(out / "points" / first.frame["hash"][0] / "scenario.yaml").points[0].hash
    assert (out / "points" / first.frame["hash"][0] / "ideas.py").read_text() == FILE


def test_threads_and_blocks_change_nothing(ideas: Path) -> None:
    path = scenario(ideas, "drawn")
    one = weft.load(path).run(ideas / "one").summaries[0]
    two = weft.load(path).run(ideas / "two", threads=2, blocks=4).summaries[0]
    assert one == two


OFFSETS = (3, 4)


def shifted(terminal: int, terminals: int) -> int:
    return (terminal + OFFSETS[0]) % terminals


@weft.pattern
def by_helper(source: int, terminals: int, more: int = 0) -> int:
    return math.floor(shifted(source, terminals) + more) % terminals


def test_an_object_is_a_pattern(tmp_path: Path) -> None:
    assert by_helper(1, 8) == 4
    traffic = SCENARIO["traffic"] | {"pattern": weft.pattern(by_helper, more=2)}
    sweep = weft.load(SCENARIO | {"traffic": traffic})
    assert sweep.points[0].traffic_matrix()[0][2] == pytest.approx(0.2)  # terminal 0 sends to 5, which is on router 2
    results = sweep.run(tmp_path / "out")
    kept = tmp_path / "out" / "points" / results.frame["hash"][0]
    again = weft.load(kept / "scenario.yaml")
    assert again.points[0].hash == results.frame["hash"][0]
    over = weft.load(SCENARIO, overrides={"traffic.pattern": weft.pattern(by_helper, more=2)})
    assert over.points[0].hash == results.frame["hash"][0]
    both = weft.load(SCENARIO, overrides={"sweep": {"traffic.pattern": ["uniform", by_helper]}})
    assert len(both.run(tmp_path / "both")) == 2


def test_a_closure_becomes_constants() -> None:
    steps = {"a": [1, 2]}

    def made(distance: int) -> Callable[..., int]:
        def destination(source: int, terminals: int) -> int:
            return (source + distance + sum(steps["a"])) % terminals

        return destination

    point = weft.load(SCENARIO, overrides={"traffic.pattern": weft.pattern(made(4))}).points[0]
    assert point.traffic_matrix()[0][3] == pytest.approx(0.2)  # 0 to 7


def test_defaults_are_those_of_the_definition() -> None:
    """Weft stores the text of a function with the values that its default arguments had at its definition, even if the
    variables in them have other values later."""
    made = []
    for step in (2, 4, 6):

        @weft.pattern
        def skip(source: int, terminals: int, mark: str = "é", step: int = step, *, more: int = step - 1) -> int:
            return (source + step + more - step + len(mark)) % terminals

        made.append(skip)
    for skip, step in zip(made, (2, 4, 6), strict=True):
        matrix = weft.load(SCENARIO, overrides={"traffic.pattern": skip}).points[0].traffic_matrix()
        assert matrix[0][step // 2] == pytest.approx(0.4)  # the two terminals of router 0


def test_what_a_file_cannot_hold_is_refused() -> None:
    stream = iter([1])

    def by_default(source: int, stream: Iterator[int] = stream) -> int:
        return next(stream) + source

    def plain(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def inner(*positional: Any, **named: Any) -> int:
            return function(*positional, **named) + 1

        return inner

    @plain
    def one_more(source: int) -> int:
        return source

    def by_helper(source: int) -> int:
        return one_more(source)

    def uses(source: int) -> int:
        return next(stream) + source

    for function, words in [
        (uses, "the function uses `stream`, a list_iterator"),
        (by_default, "the function uses `stream`, a list_iterator"),
        (one_more, "`one_more` has a decorator"),
        (by_helper, "`one_more` has a decorator"),
        (eval("lambda source: 0"), "the text of the function `<lambda>` is unknown"),
    ]:
        with pytest.raises(weft.ScenarioError, match=words):
            weft.load(SCENARIO, overrides={"traffic.pattern": weft.pattern(function)})
    with pytest.raises(weft.ScenarioError, match="a pattern needs a function, but got a int"):
        weft.pattern(3)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("function", "what", "help"),
    [
        (
            "wrong",
            "`wrong` for source 31 returned 32 (ideas.py, line 22: `return other`)",
            "return a terminal: 0 to 31",
        ),
        (
            "raises",
            "`raises` for source 3 raised ZeroDivisionError: integer division or modulo by zero (ideas.py, line 25: `r",
            "correct the function",
        ),
        ("text", "`text` for source 0 returned '3' (ideas.py, line 28: `return \"3\"`)", "return a terminal, None, or"),
        ("negative", "`negative` for source 0 returned {1: -1} (ideas.py, line 31", "weights of 0 or more"),
        ("silent", "`silent` of ideas.py returns None for every source", "for at least one source"),
        ("counting", "`counting` of ideas.py returns a different result when it is called again", "only the arguments"),
        ("overflows", "`overflows` for source 0 returned {2: 1000", "weights of 0 or more"),
        ("exits", "`exits` for source 0 raised SystemExit: enough (ideas.py, line ", "correct the function"),
        ("hops", "`hops` of ideas.py is a routing, but this key needs a pattern", "write @weft.pattern above"),
        (
            "wants",
            "`wants` of ideas.py has the parameter `destinations`, but no value is given",
            "Weft itself passes rng, source, term",
        ),
        ("no_source", "`no_source` of ideas.py has no parameter `source`", "write def no_source(source, rng)"),
        ("drawm", "ideas.py has no function `drawm`", "did you mean `drawn`"),
        ("drawn_wrong", "`drawn_wrong` for source 0 returned ", "return a terminal: 0 to 31"),
    ],
)
def test_bad_functions(ideas: Path, function: str, what: str, help: str) -> None:
    problem = refused(scenario(ideas, function))
    assert what in problem.what
    assert help in problem.help
    assert problem.path == "traffic.pattern.python.function"


def test_bad_files(ideas: Path) -> None:
    path = scenario(ideas, "neighbour")
    for text, what in [
        ("def neighbour(source)\n    return 0\n", "ideas.py, line 1: `def neighbour(source)`: expected ':'"),
        ("import nothing_there\n", "No module named 'nothing_there' (ideas.py, line 1: `import nothing_there`)"),
        ("import sys\n\nsys.exit(3)\n", "raised SystemExit: 3 (ideas.py, line 3: `sys.exit(3)`)"),
        (f"x = {'-' * 200_000}1\n", "ideas.py, when it is executed, raised "),
        ("x = 1\n\ny = 1 / 0\n", "raised ZeroDivisionError: division by zero (ideas.py, line 3: `y = 1 / 0`)"),
    ]:
        (ideas / "ideas.py").write_text(text)
        assert what in refused(path).what
    (ideas / "ideas.py").unlink()
    assert "ideas.py can't be read" in refused(path).what


def test_a_module_of_the_user_is_refused(ideas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (ideas / "my_helpers.py").write_text("STEP, STEPS = 1, [1]\n\ndef helper():\n    return 0\n")
    monkeypatch.syspath_prepend(ideas)
    for text, place in [
        ("from my_helpers import helper\n\ndef neighbour(source):\n    return helper()\n", "line 1: `from my_helpers"),
        ("from my_helpers import STEPS\n\ndef neighbour(source):\n    return STEPS[0]\n", "line 1: `from my_helpers"),
        ("def neighbour(source):\n    import my_helpers\n    return my_helpers.STEP\n", "line 2: `import my_helpers`"),
        ("def neighbour(source):\n    from .my_helpers import STEP\n    return STEP\n", "line 2: `from .my_helpers"),
    ]:
        (ideas / "ideas.py").write_text(text)
        problem = refused(scenario(ideas, "neighbour"))
        assert f"ideas.py, {place}" in problem.what
        assert "is a file that the results do not store" in problem.what
        assert "copy its used parts to ideas.py" in problem.help
    assert "my_helpers" not in sys.modules


def test_installed_modules_are_not_refused(ideas: Path) -> None:
    text = (
        "import xml.dom\n\ndef neighbour(source):\n    import numpy.linalg\n    from wave import Error\n    return 0\n"
    )
    (ideas / "ideas.py").write_text(text)
    assert matrix(scenario(ideas, "neighbour"))


def test_names_and_numbers(ideas: Path) -> None:
    path = scenario(ideas, "neighbour", parameters="{stepp: 3}")
    assert "has no parameter `stepp`" in refused(path).what
    assert "did you mean `step`?" in refused(path).help
    path.write_text(path.read_text().replace("ideas.py:neighbour", "ideas.py"))
    assert "does not name a file and a function" in refused(path).what
    assert "0 draws per source are not possible" in refused(scenario(ideas, "drawn", draws=0)).what


def test_a_call_that_never_returns_is_ended(ideas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.scenario.python_calls.MOST_SECONDS", 0.2)
    problem = refused(scenario(ideas, "endless"))
    assert "`endless` for source 0 did not return within 0.2 s (ideas.py, line " in problem.what
    monkeypatch.setattr("weft.scenario.python_calls.MOST_SECONDS_OF_FILE", 0.3)
    (ideas / "ideas.py").write_text("while True:\n    pass\n")
    problem = refused(scenario(ideas, "endless"))
    assert "ideas.py, when it is executed, did not return within 0.3 s (ideas.py, line " in problem.what


def test_calls_in_other_threads_do_not_hide_an_endless_call() -> None:
    patience, ended = python_calls.Patience(), list[str]()

    def endless() -> None:
        try:
            patience.call(1.0, lambda: [None for _ in iter(int, 1)])
        except python_calls.TooLongError:
            ended.append("endless")

    thread = threading.Thread(target=endless, daemon=True)
    thread.start()
    for number in range(100):
        assert patience.call(60.0, lambda number=number: number) == number
    thread.join(600)
    assert ended == ["endless"]


def test_an_interrupt_is_not_an_error_of_the_function() -> None:
    place = python_calls.Place(b"def f(source):\n    raise KeyboardInterrupt\n", "ideas.py", "f", "pattern")
    function = python_calls.UserFunction(place, {}, {}, {"source"})
    with pytest.raises(KeyboardInterrupt):
        function.call(lambda: "", {"source": 0})


def test_the_parameters_of_a_decorator_hold_in_a_file(ideas: Path) -> None:
    # terminal 3 sends to terminal 7 on router 3, and with a step of 6 to terminal 9 on router 4
    assert matrix(scenario(ideas, "decorated"))[1][3] == pytest.approx(0.4)
    assert matrix(scenario(ideas, "decorated", parameters="{step: 6}"))[1][4] == pytest.approx(0.4)


def test_the_command_line(ideas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(ideas, "neighbour")
    assert main(["check", str(path)]) == 0
    assert main(["run", str(path), "--out", str(ideas / "out")]) == 0
    capsys.readouterr()
    assert main(["run", str(scenario(ideas, "raises")), "--out", str(ideas / "bad")]) == 2
    errors = capsys.readouterr().err
    assert "ZeroDivisionError" in errors
    assert "s.yaml:3" in errors
    assert "Traceback" not in errors


INTERRUPTED = """\
def destination(source, terminals):
    raise KeyboardInterrupt
"""


@pytest.mark.parametrize("command", ["check", "run"])
def test_an_interruption_in_a_function_ends_the_command_as_any_other(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(INTERRUPTED, encoding="utf-8")
    scenario = SCENARIO | {"traffic": {"pattern": {"python": {"function": "mine.py:destination"}}, "load": 0.2}}
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    out = ["--out", str(tmp_path / "out")] if command == "run" else []
    assert main([command, str(tmp_path / "a.yaml"), *out]) == 130
    words = "interrupted; run the same command again to continue with the missing points"
    assert capsys.readouterr().err.strip() == words
