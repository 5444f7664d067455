"""What `import weft` offers: `load`, `open`, `Sweep` and `Results`. The command line and papers use it, too."""
