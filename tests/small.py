"""Small scenarios and points that several tests use."""

from __future__ import annotations

from typing import Any

ROW_UNDER_TCEP = """\
topology: {hyperx: {widths: [4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: pal
traffic: {pattern: uniform, load: 0.1}
power: {policy: {tcep: {activation_epoch: 250cycles, deactivation_epoch: 1000cycles, wake: 120cycles}}}
"""
"""A row of four routers with short epochs, in which links and routers may fail. The test adds `measure`."""

NEAR_CAPACITY = """\
topology: {hyperx: {widths: [4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: pal
traffic: {pattern: tornado}
measure: {warmup: auto, window: 2us}
power: {policy: {tcep: {activation_epoch: 200cycles, deactivation_epoch: 2000cycles, wake: 200cycles}}}
"""
"""At a load of 0.5, packets wait in source queues, because the network carries no more.

The test adds `traffic.load`.
"""

PACKETS = 100_000
"""Number of packets of a steady point. It is so large that chance explains no difference."""


def steady_point(policy: Any, load: float, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return coordinates and summary of a point that carried its load under a policy, for `conftest.made`."""
    numbers = {
        "load": load,
        "offered_load": load,
        "accepted_load": load,
        "packets": PACKETS,
        "policy": policy if isinstance(policy, str) else next(iter(policy)),
        "power_mean_w": 1000.0,
        "power_always_on_mean_w": 2000.0,
    }
    return {"power.policy": policy, "traffic.load": load}, numbers | more
