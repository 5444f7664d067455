"""A run as a trace that Perfetto and Chrome show: packets, control packets and link states over time."""
