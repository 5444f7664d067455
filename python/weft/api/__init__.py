"""Modules of the public Python functions and classes: `load`, `open_results`, `Sweep` and `Results`.

The command line uses the same names.
"""
