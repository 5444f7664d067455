"""Programs of messages: reads and writes their files, and computes and prints their properties."""
