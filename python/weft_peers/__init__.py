"""Other simulators: their configurations as scenarios, and their published numbers next to ours."""
