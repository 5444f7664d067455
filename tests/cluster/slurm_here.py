"""Starts a real Slurm on this machine, in a temporary folder.

This Slurm has one partition with two nodes, which are both this machine. It needs root, and the programs of Debian's
packages slurm-wlm and munge. It writes no files outside the folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "squeue", "scancel", "scontrol")
NODES = ("n1", "n2")
# Cores of each node in Slurm's configuration: two jobs run at the same time on each node, however many cores this
# machine has.
_CORES = 2
_CONFIGURATION = """\
ClusterName=weft
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
SwitchType=switch/none
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=15
SlurmctldTimeout=15
KillWait=5
InactiveLimit=0
MinJobAge=300
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool-%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""
_NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cores} RealMemory=8000 State=UNKNOWN\n"
)


class SlurmHere:
    """A context manager that runs the daemons of Slurm until the context ends.

    Parameters
    ----------
    folder : Path
        An empty folder for all files of Slurm.

    Attributes
    ----------
    environment : dict
        Environment variables with which Slurm's commands use these daemons.
    """

    def __init__(self, folder: Path) -> None:
        if os.geteuid() or any(shutil.which(name) is None for name in PROGRAMS):
            raise SystemExit("a real Slurm needs root, and: apt-get install --no-install-recommends slurm-wlm munge")
        self.folder = folder
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        self.folder.chmod(0o755)
        (self.folder / "state").mkdir()
        for node in NODES:
            (self.folder / f"spool-{node}").mkdir()
        host = socket.gethostname()
        text = _CONFIGURATION.format(folder=self.folder, host=host, port=_free_port())
        text += "".join(_NODE.format(name=node, host=host, port=_free_port(), cores=_CORES) for node in NODES)
        (self.folder / "slurm.conf").write_text(text)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        names = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self._start("munged", "--foreground", "--force", *(f"--{k}={self.folder}/munge.{v}" for k, v in names.items()))
        self.start("slurmctld")
        for node in NODES:
            self.start(node)
        self.wait_until_idle()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(subprocess.CalledProcessError, subprocess.TimeoutExpired):
            self.ask("scancel", "--user=root")
            time.sleep(1)
        for name in reversed(self._running):
            self.kill(name, signal.SIGTERM)

    def start(self, name: str) -> None:
        """Start the controller, or the daemon of a node, unless it already runs."""
        if name in self._running and self._running[name].poll() is None:
            return
        self._start(name, *(["-D"] if name == "slurmctld" else ["-D", "-N", name]))

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to a daemon, and wait for its end."""
        process = self._running[name]
        process.send_signal(how)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def ask(self, *command: str) -> str:
        """Run a command of Slurm, and return its output."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    def wait_until_idle(self) -> None:
        """Wait until both nodes accept jobs.

        If a killed controller restarts and sends a job to a node a second time, Slurm takes the node out of service.
        This method then returns the node to service, as an administrator would do.
        """
        until, states = time.monotonic() + 60, dict[str, str]()
        while True:
            with suppress(subprocess.CalledProcessError):
                lines = self.ask("sinfo", "--Node", "--noheader", "--format=%N %t").splitlines()
                states = dict(line.split() for line in lines)
                if len(states) == len(NODES) and set(states.values()) <= {"idle", "mix", "alloc", "comp"}:
                    return
                for node, state in states.items():
                    if state.startswith(("down", "dr")):  # the state is "drained" or "draining"
                        self.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
            assert time.monotonic() < until, f"Slurm does not take jobs, {states}: see {self.folder}"
            time.sleep(0.2)

    def _start(self, name: str, *words: str) -> None:
        program = "slurmd" if name in NODES else name
        with (self.folder / f"{name}.out").open("ab") as out:
            self._running[name] = subprocess.Popen(
                [program, *words], env=self.environment, stdout=out, stderr=out, start_new_session=True
            )


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port
