"""Write programs for the comparison with htsim: three patterns, plain and with parts of htsim's protocol."""

from __future__ import annotations

import random
from pathlib import Path

# a packet has 4,000 B of data and a header of 64 B
DATA, PACKETS, WINDOW = 4064, 500, 50


def write(name: str, ranks: list[list[str]]) -> None:
    """Write a program as a GOAL file, from a list of lines for each rank."""
    text = [f"num_ranks {len(ranks)}"]
    for rank, lines in enumerate(ranks):
        text += [f"rank {rank} {{", *lines, "}"]
    Path(name).write_text("\n".join(text) + "\n", encoding="utf-8")


def permutation(nodes: int = 1024) -> tuple[list[int], list[int]]:
    """Draw the permutation: the node to which each node sends, and the node from which it receives."""
    draw, to = random.Random(1), list(range(nodes))
    while any(node == target for node, target in enumerate(to)):
        draw.shuffle(to)
    return to, [to.index(node) for node in range(nodes)]


def applications() -> None:
    """Write the plain patterns: permutation (2 MB), incast (2 MB from 127 nodes), all-to-all (100 kB to 127 nodes)."""
    to, source = permutation()
    flow, block = DATA * PACKETS, DATA * 25
    write("permutation.goal", [[f"send {flow}b to {to[n]}", f"recv {flow}b from {source[n]}"] for n in range(1024)])
    write("incast.goal", [[f"recv {flow}b from -1"] * 127] + [[f"send {flow}b to 0"]] * 127)
    ranks = []
    for n in range(128):
        pairs = [((n + d) % 128, (n - d) % 128) for d in range(1, 128)]
        ranks.append(
            [line for to, source in pairs for line in (f"send {block}b to {to}", f"recv {block}b from {source}")]
        )
    write("all_to_all.goal", ranks)


def acknowledged() -> None:
    """Write the permutation with a window: packet k waits for the acknowledgement of packet k - 50.

    Rank 2n of node n sends the data, and rank 2n + 1 receives them. With an interface for each of the two ranks,
    acknowledgements never wait for data.
    """
    to, source = permutation()
    ranks = []
    for n in range(1024):
        sends, receives = [], []
        for i in range(PACKETS):
            sends.append(f"s{i}: send {DATA}b to {2 * to[n] + 1} tag 1")
            receives.append(f"r{i}: recv {DATA}b from {2 * source[n]} tag 1")
            if i >= WINDOW:
                sends.append(f"s{i} requires a{i - WINDOW}")
            if i >= 2 * WINDOW:
                receives.append(f"r{i} requires r{i - 2 * WINDOW}")
            if i < PACKETS - WINDOW:
                sends.append(f"a{i}: recv 64b from {2 * to[n] + 1} tag 2")
                receives += [f"k{i}: send 64b to {2 * source[n]} tag 2", f"k{i} requires r{i}"]
            if WINDOW <= i < PACKETS - WINDOW:
                sends.append(f"a{i} requires a{i - WINDOW}")
        ranks += [sends, receives]
    write("acknowledged.goal", ranks)


def pulled() -> None:
    """Write the incast: each packet that arrives permits the next sender to send one. The first 50 need no permit."""
    receives, count = [], 0
    for i in range(PACKETS):
        for sender in range(1, 128):
            receives.append(f"r{count}: recv {DATA}b from -1 tag 1")
            if count >= 7000:  # few receives wait at a time
                receives.append(f"r{count} requires r{count - 7000}")
            if i < PACKETS - WINDOW:
                receives += [f"p{count}: send 64b to {sender} tag 2", f"p{count} requires r{count}"]
            count += 1
    sends = [f"s{i}: send {DATA}b to 0 tag 1" for i in range(PACKETS)]
    for i in range(WINDOW, PACKETS):
        sends += [f"a{i}: recv 64b from 0 tag 2", f"s{i} requires a{i}"]
    write("pulled.goal", [receives] + [sends] * 127)


def turns() -> None:
    """Write the all-to-all in turns: a rank sends a first packet to each other rank, then a second one to each."""
    ranks = []
    for n in range(128):
        lines = []
        for i in range(25):
            for d in range(1, 128):
                lines.append(f"send {DATA}b to {(n + d) % 128} tag {i}")
                lines.append(f"r{i}x{d}: recv {DATA}b from {(n - d) % 128} tag {i}")
                if i >= 2:
                    lines.append(f"r{i}x{d} requires r{i - 2}x{d}")
        ranks.append(lines)
    write("turns.goal", ranks)


if __name__ == "__main__":
    for program in (applications, acknowledged, pulled, turns):
        program()
