"""Lists latencies that we measured in BookSim2 (commit 28f4329) and in Weft, for settings whose import is not exact.

A band has the mean packet latencies of one setting in both simulators. Traffic is uniform unless the band names another
pattern. Buffers of VCs hold 8 flits, in the dragonfly 64. Windows are 4,500 to 6,000 cycles in BookSim2 and 15,000
cycles in Weft, each with one seed. For comparison: for a setting that is imported exactly (8x8 mesh, 0.05, 0.2 and 0.3
packets/node/cycle), the measured latencies differ by 0.1 to 0.3 %.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Band:
    """Latencies with one setting of BookSim2 whose import is an approximation, in both simulators.

    Attributes
    ----------
    network : str
        Text that names the network and its settings.
    points : tuple
        For each point: injection rate [packets/node/cycle], mean packet latency in BookSim2 and in Weft [cycles].
    """

    network: str
    points: tuple[tuple[float, float, float], ...]


def sentence(name: str) -> str:
    """Return a sentence with the latencies of a band in both simulators."""
    band = BANDS[name]
    rates, there, here = (" / ".join(texts) for texts in zip(*map(_texts, band.points), strict=True))
    return f"measured on {band.network} at rates {rates}: {there} cycles in BookSim2, {here} in Weft"


def _texts(point: tuple[float, float, float]) -> tuple[str, str, str]:
    rate, there, here = point
    return f"{rate:g}", f"{there:.1f}", f"{here:.1f}"


BANDS: dict[str, Band] = {
    "vc_busy_when_full": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 33.86, 33.82),
            (0.3, 37.85, 37.96),
        ),
    ),
    "vc_prioritize_empty": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 33.86, 33.82),
            (0.3, 37.86, 37.96),
        ),
    ),
    "vc_shuffle_requests": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 33.85, 33.82),
            (0.3, 37.82, 37.96),
        ),
    ),
    "output_buffer_size": Band(
        "an 8x8 mesh of 4 VCs at speedup 2.0 with output buffers of 8 flits",
        (
            (0.1, 21.24, 20.96),
            (0.3, 22.88, 22.16),
        ),
    ),
    "internal_speedup of packets": Band(
        "an 8x8 mesh of 4 VCs at speedup 1.5, packets of 4 flits",
        (
            (0.025, 25.01, 25.36),
            (0.075, 30.82, 31.28),
        ),
    ),
    "internal_speedup": Band("an 8x8 mesh of 4 VCs at speedup 1.5", ((0.1, 21.13, 20.96),)),
    "wait_for_tail_credit": Band(
        "an 8x8 mesh of 4 VCs, packets of 1 or 5 flits",
        (
            (0.03, 36.14, 36.42),
            (0.06, 37.82, 38.39),
        ),
    ),
    "input_speedup": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 33.82, 33.74),
            (0.3, 36.99, 36.01),
        ),
    ),
    "output_speedup": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 33.85, 33.74),
            (0.3, 37.36, 36.01),
        ),
    ),
    "speculative": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 27.65, 27.22),
            (0.3, 31.41, 29.23),
        ),
    ),
    "routing_delay of 2": Band(
        "an 8x8 mesh of 4 VCs, routing_delay = 2",
        (
            (0.1, 43.96, 40.64),
            (0.3, 67.66, 50.3),
        ),
    ),
    "routing_delay at speedup": Band("an 8x8 mesh of 4 VCs at speedup 2.0", ((0.1, 21.24, 20.96),)),
    "credits": Band(
        "an 8x8 mesh of 4 VCs, packets of 4 flits",
        (
            (0.025, 37.41, 37.85),
            (0.075, 45.74, 47.21),
        ),
    ),
    "sw_allocator": Band(
        "an 8x8 mesh of 4 VCs with sw_allocator = select",
        (
            (0.1, 33.84, 33.82),
            (0.3, 37.87, 37.96),
        ),
    ),
    "vc_allocator": Band(
        "an 8x8 mesh of 4 VCs with vc_allocator = separable_input_first",
        (
            (0.1, 33.85, 33.82),
            (0.3, 38.05, 37.96),
        ),
    ),
    "age": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 33.85, 33.47),
            (0.3, 37.91, 35.42),
        ),
    ),
    "network_age": Band(
        "an 8x8 mesh of 4 VCs",
        (
            (0.1, 33.85, 33.47),
            (0.3, 37.91, 35.42),
        ),
    ),
    "hold_switch_for_packet": Band(
        "an 8x8 mesh of 4 VCs, packets of 4 flits",
        (
            (0.025, 37.49, 37.85),
            (0.075, 45.81, 47.21),
        ),
    ),
    "num_vcs": Band(
        "an 8x8 torus of 5 VCs",
        (
            (0.1, 31.29, 31.34),
            (0.4, 34.15, 34.83),
        ),
    ),
    "dim_order_bal on torus": Band(
        "an 8x8 torus of 4 VCs",
        (
            (0.1, 31.48, 31.36),
            (0.4, 35.15, 35.59),
        ),
    ),
    "min_adapt on torus": Band(
        "an 8x8 torus of 4 VCs",
        (
            (0.1, 31.88, 31.51),
            (0.3, 43.67, 34.4),
        ),
    ),
    "min_adapt on mesh": Band(
        "an 8x8 mesh of 4 VCs under transpose",
        (
            (0.02, 33.56, 33.37),
            (0.05, 34.93, 33.77),
            (0.08, 56.95, 33.84),
            (0.1, 71.4, 34.24),
        ),
    ),
    "ugal on dragonflynew": Band(
        "a dragonfly of 72 terminals, packets of 1 flit",
        (
            (0.1, 112.69, 112.76),
            (0.3, 134.26, 126.13),
        ),
    ),
    "anca on fattree": Band(
        "a 4-ary 3-tree of 4 VCs",
        (
            (0.1, 24.3, 24.15),
            (0.4, 27.37, 27.51),
        ),
    ),
    "nca on tree4": Band(
        "tree4 with 4 VCs",
        (
            (0.1, 24.76, 24.63),
            (0.3, 34.52, 33.76),
        ),
    ),
    "use_read_write": Band(
        "an 8x8 mesh of 16 VCs",
        (
            (0.005, 34.07, 33.61),
            (0.05, 34.25, 34.25),
            (0.1, 34.94, 35.16),
        ),
    ),
}
