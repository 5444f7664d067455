"""What a person writes: the text of a scenario, the networks and matrices beside it, and the keys it may hold."""
