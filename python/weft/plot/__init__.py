"""Figures: results in, a file out; nothing here runs a network.

A module per kind of figure, each with ``figure(choice)``; `weft.plot.kinds` lists them.
"""
