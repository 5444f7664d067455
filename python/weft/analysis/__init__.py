"""Analyses without simulation: path counts, bounds, overheads, rate scaling, and the links that known traffic needs.

``paths`` (Figs. 3 and 4 of the TCEP paper), ``bound`` (Fig. 12), ``overhead`` (section VI-D), ``examples`` (Figs. 5
and 6), ``dvfs`` (the rival of Fig. 10), ``fluid`` and ``oracle`` (a static policy that knows the traffic).
"""
