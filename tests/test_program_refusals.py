"""Tests faulty programs of messages.

Each fault causes one error, which names the place and a remedy that works, or a warning.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import weft
from weft.cli import main
from weft.errors import ScenarioError
from weft.programs import program_files

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
SCENARIO: dict[str, Any] = {
    "topology": {"single_router": {"terminals": 4}},
    "routing": "minimal",
    "flit": "8B",
    "traffic": {"packet": "16flits", "workload": {"programs": {"file": "program.goal"}}},
}
SHORT = "num_ranks 2\nrank 0 {{\nsend 100b to 1 tag 5\n}}\nrank 1 {{\nrecv {}b from 0 tag 5\n}}\n"
WARNING = (
    "1 message is larger than the receive, such as the 100 bytes from rank 0 to rank 1 with tag 5, whose receive has 8 "
    "bytes"
)


def scenario(folder: Path, **programs: object) -> Path:
    """Write a scenario file whose workload `programs` has these keys, and return its path."""
    file = folder / "scenario.yaml"
    traffic = SCENARIO["traffic"] | {"workload": {"programs": programs or {"file": "program.goal"}}}
    file.write_text(json.dumps(SCENARIO | {"traffic": traffic}), encoding="utf-8")
    return file


def test_a_program_without_operations_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.goal"
    program.write_text("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n", encoding="utf-8")
    assert main(["check", str(scenario(tmp_path))]) == 2
    assert "program.goal: the program has no operations, 2 ranks" in capsys.readouterr().err
    assert main(["trace", "info", str(program)]) == 0, "the remedy"
    assert "2 ranks, 0 operations" in capsys.readouterr().out


def test_messages_that_are_larger_than_their_receives_are_a_warning_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.goal"
    program.write_text(SHORT.format(8), encoding="utf-8")
    assert main(["trace", "info", str(program), "--json"]) == 0
    captured = capsys.readouterr()
    found = {"count": 1, "sender": 0, "receiver": 1, "tag": 5, "message_bytes": 100, "receive_bytes": 8}
    assert json.loads(captured.out)["short_receives"] == found
    assert captured.err.count(WARNING) == 1
    assert main(["trace", "loggops", str(program)]) == 0
    captured = capsys.readouterr()
    assert f"warning: {program}: {WARNING}\n  = help: write receives of at least the bytes" in captured.err
    file = scenario(tmp_path)
    assert main(["check", str(file)]) == 0
    assert WARNING in capsys.readouterr().out
    results = weft.load(file).run(tmp_path / "short", watch=False)
    (warning,) = [each for each in results.diagnoses[0] if each["code"] == "short_receives"]
    assert (warning["severity"], warning["what"], results.flaws) == ("warning", WARNING, [None])
    assert warning["numbers"] == {"messages": 1} | {key: found[key] for key in found if key != "count"}
    program.write_text(SHORT.format(100), encoding="utf-8")
    mended = weft.load(file).run(tmp_path / "mended", watch=False)
    assert mended.diagnoses == [[]]
    time = [each.summaries[0]["jobs"][0]["run_time_cycles"] for each in (results, mended)]
    assert time[0] == time[1], "times are those of the bytes of the message"
    assert program_files.program(str(program)).short_receives() is None


def test_programs_of_a_scheduler_have_the_same_warning(tmp_path: Path) -> None:
    (tmp_path / "program.goal").write_text(SHORT.format(8), encoding="utf-8")
    sound = {"program": {"collective": {"operation": "all_reduce", "ranks": 2, "bytes": "1KB"}}}
    programs = {"sound": sound, "short": {"file": "program.goal"}}
    traces = [{"name": name, "count": 2, "programs": each} for name, each in programs.items()]
    file = tmp_path / "scenario.yaml"
    traffic = SCENARIO["traffic"] | {"workload": {"scheduler": {"traces": traces}}}
    file.write_text(json.dumps(SCENARIO | {"traffic": traffic}), encoding="utf-8")
    (warning,) = [each for each in weft.load(file).points[0].warnings if each["code"] == "short_receives"]
    assert warning["path"] == "traffic.workload.scheduler.traces.1.programs.file"
    assert warning["what"] == WARNING


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "num_ranks 2\nrank 0 {\nsend 8b to 7\n}\nrank 1 {\n}\n",
            "program.goal:3: rank 7 does not exist: with num_ranks 2",
        ),
        ("num_ranks 2\nrank 0 {\n", "program.goal:3: the file ends inside the block of a rank"),
    ],
)
def test_an_error_in_a_file_of_a_scenario_names_the_file_once(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "program.goal").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        _ = weft.load(scenario(tmp_path)).points
    assert refused.value.what.startswith(place)
    assert refused.value.path == "traffic.workload.programs.file"


def test_a_check_names_the_job_whose_program_can_not_finish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "program.goal").write_text(SHORT.format(100).replace("tag 5", "tag 6", 1), encoding="utf-8")
    assert main(["check", str(scenario(tmp_path))]) == 4
    shown = capsys.readouterr().err
    assert shown.startswith("error: the program of job all: 1 rank(s) can't go on\n  rank 1 has finished 0 of 1")


def of_step(change: Callable[[str], str], folder: Path, name: str = "dense_70b") -> ScenarioError:
    """Change the text of an example program, and return the error that the change causes."""
    text = (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8")
    file = folder / "step.yaml"
    file.write_text(change(text), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    with pytest.raises(ScenarioError) as refused:
        program_files.program(str(file))
    return refused.value


@pytest.mark.parametrize(
    ("change", "what", "help"),
    [
        (("dense_70b", "sharding: optimizer", "sharding: all"), "unknown word `all`", "write one of"),
        (("dense_70b", "layers: 80, ", ""), "the key `layers` is missing", "write `layers: ...`"),
        (("dense_70b", "tensor: 8", "tensor: -8"), "expected a whole number", "share each layer"),
        (("dense_70b", "operand_bytes: 1 ", "operand_bytes: -1 "), "found the value -1", None),
        (
            ("dense_70b", "collectives:", "colectives:"),
            "unknown key `colectives`",
            "the keys `program` and `collectives`",
        ),
        (("dense_70b", "batch: 1024", "batch: 1000"), "not a multiple of 32", "write a multiple of 32, such as 1024"),
        (("dense_70b", "data: 32", "data: 0"), "a degree of 0 gives 0 ranks", "write 1 for an unused degree"),
        (("inference_70b", "tensor: 8", "tensor: 3"), "tensor 3 x pipeline 1 = 3 ranks, not 8", "or `ranks: 3`"),
        (
            ("dense_70b", "heads: 64, kv_heads: 8", "heads: 4"),
            "4 attention heads are not divisible by tensor 8",
            "such as 4",
        ),
        (
            ("inference_70b", "heads: 64, kv_heads: 8", "heads: 4"),
            "4 attention heads are not divisible by tensor 8",
            "such as 4",
        ),
    ],
)
def test_errors_in_parameters_have_a_remedy(
    tmp_path: Path, change: tuple[str, str, str], what: str, help: str | None
) -> None:
    name, old, new = change
    problem = of_step(lambda text: text.replace(old, new), tmp_path, name)
    assert what in problem.what
    assert problem.help
    assert help is None or help in problem.help
    assert problem.text.count("error: ") == 1


def test_a_model_that_is_too_large_to_be_counted_is_refused(tmp_path: Path) -> None:
    """Weft refuses an AI model with 2^60 parameters or more, and no computation overflows."""
    large = "model: {layers: 1048576, hidden: 1048576, heads: 64, feed_forward: 1048576, vocabulary: 1048576"
    experts = ", experts: {count: 1048576, per_token: 1}}"

    def changed(text: str) -> str:
        return re.sub(r"model: \{.*\}", large + experts, text)

    for name in ("dense_70b", "inference_70b"):
        assert "parameters, more than 2^50" in of_step(changed, tmp_path, name).what


def test_commands_refuse_what_would_take_all_memory_or_say_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, out = tmp_path / "program.goal", tmp_path / "out.goal"
    program.write_text(SHORT.format(100), encoding="utf-8")

    def refused(*words: object) -> str:
        assert main(["trace", *map(str, words)]) == 2
        return capsys.readouterr().err

    # a program may have 100 million operations, and each copy of the program has 2 ranks with 2 operations each
    assert "write 25000000 copies or fewer" in refused("remap", program, "--tile", 10**9, "--out", out)
    assert "request fewer nodes" in refused("remap", program, "--nodes", 10**6, "--out", out)
    assert "weft trace info" in refused("make", program)
    placement = tmp_path / "nodes.txt"
    assert "No such file" in (message := refused("remap", program, "--placement", placement, "--out", out))
    assert "Errno" not in message
    placement.write_bytes(b"\xff\xfe0 1")
    assert "it is not text" in refused("remap", program, "--placement", placement, "--out", out)


def test_times_and_bandwidths_of_a_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "program.goal").write_text(SHORT.format(100), encoding="utf-8")
    with pytest.raises(ScenarioError, match="would never arrive"):
        _ = weft.load(scenario(tmp_path, file="program.goal", local_bandwidth="0b/s")).points
    # this latency is longer than the executor of `weft check` can represent, so the output has all bounds except the
    # estimate
    assert main(["check", str(scenario(tmp_path, file="program.goal", host_latency="2000s"))]) == 0
    assert "not computed: times of its messages are above 2^40 ns" in capsys.readouterr().out
