"""Tests the reader of BookSim2 configurations: grammar, types of values, places that errors name, and random text."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from weft.errors import PeerError, WeftError
from weft_peers.booksim import forks
from weft_peers.booksim.config import Config, read
from weft_peers.booksim.convert import convert
from weft_peers.booksim.grammar import call, leading_float, leading_int, parse, parse_override, tokenize
from weft_peers.booksim.keys import FLOATS, IDLE, INTS, KEYS, TEXTS

PEER = Path(__file__).parent / "data" / "booksim"


def test_the_grammar_takes_what_the_lexer_of_booksim_takes() -> None:
    text = (
        "k=8;// comment = 1;\n\tn\n=\n2 ; internal_speedup = 1e0; burst_r1=-.5;traffic=tornado({8,2,1});\nwatch_out=-;"
    )
    found = {one.key: (one.value, one.kind, one.place) for one in parse(text, "f")}
    assert found == {
        "k": (8, "int", "f:1"),
        "n": (2, "int", "f:2"),
        "internal_speedup": (1.0, "float", "f:4"),
        "burst_r1": (-0.5, "float", "f:4"),
        "traffic": ("tornado({8,2,1})", "text", "f:4"),
        "watch_out": ("-", "text", "f:5"),
    }


def test_the_longest_match_wins() -> None:
    """A word can contain slashes. Therefore a comment directly after a word, without a space, is a part of the word."""
    assert parse("traffic = uniform//x\n;", "f")[0].value == "uniform//x"
    assert parse("k = 8//x\n;", "f")[0].value == 8


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "f", "the file has no `key = value;`"),
        ("// nothing\n", "f", "the file has no `key = value;`"),
        ("k = 8\nn = 2;", "f:2", "found `n` instead of `;`"),
        ("k = 8;\n\nn 2;", "f:3", "found `2` instead of `=`"),
        ("k = 8;\nn = ;", "f:2", "found `;` instead of a value"),
        ("= 8;", "f:1", "found `=` instead of a key"),
        ("traffic = {uniform, bitcomp};", "f:1", "found `{` instead of a value"),
        ("k = 8", "f:1", "the file ends after `8`, but `;` must follow"),
        ("k = 8; /* c */", "f:1", "found `*` instead of `=`"),
        ("injection_rate = 1.;", "f:1", "found `.` instead of `;`"),
        ("k = 3000000000;", "f:1", "does not fit into 32 bits"),
        ("injection_rate = 1e999;", "f:1", "too large for a number"),
    ],
)
def test_what_is_no_assignment_is_named_with_its_line(text: str, place: str, words: str) -> None:
    with pytest.raises(PeerError) as refused:
        parse(text, "f")
    assert refused.value.path == place
    assert words in refused.value.what
    assert refused.value.help


def test_lists_and_calls_come_apart_as_in_booksim() -> None:
    assert tokenize("{1,{2,3},x({4,5})}") == ["1", "{2,3}", "x({4,5})"]
    assert tokenize("{{1,2},{3}}") == ["{1,2}", "{3}"]
    assert call("hotspot({{1,2},{3,4}})") == ("hotspot", ["{1,2}", "{3,4}"])
    assert call("tornado(8,3,1)") == ("tornado", ["8,3,1"]), "without braces it is one argument"
    assert call("uniform") == ("uniform", [])
    assert (leading_int("8,3,1"), leading_int("x"), leading_int("-4)")) == (8, 0, -4)
    assert (leading_float("0.25}"), leading_float(".5"), leading_float("none")) == (0.25, 0.5, 0.0)


def test_defaults_stand_under_what_is_given_and_texts_replace_numbers() -> None:
    config = Config([parse_override(word) for word in ("k=4", "packet_size={1,5}", "packet_size=9", "k=6")])
    assert (config.whole("k"), config.whole("n"), config.real("injection_rate")) == (6, 2, 0.1)
    assert config.text("packet_size") == "{1,5}"
    assert config.wholes("packet_size", 3) == [1, 5, 5], "the last of a list stands for those after it"
    assert config.wholes("use_read_write", 2) == [0, 0]
    assert config.given == ["k", "packet_size"]
    assert config.origin("k") == "k = 6 (command line)"
    assert config.origin("n") == "n = 2 (default)"


@pytest.mark.parametrize(
    ("setting", "words", "help"),
    [
        ("num_vc=4", "BookSim2 has no key num_vc", "did you mean num_vcs?"),
        ("limit=64", "BookSim2 has no key limit", "remove it"),
        ("internal_speedup=2", "internal_speedup takes a number with a decimal point", "write internal_speedup = 2.0;"),
        ("k=8.0", "k takes a whole number", "write k = 8;"),
        ("k=eight", "k takes a whole number", "write k = 8;"),
        ("traffic=3", "traffic takes a word or a list", "write traffic = uniform;"),
    ],
)
def test_keys_and_types_are_checked(tmp_path: Path, setting: str, words: str, help: str) -> None:
    file = tmp_path / "config"
    file.write_text("n = 2;\n" + setting.replace("=", " = ") + ";\n", encoding="utf-8")
    with pytest.raises(PeerError) as refused:
        read([str(file)])
    assert refused.value.path == f"{file}:2"
    assert words in refused.value.what
    assert help in refused.value.help
    with pytest.raises(PeerError) as refused:
        read([setting])
    assert refused.value.path == setting


def whole_error(text: str, tmp_path: Path) -> PeerError:
    file = tmp_path / "config"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PeerError) as refused:
        read([str(file)])
    return refused.value


def test_all_unknown_keys_and_types_are_reported_at_once(tmp_path: Path) -> None:
    error = whole_error("k = 8;\nlimit = 3;\nn = 2;\nnum_vc = 4; smart_type = x;\nc = {2,2}; limit = 5;", tmp_path)
    assert error.path == f"{tmp_path / 'config'}:2"
    assert "none of the 3 keys limit (line 2), num_vc (line 4), smart_type (line 4)" in error.what
    assert "c takes a whole number, but {2,2} is a list, which only forks of BookSim2 accept" in error.what
    assert "did you mean num_vcs for num_vc?" in error.help
    assert "remove the others" in error.help


@pytest.mark.parametrize(
    "key",
    ["start_vc", "end_vc", "dim_latency", "trace_file", "smart_type", "num_vns", "injection_queue_size", "input_delay"],
)
def test_a_key_with_another_meaning_is_no_suggestion(tmp_path: Path, key: str) -> None:
    """Some keys of forks are similar to keys of BookSim2.

    If the error suggested BookSim2's similar key, the user would change the network by mistake.
    """
    assert "did you mean" not in whole_error(f"{key} = 4;", tmp_path).help


@pytest.mark.parametrize("key", sorted(forks.IDLE))
def test_keys_of_simulators_around_booksim_are_named_as_such(key: str, tmp_path: Path) -> None:
    file = tmp_path / "mesh"
    text = f"topology = mesh;\nk = 4;\nrouting_function = dor;\n{key} = 40;\n"
    file.write_text(text, encoding="utf-8")
    notes = {note.key: note for note in convert([str(file)], "mesh").notes}
    assert notes[f"{key} = 40"].kind == "no effect"
    assert "a key of GPGPU-Sim" in notes[f"{key} = 40"].text


SECTIONS = """# a mesh
[config]
; remark
use_map = 0
topology = mesh
k = 4
routing_function = dor

