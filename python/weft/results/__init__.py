"""The results of a sweep on disk: the folder, the rows (points), and the numbers for tables and charts.

Nothing here simulates.
"""
