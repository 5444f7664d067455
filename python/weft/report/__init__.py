"""Writes results as one HTML file that opens without the internet. Nothing here runs a simulation."""

from weft.report.html_page import write

__all__ = ["write"]
