"""Runs of points: side by side, with an estimate of the time left, watched packets, and the search for saturation."""
