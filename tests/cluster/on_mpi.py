"""Tests that a sweep on mpi4py's executor gives the results of a local run (``make test-mpi``)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mpi4py.futures import MPIPoolExecutor

import weft
from conftest import SMALL
from test_slurm import check_same

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, MPIPoolExecutor() as executor:
        (scenario := Path(folder) / "small.yaml").write_text(SMALL, encoding="utf-8")
        results = weft.load(scenario).run(Path(folder) / "mpi", executor=executor)
        check_same(results, weft.load(scenario).run(Path(folder) / "reference"))
        print(f"{len(results)} points on {executor.num_workers} MPI processes: the same as a local run")
