"""The command `weft` in a copy of a process that has loaded everything: the libraries of a plot take a second to load.

`warm` starts that process and makes a folder with a program `weft`, which hands its arguments, its folder, its
environment and its files over to a copy (a fork) of the process, and ends with its exit status. If the program is
killed, so is the copy. A command does and prints the same; tests of its start are elsewhere.
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
# The name of the interpreter may be longer than a first line can be, or have spaces.
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
    """The folder of the program, for the search path."""
    with tempfile.TemporaryDirectory(prefix="weft-warm-") as name:
        folder = Path(name)
        program, start, address = folder / "weft.py", folder / "weft", str(folder / "socket")
        program.write_text(PROGRAM.format(address=address), encoding="utf-8")
        names = {"python": shlex.quote(sys.executable), "program": shlex.quote(str(program))}
        start.write_text(START.format(**names), encoding="utf-8")
        start.chmod(0o755)
        # a copy lacks the threads that a library has started
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
    """Load everything, then make a copy for each program that connects."""
    for package in (weft, weft_papers, weft_peers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    print(READY, end="", flush=True)
    # its input ends with the process that has started it
    copies: set[int] = set()
    while server in select.select([server, sys.stdin], [], [])[0]:
        program, _ = server.accept()
        # CPU time of a copy counts as that of this process once the copy has been waited for
        copies -= {copy for copy in copies if os.waitpid(copy, os.WNOHANG)[0]}
        if (copy := os.fork()) == 0:
            server.close()
            _run(program)
        copies.add(copy)
        program.close()
    sys.exit()


def _run(program: socket.socket) -> NoReturn:
    """Run the command of the program."""
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
    """The exit status of the command; prints what the interpreter would print of an exception."""
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
    """Die when the program does."""
    if program.recv(1) == b"":
        os.kill(os.getpid(), signal.SIGKILL)
