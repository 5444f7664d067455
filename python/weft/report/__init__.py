"""Reports: results in, one HTML file out that needs no network; nothing here runs one either."""

from weft.report.html_page import write

__all__ = ["write"]
