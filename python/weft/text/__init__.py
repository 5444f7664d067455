"""Writes text for users: short labels of values, plain tables, and the histories of packets line by line."""
