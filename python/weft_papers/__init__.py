"""Reproduces papers: draws their figures, and compares their claims with measurements."""
