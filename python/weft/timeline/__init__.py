"""Writes a run as a trace for the viewers Perfetto and Chrome: packets, control packets and link states over time."""
