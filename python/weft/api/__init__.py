"""The names of `import weft`: `load`, `open_results`, `Sweep` and `Results`. The command line also uses it."""
