"""Lists keys of simulators that contain a modified BookSim2 (forks).

These keys do not affect the network. Each entry states why its key has no effect in Weft.

GPGPU-Sim defines its keys in `intersim_config.cpp`. ONNXim and Accel-Sim have the same keys.
"""

from __future__ import annotations

_PLACES = "it places the cores and the memories of a GPU on terminals"
_SIZES = "it divides messages of this size [bytes] into flits; in Weft packet_size gives the flits"
_EDGE = "it is a queue between the network and a simulated device; terminals of Weft accept every flit at once"
_NOWHERE = "GPGPU-Sim never reads it"
_OUTPUT = "it controls only the output"

# Keys that the import accepts, each with the reason why it has no effect in Weft.
IDLE = {
    "use_map": _PLACES,
    "memory_node_map": _PLACES,
    "flit_size": _SIZES,
    "header_size": _SIZES,
    "input_buffer_size": _EDGE,
    "ejection_buffer_size": _EDGE,
    "boundary_buffer_size": _EDGE,
    **dict.fromkeys(("network_count", "output_extra_latency", "perfect_icnt", "fixed_lat_per_hop"), _NOWHERE),
    **dict.fromkeys(
        ("enable_link_stats", "MATLAB_OUTPUT", "DISPLAY_LAT_DIST", "DISPLAY_HOP_DIST", "DISPLAY_PAIR_LATENCY"), _OUTPUT
    ),
}

# Keys of forks that configure a simulated device, which creates the packets.
OF_DEVICES = ("use_map", "memory_node_map", "flit_size", "header_size")
# For some keys, the value by which a simulated device, instead of a pattern, creates the packets.
DEVICE = {"sim_type": "gpgpusim", "traffic": "gpgpusim", "injection_process": "gpgpu_injector"}
# Keys for which forks also accept a list, with a number for each dimension.
LISTS = ("k",)


def remark(key: str) -> str:
    """Return text that names the simulators which have this key, and the reason why the key has no effect."""
    return f"a key of GPGPU-Sim and similar forks, unknown to BookSim2: {IDLE[key]}"
