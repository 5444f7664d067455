"""Models for Weft. If this package is installed, `weft` and `import weft` include these models."""
