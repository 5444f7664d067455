"""Runs papers again: draws their figures, and compares their claims with what is measured."""
