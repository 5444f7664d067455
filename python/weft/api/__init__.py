"""The public names of `import weft`: `load`, `open_results`, `Sweep` and `Results`.

The command line uses the same names.
"""
