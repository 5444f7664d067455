"""Draws figures of results into files. Figures are drawn only from results: this package never runs a simulation.

Each kind of figure is a module with the function ``figure(choice)``; `weft.plot.kinds` lists the kinds.
"""
