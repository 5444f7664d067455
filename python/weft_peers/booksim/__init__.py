"""For users of BookSim2: converts its configurations to scenarios.

``weft validate`` maps its models in the same way.
"""
