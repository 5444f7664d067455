"""Coming from BookSim2: its configurations as scenarios, and the one mapping of its models that ``validate`` uses too."""
