"""Design analysis without simulation: properties, cost and failures of networks, and search for the best network.

>>> from weft.design.comparison_of_designs import compare
>>> from weft.design.design_search import search
>>> from weft.design.wanted import Wanted
"""
