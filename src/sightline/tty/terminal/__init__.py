"""The terminal itself: taken over, written to, asked, and restored."""
