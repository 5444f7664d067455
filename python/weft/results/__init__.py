"""The results of a sweep on disk: its folder, its rows, and numbers for tables and charts. Nothing here simulates."""
