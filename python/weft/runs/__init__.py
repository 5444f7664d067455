"""Runs points in parallel, estimates the remaining time, watches packets, and searches for saturation."""
