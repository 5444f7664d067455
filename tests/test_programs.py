"""Tests `weft trace` with programs of messages: output, files and refusals."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from weft.cli import main
from weft.programs import program_files

DATA = Path(__file__).parent / "data" / "programs"
EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
# LogGOPSim's default parameters
PARAMETERS = ["--L", "2500ns", "--o", "1500ns", "--g", "1000ns", "--G", "6ns", "--O", "0ns", "--S", "65535"]
# By file, the time at which the last rank finishes, as LogGOPSim prints it [ns].
TIMES = {
    "binary_tree_32.goal": 27_500,
    "binomial_bcast_np16_1024B.bin": 46_552,
    "allreduce_recdoub_np16_1024B.goal": 55_472,
    "sweep3d_2x2.goal.xz": 42_441_527_748,
}


def _json(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    assert main(["trace", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["trace", *map(str, words)]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(("file", "time"), TIMES.items())
def test_finish_times_are_those_of_loggopsim(file: str, time: int, capsys: pytest.CaptureFixture[str]) -> None:
    answer = _json(capsys, "loggops", DATA / file, *PARAMETERS)
    assert answer["finish_ns"] == time
    assert answer["ranks"][answer["last_rank"]]["finish_ns"] == time
    assert _json(capsys, "loggops", DATA / file)["finish_ns"] == time, "these are the defaults"


def test_finish_times_name_the_parameters_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    file = next(DATA.glob("*.goal"))
    assert main(["trace", "loggops", str(file), "--L", "700ns"]) == 0
    assert "with L = 700ns, o = 1500ns, g = 1000ns, G = 6ns, O = 0ns, S = 65535" in capsys.readouterr().out


def test_a_fraction_of_a_nanosecond_per_byte_is_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "one.goal"
    file.write_text("num_ranks 2\nrank 0 {\nsend 4b to 1\n}\nrank 1 {\nrecv 4b from 0\n}\n")
    # finish time: o = 1500, then L = 2500, then o + 3 * 0.02 = 1500.06 to receive 4 bytes [ns]
    assert _json(capsys, "loggops", file, "--G", "0.02ns")["finish_ns"] == 5500.06


def test_a_program_is_the_same_in_all_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = DATA / "sweep3d_2x2.goal.xz"
    for name in ("a.goalbin", "b.goal"):
        assert main(["trace", "convert", str(source), "--out", str(tmp_path / name)]) == 0
        source = tmp_path / name
        assert capsys.readouterr().out == f"wrote {source}\n"
        assert _json(capsys, "loggops", source)["finish_ns"] == TIMES["sweep3d_2x2.goal.xz"]
    packed = tmp_path / "c.goal.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    assert _json(capsys, "info", packed) == _json(capsys, "info", DATA / "sweep3d_2x2.goal.xz")


def test_info_counts_operations_and_draws_who_sends_to_whom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "matrix.svg"
    facts = _json(capsys, "info", DATA / "sweep3d_2x2.goal.xz", "--matrix", picture)
    kinds = {"send": 6052, "receive": 6052, "compute": 11836}  # as the authors of the file count them
    assert (facts["ranks"], facts["kinds"], facts["edges"], facts["unmatched"]) == (4, kinds, 24220, [])
    assert "<svg" in picture.read_text()
    rows = (tmp_path / "matrix.svg.csv").read_text().splitlines()
    assert rows[0] == "from_rank,to_rank,bytes,messages"
    cells = [list(map(int, row.split(","))) for row in rows[1:]]
    assert (sum(cell[3] for cell in cells), len(cells)) == (6052, facts["pairs"])
    assert sum(cell[2] for cell in cells) == facts["bytes"]
    assert main(["trace", "info", str(DATA / "sweep3d_2x2.goal.xz")]) == 0
    assert capsys.readouterr().out.startswith("4 ranks, 23940 operations")


def test_info_also_counts_the_messages_of_collectives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`weft trace info` also counts the messages that collectives send.

    In a ring all-reduce of 8 ranks, each rank sends 2 * 7 messages of 1/8 of the vector.
    """
    file = tmp_path / "all_reduce.yaml"
    collective = "collective: {operation: all_reduce, ranks: 8, bytes: 8KB}"
    file.write_text(f"program: {{{collective}}}\ncollectives: {{algorithms: {{all_reduce: {{ring: {{}}}}}}}}\n")
    facts = _json(capsys, "info", file)
    assert (facts["messages"], facts["bytes"], facts["collectives"]) == (0, 0, {"all_reduce": 8})
    assert facts["collectives_as_messages"] == {"messages": 8 * 14, "bytes": 8 * 14 * 1000, "pairs": 8}
    assert main(["trace", "info", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "0 messages of 0 B between 0 pairs of ranks, without those of collectives" in shown
    assert "with collectives as messages: 112 messages of 112 kB between 8 pairs of ranks" in shown
    assert _json(capsys, "info", DATA / "binary_tree_32.goal")["collectives_as_messages"] is None


def test_a_part_and_nodes_of_a_program_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, part, nodes = DATA / "binary_tree_32.goal", tmp_path / "part.goal", tmp_path / "nodes.goal"
    assert main(["trace", "cut", str(source), "--to", "10us", "--out", str(part)]) == 0
    capsys.readouterr()
    assert 0 < _json(capsys, "loggops", part)["finish_ns"] < TIMES["binary_tree_32.goal"]
    assert (
        main(["trace", "remap", str(source), "--tile", "2", "--per-node", "4", "--random", "1", "--out", str(nodes)])
        == 0
    )
    capsys.readouterr()
    facts = _json(capsys, "info", nodes)
    assert (facts["ranks"], facts["messages"], facts["cpus"]) == (64 // 4, 2 * 31, 4)
    order = tmp_path / "order.txt"
    order.write_text(" ".join(str(31 - rank) for rank in range(32)))
    assert main(["trace", "remap", str(source), "--placement", str(order), "--out", str(nodes)]) == 0
    capsys.readouterr()
    answer = _json(capsys, "loggops", nodes)
    assert (answer["finish_ns"], answer["last_rank"]) == (TIMES["binary_tree_32.goal"], 0), "rank 31 is node 0 now"


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_print_their_arithmetic(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = {line["name"]: line for line in _json(capsys, "make", file)}
    assert all(line["how"] for line in lines.values())
    assert program_files.program(str(file)).info()["ranks"] in (8, 256, 1024)


def test_the_step_on_1024_accelerators_is_that_of_its_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    values = {line["name"]: line["value"] for line in _json(capsys, "make", EXAMPLES / "dense_70b.yaml")}
    # each rank sends M (t - 1) / t bytes in each of 8 collectives for each of 20 layers and 32 micro-batches, with M =
    # 2 * 8192 * 8192 bytes and t = 8 ranks
    assert values["tensor bytes"] == pytest.approx(8 * 20 * 32 * 2 * 8192 * 8192 * 7 / 8)
    # a token takes 449.2 GFLOP; 1,024 accelerators of 719 TFLOP/s compute 1,024 sequences of 8,192 tokens
    assert values["computation"] == pytest.approx(449.2e9 * 8192 / 719e12, rel=1e-3)
    info = program_files.program(str(EXAMPLES / "dense_70b.yaml")).info()
    assert info["ranks"] == 1024


def test_parameters_in_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "ring.yaml", tmp_path / "ring.goal"
    file.write_text(
        "program:\n  collective: {operation: all_reduce, ranks: 8, bytes: 8000B}\n"
        "collectives:\n  algorithms:\n    all_reduce: {ring: {}}\n"
    )
    # each of 14 rounds takes o = 1500, then L = 2500, then o + 999 * 6 to receive 1,000 bytes [ns]
    expected = 14 * (1500 + 2500 + 1500 + 999 * 6)
    assert _json(capsys, "loggops", file)["finish_ns"] == expected
    assert main(["trace", "make", str(file), "--out", str(out)]) == 0
    capsys.readouterr()
    assert _json(capsys, "loggops", out)["finish_ns"] == expected


def test_wrong_files_are_refused_with_place_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken, out = tmp_path / "broken.goal", tmp_path / "out.goal"
    broken.write_text((DATA / "llamp_blocking.goal").read_text()[:150])
    message = _refused(capsys, "info", broken)
    assert f"{broken}:14: expected a time" in message
    assert "the file is cut off" in message
    (tmp_path / "a.goal.xz").write_bytes((DATA / "sweep3d_2x2.goal.xz").read_bytes()[:500])
    assert "can't be unpacked" in _refused(capsys, "info", tmp_path / "a.goal.xz")
    assert "name a file with a program" in _refused(capsys, "info", tmp_path / "none.goal")
    assert "end the name with .goalbin or .vef or .goal" in _refused(
        capsys, "convert", DATA / "llamp_blocking.goal", "--out", tmp_path / "x.txt"
    )
    message = _refused(capsys, "remap", DATA / "binary_tree_32.goal", "--nodes", "4", "--out", out)
    assert "32 ranks need 32 nodes in this placement, but there are 4" in message
    assert "write a time such as 2500ns" in _refused(capsys, "loggops", DATA / "llamp_blocking.goal", "--L", "5cycles")
    assert not out.exists()


@pytest.mark.parametrize(("option", "negative"), [("--L", "-5ns"), ("--G", "-0.5ns"), ("--S", "-5")])
def test_a_negative_parameter_is_refused_with_a_value_that_works(
    option: str, negative: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = DATA / "llamp_blocking.goal"
    for words in ([option, negative], [f"{option}={negative}"]):
        message = _refused(capsys, "loggops", file, *words)
        assert f"{option}: {option[2:]} can't be negative, but is {negative}" in message
        found = re.search(r"write (\w+), or another value of 0 or more", message)
        assert found is not None
        assert main(["trace", "loggops", str(file), option, found[1]]) == 0


def test_a_program_that_can_not_finish_names_who_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "stuck.goal"
    file.write_text("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}\n")
    assert main(["trace", "loggops", str(file), "--json"]) == 4
    captured = capsys.readouterr()
    waits = {"rank": 1, "finished": 0, "of": 1, "receives": [{"operation": 0, "source": 0, "tag": 2}]}
    waits["messages"] = [{"source": 0, "tag": 1, "bytes": 8}]
    assert json.loads(captured.out) == {"stuck_ranks": 1, "waiting": [waits]}
    assert main(["trace", "loggops", str(file)]) == 4
    shown = capsys.readouterr().err
    assert shown.count("error: ") == 1
    assert main(["trace", "cut", str(file), "--to", "1us", "--out", str(tmp_path / "part.goal")]) == 4
    assert capsys.readouterr().err == shown
    assert "rank 1 has finished 0 of 1 operations; operation 0 waits for a message from 0 with tag 2" in shown
    assert "no receive takes 8 bytes from 0 with tag 1" in shown
    facts = _json(capsys, "info", file)
    assert [(each["tag"], each["sends"], each["receives"]) for each in facts["unmatched"]] == [(1, 1, 0), (2, 0, 1)]
    file.write_text(file.read_text().replace("tag 2", "tag 1"))
    assert _json(capsys, "loggops", file)["messages"] == 1, "the remedy works"


def test_parameters_that_do_not_fit_are_refused_at_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "step.yaml"
    text = (EXAMPLES / "dense_70b.yaml").read_text()
    for old, new, what in (
        ("ranks: 1024", "ranks: 1000", "tensor 8 x context 1 x data 32 x pipeline 4 = 1024 ranks, not 1000"),
        ("memory: 80GB", "memory: 8GB", "GB, but an accelerator has 8.00 GB"),
        ("memory: 80GB", "memory: 80", "80 is a bare number, but a size in bytes needs a unit"),
        ("tensor: 8", "tensr: 8", "tensr"),
    ):
        file.write_text(text.replace(old, new))
        message = _refused(capsys, "make", file)
        assert what in message, message
        assert str(file) in message


@pytest.mark.parametrize(("option", "value", "remedy"), [("--o", "0", "0ns"), ("--G", "5parsecs", "5ns")])
def test_a_refused_time_names_its_option_and_its_remedy_works(
    option: str, value: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = DATA / "binary_tree_32.goal"
    message = _refused(capsys, "loggops", file, option, value)
    assert message.startswith(f"error: {option}: ")
    assert "units: " in message
    assert main(["trace", "loggops", str(file), option, remedy]) == 0


def test_a_scenario_in_the_place_of_a_program_is_refused_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "program: {collective: {operation: all_reduce, ranks: 4, bytes: 1KiB}}"
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "name: ring\ntopology: {torus: {widths: [2, 2], terminals_per_router: 1}}\nrouting: dimension_order\n"
        f"traffic: {{packet: 4flits, workload: {{programs: {{{program}}}}}}}\n"
    )
    message = _refused(capsys, "info", scenario)
    assert "scenario.yaml is a scenario, not a program" in message
    # both remedies of the error work: `program` in a separate file, and `weft check`
    alone = tmp_path / "alone.yaml"
    alone.write_text(program + "\n")
    assert main(["trace", "info", str(alone)]) == 0
    assert main(["check", str(scenario)]) == 0
    assert "least run time of job all" in capsys.readouterr().out
