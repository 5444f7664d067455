"""Writes synthetic exports of Nsight Systems, as if from a run under NCCL on 2 hosts with one GPU each.

They are synthetic, because we had no GPU. The tables, columns and texts are those that the generator of ATLAHS reads
(``spcl/atlahs`` 8837294, ``goal_gen/ai/nccl_goal_generator``). One GPU sends 1 MiB to the other, then both GPUs reduce
1 MiB over a ring. In total 1 + 2 MiB cross the network. These commands converted the exports to ``nccl_2gpus.goal``::

    python nccl_exports.py exports
    python get_traced_events.py -i exports -o goal --unique-nic --merge-non-overlap -l ... -s ...

The files of ``-l`` and ``-s`` were those of the folder ``npkit_benchmark_results/clariden``.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

MIB = 1 << 20
FLOATS = MIB // 4
TABLES = """
create table NVTX_EVENTS(text TEXT, start INTEGER, end INTEGER);
create table PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);
create table StringIds(id INTEGER, value TEXT);
create table CUPTI_ACTIVITY_KIND_KERNEL(
    start INTEGER, end INTEGER, streamId INTEGER, globalPid INTEGER, demangledName INTEGER);
insert into StringIds values(1, 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)');
insert into StringIds values(2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)');
"""


def export(folder: Path, rank: int) -> None:
    """Write the synthetic export of Nsight Systems for one rank.

    Parameters
    ----------
    folder : Path
        Folder of the file.
    rank : int
        0 sends, 1 receives.
    """
    pid, other, now = 1000 + rank, 1 - rank, 0
    file = sqlite3.connect(folder / f"nsys_report_host{rank}.{pid}.sqlite")
    file.executescript(TABLES)
    file.execute("insert into PROCESSES values(?, ?, 'python')", (pid << 24, pid))
    on = "commHash 0xabc, stream 0x5"
    call = "ncclSend(): {}, data_size {}, type_size 1, receiver_rank 1, pid {}"
    call = call if rank == 0 else "ncclRecv(): {}, data_size {}, type_size 1, sender_rank 0, pid {}"
    child, parent = (1, -1) if rank == 0 else (-1, 0)
    channels = "1 coll channels, 0 nvls channels, 1 p2p channels, 1 p2p channels per peer"
    sizes = f"data_size {FLOATS} type_size 4 chunkSize 524288 chunkCount 131072"
    message = (
        f"Bytes {MIB} nWarps 8 p2pType {rank + 1} peer {other} proto 2 countHi32 0 countLo32 {MIB} chunkSize 131072"
    )
    ring = f"collType 4 root 0 redOp 0 algo 1 proto 2 commHash 0xabc stream 0x5 {sizes}"
    part = f"nWarps 8 count {FLOATS} chunkCount 131072 workCount {FLOATS} lastChunkCount 131072 workOffset 0"
    for text, kernel in [
        (f"commHash 0xabc commId 0x77 rank {rank} nranks 2 pid {pid}", 0),
        (f"commHash 0xabc Rings [0] {other}->{rank}->{other} pid {pid}", 0),
        (f"commHash 0xabc Trees [0] {child}/-1/-1->{rank}->{parent} pid {pid}", 0),
        (f"commHash 0xabc {channels}, pid {pid}", 0),
        (f"nsys profiling start, pid: {pid}", 0),
        (call.format(on, MIB, pid), 0),
        (f"{message} pid {pid}", 0),
        (f"ncclLaunchKernel(): pid {pid}", 1),
        (f"ncclAllReduce(): {on}, data_size {FLOATS}, type_size 4, red_op 0, pid {pid}", 0),
        (f"{ring} chunkSteps 4 sliceSteps 2 stepSize 131072 pid {pid}", 0),
        (f"{part} sendbuff 1 recvbuff 2 pid {pid}", 0),
        (f"ncclLaunchKernel(): pid {pid}", 2),
        (f"nsys profiling stopped, pid: {pid}", 0),
    ]:
        file.execute("insert into NVTX_EVENTS values(?, ?, ?)", (text, now, now + 1000))
        now += 2000
        if kernel:
            row = (now, now + 50000, 7, pid << 24, kernel)
            file.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?, ?, ?, ?, ?)", row)
            now += 60000
    file.commit()


if __name__ == "__main__":
    to = Path(sys.argv[1])
    to.mkdir()
    for host in range(2):
        export(to, host)
