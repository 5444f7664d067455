"""Reads and writes the files of programs of messages (ranks that compute, send and receive)."""

from __future__ import annotations

import re
from pathlib import Path

from weft import _engine
from weft.errors import ProgramError, ScenarioError
from weft.programs import otf2_archive, traces
from weft.results.store import replaced

# Endings of files with the parameters from which Weft generates a program.
PARAMETERS = (".yaml", ".yml")


def program(file: str, clock: str | None = None) -> _engine.Program:
    """Read a program.

    Parameters
    ----------
    file : str
        Path of the program. The file can be GOAL as text or in binary form, possibly compressed by xz or gzip, or YAML
        with the parameters of a program. The path can also be that of a trace: its folder, a tar archive, its ``.meta``
        or ``.otf2`` file, or the file of one of its ranks.
    clock : str, optional
        Clock by which the computations of a trace are timed: one of `_engine.trace_clocks`.

    Returns
    -------
    Program
        The program.

    Raises
    ------
    ProgramError
        If the file cannot be read. The error names the place and the remedy.
    ScenarioError
        If parameters in YAML are wrong.
    """
    if Path(file).suffix in PARAMETERS:
        _without_clock(file, clock)
        return _made(file, _engine.read(file))
    try:
        trace, content = _found(Path(file), clock)
    except OSError as problem:
        what = f"{file} can't be read: {problem.strerror or problem}"
        raise ProgramError.saying(what, "name a file with a program, such as program.goal") from problem
    if trace is not None:
        return trace.read(clock)
    _without_clock(file, clock)
    return _engine.read_program(file, content)


def _made(file: str, text: str) -> _engine.Program:
    """Generates the program from parameters in YAML.

    If the file is a scenario instead, the error names this mistake.
    """
    try:
        return _engine.make_program(file, text)
    except ScenarioError as problem:
        if not re.search(r"^topology *:", text, re.MULTILINE):
            raise
        what = f"{file} is a scenario, not a program"
        remedy = (
            "copy `program` and `collectives` of its workload into a separate file; for the least run time of the "
            "programs of a scenario, use `weft check`"
        )
        raise ScenarioError.saying(what, remedy) from problem


def attached(name: str, content: bytes) -> _engine.Program:
    """Read a program from the content of a file that a scenario names.

    Parameters
    ----------
    name : str
        Name of the file, for messages. The ending of the name determines the format.
    content : bytes
        GOAL as text or in binary form, possibly compressed, or parameters of a program in YAML.

    Raises
    ------
    ProgramError
        If the content is not a program. The error names the place and the remedy.
    """
    if Path(name).suffix in PARAMETERS:
        return _engine.make_program(name, content.decode(errors="surrogateescape"))
    return _engine.read_program(name, traces.unpacked(name, content))


def _without_clock(file: str, clock: str | None) -> None:
    if clock is not None:
        raise ProgramError.saying(f"{file} is not a trace, and has no clocks", "remove --clock")


def _found(path: Path, clock: str | None) -> tuple[traces.Trace | None, bytes]:
    """The trace at a path; or, if the file is no trace, ``None`` and the unpacked content of the file."""
    archive = otf2_archive.found(path, clock)
    if archive is not None:
        return archive, b""
    if path.is_dir():
        trace = traces.of_folder(path)
        if trace is None:
            known = ", ".join([*_engine.trace_formats(), otf2_archive.NAME])
            what = f"{path} has no files of a trace ({known})"
            raise ProgramError.saying(what, "name a folder with a trace, or a file with a program")
        return trace, b""
    trace = traces.of_archive(path) or otf2_archive.in_tar(path, clock)
    if trace is not None:
        return trace, b""
    content = traces.unpacked(str(path), path.read_bytes())
    return traces.beside(path, content), content


def save(program: _engine.Program, path: Path) -> None:
    """Write a program to a file; the ending of `path` selects the format.

    Raises
    ------
    ProgramError
        If no format has this ending.
    WriteError
        If the file can't be written.
    """
    form = path.suffix[1:]
    known = _engine.program_formats()
    if form not in known:
        endings = " or ".join(f".{each}" for each in known)
        raise ProgramError.saying(f"{path}: no format of programs has this ending", f"end the name with {endings}")
    content = program.written(form)
    with replaced(path) as partial:
        partial.write_bytes(content)


def placement(path: Path) -> list[int]:
    """Reads the node on which each rank runs from a file with one number per rank.

    Raises
    ------
    ProgramError
        If the file can't be read, or has a word that is not a number.
    """
    try:
        words = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeError) as problem:
        why = (problem.strerror if isinstance(problem, OSError) else "") or "it is not text"
        raise ProgramError.saying(f"{path} can't be read: {why}", "name a file with a node for each rank") from problem
    for place, word in enumerate(words):
        if not word.isdecimal() or int(word) >= (1 << 32) - 1:
            what = f"word {place + 1}, {word!r}, is not a node"
            raise ProgramError.saying(what, "write whole numbers from 0, one for each rank", str(path))
    return [int(word) for word in words]


def title(file: str) -> str:
    """The title of a figure of a program: the name of the file of the program."""
    return Path(file).name
