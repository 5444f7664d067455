"""Programs of messages: reads and writes their files, and prints their facts."""
