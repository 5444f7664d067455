"""Analyses without simulation: number of paths, bounds, overheads, links at lower rates, and links that traffic needs.

Modules that reproduce parts of the TCEP paper: ``paths`` (Figs. 3 and 4), ``bound`` (Fig. 12), ``overhead`` (section
VI-D), ``examples`` (Figs. 5 and 6), ``dvfs`` (the rate scaling to which Fig. 10 compares TCEP). ``offered``,
``fluid`` and ``oracle`` find a fixed set of active links for traffic that is known in advance.
"""
