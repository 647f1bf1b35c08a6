"""The web view: its server, and its page in a real browser."""
