"""Weft against published runs of other simulators: build each row's network, run it, print both side by side."""
