"""Reads the input of a user: the text of a scenario, networks, traffic matrices and functions from Python."""
