"""The terminal itself: taken over, written to, queried, and restored."""
