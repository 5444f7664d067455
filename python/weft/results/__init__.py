"""What a sweep left on disk: its folder, its rows, and what tables and charts take from them. Nothing here runs."""
