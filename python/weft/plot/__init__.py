"""Draws figures of results into files. Nothing here runs a simulation.

Each kind of figure is a module with ``figure(choice)``; `weft.plot.kinds` lists them.
"""
