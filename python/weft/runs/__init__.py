"""Runs points in parallel and estimates the remaining time, watches packets, and searches for saturation."""
