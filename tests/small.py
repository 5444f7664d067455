"""Scenarios that several tests begin with."""

ROW_UNDER_TCEP = """\
topology: {hyperx: {widths: [4], terminals_per_router: 4}}
links:
  default: {latency: 10cycles, vcs: 6, buffer: 32flits}
  terminal: {latency: 1cycle}
routing: pal
traffic: {pattern: uniform, load: 0.1}
power: {policy: {tcep: {activation_epoch: 250cycles, deactivation_epoch: 1000cycles, wake: 120cycles}}}
"""
"""A row of four routers with short epochs, where links and routers may fail; `measure` is left to the test."""
