"""Reads the input of a user: the text of a scenario, its networks and matrices, and its allowed keys."""
