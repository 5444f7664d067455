"""Coming from BookSim2: its configurations as scenarios; ``weft validate`` maps its models in the same way."""
