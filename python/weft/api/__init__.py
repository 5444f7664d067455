"""The names of `import weft`: `load`, `open`, `Sweep` and `Results`. The command line and papers also use it."""
