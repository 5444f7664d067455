"""Converts configurations of other simulators to scenarios, and compares their published results with Weft's."""
