"""Figures: results in, a file out; nothing here runs a network."""
