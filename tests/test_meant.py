"""Tests that a command, an option or a name that does not exist causes one error, which suggests a similar name."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from weft.cli import commands, main


def refused(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    try:
        status = main(shlex.split(line))
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    assert printed.err.count("error: ") == printed.err.count("= help: ") == 1
    return printed.err


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("rnu my.yaml", "run"),
        ("reprot results/my", "report"),
        ("saturate my.yaml", "saturation"),
        ("analyse orcale my.yaml", "oracle"),
        ("analyze bound", "analyse"),
        ("explain topolgy my.yaml", "topology"),
        ("run my.yaml --theads 3", "--threads"),
        ("run my.yaml --set a=b --no-pictures", "--no-picture"),
        ("saturation my.yaml --tolerence=0.1", "--tolerance"),
        ("plot load results/my --format pgn", "png"),
        ("import booksim file --uot x.yaml", "--out"),
        ("import boksim file", "booksim"),
        ("analyse bound --router 8 --terminal 9 --lood 0.1", "--load"),
        ("--verson", "--version"),
        ("list routin", "routing"),
        ("list routing ugal_o", "ugal_p"),
        ("plot lod results/my", "load"),
        ("export . --table chanels", "channels"),
        ("reproduce tcpe", "tcep"),
    ],
)
def test_the_word_that_was_meant_is_named(line: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"did you mean `{meant}`" in refused(line, capsys)


@pytest.mark.parametrize("line", ["xyzzy", "run my.yaml --zzz", "", "run", "run my.yaml --jobs x", "check a b", "-z"])
def test_where_nothing_is_alike_the_help_is_named_and_works(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(line, capsys)
    if line == "xyzzy":
        assert all(command in message for command in commands.names())
        return
    found = re.search(r"`(weft.*--help)`", message)
    assert found
    with pytest.raises(SystemExit, match="0"):
        main(shlex.split(found[1])[1:])


def test_every_misspelt_command_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands.names():
        assert f"`{command}`" in refused(f"{command[0]}{command[2]}{command[1]}{command[3:]} x", capsys)


def test_a_closed_output_is_no_traceback() -> None:
    code = "import sys; sys.stdout.close(); sys.stdout = None; import weft.cli; sys.exit(weft.cli.main(['list']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
