"""Design analysis without simulation: what a network is, costs and survives, and which network to build.

>>> from weft.design.comparison_of_designs import compare
>>> from weft.design.design_search import search
>>> from weft.design.wanted import Wanted
"""
