"""Programs of messages: files of them, and their facts in words."""
