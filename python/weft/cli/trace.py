"""``weft trace`` describes and converts programs of messages, and computes their times on an ideal network."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, arguments
from weft.errors import ProgramError, StuckError
from weft.text.si import si

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from weft import _engine
    from weft.cli.arguments import Commands

# Default parameters of LogGOPSim; `_MEANINGS` describes them. S is the size of the largest eager message (one that is
# sent without waiting for its receiver).
_DEFAULTS = {"L": "2500ns", "o": "1500ns", "g": "1000ns", "G": "6ns", "O": "0ns", "S": "65535B"}
_MEANINGS = {
    "L": "latency of a message",
    "o": "processor time per message",
    "g": "interface time per message",
    "G": "interface time per byte",
    "O": "processor time per byte",
}


def add(commands: Commands) -> None:
    """Add the command."""
    parser = arguments.command(
        commands,
        "trace",
        "inspect, convert and time message programs (GOAL files, traces, AI steps, generated applications)",
        "weft trace loggops program.goal --json",
    )
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    _add_info(kinds)
    _add_make(kinds)
    _add_convert(kinds)
    _add_cut(kinds)
    _add_remap(kinds)
    _add_loggops(kinds)


def main(options: argparse.Namespace) -> int:
    """Run the chosen subcommand, print its result, and return the exit status."""
    answer: Callable[[argparse.Namespace], int] = options.answer
    return answer(options)


def _kind(
    kinds: Commands, name: str, help: str, example: str, answer: Callable[[argparse.Namespace], int], *, writes: bool
) -> argparse.ArgumentParser:
    parser = arguments.command(kinds, name, help, f"weft trace {name} {example}")
    what = (
        "program: GOAL as text or binary, or VEF (also .xz or .gz), parameters of a program (.yaml), or a trace: its "
        "folder, archive, .meta or .otf2 file"
    )
    parser.add_argument("file", metavar="FILE", help=what)
    clocks = "for traces: clock that times computations (default: processor, if the trace has it)"
    parser.add_argument("--clock", metavar="CLOCK", help=clocks)
    if writes:
        out = "file to write; .goal is text, .goalbin binary, .vef is VEF"
        parser.add_argument("--out", metavar="FILE", type=Path, required=True, help=out)
    parser.set_defaults(answer=answer)
    return parser


def _add_info(kinds: Commands) -> None:
    about = "operations, messages and bytes of a program, and the traffic between its ranks"
    parser = _kind(kinds, "info", about, "program.goal --matrix matrix.svg", _info, writes=False)
    parser.add_argument("--json", action="store_true", help="print JSON")
    matrix = "draw the bytes between each pair of ranks (.png, .pdf, .svg), with the numbers as CSV"
    parser.add_argument("--matrix", metavar="PICTURE", type=Path, help=matrix)


def _info(options: argparse.Namespace) -> int:
    from weft.programs import facts as words
    from weft.programs import program_files

    program = _read(options)
    facts = program.info() | {"assumptions": program.assumptions()}
    matrix = program.matrix() if facts["collectives"] or options.matrix is not None else []
    facts["collectives_as_messages"] = words.totals(matrix) if facts["collectives"] else None
    if options.matrix is not None:
        from weft.plot import communication, draw

        drawing = communication.picture(facts["ranks"], matrix, program_files.title(options.file))
        written = [draw.save(drawing, options.matrix), draw.save_numbers(drawing, options.matrix)]
    if options.json:
        print(json.dumps(facts, indent=1))
    else:
        print("\n".join(words.lines(facts)))
        if options.matrix is not None:
            print("\n".join(f"wrote {path}" for path in written))
    return DONE


def _add_make(kinds: Commands) -> None:
    about = "generate a program from parameters: AI training and inference steps, applications, collectives"
    parser = _kind(kinds, "make", about, "examples/programs/dense_70b.yaml", _make, writes=False)
    parser.add_argument("--json", action="store_true", help="print the arithmetic as JSON")
    out = "file for the program, with collectives as messages (default: only print the arithmetic)"
    parser.add_argument("--out", metavar="FILE", type=Path, help=out)


def _make(options: argparse.Namespace) -> int:
    from weft.programs import facts, program_files

    if Path(options.file).suffix not in program_files.PARAMETERS:
        what = f"{options.file} has no parameters for a program"
        remedy = "name a .yaml file with parameters; for a program, use `weft trace info` or `weft trace convert`"
        raise ProgramError.saying(what, remedy)
    program = _read(options)
    arithmetic = program.arithmetic()
    print(json.dumps(arithmetic, indent=1) if options.json else "\n".join(facts.arithmetic(arithmetic)))
    if options.out is not None:
        program_files.save(program, options.out)
        if not options.json:
            print(f"wrote {options.out}")
    return DONE


def _add_convert(kinds: Commands) -> None:
    _kind(
        kinds,
        "convert",
        "write a program in another format",
        "program.goal --out program.goalbin",
        _convert,
        writes=True,
    )


def _convert(options: argparse.Namespace) -> int:
    return _written(_read(options), options.out)


def _add_cut(kinds: Commands) -> None:
    about = (
        "cut out the operations of a program that start within a time window; start times are those of the LogGOPS "
        "model"
    )
    parser = _kind(kinds, "cut", about, "program.goal --from 0s --to 1s --out part.goal", _cut, writes=True)
    parser.add_argument("--from", metavar="TIME", dest="begin", default="0s", help="start of the window (default: 0s)")
    parser.add_argument("--to", metavar="TIME", dest="end", required=True, help="end of the window")
    _add_parameters(parser)


def _cut(options: argparse.Namespace) -> int:
    part, halves = _read(options).cut(_parameters(options), options.begin, options.end)
    if halves:
        print(f"{halves} sends or receives have their other end outside of the window: now computations of 0 ns")
    return _written(part, options.out)


def _add_remap(kinds: Commands) -> None:
    about = "map the ranks of a program to nodes, several per node or in another order, or copy the program"
    parser = _kind(kinds, "remap", about, "program.goal --per-node 4 --out nodes.goal", _remap, writes=True)
    number = arguments.positive
    parser.add_argument(
        "--nodes", metavar="N", type=number, help="number of nodes (default: as many as the ranks need)"
    )
    parser.add_argument("--per-node", metavar="K", type=number, default=1, help="ranks per node (default: 1)")
    how = parser.add_mutually_exclusive_group()
    random = "place the ranks in a random order, with this seed"
    how.add_argument("--random", metavar="SEED", type=arguments.seed, help=random)
    given = "file with the node of each rank, in the order of the ranks, separated by blanks or line ends"
    how.add_argument("--placement", metavar="FILE", type=Path, help=given)
    copies = "number of copies of the program, which run at the same time (default: 1)"
    parser.add_argument("--tile", metavar="COPIES", type=number, default=1, help=copies)


def _remap(options: argparse.Namespace) -> int:
    from weft.programs import program_files

    program = _read(options)
    given = None if options.placement is None else program_files.placement(options.placement)
    if options.tile > 1:
        program = program.tiled(options.tile)
    return _written(program.placed(options.nodes, options.per_node, options.random, given), options.out)


def _add_loggops(kinds: Commands) -> None:
    about = "run time of a program on an ideal network, by the LogGOPS model; no network is simulated"
    parser = _kind(kinds, "loggops", about, "program.goal --L 2500ns --o 1500ns --json", _loggops, writes=False)
    _add_parameters(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _loggops(options: argparse.Namespace) -> int:
    program, parameters = _read(options), _parameters(options)
    try:
        answer = program.loggops(parameters)
    except StuckError as problem:
        if options.json:
            print(json.dumps(problem.stuck, indent=1))
        raise
    if options.json:
        print(json.dumps(answer, indent=1))
        return DONE
    last = si(answer["finish_ns"] * 1e-9, "s", 6)
    print(f"finishes after {last} ({answer['finish_ns']} ns), rank {answer['last_rank']} last")
    sent = f"{answer['messages']} messages of {si(answer['bytes'], 'B')}, {answer['rendezvous']} by rendezvous"
    print(f"{answer['operations']} operations, {sent}")
    print("with " + ", ".join(f"{name} = {getattr(options, name)}" for name in _DEFAULTS))
    if answer["cross_cpu"]:
        print(
            f"warning: {answer['cross_cpu']} operations depend on an operation of another processor, but began before "
            "its end, as in LogGOPSim\n  = help: put dependent operations on the same processor (`cpu`)"
        )
    return DONE


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the options for the parameters of LogGOPS."""
    for name, meaning in _MEANINGS.items():
        default = _DEFAULTS[name]
        parser.add_argument(f"--{name}", metavar="TIME", default=default, help=f"{meaning} (default: {default})")
    eager = f"largest message that is sent before its receive is known (default: {_DEFAULTS['S']})"
    parser.add_argument("--S", metavar="BYTES", type=_size, default=_DEFAULTS["S"], help=eager)


