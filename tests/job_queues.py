"""Makes synthetic job queues in the Standard Workload Format, with random sizes, run times and estimated run times."""

from __future__ import annotations

import random

# By number of an executable in the file: the lognormal distribution of the run times of its jobs, as median [s] and
# standard deviation of the logarithm.
EXECUTABLES = {1: (240.0, 0.9), 2: (900.0, 0.7), 3: (60.0, 0.6)}


def swf(jobs: int, *, nodes: int, processors_per_node: int, mean_gap: float, seed: int) -> str:
    """Return the text of a file with a job queue.

    Times between arrivals are exponential, run times are lognormal, sizes are often powers of two, and estimated run
    times are too long.
    """
    draw = random.Random(seed)
    lines = [
        "; Version: 2.2",
        "; Computer: none",
        f"; Note: synthetic, no recorded log: {jobs} random jobs of Weft's tests (tests/job_queues.py, seed {seed})",
        f"; MaxJobs: {jobs}",
        f"; MaxNodes: {nodes}",
        f"; MaxProcs: {nodes * processors_per_node}",
        "; UnixStartTime: 0",
    ]
    submit = 0.0
    for number in range(1, jobs + 1):
        executable = draw.choice(tuple(EXECUTABLES))
        median, deviation = EXECUTABLES[executable]
        run = max(10, round(draw.lognormvariate(0, deviation) * median))
        most = max(1, nodes // 2)
        size = min(most, 2 ** draw.randrange(most.bit_length())) if draw.random() < 0.8 else draw.randint(1, most)
        processors = max(2, size * processors_per_node - draw.randrange(processors_per_node))
        requested = 60 * -(-run * draw.choice((2, 3, 5)) // 60)
        queue = 1 if run < 300 else 2
        fields = [
            number,
            round(submit),
            -1,
            run,
            processors,
            -1,
            -1,
            processors,
            requested,
            -1,
            1,
            draw.randint(1, 9),
            1,
        ]
        lines.append(" ".join(map(str, [*fields, executable, queue, -1, -1, -1])))
        submit += draw.expovariate(1 / mean_gap)
    return "\n".join([*lines, ""])
