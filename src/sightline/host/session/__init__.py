"""One running session: numbering, storing, folding, sending, and commands."""
