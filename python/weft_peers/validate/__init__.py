"""Compares Weft with published runs of other simulators: Weft runs the network of each row, and prints both results."""
