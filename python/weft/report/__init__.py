"""Writes results as one HTML file that a browser opens without the internet.

Reports use only results: this package never runs a simulation.
"""

from weft.report.html_page import write

__all__ = ["write"]
