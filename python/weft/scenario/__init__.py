"""The input of a user: the text of a scenario, its networks and matrices, and the keys that it may hold."""
