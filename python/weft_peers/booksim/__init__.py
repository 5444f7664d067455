"""Converts configurations of BookSim2 to scenarios. ``weft validate`` uses the same mapping of models."""