internal_speedup = 2.0
traffic = tornado({4,2,1})
"""


def test_files_with_sections_have_one_key_in_a_line() -> None:
    found = {one.key: (one.value, one.place) for one in parse(SECTIONS, "f")}
    assert found["use_map"] == (0, "f:4")
    assert found["internal_speedup"] == (2.0, "f:9")
    assert found["traffic"] == ("tornado({4,2,1})", "f:10")
    assert list(found) == ["use_map", "topology", "k", "routing_function", "internal_speedup", "traffic"]


@pytest.mark.parametrize("line", ["k = 8;", "k 8", "k =", "= 8", "k = 8 9"])
def test_a_line_of_a_section_that_is_none_is_named(line: str) -> None:
    with pytest.raises(PeerError, match="is not `key = value`") as refused:
        parse(f"[config]\n{line}\n", "f")
    assert refused.value.path == "f:2"


def test_files_and_settings_count_in_their_order(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("k = 4; n = 1;", encoding="utf-8")
    second.write_text("k = 6; // caf\u00e9\n", encoding="latin-1")
    config = read([str(first), "n=3", str(second)])
    assert (config.whole("k"), config.whole("n")) == (6, 3)
    assert not config.replaced, "what replaces a setting of another file is meant to"


def test_a_key_that_stands_twice_in_a_file_is_reported() -> None:
    config = Config(parse("k = 4;\nk = 8;", "f"))
    assert [(one.value, one.place) for one in config.replaced] == [(4, "f:1")]


def test_a_missing_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="can't be read") as refused:
        read([str(tmp_path / "none")])
    assert refused.value.path == str(tmp_path / "none")


def test_the_tables_of_keys_fit_each_other() -> None:
    assert IDLE.keys() <= KEYS
    assert not INTS.keys() & FLOATS.keys()
    for key in (INTS.keys() | FLOATS.keys()) & TEXTS.keys():
        assert TEXTS[key] == "", "a text that replaces a number has no default"


def test_any_bytes_give_a_configuration_or_an_error(tmp_path: Path) -> None:
    rng = random.Random(4)
    signs = "k=8;\n ={},().-+/*ab_0129e\t\r\"'\\\0\x80\xff"
    file = tmp_path / "config"
    for _ in range(300):
        text = "".join(rng.choice(signs) for _ in range(rng.randrange(40)))
        file.write_bytes(text.encode("latin-1"))
        with suppress(PeerError):
            read([str(file)])


def test_any_change_of_a_configuration_gives_a_scenario_or_an_error(tmp_path: Path) -> None:
    """With random settings and random bytes in files, an import either succeeds or raises a WeftError."""
    rng = random.Random(5)
    base = (PEER / "single.cfg").read_bytes()
    texts = (
        "uniform",
        "time",
        "{1,2}",
        "{}",
        "islip(0)",
        "hotspot({{1,2},{3,4}})",
        "on_off({0.5})",
        "tornado",
        "min",
        "-",
    )
    file = tmp_path / "config"
    errors: list[WeftError] = []
    for _ in range(250):
        changed = bytearray(base)
        for _ in range(rng.randrange(2)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        file.write_bytes(changed)
        keys = rng.sample(sorted(KEYS - {"network_file"}), rng.randrange(4))
        words = [f"{key}={_value(key, rng, texts)}" for key in keys]
        try:
            convert([str(file), *words, "topology=fly"], "fuzz")
        except WeftError as error:
            errors.append(error)
    assert 20 < len(errors) < 230, "both outcomes are tried"
    assert all(error.help for error in errors)


def _value(key: str, rng: random.Random, texts: tuple[str, ...]) -> str:
    if key in TEXTS and rng.random() < 0.5:
        return rng.choice(texts)
    if key in FLOATS:
        return rng.choice(["0.0", "0.5", "1.0", "2.0", "-1.0", "1e300", "1e-300"])
    return rng.choice(["-2147483648", "-1", "0", "1", "2", "9", "2147483647"])


def test_the_import_stands_without_the_validation() -> None:
    """``weft import`` works without the code of ``weft validate``; they share `weft_peers.expressible`.

    `weft validate` also uses the import's mapping of models, but the import uses no code of the validation.
    """
    for source in (Path(forks.__file__).parent).glob("*.py"):
        assert "weft_peers.validate" not in source.read_text(encoding="utf-8"), source.name
