"""Design analysis without simulation: properties, cost and failures of a network, and the best one to build.

>>> from weft.design.comparison_of_designs import compare
>>> from weft.design.design_search import search
>>> from weft.design.wanted import Wanted
"""
