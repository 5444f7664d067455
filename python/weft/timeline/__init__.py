"""Writes a run as a trace for Perfetto and Chrome: packets, control packets and link states over time."""
