"""Papers run again: their figures, and a scoreboard of what they claim against what is measured."""
