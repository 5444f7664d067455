"""The command `weft` in a copy of a process that has loaded everything: the libraries of a plot take a second to load.

`warm` starts that process and makes a folder with a program `weft`, which hands its arguments, its folder, its
environment and its files over to a copy (a fork) of the process, and ends with its exit status. If the program is
killed, so is the copy. What a command does and prints is the same; how it starts is tested elsewhere.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import weft
from weft import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

READY = "ready\n"
PROGRAM = """\
#!{python} -IS
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
        program, address = folder / "weft", str(folder / "socket")
        program.write_text(PROGRAM.format(python=sys.executable, address=address), encoding="utf-8")
        program.chmod(0o755)
        # a copy lacks the threads that a library has started
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "weft_docs.warm", address]
        docs = Path(__file__).parent.parent
        with subprocess.Popen(command, cwd=docs, env=environment, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout
                assert server.stdout.readline() == READY, "the process of the command has ended; its reason is above"
                yield folder
            finally:
                server.kill()


def serve(address: str) -> NoReturn:
    """Load everything, then make a copy for each program that connects."""
    for module in pkgutil.walk_packages(weft.__path__, "weft."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    print(READY, end="", flush=True)
    while True:
        program, _ = server.accept()
        if os.fork() == 0:
            server.close()
            _run(program)
        program.close()


def _run(program: socket.socket) -> NoReturn:
    """Be the command that the program stands for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, files, _, _ = socket.recv_fds(program, 8, 3)
    with program.makefile("rb") as told:
        arguments, folder, environment = json.loads(told.read(int.from_bytes(head, "little")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["weft", *arguments]
    threading.Thread(target=_end_with, args=(program,), daemon=True).start()
    status = 1
    try:
        status = cli.main(arguments)
    except SystemExit as exit_:
        status = exit_.code if isinstance(exit_.code, int) else int(bool(exit_.code))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        program.sendall(bytes([status]))
        os._exit(status)


def _end_with(program: socket.socket) -> None:
    """Die when the program does."""
    if program.recv(1) == b"":
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    serve(sys.argv[1])
