"""Compares Weft with published runs of other simulators: builds each row's network, runs it, prints both results."""
