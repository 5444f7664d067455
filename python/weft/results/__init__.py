"""The results of a sweep on disk: the folder, a row per point, and the numbers for tables and charts.

No module in this package runs a simulation.
"""
