"""Counts the network interfaces of a node, each of which is a terminal of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def planes(scenario: Mapping[str, Any]) -> int:
    """Number of planes (separate networks that connect the same nodes) of a scenario; 1 for a single network."""
    topology = scenario["topology"]
    return int((topology.get("planes") or {}).get("count", 1)) if isinstance(topology, dict) else 1


def of_node(scenario: Mapping[str, Any], programs: Mapping[str, Any] | None) -> int:
    """Number of interfaces of a node in a job.

    ``programs`` has the parameters of the workload ``programs`` of the node's job, if the job has this workload. By
    default a node has an interface in each plane.
    """
    return int((programs or {}).get("rails") or planes(scenario))
