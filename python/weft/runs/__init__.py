"""Runs points side by side and estimates the time left; watches packets; searches for saturation."""
