"""Fast start of `weft` during the build: a command runs in a copy of a process that has loaded all libraries.

The libraries of a plot take a second to load. `warm` starts a process that loads them once. `warm` also makes a folder
with a program `weft`. The program `weft` passes its arguments, folder, environment and files to a copy (a fork) of the
process, and ends with the exit status of the copy. If the program is killed, the copy ends. A command does and prints
the same as without `warm`. Tests elsewhere check the start of the command.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import weft
import weft_papers
import weft_peers
from weft import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

READY = "ready\n"
# A script for the shell, because the path of the interpreter can be too long for a first line, or have spaces.
START = """\
#!/bin/sh
exec {python} -IS {program} "$@"
"""
PROGRAM = """\
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(told).to_bytes(8, "little")], [0, 1, 2])
server.sendall(told)
status = server.recv(1)
sys.exit(status[0] if status else 1)
"""


@contextmanager
def warm() -> Iterator[Path]:
    """Start the process and yield the folder of the program `weft`, for the search path."""
    with tempfile.TemporaryDirectory(prefix="weft-warm-") as name:
        folder = Path(name)
        program, start, address = folder / "weft.py", folder / "weft", str(folder / "socket")
        program.write_text(PROGRAM.format(address=address), encoding="utf-8")
        names = {"python": shlex.quote(sys.executable), "program": shlex.quote(str(program))}
        start.write_text(START.format(**names), encoding="utf-8")
        start.chmod(0o755)
        # A copy lacks the threads that a library has started, so OpenBLAS must not start any.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        serving = "import sys; from weft_docs.warm import serve; serve(sys.argv[1])"
        command = [sys.executable, "-c", serving, address]
        docs = Path(__file__).parent.parent
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=docs, env=environment, stdin=pipe, stdout=pipe, text=True) as server:
            try:
                assert server.stdout
                assert server.stdout.readline() == READY, "the process of the command has ended; its reason is above"
                yield folder
            finally:
                server.kill()


def serve(address: str) -> NoReturn:
    """Load all modules of Weft, then make a copy of this process for each program that connects."""
    for package in (weft, weft_papers, weft_peers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    print(READY, end="", flush=True)
    # The input of this process ends when the process that started it ends.
    copies: set[int] = set()
    while server in select.select([server, sys.stdin], [], [])[0]:
        program, _ = server.accept()
        # The CPU time of a copy counts for this process only after a wait for the copy.
        copies -= {copy for copy in copies if os.waitpid(copy, os.WNOHANG)[0]}
        if (copy := os.fork()) == 0:
            server.close()
            _run(program)
        copies.add(copy)
        program.close()
    sys.exit()


def _run(program: socket.socket) -> NoReturn:
    """Run, in a copy of the process, the command that a program sends."""
    head, files, _, _ = socket.recv_fds(program, 8, 3)
    with program.makefile("rb") as shown:
        arguments, folder, environment = json.loads(shown.read(int.from_bytes(head, "little")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["weft", *arguments]
    threading.Thread(target=_end_with, args=(program,), daemon=True).start()
    status = _status(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    program.sendall(bytes([status]))
    os._exit(status)


def _status(arguments: list[str]) -> int:
    """Run the command and return its exit status. Prints an exception as the interpreter would."""
    try:
        return cli.main(arguments) & 255
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 255
        print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    return 1


def _end_with(program: socket.socket) -> None:
    """Kill this process when the program ends."""
    if program.recv(1) == b"":
        os.kill(os.getpid(), signal.SIGKILL)