def _size(text: str) -> str:
    """Return a size with its unit. A number without a unit means bytes, as in LogGOPSim's option of the same name."""
    return f"{text}B" if text.isascii() and text.isdecimal() else text


# A program without messages. Weft tests each parameter separately with this program, so that an error about a parameter
# can name the option of this parameter.
_EMPTY = b"num_ranks 1\nrank 0 {\n}\n"


def _parameters(options: argparse.Namespace) -> str:
    from weft import _engine

    given: dict[str, Any] = {name: getattr(options, name) for name in _DEFAULTS}
    empty = _engine.read_program("empty.goal", _EMPTY)
    for name, value in given.items():
        if value.startswith("-"):
            what = f"{name} can't be negative, but is {value}"
            raise ProgramError.saying(what, f"write {_DEFAULTS[name]}, or another value of 0 or more", f"--{name}")
        try:
            empty.loggops(json.dumps(_DEFAULTS | {name: value}))
        except ProgramError as problem:
            raise ProgramError.saying(problem.what, problem.help, f"--{name}") from problem
    return json.dumps(given)


def _read(options: argparse.Namespace) -> _engine.Program:
    """Read the program, and print the assumptions that were made to convert a trace."""
    from weft import _engine
    from weft.programs import program_files

    clocks = _engine.trace_clocks()
    if options.clock not in (None, *clocks):
        raise ProgramError.saying(f"--clock: {options.clock!r} is not a clock", f"write {' or '.join(clocks)}")
    program = program_files.program(options.file, options.clock)
    for note in program.assumptions():
        print(f"assumed: {note['count']} {note['what']}", file=sys.stderr)
    if short := program.short_receives():
        print(f"warning: {options.file}: {short[0]}\n  = help: {short[1]}", file=sys.stderr)
    return program


def _written(program: Any, out: Path) -> int:
    from weft.programs import program_files

    program_files.save(program, out)
    print(f"wrote {out}")
    return DONE
