"""Models for Weft. Where this package is installed, `weft` and `import weft` know them."""
