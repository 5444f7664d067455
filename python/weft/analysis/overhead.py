"""Computes the storage and the control packets that TCEP needs at a router.

Source: TCEP (ISCA 2018), sections IV-E, VI-D and VI-E. For each link, a router has eight utilisation counters: two
directions, minimal and non-minimal traffic, activation and deactivation epoch. For each link the router also has one
counter of virtual utilisation (the traffic that an inactive link would carry), and a buffer for one request. A request
consists of a router number and a type. In an epoch a router sends at most one request and one response. The router also
broadcasts at most one change of a link to the other routers of the subnetwork.

The paper says that this storage is 0.7 % of the storage of the YARC router chip, but it does not print the size of that
storage. `IMPLIED_YARC_BYTES` is the size that follows from this share: 1240 B / 0.007. The implied size is no evidence
for the true size of the storage of YARC. If you know the storage of your router, pass that size instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.errors import WeftError

# Counters of a link: two directions times minimal and non-minimal traffic times two epochs, plus one of virtual
# utilisation.
COUNTERS = 2 * 2 * 2 + 1
# Bits for the type of a control packet; TCEP has seven types.
TYPE_BITS = 3
IMPLIED_YARC_BYTES = 1240 / 0.007


@dataclass(frozen=True)
class Overhead:
    """Storage and control traffic of one router.

    Attributes
    ----------
    counter_bits_per_link, request_bits : int
        Bits of the counters of a link, and of a buffered request.
    router_bytes : float
        Storage for all links of the router [B].
    router_share : float
        `router_bytes` as a share of the storage of the router chip.
    control_packets_per_epoch : int
        Maximum number of control packets that a router sends in an activation epoch.
    table_updates_per_epoch : float
        Maximum number of updates of a routing table in an epoch, if in each dimension every two routers change one
        link.
    largest_network_terminals : int
        Number of terminals of the largest balanced flattened butterfly of such routers. Balanced means that a router
        has as many terminals as a dimension has routers.
    """

    counter_bits_per_link: int
    request_bits: int
    router_bytes: float
    router_share: float
    control_packets_per_epoch: int
    table_updates_per_epoch: float
    largest_network_terminals: int


def overhead(
    radix: int = 64,
    subnetwork: int | None = None,
    *,
    dimensions: int = 2,
    counter_bits: int = 16,
    id_bits: int = 8,
    router_storage_bytes: float = IMPLIED_YARC_BYTES,
) -> Overhead:
    """Storage and control packets that TCEP needs at a router.

    Parameters
    ----------
    radix : int
        Ports of a router. Each port counts as a link, as in the paper.
    subnetwork : int, optional
        Routers of a subnetwork. The default is the size in the largest balanced flattened butterfly of this radix.
    dimensions : int
        Dimensions of the network.
    counter_bits, id_bits : int
        Bits of a counter, and bits of a router's number within its subnetwork.
    router_storage_bytes : float
        Storage of the router chip [B]. `router_share` is relative to this storage.

    Raises
    ------
    WeftError
        If the ids of a subnetwork do not fit into their bits, or a number is out of its range.
    """
    if min(radix, dimensions, counter_bits, id_bits) < 1 or router_storage_bytes <= 0:
        what = f"a router of radix {radix} in {dimensions} dimensions with counters of {counter_bits} bits, "
        what += f"ids of {id_bits} bits and a storage of {router_storage_bytes:g} B is not possible"
        raise WeftError.saying(what, "write 1 or more for each")
    balanced = (radix + dimensions) // (dimensions + 1)  # k terminals and (k - 1) links per dimension
    routers = balanced if subnetwork is None else subnetwork
    if not 2 <= routers <= min(1 << id_bits, radix + 1):
        what = f"a subnetwork of {routers} routers: ids of {id_bits} bits distinguish {1 << id_bits} routers, "
        what += f"and a router of radix {radix} has at most {radix} neighbours"
        raise WeftError.saying(what, f"write 2 to {min(1 << id_bits, radix + 1)} routers, or change ids or radix")
    counters, request = COUNTERS * counter_bits, id_bits + TYPE_BITS
    stored = (counters + request) * radix / 8
    return Overhead(
        counter_bits_per_link=counters,
        request_bits=request,
        router_bytes=stored,
        router_share=stored / router_storage_bytes,
        control_packets_per_epoch=1 + 1 + (routers - 1),
        table_updates_per_epoch=dimensions * routers / 2,
        largest_network_terminals=balanced ** (dimensions + 1),
    )
