"""Words for people: short labels of values, plain tables, and the lives of packets line by line."""
