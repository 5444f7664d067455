"""Analyses without simulation: path counts, bounds, overheads, rate scaling, and the links that known traffic needs.

Modules that reproduce parts of the TCEP paper: ``paths`` (Figs. 3 and 4), ``bound`` (Fig. 12), ``overhead`` (section
VI-D), ``examples`` (Figs. 5 and 6), ``dvfs`` (the rate scaling to which Fig. 10 compares TCEP). ``fluid`` and
``oracle`` compute a static policy that knows the traffic.
"""
